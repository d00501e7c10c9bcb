/* cmd_diff.c: the command `diff`, which compares two runs. */
#include "base/error.h"
#include "base/number.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/message.h"
#include "sources/runs/runs.h"
#include "views/diff/diff_view.h"
#include "views/safe_text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static const char command[] = "diff";

/* The values of the options. Strings are borrowed from argv. */
struct diff_options {
    const char *run[TTS_DIFF_SIDES]; /* number or title; both NULL: compare all runs */
    bool all, json;
};

struct diff_job {
    struct diff_options options;
    struct tts_diff_answer answer;
};

/* ---- pairing all runs ---- */

static void add_pair(struct tts_diff_answer *answer, size_t a, size_t b, enum tts_runpair_by by)
{
    assert(answer->pair_count < TTS_RUNS_MAX);
    struct tts_diff_pair *pair = &answer->pairs[answer->pair_count++];
    const size_t chosen[] = {[TTS_DIFF_A] = a, [TTS_DIFF_B] = b};
    pair->by = by;
    for (int side = 0; side < TTS_DIFF_SIDES; side++) {
        struct tts_diff_input *input = &answer->inputs[side];
        size_t idx = chosen[side];
        pair->runs[side] = (struct tts_named_run){
            .path = input->path, .run = &input->runs.runs[idx], .mem = &pair->mem[side]};
        pair->numbers[side] = idx + 1;
        input->is_paired[idx] = true;
    }
}

/* Pairs all runs by the rules of analysis/run/runpairs.h. */
static void diff_pair_all(struct tts_diff_answer *answer)
{
    const struct tts_runs *a = &answer->inputs[TTS_DIFF_A].runs,
                          *b = &answer->inputs[TTS_DIFF_B].runs;
    struct tts_runpair pairs[TTS_RUNS_MAX];
    tts_runpairs(a->runs, a->count, b->runs, b->count, pairs);
    for (size_t i = 0; i < a->count; i++)
        if (pairs[i].by != TTS_RUNPAIR_NONE)
            add_pair(answer, i, pairs[i].b, pairs[i].by);
}

/* ---- pairing the chosen runs ---- */

/* Returns the index of the run that `word` names and sets *count to the number of matches.
 * Titles are compared first because a title can be a number. */
static size_t choose_run(const struct tts_runs *runs, const char *word, size_t *count)
{
    uint64_t number;
    size_t found = 0;
    *count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        if (strcmp(runs->runs[i].title, word) != 0)
            continue;
        found = i;
        ++*count;
    }
    if (*count == 0 && tts_number_parse(word, strlen(word), &number) == TTS_OK && number > 0 &&
        number <= runs->count) {
        found = (size_t)number - 1;
        *count = 1;
    }
    return found;
}

/* Pairs the runs that the options choose. Returns false if a file does not have exactly one
 * such run. *missing is then the side of this file, and *count the number of matches. */
static bool diff_pair_chosen(struct diff_job *job, int *missing, size_t *count)
{
    size_t chosen[TTS_DIFF_SIDES];
    for (int side = 0; side < TTS_DIFF_SIDES; side++) {
        const char *word = job->options.run[side] ? job->options.run[side] : "1";
        chosen[side] = choose_run(&job->answer.inputs[side].runs, word, count);
        *missing = side;
        if (*count != 1)
            return false;
    }
    add_pair(&job->answer, chosen[TTS_DIFF_A], chosen[TTS_DIFF_B], TTS_RUNPAIR_NONE);
    return true;
}

/* ---- options ---- */

/* Stores `--run`, which applies to both sides. */
static enum tts_status take_diff_run(void *target, const char *text, struct tts_error *err)
{
    const char **run = target;
    (void)err;
    run[TTS_DIFF_A] = run[TTS_DIFF_B] = text;
    return TTS_OK;
}

enum { RUN_A_AT = offsetof(struct diff_job, options.run) };

static const struct tts_option options_table[] = {
    {"run", 'r', TTS_OPTION_OTHER, RUN_A_AT, "N|TITLE", "choose this run in both files",
     .take = take_diff_run},
    {"run-a", 0, TTS_OPTION_TEXT, RUN_A_AT, "N|TITLE", .help = "choose this run in A"},
    {"run-b", 0, TTS_OPTION_TEXT, RUN_A_AT + sizeof(char *), "N|TITLE",
     .help = "choose this run in B"},
    {"all", 'a', TTS_OPTION_FLAG, offsetof(struct diff_job, options.all),
     .help = "also list phases without a difference"},
    {"json", 'j', TTS_OPTION_FLAG, offsetof(struct diff_job, options.json),
     .help = "write JSON"},
    {0},
};

/* ---- inputs ---- */

static int load_sides(struct tts_diff_answer *answer)
{
    for (int side = 0; side < TTS_DIFF_SIDES; side++) {
        struct tts_diff_input *input = &answer->inputs[side];
        struct tts_error err = {0};
        if (tts_runs_load(input->path, NULL, &input->runs, &err) != TTS_OK) {
            tts_message_error(command, input->path, &err);
            return TTS_EXIT_INPUT;
        }
    }
    return TTS_EXIT_DONE;
}

/* Prints that the file has no run `word`, and the first few titles that the file has. */
static void say_no_run(const struct tts_diff_input *input, const char *word)
{
    enum { SHOWN_MAX = 3, TITLE_COLUMNS = 40 };
    const struct tts_runs *runs = &input->runs;
    char list[SHOWN_MAX * (TITLE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 4) + 16] = "";
    size_t len = 0, shown = 0, titled = 0;
    for (size_t i = 0; i < runs->count; i++) {
        char title[TITLE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
        if (runs->runs[i].title[0] == '\0' || ++titled > SHOWN_MAX)
            continue;
        tts_safe_text(title, sizeof title, runs->runs[i].title, TITLE_COLUMNS);
        len += (size_t)snprintf(list + len, sizeof list - len, "%s'%s'",
                                shown++ > 0 ? ", " : ": ", title);
    }
    if (titled > shown)
        snprintf(list + len, sizeof list - len, ", ...");
    tts_message(command, "no run '%.60s' in '%s': the file has %zu run%s%s", word,
                tts_message_path(input->path), runs->count, runs->count == 1 ? "" : "s", list);
}

static int choose_pairs(struct diff_job *job)
{
    const struct diff_options *options = &job->options;
    int side;
    size_t count;
    job->answer.is_chosen = options->run[TTS_DIFF_A] || options->run[TTS_DIFF_B];
    if (!job->answer.is_chosen) {
        diff_pair_all(&job->answer);
        return TTS_EXIT_DONE;
    }
    if (diff_pair_chosen(job, &side, &count))
        return TTS_EXIT_DONE;
    const char *path = tts_message_path(job->answer.inputs[side].path);
    const char *word = options->run[side] ? options->run[side] : "1";
    if (count > 1)
        tts_message(command, "%zu runs in '%s' are named '%.60s': choose one by number", count,
                    path, word);
    else
        say_no_run(&job->answer.inputs[side], word);
    return TTS_EXIT_USAGE;
}

/* ---- missing data ---- */

/* Prints the notes of a run. Returns true if data of the run is missing. */
static bool say_run(const char *path, const struct tts_run *run)
{
    for (size_t i = 0; i < run->note_count; i++)
        tts_message_at(command, path, run->notes[i].line, run->notes[i].text);
    if (run->notes_in_all > run->note_count)
        tts_message(command, "%s: %" PRIu64 " more note%s not shown", tts_message_path(path),
                    run->notes_in_all - run->note_count,
                    run->notes_in_all - run->note_count == 1 ? " is" : "s are");
    if (run->is_cut && run->notes_in_all == 0 && run->end_line == 0)
        tts_message_at(command, path, run->line,
                       "the memory summary that begins here is incomplete");
    else if (run->is_cut && run->notes_in_all == 0)
        tts_message(
            command,
            "%s:%" PRIu64
            ": the memory summary that begins here is incomplete: it ends after line %" PRIu64,
            tts_message_path(path), run->line, run->end_line);
    return run->is_cut || run->notes_in_all > 0;
}

static bool say_missing(const struct tts_diff_answer *answer)
{
    bool is_partial = false;
    for (int side = 0; side < TTS_DIFF_SIDES; side++) {
        const struct tts_diff_input *input = &answer->inputs[side];
        for (size_t i = 0; i < input->runs.count; i++)
            if (input->is_paired[i])
                is_partial |= say_run(input->path, &input->runs.runs[i]);
        if (input->runs.unlisted == 0)
            continue;
        is_partial = true;
        tts_message(command,
                    "%s: the file has too many runs or phases: %" PRIu64
                    " of them are not compared",
                    tts_message_path(input->path), input->runs.unlisted);
    }
    for (size_t i = 0; i < answer->pair_count; i++)
        is_partial |= answer->pairs[i].diff.compared == 0;
    if (answer->pair_count == 0)
        tts_message(command,
                    "no run of A matches a run of B: choose runs with '--run-a' and '--run-b'");
    return is_partial || answer->pair_count == 0;
}

/* ---- the command ---- */

static enum tts_status compare_pairs(struct tts_diff_answer *answer)
{
    const struct tts_trainmem_options options = {.use_actual_sizes = true};
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < answer->pair_count && status == TTS_OK; i++) {
        struct tts_diff_pair *pair = &answer->pairs[i];
        for (int side = 0; side < TTS_DIFF_SIDES; side++)
            tts_trainmem_of(pair->runs[side].run, &options, &pair->mem[side]);
        status = tts_rundiff_new(&pair->runs[TTS_DIFF_A], &pair->runs[TTS_DIFF_B], NULL,
                                 &pair->diff);
    }
    return status;
}

static int compare_files(struct tts_job *job, struct diff_job *diff)
{
    struct tts_json json;
    int code = load_sides(&diff->answer);
    if (code == TTS_EXIT_DONE)
        code = choose_pairs(diff);
    if (code != TTS_EXIT_DONE)
        return code;
    if (compare_pairs(&diff->answer) != TTS_OK) {
        tts_message(command, TTS_TEXT_NOMEM);
        return TTS_EXIT_INPUT;
    }
    FILE *out = tts_job_open(job, "-");
    if (!out)
        return TTS_EXIT_INPUT;
    if (diff->options.json) {
        tts_json_init(&json, out);
        tts_diff_json(&diff->answer, &json);
    } else {
        tts_diff_text(&diff->answer, diff->options.all, out);
    }
    return say_missing(&diff->answer) ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}

static int run_diff(struct tts_job *job, void *values)
{
    struct diff_job *diff = values;
    for (int side = 0; side < TTS_DIFF_SIDES; side++)
        diff->answer.inputs[side].path = job->operands[side];
    if (strcmp(job->operands[TTS_DIFF_A], "-") == 0 &&
        strcmp(job->operands[TTS_DIFF_B], "-") == 0) {
        tts_message(command, "only one of the two files can be standard input");
        return TTS_EXIT_USAGE;
    }
    int code = compare_files(job, diff);
    for (size_t i = 0; i < diff->answer.pair_count; i++)
        tts_rundiff_release(&diff->answer.pairs[i].diff);
    for (int side = 0; side < TTS_DIFF_SIDES; side++)
        tts_runs_release(&diff->answer.inputs[side].runs);
    return code;
}

const struct tts_command tts_diff_command = {
    .name = "diff",
    .operands = "A B",
    .summary = "compare the memory of two runs, phase by phase",
    .work = run_diff,
    .options = options_table,
    .values_bytes = sizeof(struct diff_job),
    .operands_min = 2,
    .operands_max = 2,
};
