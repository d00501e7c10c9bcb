/* check_view.h: the answer of the command `check` as text, as JSON (docs/design/check-json.md)
 * and as reports for build servers. The answer is written as it comes: run after run, limit
 * after limit, finding after finding. The functions only read the answer. */
#pragma once

#include "analysis/run/budgetcheck.h"
#include "analysis/run/runpairs.h"
#include "base/beside.h"
#include "model/run_list.h"
#include "views/finding/junit.h"
#include "views/finding/sarif.h"
#include "views/json.h"
#include "views/run/run_name.h"

#include <stdio.h>

/* The budget, its device and its baseline. */
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

/* A file that the command reads. */
struct tts_check_file {
    const char *path; /* as given; NULL if there is no such file */
    struct tts_runs runs;
    char problem[160]; /* empty if there is no problem */
    uint32_t problem_line;
};

/* The facts that all runs share, and the results so far. All pointers are borrowed. */
struct tts_check_answer {
    struct tts_check_plan plan;
    struct tts_check_file budget; /* the budget file; it has no runs */
    struct tts_check_file baseline;
    struct tts_check_file *files; /* the files to check */
    size_t file_count;
    bool *is_paired; /* for each run of the baseline: true if it matches a run */
    struct tts_budget_counts counts;
    struct tts_amount assumed; /* assumed memory of the device; unknown if the size was given */
};

enum { TTS_CHECK_CLASS_MAX = TTS_RUN_LABEL_MAX + 288 };

/* A run that is being judged. Do not copy the struct: `input` points into it. */
struct tts_check_run {
    const struct tts_check_answer *answer;
    struct tts_budget_input input;
    struct tts_runpair pair;  /* index of the baseline's run, and the reason for the match */
    const uint32_t *ordinals; /* from tts_phase_ordinals_new(); only SARIF needs them */
    uint64_t number;          /* number of the run in its file, from 1 */
    struct tts_trainmem mem, baseline_mem; /* the analyses of input.run and input.baseline */
    char name[TTS_RUN_LABEL_MAX];         /* name of input.run; unique; may contain any bytes */
    char class_name[TTS_CHECK_CLASS_MAX]; /* name that stays the same from build to build */
};

/* ---- missing data ---- */

/* Returns true if data of the run is missing or could not be read. The verdict on such a run is
 * not a pass. */
bool tts_check_is_partial(const struct tts_run *run);
/* Returns the number of notes about missing data. tts_check_note() returns note `idx`. */
size_t tts_check_notes(const struct tts_run *run);
struct tts_run_note tts_check_note(const struct tts_run *run, size_t idx);

/* ---- wording ---- */

enum { TTS_CHECK_LABEL_MAX = 256, TTS_CHECK_TEXT_MAX = 768, TTS_CHECK_NUMBER_MAX = 40 };

/* Writes the rule of a limit with the phase of the finding, such as "phase-change
 * FORWARD_PASS", or with the pattern of the budget if `finding` is NULL or has no phase. The
 * text is safe to print. Returns `out`. */
const char *tts_check_label(char out[TTS_CHECK_LABEL_MAX], const struct tts_check_run *run,
                            size_t limit_idx, const struct tts_budget_finding *finding);
/* Writes the finding, such as "15666.65 MB (limit: at most 11641.33 MB, 95% of the device):
 * 4025.32 MB over the limit". The text is safe to print. Returns `out`. */
const char *tts_check_text(char out[TTS_CHECK_TEXT_MAX], const struct tts_check_run *run,
                           const struct tts_budget_finding *finding);
/* Writes the name of run `idx` of the baseline, such as "main.json, run 1 'TinyLlama'". The
 * text is safe to print. Returns `out`. */
const char *tts_check_base_name(char out[TTS_CHECK_TEXT_MAX],
                                const struct tts_check_file *baseline, size_t idx);
/* Writes that run `idx` of the baseline matches no run that is checked. The text is safe to
 * print. Returns `out`. */
const char *tts_check_unpaired(char out[TTS_CHECK_TEXT_MAX + 64],
                               const struct tts_check_file *baseline, size_t idx);
/* Returns the line of the finding's phase, or else the line of the run. Returns 0 if the line
 * is unknown. */
uint64_t tts_check_line(const struct tts_check_run *run,
                        const struct tts_budget_finding *finding);

/* ---- text ---- */

void tts_check_text_run(FILE *out, const struct tts_check_run *run);
void tts_check_text_finding(FILE *out, const struct tts_check_run *run,
                            const struct tts_budget_finding *finding);
void tts_check_text_end(FILE *out, const struct tts_check_answer *answer);
/* Writes the verdict as one line. */
void tts_check_text_verdict(FILE *out, const struct tts_budget_counts *counts);

/* ---- JSON ---- */

void tts_check_json_begin(struct tts_json *json, const struct tts_check_answer *answer);
void tts_check_json_run(struct tts_json *json, const struct tts_check_run *run);
/* Writes the verdict on a limit and all its findings. `findings` are all findings that
 * tts_budget_judge() reported for this limit, in order. */
void tts_check_json_limit(struct tts_json *json, const struct tts_check_run *run,
                          const struct tts_budget_verdict *verdict,
                          const struct tts_budget_finding *findings, size_t count);
void tts_check_json_run_end(struct tts_json *json, const struct tts_budget_counts *counts);
void tts_check_json_end(struct tts_json *json, const struct tts_check_answer *answer);

/* ---- reports ---- */

/* The reports that are asked for. */
struct tts_check_reports {
    bool has_junit, has_sarif;
    struct tts_junit junit;
    struct tts_sarif sarif;
    FILE *github; /* for annotations; NULL if they are not asked for */
};

/* Begins the reports. A stream may be NULL. TTS_E_IO: like tts_junit_begin(). */
TTS_NODISCARD enum tts_status tts_check_report_begin(struct tts_check_reports *reports,
                                                     FILE *junit, FILE *sarif, FILE *github,
                                                     struct tts_error *err);
/* Reports that data of a run is missing, in JUnit and as annotation. */
void tts_check_report_partial(struct tts_check_reports *reports,
                              const struct tts_check_run *run);
/* Reports a finding in SARIF and as annotation. */
void tts_check_report_finding(struct tts_check_reports *reports,
                              const struct tts_check_run *run,
                              const struct tts_budget_finding *finding);
/* Reports the verdict on a limit in JUnit. */
void tts_check_report_limit(struct tts_check_reports *reports, const struct tts_check_run *run,
                            size_t limit_idx, const struct tts_budget_verdict *verdict);
/* Reports the problems of the files and of the baseline, and completes the reports. TTS_E_IO:
 * like tts_junit_end(). */
TTS_NODISCARD enum tts_status tts_check_report_end(struct tts_check_reports *reports,
                                                   const struct tts_check_answer *answer,
                                                   struct tts_error *err);
