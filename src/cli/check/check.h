/* check.h: the types and functions that the files of the command `check` share. */
#pragma once

#include "analysis/budgetcheck.h"
#include "analysis/runpairs.h"
#include "analysis/trainmem.h"
#include "base/beside.h"
#include "cli/device_arg.h"
#include "cli/options.h"
#include "sources/runs/runs.h"
#include "views/finding/junit.h"
#include "views/finding/sarif.h"
#include "views/json.h"
#include "views/run/run_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TTS_CHECK_COMMAND "check"

/* ---- options ---- */

/* The values of the options. Strings are borrowed from argv. */
struct tts_check_options {
    const char *budget_path;
    const char *baseline_path, *junit_path, *sarif_path; /* NULL if not given */
    char **paths;                                        /* the operands */
    size_t path_count;
    struct tts_device_arg device;    /* name is NULL if not given */
    struct tts_amount device_memory; /* unknown if not given */
    bool json, github, quiet;
};

/* The rows store their values in the options of a struct tts_check_job. */
extern const struct tts_option tts_check_options_table[];

/* ---- the budget, its device and its baseline ---- */

struct tts_check_plan {
    struct tts_budget budget;
    bool needs_baseline;
    bool is_budget_device; /* the device memory comes from the budget, not from an option */
    const char *device;    /* name of the device; NULL if there is none */
    /* from the option, or `baseline_path` below; NULL if there is none */
    const char *baseline;
    struct tts_trainmem_options mem;
    struct tts_amount core_bytes;
    char device_path[TTS_PATH_MAX], baseline_path[TTS_PATH_MAX];
};

/* ---- files and runs ---- */

struct tts_check_file {
    const char *path; /* as given; NULL if there is no such file */
    struct tts_runs runs;
    char problem[160]; /* empty if there is no problem */
    uint32_t problem_line;
};

enum { TTS_CHECK_CLASS_MAX = TTS_RUN_LABEL_MAX + 288 };

/* A run that is being judged. All pointers are borrowed. */
struct tts_check_run {
    const struct tts_check_file *file;
    const struct tts_run *run;
    const struct tts_run *baseline; /* NULL if no run of the baseline matches */
    /* index of the baseline's run, and the reason for the match */
    struct tts_runpair pair;
    size_t baseline_count; /* number of runs in the baseline */
    struct tts_trainmem mem;
    const struct tts_check_plan *plan;
    /* by phase: its number among the phases of the same name; for SARIF */
    const uint32_t *ordinals;
    uint64_t number;                      /* number of the run in its file, from 1 */
    char name[TTS_RUN_LABEL_MAX];         /* unique among the runs; may contain any bytes */
    char class_name[TTS_CHECK_CLASS_MAX]; /* name that stays the same from build to build */
};

struct tts_check_job;

/* Returns true if data of the run is missing or could not be read. The verdict on such a run is
 * not a pass. */
bool tts_check_is_partial(const struct tts_run *run);
/* Returns the number of notes about missing data. tts_check_note() returns note `idx`. */
size_t tts_check_notes(const struct tts_run *run);
struct tts_run_note tts_check_note(const struct tts_run *run, size_t idx);
/* Writes the first note and the number of further notes to `out`. Returns the line of the first
 * note. */
enum { TTS_CHECK_NOTE_MAX = TTS_RUN_NOTE_BYTES + 48 };
uint64_t tts_check_first_note(char out[TTS_CHECK_NOTE_MAX], const struct tts_run *run);

/* ---- wording ---- */

enum { TTS_CHECK_LABEL_MAX = 256, TTS_CHECK_TEXT_MAX = 768, TTS_CHECK_NUMBER_MAX = 40 };

/* Writes the rule with its phase or pattern, such as "phase-change FORWARD_PASS". The text is
 * safe to print. Returns `out`. */
const char *tts_check_label(char out[TTS_CHECK_LABEL_MAX], const struct tts_check_run *run,
                            const struct tts_budget_finding *finding);
/* Writes the label as the budget spells it, such as "phase-change FORWARD_PASS*". Returns
 * `out`. */
const char *tts_check_limit_label(char out[TTS_CHECK_LABEL_MAX],
                                  const struct tts_budget *budget, size_t limit_idx);
/* Writes the finding, such as "15666.65 MB, at most 11641.33 MB (95% of the device): 4025.32 MB
 * over". The text is safe to print. Returns `out`. */
const char *tts_check_text(char out[TTS_CHECK_TEXT_MAX], const struct tts_check_run *run,
                           const struct tts_budget_finding *finding);
/* Writes the name of a run of the baseline, such as "main.json, run 1 'TinyLlama'". The text is
 * safe to print. Returns `out`. */
const char *tts_check_base_name(char out[TTS_CHECK_TEXT_MAX], const char *path,
                                const struct tts_run *run, size_t idx);
/* Returns the property by which the run was matched with the baseline: "title", "rank", "file"
 * or "order". */
const char *tts_check_by_name(const struct tts_check_run *run);
/* Returns the line of the finding's phase, or else the line of the run. Returns 0 if the line
 * is unknown. */
uint64_t tts_check_line(const struct tts_check_run *run,
                        const struct tts_budget_finding *finding);

const char *tts_check_status_name(enum tts_budget_status status); /* "pass" etc. */
/* Returns true if a limit depends on the memory size of the device. */
bool tts_check_needs_device(const struct tts_budget *budget);
const char *tts_check_rule_of(const struct tts_budget *budget, size_t limit_idx);

/* ---- outputs ---- */

struct tts_check_counts {
    uint64_t over, unknown, passed; /* numbers of limits */
    uint64_t runs;
    bool is_partial; /* some data could not be read, or a run has no match */
};

/* Returns the status of the whole check. The status is never a pass if data is missing. */
enum tts_budget_status tts_check_status_of(const struct tts_check_counts *counts);

void tts_check_text_run(FILE *out, const struct tts_check_run *run);
void tts_check_text_finding(FILE *out, const struct tts_check_run *run,
                            const struct tts_budget_finding *finding);
void tts_check_text_end(FILE *out, const struct tts_check_job *job);
/* Writes the verdict as one line. */
void tts_check_text_verdict(FILE *out, const struct tts_check_counts *counts);

/* The functions write JSON as docs/design/check-json.md describes it. */
void tts_check_json_begin(struct tts_json *json, const struct tts_check_plan *plan,
                          const char *budget_path);
void tts_check_json_run(struct tts_json *json, const struct tts_check_run *run);
void tts_check_json_limit(struct tts_json *json, const struct tts_check_run *run,
                          size_t limit_idx, const struct tts_budget_verdict *verdict);
void tts_check_json_finding(struct tts_json *json, const struct tts_check_run *run,
                            const struct tts_budget_finding *finding);
void tts_check_json_limit_end(struct tts_json *json);
void tts_check_json_run_end(struct tts_json *json, const struct tts_check_counts *counts);
void tts_check_json_end(struct tts_json *json, const struct tts_check_job *job);

void tts_check_junit_limit(struct tts_junit *junit, const struct tts_check_run *run,
                           size_t limit_idx, const struct tts_budget_verdict *verdict);
/* Reports the problems of the files and of the baseline, and ends the document. Returns
 * TTS_E_IO like tts_junit_end(). */
TTS_NODISCARD enum tts_status tts_check_junit_end(struct tts_junit *junit,
                                                  const struct tts_check_job *job,
                                                  struct tts_error *err);

void tts_check_sarif_begin(struct tts_sarif *sarif, FILE *out);
void tts_check_sarif_end(struct tts_sarif *sarif, const struct tts_check_job *job);

/* Writes a finding of the current run as SARIF result and as annotation, if these are asked
 * for. */
void tts_check_report_finding(struct tts_check_job *job,
                              const struct tts_budget_finding *finding);
/* Reports a run with missing data to JUnit and as annotation, if these are asked for. */
void tts_check_report_run(struct tts_check_job *job, const struct tts_check_run *run);
void tts_check_github_end(FILE *out, const struct tts_check_job *job);

/* ---- the state of the command ---- */

struct tts_check_job {
    struct tts_check_options options;
    struct tts_check_plan plan;
    struct tts_check_file *files;           /* one for each of options.paths */
    struct tts_check_file budget, baseline; /* `budget` holds only the path and the problem */
    struct tts_run *runs;                   /* runs of all files, in order */
    struct tts_runpair *pairs;              /* one for each run */
    bool *is_paired;                        /* one for each run of the baseline */
    size_t run_count;
    size_t memory_bytes; /* size of the block that holds the three arrays */
    FILE *out, *github;  /* owned by the tts_job, like the streams of JUnit and SARIF */
    struct tts_json json;
    struct tts_junit junit;
    struct tts_sarif sarif;
    const struct tts_check_run *run; /* the run that is being judged */
    struct tts_check_counts counts, run_counts;
    struct tts_amount assumed; /* assumed memory of the device; unknown if the size was given */
};

/* Returns the `idx`-th file that could not be read completely, or NULL after the last. */
const struct tts_check_file *tts_check_problem(const struct tts_check_job *job, size_t idx);
