#include "sources/runs/runs_room.h"

#include "base/heap.h"
#include "model/follow.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- gathering ---- */

enum tts_status tts_runs_add(struct tts_runs_room *room, struct tts_runs_entry **out)
{
    *out = NULL;
    if (room->count == TTS_RUNS_MAX) {
        room->unlisted++;
        return TTS_OK;
    }
    struct tts_runs_entry *entries = tts_alloc_grow(room->alloc, room->entries, &room->capacity,
                                                    room->count + 1, sizeof *entries);
    if (!entries)
        return TTS_E_NOMEM;
    room->entries = entries;
    *out = &entries[room->count++];
    memset(*out, 0, sizeof **out);
    return TTS_OK;
}

enum tts_status tts_runs_capture(struct tts_runs_room *room, uint32_t capture,
                                 struct tts_runs_entry **out)
{
    assert(capture > 0);
    for (size_t i = 0; i < room->count; i++) {
        *out = &room->entries[i];
        if ((*out)->capture == capture)
            return TTS_OK;
    }
    enum tts_status status = tts_runs_add(room, out);
    if (*out)
        (*out)->capture = capture;
    return status;
}

enum tts_status tts_runs_add_phase(struct tts_runs_room *room, struct tts_runs_entry *entry,
                                   const struct tts_run_phase *phase)
{
    assert(entry >= room->entries && entry < room->entries + room->count);
    if (room->phase_count == TTS_RUNS_PHASES_MAX) {
        if (room->unlisted++ == 0 || !entry->run.is_cut)
            tts_runs_note(&entry->run, phase->line,
                          "more than %d phases: later phases are ignored", TTS_RUNS_PHASES_MAX);
        entry->run.is_cut = true;
        return TTS_OK;
    }
    struct tts_runs_phase *phases =
        tts_alloc_grow(room->alloc, room->phases, &room->phase_capacity, room->phase_count + 1,
                       sizeof *phases);
    if (!phases)
        return TTS_E_NOMEM;
    room->phases = phases;
    phases[room->phase_count++] =
        (struct tts_runs_phase){.entry = (size_t)(entry - room->entries), .phase = *phase};
    entry->run.phase_count++;
    return TTS_OK;
}

void tts_runs_note(struct tts_run *run, uint64_t line, const char *format, ...)
{
    va_list args;
    run->notes_in_all++;
    if (run->note_count == TTS_RUN_NOTES_MAX)
        return;
    struct tts_run_note *note = &run->notes[run->note_count++];
    note->line = line;
    va_start(args, format);
    vsnprintf(note->text, sizeof note->text, format, args);
    va_end(args);
}

void tts_runs_note_phase(struct tts_runs_entry *entry, const char *name, bool is_partial)
{
    struct tts_run *run = &entry->run;
    run->is_at_least |= is_partial;
    if (strcmp(name, TTS_FOLLOW_UNFINISHED) == 0) {
        run->is_cut = true;
        tts_runs_note(
            run, 0,
            "the input ends inside the last phase; the figures of this phase are incomplete");
    } else if (is_partial && !entry->is_partial) {
        /* One note is enough, because all later phases are partial too. */
        entry->is_partial = true;
        tts_runs_note(run, 0, "parts of the file are missing, beginning in phase '%.40s'",
                      name);
    }
}

void tts_runs_put_name(char out[TTS_RUN_NAME_MAX], const char *text, size_t len)
{
    len = len < TTS_RUN_NAME_MAX - 1 ? len : TTS_RUN_NAME_MAX - 1;
    if (len > 0)
        memcpy(out, text, len);
    out[len] = '\0';
}

void tts_runs_put_file(struct tts_run *run, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = strcmp(path, "-") == 0 ? 0 : strlen(name);
    if (len > 3 && strcmp(name + len - 3, ".gz") == 0)
        len -= 3;
    else if (len > 4 && strcmp(name + len - 4, ".zst") == 0)
        len -= 4;
    tts_runs_put_name(run->name, name, len);
}

void tts_runs_total(struct tts_runs_room *room)
{
    /* The phases are in the order of the file, so the last phase of a capture determines the
     * values. */
    for (size_t i = 0; i < room->phase_count; i++) {
        const struct tts_amount *figures = room->phases[i].phase.figures;
        struct tts_runs_entry *entry = &room->entries[room->phases[i].entry];
        if (entry->capture == 0)
            continue;
        entry->run.overall_peak = figures[TTS_RUN_CUMULATIVE_PEAK];
        entry->run.final = figures[TTS_RUN_CUMULATIVE_CURRENT];
    }
}

void tts_runs_name_captures(struct tts_runs_room *room)
{
    size_t captures = 0;
    for (size_t i = 0; i < room->count; i++)
        captures += room->entries[i].capture > 0;
    for (size_t i = 0; i < room->count && captures > 1; i++)
        if (room->entries[i].capture > 0)
            snprintf(room->entries[i].run.title, sizeof room->entries[i].run.title,
                     "capture %u", (unsigned)room->entries[i].capture);
}

/* ---- the result ---- */

static bool has_run_figures(const struct tts_run *run)
{
    return run->phase_count > 0 || run->overall_peak.is_known;
}

/* The block of memory of a struct tts_runs: its size, the runs, then their phases. */
struct settled {
    size_t bytes;
    struct tts_run runs[];
};

/* Computes where the phases of each run begin in the result. Returns the number of runs that
 * have figures. */
static size_t lay_out_runs(struct tts_runs_room *room)
{
    size_t stay = 0, next = 0;
    for (size_t i = 0; i < room->count; i++) {
        room->entries[i].first = next;
        next += room->entries[i].run.phase_count;
        stay += has_run_figures(&room->entries[i].run);
    }
    assert(next == room->phase_count);
    return stay;
}

/* Returns the next entry for the result: captures in the order of their numbers, other runs in
 * the order of the file. */
static struct tts_runs_entry *next_settled_entry(struct tts_runs_room *room)
{
    struct tts_runs_entry *next = NULL;
    for (size_t i = 0; i < room->count; i++) {
        struct tts_runs_entry *entry = &room->entries[i];
        if (entry->is_settled || !has_run_figures(&entry->run))
            continue;
        if (!next || entry->capture < next->capture)
            next = entry;
    }
    return next;
}

static void put_settled_runs(struct tts_runs_room *room, struct settled *settled,
                             const struct tts_run_phase *phases)
{
    struct tts_runs_entry *entry;
    for (size_t at = 0; (entry = next_settled_entry(room)); at++) {
        settled->runs[at] = entry->run;
        settled->runs[at].phases = phases + entry->first;
        entry->is_settled = true;
    }
}

enum tts_status tts_runs_settle(struct tts_runs_room *room, enum tts_runs_kind kind,
                                struct tts_runs *out)
{
    size_t stay = lay_out_runs(room);
    size_t runs_bytes = sizeof(struct settled) + stay * sizeof(struct tts_run);
    static_assert(_Alignof(struct tts_run_phase) <= _Alignof(struct tts_run),
                  "phases may stand behind runs");
    size_t bytes = runs_bytes + room->phase_count * sizeof(struct tts_run_phase);
    struct settled *settled = room->alloc->alloc(room->alloc->ctx, bytes);
    if (!settled)
        return TTS_E_NOMEM;
    settled->bytes = bytes;
    struct tts_run_phase *phases = (void *)((char *)settled + runs_bytes);
    put_settled_runs(room, settled, phases);
    for (size_t i = 0; i < room->phase_count; i++) {
        struct tts_runs_entry *entry = &room->entries[room->phases[i].entry];
        phases[entry->first++] = room->phases[i].phase;
    }
    *out = (struct tts_runs){.kind = kind,
                             .runs = settled->runs,
                             .count = stay,
                             .unlisted = room->unlisted,
                             .alloc = room->alloc,
                             .memory = settled};
    return TTS_OK;
}

void tts_runs_room_release(struct tts_runs_room *room)
{
    const struct tts_alloc *alloc = room->alloc;
    if (room->entries)
        alloc->free(alloc->ctx, room->entries, room->capacity * sizeof *room->entries);
    if (room->phases)
        alloc->free(alloc->ctx, room->phases, room->phase_capacity * sizeof *room->phases);
    *room = (struct tts_runs_room){.alloc = alloc};
}

void tts_runs_release(struct tts_runs *runs)
{
    if (runs->memory)
        runs->alloc->free(runs->alloc->ctx, runs->memory,
                          ((const struct settled *)runs->memory)->bytes);
    *runs = (struct tts_runs){0};
}
