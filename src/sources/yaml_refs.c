#include "sources/yaml_refs.h"

#include "base/error.h"
#include "base/heap.h"

#include <assert.h>
#include <string.h>

struct tts_yaml_entry {
    uint8_t kind; /* enum tts_yaml_kind */
    bool quoted, too_long;
    uint16_t len; /* of a scalar: bytes from `at` */
    uint32_t line;
    size_t at;                    /* of a scalar: in refs->bytes */
    struct tts_yaml_range target; /* of an alias */
};

void tts_yaml_refs_init(struct tts_yaml_refs *refs, struct tts_yaml *yaml,
                        const struct tts_alloc *alloc)
{
    *refs = (struct tts_yaml_refs){.yaml = yaml, .alloc = alloc ? alloc : tts_alloc_libc()};
}

void tts_yaml_refs_release(struct tts_yaml_refs *refs)
{
    if (refs->log)
        refs->alloc->free(refs->alloc->ctx, refs->log, refs->capacity * sizeof *refs->log);
    if (refs->bytes)
        refs->alloc->free(refs->alloc->ctx, refs->bytes, refs->byte_capacity);
    refs->log = NULL;
    refs->bytes = NULL;
}

static enum tts_status fail_refs(struct tts_error *err, enum tts_status status, uint32_t line,
                                 const char *what)
{
    tts_error_set(err, status, "%s", what);
    return tts_yaml_at_line(err, line, status);
}

static bool opens_value(enum tts_yaml_kind kind)
{
    return kind == TTS_YAML_MAP || kind == TTS_YAML_LIST;
}

static bool closes_value(enum tts_yaml_kind kind)
{
    return kind == TTS_YAML_MAP_END || kind == TTS_YAML_LIST_END;
}

/* ---- anchors ---- */

/* The latest of a name counts. */
static const struct tts_yaml_anchor *find_anchor(const struct tts_yaml_refs *refs,
                                                 const char *name)
{
    for (size_t i = refs->anchor_count; i > 0; i--)
        if (strcmp(refs->anchors[i - 1].name, name) == 0)
            return &refs->anchors[i - 1];
    return NULL;
}

static enum tts_status open_anchor(struct tts_yaml_refs *refs,
                                   const struct tts_yaml_token *token, struct tts_error *err)
{
    if (refs->anchor_count == TTS_YAML_ANCHORS_MAX)
        return fail_refs(err, TTS_E_RANGE, token->line, "more than 64 anchors (&)");
    struct tts_yaml_anchor *anchor = &refs->anchors[refs->anchor_count++];
    *anchor = (struct tts_yaml_anchor){.range = {refs->count, refs->count + 1},
                                       .depth = refs->depth,
                                       .is_open = opens_value(token->kind)};
    memcpy(anchor->name, token->anchor, sizeof anchor->name);
    return TTS_OK;
}

/* The value that ends at the last entry of the log. */
static void close_anchors(struct tts_yaml_refs *refs)
{
    for (size_t i = 0; i < refs->anchor_count; i++) {
        struct tts_yaml_anchor *anchor = &refs->anchors[i];
        if (!anchor->is_open || anchor->depth != refs->depth)
            continue;
        anchor->range.end = refs->count;
        anchor->is_open = false;
    }
}

static enum tts_status find_target(const struct tts_yaml_refs *refs,
                                   const struct tts_yaml_token *alias,
                                   struct tts_yaml_range *out, struct tts_error *err)
{
    const struct tts_yaml_anchor *anchor = find_anchor(refs, alias->anchor);
    if (!anchor)
        return fail_refs(err, TTS_E_SYNTAX, alias->line,
                         "an alias (*) without an anchor before it");
    if (anchor->is_open)
        return fail_refs(err, TTS_E_SYNTAX, alias->line,
                         "an alias (*) inside its own anchor (&)");
    *out = anchor->range;
    return TTS_OK;
}

/* ---- the log ---- */

static enum tts_status log_token(struct tts_yaml_refs *refs, const struct tts_yaml_token *token,
                                 struct tts_yaml_range target, struct tts_error *err)
{
    size_t len = token->kind == TTS_YAML_SCALAR ? token->len : 0;
    struct tts_yaml_entry *log =
        tts_alloc_grow(refs->alloc, refs->log, &refs->capacity, refs->count + 1, sizeof *log);
    if (!log)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory for the values of aliases");
    refs->log = log;
    char *bytes = tts_alloc_grow(refs->alloc, refs->bytes, &refs->byte_capacity,
                                 refs->byte_count + len + 1, 1);
    if (!bytes)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory for the values of aliases");
    refs->bytes = bytes;
    memcpy(bytes + refs->byte_count, token->bytes, len);
    log[refs->count++] = (struct tts_yaml_entry){.kind = (uint8_t)token->kind,
                                                 .quoted = token->quoted,
                                                 .too_long = token->too_long,
                                                 .len = (uint16_t)len,
                                                 .line = token->line,
                                                 .at = refs->byte_count,
                                                 .target = target};
    refs->byte_count += len;
    return TTS_OK;
}

static void fill_token(const struct tts_yaml_refs *refs, const struct tts_yaml_entry *entry,
                       struct tts_yaml_token *out)
{
    *out = (struct tts_yaml_token){.kind = (enum tts_yaml_kind)entry->kind,
                                   .line = entry->line,
                                   .quoted = entry->quoted,
                                   .too_long = entry->too_long};
    if (out->kind == TTS_YAML_SCALAR)
        tts_yaml_token_fill(out, refs->bytes + entry->at, entry->len);
}

/* The end of the value that begins at `begin`. */
static size_t value_end(const struct tts_yaml_refs *refs, size_t begin)
{
    size_t at = begin, depth = 0;
    do {
        assert(at < refs->count);
        enum tts_yaml_kind kind = (enum tts_yaml_kind)refs->log[at++].kind;
        depth += opens_value(kind);
        depth -= closes_value(kind);
    } while (depth > 0);
    return at;
}

/* ---- tokens ---- */

/* Of the text; an alias sets *target. */
static enum tts_status read_text_token(struct tts_yaml_refs *refs, struct tts_yaml_token *out,
                                       struct tts_yaml_range *target, struct tts_error *err)
{
    enum tts_status status = tts_yaml_next(refs->yaml, out, err);
    if (status != TTS_OK)
        return status;
    if (out->tagged)
        return fail_refs(err, TTS_E_SYNTAX, out->line,
                         "tags (!) are not read here: write the value without one");
    if (out->kind == TTS_YAML_ALIAS)
        status = find_target(refs, out, target, err);
    bool is_anchor = out->kind != TTS_YAML_ALIAS && out->anchor[0] != '\0';
    refs->is_kept |= is_anchor;
    if (status == TTS_OK && is_anchor)
        status = open_anchor(refs, out, err);
    refs->depth += opens_value(out->kind);
    refs->depth -= closes_value(out->kind);
    if (status == TTS_OK && refs->is_kept)
        status = log_token(refs, out, *target, err);
    if (closes_value(out->kind))
        close_anchors(refs);
    return status;
}

static void pop_ended_frames(struct tts_yaml_refs *refs)
{
    const struct tts_yaml_range *frames = refs->frames;
    while (refs->frame_count > 0 &&
           frames[refs->frame_count - 1].begin == frames[refs->frame_count - 1].end)
        refs->frame_count--;
}

static enum tts_status push_frame(struct tts_yaml_refs *refs, struct tts_yaml_range range,
                                  uint32_t line, struct tts_error *err)
{
    pop_ended_frames(refs);
    if (refs->frame_count == TTS_YAML_FRAMES_MAX)
        return fail_refs(err, TTS_E_RANGE, line,
                         "aliases (*) inside each other, more than 16 deep");
    refs->frames[refs->frame_count++] = range;
    return TTS_OK;
}

static enum tts_status read_token(struct tts_yaml_refs *refs, struct tts_yaml_token *out,
                                  struct tts_yaml_range *target, struct tts_error *err)
{
    pop_ended_frames(refs);
    if (refs->frame_count == 0)
        return read_text_token(refs, out, target, err);
    struct tts_yaml_range *top = &refs->frames[refs->frame_count - 1];
    const struct tts_yaml_entry *entry = &refs->log[top->begin++];
    fill_token(refs, entry, out);
    *target = entry->target;
    if (++refs->replayed > TTS_YAML_REPLAYED_MAX)
        return fail_refs(err, TTS_E_RANGE, entry->line,
                         "aliases (*) stand for more than 65536 values");
    return TTS_OK;
}

enum tts_status tts_yaml_refs_raw(struct tts_yaml_refs *refs, struct tts_yaml_token *out,
                                  struct tts_error *err)
{
    struct tts_yaml_range target = {0};
    return read_token(refs, out, &target, err);
}

enum tts_status tts_yaml_refs_next(struct tts_yaml_refs *refs, struct tts_yaml_token *out,
                                   struct tts_error *err)
{
    for (;;) {
        struct tts_yaml_range target = {0};
        enum tts_status status = read_token(refs, out, &target, err);
        if (status != TTS_OK || out->kind != TTS_YAML_ALIAS)
            return status;
        status = push_frame(refs, target, out->line, err);
        if (status != TTS_OK)
            return status;
    }
}

/* ---- merge keys ---- */

/* Reads one value, whole, and says where it is in the log. */
static enum tts_status read_whole_value(struct tts_yaml_refs *refs, struct tts_yaml_range *out,
                                        uint32_t *line, struct tts_error *err)
{
    struct tts_yaml_token token;
    unsigned depth = 0;
    refs->is_kept = true;
    enum tts_status status = read_token(refs, &token, out, err);
    if (status != TTS_OK)
        return status;
    *line = token.line;
    if (token.kind == TTS_YAML_ALIAS)
        return TTS_OK;
    bool is_replayed = refs->frame_count > 0;
    out->begin = (is_replayed ? refs->frames[refs->frame_count - 1].begin : refs->count) - 1;
    for (depth = opens_value(token.kind); depth > 0;) {
        status = tts_yaml_refs_raw(refs, &token, err);
        if (status != TTS_OK)
            return status;
        depth += opens_value(token.kind);
        depth -= closes_value(token.kind);
    }
    out->end = value_end(refs, out->begin);
    return TTS_OK;
}

/* An alias of the log stands for its target. */
static struct tts_yaml_range logged_value(const struct tts_yaml_refs *refs, size_t begin)
{
    const struct tts_yaml_entry *entry = &refs->log[begin];
    if (entry->kind == TTS_YAML_ALIAS)
        return entry->target;
    return (struct tts_yaml_range){begin, value_end(refs, begin)};
}

enum tts_status tts_yaml_refs_merge(struct tts_yaml_refs *refs, struct tts_yaml_range *out,
                                    size_t max, size_t *count, struct tts_error *err)
{
    static const char what[] = "'<<' merges a map or a list of maps, such as '*name'";
    struct tts_yaml_range held = {0};
    uint32_t line = 0;
    enum tts_status status = read_whole_value(refs, &held, &line, err);
    if (status != TTS_OK)
        return status;
    bool is_list = refs->log[held.begin].kind == TTS_YAML_LIST;
    size_t at = held.begin + is_list, end = is_list ? held.end - 1 : held.end;
    *count = 0;
    while (at < end) {
        struct tts_yaml_range value = logged_value(refs, at);
        if (refs->log[value.begin].kind != TTS_YAML_MAP)
            return fail_refs(err, TTS_E_SYNTAX, line, what);
        if (*count == max)
            return fail_refs(err, TTS_E_RANGE, line, "too many maps are merged by '<<'");
        out[(*count)++] = value;
        at = value_end(refs, at);
    }
    return TTS_OK;
}

enum tts_status tts_yaml_refs_replay(struct tts_yaml_refs *refs, struct tts_yaml_range range,
                                     uint32_t line, struct tts_error *err)
{
    assert(refs->log[range.begin].kind == TTS_YAML_MAP && range.end - range.begin >= 2);
    range.begin++;
    return push_frame(refs, range, line, err);
}
