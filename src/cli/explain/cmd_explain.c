/* cmd_explain.c: what a failure message of the runtime means, and what to change. */
#include "analysis/failure/faillog.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "sources/eventpass.h"
#include "sources/failure/failscan.h"
#include "sources/partial.h"
#include "views/failure/failview.h"
#include "views/safe_text.h"
#include "views/say.h"
#include "views/table.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char command[] = "explain";

struct explain_options {
    uint64_t line; /* 0: not given */
    const char *svg_path, *with_path;
    bool all, follow, json;
};

static const struct tts_option options_table[] = {
    {"all", 'a', TTS_OPTION_FLAG, offsetof(struct explain_options, all),
     .help = "explain every failure, not only the first"},
    {"line", 'l', TTS_OPTION_NUMBER, offsetof(struct explain_options, line), "N",
     "explain the message that begins in line N", .min = 1, .excludes = "all"},
    {"follow", 'f', TTS_OPTION_FLAG, offsetof(struct explain_options, follow),
     .help = "wait for more text, and explain each new failure", .excludes = "line"},
    {"with", 'w', TTS_OPTION_TEXT, offsetof(struct explain_options, with_path), "FILE",
     "list the buffers that held the memory, from this file", .excludes = "all"},
    {"svg", 0, TTS_OPTION_TEXT, offsetof(struct explain_options, svg_path), "FILE",
     "write a drawing of the failure to this file", .excludes = "follow"},
    {"json", 'j', TTS_OPTION_FLAG, offsetof(struct explain_options, json),
     .help = "write JSON"},
    {0},
};

/* One text: a file, standard input, or words of the command line. */
struct explain_text {
    const char *path; /* NULL: words of the command line */
    const char *word; /* the only word, which may be meant as the name of a file; NULL: none */
    struct tts_input *in;
    struct tts_faillog log;
    struct tts_logtext_facts facts;
    struct tts_failentry chosen; /* of --line */
    bool has_chosen;
    uint64_t before, after;           /* lines of the messages next to --line; 0: none */
    bool is_partial;                  /* the rest of the text cannot be read */
    const struct tts_failentry *full; /* the failure that is explained in full */
    struct tts_failholders *holders;  /* of --with, for the failure `full` */
    const char *with_path;
    struct tts_progress progress;
};

/* ---- reading ---- */

static void show_progress(void *ctx, uint64_t taken)
{
    struct explain_text *text = ctx;
    tts_progress_show(&text->progress, taken);
}

/* Keeps the message of --line, and the lines of its neighbours. */
static void choose_message(struct explain_text *text, const struct tts_failmsg *msg,
                           uint64_t line)
{
    if (msg->line < line)
        text->before = msg->line;
    if (msg->line > line && text->after == 0)
        text->after = msg->line;
    if (msg->line != line || text->has_chosen)
        return;
    text->has_chosen = true;
    text->chosen = (struct tts_failentry){.msg = *msg, .count = 1, .last_line = msg->line};
}

static enum tts_status scan_text(struct explain_text *text, uint64_t line,
                                 struct tts_error *err)
{
    struct tts_failscan *scan;
    struct tts_failmsg msg;
    enum tts_status status = tts_failscan_new(text->in, NULL, &scan, err);
    if (status != TTS_OK)
        return status;
    tts_failscan_on_tick(scan, show_progress, text);
    while ((status = tts_failscan_next(scan, &msg, err)) == TTS_OK) {
        choose_message(text, &msg, line);
        status = tts_faillog_add(&text->log, &msg, err);
        if (status != TTS_OK)
            break;
    }
    text->facts = tts_failscan_facts(scan);
    tts_failscan_free(scan);
    return status == TTS_E_NOT_FOUND ? TTS_OK : status;
}

/* Reads all messages of a text. Returns TTS_EXIT_DONE if there is something to explain. */
static int read_text(struct explain_text *text, uint64_t line)
{
    struct tts_error err = {0};
    const char *path = text->path ? text->path : "the text";
    tts_progress_begin(&text->progress, "reading", path, tts_input_total(text->in));
    enum tts_status status = scan_text(text, line, &err);
    tts_progress_end(&text->progress);
    if (status == TTS_OK)
        return TTS_EXIT_DONE;
    tts_message_error(command, path, &err);
    text->is_partial = true;
    return status != TTS_E_NOMEM && text->log.count > 0 ? TTS_EXIT_DONE : TTS_EXIT_INPUT;
}

/* ---- operands ---- */

/* Opens the operands from `first` on as one text of words. */
static enum tts_status open_words(char **words, int count, struct tts_input **out,
                                  struct tts_error *err)
{
    char path[32];
    int fd = memfd_create("words", MFD_CLOEXEC);
    FILE *stream = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
    bool is_good = stream != NULL;
    for (int i = 0; i < count && is_good; i++)
        is_good = fprintf(stream, "%s%s", i > 0 ? " " : "", words[i]) >= 0;
    if (stream)
        is_good = fclose(stream) == 0 && is_good;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    enum tts_status status =
        is_good ? tts_input_open(path, NULL, out, err)
                : tts_error_set_errno(err, TTS_E_IO, errno,
                                      "cannot keep the text in a temporary file");
    if (fd >= 0)
        close(fd);
    return status;
}

static bool is_file(const char *operand)
{
    struct stat st;
    return strcmp(operand, "-") == 0 || stat(operand, &st) == 0;
}

/* ---- answers ---- */

/* Explains a failure. The buffers that held the memory are known for one failure only. */
static void explain_one(struct tts_explained *out, const struct explain_text *text,
                        const struct tts_failentry *entry)
{
    const struct tts_failentry *first = tts_faillog_first(&text->log);
    tts_explained_make(out, entry, text->path);
    out->view.is_first = first && first->msg.line == entry->msg.line;
    if (text->holders && entry == text->full)
        tts_explained_add_holders(out, text->holders, text->with_path);
}

static void explain_entry(const struct explain_text *text, const struct tts_failentry *entry,
                          FILE *out, struct tts_json *json)
{
    struct tts_explained explained;
    explain_one(&explained, text, entry);
    if (json)
        tts_failview_json(&explained.view, json);
    else
        tts_failview_text(&explained.view, out);
}

/* ---- the buffers that held the memory ---- */

/* One reading of the file of --with. */
struct explain_with {
    struct tts_failholders *holders;
    struct tts_eventpass pass;
    struct tts_partial partial;
    struct tts_progress progress;
};

static void show_with_progress(void *ctx, uint64_t taken)
{
    struct explain_with *with = ctx;
    tts_progress_show(&with->progress, taken);
}

static enum tts_status take_with_item(void *ctx, const struct tts_item *item,
                                      struct tts_error *err)
{
    struct explain_with *with = ctx;
    tts_partial_item(&with->partial, item);
    enum tts_status status = tts_failholders_item(with->holders, item, err);
    with->pass.is_done = with->holders->moment == TTS_FAILMOMENT_REFUSAL;
    if (status == TTS_OK || status == TTS_E_NOMEM || item->kind == TTS_ITEM_EVENT)
        return status;
    if (with->partial.refused++ == 0)
        with->partial.refusal = *err;
    return TTS_OK;
}

/* Reads the file up to the failure, or to its end. */
static enum tts_status read_with(struct explain_with *with, struct tts_error *err)
{
    with->pass.follow = with->holders->follow;
    with->pass.take = take_with_item;
    with->pass.ctx = with;
    enum tts_status status = tts_eventpass_run(&with->pass, err);
    tts_eventpass_release(&with->pass);
    if (status == TTS_E_NOMEM || (status != TTS_OK && !with->partial.has_items))
        return status;
    if (status != TTS_OK)
        with->partial.damage = *err;
    return tts_failholders_finish(with->holders, err);
}

/* Prints why the answer about the buffers is less than the user asked for. */
static int say_with_partial(struct explain_with *with, const char *path)
{
    struct tts_partial_notes notes;
    const struct tts_failholders *holders = with->holders;
    const char *pool = tts_pool_name(holders->pool);
    char text[96];
    if (holders->moment == TTS_FAILMOMENT_NONE)
        snprintf(text, sizeof text, "the file has no allocation in %s", pool);
    else
        snprintf(text, sizeof text,
                 "the file does not have this failure; the buffers in %s at the end of the "
                 "file are listed",
                 pool);
    if (!holders->is_same_run)
        tts_message_at(command, path, 0, text);
    tts_partial_list(&with->partial, with->pass.file, &notes);
    int code = tts_message_partial(&notes, command, path);
    return holders->is_same_run ? code : TTS_EXIT_PARTIAL;
}

/* Finds the buffers that held the memory. Returns TTS_EXIT_PARTIAL if they are not all known.
 */
static int find_holders(struct explain_text *text, const char *path)
{
    struct tts_error err = {0};
    struct explain_with with = {0};
    const struct tts_eventfile_watch watch = {show_with_progress, &with};
    enum tts_status status = tts_failholders_new(&text->full->msg, NULL, &text->holders, &err);
    if (status == TTS_E_NOT_FOUND) {
        tts_message(command,
                    "no buffers are listed: this failure is not about a lack of buffer memory");
        return TTS_EXIT_PARTIAL;
    }
    with.holders = text->holders;
    text->with_path = path;
    tts_progress_begin(&with.progress, "reading", path, 0);
    if (status == TTS_OK)
        status = tts_eventfile_open(path, &watch, NULL, &with.pass.file, &err);
    if (status == TTS_OK)
        status = read_with(&with, &err);
    tts_progress_end(&with.progress);
    if (status != TTS_OK)
        tts_message_error(command, path, &err);
    int code = status == TTS_OK ? say_with_partial(&with, path) : TTS_EXIT_INPUT;
    tts_eventfile_close(with.pass.file);
    return code;
}

/* Draws the failure that is explained in full. */
static int draw_entry(struct tts_job *job, const struct explain_text *text,
                      const struct tts_failentry *entry, const char *path)
{
    struct tts_explained explained;
    FILE *out = tts_job_open(job, path);
    if (!out)
        return TTS_EXIT_INPUT;
    explain_one(&explained, text, entry);
    if (tts_failview_svg(&explained.view, out))
        return TTS_EXIT_DONE;
    tts_job_drop(job, out);
    tts_message(command, "cannot draw the failure: the failure message lacks the sizes or "
                         "addresses for a drawing");
    return TTS_EXIT_DONE;
}

static int compare_first_lines(const void *a, const void *b)
{
    const struct tts_failfamily *const *x = a, *const *y = b;
    return ((*x)->first_line > (*y)->first_line) - ((*x)->first_line < (*y)->first_line);
}

/* Lists the families that occur, in the order of their first lines. Returns their number. */
static size_t sort_families(const struct tts_faillog *log,
                            const struct tts_failfamily *out[TTS_FAILMSG_FAMILIES])
{
    size_t count = 0;
    for (size_t i = 0; i < TTS_FAILMSG_FAMILIES; i++)
        if (log->families[i].count > 0)
            out[count++] = &log->families[i];
    qsort(out, count, sizeof *out, compare_first_lines);
    return count;
}

/* Prints how often each family occurs. */
static enum tts_status print_families(const struct explain_text *text, FILE *out)
{
    static const struct tts_column columns[] = {
        {.title = "failure", .is_flexible = true},
        {.title = "messages", .type = TTS_COLUMN_NUMBER},
        {.title = "different", .type = TTS_COLUMN_NUMBER},
        {.title = "line", .type = TTS_COLUMN_NUMBER},
        {.title = "last", .type = TTS_COLUMN_NUMBER},
    };
    const struct tts_failfamily *families[TTS_FAILMSG_FAMILIES];
    size_t count = sort_families(&text->log, families);
    struct tts_table table;
    enum tts_status status = TTS_OK;
    tts_table_init(&table, columns, sizeof columns / sizeof columns[0], NULL);
    for (size_t i = 0; i < count && status == TTS_OK; i++) {
        const struct tts_failfamily *family = families[i];
        enum tts_failmsg_family which = (enum tts_failmsg_family)(family - text->log.families);
        status =
            tts_table_add(&table, (struct tts_cell[]){tts_cell_text(tts_failmsg_title(which)),
                                                      tts_cell_number(family->count),
                                                      tts_cell_number(family->entries),
                                                      tts_cell_number(family->first_line),
                                                      tts_cell_number(family->last_line)});
    }
    if (status == TTS_OK)
        tts_table_text(&table, tts_say_columns(), out);
    tts_table_release(&table);
    return status;
}

static int say_no_line(const struct explain_text *text, uint64_t line)
{
    char near[96] = "";
    if (text->before > 0 && text->after > 0)
        snprintf(near, sizeof near,
                 ": the nearest ones begin in lines %" PRIu64 " and %" PRIu64, text->before,
                 text->after);
    else if (text->before > 0 || text->after > 0)
        snprintf(near, sizeof near, ": the nearest one begins in line %" PRIu64,
                 text->before > 0 ? text->before : text->after);
    tts_message(command, "no failure message begins in line %" PRIu64 "%s", line, near);
    return TTS_EXIT_BAD_NEWS;
}

static int say_nothing_found(const struct explain_text *text)
{
    const char *more = "";
    if (text->word) {
        tts_message(command, "cannot read '%s': no such file, and no failure message",
                    text->word);
        return TTS_EXIT_INPUT;
    }
    if (text->facts.bytes == 0)
        more = ": the text is empty";
    else if (text->facts.is_utf16)
        more = ": the text is UTF-16; convert it to UTF-8 ('iconv -f UTF-16 -t UTF-8')";
    else if (text->facts.has_nul)
        more = ": the file is not a text file";
    if (text->path)
        tts_message(command, "no failure message found in '%s'%s", tts_message_path(text->path),
                    more);
    else
        tts_message(command, "no failure message found in the text%s", more);
    tts_message(command,
                "ttscope knows the runtime's messages about memory that is full, circular "
                "buffers, traces and the kernel-config ring; give the whole message, with "
                "its numbers (see 'ttscope help explain')");
    return TTS_EXIT_BAD_NEWS;
}

enum { LEFT_OUT_MAX = 160 };

/* Writes how many messages are about failures that are not kept and therefore not explained. */
static const char *put_left_out(char out[LEFT_OUT_MAX], const struct explain_text *text)
{
    uint64_t count = text->log.left_out;
    snprintf(out, LEFT_OUT_MAX,
             "only the first %d different failures are explained; %" PRIu64
             " message%s of %s only counted",
             TTS_FAILLOG_MAX, count, tts_say_plural(count),
             count == 1 ? "another failure is" : "other failures are");
    return out;
}

/* Says the same as a note, for output that has no place for the sentence. */
static void note_left_out(const struct explain_text *text)
{
    char sentence[LEFT_OUT_MAX];
    if (text->log.left_out > 0)
        tts_message(command, "note: %s: %s",
                    text->path ? tts_message_path(text->path) : "the text",
                    put_left_out(sentence, text));
}

/* Prints the answer, then the table of all failures, then the rest of the explanation. */
static void print_several(const struct explain_text *text, bool all, FILE *out)
{
    char left_out[LEFT_OUT_MAX];
    struct tts_explained first;
    explain_one(&first, text, tts_faillog_first(&text->log));
    tts_failview_text_headline(&first.view, out);
    fputc('\n', out);
    if (print_families(text, out) == TTS_OK)
        fputc('\n', out);
    if (text->log.left_out > 0) {
        tts_say(out, 0, "%s", put_left_out(left_out, text));
        fputc('\n', out);
    }
    if (all)
        return;
    fputs("the first failure:\n", out);
    tts_failview_text_details(&first.view, out);
    fprintf(out,
            "\n%zu more failure%s: '--all' explains %s failures, '--line N' explains one\n",
            text->log.count - 1, tts_say_plural(text->log.count - 1),
            text->log.left_out > 0 ? "these" : "all");
}

static void print_text(const struct explain_text *text, const struct explain_options *options,
                       FILE *out)
{
    const struct tts_faillog *log = &text->log;
    if (options->line > 0) {
        explain_entry(text, &text->chosen, out, NULL);
        return;
    }
    if (log->count > 1)
        print_several(text, options->all, out);
    if (log->count > 1 && !options->all)
        return;
    for (size_t i = 0; i < log->count; i++) {
        if (i > 0)
            fputc('\n', out);
        explain_entry(text, &log->entries[i], out, NULL);
    }
}

/* ---- a text that grows ---- */

enum { LOOK_MS = 100, QUIET_LOOKS = 5 };

/* Waits for more text. Returns false if there will be none: the writer of a pipe is gone. */
static bool wait_for_text(struct explain_text *text, struct tts_failscan *scan, int *looks)
{
    struct stat st;
    bool is_pipe = strcmp(text->path, "-") == 0
                       ? fstat(STDIN_FILENO, &st) == 0 && !S_ISREG(st.st_mode)
                       : stat(text->path, &st) == 0 && !S_ISREG(st.st_mode);
    uint64_t before = text->facts.bytes;
    text->facts = tts_failscan_facts(scan);
    *looks = text->facts.bytes > before ? 0 : *looks + 1;
    if (is_pipe && *looks > 1)
        return false;
    if (!is_pipe)
        usleep(LOOK_MS * 1000);
    return tts_failscan_resume(scan, *looks >= QUIET_LOOKS || (is_pipe && *looks == 1));
}

/* Explains each failure once, as soon as its message is in the text. */
static int follow_text(struct explain_text *text, FILE *out, bool as_json)
{
    struct tts_error err = {0};
    struct tts_failscan *scan;
    struct tts_failmsg msg;
    struct tts_json json;
    int looks = 0;
    enum tts_status status = tts_failscan_new(text->in, NULL, &scan, &err);
    if (status == TTS_OK)
        tts_failscan_follow(scan);
    while (status == TTS_OK) {
        status = tts_failscan_next(scan, &msg, &err);
        if (status == TTS_E_NOT_FOUND && wait_for_text(text, scan, &looks)) {
            status = TTS_OK;
            continue;
        }
        size_t count = text->log.count;
        uint64_t left_out = text->log.left_out;
        if (status == TTS_OK)
            status = tts_faillog_add(&text->log, &msg, &err);
        if (left_out == 0)
            note_left_out(text);
        if (status != TTS_OK || text->log.count == count)
            continue;
        tts_json_init(&json, out);
        json.is_one_line = true;
        explain_entry(text, &text->log.entries[count], out, as_json ? &json : NULL);
        fputc('\n', out);
        fflush(out);
    }
    tts_failscan_free(scan);
    if (status != TTS_E_NOT_FOUND) {
        tts_message_error(command, text->path, &err);
        return TTS_EXIT_INPUT;
    }
    return text->log.count > 0 ? TTS_EXIT_DONE : say_nothing_found(text);
}

/* ---- the command ---- */

/* Where the answers go. */
struct explain_output {
    FILE *out;
    struct tts_json *json; /* NULL: as text */
    uint64_t left_out;     /* messages that are not explained, of all texts so far */
};

static int explain_text(struct tts_job *job, struct explain_text *text,
                        const struct explain_options *options, struct explain_output *output)
{
    FILE *out = output->out;
    struct tts_json *json = output->json;
    int code = read_text(text, options->line);
    if (code != TTS_EXIT_DONE)
        return code;
    if (text->log.count == 0)
        return say_nothing_found(text);
    if (options->line > 0 && !text->has_chosen)
        return say_no_line(text, options->line);
    text->full = options->line > 0 ? &text->chosen : tts_faillog_first(&text->log);
    if (options->with_path)
        code = find_holders(text, options->with_path);
    if (code == TTS_EXIT_INPUT)
        return code;
    if (options->svg_path &&
        draw_entry(job, text, text->full, options->svg_path) != TTS_EXIT_DONE)
        return TTS_EXIT_INPUT;
    if (json && options->line > 0)
        explain_entry(text, &text->chosen, out, json);
    else if (json)
        for (size_t i = 0; i < text->log.count; i++)
            explain_entry(text, &text->log.entries[i], out, json);
    else
        print_text(text, options, out);
    if (options->line == 0)
        output->left_out += text->log.left_out;
    if (options->line == 0 && json)
        note_left_out(text);
    return text->is_partial ? TTS_EXIT_PARTIAL : code;
}

/* Explains one operand, or all of them as words. */
static int explain_operand(struct tts_job *job, char **operands, int word_count,
                           const struct explain_options *options, struct explain_output *output)
{
    struct explain_text text = {.path = word_count > 0 ? NULL : operands[0]};
    if (word_count == 1 && !strchr(operands[0], ' '))
        text.word = operands[0];
    struct tts_error err = {0};
    enum tts_status status = word_count > 0 ? open_words(operands, word_count, &text.in, &err)
                                            : tts_input_open(text.path, NULL, &text.in, &err);
    if (status != TTS_OK)
        return tts_job_fail(job, text.path, &err);
    tts_faillog_init(&text.log, NULL);
    int code = options->follow ? follow_text(&text, output->out, options->json)
                               : explain_text(job, &text, options, output);
    tts_failholders_free(text.holders);
    tts_faillog_release(&text.log);
    tts_input_close(text.in);
    return code;
}

static int explain_all(struct tts_job *job, const struct explain_options *options,
                       struct explain_output *output)
{
    static char stdin_name[] = "-";
    char *only[] = {stdin_name, NULL};
    char **operands = job->operand_count > 0 ? job->operands : only;
    int count = job->operand_count > 0 ? job->operand_count : 1, worst = TTS_EXIT_BAD_NEWS;
    if (!is_file(operands[0]))
        return explain_operand(job, operands, count, options, output);
    for (int i = 0; i < count; i++) {
        if (count > 1 && !output->json)
            fprintf(output->out, "%s==> %s <==\n", i > 0 ? "\n" : "", operands[i]);
        int code = explain_operand(job, operands + i, 0, options, output);
        if (code == TTS_EXIT_INPUT)
            return code;
        if (code == TTS_EXIT_PARTIAL || worst == TTS_EXIT_BAD_NEWS)
            worst = code;
    }
    return worst;
}

static int run_explain(struct tts_job *job, void *values)
{
    const struct explain_options *options = values;
    struct tts_json json;
    if (options->follow && (job->operand_count != 1 || !is_file(job->operands[0])))
        return tts_job_usage(job, "'--follow' needs one FILE");
    if (options->svg_path && job->operand_count > 1 && is_file(job->operands[0]))
        return tts_job_usage(job, "'--svg' draws one failure: name one FILE");
    if (options->svg_path && strcmp(options->svg_path, "-") == 0)
        return tts_job_usage(job, "'--svg -' uses standard output: give a file");
    if (options->with_path &&
        (options->follow || (job->operand_count > 1 && is_file(job->operands[0]))))
        return tts_job_usage(job, "'--with' works with one failure: name one FILE");
    if (options->with_path && strcmp(options->with_path, "-") == 0 &&
        (job->operand_count == 0 || strcmp(job->operands[0], "-") == 0))
        return tts_job_usage(
            job, "standard input is already used for the text: give a file to '--with'");
    if (options->follow)
        return explain_all(job, options, &(struct explain_output){.out = stdout});
    struct explain_output output = {.out = tts_job_open(job, "-")};
    if (!output.out)
        return TTS_EXIT_INPUT;
    if (!options->json)
        return explain_all(job, options, &output);
    output.json = &json;
    tts_json_init(&json, output.out);
    tts_json_object(&json, NULL);
    tts_json_object(&json, "schema");
    tts_json_text(&json, "name", "ttscope.explain");
    tts_json_number(&json, "version", 1);
    tts_json_object_end(&json);
    tts_json_array(&json, "failures");
    int code = explain_all(job, options, &output);
    tts_json_array_end(&json);
    tts_json_number(&json, "failures_max", TTS_FAILLOG_MAX);
    tts_json_number(&json, "messages_left_out", output.left_out);
    tts_json_object_end(&json);
    return code;
}

const struct tts_command tts_explain_command = {
    .name = "explain",
    .operands = "[FILE...|TEXT]",
    .summary = "explain an out-of-memory or clash message",
    .work = run_explain,
    .options = options_table,
    .values_bytes = sizeof(struct explain_options),
    .operands_max = INT_MAX,
};
