#include "base/error.h"
#include "sources/runs_inside.h"
#include "sources/trainlog.h"

#include <inttypes.h>

static enum tts_status keep(struct tts_runs_room *room, const struct tts_run *run)
{
    struct tts_runs_entry *entry;
    enum tts_status status = tts_runs_add(room, &entry);
    if (status != TTS_OK || !entry)
        return status;
    entry->run = *run;
    entry->run.phases = NULL;
    entry->run.phase_count = 0;
    for (size_t i = 0; i < run->phase_count && status == TTS_OK; i++)
        status = tts_runs_add_phase(room, entry, &run->phases[i]);
    return status;
}

static enum tts_status none(const struct tts_trainlog *log, struct tts_error *err)
{
    struct tts_trainlog_facts facts;
    tts_trainlog_facts(log, &facts);
    if (facts.bytes == 0)
        return tts_error_set(err, TTS_E_NOT_FOUND, "is empty");
    if (facts.is_utf16)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "is UTF-16, convert it by 'iconv -f UTF-16 -t UTF-8'");
    if (facts.has_nul)
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "is neither a recording, nor a graph trace, nor text");
    return tts_error_set(err, TTS_E_NOT_FOUND,
                         "no memory summary in it, and it is no recording, graph trace or "
                         "saved result (--json)");
}

/* What was read before the damage stays. */
static enum tts_status end(const struct tts_trainlog *log, struct tts_runs_room *room,
                           enum tts_status status, struct tts_error *err)
{
    if (room->count == 0)
        return status == TTS_E_NOT_FOUND ? none(log, err) : status;
    struct tts_trainlog_facts facts;
    struct tts_run *last = &room->entries[room->count - 1].run;
    tts_trainlog_facts(log, &facts);
    if (status != TTS_E_NOT_FOUND)
        tts_runs_note(last, err->line, "%.100s", err->text);
    else if (facts.stray_lines > 0)
        tts_runs_note(last, facts.stray_line,
                      "memory figures outside any summary, %" PRIu64 " line%s passed over",
                      facts.stray_lines, facts.stray_lines == 1 ? "" : "s");
    return TTS_OK;
}

enum tts_status tts_runs_of_log(const char *path, struct tts_runs_room *room,
                                struct tts_error *err)
{
    struct tts_trainlog *log;
    const struct tts_run *run;
    struct tts_error why = {0};
    enum tts_status kept = TTS_OK, status = tts_trainlog_open(path, room->alloc, &log, err);
    if (status != TTS_OK)
        return status;
    while (kept == TTS_OK && (status = tts_trainlog_next(log, &run, &why)) == TTS_OK)
        kept = keep(room, run);
    if (kept != TTS_OK || status == TTS_E_NOMEM)
        status = tts_error_set(&why, TTS_E_NOMEM, "out of memory");
    else
        status = end(log, room, status, &why);
    tts_trainlog_close(log);
    if (status != TTS_OK && err)
        *err = why;
    return status;
}
