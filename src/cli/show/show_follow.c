/* show_follow.c: a recording while it is written: what is in use now, shown again and again
 * until the recording ends, its program is gone, or the user stops it. */
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "base/ticks.h"
#include "cli/message.h"
#include "cli/show/show.h"
#include "views/safe_text.h"
#include "views/say.h"

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
    LOOK_MS = 250, /* between two looks at the file */
    COLUMNS_MIN = 20,
    COLUMNS_MAX = 512,
    LINES_MIN = 4,
    TOP_ROWS = 10,
    SCREEN_BYTES = 16384, /* some 20 lines, of names that are cut and one path */
};
#define SHOW_NS UINT64_C(1000000000) /* between two shows of what was found */
#define GONE_NS UINT64_C(2000000000) /* without an event, once its program is not there */

struct follow {
    struct tts_show *show;
    bool is_terminal;
    unsigned lines;       /* of the screen that are ours */
    uint64_t shown_items; /* how many had been read when it was shown; and when that was */
    uint64_t shown_ns;
    uint64_t read_ns; /* when something was read last */
    int signals;      /* a signalfd, or -1 */
};

/* ---- what is shown ---- */

static const struct tts_rec_header *header_of(const struct tts_show *show)
{
    return &tts_recfile_info(tts_eventfile_recording(show->file))->header;
}

static void put_level(const struct tts_show *show, enum tts_pool pool, FILE *out)
{
    char bytes[TTS_NUMBER_BYTES_MAX];
    struct tts_level level = tts_levels_of(&show->sum.levels, pool);
    if (tts_show_is_unknown(show, pool)) {
        fprintf(out, "%s unknown", tts_pool_name(pool));
        return;
    }
    fprintf(out, "%s %s%s in %" PRIu64 " buffer%s", tts_pool_name(pool),
            level.bytes < 0 ? "-" : "",
            tts_number_format_bytes(bytes, level.bytes < 0 ? -(uint64_t)level.bytes
                                                           : (uint64_t)level.bytes),
            level.buffers, tts_say_plural(level.buffers));
}

static void put_follow_peak(const struct tts_show *show, FILE *out)
{
    char bytes[TTS_NUMBER_BYTES_MAX];
    struct tts_peak_info peak = tts_peak_info(show->scan.peaks[show->options.pool]);
    fprintf(out, "%s %s at event %" PRIu64, tts_pool_name(peak.pool),
            tts_number_format_bytes(bytes, (uint64_t)peak.level.bytes), peak.seq);
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

static void put_follow_head(const struct tts_show *show, FILE *out)
{
    uint64_t ns = tts_show_since_start(show, show->sum.last_ns);
    fprintf(out,
            "%s: recording, pid %" PRIu64 ", %" PRIu64 ".%06" PRIu64 " s, %" PRIu64
            " event%s\n",
            tts_message_path(show->options.path), header_of(show)->pid, ns / 1000000000,
            ns / 1000 % 1000000, show->sum.event.seq, tts_say_plural(show->sum.event.seq));
    for (int i = 0; i < TTS_POOLS; i++) {
        enum tts_pool pool = (enum tts_pool)i;
        if (i > 0 && tts_levels_of(&show->sum.levels, pool).buffers == 0)
            continue;
        fputs(i == 0 ? "now   " : "      ", out);
        put_level(show, pool, out);
        fputc('\n', out);
    }
    fputs("peak  ", out);
    put_follow_peak(show, out);
    struct tts_peak_info peak = tts_peak_info(show->scan.peaks[show->options.pool]);
    tts_show_text_when(show, peak.has_time, peak.time_ns, peak.op, out);
    fputc('\n', out);
    if (show->sum.phase_count > 0) {
        fprintf(out,
                "phases %" PRIu64 ", %s: ", show->sum.phase_count + show->sum.phases_unlisted,
                show->sum.phases_unlisted > 0 ? "last one kept" : "last");
        tts_show_text_name(out,
                           tts_eventsummary_phase_name(
                               &show->sum, &show->sum.phases[show->sum.phase_count - 1]),
                           40, false);
        fputc('\n', out);
    }
    if (show->sum.failure_count > 0)
        fprintf(out, "refused requests: %" PRIu64 "\n",
                show->sum.failure_count + show->sum.failures_unlisted);
}

static enum tts_status put_follow_ops(const struct tts_show *show, FILE *out)
{
    struct tts_best rows;
    enum tts_status status = list_ops(show, TOP_ROWS, &rows);
    if (status == TTS_OK && rows.count > 0)
        fprintf(out, "%15s %10s  %s\n", "bytes now", "buffers", "operation");
    for (size_t i = 0; status == TTS_OK && i < rows.count; i++) {
        const struct tts_op_row *row = &((const struct tts_op_row *)rows.items)[i];
        fprintf(out, "%15" PRIu64 " %10" PRIu64 "  ", row->live_bytes, row->live_buffers);
        tts_show_text_op(show, out, row->op, 48);
        fputc('\n', out);
    }
    tts_best_release(&rows);
    return status;
}

/* Puts as much of `text` on the screen as there is room for, in the place of the last one. */
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
    fflush(stdout);
}

static enum tts_status draw_screen(struct follow *follow)
{
    char text[SCREEN_BYTES] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    if (!out)
        return TTS_E_NOMEM;
    put_follow_head(follow->show, out);
    enum tts_status status = put_follow_ops(follow->show, out);
    fclose(out);
    if (status == TTS_OK)
        draw_lines(follow, text);
    return status;
}

/* ---- elsewhere ---- */

static void print_line(const struct tts_show *show)
{
    uint64_t ns = tts_show_since_start(show, show->sum.last_ns);
    printf("%" PRIu64 ".%06" PRIu64 " s, event %" PRIu64 ": ", ns / 1000000000,
           ns / 1000 % 1000000, show->sum.event.seq);
    put_level(show, show->options.pool, stdout);
    fputs(", peak ", stdout);
    put_follow_peak(show, stdout);
    if (show->sum.failure_count > 0)
        printf(", %" PRIu64 " refused", show->sum.failure_count + show->sum.failures_unlisted);
    fputc('\n', stdout);
    fflush(stdout);
}

static void put_pools_json(const struct tts_show *show, struct tts_json *json)
{
    tts_json_object(json, "pools");
    for (int i = 0; i < TTS_POOLS; i++) {
        enum tts_pool pool = (enum tts_pool)i;
        struct tts_level level = tts_levels_of(&show->sum.levels, pool);
        tts_json_object(json, tts_pool_name(pool));
        if (tts_show_is_unknown(show, pool)) {
            tts_json_null(json, "bytes");
            tts_json_null(json, "buffers");
        } else {
            tts_json_signed(json, "bytes", level.bytes);
            tts_json_number(json, "buffers", level.buffers);
        }
        tts_json_object_end(json);
    }
    tts_json_object_end(json);
}

static void put_peak_json(const struct tts_show *show, struct tts_json *json)
{
    struct tts_peak_info peak = tts_peak_info(show->scan.peaks[show->options.pool]);
    tts_json_object(json, "peak");
    tts_json_text(json, "pool", tts_pool_name(peak.pool));
    tts_show_json_event(show, peak.seq, peak.has_time, peak.time_ns, json);
    tts_show_json_op(show, peak.op, json);
    tts_json_signed(json, "bytes", peak.level.bytes);
    tts_json_object_end(json);
}

static enum tts_status print_follow_json(const struct tts_show *show)
{
    struct tts_json json;
    struct tts_best rows;
    enum tts_status status = list_ops(show, show->options.top, &rows);
    tts_json_init(&json, stdout);
    json.is_one_line = true;
    tts_json_object(&json, NULL);
    tts_json_object(&json, "schema");
    tts_json_text(&json, "name", "ttscope.show.follow");
    tts_json_number(&json, "version", 1);
    tts_json_object_end(&json);
    tts_json_text(&json, "file", show->options.path);
    tts_json_number(&json, "pid", header_of(show)->pid);
    tts_show_json_event(show, show->sum.event.seq, show->sum.last_ns > 0, show->sum.last_ns,
                        &json);
    put_pools_json(show, &json);
    put_peak_json(show, &json);
    tts_json_number(&json, "phases", show->sum.phase_count + show->sum.phases_unlisted);
    tts_json_number(&json, "failures", show->sum.failure_count + show->sum.failures_unlisted);
    tts_json_array(&json, "by_op");
    for (size_t i = 0; i < rows.count; i++) {
        const struct tts_op_row *row = &((const struct tts_op_row *)rows.items)[i];
        tts_json_object(&json, NULL);
        tts_show_json_op(show, row->op, &json);
        tts_json_number(&json, "bytes", row->live_bytes);
        tts_json_number(&json, "buffers", row->live_buffers);
        tts_json_object_end(&json);
    }
    tts_json_array_end(&json);
    tts_json_object_end(&json);
    fflush(stdout);
    tts_best_release(&rows);
    return status;
}

/* Shows what is new, at most once a second. */
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
    if (show->options.json)
        return print_follow_json(show);
    if (follow->is_terminal)
        return draw_screen(follow);
    print_line(show);
    return TTS_OK;
}

/* ---- the file and its program ---- */

/* A zombie has ended, too. */
static bool is_running(uint64_t pid)
{
    char path[64], text[512] = "";
    if (pid == 0 || pid > INT32_MAX)
        return true; /* nobody knows */
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

/* A black box was written over where it was read: what is in it now is read from its begin. */
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
            status = TTS_OK; /* once more: the next look_for_change reads it anew */
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

/* Waits for the next look_for_change. Returns false if a signal asks to stop. */
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
            return tts_error_set(err, status, "out of memory");
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
    /* What was written between the last look_for_change and the end. */
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
    if (follow.signals < 0) /* then they end us as they end others */
        sigprocmask(SIG_SETMASK, &before, NULL);
    enum tts_status status = follow_file(&follow, err);
    if (follow.lines > 0 && !show->is_interrupted)
        printf("\x1b[%uA\x1b[J", follow.lines);
    if (follow.signals >= 0)
        close(follow.signals);
    if (!show->is_interrupted) /* else the signal is still there, and would end us otherwise */
        sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
