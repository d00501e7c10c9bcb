/* cmd_analyze.c: the command `analyze`, which reports the memory use that training logs
 * state. */
#include "analysis/failure/faillog.h"
#include "base/beside.h"
#include "base/bytesize.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/nearest.h"
#include "base/share.h"
#include "cli/analyze/analyze.h"
#include "cli/commands.h"
#include "cli/external.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/same_file.h"
#include "sources/runs/runs.h"
#include "sources/trainlog/trainlog.h"
#include "views/chart/chartparts.h"
#include "views/chart/drawing_svg.h"
#include "views/chart/memcharts.h"
#include "views/failure/failview.h"
#include "views/finding/junit.h"
#include "views/run/grouped.h"
#include "views/run/run_csv.h"
#include "views/run/run_json.h"
#include "views/run/run_names.h"
#include "views/run/run_text.h"
#include "views/safe_text.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

static const char command[] = "analyze";

/* One log and the result of reading it. */
struct log {
    const char *path;
    uint64_t runs, untitled, lines, bytes;
    bool is_saved;     /* result, recording or trace: has no line and byte counts */
    char problem[160]; /* empty if there is no problem */
    struct tts_faillog failures;
    bool lacks_failures;   /* there was no memory for all of them */
    uint64_t last_heading; /* line of the last summary; 0: none */
};

/* One run of the command. */
struct analyze {
    struct tts_job *job;
    struct tts_analyze_options *options;
    struct log *logs; /* one for each operand */
    struct tts_run_text_options text;
    char device_words[TTS_DEVICE_ARG_WORDS_MAX];
    char picture_path[TTS_PICTURES][TTS_PATH_MAX];
    /* The output streams. NULL if the output was not asked for. */
    FILE *top, *out, *junit_file, *pictures[TTS_PICTURES];
    struct tts_json json;
    struct tts_rowout rows;
    struct tts_junit junit;
    struct tts_progress progress;
    struct tts_run_names names;
    const char *label; /* label of the log that is being read */
    uint64_t notes_said;
    struct tts_run_text_top in_common;
    struct tts_worst_runs worst;
    bool is_partial, is_bad_news;
};

/* ---- option values ---- */

/* Parses a size and stores it in a struct tts_amount. */
static enum tts_status take_size(void *target, const char *text, struct tts_error *err)
{
    struct tts_amount *amount = target;
    uint64_t bytes;
    enum tts_status status = tts_bytesize_parse(text, &bytes);
    if (status == TTS_OK) {
        *amount = tts_amount_of((int64_t)bytes);
        return TTS_OK;
    }
    return tts_error_set(err, status,
                         "%s: expected a number of bytes such as 12884901888, 1.2e9 or 12GiB",
                         status == TTS_E_INVALID ? "the size is negative"
                         : status == TTS_E_RANGE ? "the size is more than 2^60 bytes"
                                                 : "not a size");
}

static enum tts_status take_device_memory(void *target, const char *text, struct tts_error *err)
{
    struct tts_trainmem_options *mem = target;
    enum tts_status status = take_size(&mem->device_memory, text, err);
    if (status == TTS_OK && mem->device_memory.bytes == 0)
        return tts_error_set(err, TTS_E_RANGE, "expected a size of at least 1 byte");
    mem->device_memory_source = TTS_TRAIN_FROM_OPTION;
    return status;
}

static enum tts_status take_dtype(void *target, const char *text, struct tts_error *err)
{
    struct tts_trainmem_options *mem = target;
    for (int i = 0; i < TTS_TRAIN_DTYPES; i++) {
        if (strcasecmp(text, tts_train_dtype_name((enum tts_train_dtype)i)) != 0)
            continue;
        mem->dtype = (enum tts_train_dtype)i;
        mem->has_dtype = true;
        return TTS_OK;
    }
    return tts_error_set(err, TTS_E_NOT_FOUND, "expected bf16 or fp32");
}

static enum tts_status take_optimizer_name(void *target, const char *text,
                                           struct tts_error *err)
{
    struct tts_trainmem_options *mem = target;
    struct tts_nearest nearest = {.word = text};
    mem->has_optimizer = tts_train_optimizer_find(text, &mem->optimizer_kind);
    if (mem->has_optimizer)
        return TTS_OK;
    for (int i = 0; i < TTS_TRAIN_OPTIMIZERS; i++)
        tts_nearest_offer(&nearest, tts_train_optimizer_name((enum tts_train_optimizer)i));
    /* If half of the letters differ, a short word is a different word and not a typing
     * error. */
    bool is_near = nearest.best && nearest.distance * 2 < strlen(text);
    return tts_error_set(err, TTS_E_NOT_FOUND,
                         "%s%s%s (see 'ttscope help analyze'; or give the bytes of the "
                         "optimizer state with '--optimizer_size')",
                         is_near ? "did you mean '" : "expected the name of an optimizer",
                         is_near ? nearest.best : "", is_near ? "'?" : "");
}

/* Parses a limit such as "97.5%" and stores it in hundredths of a percent. */
static enum tts_status take_limit(void *target, const char *text, struct tts_error *err)
{
    enum { LIMIT_MAX = 1000 * 100 };
    uint32_t *limit = target;
    size_t len = strlen(text);
    uint64_t share;
    if (len == 0 || text[len - 1] != '%' ||
        tts_share_parse(text, len - 1, LIMIT_MAX, &share) != TTS_OK || share == 0)
        return tts_error_set(
            err, TTS_E_SYNTAX,
            "expected a percentage of the device memory such as 95%% or 97.5%%");
    *limit = (uint32_t)share;
    return TTS_OK;
}

static const char *const format_names[] = {
    [TTS_PICTURE_PNG] = "png", [TTS_PICTURE_SVG] = "svg", [TTS_PICTURE_PDF] = "pdf"};

static enum tts_status take_format(void *target, const char *text, struct tts_error *err)
{
    enum tts_picture_format *format = target;
    for (size_t i = 0; i < sizeof format_names / sizeof format_names[0]; i++) {
        if (strcasecmp(text, format_names[i]) != 0)
            continue;
        *format = (enum tts_picture_format)i;
        return TTS_OK;
    }
    return tts_error_set(err, TTS_E_NOT_FOUND, "expected png, svg or pdf");
}

#define AT(field) offsetof(struct tts_analyze_options, field)

static const struct tts_option options_table[] = {
    {"logs", 'l', TTS_OPTION_OPERAND, 0, "LOG", .help = "a log file"},
    {"device-memory", 0, TTS_OPTION_OTHER, AT(mem), "BYTES", .help = "DRAM size of the device",
     .take = take_device_memory},
    {"device", 'd', TTS_OPTION_TEXT, AT(device.name), "NAME",
     .help = "use the DRAM size of this device", .excludes = "device-memory"},
    {"set", 0, TTS_OPTION_OTHER, AT(device), "KEY=VALUE",
     .help = "change a property of the device", .take = tts_device_arg_take_set,
     .needs = "device"},
    {"model-size", 0, TTS_OPTION_OTHER, AT(mem.model), "BYTES",
     .help = "expected size of the model", .take = take_size},
    {"optimizer-size", 0, TTS_OPTION_OTHER, AT(mem.optimizer), "BYTES",
     .help = "expected size of the optimizer state", .take = take_size},
    {"gradients-size", 0, TTS_OPTION_OTHER, AT(mem.gradients), "BYTES",
     .help = "expected size of the gradients", .take = take_size},
    {"dtype", 0, TTS_OPTION_OTHER, AT(mem), "bf16|fp32", .help = "data type of the parameters",
     .take = take_dtype},
    {"optimizer", 0, TTS_OPTION_OTHER, AT(mem), "NAME", .help = "optimizer of the run",
     .take = take_optimizer_name},
    {"use-actual-sizes", 0, TTS_OPTION_FLAG, AT(mem.use_actual_sizes),
     .help = "use measured sizes in the peak breakdown"},
    {"visualize-peak", 0, TTS_OPTION_FLAG, AT(has_picture[TTS_PICTURE_PEAK]),
     .help = "draw the parts of the peak"},
    {"visualize-phases", 0, TTS_OPTION_FLAG, AT(has_picture[TTS_PICTURE_PHASES]),
     .help = "draw memory use over the phases"},
    {"output", 'o', TTS_OPTION_TEXT, AT(output), "FILE", .help = "file name of the picture"},
    {"title", 0, TTS_OPTION_TEXT, AT(title), "TEXT", .help = "title of the picture"},
    {"format", 0, TTS_OPTION_OTHER, AT(format), "png|svg|pdf", .help = "format of the picture",
     .take = take_format},
    {"json", 'j', TTS_OPTION_FLAG, AT(json), .help = "write JSON"},
    {"csv", 0, TTS_OPTION_FLAG, AT(csv), .help = "write CSV, one row per run",
     .excludes = "json"},
    {"junit", 0, TTS_OPTION_TEXT, AT(junit_path), "FILE",
     .help = "also write a JUnit report, one test per run"},
    {"fail-above", 0, TTS_OPTION_OTHER, AT(limit), "P%",
     .help = "exit with 1 if a peak is above this share", .take = take_limit},
    {0},
};

/* ---- paths of pictures ---- */

static bool wants_pictures(const struct tts_analyze_options *options)
{
    return options->has_picture[TTS_PICTURE_PEAK] || options->has_picture[TTS_PICTURE_PHASES];
}

/* Returns the dot before the extension of "a.b/c.png", or the end of the path if there is no
 * extension. */
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const char *base = slash ? slash + 1 : path;
    return dot && dot > base ? dot : path + strlen(path);
}

/* Returns whether the file name is only an extension, such as ".svg". */
static bool is_only_extension(const char *path)
{
    enum tts_picture_format format;
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    return base[0] == '.' && take_format(&format, base + 1, NULL) == TTS_OK;
}

/* Chooses the picture format by the output's name, unless an option gives the format. Returns
 * false after printing a message. */
static bool choose_format(const struct analyze *analyze)
{
    struct tts_analyze_options *options = analyze->options;
    const char *output = options->output ? options->output : "";
    const char *extension = extension_of(output);
    if (tts_options_has(&analyze->job->options, "format"))
        return true;
    if (is_only_extension(output))
        tts_message(
            command,
            "'%s' has no name before its extension: give a name, or '--format' png, svg or pdf",
            output);
    else if (extension[0] == '\0' ||
             take_format(&options->format, extension + 1, NULL) == TTS_OK)
        return true;
    else
        tts_message(
            command,
            "cannot tell the format of '%s' by its name: give '--format' png, svg or pdf",
            output);
    return false;
}

/* Stores the path of a picture. Returns false if the path is too long. */
static bool name_picture(struct analyze *analyze, enum tts_picture picture)
{
    static const char *const names[] = {[TTS_PICTURE_PEAK] = "memory_peak_visualization",
                                        [TTS_PICTURE_PHASES] = "memory_phases_visualization"};
    const struct tts_analyze_options *options = analyze->options;
    char *out = analyze->picture_path[picture];
    const char *given = options->output;
    int need;
    if (!given) {
        need =
            snprintf(out, TTS_PATH_MAX, "%s.%s", names[picture], format_names[options->format]);
    } else {
        bool is_second =
            picture == TTS_PICTURE_PHASES && options->has_picture[TTS_PICTURE_PEAK];
        const char *extension = extension_of(given);
        need = snprintf(out, TTS_PATH_MAX, "%.*s%s%s", (int)(extension - given), given,
                        is_second ? "-phases" : "", extension);
    }
    return need > 0 && need < TTS_PATH_MAX;
}

static bool is_input(const struct analyze *analyze, const char *path)
{
    const struct tts_device_arg *device = &analyze->options->device;
    for (int i = 0; i < analyze->job->operand_count; i++)
        if (tts_same_file(analyze->job->operands[i], path))
            return true;
    return device->name && tts_device_arg_is_file(device) && tts_same_file(device->name, path);
}

/* Checks the path of one output. Returns false after printing a message. */
static bool check_output(const struct analyze *analyze, const char *path)
{
    if (path[0] == '\0')
        tts_message(command,
                    "the name of an output file is empty: a picture or '--junit' needs a file");
    else if (strcmp(path, "-") == 0)
        tts_message(
            command,
            "standard output is used for the report: write pictures and '--junit' to a file");
    else if (tts_same_output(path, "-"))
        tts_message(command,
                    "'%s' is also standard output: write the picture or report to another file",
                    path);
    else if (is_input(analyze, path))
        tts_message(command, "'%s' is an input: write the output to another file", path);
    else
        return true;
    return false;
}

static bool name_pictures(struct analyze *analyze)
{
    const struct tts_analyze_options *options = analyze->options;
    if (options->output && !check_output(analyze, options->output))
        return false;
    for (int i = 0; i < TTS_PICTURES; i++) {
        if (options->has_picture[i] && !name_picture(analyze, (enum tts_picture)i)) {
            tts_message(command, "the name of the picture is too long");
            return false;
        }
    }
    return true;
}

/* Checks each output, and that no two outputs are the same file. Returns false after printing a
 * message. */
static bool check_output_files(const struct analyze *analyze)
{
    const struct tts_analyze_options *options = analyze->options;
    const char *paths[1 + TTS_PICTURES];
    size_t count = 0;
    if (options->junit_path)
        paths[count++] = options->junit_path;
    for (int i = 0; i < TTS_PICTURES; i++)
        if (options->has_picture[i])
            paths[count++] = analyze->picture_path[i];
    for (size_t i = 0; i < count; i++) {
        if (!check_output(analyze, paths[i]))
            return false;
        for (size_t before = 0; before < i; before++) {
            if (!tts_same_output(paths[before], paths[i]))
                continue;
            bool is_report = before == 0 && options->junit_path;
            tts_message(command, "'%s' cannot be both %s", paths[i],
                        is_report ? "a picture and a JUnit report: give another name"
                                  : "the picture of the parts and the picture of the phases: "
                                    "give another name");
            return false;
        }
    }
    return true;
}

/* ---- options that depend on each other ---- */

static bool check_logs(const struct analyze *analyze)
{
    const char *device = analyze->options->device.name;
    unsigned standard = device && strcmp(device, "-") == 0;
    for (int i = 0; i < analyze->job->operand_count; i++)
        standard += strcmp(analyze->job->operands[i], "-") == 0;
    if (standard > 1)
        tts_message(command, "standard input can be read only once");
    return standard <= 1;
}

static bool check_picture_options(const struct analyze *analyze)
{
    const struct tts_analyze_options *options = analyze->options;
    bool has_format = tts_options_has(&analyze->job->options, "format");
    if (wants_pictures(options))
        return true;
    if (has_format)
        tts_message(command, "'--format' needs '--visualize_peak' or '--visualize_phases'");
    /* The script analyze_memory.py ignores these options, too. */
    else if (options->output || options->title)
        tts_message(command,
                    "note: '%s' has no effect without '--visualize_peak' or "
                    "'--visualize_phases'",
                    options->output ? "--output" : "--title");
    return !has_format;
}

/* Checks the options and names the outputs. Returns false after printing a message. */
static bool check_analyze_options(struct analyze *analyze)
{
    struct tts_analyze_options *options = analyze->options;
    if (options->output)
        options->output = tts_stdout_path(options->output);
    if (options->junit_path)
        options->junit_path = tts_stdout_path(options->junit_path);
    if (!check_logs(analyze) || !check_picture_options(analyze))
        return false;
    if (wants_pictures(options) && !(choose_format(analyze) && name_pictures(analyze)))
        return false;
    return check_output_files(analyze);
}

/* Looks up the device. Returns an exit code. */
static int resolve_device(struct analyze *analyze)
{
    enum { SMALL_BYTES = 1 << 20 };
    struct tts_chip chip;
    struct tts_analyze_options *options = analyze->options;
    const struct tts_device_arg *device = &options->device;
    const struct tts_amount *memory = &options->mem.device_memory;
    if (memory->is_known && memory->bytes < SMALL_BYTES)
        tts_message(command,
                    "note: '--device_memory' is in bytes unless it has a unit, such as 12GiB");
    if (!device->name)
        return TTS_EXIT_DONE;
    int code = tts_device_arg_resolve(device, command, &chip);
    if (code != TTS_EXIT_DONE)
        return code;
    uint64_t bytes = tts_chip_dram_bytes(&chip);
    if (bytes == 0) {
        tts_message(command, "the DRAM size of device '%s' is unknown: give '--device_memory'",
                    device->name);
        return TTS_EXIT_USAGE;
    }
    options->mem.device_memory = tts_amount_of((int64_t)bytes);
    options->mem.device_memory_source = TTS_TRAIN_FROM_DEVICE;
    snprintf(options->mem.device, sizeof options->mem.device, "%s", chip.name);
    analyze->text.device = tts_device_arg_words(device, analyze->device_words);
    analyze->text.changed_preset = device->set_count > 0 ? device->name : NULL;
    return TTS_EXIT_DONE;
}

/* ---- outputs ---- */

/* Opens all outputs, so that an output that cannot be written is found before any work.
 * Standard output is committed last because its text names the pictures. Returns false after
 * printing a message. */
static bool open_analyze_outputs(struct analyze *analyze)
{
    const struct tts_analyze_options *options = analyze->options;
    struct tts_error err = {0};
    if (options->junit_path &&
        !(analyze->junit_file = tts_job_open(analyze->job, options->junit_path)))
        return false;
    for (int i = 0; i < TTS_PICTURES; i++)
        if (options->has_picture[i] &&
            !(analyze->pictures[i] = tts_job_open(analyze->job, analyze->picture_path[i])))
            return false;
    /* The first lines state the number of runs, which is known only at the end. They are a
     * separate output that is committed before the rest. */
    if (!options->json && !options->csv && !(analyze->top = tts_job_open(analyze->job, "-")))
        return false;
    if (!(analyze->out = tts_job_open(analyze->job, "-")))
        return false;
    if (analyze->junit_file && tts_junit_begin(&analyze->junit, analyze->junit_file,
                                               "ttscope analyze", &err) != TTS_OK) {
        tts_job_fail(analyze->job, NULL, &err);
        return false;
    }
    return true;
}

/* ---- JSON and JUnit ---- */

static void begin_analyze_json(struct tts_json *json, FILE *out)
{
    tts_json_init(json, out);
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.analyze");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_array(json, "runs");
}

static void put_log_json(struct tts_json *json, const struct log *log)
{
    tts_json_object(json, NULL);
    tts_json_text(json, "path", log->path);
    tts_json_number(json, "runs", log->runs);
    if (log->is_saved) {
        tts_json_null(json, "lines");
        tts_json_null(json, "bytes");
    } else {
        tts_json_number(json, "lines", log->lines);
        tts_json_number(json, "bytes", log->bytes);
    }
    tts_json_text_or_null(json, "problem", log->problem);
    struct tts_failending ending;
    bool has_failure = tts_faillog_ending(&log->failures, log->last_heading, &ending);
    tts_json_number_or_null(json, "failure_line", has_failure, has_failure ? ending.line : 0);
    tts_faillog_json(&log->failures, log->path, json);
    tts_json_object_end(json);
}

/* Ends the document. If there is only one run, its fields are also at the top level. */
static void end_analyze_json(struct analyze *analyze)
{
    struct tts_json *json = &analyze->json;
    struct tts_named_run runs[TTS_WORST_RUNS_MAX];
    struct tts_run_tally rest;
    tts_json_array_end(json);
    tts_json_array(json, "logs");
    for (int i = 0; i < analyze->job->operand_count; i++)
        put_log_json(json, &analyze->logs[i]);
    tts_json_array_end(json);
    if (tts_worst_runs_choose(&analyze->worst, TTS_WORST_RUNS_MAX, runs, &rest) == 1)
        tts_run_json(json, &runs[0]);
    tts_json_object_end(json);
}

enum { TEXT_MAX = 160 };

/* Writes one test case. The name of a case is the question that the command answers. */
static void put_junit_case(struct analyze *analyze, const char *name,
                           const struct tts_finding *finding)
{
    char question[TEXT_MAX] = "peak fits device memory", limit[TTS_SHARE_TEXT_MAX];
    if (analyze->options->limit > 0)
        snprintf(question, sizeof question, "peak at most %s%% of device memory",
                 tts_share_format(limit, analyze->options->limit));
    tts_junit_case(&analyze->junit, name, question, finding);
}

/* Writes one test case with its figures, such as "peak 15,666.65 MB of 12,288.00 MB,
 * 127.50%". */
static void put_run_junit(struct analyze *analyze, const struct tts_named_run *run)
{
    static const enum tts_severity severities[] = {
        [TTS_VERDICT_GOOD] = TTS_SEVERITY_NONE,
        [TTS_VERDICT_BAD] = TTS_SEVERITY_ERROR,
        [TTS_VERDICT_UNKNOWN] = TTS_SEVERITY_WARNING,
    };
    const struct tts_trainmem *mem = run->mem;
    char figures[TEXT_MAX] = "the peak is unknown";
    char peak[TTS_GROUPED_MAX], all[TTS_GROUPED_MAX], share[TTS_GROUPED_MAX];
    if (mem->peak.is_known && mem->device_memory.bytes <= 0)
        snprintf(figures, sizeof figures, "the device memory is unknown");
    else if (mem->peak.is_known)
        snprintf(figures, sizeof figures, "peak %s MB%s of %s MB, %s%%",
                 tts_grouped_mb(peak, mem->peak.bytes), mem->peak_at_least ? " or more" : "",
                 tts_grouped_mb(all, mem->device_memory.bytes),
                 tts_grouped_percent(share, mem->peak.bytes, mem->device_memory.bytes));
    const struct tts_finding finding = {
        .severity = severities[tts_named_run_judge(run, analyze->options->limit)],
        .path = run->path,
        .line = run->run->line,
        .message = figures};
    put_junit_case(analyze, run->name, &finding);
}

/* ---- notes about a run ---- */

enum { NOTES_SAID_MAX = 20 }; /* maximum number of notes printed per log */

/* Counts one more note about a log. Returns whether the note may be printed. */
static bool may_say(struct analyze *analyze)
{
    tts_progress_end(&analyze->progress);
    return analyze->notes_said++ < NOTES_SAID_MAX;
}

/* Writes the suffix of a path, such as ":23", or "" for a file without lines. Returns `out`. */
static const char *line_words(char out[TTS_GROUPED_MAX], uint64_t line)
{
    out[0] = '\0';
    if (line > 0)
        snprintf(out, TTS_GROUPED_MAX, ":%" PRIu64, line);
    return out;
}

static void say_run_notes(struct analyze *analyze, const struct tts_named_run *run)
{
    const char *path = tts_message_path(run->path);
    const struct tts_run *what = run->run;
    char line[TTS_GROUPED_MAX];
    for (size_t i = 0; i < what->note_count; i++)
        if (may_say(analyze))
            tts_message(command, "%s%s: %s", path, line_words(line, what->notes[i].line),
                        what->notes[i].text);
    if (what->notes_in_all > what->note_count)
        analyze->notes_said += what->notes_in_all - what->note_count;
    if (what->is_cut && what->end_line > 0 && may_say(analyze))
        tts_message(command,
                    "%s%s: the memory summary that begins here is incomplete: it ends after "
                    "line %" PRIu64,
                    path, line_words(line, what->line), what->end_line);
    analyze->is_partial |= what->notes_in_all > 0 || what->is_cut || what->is_at_least;
}

/* Prints that a run exceeds the limit. These messages have no maximum per log because they
 * explain exit code 1. */
static void say_above_limit(struct analyze *analyze, const struct tts_named_run *run)
{
    char share[TTS_GROUPED_MAX], limit[TTS_SHARE_TEXT_MAX], line[TTS_GROUPED_MAX];
    const struct tts_trainmem *mem = run->mem;
    tts_progress_end(&analyze->progress);
    tts_grouped_percent(share, mem->peak.bytes, mem->device_memory.bytes);
    tts_message(command, "%s%s: the peak of '%s' is %s%% of the device, %s%s%s",
                tts_message_path(run->path), line_words(line, run->run->line), run->name, share,
                mem->is_refused ? "but 'ttscope fit' predicts that the run fails" : "above ",
                mem->is_refused ? "" : tts_share_format(limit, analyze->options->limit),
                mem->is_refused ? "" : "%");
}

/* Compares a run with --fail-above, if that option is given. */
static void judge_by_limit(struct analyze *analyze, const struct tts_named_run *run)
{
    if (analyze->options->limit == 0)
        return;
    enum tts_verdict verdict = tts_named_run_judge(run, analyze->options->limit);
    analyze->is_bad_news |= verdict == TTS_VERDICT_BAD;
    if (verdict == TTS_VERDICT_BAD)
        say_above_limit(analyze, run);
    if (verdict != TTS_VERDICT_UNKNOWN)
        return;
    analyze->is_partial = true;
    const char *why = !run->mem->peak.is_known             ? "the peak is unknown"
                      : run->mem->device_memory.bytes <= 0 ? "the device memory is unknown"
                                                           : "the real peak may be higher";
    char line[TTS_GROUPED_MAX];
    if (may_say(analyze))
        tts_message(command, "%s%s: %s, so '--fail-above' cannot be checked",
                    tts_message_path(run->path), line_words(line, run->run->line), why);
}

/* ---- a log ---- */

static void write_run(struct analyze *analyze, const struct tts_named_run *run)
{
    if (analyze->options->json) {
        tts_json_object(&analyze->json, NULL);
        tts_run_json(&analyze->json, run);
        tts_json_object_end(&analyze->json);
    } else if (analyze->options->csv) {
        tts_run_csv_row(&analyze->rows, run);
    } else {
        tts_run_text(run, &analyze->text, analyze->out);
    }
    if (analyze->junit_file)
        put_run_junit(analyze, run);
}

static enum tts_status take_log_run(struct analyze *analyze, struct log *log,
                                    const struct tts_run *what)
{
    struct tts_trainmem mem;
    char name[TTS_RUN_LABEL_MAX];
    tts_trainmem_of(what, &analyze->options->mem, &mem);
    log->runs++;
    log->last_heading = what->line > log->last_heading ? what->line : log->last_heading;
    log->untitled += what->title[0] == '\0';
    tts_run_names_next(&analyze->names, what, analyze->label, log->untitled, name);
    const struct tts_named_run run = {name, log->path, what, &mem};
    tts_run_text_top_add(&analyze->in_common, &run);
    write_run(analyze, &run);
    analyze->is_partial |= mem.covers_first && !mem.has_verdict;
    say_run_notes(analyze, &run);
    judge_by_limit(analyze, &run);
    return tts_worst_runs_add(&analyze->worst, &run);
}

/* Prints why a log has no run, if the reason is known. */
static void say_no_summary(struct log *log, const struct tts_trainlog_facts *facts)
{
    static const char none[] = "no memory summary: ";
    char *out = log->problem + sizeof none - 1;
    size_t max = sizeof log->problem - sizeof none + 1;
    memcpy(log->problem, none, sizeof none);
    if (facts->bytes == 0)
        snprintf(out, max, "the file is empty");
    else if (facts->is_utf16)
        snprintf(out, max, "the file is UTF-16; convert it with 'iconv -f UTF-16 -t UTF-8'");
    else if (facts->stray_lines > 0)
        snprintf(out, max,
                 "line %" PRIu64 " has memory figures, but the heading '=== Memory Usage "
                 "Summary ===' before the figures is missing",
                 facts->stray_line);
    else if (tts_path_ends_in(log->path, ".tts"))
        snprintf(out, max, "the file is neither a recording nor a log with a summary");
    else if (tts_path_ends_in(log->path, ".json"))
        snprintf(out, max,
                 "the file is not a result saved with the option '--json' of ttscope");
    else if (facts->has_nul)
        snprintf(out, max, "the file is not a text file");
    else
        snprintf(out, max,
                 "no heading '=== Memory Usage Summary ===' found; run the program with memory "
                 "tracking ('--track_memory')");
    tts_message(command, "no memory summary in '%s': %s", tts_message_path(log->path), out);
}

/* ---- failures of a log ---- */

static void take_failure(void *ctx, const struct tts_failmsg *msg)
{
    struct log *log = ctx;
    log->lacks_failures |= tts_faillog_add(&log->failures, msg, NULL) != TTS_OK;
}

/* Names the failure that ended a program before it printed a summary. */
static void say_failure(const struct log *log)
{
    struct tts_failending ending;
    struct tts_explained explained;
    char text[TTS_FAILVIEW_LINE_MAX], explain[TTS_FAILVIEW_COMMAND_MAX];
    if (!tts_faillog_ending(&log->failures, 0, &ending))
        return;
    tts_explained_make(&explained, ending.entry, log->path);
    tts_message_at(command, log->path, ending.line,
                   tts_failview_headline(text, &explained.view));
    if (tts_failview_command(explain, &ending, log->path))
        tts_message(command, "why, and what to change: %s", explain);
}

/* Writes the failure after the last summary of each log. */
static void write_failures(const struct analyze *analyze)
{
    struct tts_failending ending;
    for (int i = 0; i < analyze->job->operand_count; i++) {
        const struct log *log = &analyze->logs[i];
        if (!tts_faillog_ending(&log->failures, log->last_heading, &ending))
            continue;
        tts_failview_ending(&ending, log->path, analyze->out);
    }
}

static void show_log_progress(void *ctx, uint64_t taken)
{
    struct analyze *analyze = ctx;
    tts_progress_show(&analyze->progress, taken);
}

static void fail_log(struct analyze *analyze, struct log *log, const struct tts_error *err)
{
    tts_progress_end(&analyze->progress);
    tts_message_error(command, log->path, err);
    snprintf(log->problem, sizeof log->problem, "%s", err->text);
}

/* Stores the counts of a log that was read to its end. Prints the problem of the log, if
 * any. */
static void finish_log(struct analyze *analyze, struct log *log,
                       const struct tts_runs_reader *file)
{
    struct tts_trainlog_facts facts;
    const char *path = tts_message_path(log->path);
    log->is_saved = !tts_runs_log(file);
    if (log->is_saved)
        return;
    tts_trainlog_facts(tts_runs_log(file), &facts);
    log->lines = facts.lines;
    log->bytes = facts.bytes;
    if (analyze->notes_said > NOTES_SAID_MAX)
        tts_message(command, "%s: %" PRIu64 " more notes about this file are not shown", path,
                    analyze->notes_said - NOTES_SAID_MAX);
    if (log->problem[0] != '\0')
        return;
    if (log->runs == 0 && tts_runs_refusal(file) && strcmp(log->path, "-") == 0) {
        fail_log(analyze, log, tts_runs_refusal(file));
    } else if (log->runs == 0) {
        say_no_summary(log, &facts);
        say_failure(log);
    } else if (facts.stray_lines > 0) {
        snprintf(log->problem, sizeof log->problem,
                 "ignored %" PRIu64 " line%s with memory figures outside any summary",
                 facts.stray_lines, facts.stray_lines == 1 ? "" : "s");
        tts_message(command, "%s:%" PRIu64 ": %s", path, facts.stray_line, log->problem);
    }
}

/* Adds all runs of a log. Prints a problem of the log and continues, so that other logs are
 * still read. Fails only with TTS_E_NOMEM. */
static enum tts_status take_log(struct analyze *analyze, struct log *log)
{
    struct tts_runs_reader *file;
    const struct tts_run *run;
    struct tts_error why = {0};
    enum tts_status taken = TTS_OK, status = tts_runs_open(log->path, NULL, &file, &why);
    analyze->notes_said = 0;
    if (status != TTS_OK) {
        fail_log(analyze, log, &why);
        return TTS_OK;
    }
    tts_progress_begin(&analyze->progress, "reading", log->path, tts_runs_bytes(file));
    tts_runs_on_tick(file, show_log_progress, analyze);
    tts_runs_on_failure(file, take_failure, log);
    while (taken == TTS_OK && (status = tts_runs_next(file, &run, &why)) == TTS_OK)
        taken = take_log_run(analyze, log, run);
    tts_progress_end(&analyze->progress);
    if (status != TTS_OK && status != TTS_E_NOT_FOUND)
        fail_log(analyze, log, &why);
    finish_log(analyze, log, file);
    tts_runs_close(file);
    return log->lacks_failures ? TTS_E_NOMEM : taken;
}

static enum tts_status take_logs(struct analyze *analyze)
{
    const char *const *paths = (const char *const *)analyze->job->operands;
    int count = analyze->job->operand_count;
    enum tts_status status = TTS_OK;
    for (int i = 0; i < count && status == TTS_OK; i++) {
        struct log *log = &analyze->logs[i];
        log->path = paths[i];
        tts_faillog_init(&log->failures, NULL);
        analyze->label = tts_run_label(paths, (size_t)count, (size_t)i);
        status = take_log(analyze, log);
        if (log->problem[0] == '\0')
            continue;
        analyze->is_partial = true;
        const struct tts_finding finding = {
            .severity = TTS_SEVERITY_WARNING, .path = log->path, .message = log->problem};
        if (analyze->junit_file)
            put_junit_case(analyze, analyze->label, &finding);
    }
    return status;
}

/* ---- pictures ---- */

/* Returns whether a run has data that the picture shows. */
static bool is_drawable(const struct tts_named_run *run, enum tts_picture picture)
{
    return picture == TTS_PICTURE_PEAK ? run->mem->has_parts : run->run->phase_count > 0;
}

/* Writes the drawing. A line below the picture names the runs that it does not show. */
static enum tts_status write_picture(const struct analyze *analyze, struct tts_drawing *drawing,
                                     const struct tts_run_tally *rest, FILE *out,
                                     struct tts_error *err)
{
    const struct tts_analyze_options *options = analyze->options;
    char words[TTS_RUN_TALLY_MAX], text[TTS_RUN_TALLY_MAX + 64];
    if (rest->runs > 0) {
        snprintf(text, sizeof text, "worst first; %" PRIu64 " more: %s", rest->runs,
                 tts_run_tally_words(words, rest));
        tts_chart_draw_foot(drawing, text);
    }
    if (drawing->is_short)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    if (options->format != TTS_PICTURE_SVG)
        return options->draw(drawing, options->format, out, err);
    tts_drawing_write_svg(drawing, out);
    return TTS_OK;
}

/* Draws one picture. Discards the output if no run has data to draw. Returns an exit code. */
static int draw_picture(struct analyze *analyze, enum tts_picture picture)
{
    bool is_peak = picture == TTS_PICTURE_PEAK, is_drawn = false;
    size_t max = is_peak ? TTS_CHART_RUNS_MAX : TTS_CHART_PHASE_RUNS_MAX;
    const char *path = analyze->picture_path[picture], *title = analyze->options->title;
    struct tts_named_run runs[TTS_WORST_RUNS_MAX];
    struct tts_run_tally rest;
    struct tts_drawing drawing = {0};
    struct tts_error err = {0};
    size_t count = tts_worst_runs_choose(&analyze->worst, max, runs, &rest);
    for (size_t i = 0; i < count; i++)
        is_drawn |= is_drawable(&runs[i], picture);
    if (!is_drawn) {
        tts_message(command, "cannot draw '%s': no run has %s", path,
                    is_peak ? "the parts of its peak" : "figures of phases");
        tts_job_drop(analyze->job, analyze->pictures[picture]);
        analyze->pictures[picture] = NULL;
        analyze->is_partial = true;
        return TTS_EXIT_DONE;
    }
    enum tts_status status = is_peak ? tts_peakchart(runs, count, title, NULL, &drawing)
                                     : tts_phasechart(runs, count, title, NULL, &drawing);
    if (status != TTS_OK)
        tts_error_set(&err, status, "%s", tts_error_cause(status));
    else
        status = write_picture(analyze, &drawing, &rest, analyze->pictures[picture], &err);
    tts_drawing_release(&drawing);
    if (status != TTS_OK) {
        tts_message(command, "cannot draw '%s': %s", path, err.text);
        return TTS_EXIT_INPUT;
    }
    if (rest.runs > 0)
        tts_message(command, "note: '%s' shows the worst %zu of %" PRIu64 " runs", path, max,
                    analyze->worst.all.runs);
    return TTS_EXIT_DONE;
}

/* ---- the command ---- */

static void write_end(struct analyze *analyze)
{
    char path[TTS_PATH_MAX]; /* long enough: tts_safe_text() never makes a path longer */
    if (analyze->options->json) {
        end_analyze_json(analyze);
        return;
    }
    if (analyze->options->csv) {
        tts_rowout_flush(&analyze->rows);
        return;
    }
    tts_run_text_top(&analyze->in_common, analyze->top);
    tts_run_text_end(&analyze->worst, analyze->out);
    write_failures(analyze);
    for (int i = 0; i < TTS_PICTURES; i++) {
        if (!analyze->pictures[i])
            continue;
        tts_safe_text(path, sizeof path, analyze->picture_path[i], TTS_PATH_MAX);
        fprintf(analyze->out, "\nVisualization saved to: %s\n", path);
    }
}

/* Ends a command that found no run. Only the JUnit report is written, because a report of an
 * earlier command must not remain. */
static int end_without_runs(struct analyze *analyze)
{
    for (int i = 0; i < TTS_PICTURES; i++)
        tts_job_drop(analyze->job, analyze->pictures[i]);
    tts_job_drop(analyze->job, analyze->top);
    tts_job_drop(analyze->job, analyze->out);
    return tts_job_commit(analyze->job, TTS_EXIT_INPUT);
}

static int analyze_logs(struct analyze *analyze)
{
    struct tts_error err = {0};
    int code = TTS_EXIT_DONE;
    if (!open_analyze_outputs(analyze))
        return TTS_EXIT_INPUT;
    tts_rowout_init(&analyze->rows, analyze->out);
    if (analyze->options->json)
        begin_analyze_json(&analyze->json, analyze->out);
    if (analyze->options->csv)
        tts_run_csv_begin(&analyze->rows);
    if (take_logs(analyze) != TTS_OK) {
        tts_message(command, TTS_TEXT_NOMEM);
        return TTS_EXIT_INPUT;
    }
    if (analyze->junit_file && tts_junit_end(&analyze->junit, &err) != TTS_OK)
        return tts_job_fail(analyze->job, NULL, &err);
    if (analyze->worst.all.runs == 0)
        return end_without_runs(analyze);
    for (int i = 0; i < TTS_PICTURES && code == TTS_EXIT_DONE; i++)
        if (analyze->pictures[i])
            code = draw_picture(analyze, (enum tts_picture)i);
    if (code != TTS_EXIT_DONE)
        return code;
    write_end(analyze);
    if (analyze->is_bad_news)
        return TTS_EXIT_BAD_NEWS;
    return analyze->is_partial ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}

/* Executes the program that draws PNG and PDF in place of this process. Returns only on
 * failure. */
static int become_drawer(const struct tts_job *job)
{
    int code = tts_external_exec(job->argv);
    if (code >= 0)
        return code;
    tts_message(command, "cannot draw PNG or PDF: libexec/ttscope/ttscope-analyze is not "
                         "installed; use '--format svg'");
    return TTS_EXIT_INPUT;
}

static int run_analyze(struct tts_job *job, void *values)
{
    struct tts_analyze_options *options = values;
    struct analyze analyze = {.job = job, .options = options};
    if (!check_analyze_options(&analyze))
        return TTS_EXIT_USAGE;
    if (wants_pictures(options) && options->format != TTS_PICTURE_SVG && !options->draw)
        return become_drawer(job);
    analyze.text.limit = options->limit;
    analyze.text.has_optimizer_size = options->mem.optimizer.is_known;
    int code = resolve_device(&analyze);
    if (code != TTS_EXIT_DONE)
        return code;
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t bytes = (size_t)job->operand_count * sizeof *analyze.logs;
    analyze.logs = alloc->alloc(alloc->ctx, bytes);
    if (!analyze.logs) {
        tts_message(command, TTS_TEXT_NOMEM);
        return TTS_EXIT_INPUT;
    }
    memset(analyze.logs, 0, bytes);
    code = analyze_logs(&analyze);
    tts_junit_release(&analyze.junit);
    tts_worst_runs_release(&analyze.worst);
    for (int i = 0; i < job->operand_count; i++)
        if (analyze.logs[i].path)
            tts_faillog_release(&analyze.logs[i].failures);
    alloc->free(alloc->ctx, analyze.logs, bytes);
    return code;
}

const struct tts_command tts_analyze_command = {
    .name = "analyze",
    .operands = "LOG",
    .summary = "analyze the memory figures of training logs",
    .work = run_analyze,
    .options = options_table,
    .values_bytes = sizeof(struct tts_analyze_options),
    .operands_min = 1,
    .operands_max = INT_MAX,
};
