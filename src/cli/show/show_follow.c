/* show_follow.c: follows a recording while it is written. Prints the memory in use repeatedly,
 * until the recording ends, its program no longer runs, or the user stops ttscope. */
#include "base/error.h"
#include "base/heap.h"
#include "base/ticks.h"
#include "cli/show/show.h"
#include "views/safe_text.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    LOOK_MS = 250, /* time between two checks of the file */
    COLUMNS_MIN = 20,
    COLUMNS_MAX = 512,
    LINES_MIN = 4,
    TOP_ROWS = 10,
    SCREEN_BYTES = 16384, /* about 20 lines; only the line with the path can be long */
};
#define SHOW_NS UINT64_C(1000000000) /* minimum time between two outputs */
/* Time without an event until a program that no longer runs is reported. */
#define GONE_NS UINT64_C(2000000000)

struct follow {
    struct tts_show *show;
    bool is_terminal;
    unsigned lines;       /* number of lines that were drawn on the screen */
    uint64_t shown_items; /* number of items read before the last output */
    uint64_t shown_ns;    /* time of the last output; 0: there was none */
    uint64_t read_ns;     /* time of the last check that found items */
    int signals;          /* a signalfd; -1: signals end the program as usual */
};

/* ---- operations ---- */

static const struct tts_rec_header *header_of(const struct tts_show *show)
{
    return &tts_recfile_info(tts_eventfile_recording(show->file))->header;
}

static bool has_more_now(const void *ctx, const void *a, const void *b)
{
    const struct tts_op_row *x = a, *y = b;
    return x->live_bytes != y->live_bytes ? x->live_bytes > y->live_bytes
                                          : tts_op_row_precedes(ctx, x, y);
}

/* Lists the operations whose buffers use the most memory now. The caller releases *out, also
 * after TTS_E_NOMEM. */
static enum tts_status list_ops(const struct tts_show *show, size_t limit, struct tts_best *out)
{
    const struct tts_op_row *row;
    enum tts_status status = TTS_OK;
    tts_best_init(out, limit, sizeof *row, has_more_now, show->scan.follow, show->alloc);
    for (size_t i = 0;
         status == TTS_OK && (row = tts_ops_at(show->scan.ops[show->options.pool], i)) != NULL;
         i++)
        if (row->live_buffers > 0)
            status = tts_best_add(out, row);
    tts_best_sort(out);
    return status;
}

/* ---- on a terminal ---- */

/* Replaces the lines that were drawn before by `text`. Draws only as many lines and columns as
 * the screen has. */
static void draw_lines(struct follow *follow, const char *text)
{
    struct winsize size = {0};
    char line[COLUMNS_MAX * TTS_SAFE_COLUMN_BYTES + 1], cut[sizeof line];
    bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    unsigned columns = is_known ? size.ws_col : 80, height = is_known ? size.ws_row : 24;
    columns = columns < COLUMNS_MIN ? COLUMNS_MIN : columns;
    columns = columns > COLUMNS_MAX ? COLUMNS_MAX : columns;
    height = height < LINES_MIN ? LINES_MIN : height;
    if (follow->lines > 0)
        printf("\x1b[%uA\x1b[J", follow->lines);
    follow->lines = 0;
    while (*text && follow->lines + 1 < height) {
        size_t length = strcspn(text, "\n");
        size_t kept = length < sizeof line ? length : sizeof line - 1;
        memcpy(line, text, kept);
        line[kept] = '\0';
        tts_safe_text(cut, sizeof cut, line, columns - 1);
        printf("%s\n", cut);
        text += length + (text[length] == '\n');
        follow->lines++;
    }
}

static enum tts_status draw_screen(struct follow *follow, const struct tts_show_facts *facts,
                                   const struct tts_show_now *now)
{
    char text[SCREEN_BYTES] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    if (!out)
        return TTS_E_NOMEM;
    tts_show_now_text(facts, now, out);
    fclose(out);
    draw_lines(follow, text);
    return TTS_OK;
}

/* ---- all outputs ---- */

static enum tts_status print_now(struct follow *follow)
{
    struct tts_show *show = follow->show;
    struct tts_show_facts facts;
    struct tts_json json;
    struct tts_best rows;
    enum tts_status status =
        list_ops(show, show->options.json ? show->options.top : TOP_ROWS, &rows);
    struct tts_show_now now = {tts_peak_info(show->scan.peaks[show->options.pool]), rows.items,
                               rows.count};
    tts_show_facts(show, &facts);
    if (status == TTS_OK && show->options.json) {
        tts_json_init(&json, stdout);
        json.is_one_line = true;
        tts_show_now_json(&facts, &now, &json);
    } else if (status == TTS_OK && follow->is_terminal) {
        status = draw_screen(follow, &facts, &now);
    } else if (status == TTS_OK) {
        tts_show_now_line(&facts, &now, stdout);
    }
    fflush(stdout);
    tts_best_release(&rows);
    return status;
}

/* Prints the memory in use if items were read since the last output, at most once a second. */
static enum tts_status show_news(struct follow *follow)
{
    struct tts_show *show = follow->show;
    uint64_t now_ns = tts_clock_ns();
    bool is_first = follow->shown_ns == 0;
    if (!is_first &&
        (show->scan.items == follow->shown_items || now_ns - follow->shown_ns < SHOW_NS))
        return TTS_OK;
    follow->shown_items = show->scan.items;
    follow->shown_ns = now_ns;
    return print_now(follow);
}

/* ---- the file and its program ---- */

/* Returns false if the process has ended. A zombie has ended, too. */
static bool is_running(uint64_t pid)
{
    char path[64], text[512] = "";
    if (pid == 0 || pid > INT32_MAX)
        return true; /* the recording does not name a valid process */
    if (kill((pid_t)pid, 0) != 0)
        return errno == EPERM;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return true;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *state = strrchr(text, ')');
    return !state || state[1] != ' ' || (state[2] != 'Z' && state[2] != 'X');
}

/* Reads a black box again from its start, after the program overwrote the block that was being
 * read. */
static enum tts_status read_anew(struct tts_show *show, struct tts_error *err)
{
    struct tts_show_options options = show->options;
    tts_show_release(show);
    enum tts_status status = tts_show_init(show, &options, err);
    if (status == TTS_OK)
        status = tts_eventfile_open(options.path, NULL, show->alloc, &show->file, err);
    return status == TTS_OK ? tts_show_read(show, err) : status;
}

static enum tts_status look_for_change(struct follow *follow, struct tts_error *err)
{
    struct tts_show *show = follow->show;
    uint64_t before = show->scan.items;
    enum tts_status status = tts_show_read(show, err);
    if (status == TTS_E_IO && err->sys_errno == 0) {
        status = read_anew(show, err);
        if (status == TTS_E_IO && err->sys_errno == 0)
            status = TTS_OK; /* overwritten again: the next check reads the file anew */
    }
    if (show->scan.items != before)
        follow->read_ns = tts_clock_ns();
    return status;
}

static bool is_ended(const struct tts_show *show)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    return !recording || tts_recfile_info(recording)->state.kind != TTS_REC_RECORDING;
}

/* Waits until the next check is due. Returns false if a signal asks to stop. */
static bool wait_for_look(const struct follow *follow)
{
    struct pollfd poll_fd = {.fd = follow->signals, .events = POLLIN};
    return poll(&poll_fd, 1, LOOK_MS) <= 0;
}

static enum tts_status follow_file(struct follow *follow, struct tts_error *err)
{
    struct tts_show *show = follow->show;
    enum tts_status status = look_for_change(follow, err);
    while (status == TTS_OK && !is_ended(show)) {
        status = show_news(follow);
        if (status != TTS_OK)
            return tts_error_set(err, status, TTS_TEXT_NOMEM);
        if (!wait_for_look(follow)) {
            show->is_interrupted = true;
            return TTS_OK;
        }
        bool was_running = is_running(header_of(show)->pid);
        status = look_for_change(follow, err);
        if (status == TTS_OK && !was_running && tts_clock_ns() - follow->read_ns > GONE_NS) {
            show->is_abandoned = !is_ended(show);
            break;
        }
    }
    /* Reads the items that were written between the last check and the end. */
    return status == TTS_OK && is_ended(show) ? look_for_change(follow, err) : status;
}

enum tts_status tts_show_follow(struct tts_show *show, struct tts_error *err)
{
    const char *terminal = getenv("TERM");
    sigset_t stops, before;
    struct follow follow = {.show = show, .read_ns = tts_clock_ns()};
    follow.is_terminal =
        isatty(STDOUT_FILENO) && terminal && *terminal && strcmp(terminal, "dumb") != 0;
    sigemptyset(&stops);
    sigaddset(&stops, SIGINT);
    sigaddset(&stops, SIGTERM);
    sigprocmask(SIG_BLOCK, &stops, &before);
    follow.signals = signalfd(-1, &stops, SFD_CLOEXEC);
    if (follow.signals < 0) /* the signals end the program, as usual */
        sigprocmask(SIG_SETMASK, &before, NULL);
    enum tts_status status = follow_file(&follow, err);
    if (follow.lines > 0 && !show->is_interrupted)
        printf("\x1b[%uA\x1b[J", follow.lines);
    if (follow.signals >= 0)
        close(follow.signals);
    if (!show->is_interrupted) /* an interrupting signal is still pending and would end the
                                  program */
        sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
