/* The reader has three layers: the tokens of the text; the same tokens, but each alias is
 * replaced by the value of its anchor; the map.
 *
 * From the first anchor on, all tokens are kept in a log, whose size is limited by the length
 * of the text. An alias is a range of the log. A few lines with aliases could expand to
 * billions of values, so two limits apply: TTS_YAML_REPLAYED_MAX tokens in all, and
 * TTS_YAML_FRAMES_MAX nested aliases. An anchor that contains its own alias is refused. */
#include "sources/config/yamlmap.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/nearest.h"
#include "ttscope/alloc.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum {
    TTS_YAML_ANCHORS_MAX = 64,
    TTS_YAML_FRAMES_MAX = 16,
    TTS_YAML_REPLAYED_MAX = 1 << 16,
    TTS_YAMLMAP_MERGES_MAX = 32, /* maps that wait to be merged into a section */
};

struct tts_yaml {
    yaml_parser_t parser;
    const char *text; /* borrowed; begins after the byte order mark */
    size_t len;
    uint32_t last_line;
};

/* The range of a complete value in the log. */
struct tts_yaml_range {
    size_t begin, end;
};

struct tts_yaml_entry {
    uint8_t kind; /* enum tts_yaml_kind */
    bool quoted, too_long;
    uint16_t len; /* scalar: number of its bytes, from `at` on */
    uint32_t line;
    size_t at;                    /* scalar: offset in refs->bytes */
    struct tts_yaml_range target; /* alias: range of its value in the log */
};

struct tts_yaml_refs {
    struct tts_yaml *yaml; /* borrowed */
    const struct tts_alloc *alloc;
    struct tts_yaml_entry *log;
    size_t count, capacity;
    char *bytes; /* the bytes of all scalars in the log */
    size_t byte_count, byte_capacity;
    struct tts_yaml_anchor {
        char name[TTS_YAML_ANCHOR_MAX + 1];
        struct tts_yaml_range range;
        unsigned depth; /* depth of the text where the anchor begins */
        bool is_open;   /* the end of the anchor's value has not been read yet */
    } anchors[TTS_YAML_ANCHORS_MAX];
    size_t anchor_count;
    unsigned depth; /* number of open maps and lists in the text */
    bool is_kept;   /* tokens are added to the log from now on */
    struct tts_yaml_range frames[TTS_YAML_FRAMES_MAX];
    size_t frame_count;
    uint64_t replayed;
};

/* An open map of the file. The maps that '<<' merges into this map are read after its own keys,
 * so that its own keys take precedence. The last range in `merges` is read first. */
struct tts_yamlmap_level {
    uint8_t section;
    bool is_merged; /* all keys of the map itself have been read, and now the merged maps are
                       read */
    uint32_t merge_line;
    struct tts_yaml_range merges[TTS_YAMLMAP_MERGES_MAX];
    size_t merge_count;
};

/* ---- the text ---- */

enum tts_status tts_yaml_at_line(struct tts_error *err, uint32_t line, enum tts_status status)
{
    assert(line > 0);
    if (err && status != TTS_OK)
        err->line = line;
    return status;
}

/* Returns the number of the line that contains `offset`. Counts only the line ends that text
 * editors count; libyaml knows more. */
static uint32_t text_line(const char *text, size_t len, size_t offset)
{
    uint32_t line = 1;
    for (size_t i = 0; i < offset && i < len; i++)
        line += text[i] == '\n' || (text[i] == '\r' && (i + 1 == len || text[i + 1] != '\n'));
    return line;
}

/* Returns the line of a mark. libyaml may place the end of the text after its last line, so the
 * result is limited to the last line. */
static uint32_t mark_line(const struct tts_yaml *yaml, const yaml_mark_t *mark)
{
    return mark->line < yaml->last_line ? (uint32_t)mark->line + 1 : yaml->last_line;
}

/* Returns the line of an error of libyaml. libyaml detects a missing colon or quote much later
 * in the text, so these errors get the line where the key or the quoted text begins. */
static uint32_t problem_line(const struct tts_yaml *yaml)
{
    const yaml_parser_t *parser = &yaml->parser;
    if (parser->error == YAML_READER_ERROR)
        return text_line(yaml->text, yaml->len, parser->problem_offset);
    const char *context = parser->context ? parser->context : "";
    bool late = strcmp(context, "while scanning a simple key") == 0 ||
                strcmp(context, "while scanning a quoted scalar") == 0;
    return mark_line(yaml, late ? &parser->context_mark : &parser->problem_mark);
}

static enum tts_status fail_yaml(const struct tts_yaml *yaml, struct tts_error *err)
{
    const yaml_parser_t *parser = &yaml->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for a YAML parser");
    const char *problem = parser->problem ? parser->problem : "the text cannot be read";
    const char *context = parser->context;
    tts_error_set(err, TTS_E_SYNTAX, "not YAML: %s%s%s", problem, context ? " " : "",
                  context ? context : "");
    return tts_yaml_at_line(err, problem_line(yaml), TTS_E_SYNTAX);
}

/* Returns the first line end that libyaml accepts but editors do not show (NEL, LS, PS), or
 * NULL. */
static const char *find_hidden_end(const char *text, size_t len)
{
    static const char *const ends[] = {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const char *at = memmem(text, len, ends[i], strlen(ends[i]));
        if (at && (!first || at < first))
            first = at;
    }
    return first;
}

/* Opens a text in UTF-8, with or without a byte order mark. TTS_E_SYNTAX: the text contains a
 * NUL byte or a hidden line end. TTS_E_NOMEM: memory ran out. */
static enum tts_status open_yaml(struct tts_yaml *yaml, const char *text, size_t len,
                                 struct tts_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    const char *nul = len > 0 ? memchr(text, 0, len) : NULL;
    if (nul) {
        tts_error_set(err, TTS_E_SYNTAX, "not a text file: the file has a NUL byte");
        uint32_t line = text_line(text, len, (size_t)(nul - text));
        return tts_yaml_at_line(err, line, TTS_E_SYNTAX);
    }
    const char *hidden = len > 0 ? find_hidden_end(text, len) : NULL;
    if (hidden) {
        tts_error_set(
            err, TTS_E_SYNTAX,
            "an invisible line break (U+0085, U+2028 or U+2029): delete the line break");
        uint32_t line = text_line(text, len, (size_t)(hidden - text));
        return tts_yaml_at_line(err, line, TTS_E_SYNTAX);
    }
    *yaml = (struct tts_yaml){.text = len > 0 ? text : "", .len = len};
    if (len >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
        yaml->text += sizeof mark - 1;
        yaml->len -= sizeof mark - 1;
    }
    yaml->last_line = text_line(yaml->text, yaml->len, yaml->len);
    if (!yaml_parser_initialize(&yaml->parser))
        return fail_yaml(yaml, err);
    yaml_parser_set_input_string(&yaml->parser, (const unsigned char *)yaml->text, yaml->len);
    /* Without an encoding libyaml might guess UTF-16. */
    yaml_parser_set_encoding(&yaml->parser, YAML_UTF8_ENCODING);
    return TTS_OK;
}

/* Sets text, bytes, len, unprintable and control of a token from the bytes of a scalar. Copies
 * at most TTS_YAML_SCALAR_MAX bytes. */
static void fill_scalar(struct tts_yaml_token *token, const char *bytes, size_t len)
{
    token->len = len < TTS_YAML_SCALAR_MAX ? len : TTS_YAML_SCALAR_MAX;
    for (size_t i = 0; i < token->len; i++) {
        unsigned char c = (unsigned char)bytes[i];
        bool shown = c >= ' ' && c <= '~';
        token->unprintable |= !shown;
        token->control |= c < ' ' || c == 0x7f;
        token->text[i] = shown ? (char)c : '?';
        token->bytes[i] = (char)c;
    }
}

static void copy_scalar(const yaml_event_t *event, struct tts_yaml_token *out)
{
    size_t len = event->data.scalar.length;
    out->too_long = len > TTS_YAML_SCALAR_MAX;
    out->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    fill_scalar(out, (const char *)event->data.scalar.value, len);
}

/* Copies the name of an anchor and notes whether there is a tag. Both arguments may be NULL. */
static void copy_anchor_and_tag(const yaml_char_t *anchor, const yaml_char_t *tag,
                                struct tts_yaml_token *out)
{
    out->tagged = tag != NULL;
    out->dressed = (anchor || tag) && out->kind != TTS_YAML_ALIAS;
    if (anchor)
        snprintf(out->anchor, sizeof out->anchor, "%s", (const char *)anchor);
}

static enum tts_yaml_kind event_kind(yaml_event_type_t type)
{
    static const enum tts_yaml_kind kinds[] = {
        [YAML_STREAM_END_EVENT] = TTS_YAML_END,
        [YAML_DOCUMENT_START_EVENT] = TTS_YAML_DOCUMENT,
        [YAML_DOCUMENT_END_EVENT] = TTS_YAML_DOCUMENT_END,
        [YAML_ALIAS_EVENT] = TTS_YAML_ALIAS,
        [YAML_SCALAR_EVENT] = TTS_YAML_SCALAR,
        [YAML_SEQUENCE_START_EVENT] = TTS_YAML_LIST,
        [YAML_SEQUENCE_END_EVENT] = TTS_YAML_LIST_END,
        [YAML_MAPPING_START_EVENT] = TTS_YAML_MAP,
        [YAML_MAPPING_END_EVENT] = TTS_YAML_MAP_END,
    };
    assert(type >= YAML_STREAM_END_EVENT && type <= YAML_MAPPING_END_EVENT);
    return kinds[type];
}

/* Reads the next event of libyaml, copies it to *out and frees it. */
static enum tts_status read_yaml_event(struct tts_yaml *yaml, struct tts_yaml_token *out,
                                       struct tts_error *err)
{
    yaml_event_t event;
    do {
        if (!yaml_parser_parse(&yaml->parser, &event))
            return fail_yaml(yaml, err);
    } while (event.type == YAML_STREAM_START_EVENT); /* this event has no content */
    *out = (struct tts_yaml_token){.kind = event_kind(event.type),
                                   .line = mark_line(yaml, &event.start_mark)};
    if (event.type == YAML_SCALAR_EVENT) {
        copy_scalar(&event, out);
        copy_anchor_and_tag(event.data.scalar.anchor, event.data.scalar.tag, out);
    } else if (event.type == YAML_MAPPING_START_EVENT) {
        copy_anchor_and_tag(event.data.mapping_start.anchor, event.data.mapping_start.tag, out);
    } else if (event.type == YAML_SEQUENCE_START_EVENT) {
        copy_anchor_and_tag(event.data.sequence_start.anchor, event.data.sequence_start.tag,
                            out);
    } else if (event.type == YAML_ALIAS_EVENT) {
        copy_anchor_and_tag(event.data.alias.anchor, NULL, out);
    }
    yaml_event_delete(&event);
    return TTS_OK;
}

static void release_refs(struct tts_yaml_refs *refs)
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

/* Returns the last anchor with this name, or NULL. YAML allows a name to be used again. */
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

/* Closes the open anchors whose value ends with the last entry of the log. */
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

static enum tts_status find_alias_target(const struct tts_yaml_refs *refs,
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
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the values of aliases");
    refs->log = log;
    char *bytes = tts_alloc_grow(refs->alloc, refs->bytes, &refs->byte_capacity,
                                 refs->byte_count + len + 1, 1);
    if (!bytes)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the values of aliases");
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

static void fill_logged_token(const struct tts_yaml_refs *refs,
                              const struct tts_yaml_entry *entry, struct tts_yaml_token *out)
{
    *out = (struct tts_yaml_token){.kind = (enum tts_yaml_kind)entry->kind,
                                   .line = entry->line,
                                   .quoted = entry->quoted,
                                   .too_long = entry->too_long};
    if (out->kind == TTS_YAML_SCALAR)
        fill_scalar(out, refs->bytes + entry->at, entry->len);
}

/* Returns the index in the log after the value that begins at `begin`. */
static size_t logged_value_end(const struct tts_yaml_refs *refs, size_t begin)
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

/* Reads the next token of the text and adds it to the log if needed. For an alias, sets *target
 * to the range of its value. */
static enum tts_status read_text_token(struct tts_yaml_refs *refs, struct tts_yaml_token *out,
                                       struct tts_yaml_range *target, struct tts_error *err)
{
    enum tts_status status = read_yaml_event(refs->yaml, out, err);
    if (status != TTS_OK)
        return status;
    if (out->tagged)
        return fail_refs(err, TTS_E_SYNTAX, out->line,
                         "tags (!) are not supported: write the value without a tag");
    if (out->kind == TTS_YAML_ALIAS)
        status = find_alias_target(refs, out, target, err);
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

static enum tts_status push_alias_frame(struct tts_yaml_refs *refs, struct tts_yaml_range range,
                                        uint32_t line, struct tts_error *err)
{
    pop_ended_frames(refs);
    if (refs->frame_count == TTS_YAML_FRAMES_MAX)
        return fail_refs(err, TTS_E_RANGE, line, "aliases (*) are nested more than 16 deep");
    refs->frames[refs->frame_count++] = range;
    return TTS_OK;
}

static enum tts_status read_any_token(struct tts_yaml_refs *refs, struct tts_yaml_token *out,
                                      struct tts_yaml_range *target, struct tts_error *err)
{
    pop_ended_frames(refs);
    if (refs->frame_count == 0)
        return read_text_token(refs, out, target, err);
    struct tts_yaml_range *top = &refs->frames[refs->frame_count - 1];
    const struct tts_yaml_entry *entry = &refs->log[top->begin++];
    fill_logged_token(refs, entry, out);
    *target = entry->target;
    if (++refs->replayed > TTS_YAML_REPLAYED_MAX)
        return fail_refs(err, TTS_E_RANGE, entry->line,
                         "aliases (*) expand to more than 65536 values");
    return TTS_OK;
}

static enum tts_status read_raw_token(struct tts_yaml_refs *refs, struct tts_yaml_token *out,
                                      struct tts_error *err)
{
    struct tts_yaml_range target = {0};
    return read_any_token(refs, out, &target, err);
}

/* Reads the next token. If the token is an alias, reads the tokens of its value instead.
 * TTS_E_SYNTAX: not YAML, a tag, or an alias without an anchor. TTS_E_RANGE: a limit is
 * exceeded. TTS_E_NOMEM: memory ran out. */
static enum tts_status read_resolved_token(struct tts_yaml_refs *refs,
                                           struct tts_yaml_token *out, struct tts_error *err)
{
    for (;;) {
        struct tts_yaml_range target = {0};
        enum tts_status status = read_any_token(refs, out, &target, err);
        if (status != TTS_OK || out->kind != TTS_YAML_ALIAS)
            return status;
        status = push_alias_frame(refs, target, out->line, err);
        if (status != TTS_OK)
            return status;
    }
}

/* ---- merge keys ---- */

/* Reads one complete value. Sets *out to its range in the log (for an alias, the range of the
 * target) and *line to its line. */
static enum tts_status read_whole_value(struct tts_yaml_refs *refs, struct tts_yaml_range *out,
                                        uint32_t *line, struct tts_error *err)
{
    struct tts_yaml_token token;
    unsigned depth = 0;
    refs->is_kept = true;
    enum tts_status status = read_any_token(refs, &token, out, err);
    if (status != TTS_OK)
        return status;
    *line = token.line;
    if (token.kind == TTS_YAML_ALIAS)
        return TTS_OK;
    bool is_replayed = refs->frame_count > 0;
    out->begin = (is_replayed ? refs->frames[refs->frame_count - 1].begin : refs->count) - 1;
    for (depth = opens_value(token.kind); depth > 0;) {
        status = read_raw_token(refs, &token, err);
        if (status != TTS_OK)
            return status;
        depth += opens_value(token.kind);
        depth -= closes_value(token.kind);
    }
    out->end = logged_value_end(refs, out->begin);
    return TTS_OK;
}

/* Returns the range in the log of the value that begins at `begin`; for an alias, the range of
 * its target. */
static struct tts_yaml_range logged_value(const struct tts_yaml_refs *refs, size_t begin)
{
    const struct tts_yaml_entry *entry = &refs->log[begin];
    if (entry->kind == TTS_YAML_ALIAS)
        return entry->target;
    return (struct tts_yaml_range){begin, logged_value_end(refs, begin)};
}

/* Reads the value of a merge key, which must be a map or a list of maps. Fills `out` with the
 * ranges of the maps, in their order. TTS_E_SYNTAX: another value. TTS_E_RANGE: more than `max`
 * maps. Otherwise returns the errors of read_resolved_token(). */
static enum tts_status read_merge_maps(struct tts_yaml_refs *refs, struct tts_yaml_range *out,
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
        at = logged_value_end(refs, at);
    }
    return TTS_OK;
}

/* Makes the keys and values of a logged map, and its end, the next tokens. TTS_E_RANGE: aliases
 * are nested too deeply; the error names `line`. */
static enum tts_status replay_map(struct tts_yaml_refs *refs, struct tts_yaml_range range,
                                  uint32_t line, struct tts_error *err)
{
    assert(refs->log[range.begin].kind == TTS_YAML_MAP && range.end - range.begin >= 2);
    range.begin++;
    return push_alias_frame(refs, range, line, err);
}

/* ---- tokens ---- */

enum tts_status tts_yamlmap_next(struct tts_yamlmap *map, struct tts_yaml_token *out)
{
    return map->form->has_refs ? read_resolved_token(map->refs, out, map->err)
                               : read_yaml_event(map->yaml, out, map->err);
}

enum tts_status tts_yamlmap_raw(struct tts_yamlmap *map, struct tts_yaml_token *out)
{
    return read_raw_token(map->refs, out, map->err);
}

enum tts_status tts_yamlmap_fail(struct tts_yamlmap *map, enum tts_status status, uint32_t line,
                                 const char *format, ...)
{
    char text[sizeof map->err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tts_error_set(map->err, status, "%s", text);
    return tts_yaml_at_line(map->err, line, status);
}

bool tts_yamlmap_is_plain(const struct tts_yaml_token *token)
{
    return token->kind == TTS_YAML_SCALAR && !token->dressed;
}

/* ---- sections ---- */

static struct tts_yamlmap_level *current_level(struct tts_yamlmap *map)
{
    assert(map->depth > 0);
    return &map->levels[map->depth - 1];
}

uint8_t tts_yamlmap_section(const struct tts_yamlmap *map)
{
    assert(map->depth > 0);
    return map->levels[map->depth - 1].section;
}

bool tts_yamlmap_is_in(const struct tts_yamlmap *map, uint8_t section)
{
    return map->depth > 1 && map->levels[1].section == section;
}

void tts_yamlmap_enter(struct tts_yamlmap *map, uint8_t section)
{
    assert(map->depth < TTS_YAMLMAP_LEVELS_MAX);
    map->levels[map->depth++] = (struct tts_yamlmap_level){.section = section};
    for (size_t i = 0; i < map->form->row_count; i++)
        if (map->form->rows[i].section == section)
            map->lines[i] = 0;
}

/* Reads the value of '<<' and puts its maps on the stack of merges. The first map goes on top,
 * because it takes precedence. */
static enum tts_status read_yamlmap_merge(struct tts_yamlmap *map, uint32_t line)
{
    struct tts_yamlmap_level *level = current_level(map);
    struct tts_yaml_range maps[TTS_YAMLMAP_MERGES_MAX];
    size_t count;
    enum tts_status status = read_merge_maps(
        map->refs, maps, TTS_YAMLMAP_MERGES_MAX - level->merge_count, &count, map->err);
    if (status != TTS_OK)
        return status;
    for (size_t i = count; i > 0; i--)
        level->merges[level->merge_count++] = maps[i - 1];
    level->merge_line = line;
    return TTS_OK;
}

/* Handles the end of a map. Begins the next map that is merged into it, or closes its
 * section. */
static enum tts_status end_yamlmap_level(struct tts_yamlmap *map,
                                         const struct tts_yaml_token *token)
{
    struct tts_yamlmap_level *level = current_level(map);
    if (level->merge_count > 0) {
        level->is_merged = true;
        struct tts_yaml_range merged = level->merges[--level->merge_count];
        return replay_map(map->refs, merged, level->merge_line, map->err);
    }
    enum tts_status status =
        map->depth > 1 && map->form->end ? map->form->end(map, token) : TTS_OK;
    map->depth--;
    return status;
}

/* ---- keys ---- */

uint32_t tts_yamlmap_line(const struct tts_yamlmap *map, const struct tts_yamlmap_row *row)
{
    return map->lines[row - map->form->rows];
}

enum tts_status tts_yamlmap_check_once(struct tts_yamlmap *map, const char *name, uint32_t seen,
                                       uint32_t line)
{
    if (seen == 0)
        return TTS_OK;
    return tts_yamlmap_fail(map, TTS_E_SYNTAX, line,
                            "'%.*s' appears twice, first in line %" PRIu32,
                            TTS_YAMLMAP_QUOTE_MAX, name, seen);
}

/* Returns the row of a key in the current section. If there is none, returns NULL and sets
 * *best to the nearest key or NULL. */
static const struct tts_yamlmap_row *
find_row(const struct tts_yamlmap *map, const struct tts_yaml_token *token, const char **best)
{
    const struct tts_yamlmap_form *form = map->form;
    char word[TTS_YAML_SCALAR_MAX + 1];
    struct tts_nearest nearest = {.word = word};
    memcpy(word, token->text, sizeof word);
    for (char *c = word; *c && !form->has_refs; c++)
        *c = (char)(*c == '-' ? '_' : *c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    for (size_t i = 0; i < form->row_count; i++) {
        const struct tts_yamlmap_row *row = &form->rows[i];
        if (row->section != tts_yamlmap_section(map))
            continue;
        if (!token->unprintable && !token->too_long && strcmp(word, row->key) == 0)
            return row;
        tts_nearest_offer(&nearest, row->key);
    }
    *best = nearest.best;
    return NULL;
}

/* Skips the value of a key in a merged map. Called if the section already has that key. */
static enum tts_status pass_yamlmap_value(struct tts_yamlmap *map)
{
    unsigned depth = 0;
    do {
        struct tts_yaml_token token;
        enum tts_status status = read_raw_token(map->refs, &token, map->err);
        if (status != TTS_OK)
            return status;
        if (token.kind == TTS_YAML_MAP || token.kind == TTS_YAML_LIST)
            depth++;
        else if (token.kind == TTS_YAML_MAP_END || token.kind == TTS_YAML_LIST_END)
            depth--;
    } while (depth > 0);
    return TTS_OK;
}

static enum tts_status read_yamlmap_pair(struct tts_yamlmap *map,
                                         const struct tts_yaml_token *key)
{
    const struct tts_yamlmap_form *form = map->form;
    const char *best = NULL;
    bool is_key = form->has_refs ? key->kind == TTS_YAML_SCALAR : tts_yamlmap_is_plain(key);
    if (!is_key)
        return form->refuse(map, key, TTS_YAMLMAP_KEY);
    if (form->has_refs && !key->quoted && strcmp(key->text, "<<") == 0)
        return read_yamlmap_merge(map, key->line);
    const struct tts_yamlmap_row *row = find_row(map, key, &best);
    if (!row)
        return form->unknown(map, key, best);
    uint32_t *line = &map->lines[row - form->rows];
    if (current_level(map)->is_merged && *line > 0)
        return pass_yamlmap_value(map);
    enum tts_status status = tts_yamlmap_check_once(map, row->key, *line, key->line);
    if (status != TTS_OK)
        return status;
    *line = key->line;
    struct tts_yaml_token token;
    status = tts_yamlmap_next(map, &token);
    return status == TTS_OK ? form->value(map, row, &token) : status;
}

/* ---- the document ---- */

/* Reads the beginning of the document and of its map, and refuses an empty document. */
static enum tts_status open_yamlmap(struct tts_yamlmap *map)
{
    bool has_refs = map->form->has_refs;
    struct tts_yaml_token token;
    enum tts_status status = tts_yamlmap_next(map, &token);
    if (status == TTS_OK && token.kind == TTS_YAML_DOCUMENT)
        status = tts_yamlmap_next(map, &token);
    if (status != TTS_OK)
        return status;
    bool is_scalar = has_refs ? token.kind == TTS_YAML_SCALAR : tts_yamlmap_is_plain(&token);
    if (token.kind == TTS_YAML_END || (is_scalar && token.text[0] == '\0'))
        return map->form->refuse(map, &token, TTS_YAMLMAP_EMPTY);
    if (token.kind != TTS_YAML_MAP || (!has_refs && token.dressed))
        return map->form->refuse(map, &token, TTS_YAMLMAP_DOCUMENT);
    return TTS_OK;
}

static enum tts_status read_yamlmap_levels(struct tts_yamlmap *map)
{
    tts_yamlmap_enter(map, TTS_YAMLMAP_TOP);
    while (map->depth > 0) {
        struct tts_yaml_token token;
        enum tts_status status = tts_yamlmap_next(map, &token);
        if (status == TTS_OK)
            status = token.kind == TTS_YAML_MAP_END ? end_yamlmap_level(map, &token)
                                                    : read_yamlmap_pair(map, &token);
        if (status != TTS_OK)
            return status;
    }
    return TTS_OK;
}

/* Reads the end of the document. Fails if a second document follows. */
static enum tts_status close_yamlmap(struct tts_yamlmap *map)
{
    struct tts_yaml_token token;
    enum tts_status status = tts_yamlmap_next(map, &token);
    assert(status != TTS_OK || token.kind == TTS_YAML_DOCUMENT_END);
    if (status == TTS_OK)
        status = tts_yamlmap_next(map, &token);
    if (status != TTS_OK || token.kind == TTS_YAML_END)
        return status;
    return tts_yamlmap_fail(map, TTS_E_SYNTAX, token.line,
                            "a second document begins: %s has only one", map->form->what);
}

enum tts_status tts_yamlmap_read(const struct tts_yamlmap_form *form, void *ctx,
                                 const char *text, size_t len, struct tts_error *err)
{
    struct tts_yaml yaml;
    struct tts_yaml_refs refs = {.yaml = &yaml, .alloc = tts_alloc_libc()};
    struct tts_yamlmap_level levels[TTS_YAMLMAP_LEVELS_MAX];
    struct tts_yamlmap map = {
        .form = form, .ctx = ctx, .err = err, .yaml = &yaml, .refs = &refs, .levels = levels};
    assert(form->row_count <= TTS_YAMLMAP_ROWS_MAX);
    if (len > form->max_bytes)
        return tts_yamlmap_fail(&map, TTS_E_SYNTAX, text_line(text, len, form->max_bytes),
                                "the file is larger than the limit for %s (%zu KiB)",
                                form->what, form->max_bytes / 1024);
    enum tts_status status = open_yaml(&yaml, text, len, err);
    if (status != TTS_OK)
        return status;
    status = open_yamlmap(&map);
    if (status == TTS_OK)
        status = read_yamlmap_levels(&map);
    if (status == TTS_OK)
        status = close_yamlmap(&map);
    release_refs(&refs);
    yaml_parser_delete(&yaml.parser);
    return status;
}
