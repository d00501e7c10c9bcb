/* analyze_parts.h: what the files of `analyze` share. */
#pragma once

#include "analysis/trainmem.h"
#include "base/beside.h"
#include "base/outfile.h"
#include "cli/analyze.h"
#include "cli/device_arg.h"
#include "cli/progress.h"
#include "views/chart/memcharts.h"
#include "views/finding/junit.h"
#include "views/json.h"
#include "views/rowout.h"
#include "views/run_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TTS_ANALYZE_COMMAND "analyze"

enum tts_picture { TTS_PICTURE_PEAK, TTS_PICTURE_PHASES, TTS_PICTURES };

/* ---- what was asked for ---- */

/* Strings are borrowed from argv. */
struct tts_analyze_options {
    const char **logs; /* the caller's, room for all of argv */
    size_t log_count;
    struct tts_trainmem_options mem; /* device memory only after `resolve` */
    struct tts_device_arg device;    /* name NULL: none */
    bool json, csv;
    const char *junit_path; /* NULL: none */
    bool has_limit;
    uint32_t limit; /* --fail-above, in hundredths of a percent */
    /* pictures */
    bool has_picture[TTS_PICTURES];
    const char *title, *output; /* may be NULL */
    bool has_format;
    enum tts_picture_format format;
    char picture_path[TTS_PICTURES][TTS_PATH_MAX];
};

/* TTS_OPTIONS_END when there is something to do, else TTS_OPTIONS_STOP and the exit code. */
int tts_analyze_options_read(struct tts_analyze_options *options, char **argv, int *exit_code);

bool tts_analyze_wants_pictures(const struct tts_analyze_options *options);

/* Looks up the device. TTS_EXIT_DONE, or the exit code, said on stderr. */
int tts_analyze_options_resolve(struct tts_analyze_options *options);

/* Of `read`: chooses the format and names the pictures. False, said on stderr: an output cannot
 * be, or would replace an input. */
bool tts_analyze_options_name(struct tts_analyze_options *options);

extern const char *const tts_analyze_format_names[TTS_PICTURE_FORMATS];
/* In any case of letters. False: there is none. */
bool tts_analyze_format_find(const char *word, enum tts_picture_format *out);

/* "95%", "97.5%": hundredths of a percent. False: it is none. */
bool tts_analyze_limit_parse(const char *text, uint32_t *out);

/* "n150", "'my device.yaml' --set dram_banks=4": as a shell takes it, and safe for a terminal.
 * Cut off where it would be too long. Returns `out`. */
enum { TTS_ANALYZE_DEVICE_MAX = 800 };
const char *tts_analyze_device_words(char out[TTS_ANALYZE_DEVICE_MAX],
                                     const struct tts_device_arg *device);

/* ---- a run ---- */

/* Borrowed; `name` is any bytes. */
struct tts_analyze_run {
    const char *name, *log; /* log: as given */
    const struct tts_run *run;
    const struct tts_trainmem *mem;
};

/* How often the first names came; all zero is none. */
enum { TTS_ANALYZE_NAMES_MAX = 256 };
struct tts_analyze_names {
    size_t count;
    uint64_t hashes[TTS_ANALYZE_NAMES_MAX], seen[TTS_ANALYZE_NAMES_MAX];
};
/* A name that no run before has, unless there were too many. `untitled`: how many of its log
 * are, this one among them. */
void tts_analyze_name_once(struct tts_analyze_names *names, const struct tts_run *run,
                           const char *label, uint64_t untitled, char out[TTS_RUN_LABEL_MAX]);

/* What --fail-above, or without it whether it fits, makes of a run. */
enum tts_analyze_answer {
    TTS_ANALYZE_GOOD,
    TTS_ANALYZE_BAD,
    TTS_ANALYZE_UNKNOWN,
    TTS_ANALYZE_ANSWERS
};
enum tts_analyze_answer tts_analyze_judge(const struct tts_analyze_options *options,
                                          const struct tts_trainmem *mem);

/* Are peak and memory known, so that a ratio can be told? */
bool tts_analyze_has_usage(const struct tts_trainmem *mem);

/* What decides which runs are shown if there are too many to show all of them. */
struct tts_analyze_worth {
    enum tts_analyze_answer verdict; /* whether the run fits */
    bool has_usage;
    double usage;    /* peak / device memory; 0 unless it is known */
    uint64_t number; /* of the run, in the order of the logs */
};
struct tts_analyze_worth tts_analyze_worth_of(const struct tts_trainmem *mem, uint64_t number);
/* Returns true if `a` is listed before `b`: runs that do not fit come first, then higher usage,
 * then unknown usage. Equal runs stay in the order of the logs. */
bool tts_analyze_is_worse(const struct tts_analyze_worth *a, const struct tts_analyze_worth *b);

/* A number of runs, by verdict. */
struct tts_analyze_tally {
    uint64_t runs, by_verdict[TTS_ANALYZE_ANSWERS];
};
void tts_analyze_tally_add(struct tts_analyze_tally *tally, enum tts_analyze_answer verdict);
/* Returns the counts of the runs of `all` that are not among `shown`. */
struct tts_analyze_tally tts_analyze_tally_rest(const struct tts_analyze_tally *all,
                                                const struct tts_analyze_tally *shown);
/* Formats "1 does not fit, 50 fit, 2 unknown". Verdicts without a run are left out. Returns
 * `out`. */
enum { TTS_ANALYZE_TALLY_MAX = 128 };
const char *tts_analyze_tally_words(char out[TTS_ANALYZE_TALLY_MAX],
                                    const struct tts_analyze_tally *tally);
/* The phase of the peak, also of a later iteration, borrowed; NULL: not known. */
const char *tts_analyze_peak_phase(const struct tts_analyze_run *run);

/* Where the parts of the peak are from: "predicted", "actual" or "expected". */
const char *tts_analyze_sizes_name(const struct tts_trainmem *mem);

/* DRAM of a chip that can be allocated, 0: not known. */
uint64_t tts_analyze_capacity(const struct tts_chip *chip);

/* ---- numbers ---- */

enum { TTS_ANALYZE_NUMBER_MAX = 32 };

/* All return `out`. "1,863.25"; "969,369,600"; "67.37". */
const char *tts_analyze_mb(char out[TTS_ANALYZE_NUMBER_MAX], int64_t bytes);
const char *tts_analyze_count(char out[TTS_ANALYZE_NUMBER_MAX], uint64_t count);
const char *tts_analyze_percent(char out[TTS_ANALYZE_NUMBER_MAX], int64_t part, int64_t whole);

/* ---- text ---- */

/* What all runs have alike, for the lines at the top. */
struct tts_analyze_alike {
    uint64_t runs;
    bool has_model, has_device; /* every run so far has the same, of its log */
    uint64_t parameters;
    int64_t model_bytes, device_bytes;
    enum tts_train_dtype dtype;
};
void tts_analyze_alike_add(struct tts_analyze_alike *alike, const struct tts_analyze_run *run);

void tts_analyze_text_head(const struct tts_analyze_alike *alike, FILE *out);
void tts_analyze_text_run(const struct tts_analyze_options *options,
                          const struct tts_analyze_run *run, FILE *out);
/* The table after several runs, one line each: of all runs, or of the worst if there are more
 * than TTS_ANALYZE_ROWS_MAX. */
enum { TTS_ANALYZE_ROWS_MAX = 48, TTS_ANALYZE_ROW_NAME_MAX = 512 };
struct tts_analyze_row {
    char name[TTS_ANALYZE_ROW_NAME_MAX]; /* safe */
    struct tts_amount peak, device_memory;
    struct tts_analyze_worth worth;
};
struct tts_analyze_table {
    struct tts_analyze_row rows[TTS_ANALYZE_ROWS_MAX];
    size_t count;
    struct tts_analyze_tally all; /* every run, also those without a row */
};
void tts_analyze_table_add(struct tts_analyze_table *table, const struct tts_analyze_run *run);
/* Sorts the rows, worst first, if there are more runs than rows. */
void tts_analyze_text_end(struct tts_analyze_table *table, FILE *out);

/* Of a run: the blocks behind those that were published. */
void tts_analyze_text_parts(const struct tts_analyze_run *run, FILE *out);
void tts_analyze_text_verdict(const struct tts_analyze_options *options,
                              const struct tts_analyze_run *run, FILE *out);

/* ---- JSON, docs/design/analyze-json.md ---- */

/* A log and what became of it. */
struct tts_analyze_log {
    const char *path;
    uint64_t runs, untitled, lines, bytes;
    bool is_saved;     /* a result, recording or trace: lines and bytes are not known */
    char problem[160]; /* "": none */
};

void tts_analyze_json_begin(struct tts_json *json);
void tts_analyze_json_run(struct tts_json *json, const struct tts_analyze_run *run);
/* `only`: NULL unless there was just one run. */
void tts_analyze_json_end(struct tts_json *json, const struct tts_analyze_log *logs,
                          size_t count, const struct tts_analyze_run *only);

const char *tts_analyze_source_name(enum tts_train_source source);

/* ---- CSV ---- */

void tts_analyze_csv_begin(struct tts_rowout *rows);
void tts_analyze_csv_run(struct tts_rowout *rows, const struct tts_analyze_run *run);

/* ---- JUnit ---- */

void tts_analyze_junit_run(struct tts_junit *junit, const struct tts_analyze_options *options,
                           const struct tts_analyze_run *run);
/* Of a log that has a problem. */
void tts_analyze_junit_log(struct tts_junit *junit, const struct tts_analyze_options *options,
                           const struct tts_analyze_log *log, const char *label);

/* ---- kept runs, and their pictures ---- */

struct tts_analyze_kept {
    struct tts_analyze_run run; /* of what is behind */
    struct tts_analyze_worth worth;
    struct tts_run copy;
    struct tts_trainmem mem;
    char name[TTS_RUN_LABEL_MAX];
    size_t bytes; /* of this block */
    struct tts_run_phase phases[];
};

/* NULL: out of memory. */
struct tts_analyze_kept *tts_analyze_keep(const struct tts_analyze_run *run);
void tts_analyze_kept_free(struct tts_analyze_kept *kept); /* NULL is fine */

/* What pictures are made of: the worst runs, in any order if there are more than fit. */
struct tts_analyze_gallery {
    const struct tts_analyze_drawer *drawer;
    struct tts_analyze_kept *kept[TTS_CHART_RUNS_MAX];
    size_t count;
    struct tts_analyze_tally all; /* every run, also those that are not kept */
};

/* How many runs a picture shows at most. */
size_t tts_analyze_picture_max(enum tts_picture picture);
/* Chooses the runs that a picture shows: all in the order of the logs, or the worst first if
 * there are more than the picture shows. Borrowed from the gallery. Returns how many. */
size_t tts_analyze_choose(const struct tts_analyze_gallery *gallery, enum tts_picture picture,
                          const struct tts_analyze_kept *out[TTS_CHART_RUNS_MAX]);
/* Does any run have something to show? */
bool tts_analyze_has_picture(const struct tts_analyze_gallery *gallery,
                             enum tts_picture picture);
/* Lays out and writes one picture. Below the runs it says how many more there are. */
TTS_NODISCARD enum tts_status tts_analyze_draw(const struct tts_analyze_options *options,
                                               const struct tts_analyze_gallery *gallery,
                                               enum tts_picture picture, FILE *out,
                                               struct tts_error *err);

/* ---- the command under way ---- */

struct tts_analyze_job {
    struct tts_analyze_options options;
    struct tts_analyze_log *logs; /* as many as options.logs */
    /* what is under way */
    struct tts_outfile out, junit_file, pictures[TTS_PICTURES];
    struct tts_json json;
    struct tts_rowout rows;
    struct tts_junit junit;
    struct tts_progress progress;
    struct tts_analyze_names names;
    const char *label; /* of the log under way */
    uint64_t notes_said;
    /* what became of it */
    struct tts_analyze_alike alike;
    struct tts_analyze_table table;
    struct tts_analyze_gallery gallery;
    bool is_partial, is_bad_news, is_failed; /* failed: an output */
};

/* Draws, and writes all outputs; of no run, the report alone. What fails is said. */
void tts_analyze_finish(struct tts_analyze_job *analyze);
