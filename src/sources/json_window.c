#include "sources/json_inside.h"

#include "base/error.h"
#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

uint64_t tts_jsonpull_count_lines(const unsigned char *at, const unsigned char *end)
{
    uint64_t lines = 0;
    while (end - at >= 16) {
        /* Each byte counts for itself, up to 255. */
        tts_bytes16 sums = {0};
        for (int i = 0; i < 255 && end - at >= 16; i++, at += 16)
            sums -= (tts_bytes16)(tts_bytes16_load(at) == '\n');
        for (int i = 0; i < 16; i++)
            lines += sums[i];
    }
    for (; at < end; at++)
        lines += *at == '\n';
    return lines;
}

enum tts_status tts_jsonpull_new(const struct tts_jsonpull_source *source,
                                 const struct tts_alloc *alloc, struct tts_jsonpull **out,
                                 struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    size_t bytes = source->window_bytes ? source->window_bytes : TTS_JSONPULL_WINDOW;
    assert(bytes >= TTS_JSONPULL_WINDOW_MIN);
    struct tts_jsonpull *json = alloc->alloc(alloc->ctx, sizeof *json);
    unsigned char *window = json ? alloc->alloc(alloc->ctx, bytes + TTS_JSONPULL_PAD) : NULL;
    if (!window) {
        if (json)
            alloc->free(alloc->ctx, json, sizeof *json);
        return tts_error_set(err, TTS_E_NOMEM, "no memory for a window of %zu bytes", bytes);
    }
    memset(window, 0, TTS_JSONPULL_PAD);
    window[0] = '"';
    *json = (struct tts_jsonpull){.token = window,
                                  .at = window,
                                  .end = window,
                                  .expect = TTS_JSONPULL_VALUE,
                                  .window = window,
                                  .window_bytes = bytes,
                                  .source = *source,
                                  .end_off = source->before_off,
                                  .counted = window,
                                  .line = 1,
                                  .marked_line = 1,
                                  .alloc = alloc};
    const unsigned char *p = window;
    enum tts_status status = source->before_len > 0 ? tts_jsonpull_fill(json, &p, err) : TTS_OK;
    assert(status == TTS_OK); /* memory can be read */
    *out = json;
    return status;
}

void tts_jsonpull_free(struct tts_jsonpull *json)
{
    if (!json)
        return;
    const struct tts_alloc *alloc = json->alloc;
    alloc->free(alloc->ctx, json->window, json->window_bytes + TTS_JSONPULL_PAD);
    alloc->free(alloc->ctx, json, sizeof *json);
}

void tts_jsonpull_watch(struct tts_jsonpull *json, tts_jsonpull_fn fn, void *ctx)
{
    json->on_read = fn;
    json->on_read_ctx = ctx;
}

/* ---- lines ---- */

static void count_to(struct tts_jsonpull *json, const unsigned char *p)
{
    if (p <= json->counted)
        return;
    json->line += tts_jsonpull_count_lines(json->counted, p);
    json->counted = p;
}

/* Before what is before `p` goes. */
static void settle(struct tts_jsonpull *json, const unsigned char *p)
{
    if (json->mark && json->mark < p) {
        count_to(json, json->mark);
        json->marked_line = json->line;
        json->mark = NULL;
    }
    count_to(json, p);
}

static uint64_t offset_of(const struct tts_jsonpull *json, const unsigned char *p)
{
    return json->end_off - (uint64_t)(json->end - p);
}

uint64_t tts_jsonpull_offset(const struct tts_jsonpull *json)
{
    return offset_of(json, json->at);
}

void tts_jsonpull_mark(struct tts_jsonpull *json)
{
    assert(json->counted <= json->token);
    json->mark = json->token;
    json->marked_off = offset_of(json, json->token);
}

uint64_t tts_jsonpull_marked_line(struct tts_jsonpull *json)
{
    if (json->mark)
        settle(json, json->mark + 1);
    return json->marked_line;
}

uint64_t tts_jsonpull_marked_offset(const struct tts_jsonpull *json)
{
    return json->marked_off;
}

enum tts_status tts_jsonpull_fail(struct tts_jsonpull *json, const unsigned char *p,
                                  struct tts_error *err, enum tts_status status)
{
    if (!err)
        return status;
    settle(json, p);
    err->offset = offset_of(json, p);
    err->line = json->line < UINT32_MAX ? (uint32_t)json->line : UINT32_MAX;
    return status;
}

enum tts_status tts_jsonpull_at(struct tts_jsonpull *json, struct tts_error *err,
                                enum tts_status status)
{
    tts_jsonpull_fail(json, json->token, err, status);
    if (err)
        err->offset -= json->gap;
    return status;
}

/* ---- the window ---- */

bool tts_jsonpull_is_full(const struct tts_jsonpull *json)
{
    return json->token == json->window && json->end == json->window + json->window_bytes;
}

static void set_end(struct tts_jsonpull *json, unsigned char *end)
{
    assert(end >= json->at && end <= json->window + json->window_bytes);
    json->end = end;
    memset(end, 0, TTS_JSONPULL_PAD);
    *end = '"';
}

enum tts_status tts_jsonpull_read(const struct tts_jsonpull_source *source, void *out,
                                  size_t room, size_t *got, struct tts_error *err)
{
    ssize_t count = 0;
    if (source->read)
        return source->read(source->ctx, out, room, got, err);
    do
        count = source->fd < 0 ? 0 : read(source->fd, out, room);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot read on");
    *got = (size_t)count;
    return TTS_OK;
}

/* Bytes from memory, then from the file; 0 behind the last. */
static enum tts_status take_bytes(struct tts_jsonpull_source *source, unsigned char *out,
                                  size_t room, size_t *got, struct tts_error *err)
{
    if (source->piece_bytes > 0 && room > source->piece_bytes)
        room = source->piece_bytes;
    if (source->before_len == 0)
        return tts_jsonpull_read(source, out, room, got, err);
    *got = source->before_len < room ? source->before_len : room;
    memcpy(out, source->before, *got);
    source->before += *got;
    source->before_len -= *got;
    return TTS_OK;
}

/* The token under way comes to the front. */
static void slide(struct tts_jsonpull *json, const unsigned char **p)
{
    settle(json, json->token);
    size_t kept = (size_t)(json->end - json->token);
    size_t gone = (size_t)(json->token - json->window);
    if (gone == 0)
        return;
    memmove(json->window, json->token, kept);
    json->token -= gone;
    json->at -= gone;
    json->counted -= gone;
    json->mark = json->mark ? json->mark - gone : NULL;
    *p -= gone;
    set_end(json, json->end - gone);
}

enum tts_status tts_jsonpull_fill(struct tts_jsonpull *json, const unsigned char **p,
                                  struct tts_error *err)
{
    assert(!json->at_eof && !tts_jsonpull_is_full(json));
    assert(*p >= json->token && *p <= json->end);
    slide(json, p);
    size_t got = 0, room = json->window_bytes - (size_t)(json->end - json->window);
    enum tts_status status = take_bytes(&json->source, json->end, room, &got, err);
    if (status != TTS_OK)
        return tts_jsonpull_fail(json, json->end, err, status);
    json->at_eof = got == 0;
    json->end_off += (uint64_t)got;
    set_end(json, json->end + got);
    if (json->on_read)
        json->on_read(json->on_read_ctx, json->end_off);
    return TTS_OK;
}

void tts_jsonpull_drop(struct tts_jsonpull *json, const unsigned char *from,
                       const unsigned char *to)
{
    assert(json->token < from && from <= to && to <= json->end);
    settle(json, to);
    size_t from_idx = (size_t)(from - json->window), rest = (size_t)(json->end - to);
    if (json->at > from)
        json->at = from;
    memmove(json->window + from_idx, to, rest);
    json->counted = from;
    json->gap += (uint64_t)(to - from);
    set_end(json, json->window + from_idx + rest);
}
