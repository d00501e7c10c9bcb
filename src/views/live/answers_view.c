#include "views/live/answers_view.h"

#include "base/number.h"
#include "views/live/live_words.h"
#include "views/live/phases_view.h"
#include "views/safe_text.h"
#include "views/say.h"
#include "views/textroom.h"

#include <inttypes.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
enum { STEADY_S = 5, NAME_COLUMNS = 24 };

/* ---- parts of sentences ---- */

static void put_answer_size(struct tts_textroom *room, uint64_t bytes)
{
    char size[TTS_LIVETEXT_SIZE_MAX];
    tts_livesize_text(size, bytes);
    *strchrnul(size, ' ') = TTS_SAY_GLUE[0];
    tts_textroom_put(room, size);
}

static void put_answer_count(struct tts_textroom *room, uint64_t count, const char *noun)
{
    tts_textroom_number(room, count);
    tts_textroom_put(room, TTS_SAY_GLUE);
    tts_textroom_put(room, noun);
    tts_textroom_put(room, tts_say_plural(count));
}

static void put_answer_owner(struct tts_textroom *room, const struct tts_liveowner *owner)
{
    char name[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text(name, sizeof name, owner->name, NAME_COLUMNS);
    tts_textroom_put(room, "process" TTS_SAY_GLUE);
    if (owner->pid > 0)
        tts_textroom_number(room, owner->pid);
    else
        tts_textroom_put(room, "unknown");
    tts_textroom_put(room, name[0] ? " " : "");
    tts_textroom_put(room, name);
}

static void put_answer_age(struct tts_textroom *room, uint64_t ns)
{
    char age[TTS_LIVETEXT_AGE_MAX];
    tts_textroom_put(room, tts_liveage_text(age, ns));
}

static void put_answer_percent(struct tts_textroom *room, uint32_t millionths)
{
    tts_textroom_number(room, millionths / 10000);
    tts_textroom_put(room, "% full");
}

/* Writes "1.00 KB" for the sizes of class 10: the smallest size of the class. */
static void put_answer_classes(struct tts_textroom *room, uint64_t classes)
{
    bool has_some = false;
    for (unsigned class = 0; class < 64; class ++) {
        if (!(classes >> class & 1))
            continue;
        tts_textroom_put(room, has_some ? ", " : "");
        put_answer_size(room, UINT64_C(1) << class);
        has_some = true;
    }
}

/* ---- sentences ---- */

static void put_leak_text(struct tts_textroom *room, const struct tts_liveleak *leak)
{
    tts_textroom_put(room, "Leak detected! ");
    tts_textroom_put(room, tts_pool_name(leak->pool));
    tts_textroom_put(room, " of ");
    put_answer_owner(room, &leak->owner);
    tts_textroom_put(room, ": ");
    put_answer_count(room, leak->buffers, "buffer");
    tts_textroom_put(room, " more in ");
    put_answer_age(room, leak->period_ns * leak->periods);
    tts_textroom_put(room, ", at least ");
    put_answer_size(room, leak->bytes_at_least);
    tts_textroom_put(room, ", in each of ");
    put_answer_count(room, leak->periods, "period");
    tts_textroom_put(room, leak->is_after_steady ? " after a steady time" : "");
    tts_textroom_put(room, "; sizes from ");
    put_answer_classes(room, leak->classes);
    tts_textroom_put(room, " to twice that");
}

static void put_growing_text(struct tts_textroom *room, const struct tts_livegrowing *growing,
                             uint64_t time_ns, bool has_ended)
{
    tts_textroom_put(room, tts_pool_name(growing->pool));
    tts_textroom_put(room, " of ");
    put_answer_owner(room, &growing->owner);
    tts_textroom_put(room, has_ended ? " grew: +" : " is growing: +");
    put_answer_size(room, growing->grown_bytes);
    if (time_ns > growing->since_ns) {
        tts_textroom_put(room, " in ");
        put_answer_age(room, time_ns - growing->since_ns);
    }
    tts_textroom_put(room, ", ");
    put_answer_size(room, growing->bytes_per_second);
    tts_textroom_put(room, "/s");
    if (!growing->full_known)
        return;
    tts_textroom_put(room, ", full in ");
    put_answer_age(room, growing->full_seconds > UINT64_MAX / SECOND_NS
                             ? UINT64_MAX
                             : growing->full_seconds * SECOND_NS);
}

void tts_liveanswers_growing(char out[TTS_LIVEANSWER_MAX],
                             const struct tts_livegrowing *growing, uint64_t time_ns,
                             bool has_ended)
{
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVEANSWER_MAX);
    put_growing_text(&room, growing, time_ns, has_ended);
}

/* Writes the buffers that could move to DRAM. */
static void put_moves_text(struct tts_textroom *room, const struct tts_livepressure *pressure)
{
    if (!pressure->moves_known) {
        tts_textroom_put(room, "; no program lists its buffers, so it is unknown which could "
                               "move");
        return;
    }
    size_t all = pressure->move_count + pressure->moves_unlisted;
    if (all == 0) {
        tts_textroom_put(room, "; no listed buffer could move: all are sharded or hold "
                               "circular buffers");
        return;
    }
    tts_textroom_put(room, "; ");
    put_answer_count(room, all, "buffer");
    tts_textroom_put(room, " could move to DRAM, which frees ");
    put_answer_size(room, pressure->moves_bytes);
    tts_textroom_put(room, all > 1 ? ", the largest " : ": ");
    put_answer_size(room, pressure->moves[0].size_bytes);
    tts_textroom_put(room, " of ");
    put_answer_owner(room, &pressure->moves[0].owner);
    if (!pressure->moves[0].address_known) {
        tts_textroom_put(room, " (buffer" TTS_SAY_GLUE);
        tts_textroom_number(room, pressure->moves[0].id);
        tts_textroom_put(room, ")");
        return;
    }
    char address[18] = "0x";
    tts_number_format_hex(address + 2, pressure->moves[0].address, 16);
    tts_textroom_put(room, " at" TTS_SAY_GLUE);
    tts_textroom_bytes(room, address, sizeof address);
}

static void put_pressure_text(struct tts_textroom *room, const struct tts_livedevice *device,
                              const struct tts_livepressure *pressure)
{
    uint32_t dram;
    tts_textroom_put(room, tts_pool_name(pressure->pool));
    tts_textroom_put(room, " Memory: ");
    put_answer_percent(room, pressure->millionths);
    tts_textroom_put(room, " - critical, reduce buffer sizes");
    for (size_t i = 0; i < pressure->owner_count; i++) {
        tts_textroom_put(room, i == 0 ? "; largest: " : ", ");
        put_answer_owner(room, &pressure->owners[i].owner);
        tts_textroom_put(room, " ");
        put_answer_size(room, pressure->owners[i].bytes);
    }
    if (!pressure->dram_has_room)
        return;
    if (tts_livepool_share(&device->pools[TTS_POOL_DRAM], &dram)) {
        tts_textroom_put(room, "; DRAM Memory: ");
        put_answer_percent(room, dram);
        tts_textroom_put(room, " - has room for buffers that are now in L1");
    }
    put_moves_text(room, pressure);
}

/* Returns false if there is nothing to say about the phase. */
static bool put_phase_text(struct tts_textroom *room, const struct tts_livephases *phases)
{
    enum tts_tracephase phase = tts_livephases_now(phases);
    bool is_steady = phases->steady_ns >= STEADY_S * SECOND_NS && phases->is_replay_seen;
    bool is_told = phase != TTS_TRACEPHASE_UNKNOWN && phase != TTS_TRACEPHASE_INIT &&
                   phase != TTS_TRACEPHASE_IDLE;
    if (is_told) {
        tts_textroom_put(room, "Phase: ");
        tts_textroom_put(room, tts_tracephase_name(phase));
    }
    if (!is_steady)
        return is_told;
    tts_textroom_put(room, is_told ? "; steady" : "Steady");
    tts_textroom_put(room, ": nothing allocated for ");
    tts_textroom_number(room, phases->steady_ns / SECOND_NS);
    tts_textroom_put(room, TTS_SAY_GLUE "s, as during a trace replay. This is normal: a "
                                        "replay allocates nothing");
    return true;
}

bool tts_liveanswers_text(char out[TTS_LIVEANSWER_MAX], const struct tts_livedevice *device,
                          size_t number)
{
    const struct tts_liveanswers *answers = &device->answers;
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVEANSWER_MAX);
    if (!answers->is_asked)
        return false;
    if (number < answers->leak_count) {
        put_leak_text(&room, &answers->leaks[number]);
        return true;
    }
    number -= answers->leak_count;
    if (number < answers->pressure_count) {
        put_pressure_text(&room, device, &answers->pressure[number]);
        return true;
    }
    number -= answers->pressure_count;
    if (number < answers->growing_count) {
        put_growing_text(&room, &answers->growing[number], answers->time_ns, false);
        return true;
    }
    number -= answers->growing_count;
    size_t more = answers->growing_unlisted + answers->leaks_unlisted;
    if (more > 0 && number-- == 0) {
        put_answer_count(&room, more, "more pool");
        tts_textroom_put(&room, more == 1 ? " is growing or leaks" : " are growing or leak");
        return true;
    }
    return number == 0 && put_phase_text(&room, &answers->phases);
}

/* ---- the line of the published table ---- */

/* Returns the published remark about a change, or NULL if the document has none. `old` is NULL
 * for the first frame. */
static const char *update_remark(const struct tts_livephases *phases,
                                 const struct tts_tracerow *now, const struct tts_tracerow *old)
{
    bool was_captured = phases->row_count > 1;
    if (!old)
        return now->trace_bytes > 0 ? "Already allocated" : NULL;
    if (now->phase == TTS_TRACEPHASE_INIT)
        return NULL;
    if (now->trace_bytes > old->trace_bytes)
        return "Trace buffer allocated!";
    if (now->data_bytes > old->data_bytes)
        return now->phase == TTS_TRACEPHASE_CAPTURE_KERNELS ? "Kernels loaded!"
                                                            : "Data buffers allocated!";
    if (now->code_known && old->code_known && now->code_bytes > old->code_bytes)
        return "Kernels loaded!";
    if (now->phase != TTS_TRACEPHASE_EXECUTION || now->trace_bytes < old->trace_bytes ||
        now->data_bytes < old->data_bytes || now->code_bytes < old->code_bytes)
        return NULL;
    return was_captured ? "Steady state (execution)" : "No changes (replay)";
}

/* Returns whether a frame has several devices that programs use or can use. A device that is
 * left over from a killed program is no such device. */
static bool has_several_devices(const struct tts_liveframe *frame)
{
    size_t count = 0;
    for (size_t i = 0; i < frame->device_count; i++)
        count += frame->devices[i].state != TTS_LIVE_PHANTOM;
    return count > 1;
}

void tts_liveanswers_update(const struct tts_liveview *view,
                            const struct tts_livedevice *device, FILE *out)
{
    const struct tts_livephases *phases = &device->answers.phases;
    const struct tts_tracerow *old =
        view->update > 0 && phases->before_known ? &phases->before : NULL;
    if (phases->row_count == 0 || device->state != TTS_LIVE_LIVE || (view->update > 0 && !old))
        return;
    const struct tts_tracerow *now = &phases->rows[phases->row_count - 1];
    if (now->phase == TTS_TRACEPHASE_IDLE ||
        (now->phase == TTS_TRACEPHASE_UNKNOWN && now->trace_bytes == 0))
        return;
    const char *remark = update_remark(phases, now, old);
    char trace[TTS_LIVETEXT_SIZE_MAX], l1[TTS_LIVETEXT_SIZE_MAX];
    struct tts_tracerow both = *now;
    both.trace_bytes = 0; /* the total is then that of L1 */
    fprintf(out, "Update #%" PRIu64, view->update);
    if (has_several_devices(view->frame))
        fprintf(out, " (device %" PRIu32 ")", device->index);
    tts_livemb_text(trace, now->trace_bytes);
    tts_livemb_text(l1, tts_tracerow_total(&both));
    fprintf(out, ":   TRACE: %s,%*s L1: ", trace,
            strlen(trace) < 7 ? 7 - (int)strlen(trace) : 0, "");
    if (remark)
        fprintf(out, "%-7s %s %s\n", l1, view->is_utf8 ? "\u2190" : "<-", remark);
    else
        fprintf(out, "%s\n", l1);
}

/* ---- JSON ---- */

static void put_json_seconds(struct tts_json *json, const char *key, uint64_t ns)
{
    tts_json_ratio(json, key, ns, SECOND_NS);
}

/* Writes the fields "pid", "pid_is_container" and "name". */
static void put_json_owner(struct tts_json *json, const struct tts_liveowner *owner)
{
    tts_json_number_or_null(json, "pid", owner->pid > 0 && owner->pid_known, owner->pid);
    tts_json_number_or_null(json, "container_pid", owner->pid > 0 && !owner->pid_known,
                            owner->pid);
    tts_json_text_or_null(json, "name", owner->name);
}

static void put_json_growing(struct tts_json *json, const struct tts_liveanswers *answers)
{
    if (!answers->growing_known) {
        tts_json_null(json, "growing");
        return;
    }
    tts_json_array(json, "growing");
    for (size_t i = 0; i < answers->growing_count; i++) {
        const struct tts_livegrowing *growing = &answers->growing[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "pool", tts_pool_name(growing->pool));
        put_json_owner(json, &growing->owner);
        put_json_seconds(json, "since", growing->since_ns);
        tts_json_number(json, "grown_bytes", growing->grown_bytes);
        tts_json_number(json, "bytes_per_second", growing->bytes_per_second);
        tts_json_number_or_null(json, "full_seconds", growing->full_known,
                                growing->full_seconds);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_json_leaks(struct tts_json *json, const struct tts_liveanswers *answers)
{
    if (!answers->leaks_known) {
        tts_json_null(json, "leak");
        return;
    }
    tts_json_array(json, "leak");
    for (size_t i = 0; i < answers->leak_count; i++) {
        const struct tts_liveleak *leak = &answers->leaks[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "pool", tts_pool_name(leak->pool));
        put_json_owner(json, &leak->owner);
        put_json_seconds(json, "since", leak->since_ns);
        tts_json_array(json, "class_sizes");
        for (unsigned class = 0; class < 64; class ++)
            if (leak->classes >> class & 1)
                tts_json_number(json, NULL, UINT64_C(1) << class);
        tts_json_array_end(json);
        tts_json_number(json, "buffers", leak->buffers);
        tts_json_number(json, "bytes_at_least", leak->bytes_at_least);
        tts_json_number(json, "periods", leak->periods);
        put_json_seconds(json, "period_seconds", leak->period_ns);
        tts_json_number(json, "bytes_per_period_at_least",
                        leak->periods > 0 ? leak->bytes_at_least / leak->periods : 0);
        tts_json_bool(json, "after_steady", leak->is_after_steady);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_json_moves(struct tts_json *json, const struct tts_livepressure *pressure)
{
    if (!pressure->moves_known) {
        tts_json_null(json, "moves");
        tts_json_null(json, "moves_bytes");
        tts_json_null(json, "moves_not_listed");
        return;
    }
    tts_json_array(json, "moves");
    for (size_t i = 0; i < pressure->move_count; i++) {
        tts_json_object(json, NULL);
        put_json_owner(json, &pressure->moves[i].owner);
        tts_json_number(json, "id", pressure->moves[i].id);
        tts_json_number_or_null(json, "address", pressure->moves[i].address_known,
                                pressure->moves[i].address);
        tts_json_number(json, "bytes", pressure->moves[i].size_bytes);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_number(json, "moves_bytes", pressure->moves_bytes);
    tts_json_number(json, "moves_not_listed", pressure->moves_unlisted);
}

static void put_json_pressure(struct tts_json *json, const struct tts_liveanswers *answers)
{
    if (!answers->pressure_known) {
        tts_json_null(json, "pressure");
        return;
    }
    tts_json_array(json, "pressure");
    for (size_t i = 0; i < answers->pressure_count; i++) {
        const struct tts_livepressure *pressure = &answers->pressure[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "pool", tts_pool_name(pressure->pool));
        tts_json_ratio(json, "usage_ratio", pressure->millionths, 1000000);
        tts_json_array(json, "owners");
        for (size_t j = 0; j < pressure->owner_count; j++) {
            tts_json_object(json, NULL);
            put_json_owner(json, &pressure->owners[j].owner);
            tts_json_number(json, "bytes", pressure->owners[j].bytes);
            tts_json_object_end(json);
        }
        tts_json_array_end(json);
        tts_json_bool(json, "dram_has_room", pressure->dram_has_room);
        put_json_moves(json, pressure);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

void tts_liveanswers_json(const struct tts_livedevice *device, struct tts_json *json)
{
    static const char *const names[] = {"phase",   "steady_seconds", "phases",
                                        "growing", "leak",           "pressure"};
    const struct tts_liveanswers *answers = &device->answers;
    if (!answers->is_asked) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            tts_json_null(json, names[i]);
        return;
    }
    tts_json_text_or_null(json, "phase",
                          tts_tracephase_word(tts_livephases_now(&answers->phases)));
    if (answers->phases.row_count > 0)
        put_json_seconds(json, "steady_seconds", answers->phases.steady_ns);
    else
        tts_json_null(json, "steady_seconds");
    tts_json_array(json, "phases");
    tts_phases_json(&answers->phases, "since", 0, json);
    tts_json_array_end(json);
    put_json_growing(json, answers);
    put_json_leaks(json, answers);
    put_json_pressure(json, answers);
}
