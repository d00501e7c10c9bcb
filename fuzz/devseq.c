/* Reads bytes as a sequence of the device language; the first byte chooses the device. Every
 * readable line stays the same when it is written and read back. Every sequence that can be run
 * leaves valid pools whose bytes add up. Its printed results hold in a second run, which leaves
 * an equal device. */
#include "device/devicepools.h"
#include "device/space.h"
#include "harness/same_step.h"
#include "sources/seq/devseq_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { MAX_LINES = 200 };

struct side {
    struct tts_device *device;
    struct tts_devseq_run run;
};

struct rig {
    struct side first, again; /* `again` executes the lines that `first` printed */
    bool one_run;             /* true while no line was refused */
};

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* --- devices ---------------------------------------------------------------------------- */

static void set(struct tts_chip *chip, const char *key, const char *value)
{
    struct tts_error err;
    if (tts_chip_set(chip, key, value, &err) != TTS_OK)
        stop("no such chip", err.text);
}

/* Makes a device. The bits of `choice`, from the lowest: Blackhole instead of Wormhole,
 * L1_SMALL and TRACE regions, two bits for the mode, HYBRID. The choice '@' has none of these
 * bits set: a plain n150. */
static struct tts_device *new_device(uint8_t choice)
{
    static const enum tts_mode modes[] = {TTS_MODE_PLACE, TTS_MODE_NO_DISPATCH,
                                          TTS_MODE_OVERCOMMIT, TTS_MODE_PLACE};
    struct tts_chip chip;
    struct tts_error err;
    struct tts_device *device;
    struct tts_device_config config = {.mode = modes[choice >> 2 & 3],
                                       .hybrid = choice >> 4 & 1};
    if (tts_chip_preset(choice & 1 ? "p150" : "n150", &chip, &err) != TTS_OK)
        stop("no such preset", err.text);
    if (choice & 2) {
        set(&chip, "l1_small", "32768");
        set(&chip, "trace_region", "1048576");
    }
    if (tts_device_new(&chip, &config, NULL, &device, &err) != TTS_OK)
        stop("no such device", err.text);
    return device;
}

static void begin(struct side *side, uint8_t choice)
{
    side->device = new_device(choice);
    tts_devseq_run_init(&side->run, side->device, NULL);
}

static void end(struct side *side)
{
    tts_devseq_run_release(&side->run);
    tts_device_free(side->device);
}

/* --- checks ----------------------------------------------------------------------------- */

static void check_pool(const struct rig *rig, enum tts_pool pool)
{
    struct tts_pool_stats stats;
    const struct tts_devseq_counts *counts = &rig->first.run.counts;
    const struct tts_banks *banks = tts_device_pool(rig->first.device, pool);
    const struct tts_banks *other = tts_device_pool(rig->again.device, pool);
    if (!banks || !tts_device_stats(rig->first.device, pool, &stats))
        return;
    const struct tts_space_stats *space = &stats.space;
    if (!tts_banks_is_valid(banks) || !tts_banks_is_valid(other))
        stop("the pool is not valid", tts_pool_name(pool));
    if (!tts_space_equal(tts_banks_space(banks, 0), tts_banks_space(other, 0)))
        stop("the second device is another", tts_pool_name(pool));
    if (space->taken_bytes + space->free_bytes != space->total_bytes ||
        space->largest_free_bytes > space->free_bytes)
        stop("the bytes do not add up", tts_pool_name(pool));
    if (stats.buffers != space->taken_blocks + stats.unplaced_buffers ||
        stats.peak_bytes < space->taken_bytes)
        stop("the buffers do not add up", tts_pool_name(pool));
    if (rig->one_run && counts->peak_bytes[pool] != stats.peak_bytes)
        stop("the peak is another", tts_pool_name(pool));
}

static void check_counts(const struct tts_devseq_counts *counts, uint64_t refused)
{
    uint64_t parts = counts->buffers_ok + counts->buffers_failed + counts->buffers_below_limit +
                     counts->buffers_not_placed + counts->frees_ok + counts->frees_ignored +
                     counts->programs + counts->cbs + counts->runs_ok + counts->runs_failed +
                     counts->captures + counts->idles + counts->queries;
    if (parts + refused != counts->operations || counts->fragmented > counts->buffers_failed)
        stop("the counts do not add up", "");
}

/* Writes a line, reads it back and writes it again. */
static void check_round_trip(const struct tts_devseq_line *line)
{
    char text[TTS_DEVSEQ_TEXT_MAX], second[TTS_DEVSEQ_TEXT_MAX];
    struct tts_devseq_line back;
    struct tts_error err;
    size_t len = tts_devseq_format(line, text);
    if (len >= sizeof text || strlen(text) != len)
        stop("wrong length", text);
    if (tts_devseq_parse(text, len, &back, &err) != TTS_OK)
        stop("what was written cannot be read", text);
    if (!same_step(line, &back))
        stop("what was written reads differently", text);
    tts_devseq_format(&back, second);
    if (strcmp(text, second) != 0)
        stop("the canonical form is not one", text);
}

/* Runs the printed step on the second device and compares the result. */
static void check_again(struct rig *rig, const struct tts_devseq_step *step, uint64_t line_no)
{
    char text[TTS_DEVSEQ_TEXT_MAX];
    struct tts_devseq_line line;
    struct tts_devseq_step second;
    size_t len = tts_devseq_format(&step->line, text);
    check_round_trip(&step->line);
    if (tts_devseq_parse(text, len, &line, NULL) != TTS_OK ||
        tts_devseq_run_line(&rig->again.run, &line, line_no, &second, NULL) != TTS_OK)
        stop("what was printed cannot be run", text);
    if (line.has_result != second.line.has_result ||
        !tts_devseq_result_equal(&line.result, &second.line.result))
        stop("another result the second time", text);
}

/* --- lines ------------------------------------------------------------------------------ */

/* Ends the run on both devices after a refused line. New runs begin, without names. */
static void refuse(struct rig *rig, const struct tts_devseq_line *line, enum tts_status status)
{
    struct tts_devseq_step step;
    if (tts_devseq_run_line(&rig->again.run, line, 1, &step, NULL) != status)
        stop("refused only once", tts_status_text(status));
    bool query = line->kind >= TTS_DEVSEQ_STATS;
    check_counts(&rig->first.run.counts, query ? 0 : 1);
    rig->one_run = false;
    struct side *sides[] = {&rig->first, &rig->again};
    for (int i = 0; i < 2; i++) {
        tts_devseq_run_release(&sides[i]->run);
        tts_devseq_run_init(&sides[i]->run, sides[i]->device, NULL);
    }
}

static void run_line(struct rig *rig, const char *text, size_t len, uint64_t line_no)
{
    struct tts_devseq_line line;
    struct tts_devseq_step step;
    struct tts_error err;
    if (tts_devseq_parse(text, len, &line, &err) != TTS_OK) {
        if (err.text[0] == '\0' || err.offset > len)
            stop("an error without words or place", err.text);
        return;
    }
    check_round_trip(&line);
    if (line.kind == TTS_DEVSEQ_BLANK)
        return;
    enum tts_status status = tts_devseq_run_line(&rig->first.run, &line, line_no, &step, &err);
    if (status == TTS_OK)
        check_again(rig, &step, line_no);
    else if (err.text[0] == '\0' || err.status != status)
        stop("refused without words", tts_status_text(status));
    else
        refuse(rig, &line, status);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct rig rig = {.one_run = true};
    const char *at = (const char *)bytes, *last = at + len;
    if (len == 0)
        return 0;
    begin(&rig.first, bytes[0]);
    begin(&rig.again, bytes[0]);
    at++;
    for (uint64_t line_no = 1; at < last && line_no <= MAX_LINES; line_no++) {
        const char *newline = memchr(at, '\n', (size_t)(last - at));
        const char *stop_at = newline ? newline : last;
        run_line(&rig, at, (size_t)(stop_at - at), line_no);
        at = newline ? newline + 1 : last;
    }
    check_counts(&rig.first.run.counts, 0);
    for (int pool = 0; pool < TTS_POOLS; pool++)
        check_pool(&rig, (enum tts_pool)pool);
    end(&rig.first);
    end(&rig.again);
    return 0;
}
