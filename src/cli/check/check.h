/* check_parts.h: what the files of `check` share. */
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

/* ---- what was asked for ---- */

/* Strings are borrowed from argv. */
struct tts_check_options {
    const char *budget_path;
    const char *baseline_path, *junit_path, *sarif_path; /* NULL: none */
    char **paths;                                        /* the operands */
    size_t path_count;
    struct tts_device_arg device;    /* name NULL: none */
    struct tts_amount device_memory; /* not known: none */
    bool json, github, quiet;
};

/* They fill the options of a struct tts_check_job. */
extern const struct tts_option tts_check_options_table[];

/* ---- the budget, and what it names ---- */

struct tts_check_plan {
    struct tts_budget budget;
    bool needs_baseline;
    bool is_budget_device; /* the device memory is of the budget, not of an option */
    const char *device;    /* its name; NULL: none */
    const char *baseline;  /* its path, that of the option or below; NULL: none */
    struct tts_trainmem_options mem;
    struct tts_amount core_bytes;
    char device_path[TTS_PATH_MAX], baseline_path[TTS_PATH_MAX];
};

/* ---- files and runs ---- */

struct tts_check_file {
    const char *path; /* as given; NULL: there is none */
    struct tts_runs runs;
    char problem[160]; /* "": none */
    uint32_t problem_line;
};

enum { TTS_CHECK_CLASS_MAX = TTS_RUN_LABEL_MAX + 288 };

/* A run that is being judged; borrowed. */
struct tts_check_run {
    const struct tts_check_file *file;
    const struct tts_run *run;
    const struct tts_run *baseline; /* NULL: none */
    struct tts_runpair pair;        /* which of the baseline that is, and why */
    size_t baseline_count;          /* how many runs the baseline has */
    struct tts_trainmem mem;
    const struct tts_check_plan *plan;
    const uint32_t *ordinals;             /* of its phases among those of a name; for SARIF */
    uint64_t number;                      /* in its file, from 1 */
    char name[TTS_RUN_LABEL_MAX];         /* any bytes; no other run here has it */
    char class_name[TTS_CHECK_CLASS_MAX]; /* the same from build to build */
};

struct tts_check_job;

/* Something of it is missing or could not be read, so that a pass of it is not all. */
bool tts_check_is_partial(const struct tts_run *run);
/* What is: note `idx`, of `tts_check_notes()`. */
size_t tts_check_notes(const struct tts_run *run);
struct tts_run_note tts_check_note(const struct tts_run *run, size_t idx);
/* The first, and how many more there are. */
enum { TTS_CHECK_NOTE_MAX = TTS_RUN_NOTE_BYTES + 48 };
uint64_t tts_check_first_note(char out[TTS_CHECK_NOTE_MAX], const struct tts_run *run);

/* ---- words ---- */

enum { TTS_CHECK_LABEL_MAX = 256, TTS_CHECK_TEXT_MAX = 768, TTS_CHECK_NUMBER_MAX = 40 };

/* "phase-change FORWARD_PASS": the rule, and the phase or pattern; safe to show. */
const char *tts_check_label(char out[TTS_CHECK_LABEL_MAX], const struct tts_check_run *run,
                            const struct tts_budget_finding *finding);
/* As it is in the budget: "phase-change FORWARD_PASS*". */
const char *tts_check_limit_label(char out[TTS_CHECK_LABEL_MAX],
                                  const struct tts_budget *budget, size_t limit_idx);
/* "15666.65 MB, at most 11641.33 MB (95% of the device): 4025.32 MB over"; safe to show. */
const char *tts_check_text(char out[TTS_CHECK_TEXT_MAX], const struct tts_check_run *run,
                           const struct tts_budget_finding *finding);
/* "main.json, run 1 'TinyLlama'"; safe to show. */
const char *tts_check_base_name(char out[TTS_CHECK_TEXT_MAX], const char *path,
                                const struct tts_run *run, size_t idx);
/* By what it was paired: "title", "rank", "file", "order". */
const char *tts_check_by_name(const struct tts_check_run *run);
/* Where a finding is: of its phase, else of the run. 0: not known. */
uint64_t tts_check_line(const struct tts_check_run *run,
                        const struct tts_budget_finding *finding);

const char *tts_check_status_name(enum tts_budget_status status); /* "pass" */
/* Does any limit need to know how much memory there is? */
bool tts_check_needs_device(const struct tts_budget *budget);
const char *tts_check_rule_of(const struct tts_budget *budget, size_t limit_idx);

/* ---- outputs ---- */

struct tts_check_counts {
    uint64_t over, unknown, passed; /* limits */
    uint64_t runs;
    bool is_partial; /* something could not be read, or has no partner */
};

/* What is not all there is no pass. */
enum tts_budget_status tts_check_status_of(const struct tts_check_counts *counts);

void tts_check_text_run(FILE *out, const struct tts_check_run *run);
void tts_check_text_finding(FILE *out, const struct tts_check_run *run,
                            const struct tts_budget_finding *finding);
void tts_check_text_end(FILE *out, const struct tts_check_job *job);
/* The verdict, a line. */
void tts_check_text_verdict(FILE *out, const struct tts_check_counts *counts);

/* docs/design/check-json.md */
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
/* Problems of files, and of the baseline. TTS_E_IO, as tts_junit_end() has it. */
TTS_NODISCARD enum tts_status tts_check_junit_end(struct tts_junit *junit,
                                                  const struct tts_check_job *job,
                                                  struct tts_error *err);

void tts_check_sarif_begin(struct tts_sarif *sarif, FILE *out);
void tts_check_sarif_end(struct tts_sarif *sarif, const struct tts_check_job *job);
/* For each phase its number among those of the same name, from 0; heap. TTS_E_NOMEM. */
enum tts_status tts_check_ordinals_new(const struct tts_run *run, uint32_t **out,
                                       struct tts_error *err);
void tts_check_ordinals_free(uint32_t *ordinals, const struct tts_run *run);

/* Writes a finding of the run that is being judged as SARIF and annotation, if asked for. */
void tts_check_report_finding(struct tts_check_job *job,
                              const struct tts_budget_finding *finding);
/* Reports a run that is partial to JUnit and as annotation, if asked for. */
void tts_check_report_run(struct tts_check_job *job, const struct tts_check_run *run);
void tts_check_github_end(FILE *out, const struct tts_check_job *job);

/* ---- the command under way ---- */

struct tts_check_job {
    struct tts_check_options options;
    struct tts_check_plan plan;
    struct tts_check_file *files;           /* as many as options.paths */
    struct tts_check_file budget, baseline; /* of the budget the problem only */
    struct tts_run *runs;                   /* of all files, in order */
    struct tts_runpair *pairs;              /* of each of them */
    bool *is_paired;                        /* each of the baseline */
    size_t run_count;
    size_t memory_bytes; /* of these three */
    FILE *out, *github;  /* of the frame, as are those of JUnit and SARIF */
    struct tts_json json;
    struct tts_junit junit;
    struct tts_sarif sarif;
    const struct tts_check_run *run; /* being judged */
    struct tts_check_counts counts, run_counts;
    struct tts_amount assumed; /* memory of the device that nobody said; not known: none */
};

/* All that could not be read: `idx` from 0 until NULL. */
const struct tts_check_file *tts_check_problem(const struct tts_check_job *job, size_t idx);
