/* check_text.c: the answer for people: one sentence per limit and a verdict. */
#include "base/number.h"
#include "views/check/check_view.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS = 100, DEVICE_COLUMNS = 40 };

/* Writes the device memory and its origin, such as "12288.00 MB, from the budget". Returns
 * `out`. */
static const char *check_device(char out[TTS_CHECK_TEXT_MAX], const struct tts_check_run *run)
{
    const struct tts_trainmem *mem = run->input.run.mem;
    bool is_budget = run->answer->plan.is_budget_device;
    char mb[TTS_NUMBER_MB_MAX], name[DEVICE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1] = "";
    tts_number_format_mb(mb, mem->device_memory.bytes, false);
    if (run->answer->plan.device)
        tts_safe_text_build(name, sizeof name, run->answer->plan.device, DEVICE_COLUMNS);
    switch (mem->device_memory_source) {
    case TTS_TRAIN_FROM_OPTION:
        snprintf(out, TTS_CHECK_TEXT_MAX, "%s MB, from %s", mb,
                 is_budget ? "the budget" : "--device_memory");
        break;
    case TTS_TRAIN_FROM_DEVICE:
        snprintf(out, TTS_CHECK_TEXT_MAX, "%s MB, the allocatable DRAM of %s (named %s)", mb,
                 name, is_budget ? "in the budget" : "by --device");
        break;
    case TTS_TRAIN_FROM_LOG:
        snprintf(out, TTS_CHECK_TEXT_MAX, "%s MB, as the run states", mb);
        break;
    case TTS_TRAIN_ASSUMED:
        snprintf(
            out, TTS_CHECK_TEXT_MAX,
            "%s MB is assumed, because nothing states the size; name a device in the budget",
            mb);
        break;
    case TTS_TRAIN_FROM_NOWHERE:
        snprintf(out, TTS_CHECK_TEXT_MAX, "unknown");
        break;
    }
    return out;
}

void tts_check_text_run(FILE *out, const struct tts_check_run *run)
{
    char text[TTS_CHECK_TEXT_MAX], name[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text_build(name, sizeof name, run->input.run.name, NAME_COLUMNS);
    tts_say(out, 0, "run: %s", name);
    if (tts_budget_needs_device(&run->answer->plan.budget))
        tts_say(out, 2, "device memory: %s", check_device(text, run));
    if (!run->answer->plan.needs_baseline)
        return;
    if (!run->input.baseline.run) {
        tts_say(out, 2, "baseline: %s", tts_budget_reason_text(TTS_BUDGET_NO_BASELINE));
        return;
    }
    const char *by =
        tts_runpair_by_name(run->pair.by, run->input.run.run, run->input.baseline.run);
    bool is_guess = run->answer->baseline.runs.count > 1 &&
                    !tts_runpair_is_named(run->input.run.run, run->input.baseline.run);
    tts_say(out, 2, "baseline: %s (matched by %s%s)",
            tts_check_base_name(text, &run->answer->baseline, run->pair.b),
            strcmp(by, "order") == 0  ? "position in the file"
            : strcmp(by, "file") == 0 ? "file name"
                                      : by,
            is_guess ? ", although the names differ" : "");
}

void tts_check_text_finding(FILE *out, const struct tts_check_run *run,
                            const struct tts_budget_finding *finding)
{
    static const char *const words[] = {
        [TTS_BUDGET_PASS] = "ok", [TTS_BUDGET_UNKNOWN] = "unknown", [TTS_BUDGET_OVER] = "OVER"};
    char label[TTS_CHECK_LABEL_MAX], text[TTS_CHECK_TEXT_MAX];
    char path[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    char where[sizeof path + 32] = "";
    uint64_t line = tts_check_line(run, finding);
    if (finding->status != TTS_BUDGET_PASS && finding->has_phase && line > 0) {
        tts_safe_text_build(path, sizeof path, tts_shown_path(run->input.run.path),
                            NAME_COLUMNS);
        snprintf(where, sizeof where, " (%s:%" PRIu64 ")", path, line);
    }
    tts_say(out, 2, "%-8s %s: %s%s", words[finding->status],
            tts_check_label(label, run, finding->limit_idx, finding),
            tts_check_text(text, run, finding), where);
}

void tts_check_text_verdict(FILE *out, const struct tts_budget_counts *counts)
{
    uint64_t all = counts->over + counts->unknown + counts->passed;
    char limits[64];
    int len = snprintf(limits, sizeof limits, "%" PRIu64 " limit%s", all, all == 1 ? "" : "s");
    if (counts->runs > 1)
        snprintf(limits + len, sizeof limits - (size_t)len, " in %" PRIu64 " runs",
                 counts->runs);
    if (counts->runs == 0)
        fputs("unknown: nothing could be checked", out);
    else if (counts->over > 0)
        fprintf(out, "over budget: %" PRIu64 " of %s %s exceeded", counts->over, limits,
                counts->over == 1 ? "is" : "are");
    else if (counts->unknown > 0)
        fprintf(out, "unknown: %" PRIu64 " of %s could not be checked", counts->unknown,
                limits);
    else
        fprintf(out, "within budget%s: %s passed",
                counts->is_partial ? " as far as could be checked" : "", limits);
    if (counts->over > 0 && counts->unknown > 0)
        fprintf(out, ", %" PRIu64 " could not be checked", counts->unknown);
    fputc('\n', out);
}

void tts_check_text_end(FILE *out, const struct tts_check_answer *answer)
{
    for (size_t i = 0; i < answer->baseline.runs.count && answer->counts.runs > 0; i++) {
        char text[TTS_CHECK_TEXT_MAX + 64];
        if (!answer->is_paired[i])
            tts_say(out, 0, "%s", tts_check_unpaired(text, &answer->baseline, i));
    }
    tts_check_text_verdict(out, &answer->counts);
}
