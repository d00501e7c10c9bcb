/* Reads bytes as a result that was saved with --json. A refused result has a message and
 * changes nothing. An accepted result keeps the limits, has terminated texts and zeros in
 * unknown values, and is the same when it is read in small pieces. */
#include "base/heap.h"
#include "sources/runs/resultfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void check_amount(struct tts_amount amount)
{
    if (!amount.is_known && amount.bytes != 0)
        stop("something that is not known", "");
}

static void check_run(const struct tts_run *run)
{
    if (!memchr(run->title, 0, sizeof run->title) || !memchr(run->rank, 0, sizeof run->rank) ||
        !memchr(run->optimizer, 0, sizeof run->optimizer) ||
        !memchr(run->name, 0, sizeof run->name))
        stop("a text without an end", "");
    if (run->phase_count == 0 && !run->overall_peak.is_known)
        stop("a run that says nothing", run->title);
    if (run->note_count > TTS_RUN_NOTES_MAX || run->notes_in_all < run->note_count)
        stop("notes that cannot be", run->title);
    check_amount(run->overall_peak);
    check_amount(run->final);
    check_amount(run->device_memory);
    for (size_t i = 0; i < run->phase_count; i++) {
        if (!memchr(run->phases[i].name, 0, sizeof run->phases[i].name))
            stop("a name without an end", "");
        for (int k = 0; k < TTS_RUN_FIGURES; k++)
            check_amount(run->phases[i].figures[k]);
    }
}

static void check(const struct tts_runs *runs)
{
    size_t phases = 0;
    for (size_t i = 0; i < runs->count; i++) {
        check_run(&runs->runs[i]);
        phases += runs->runs[i].phase_count;
    }
    if (runs->count == 0 || runs->count > TTS_RUNS_MAX || phases > TTS_RUNS_PHASES_MAX)
        stop("a limit does not hold", "");
}

/* Reads one byte at a time. */
static enum tts_status read_slowly(const uint8_t *bytes, size_t len, struct tts_runs *out,
                                   struct tts_error *err, bool *is_one)
{
    const struct tts_jsonpull_source source = {.before = bytes,
                                               .before_len = len,
                                               .fd = -1,
                                               .window_bytes = TTS_JSONPULL_WINDOW_MIN,
                                               .piece_bytes = 1};
    struct tts_jsonpull *json;
    if (tts_jsonpull_new(&source, NULL, &json, NULL) != TTS_OK)
        stop("no memory", "");
    *is_one = tts_result_is_one(json);
    tts_jsonpull_free(json);
    if (tts_jsonpull_new(&source, NULL, &json, NULL) != TTS_OK)
        stop("no memory", "");
    enum tts_status status = tts_result_read(json, NULL, out, err);
    tts_jsonpull_free(json);
    return status;
}

/* Compares field by field, because padding may differ. */
static void check_same_phase(const struct tts_run_phase *a, const struct tts_run_phase *b)
{
    if (a->line != b->line || strcmp(a->name, b->name) != 0)
        stop("not the same phase in pieces", a->name);
    for (int k = 0; k < TTS_RUN_FIGURES; k++)
        if (a->figures[k].is_known != b->figures[k].is_known ||
            a->figures[k].bytes != b->figures[k].bytes)
            stop("not the same figure in pieces", a->name);
}

/* Compares everything except the addresses of the phases. */
static void check_same(const struct tts_runs *a, const struct tts_runs *b)
{
    if (a->count != b->count || a->unlisted != b->unlisted)
        stop("not the same in pieces", "");
    for (size_t i = 0; i < a->count; i++) {
        struct tts_run one = a->runs[i], other = b->runs[i];
        if (one.phase_count != other.phase_count)
            stop("not as many phases in pieces", one.title);
        for (size_t k = 0; k < one.phase_count; k++)
            check_same_phase(&one.phases[k], &other.phases[k]);
        if (strcmp(one.title, other.title) != 0 || strcmp(one.name, other.name) != 0 ||
            one.is_at_least != other.is_at_least || one.notes_in_all != other.notes_in_all ||
            one.overall_peak.bytes != other.overall_peak.bytes)
            stop("not the same run in pieces", one.title);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tts_runs runs = {0}, again = {0};
    struct tts_error err = {0}, err_again = {0};
    bool is_one;
    enum tts_status status = tts_result_parse((const char *)bytes, len, NULL, &runs, &err);
    if (read_slowly(bytes, len, &again, &err_again, &is_one) != status ||
        strcmp(err.text, err_again.text) != 0 || err.line != err_again.line)
        stop("not the same in pieces", err.text);
    if (status == TTS_OK) {
        check(&runs);
        check_same(&runs, &again);
    } else if (runs.memory || again.memory || err.status != status || err.text[0] == '\0') {
        stop("a refusal that says or leaves something else", err.text);
    }
    tts_runs_release(&runs);
    tts_runs_release(&again);
    return 0;
}
