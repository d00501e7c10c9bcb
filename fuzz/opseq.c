/* Reads bytes as a sequence of the operation language. Every readable line stays the same when
 * it is written and read back. Every sequence that can be run leaves a valid space, and its
 * printed results hold in a second run. */
#include "device/space.h"
#include "harness/same_line.h"
#include "sources/seq/opseq_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum {
    MAX_LINES = 300, /* limited, because each line may visit all blocks */
    /* Not after each line, because the check of the space visits all blocks. */
    CHECK_EVERY_LINES = 50,
};

struct rig {
    struct tts_opseq_run run, again; /* `again` executes the lines that `run` printed */
};

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* Writes a line, reads it back and writes it again. */
static void check_round_trip(const struct tts_opseq_line *line)
{
    char text[TTS_OPSEQ_TEXT_MAX], second[TTS_OPSEQ_TEXT_MAX];
    struct tts_opseq_line back;
    struct tts_error err;
    size_t len = tts_opseq_format(line, text);
    if (len >= sizeof text || strlen(text) != len)
        stop("wrong length", text);
    if (tts_opseq_parse(text, len, &back, &err) != TTS_OK)
        stop("what was written cannot be read", text);
    if (!same_line(line, &back))
        stop("what was written reads differently", text);
    tts_opseq_format(&back, second);
    if (strcmp(text, second) != 0)
        stop("the canonical form is not one", text);
}

/* Runs the printed step on the second space and compares the result. */
static void check_again(struct rig *rig, const struct tts_opseq_step *step, uint64_t line_no)
{
    char text[TTS_OPSEQ_TEXT_MAX];
    struct tts_opseq_line line;
    struct tts_opseq_step second;
    size_t len = tts_opseq_format(&step->line, text);
    check_round_trip(&step->line);
    if (tts_opseq_parse(text, len, &line, NULL) != TTS_OK ||
        tts_opseq_run_line(&rig->again, &line, line_no, &second, NULL) != TTS_OK)
        stop("what was printed cannot be run", text);
    if (line.has_result != second.line.has_result ||
        !tts_opseq_result_equal(&line.result, &second.line.result))
        stop("another result the second time", text);
}

static void check_space(const struct tts_opseq_run *run)
{
    if (run->space && !tts_space_is_valid(run->space))
        stop("the space is not valid", "");
}

static void run_line(struct rig *rig, const char *text, size_t len, uint64_t line_no)
{
    struct tts_opseq_line line;
    struct tts_opseq_step step;
    struct tts_error err;
    if (tts_opseq_parse(text, len, &line, &err) != TTS_OK) {
        if (err.text[0] == '\0' || err.offset > len)
            stop("an error without words or place", err.text);
        return;
    }
    check_round_trip(&line);
    if (tts_opseq_run_line(&rig->run, &line, line_no, &step, &err) != TTS_OK)
        return;
    check_again(rig, &step, line_no);
    if (line_no % CHECK_EVERY_LINES == 0)
        check_space(&rig->run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct rig rig;
    const char *at = (const char *)bytes, *end = at + len;
    tts_opseq_run_init(&rig.run, NULL);
    tts_opseq_run_init(&rig.again, NULL);
    for (uint64_t line_no = 1; at < end && line_no <= MAX_LINES; line_no++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop_at = newline ? newline : end;
        run_line(&rig, at, (size_t)(stop_at - at), line_no);
        at = newline ? newline + 1 : end;
    }
    check_space(&rig.run);
    check_space(&rig.again);
    const struct tts_opseq_counts *counts = &rig.run.counts;
    uint64_t parts = counts->takes + counts->takes_failed + counts->takes_below_limit +
                     counts->takes_at + counts->takes_at_failed + counts->gives +
                     counts->gives_ignored + counts->shrinks + counts->shrinks_refused +
                     counts->unshrinks + counts->clears + counts->queries;
    if (parts != counts->operations || counts->takes_fragmented > counts->takes_failed)
        stop("the counts do not add up", "");
    tts_opseq_run_release(&rig.run);
    tts_opseq_run_release(&rig.again);
    return 0;
}
