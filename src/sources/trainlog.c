#include "sources/trainlog.h"

#include "base/alloc.h"
#include "base/error.h"
#include "sources/trainlog_inside.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum tts_status tts_trainlog_open(const char *path, const struct tts_alloc *alloc,
                                  struct tts_trainlog **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_trainlog *log = alloc->alloc(alloc->ctx, sizeof *log);
    if (!log)
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM, "cannot read '%s'", path);
    memset(log, 0, sizeof *log);
    log->alloc = alloc;
    enum tts_status status = tts_logtext_open(&log->text, path, alloc, err);
    if (status != TTS_OK) {
        alloc->free(alloc->ctx, log, sizeof *log);
        return status;
    }
    *out = log;
    return TTS_OK;
}

static void free_phases(struct tts_trainlog *log, struct tts_train_phase *phases,
                        size_t capacity)
{
    if (phases)
        log->alloc->free(log->alloc->ctx, phases, capacity * sizeof *phases);
}

void tts_trainlog_close(struct tts_trainlog *log)
{
    if (!log)
        return;
    const struct tts_alloc *alloc = log->alloc;
    for (size_t i = 0; i < log->rank_count; i++) {
        free_phases(log, log->ranks[i]->phases, log->ranks[i]->capacity);
        alloc->free(alloc->ctx, log->ranks[i], sizeof *log->ranks[i]);
    }
    free_phases(log, log->phases, log->capacity);
    tts_logtext_close(&log->text);
    alloc->free(alloc->ctx, log, sizeof *log);
}

/* ---- reading ---- */

/* `is_next`: the line before it was read too. */
static void read_line(struct tts_trainlog *log, struct tts_span raw, bool is_next)
{
    struct tts_logline line;
    struct tts_span text = tts_logline_clean(raw, log->clean);
    uint64_t end = tts_logtext_offset(&log->text, raw.at) + raw.len;
    tts_logline_tell(text, &line);
    if (line.kind == TTS_LOGLINE_OTHER) {
        /* A word alone says nothing; what stands before it was not read. */
        if (!is_next)
            return;
        tts_trainlog_pass(log, text);
    } else {
        uint64_t number = tts_logtext_line(&log->text, raw.at);
        if (line.kind == TTS_LOGLINE_HEADING) {
            tts_logkey_make(&log->key, line.prefix);
            tts_trainlog_heading(log, raw, number);
        } else if (line.kind <= TTS_LOGLINE_OVERALL) {
            tts_trainlog_in_block(log, &line, number);
        } else {
            tts_trainlog_say(log, &line, raw, number);
        }
    }
    log->looked_at = end;
}

static bool read_next(struct tts_trainlog *log)
{
    struct tts_span raw;
    bool is_next = log->lines_more > 0, is_there;
    log->lines_more -= is_next;
    if (!is_next)
        tts_trainlog_end_sections(log);
    is_there = is_next ? tts_logtext_next(&log->text, &raw)
                       : tts_logtext_find(&log->text, log->open_count > 0, &raw);
    if (is_there)
        read_line(log, raw, is_next);
    return is_there;
}

/* At the end of the log: the block that began first. */
static struct tts_trainlog_rank *first_open(const struct tts_trainlog *log)
{
    struct tts_trainlog_rank *first = NULL;
    for (size_t i = 0; i < log->rank_count; i++) {
        struct tts_trainlog_rank *rank = log->ranks[i];
        if (rank->is_open && (!first || rank->run.line < first->run.line))
            first = rank;
    }
    assert((first != NULL) == (log->open_count > 0));
    return first;
}

static enum tts_status finish(struct tts_trainlog *log, struct tts_error *err)
{
    tts_logtext_finish(&log->text);
    enum tts_status status = log->status;
    if (status != TTS_OK)
        tts_error_set_errno(&log->text.err, status, ENOMEM, "cannot read further");
    else if ((status = log->text.status) == TTS_OK)
        return TTS_E_NOT_FOUND;
    if (err) {
        uint64_t line = log->text.count.line_ends + 1;
        *err = log->text.err;
        err->line = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
        err->offset = log->text.gone + log->text.end;
    }
    return status;
}

enum tts_status tts_trainlog_next(struct tts_trainlog *log, const struct tts_trainrun **out,
                                  struct tts_error *err)
{
    log->has_run = false;
    while (!log->has_run && log->status == TTS_OK && read_next(log))
        ;
    if (!log->has_run && log->open_count > 0)
        tts_trainlog_end(log, first_open(log), true);
    if (!log->has_run)
        return finish(log, err);
    *out = &log->run;
    return TTS_OK;
}

/* ---- what was seen ---- */

void tts_trainlog_facts(const struct tts_trainlog *log, struct tts_trainlog_facts *out)
{
    const struct tts_logtext *text = &log->text;
    bool is_open = text->end > 0 && text->bytes[text->end - 1] != '\n';
    *out = (struct tts_trainlog_facts){.lines = text->count.line_ends + is_open,
                                       .bytes = text->gone + text->end,
                                       .has_nul = text->count.has_nul,
                                       .is_utf16 = text->is_utf16,
                                       .stray_lines = log->stray_lines,
                                       .stray_line = log->stray_line};
}

uint64_t tts_trainlog_taken(const struct tts_trainlog *log)
{
    return tts_inflow_taken(log->text.in);
}

uint64_t tts_trainlog_total(const struct tts_trainlog *log)
{
    return tts_inflow_total(log->text.in);
}

void tts_trainlog_on_tick(struct tts_trainlog *log, void (*tick)(void *ctx, uint64_t taken),
                          void *ctx)
{
    log->text.tick = tick;
    log->text.tick_ctx = ctx;
}
