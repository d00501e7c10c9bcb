#include "views/live/answers_view.h"
#include "views/live/live_view.h"
#include "views/live/live_words.h"
#include "views/safe_text.h"
#include "views/say.h"
#include "views/textroom.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS = 24, USER_COLUMNS = 16, RANGES_MAX = 120, INDENT = 3, NOTE_BYTES = 1024 };

/* ---- a process ---- */

/* An entry is dead only if all holders of the device are visible and none is in a container. */
bool tts_liveprocess_is_ended(const struct tts_liveprocess *process)
{
    return process->state == TTS_LIVEPROCESS_DEAD && !process->pid_known &&
           process->container_pid_known;
}

const char *tts_liveprocess_name(char out[TTS_LIVENAME_MAX],
                                 const struct tts_liveprocess *process)
{
    char name[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    char user[USER_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    bool is_ended = tts_liveprocess_is_ended(process);
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVENAME_MAX);
    tts_safe_text(name, sizeof name, process->name, NAME_COLUMNS);
    tts_safe_text(user, sizeof user, process->user, USER_COLUMNS);
    if (process->pid_known || is_ended)
        tts_textroom_number(&room, is_ended ? process->container_pid : process->pid);
    else
        tts_textroom_put(&room, "unknown");
    if (is_ended) {
        tts_textroom_put(&room, " (ended)");
    } else if (process->container_pid_known) {
        tts_textroom_put(&room, " (");
        tts_textroom_number(&room, process->container_pid);
        tts_textroom_put(&room, " in its container)");
    }
    tts_textroom_put(&room, name[0] ? " " : "");
    tts_textroom_put(&room, name);
    if (user[0]) {
        tts_textroom_put(&room, ", ");
        tts_textroom_put(&room, user);
    } else if (process->uid_known) {
        tts_textroom_put(&room, ", uid ");
        tts_textroom_number(&room, process->uid);
    }
    return out;
}

const char *tts_liveprocess_bytes(char out[TTS_LIVEBYTES_MAX],
                                  const struct tts_liveprocess *process)
{
    const struct tts_counters *counters = &process->counters;
    char size[TTS_LIVETEXT_SIZE_MAX];
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVEBYTES_MAX);
    for (size_t i = 0; i < TTS_COUNTERS; i++) {
        if (!(counters->known >> i & 1) || counters->bytes[i] == 0)
            continue;
        tts_livesize_text(size, counters->bytes[i]);
        *strchrnul(size, ' ') = TTS_SAY_GLUE[0];
        tts_textroom_put(&room, out[0] ? ", " : "");
        tts_textroom_put(&room, tts_counter_name((enum tts_counter)i));
        tts_textroom_put(&room, TTS_SAY_GLUE);
        tts_textroom_put(&room, size);
    }
    if (!out[0])
        tts_textroom_put(&room, counters->known ? "no bytes" : "bytes unknown");
    return out;
}

/* ---- a frame ---- */

/* Begins a list of notes with an empty line and a heading. */
static void begin_note(bool *has_notes, FILE *out)
{
    if (!*has_notes)
        fputs("\nNotes:\n", out);
    *has_notes = true;
}

/* Writes the numbers of the devices with a caveat: "Device 0" or "Devices 0-3, 7". Returns
 * false if there is none. */
static bool list_devices(const struct tts_liveframe *frame, uint32_t caveat,
                         char out[RANGES_MAX])
{
    size_t used = 0, count = 0;
    char text[RANGES_MAX] = "";
    for (size_t i = 0; i < frame->device_count; i++) {
        size_t last = i;
        if (!(frame->devices[i].caveats & caveat))
            continue;
        while (last + 1 < frame->device_count && frame->devices[last + 1].caveats & caveat &&
               frame->devices[last + 1].index == frame->devices[last].index + 1)
            last++;
        if (used + 32 > RANGES_MAX) {
            snprintf(text + used, RANGES_MAX - used, " and more");
            break;
        }
        used += (size_t)snprintf(text + used, RANGES_MAX - used, "%s%" PRIu32,
                                 used > 0 ? ", " : "", frame->devices[i].index);
        if (last > i)
            used += (size_t)snprintf(text + used, RANGES_MAX - used, "-%" PRIu32,
                                     frame->devices[last].index);
        count += last - i + 1;
        i = last;
    }
    snprintf(out, RANGES_MAX, "Device%s %.*s", tts_say_plural(count), RANGES_MAX - 10, text);
    return count > 0;
}

static void put_caveats(const struct tts_liveframe *frame, bool *has_notes, FILE *out)
{
    char devices[RANGES_MAX];
    for (uint32_t bit = 0; bit < TTS_CAVEATS; bit++) {
        if (!list_devices(frame, UINT32_C(1) << bit, devices))
            continue;
        begin_note(has_notes, out);
        tts_say(out, INDENT, "- %s: %s", devices,
                tts_livecaveat_text((enum tts_livecaveat)(1u << bit)));
    }
}

/* Writes a note about a caveat to `text`. Returns its lines; 0 if no device has the caveat, or
 * the text does not fit. */
static size_t format_caveat(const struct tts_liveframe *frame, enum tts_livecaveat caveat,
                            char text[NOTE_BYTES])
{
    char devices[RANGES_MAX];
    size_t lines = 0;
    FILE *out = list_devices(frame, caveat, devices) ? fmemopen(text, NOTE_BYTES, "w") : NULL;
    if (!out)
        return 0;
    tts_say(out, INDENT, "- %s: %s", devices, tts_livecaveat_text(caveat));
    bool is_whole = fflush(out) == 0 && ftell(out) < NOTE_BYTES;
    if (fclose(out) != 0 || !is_whole)
        return 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

/* Writes caveats while they fit into the spare lines of the frame: first those about wrong or
 * missing numbers. */
static void put_first_caveats(const struct tts_liveview *view, bool *has_notes, FILE *out)
{
    enum { HEADING_LINES = 2 };
    static const enum tts_livecaveat first[] = {TTS_CAVEAT_OVER_NOMINAL, TTS_CAVEAT_LEFT_OVER,
                                                TTS_CAVEAT_PART_REGION, TTS_CAVEAT_ONE_THREAD};
    const size_t first_count = sizeof first / sizeof first[0];
    size_t left = view->spare_lines;
    uint32_t done = 0;
    for (size_t i = 0; i < first_count + TTS_CAVEATS; i++) {
        char text[NOTE_BYTES];
        uint32_t caveat = i < first_count ? first[i] : UINT32_C(1) << (i - first_count);
        size_t lines =
            done & caveat ? 0 : format_caveat(view->frame, (enum tts_livecaveat)caveat, text);
        size_t needs = lines + (*has_notes ? 0 : HEADING_LINES);
        done |= caveat;
        if (lines == 0)
            continue;
        if (needs > left)
            return;
        left -= needs;
        begin_note(has_notes, out);
        fputs(text, out);
    }
}

static void put_states(const struct tts_liveframe *frame, bool *has_notes, FILE *out)
{
    char text[TTS_LIVETEXT_MAX];
    for (size_t i = 0; i < frame->device_count; i++) {
        const struct tts_livedevice *device = &frame->devices[i];
        bool is_plain = device->state == TTS_LIVE_LIVE || device->state == TTS_LIVE_IDLE;
        if (is_plain && !device->reason[0])
            continue;
        begin_note(has_notes, out);
        tts_say(out, INDENT, "- Device %" PRIu32 ": %s", device->index,
                tts_livedevice_text(text, device));
    }
}

/* Writes the caveats of the processes without a device, each once. */
static void put_stray_caveats(const struct tts_liveframe *frame, bool *has_notes, FILE *out)
{
    uint32_t caveats = 0;
    for (size_t i = 0; i < frame->stray_count; i++)
        caveats |= frame->strays[i].caveats;
    for (uint32_t bit = 0; bit < TTS_CAVEATS; bit++) {
        if (!(caveats >> bit & 1))
            continue;
        begin_note(has_notes, out);
        tts_say(out, INDENT, "- Device unknown: %s",
                tts_livecaveat_text((enum tts_livecaveat)(1u << bit)));
    }
}

static void put_strays(const struct tts_liveframe *frame, bool *has_notes, FILE *out)
{
    char name[TTS_LIVENAME_MAX], bytes[TTS_LIVEBYTES_MAX];
    for (size_t i = 0; i < frame->stray_count; i++) {
        begin_note(has_notes, out);
        tts_say(out, INDENT, "- Device unknown: process %s: %s",
                tts_liveprocess_name(name, &frame->strays[i]),
                tts_liveprocess_bytes(bytes, &frame->strays[i]));
    }
}

static void put_answers(const struct tts_liveframe *frame, bool *has_notes, FILE *out)
{
    char text[TTS_LIVEANSWER_MAX];
    for (size_t i = 0; i < frame->device_count; i++)
        for (size_t j = 0; tts_liveanswers_text(text, &frame->devices[i], j); j++) {
            begin_note(has_notes, out);
            tts_say(out, INDENT, "- Device %" PRIu32 ": %s", frame->devices[i].index, text);
        }
}

void tts_livenotes_put(const struct tts_liveview *view, unsigned parts, FILE *out)
{
    const struct tts_liveframe *frame = view->frame;
    bool has_notes = false;
    if (parts & TTS_LIVENOTES_ANSWERS)
        put_answers(frame, &has_notes, out);
    if (parts & TTS_LIVENOTES_DEVICES)
        put_states(frame, &has_notes, out);
    if (parts & TTS_LIVENOTES_DEVICES && view->has_tips)
        put_caveats(frame, &has_notes, out);
    if (parts & TTS_LIVENOTES_STRAYS)
        put_strays(frame, &has_notes, out);
    if (parts & TTS_LIVENOTES_STRAYS || (parts & TTS_LIVENOTES_DEVICES && view->has_tips))
        put_stray_caveats(frame, &has_notes, out);
    if (parts & TTS_LIVENOTES_FIRST)
        put_first_caveats(view, &has_notes, out);
    if (frame->left_out > 0) {
        begin_note(&has_notes, out);
        tts_say(out, INDENT, "- %zu more device%s not shown", frame->left_out,
                frame->left_out == 1 ? " is" : "s are");
    }
    if (frame->processes_left_out > 0) {
        begin_note(&has_notes, out);
        tts_say(out, INDENT,
                "- %zu process%s not read, so some owners of memory can be missing",
                frame->processes_left_out, frame->processes_left_out == 1 ? " is" : "es are");
    }
    if (frame->logs_left_out > 0) {
        begin_note(&has_notes, out);
        tts_say(out, INDENT,
                "- the buffer logs of %zu process%s not searched for, so their buffers can be "
                "missing",
                frame->logs_left_out, frame->logs_left_out == 1 ? " are" : "es are");
    }
    if (view->has_tips && tts_livezero_is(frame)) {
        begin_note(&has_notes, out);
        tts_say(out, INDENT, "- %s", tts_livezero_text());
    }
}
