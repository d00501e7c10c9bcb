/* cmd_pack.c: the command `pack`, which compresses a recording. */
#include "analysis/eventsummary.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/outfile.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/same_file.h"
#include "model/recording/recfile.h"
#include "model/recording/recpack.h"
#include "sources/eventpass.h"
#include "sources/partial.h"
#include "views/json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char command[] = "pack";

enum { FIGURES_EVENTS = 65536 }; /* `show` reads fewer events in about 10 ms without figures */

struct pack {
    /* The options. */
    const char *path, *out_path; /* out_path is NULL to replace the recording */
    bool json;
    /* The state of the command. */
    struct tts_eventfile *source;
    struct tts_recfile *file; /* the recording in `source` */
    struct tts_progress progress;
    struct tts_recpack *packer;
    struct tts_outfile out;
    uint64_t events, bytes_after;
    uint64_t seq;      /* sequence number of the last packed item */
    bool has_items;    /* at least one item was packed */
    bool cannot_write; /* writing the packed file failed */
    bool has_figures, has_samples;
    bool is_damaged;
    bool lacks_start; /* the damage comes before the first item */
    struct tts_error damage;
};

/* --- options ---------------------------------------------------------------------------- */

/* Stores the output's path. A path that leads to standard output, such as /dev/stdout, becomes
 * "-". */
static enum tts_status take_output(void *target, const char *text, struct tts_error *err)
{
    (void)err;
    *(const char **)target = tts_stdout_path(text);
    return TTS_OK;
}

static const struct tts_option options_table[] = {
    {"output", 'o', TTS_OPTION_OTHER, offsetof(struct pack, out_path), "FILE",
     "write to this file and keep the recording", .take = take_output},
    {"json", 'j', TTS_OPTION_FLAG, offsetof(struct pack, json), .help = "write JSON"},
    {0},
};

static bool is_stdout(const struct pack *pack)
{
    return pack->out_path && strcmp(pack->out_path, "-") == 0;
}

/* Returns false after printing a message. */
static bool check_options(struct pack *pack)
{
    if (is_stdout(pack) && pack->json)
        tts_message(command, "'-o -' and '--json' both write to standard output: give '-o "
                             "FILE', or omit '--json'");
    else if (is_stdout(pack) && isatty(STDOUT_FILENO))
        tts_message(command,
                    "a recording is binary and is not written to a terminal: give '-o FILE'");
    else if (strcmp(pack->path, "-") == 0)
        tts_message(command, "cannot pack standard input: give the name of a recording file");
    else
        return true;
    return false;
}

/* Returns true if a recorder is writing to the file. Replacing the file would make the recorder
 * lose it. */
static bool is_being_recorded(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return is_locked;
}

/* --- packing ---------------------------------------------------------------------------- */

static void on_read(void *ctx, uint64_t bytes)
{
    tts_progress_show(ctx, bytes);
}

static enum tts_status open_files(struct pack *pack, struct tts_error *err)
{
    struct tts_eventfile_watch watch = {on_read, &pack->progress};
    enum tts_status status =
        tts_eventfile_open_recording(pack->path, &watch, NULL, &pack->source, err);
    if (status == TTS_OK) {
        pack->file = tts_eventfile_recording(pack->source);
        status =
            tts_outfile_open(&pack->out, pack->out_path ? pack->out_path : pack->path, err);
    }
    if (status == TTS_OK)
        status = tts_recpack_new(pack->out.stream, &tts_recfile_info(pack->file)->header, NULL,
                                 &pack->packer, err);
    return status;
}

/* Stores the damage. All items before it are good and stay in the packed file. */
static void note_damage(struct pack *pack, const struct tts_error *err)
{
    pack->is_damaged = true;
    pack->lacks_start = false;
    pack->damage = *err;
    /* The file is well-formed but an item is invalid. The text of such an error has no
     * position, so the last good event is added. */
    if (err->status == TTS_E_INVALID || err->status == TTS_E_RANGE)
        tts_error_set(&pack->damage, err->status, "after event %" PRIu64 ": %s", pack->seq,
                      err->text);
}

static enum tts_status pack_item(void *ctx, const struct tts_item *item, struct tts_error *err)
{
    struct pack *pack = ctx;
    enum tts_status status = tts_recpack_item(pack->packer, item, err);
    pack->cannot_write = status == TTS_E_IO;
    if (status != TTS_OK)
        return status;
    pack->has_items = true;
    pack->events += item->kind == TTS_ITEM_EVENT;
    pack->has_samples |= item->kind == TTS_ITEM_SAMPLE;
    pack->seq = item->seq;
    return TTS_OK;
}

/* Packs all items up to the end or to damage. If a recording is damaged before its first item,
 * packing starts at the first good keyframe, as in a black box. */
static enum tts_status pack_items(struct pack *pack, struct tts_error *err)
{
    const struct tts_recfile_info *info = tts_recfile_info(pack->file);
    const struct tts_eventfile_gaps *gaps = tts_eventfile_gaps(pack->source);
    struct tts_eventpass pass = {.file = pack->source, .take = pack_item, .ctx = pack};
    pack->seq = info->first_seq;
    tts_progress_begin(&pack->progress, "packing", pack->path, info->file_bytes);
    enum tts_status status = tts_eventpass_run(&pass, err);
    tts_progress_end(&pack->progress);
    if (gaps->count > 0) {
        pack->is_damaged = pack->lacks_start = true;
        pack->damage = gaps->first;
    }
    if (status == TTS_E_NOMEM || pack->cannot_write)
        return status;
    if (status != TTS_OK)
        note_damage(pack, err);
    return TTS_OK;
}

/* Returns the end state of the packed file: the state of the source, plus the events lost by
 * damage. */
static struct tts_rec_state end_state(const struct pack *pack)
{
    const struct tts_recfile_info *info = tts_recfile_info(pack->file);
    struct tts_rec_state state = info->state;
    if (!info->state_is_known)
        state.kind = TTS_REC_RECORDING;
    if (!pack->is_damaged)
        return state;
    bool is_counted = state.kind != TTS_REC_RECORDING && state.events > pack->events &&
                      info->header.places == 0;
    state.dropped += is_counted ? state.events - pack->events : 0;
    state.kind = TTS_REC_STOPPED;
    state.sys_errno = EBADMSG; /* marks damage, unlike a recorder that stopped (recording.md) */
    state.events = pack->events;
    return state;
}

static uint64_t packed_bytes(const struct pack *pack)
{
    off_t end = fseeko(pack->out.stream, 0, SEEK_END) == 0 ? ftello(pack->out.stream) : -1;
    return end > 0 ? (uint64_t)end : 0;
}

/* The packed file, which is read again to calculate its figures. */
struct figures {
    struct tts_eventfile *file;
    struct tts_eventpass pass;
    struct tts_eventscan scan;
    struct tts_eventsummary sum;
    struct tts_partial partial;
};

static enum tts_status take_figures_item(void *ctx, const struct tts_item *item,
                                         struct tts_error *err)
{
    struct figures *figures = ctx;
    tts_partial_item(&figures->partial, item);
    return tts_eventscan_item(&figures->scan, item, err);
}

static enum tts_status read_figures(struct figures *figures, const struct pack *pack)
{
    static const struct tts_eventscan_config config = {.top = TTS_SUMMARY_STORED_TOP,
                                                       .keeps_all = true};
    char name[sizeof "/proc/self/fd/" + 12];
    struct tts_progress progress;
    struct tts_eventfile_watch watch = {on_read, &progress};
    struct tts_error err;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fileno(pack->out.stream));
    enum tts_status status =
        tts_eventscan_init(&figures->scan, &config, NULL, &figures->sum, &err);
    if (status == TTS_OK)
        status = tts_eventfile_open(name, &watch, NULL, &figures->file, &err);
    if (status != TTS_OK)
        return status;
    figures->pass = (struct tts_eventpass){.file = figures->file,
                                           .follow = figures->scan.follow,
                                           .take = take_figures_item,
                                           .ctx = figures,
                                           .alloc = figures->scan.alloc};
    tts_progress_begin(&progress, "reading", pack->path, tts_eventfile_size(figures->file));
    status = tts_eventpass_run(&figures->pass, &err);
    tts_progress_end(&progress);
    bool is_whole = tts_eventfile_gaps(figures->file)->count == 0;
    return status == TTS_OK && is_whole ? TTS_OK : TTS_E_SYNTAX;
}

static enum tts_status store_figures(struct pack *pack, struct figures *figures,
                                     struct tts_error *err)
{
    const struct tts_partial *partial = &figures->partial;
    const struct tts_alloc *alloc = figures->scan.alloc;
    unsigned char *bytes = NULL;
    size_t len = 0;
    figures->sum.input = (struct tts_summary_input){.events = figures->pass.events,
                                                    .missed = partial->missed,
                                                    .left_buffers = partial->left_buffers,
                                                    .left_bytes = partial->left_bytes,
                                                    .has_items = partial->has_items,
                                                    .lacks_start = partial->lacks_start};
    if (tts_eventsummary_store(&figures->scan, &bytes, &len, NULL) != TTS_OK || len == 0)
        return TTS_OK;
    enum tts_status status = tts_recpack_figures(
        pack->packer, bytes, len, tts_recpack_room(pack->packer), &pack->has_figures, err);
    alloc->free(alloc->ctx, bytes, len);
    return status;
}

/* Adds figures to a file with many events. The figures are calculated from the packed file, so
 * that `show` prints the same with and without them. Figures are optional: only a failed write
 * is an error. */
static enum tts_status add_figures(struct pack *pack, struct tts_error *err)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    if (pack->is_damaged || pack->has_samples || pack->events < FIGURES_EVENTS)
        return TTS_OK;
    struct figures *figures = alloc->alloc(alloc->ctx, sizeof *figures);
    if (!figures)
        return TTS_OK;
    memset(figures, 0, sizeof *figures);
    enum tts_status status =
        read_figures(figures, pack) == TTS_OK ? store_figures(pack, figures, err) : TTS_OK;
    tts_eventpass_release(&figures->pass);
    tts_eventscan_release(&figures->scan);
    tts_eventsummary_release(&figures->sum);
    tts_eventfile_close(figures->file);
    alloc->free(alloc->ctx, figures, sizeof *figures);
    return status;
}

static enum tts_status finish(struct pack *pack, struct tts_error *err)
{
    struct tts_rec_state state = end_state(pack);
    enum tts_status status = tts_recpack_end(pack->packer, &state, err);
    if (status == TTS_OK)
        status = add_figures(pack, err);
    if (status != TTS_OK)
        return status;
    pack->bytes_after = packed_bytes(pack);
    return tts_outfile_commit(&pack->out, err);
}

/* --- output ----------------------------------------------------------------------------- */

static void print_json(const struct pack *pack)
{
    const struct tts_recfile_info *info = tts_recfile_info(pack->file);
    struct tts_json json;
    tts_json_init(&json, stdout);
    tts_json_object(&json, NULL);
    tts_json_object(&json, "schema");
    tts_json_text(&json, "name", "ttscope.pack");
    tts_json_number(&json, "version", 1);
    tts_json_object_end(&json);
    tts_json_text(&json, "file", pack->path);
    tts_json_text(&json, "output", pack->out_path ? pack->out_path : pack->path);
    tts_json_number(&json, "events", pack->events);
    tts_json_number(&json, "events_before_first", info->first_seq);
    tts_json_number(&json, "bytes_before", info->file_bytes);
    tts_json_number(&json, "bytes_after", pack->bytes_after);
    tts_json_ratio(&json, "bytes_per_event", pack->bytes_after, pack->events);
    tts_json_bool(&json, "ended",
                  info->state_is_known && info->state.kind != TTS_REC_RECORDING);
    tts_json_bool(&json, "figures", pack->has_figures);
    if (pack->is_damaged) {
        tts_json_object(&json, "damage");
        tts_json_number(&json, "offset", pack->damage.offset);
        tts_json_text(&json, "text", pack->damage.text);
        tts_json_object_end(&json);
    } else {
        tts_json_null(&json, "damage");
    }
    tts_json_object_end(&json);
}

static void print_text(const struct pack *pack)
{
    const struct tts_recfile_info *info = tts_recfile_info(pack->file);
    printf("%" PRIu64 " events, %" PRIu64 " bytes became %" PRIu64, pack->events,
           info->file_bytes, pack->bytes_after);
    if (pack->events > 0)
        printf(": %.2f bytes per event", (double)pack->bytes_after / (double)pack->events);
    puts(pack->has_figures ? "\nfigures for 'show': stored"
                           : "\nfigures for 'show': not stored, so 'show' computes the figures "
                             "from the events");
}

/* Returns "before" or "after": the position of the packed part relative to the damage. */
static const char *where_good(const struct pack *pack)
{
    return pack->lacks_start ? "after" : "before";
}

static void print_all(const struct pack *pack)
{
    const struct tts_recfile_info *info = tts_recfile_info(pack->file);
    if (pack->json)
        print_json(pack);
    else if (!is_stdout(pack))
        print_text(pack);
    if (!info->state_is_known)
        tts_message(command, "note: it is unknown whether the recording '%s' was ended",
                    pack->path);
    else if (info->state.kind == TTS_REC_RECORDING)
        tts_message(command,
                    "note: the recording '%s' was not ended: the program still runs, was "
                    "killed, or did not end the recording%s",
                    pack->path,
                    pack->is_damaged ? "" : "; all events recorded so far are packed");
    if (pack->is_damaged)
        tts_message(command, "%s: %s; only the part %s the damage is packed", pack->path,
                    pack->damage.text, where_good(pack));
}

/* --- the command ------------------------------------------------------------------------ */

static int fail(const struct pack *pack, const struct tts_error *err)
{
    if (err->status == TTS_E_IO)
        tts_message(command, "%s", err->text);
    else
        tts_message(command, "%s: %s", pack->path, err->text);
    return TTS_EXIT_INPUT;
}

static int pack_recording(struct pack *pack)
{
    struct tts_error err = {0};
    if (!pack->out_path && is_being_recorded(pack->path)) {
        tts_message(command,
                    "a program is still recording to '%s': use '-o FILE' to pack the events "
                    "recorded so far into another file",
                    pack->path);
        return TTS_EXIT_INPUT;
    }
    if (open_files(pack, &err) != TTS_OK || pack_items(pack, &err) != TTS_OK)
        return fail(pack, &err);
    if (pack->is_damaged && (!pack->has_items || !pack->out_path)) {
        if (pack->has_items)
            tts_message(
                command,
                "%s: %s; nothing was changed: use '-o FILE' to pack the part %s the damage",
                pack->path, pack->damage.text, where_good(pack));
        else
            tts_message(command, "%s: %s; no part of the file can be packed", pack->path,
                        pack->damage.text);
        return TTS_EXIT_INPUT;
    }
    if (finish(pack, &err) != TTS_OK)
        return fail(pack, &err);
    print_all(pack);
    return pack->is_damaged ? TTS_EXIT_PARTIAL : TTS_EXIT_DONE;
}

static int run_pack(struct tts_job *job, void *values)
{
    struct pack *pack = values;
    pack->path = job->operands[0];
    if (!check_options(pack))
        return TTS_EXIT_USAGE;
    if (pack->out_path && tts_same_file(pack->path, pack->out_path))
        pack->out_path = NULL;
    int code = pack_recording(pack);
    tts_recpack_free(pack->packer);
    tts_outfile_abandon(&pack->out);
    tts_eventfile_close(pack->source);
    return code;
}

const struct tts_command tts_pack_command = {
    .name = "pack",
    .operands = "RECORDING",
    .summary = "make a recording smaller and faster to read",
    .work = run_pack,
    .options = options_table,
    .values_bytes = sizeof(struct pack),
    .operands_min = 1,
    .operands_max = 1,
};
