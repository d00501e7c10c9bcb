/* cmd_top.c: the command `top`, which shows who holds how much memory on which device now. */
#include "analysis/live/hostcheck.h"
#include "analysis/live/livenumbers.h"
#include "analysis/live/liveowners.h"
#include "analysis/questions/livequestions.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "base/ticks.h"
#include "cli/commands.h"
#include "cli/growing_arg.h"
#include "cli/job.h"
#include "cli/livehost_arg.h"
#include "cli/message.h"
#include "cli/top/poollimit.h"
#include "cli/top/screen.h"
#include "cli/top/selection.h"
#include "sources/live/livehost.h"
#include "sources/live/livenodes.h"
#include "views/live/answers_view.h"
#include "views/live/live_view.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { REFRESH_MIN_MS = 100, REFRESH_MS = 1000, REFRESH_TABLE_MS = 500, REFRESH_MAX_S = 86400 };
enum { MS_NS = 1000000, PUBLISHED_TABLE_COLUMNS = 100 };

enum view_word { VIEW_BLOCKS, VIEW_TABLE, VIEW_PROCESSES, VIEW_PHASES };
enum color_word { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

static const char *const view_words[] = {"blocks", "table", "processes", "phases", NULL};
static const char *const fail_words[] = {"leak", NULL};
static const char *const color_words[] = {"auto", "always", "never", NULL};

struct top_options {
    int view, color, fail_on;
    uint64_t refresh_ms, interval_ms, count;
    bool once, json, has_delta, waits;
    struct tts_selection selection;
    struct tts_poollimits limits;
    struct tts_growth_rule growing;
};

static enum tts_status take_interval(void *target, const char *text, struct tts_error *err)
{
    uint64_t micros;
    if (!tts_number_parse_millionths(text, strlen(text), REFRESH_MAX_S, &micros))
        return tts_error_set(err, TTS_E_SYNTAX, "expected seconds, such as 0.5, and at most %d",
                             REFRESH_MAX_S);
    *(uint64_t *)target = micros / 1000;
    return TTS_OK;
}

static const struct tts_option options_table[] = {
    {"view", 'v', TTS_OPTION_WORD, offsetof(struct top_options, view),
     .help = "what to show (default: blocks)", .words = view_words},
    {"once", '1', TTS_OPTION_FLAG, offsetof(struct top_options, once),
     .help = "show the present state and exit", .excludes = "count"},
    {"count", 'n', TTS_OPTION_NUMBER, offsetof(struct top_options, count), "N",
     "exit after N refreshes", .min = 1},
    {"json", 'j', TTS_OPTION_FLAG, offsetof(struct top_options, json),
     .help = "write one line of JSON per refresh"},
    {"refresh", 'r', TTS_OPTION_NUMBER, offsetof(struct top_options, refresh_ms), "MS",
     "milliseconds between refreshes (default: 1000; --view table: 500)",
     .max = REFRESH_MAX_S * 1000, .excludes = "interval"},
    {"interval", 'i', TTS_OPTION_OTHER, offsetof(struct top_options, interval_ms), "SECONDS",
     "seconds between refreshes (default: 1; --view table: 0.5)", .take = take_interval},
    {"device", 'd', TTS_OPTION_OTHER, offsetof(struct top_options, selection), "N",
     "show only this device; may be repeated", .take = tts_selection_take_device},
    {"pid", 'p', TTS_OPTION_OTHER, offsetof(struct top_options, selection), "PID",
     "show only this process; may be repeated", .take = tts_selection_take_pid},
    {"color", 0, TTS_OPTION_WORD, offsetof(struct top_options, color),
     .help = "use colours (default: on a terminal)", .words = color_words},
    {"no-delta", 0, TTS_OPTION_FLAG, offsetof(struct top_options, has_delta),
     .help = "omit the row of changes since the last refresh", .is_off = true},
    {"wait", 'w', TTS_OPTION_FLAG, offsetof(struct top_options, waits),
     .help = "wait for a device or a program that reports memory"},
    {"fail-above", 0, TTS_OPTION_OTHER, offsetof(struct top_options, limits), "POOL=PERCENT%",
     "exit with 1 when a pool is above a limit; may be repeated", .take = tts_poollimits_take},
    {"fail-on", 0, TTS_OPTION_WORD, offsetof(struct top_options, fail_on),
     .help = "exit with 1 when a leak is found", .words = fail_words},
    {"growing-interval", 0, TTS_OPTION_OTHER, offsetof(struct top_options, growing.interval_ns),
     "SECONDS", "seconds between samples of growing pools (default: 5)",
     .take = tts_growing_arg_take_interval},
    {"growing-rises", 0, TTS_OPTION_NUMBER, offsetof(struct top_options, growing.rises), "N",
     "rises without a fall after which a pool is growing (default: 2)", .min = 1,
     .max = TTS_GROWING_ARG_RISES_MAX},
    {0},
};

static const struct top_options options_defaults = {
    .refresh_ms = REFRESH_MS,
    .has_delta = true,
    .growing = {TTS_GROWTH_INTERVAL_NS, TTS_GROWTH_RISES}};

struct top {
    struct tts_job *job;
    const struct top_options *options;
    struct tts_livehost *host;
    struct tts_hostview seen;
    struct tts_livequestions *questions;
    struct tts_livenumbers numbers;
    struct tts_liveframe frames[2]; /* frames[update % 2] is the present frame */
    struct tts_screen screen;
    FILE *out; /* appends to `text` */
    char *text;
    size_t text_len, text_capacity;
    uint64_t update; /* number of frames shown */
    uint64_t period_ms;
    bool has_waited;
    struct tts_limitwatch watch;
    char unjudged[2 * TTS_POOLLIMIT_TEXT_MAX]; /* lines about limits, for a screen in place */
};

/* ---- options ---- */

static uint64_t choose_period(const struct tts_job *job, const struct top_options *options)
{
    uint64_t period = options->refresh_ms;
    if (tts_options_has(&job->options, "interval"))
        period = options->interval_ms;
    else if (options->view == VIEW_TABLE && !tts_options_has(&job->options, "refresh"))
        period = REFRESH_TABLE_MS;
    if (period >= REFRESH_MIN_MS)
        return period;
    tts_message(job->command, "warning: refresh interval too low, setting to %dms",
                REFRESH_MIN_MS);
    return REFRESH_MIN_MS;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && value[0];
}

static bool wants_color(const struct top *top)
{
    const char *terminal = getenv("TERM");
    if (top->options->color != COLOR_AUTO)
        return top->options->color == COLOR_ALWAYS;
    return top->screen.is_terminal && !is_set("NO_COLOR") && terminal &&
           strcmp(terminal, "dumb") != 0;
}

/* ---- a frame ---- */

static struct tts_liveframe *present_frame(struct top *top)
{
    return &top->frames[top->update % 2];
}

/* The live buffers of one device of a program. */
struct listed_buffers {
    uint32_t device, mesh; /* places among the devices of the program */
    tts_pressure_visit_fn visit;
    void *ctx;
};

static void visit_listed(void *ctx, const struct tts_seenlive *live)
{
    const struct listed_buffers *listed = ctx;
    struct tts_pressurebuffer buffer = {.pool = (enum tts_pool)live->pool,
                                        .address_known =
                                            live->address != TTS_CLIENTREGION_NO_ADDRESS,
                                        .id = live->id,
                                        .address = live->address,
                                        .size_bytes = live->size_bytes,
                                        .is_sharded = live->flags & TTS_CLIENTBUFFER_SHARDED,
                                        .has_cb = live->flags & TTS_CLIENTBUFFER_HAS_CB};
    if (live->device == listed->device || live->device == listed->mesh)
        listed->visit(listed->ctx, &buffer);
}

/* Returns the place of the mesh of a device among the devices of its program, or that of the
 * device if it has no mesh. */
static uint32_t find_mesh_place(const struct top *top, const struct tts_liveprocess *process,
                                uint32_t device)
{
    const struct tts_seenview *views = top->seen.views + process->client->first_view;
    for (size_t i = 0; process->view->mesh_known && i < process->client->view_count; i++)
        if (views[i].logical_id == process->view->mesh)
            return (uint32_t)i;
    return device;
}

/* Visits the live buffers of a process; see tts_pressuretable. */
static bool each_listed(void *ctx, const struct tts_liveprocess *process,
                        tts_pressure_visit_fn visit, void *visit_ctx)
{
    struct top *top = ctx;
    struct tts_error err;
    if (!process->client || !process->view || !process->client->has_table)
        return false;
    uint32_t device =
        (uint32_t)((size_t)(process->view - top->seen.views) - process->client->first_view);
    struct listed_buffers listed = {device, find_mesh_place(top, process, device), visit,
                                    visit_ctx};
    return tts_livehost_buffers(top->host, (uint32_t)(process->client - top->seen.clients),
                                visit_listed, &listed, &err) == TTS_OK;
}

static enum tts_status read_frame(struct top *top, struct tts_error *err)
{
    struct tts_liveframe *frame = present_frame(top);
    enum tts_status status = tts_livehost_read(top->host, &top->seen, err);
    if (status == TTS_OK)
        status = tts_liveowners_judge(&top->seen, frame, err);
    if (status == TTS_OK && tts_livenumbers_assign(&top->numbers, frame) != TTS_OK)
        status = tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    if (status == TTS_OK)
        tts_livequestions_feed(top->questions, frame,
                               &(struct tts_pressuretable){each_listed, top});
    return status;
}

static bool shows_all_users(const struct top_options *options)
{
    return options->json || options->view == VIEW_PROCESSES;
}

/* Looks up the users of the processes that the view shows. */
static void name_shown_users(struct top *top)
{
    size_t most = 0;
    if (shows_all_users(top->options))
        most = SIZE_MAX;
    else if (top->options->view == VIEW_BLOCKS)
        most = TTS_LIVEVIEW_BLOCK_PROCESSES;
    tts_livehost_name_users(top->host, present_frame(top), most);
}

static unsigned frame_columns(const struct top *top)
{
    if (!top->screen.is_terminal)
        return top->options->view == VIEW_TABLE ? PUBLISHED_TABLE_COLUMNS : tts_say_columns();
    return top->screen.columns;
}

/* For `whole_lines` and `spare_lines` see struct tts_liveview. */
static enum tts_status write_view(struct top *top, size_t whole_lines, size_t spare_lines)
{
    const struct top_options *options = top->options;
    struct tts_liveview view = {
        .frame = present_frame(top),
        .before = top->update > 0 ? &top->frames[(top->update + 1) % 2] : NULL,
        .update = top->update,
        .period_ms = top->period_ms,
        .columns = frame_columns(top),
        .is_utf8 = tts_charset_is_utf8(),
        .has_color = wants_color(top),
        .has_delta = options->has_delta,
        /* Frames in place replace each other, so that the tips stay on the screen. */
        .has_tips = top->screen.is_in_place || top->update == 0,
        .whole_lines = whole_lines,
        .spare_lines = spare_lines,
    };
    if (options->json) {
        tts_liveview_json(&view, top->out);
        return TTS_OK;
    }
    if (top->update > 0 && !top->screen.is_in_place)
        fputc('\n', top->out);
    enum tts_status status = TTS_OK;
    if (options->view == VIEW_PROCESSES)
        status = tts_liveview_processes(&view, top->out);
    else if (options->view == VIEW_PHASES)
        status = tts_liveview_phases(&view, top->out);
    else if (options->view == VIEW_TABLE)
        tts_liveview_table(&view, top->out);
    else
        tts_liveview_blocks(&view, top->out);
    if (top->unjudged[0])
        fprintf(top->out, "\n%s", top->unjudged);
    return status;
}

/* Appends to the text of the frame, as the write function of a stream. */
static ssize_t append_frame_text(void *ctx, const char *bytes, size_t len)
{
    struct top *top = ctx;
    const struct tts_alloc *alloc = tts_alloc_libc();
    if (len > top->text_capacity - top->text_len) {
        char *grown =
            tts_alloc_grow(alloc, top->text, &top->text_capacity, top->text_len + len, 1);
        if (!grown)
            return 0;
        top->text = grown;
    }
    memcpy(top->text + top->text_len, bytes, len);
    top->text_len += len;
    return (ssize_t)len;
}

static enum tts_status write_frame_text(struct top *top, size_t whole_lines, size_t spare_lines,
                                        struct tts_error *err)
{
    top->text_len = 0;
    enum tts_status status = write_view(top, whole_lines, spare_lines);
    if (fflush(top->out) != 0 || ferror(top->out) || status != TTS_OK)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    return TTS_OK;
}

/* Writes the short form of a frame that is too tall, then again with caveats if there are
 * lines to spare. */
static enum tts_status write_short_text(struct top *top, size_t whole_lines,
                                        struct tts_error *err)
{
    enum tts_status status = write_frame_text(top, whole_lines, 0, err);
    size_t lines = tts_screen_lines(top->text, top->text_len);
    if (status == TTS_OK && lines < top->screen.rows)
        status = write_frame_text(top, whole_lines, top->screen.rows - lines, err);
    return status;
}

/* Shows the present frame with one write. Blocks that are taller than the terminal are written
 * again in their short form. */
static enum tts_status show_frame(struct top *top, struct tts_error *err)
{
    tts_screen_measure(&top->screen);
    enum tts_status status = write_frame_text(top, 0, 0, err);
    size_t lines = tts_screen_lines(top->text, top->text_len);
    if (status == TTS_OK && top->screen.is_in_place && top->options->view == VIEW_BLOCKS &&
        lines > top->screen.rows)
        status = write_short_text(top, lines, err);
    if (status != TTS_OK)
        return status;
    return tts_screen_show(&top->screen, top->text, top->text_len, err);
}

/* ---- limits ---- */

/* Says which pools cannot be judged, each once. In place, the next frame would hide a message,
 * so that the next frame has the text of the pools that cannot be judged now. */
static void say_unjudged(struct top *top)
{
    char text[TTS_POOLLIMIT_TEXT_MAX];
    size_t len = 0;
    top->unjudged[0] = '\0';
    if (top->screen.is_in_place)
        tts_limitwatch_forget(&top->watch);
    while (tts_limitwatch_tell(&top->watch, present_frame(top), text)) {
        if (!top->screen.is_in_place)
            tts_message(top->job->command, "%s", text);
        else if (len + strlen(text) + 1 < sizeof top->unjudged)
            len +=
                (size_t)snprintf(top->unjudged + len, sizeof top->unjudged - len, "%s\n", text);
    }
}

/* Returns TTS_EXIT_BAD_NEWS if a pool is above its limit. */
static int check_limits(struct top *top)
{
    const struct tts_poollimits *limits = &top->options->limits;
    char text[TTS_POOLLIMIT_TEXT_MAX];
    struct tts_liveframe *frame = present_frame(top);
    if (tts_poollimits_passed(limits, frame, text)) {
        /* The message names a process that the view may not show. */
        tts_livehost_name_users(top->host, frame, SIZE_MAX);
        tts_poollimits_passed(limits, frame, text);
        tts_screen_close(&top->screen);
        tts_message(top->job->command, "%s", text);
        return TTS_EXIT_BAD_NEWS;
    }
    tts_limitwatch_look(&top->watch, limits, frame);
    say_unjudged(top);
    return TTS_EXIT_DONE;
}

/* Returns TTS_EXIT_BAD_NEWS if the user asked to stop at a leak, and there is one. */
static int check_leaks(struct top *top)
{
    char text[TTS_LIVEANSWER_MAX];
    const struct tts_liveframe *frame = present_frame(top);
    if (!tts_options_has(&top->job->options, "fail-on"))
        return TTS_EXIT_DONE;
    for (size_t i = 0; i < frame->device_count; i++) {
        const struct tts_livedevice *device = &frame->devices[i];
        if (device->answers.leak_count == 0)
            continue;
        tts_screen_close(&top->screen);
        (void)tts_liveanswers_text(text, device, 0);
        for (char *at = text; (at = strchr(at, TTS_SAY_GLUE[0])) != NULL;)
            *at = ' ';
        tts_message(top->job->command, "device %" PRIu32 ": %s", device->index, text);
        return TTS_EXIT_BAD_NEWS;
    }
    return TTS_EXIT_DONE;
}

/* ---- nothing to show ---- */

static int refuse_selection(struct top *top, size_t device_count)
{
    const struct tts_selection *selection = &top->options->selection;
    if (selection->pid_count > 0)
        tts_message(
            top->job->command,
            "no selected process uses a selected device ('--wait' waits until one does)");
    else
        tts_message(
            top->job->command,
            "cannot find the selected device: this host has %zu device%s, numbered from 0",
            device_count, tts_say_plural(device_count));
    return TTS_EXIT_DEVICE;
}

/* Says what is missing, and what to do. */
static int refuse_host(struct top *top)
{
    struct tts_hostchecks checks;
    struct tts_error err = {0};
    if (tts_livenodes_read(tts_livehost_root(), &top->seen, &err) != TTS_OK)
        return tts_job_fail(top->job, NULL, &err);
    tts_hostcheck_all(&top->seen, present_frame(top), &checks);
    tts_message(top->job->command,
                "this host has no device, and no program reports its memory");
    for (size_t i = 0; i < checks.count; i++) {
        const struct tts_hostcheck *check = &checks.checks[i];
        if (check->severity == TTS_SEVERITY_NONE)
            continue;
        tts_say(stderr, 2, "%s: %s", check->id, check->answer);
        if (check->action[0])
            tts_say(stderr, 4, "%s", check->action);
    }
    tts_say(stderr, 2, "'ttscope doctor' says more; 'ttscope top --wait' waits for a device");
    return TTS_EXIT_DEVICE;
}

/* Decides about the first frame. Sets *is_shown if there is something to show. Otherwise
 * returns an exit code, or TTS_EXIT_DONE to wait. */
static int check_first_frame(struct top *top, bool *is_shown)
{
    struct tts_liveframe *frame = present_frame(top);
    size_t device_count = frame->device_count, stray_count = frame->stray_count;
    tts_selection_apply(&top->options->selection, frame);
    *is_shown = frame->device_count + frame->stray_count > 0;
    if (*is_shown)
        return TTS_EXIT_DONE;
    if (!top->options->waits)
        return device_count + stray_count > 0 ? refuse_selection(top, device_count)
                                              : refuse_host(top);
    if (!top->has_waited)
        tts_message(top->job->command,
                    "waiting for a device, or for a program that reports its memory");
    top->has_waited = true;
    return TTS_EXIT_DONE;
}

/* ---- the loop ---- */

/* Reads and shows one frame. Sets *has_ended if no frame follows. Returns the exit code. */
static int run_refresh(struct top *top, bool *has_ended)
{
    struct tts_error err = {0};
    const struct top_options *options = top->options;
    bool is_shown = true;
    *has_ended = true;
    if (read_frame(top, &err) != TTS_OK)
        return tts_job_fail(top->job, NULL, &err);
    if (top->update == 0) {
        int code = check_first_frame(top, &is_shown);
        *has_ended = code != TTS_EXIT_DONE;
        if (!is_shown)
            return code;
    } else {
        tts_selection_apply(&options->selection, present_frame(top));
    }
    *has_ended = true;
    name_shown_users(top);
    if (show_frame(top, &err) != TTS_OK)
        return tts_job_fail(top->job, NULL, &err);
    int code = check_limits(top);
    if (code == TTS_EXIT_DONE)
        code = check_leaks(top);
    if (code != TTS_EXIT_DONE || top->screen.is_closed)
        return code;
    top->update++;
    *has_ended = options->once || (options->count > 0 && top->update == options->count);
    return *has_ended && tts_limitwatch_is_open(&top->watch) ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}

/* Draws the last frame again. A new size of the terminal is no update. */
static enum tts_status redraw_frame(struct top *top, struct tts_error *err)
{
    if (top->update == 0)
        return TTS_OK; /* still waits for the first frame */
    top->update--;
    enum tts_status status = show_frame(top, err);
    top->update++;
    return status;
}

/* Sleeps until the next multiple of the period after `start_ns`. Multiples that have passed are
 * skipped. */
static enum tts_status wait_for_refresh(struct top *top, uint64_t start_ns,
                                        struct tts_error *err)
{
    uint64_t period_ns = top->period_ms * MS_NS;
    uint64_t passed = (tts_clock_ns() - start_ns) / period_ns;
    enum tts_status status = TTS_OK;
    while (status == TTS_OK &&
           !tts_screen_wait(&top->screen, start_ns + (passed + 1) * period_ns))
        status = redraw_frame(top, err);
    return status;
}

static int run_frames(struct top *top)
{
    uint64_t start_ns = tts_clock_ns();
    bool has_ended = false;
    for (;;) {
        int code = run_refresh(top, &has_ended);
        if (has_ended)
            return code;
        struct tts_error err = {0};
        if (wait_for_refresh(top, start_ns, &err) != TTS_OK)
            return tts_job_fail(top->job, NULL, &err);
    }
}

static bool init_top(struct top *top)
{
    tts_hostview_init(&top->seen, NULL);
    tts_livenumbers_init(&top->numbers, NULL);
    tts_liveframe_init(&top->frames[0], NULL);
    tts_liveframe_init(&top->frames[1], NULL);
    top->out = fopencookie(top, "w", (cookie_io_functions_t){.write = append_frame_text});
    return top->out != NULL &&
           tts_livequestions_new(&top->options->growing, NULL, &top->questions) == TTS_OK;
}

static void release_top(struct top *top)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    if (top->out)
        fclose(top->out);
    if (top->text)
        alloc->free(alloc->ctx, top->text, top->text_capacity);
    tts_livequestions_free(top->questions);
    tts_livenumbers_release(&top->numbers);
    tts_liveframe_release(&top->frames[1]);
    tts_liveframe_release(&top->frames[0]);
    tts_hostview_release(&top->seen);
    tts_livehost_close(top->host);
}

static int run_top(struct tts_job *job, void *values)
{
    const struct top_options *options = values;
    struct top top = {.job = job, .options = options};
    top.period_ms = choose_period(job, options);
    int code = tts_livehost_arg_open(job->command, &top.host);
    if (code != TTS_EXIT_DONE)
        return code;
    if (!shows_all_users(options) || options->selection.pid_count > 0)
        tts_livehost_defer_users(top.host);
    if (init_top(&top)) {
        tts_screen_open(&top.screen, !options->once && !options->json, NULL);
        code = run_frames(&top);
        tts_screen_close(&top.screen);
    } else {
        tts_message(job->command, TTS_TEXT_NOMEM);
        code = TTS_EXIT_INPUT;
    }
    release_top(&top);
    return code;
}

const struct tts_command tts_top_command = {
    .name = "top",
    .operands = "",
    .summary = "show who holds how much memory on which device now",
    .work = run_top,
    .options = options_table,
    .defaults = &options_defaults,
    .values_bytes = sizeof(struct top_options),
    .operands_max = 0,
};
