#include "sources/yaml.h"

#include "base/error.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum tts_status tts_yaml_at_line(struct tts_error *err, uint32_t line, enum tts_status status)
{
    assert(line > 0);
    if (err && status != TTS_OK)
        err->line = line;
    return status;
}

/* Line ends are those of libyaml that a text editor knows too. */
uint32_t tts_yaml_line_of(const char *text, size_t len, size_t offset)
{
    uint32_t line = 1;
    for (size_t i = 0; i < offset && i < len; i++)
        line += text[i] == '\n' || (text[i] == '\r' && (i + 1 == len || text[i + 1] != '\n'));
    return line;
}

/* libyaml has the end of the text on a line of its own, even when there is none. */
static uint32_t line_of_mark(const struct tts_yaml *yaml, const yaml_mark_t *mark)
{
    return mark->line < yaml->last_line ? (uint32_t)mark->line + 1 : yaml->last_line;
}

/* Where an error of libyaml is best looked for: a key without its colon and a quote without its
 * end are noticed far behind. */
static uint32_t line_of_problem(const struct tts_yaml *yaml)
{
    const yaml_parser_t *parser = &yaml->parser;
    if (parser->error == YAML_READER_ERROR)
        return tts_yaml_line_of(yaml->text, yaml->len, parser->problem_offset);
    const char *context = parser->context ? parser->context : "";
    bool late = strcmp(context, "while scanning a simple key") == 0 ||
                strcmp(context, "while scanning a quoted scalar") == 0;
    return line_of_mark(yaml, late ? &parser->context_mark : &parser->problem_mark);
}

static enum tts_status fail(const struct tts_yaml *yaml, struct tts_error *err)
{
    const yaml_parser_t *parser = &yaml->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory for a YAML parser");
    const char *problem = parser->problem ? parser->problem : "it cannot be read";
    const char *context = parser->context;
    tts_error_set(err, TTS_E_SYNTAX, "not YAML: %s%s%s", problem, context ? " " : "",
                  context ? context : "");
    return tts_yaml_at_line(err, line_of_problem(yaml), TTS_E_SYNTAX);
}

/* Where libyaml ends a line and no editor shows it: NEL, LS, PS. NULL: nowhere. */
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

enum tts_status tts_yaml_open(struct tts_yaml *yaml, const char *text, size_t len,
                              struct tts_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    const char *nul = len > 0 ? memchr(text, 0, len) : NULL;
    if (nul) {
        tts_error_set(err, TTS_E_SYNTAX, "not a text file: it holds a NUL byte");
        uint32_t line = tts_yaml_line_of(text, len, (size_t)(nul - text));
        return tts_yaml_at_line(err, line, TTS_E_SYNTAX);
    }
    const char *hidden = len > 0 ? find_hidden_end(text, len) : NULL;
    if (hidden) {
        tts_error_set(err, TTS_E_SYNTAX,
                      "a line end that no editor shows (U+0085, U+2028 or U+2029), delete it");
        uint32_t line = tts_yaml_line_of(text, len, (size_t)(hidden - text));
        return tts_yaml_at_line(err, line, TTS_E_SYNTAX);
    }
    *yaml = (struct tts_yaml){.text = len > 0 ? text : "", .len = len};
    if (len >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
        yaml->text += sizeof mark - 1;
        yaml->len -= sizeof mark - 1;
    }
    yaml->last_line = tts_yaml_line_of(yaml->text, yaml->len, yaml->len);
    if (!yaml_parser_initialize(&yaml->parser))
        return fail(yaml, err);
    yaml_parser_set_input_string(&yaml->parser, (const unsigned char *)yaml->text, yaml->len);
    yaml_parser_set_encoding(&yaml->parser, YAML_UTF8_ENCODING); /* it would guess UTF-16 */
    return TTS_OK;
}

void tts_yaml_close(struct tts_yaml *yaml)
{
    yaml_parser_delete(&yaml->parser);
}

void tts_yaml_token_fill(struct tts_yaml_token *token, const char *bytes, size_t len)
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
    tts_yaml_token_fill(out, (const char *)event->data.scalar.value, len);
}

/* Anchor and tag are NULL where there is none. */
static void copy_dress(const yaml_char_t *anchor, const yaml_char_t *tag,
                       struct tts_yaml_token *out)
{
    out->tagged = tag != NULL;
    out->dressed = (anchor || tag) && out->kind != TTS_YAML_ALIAS;
    if (anchor)
        snprintf(out->anchor, sizeof out->anchor, "%s", (const char *)anchor);
}

static enum tts_yaml_kind kind_of(yaml_event_type_t type)
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

/* The event is copied, so that it can go at once. */
enum tts_status tts_yaml_next(struct tts_yaml *yaml, struct tts_yaml_token *out,
                              struct tts_error *err)
{
    yaml_event_t event;
    do {
        if (!yaml_parser_parse(&yaml->parser, &event))
            return fail(yaml, err);
    } while (event.type == YAML_STREAM_START_EVENT); /* holds nothing */
    *out = (struct tts_yaml_token){.kind = kind_of(event.type),
                                   .line = line_of_mark(yaml, &event.start_mark)};
    if (event.type == YAML_SCALAR_EVENT) {
        copy_scalar(&event, out);
        copy_dress(event.data.scalar.anchor, event.data.scalar.tag, out);
    } else if (event.type == YAML_MAPPING_START_EVENT) {
        copy_dress(event.data.mapping_start.anchor, event.data.mapping_start.tag, out);
    } else if (event.type == YAML_SEQUENCE_START_EVENT) {
        copy_dress(event.data.sequence_start.anchor, event.data.sequence_start.tag, out);
    } else if (event.type == YAML_ALIAS_EVENT) {
        copy_dress(event.data.alias.anchor, NULL, out);
    }
    yaml_event_delete(&event);
    return TTS_OK;
}
