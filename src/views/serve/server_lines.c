#include "views/serve/server_lines.h"

#include "views/safe_text.h"
#include "views/serve/server_sizes.h"

enum { MIB = 20, NAME_COLUMNS = 40 };

/* ---- words ---- */

/* The mark at the start of a line, with and without UTF-8. */
struct line_mark {
    const char *utf8, *ascii;
};
static const struct line_mark come_mark = {"\u2713 ", "+ "}, gone_mark = {"\u2717 ", "- "},
                              warn_mark = {"\u26a0 ", "! "},
                              reap_mark = {"\u26a0\ufe0f  ", "! "},
                              begin_mark = {"\u25b6 ", "> "}, end_mark = {"\u25a0 ", "< "};

static void put_line_mark(struct tts_textroom *room, struct line_mark mark, bool is_utf8)
{
    tts_textroom_put(room, is_utf8 ? mark.utf8 : mark.ascii);
}

static void put_line_pid(struct tts_textroom *room, const struct tts_serverprocess *process)
{
    uint32_t pid = process ? (process->pid ? process->pid : process->pid_inside) : 0;
    if (pid)
        tts_textroom_number(room, pid);
    else
        tts_textroom_put(room, "?");
}

/* Writes the mark and "[PID 12345] ". */
static void put_line_owner(struct tts_textroom *room, const struct tts_serverevent *event,
                           struct line_mark mark, bool is_utf8)
{
    put_line_mark(room, mark, is_utf8);
    tts_textroom_put(room, "[PID ");
    put_line_pid(room, event->process);
    tts_textroom_put(room, "] ");
}

static void put_line_hex(struct tts_textroom *room, uint64_t value)
{
    char digits[16];
    int count = value == 0 ? 1 : (67 - __builtin_clzll(value)) / 4;
    tts_number_format_hex(digits, value, count);
    tts_textroom_put(room, "0x");
    tts_textroom_bytes(room, digits, (size_t)count);
}

static void put_line_device(struct tts_textroom *room, const struct tts_serverevent *event)
{
    tts_textroom_put(room, " on device ");
    tts_textroom_number(room, event->device);
}

/* Writes "134217728 bytes of TRACE on device 0". */
static void put_line_bytes(struct tts_textroom *room, const struct tts_serverevent *event)
{
    tts_textroom_number(room, event->size_bytes);
    tts_textroom_put(room, " bytes of ");
    tts_textroom_put(room, tts_pool_name(event->pool));
    put_line_device(room, event);
}

static void put_line_name(struct tts_textroom *room, const char *name)
{
    char safe[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text(safe, sizeof safe, name, NAME_COLUMNS);
    tts_textroom_put(room, safe[0] ? safe : "(no name)");
}

/* ---- buffers ---- */

static void put_alloc_line(struct tts_textroom *room, const struct tts_serverevent *event,
                           bool is_utf8)
{
    put_line_owner(room, event, come_mark, is_utf8);
    tts_textroom_put(room, "Allocated ");
    put_line_bytes(room, event);
    tts_textroom_put(room, " (buffer_id=");
    if (event->id_known)
        put_line_hex(room, event->id);
    else
        tts_textroom_put(room, "unknown");
    if (event->id_known && event->references > 1) {
        tts_textroom_put(room, ", ref_count=");
        tts_textroom_number(room, event->references);
    }
    tts_textroom_put(room, ")\n");
}

static void put_free_line(struct tts_textroom *room, const struct tts_serverevent *event,
                          bool is_utf8)
{
    put_line_owner(room, event, gone_mark, is_utf8);
    tts_textroom_put(room, "Freed ");
    if (!event->id_known) {
        put_line_bytes(room, event);
        tts_textroom_put(room, " (buffer_id=unknown)\n");
        return;
    }
    tts_textroom_put(room, "buffer ");
    put_line_hex(room, event->id);
    put_line_device(room, event);
    tts_textroom_put(room, " (");
    tts_textroom_number(room, event->size_bytes);
    tts_textroom_put(room, " bytes, ");
    if (event->references == 0) {
        tts_textroom_put(room, "FINAL)\n");
        return;
    }
    tts_textroom_put(room, "ref_count=");
    tts_textroom_number(room, event->references);
    tts_textroom_put(room, " remaining)\n");
}

static void put_unknown_free_line(struct tts_textroom *room,
                                  const struct tts_serverevent *event, bool is_utf8)
{
    put_line_owner(room, event, warn_mark, is_utf8);
    tts_textroom_put(room, "Deallocation for unknown buffer ");
    put_line_hex(room, event->id);
    put_line_device(room, event);
    tts_textroom_put(room, " (allocated before tracking started)\n");
}

/* ---- sums of a device ---- */

static const char *kernel_line_name(uint8_t type)
{
    static const char *const names[] = {"Application", "Fabric", "Dispatch"};
    return type < sizeof names / sizeof names[0] ? names[type] : "Unknown";
}

/* Writes a line about circular buffers or kernels, which says the sum of the device. */
static void put_sum_line(struct tts_textroom *room, const struct tts_serverevent *event,
                         const char *what, bool is_utf8)
{
    bool comes =
        event->kind == TTS_SERVEREVENT_CB_ALLOC || event->kind == TTS_SERVEREVENT_KERNEL_LOAD;
    bool is_kernel = event->kind == TTS_SERVEREVENT_KERNEL_LOAD ||
                     event->kind == TTS_SERVEREVENT_KERNEL_UNLOAD;
    put_line_mark(room, comes ? come_mark : gone_mark, is_utf8);
    tts_textroom_put(room, what);
    if (is_kernel) {
        tts_textroom_put(room, kernel_line_name(event->kernel_type));
        tts_textroom_put(room, " kernel on ");
    }
    tts_textroom_put(room, "Device ");
    tts_textroom_number(room, event->device);
    tts_textroom_put(room, comes ? ": +" : ": -");
    tts_serversize_put(room, event->size_bytes, MIB);
    tts_textroom_put(room, " MB (Total: ");
    tts_serversize_put(room, event->live_bytes, MIB);
    tts_textroom_put(room, " MB)\n");
}

/* ---- traces, requests, processes ---- */

static void put_trace_line(struct tts_textroom *room, const struct tts_serverevent *event,
                           bool is_utf8)
{
    bool begins = event->kind == TTS_SERVEREVENT_TRACE_BEGIN;
    put_line_owner(room, event, begins ? begin_mark : end_mark, is_utf8);
    tts_textroom_put(room, begins ? "Trace capture begins" : "Trace capture ends");
    put_line_device(room, event);
    tts_textroom_put(room, "\n");
}

static void put_refused_line(struct tts_textroom *room, const struct tts_serverevent *event,
                             bool is_utf8)
{
    put_line_owner(room, event, warn_mark, is_utf8);
    tts_textroom_put(room, "Refused ");
    put_line_bytes(room, event);
    tts_textroom_put(room, "\n");
}

static void put_begin_line(struct tts_textroom *room, const struct tts_serverevent *event,
                           bool is_utf8)
{
    static const char *const sources[] = {
        [TTS_SERVERSOURCE_FRAMES] = "sends events",
        [TTS_SERVERSOURCE_RING] = "publishes its buffers",
        [TTS_SERVERSOURCE_COUNTERS] = "reports only counters: its buffers are unknown",
    };
    put_line_owner(room, event, begin_mark, is_utf8);
    tts_textroom_put(room, "Process ");
    put_line_name(room, event->process ? event->process->name : "");
    tts_textroom_put(room, " ");
    tts_textroom_put(room, sources[event->source]);
    tts_textroom_put(room, "\n");
}

/* Writes the published lines if the process left buffers. */
static void put_death_lines(struct tts_textroom *room, const struct tts_serverevent *event,
                            bool is_utf8)
{
    if (event->buffers == 0 && event->size_bytes == 0) {
        put_line_owner(room, event, end_mark, is_utf8);
        tts_textroom_put(room, "Process ");
        put_line_name(room, event->process ? event->process->name : "");
        tts_textroom_put(room, " ended\n");
        return;
    }
    put_line_mark(room, reap_mark, is_utf8);
    tts_textroom_put(room, "Detected dead processes, cleaning up orphaned buffers...\n   PID ");
    put_line_pid(room, event->process);
    tts_textroom_put(room, " is dead, removing its buffers...\n   ");
    put_line_mark(room, come_mark, is_utf8);
    tts_textroom_put(room, "Removed ");
    tts_textroom_number(room, event->buffers);
    tts_textroom_put(room, " buffers (");
    tts_serversize_put(room, event->size_bytes, MIB);
    tts_textroom_put(room, " MB) from PID ");
    put_line_pid(room, event->process);
    tts_textroom_put(room, "\n");
}

/* Writes "Phase: Capture (Data) on device 0 (TRACE: 128.00 MB, L1: 80.00 MB)". */
static void put_phase_line(struct tts_textroom *room, const struct tts_serverevent *event,
                           bool is_utf8)
{
    put_line_owner(room, event, begin_mark, is_utf8);
    tts_textroom_put(room, "Phase: ");
    tts_textroom_put(room, tts_tracephase_name(event->phase));
    put_line_device(room, event);
    tts_textroom_put(room, " (TRACE: ");
    tts_serversize_put(room, event->trace_bytes, MIB);
    tts_textroom_put(room, " MB, L1: ");
    tts_serversize_put(room, event->l1_bytes, MIB);
    tts_textroom_put(room, " MB)\n");
}

static void put_lost_line(struct tts_textroom *room, const struct tts_serverevent *event,
                          bool is_utf8)
{
    put_line_owner(room, event, warn_mark, is_utf8);
    tts_textroom_put(room, "Lost ");
    tts_textroom_number(room, event->buffers);
    tts_textroom_put(room, event->buffers == 1 ? " event\n" : " events\n");
}

size_t tts_serverlines_write(char out[TTS_SERVERLINES_MAX], const struct tts_serverevent *event,
                             bool is_utf8)
{
    struct tts_textroom room = tts_textroom_of(out, TTS_SERVERLINES_MAX);
    switch (event->kind) {
    case TTS_SERVEREVENT_ALLOC:
        put_alloc_line(&room, event, is_utf8);
        break;
    case TTS_SERVEREVENT_FREE:
        put_free_line(&room, event, is_utf8);
        break;
    case TTS_SERVEREVENT_UNKNOWN_FREE:
        put_unknown_free_line(&room, event, is_utf8);
        break;
    case TTS_SERVEREVENT_CB_ALLOC:
        put_sum_line(&room, event, "[CB_ALLOC] ", is_utf8);
        break;
    case TTS_SERVEREVENT_CB_FREE:
        put_sum_line(&room, event, "[CB_FREE] ", is_utf8);
        break;
    case TTS_SERVEREVENT_KERNEL_LOAD:
        put_sum_line(&room, event, "[KERNEL_LOAD] ", is_utf8);
        break;
    case TTS_SERVEREVENT_KERNEL_UNLOAD:
        put_sum_line(&room, event, "[KERNEL_UNLOAD] ", is_utf8);
        break;
    case TTS_SERVEREVENT_TRACE_BEGIN:
    case TTS_SERVEREVENT_TRACE_END:
        put_trace_line(&room, event, is_utf8);
        break;
    case TTS_SERVEREVENT_REFUSED:
        put_refused_line(&room, event, is_utf8);
        break;
    case TTS_SERVEREVENT_BEGIN:
        put_begin_line(&room, event, is_utf8);
        break;
    case TTS_SERVEREVENT_DEATH:
        put_death_lines(&room, event, is_utf8);
        break;
    case TTS_SERVEREVENT_LOST:
        put_lost_line(&room, event, is_utf8);
        break;
    case TTS_SERVEREVENT_PHASE:
        put_phase_line(&room, event, is_utf8);
        break;
    case TTS_SERVEREVENTS:
        assert(false);
        break;
    }
    return (size_t)(room.at - out);
}
