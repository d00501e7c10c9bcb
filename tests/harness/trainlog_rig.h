/* trainlog_rig.h: writes a log, reads it, and keeps all its runs. */
#pragma once

#include "harness/t.h"
#include "sources/trainlog/trainlog.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MAX = 300, PHASES_MAX = 40 };

/* The runs of the log that was read last, with copies of their phases. */
static struct tts_run runs[RUNS_MAX];
static struct tts_run_phase run_phases[RUNS_MAX][PHASES_MAX];
static size_t run_count;
static struct tts_trainlog_facts facts;
static struct tts_error failure;

#define MB(x) ((int64_t)((double)(x)*1048576 + ((x) < 0 ? -0.5 : 0.5)))

#define HEADING "=== Memory Usage Summary ===\n"
#define OVERALL(peak, final) "Overall DRAM Peak: " peak " MB, Final DRAM Usage: " final " MB\n"
#define SEGMENT(peak, allocated, freed, change)                                                \
    "  DRAM: Segment Peak " peak " MB, Allocations " allocated " MB, Deallocations " freed     \
    " MB, Segment Change " change " MB\n"
#define CUMULATIVE(peak, current)                                                              \
    "  DRAM: Cumulative Peak " peak " MB, Cumulative Current " current " MB\n"
#define L1(cb, buffer, total)                                                                  \
    "  L1: Peak CB " cb " MB, Peak Buffer " buffer " MB, Peak Total " total " MB\n"
#define PHASE(name) "--- " name " ---\n" SEGMENT("3.00", "4.00", "2.00", "+2.00")

/* One phase as a log prints it. Its DRAM figures are 3, 4, 2, +2, 3 and 2 MB. Its L1 figures
 * are 0.25, 0.50 and 0.75 MB. */
#define BODY(name)                                                                             \
    "\n" PHASE(name) CUMULATIVE("3.00", "2.00")                                                \
        L1("0.25", "0.50", "0.75") "\n=== Final Totals ===\n" OVERALL("3.00", "2.00")
#define BLOCK(name) HEADING BODY(name)

static inline const char *write_log(const char *name, const void *text, size_t len)
{
    const char *path = t_scratch(name);
    FILE *file = fopen(path, "w");
    T_TRUE(file != NULL);
    T_EQ(fwrite(text, 1, len, file), len);
    T_EQ(fclose(file), 0);
    return path;
}

static inline void keep_run(const struct tts_run *run)
{
    T_TRUE(run_count < RUNS_MAX && run->phase_count <= PHASES_MAX);
    runs[run_count] = *run;
    if (run->phase_count > 0)
        memcpy(run_phases[run_count], run->phases, run->phase_count * sizeof *run->phases);
    runs[run_count].phases = run_phases[run_count];
    run_count++;
}

/* Reads a log to its end. Returns the status of the last read. */
static inline enum tts_status read_path(const char *path)
{
    struct tts_trainlog *log = NULL;
    const struct tts_run *run = NULL;
    enum tts_status status;
    run_count = 0;
    failure = (struct tts_error){0};
    status = tts_trainlog_open(path, NULL, &log, &failure);
    if (status != TTS_OK)
        return status;
    while ((status = tts_trainlog_next(log, &run, &failure)) == TTS_OK)
        keep_run(run);
    T_EQ(tts_trainlog_next(log, &run, NULL), status);
    tts_trainlog_facts(log, &facts);
    tts_trainlog_close(log);
    return status;
}

static inline void read_bytes(const void *text, size_t len)
{
    T_EQ(read_path(write_log("log", text, len)), TTS_E_NOT_FOUND);
}

static inline void read_log(const char *text)
{
    read_bytes(text, strlen(text));
}

static inline void expect_figure(size_t run, size_t phase, enum tts_run_figure figure,
                                 double mb)
{
    T_TRUE(run < run_count && phase < runs[run].phase_count);
    T_TRUE(runs[run].phases[phase].figures[figure].is_known);
    T_EQ(runs[run].phases[phase].figures[figure].bytes, MB(mb));
}

/* Checks that a phase has this name and the figures of BODY. */
static inline void expect_body(size_t run, size_t phase, const char *name)
{
    static const double wanted[TTS_RUN_L1_CORE] = {3, 4, 2, 2, 3, 2, 0.25, 0.5, 0.75};
    T_TRUE(run < run_count && phase < runs[run].phase_count);
    T_STR_EQ(runs[run].phases[phase].name, name);
    for (int i = 0; i < TTS_RUN_L1_CORE; i++)
        expect_figure(run, phase, (enum tts_run_figure)i, wanted[i]);
}

/* Checks that a run is a complete block with one phase, and has no notes. */
static inline void expect_whole(size_t run, const char *rank, const char *name)
{
    T_TRUE(run < run_count);
    T_STR_EQ(runs[run].rank, rank);
    T_EQ(runs[run].phase_count, 1);
    expect_body(run, 0, name);
    T_TRUE(!runs[run].is_cut && runs[run].notes_in_all == 0);
    T_TRUE(runs[run].overall_peak.is_known && runs[run].final.is_known);
    T_EQ(runs[run].overall_peak.bytes, MB(3));
    T_EQ(runs[run].final.bytes, MB(2));
}

static inline void expect_note(size_t run, size_t note, uint64_t line, const char *text)
{
    T_TRUE(run < run_count && note < runs[run].note_count);
    T_STR_EQ(runs[run].notes[note].text, text);
    T_EQ(runs[run].notes[note].line, line);
}

/* Returns a copy of the text with `prefix` before each line. The caller frees it. */
static inline char *with_prefix(const char *prefix, const char *text)
{
    size_t lines = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    char *out = malloc(strlen(text) + lines * strlen(prefix) + 1), *at = out;
    T_TRUE(out != NULL);
    while (*text) {
        size_t len = strcspn(text, "\n") + 1;
        at += sprintf(at, "%s%.*s", prefix, (int)len, text);
        text += len;
    }
    return out;
}

/* Returns a copy of the text with `end` in place of each newline. The caller frees it. */
static inline char *with_ends(const char *text, const char *end)
{
    char *out = malloc((strlen(end) + 1) * strlen(text) + 1), *at = out;
    T_TRUE(out != NULL);
    for (; *text; text++)
        at += *text == '\n' ? sprintf(at, "%s", end) : sprintf(at, "%c", *text);
    return out;
}
