#include "sources/yamlmap.h"

#include "base/error.h"
#include "base/nearest.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- tokens ---- */

enum tts_status tts_yamlmap_next(struct tts_yamlmap *map, struct tts_yaml_token *out)
{
    return map->form->has_refs ? tts_yaml_refs_next(&map->refs, out, map->err)
                               : tts_yaml_next(&map->yaml, out, map->err);
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

static struct tts_yamlmap_level *level_of(struct tts_yamlmap *map)
{
    assert(map->depth > 0);
    return &map->levels[map->depth - 1];
}

uint8_t tts_yamlmap_section(const struct tts_yamlmap *map)
{
    assert(map->depth > 0);
    return map->levels[map->depth - 1].section;
}

void tts_yamlmap_enter(struct tts_yamlmap *map, uint8_t section)
{
    assert(map->depth < TTS_YAMLMAP_LEVELS_MAX);
    map->levels[map->depth++] = (struct tts_yamlmap_level){.section = section};
    for (size_t i = 0; i < map->form->row_count; i++)
        if (map->form->rows[i].section == section)
            map->lines[i] = 0;
}

/* Of several maps the first counts most, so it goes on top. */
static enum tts_status read_yamlmap_merge(struct tts_yamlmap *map, uint32_t line)
{
    struct tts_yamlmap_level *level = level_of(map);
    struct tts_yaml_range maps[TTS_YAMLMAP_MERGES_MAX];
    size_t count;
    enum tts_status status = tts_yaml_refs_merge(
        &map->refs, maps, TTS_YAMLMAP_MERGES_MAX - level->merge_count, &count, map->err);
    if (status != TTS_OK)
        return status;
    for (size_t i = count; i > 0; i--)
        level->merges[level->merge_count++] = maps[i - 1];
    level->merge_line = line;
    return TTS_OK;
}

/* Ends the map of a section, or a map that is merged into it. */
static enum tts_status end_yamlmap_level(struct tts_yamlmap *map,
                                         const struct tts_yaml_token *token)
{
    struct tts_yamlmap_level *level = level_of(map);
    if (level->merge_count > 0) {
        level->is_merged = true;
        struct tts_yaml_range merged = level->merges[--level->merge_count];
        return tts_yaml_refs_replay(&map->refs, merged, level->merge_line, map->err);
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
                            "'%.*s' stands twice, first in line %" PRIu32,
                            TTS_YAMLMAP_QUOTE_MAX, name, seen);
}

/* Returns the row of a key in the current section, or NULL and the nearest key, if any. */
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

/* Passes over the value of a merged key that the section has already. */
static enum tts_status pass_yamlmap_value(struct tts_yamlmap *map)
{
    unsigned depth = 0;
    do {
        struct tts_yaml_token token;
        enum tts_status status = tts_yaml_refs_raw(&map->refs, &token, map->err);
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
    if (level_of(map)->is_merged && *line > 0)
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

/* Reads past the beginning of the map. */
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

/* Nothing may follow the map. */
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
                            "a second document begins, %s has one", map->form->what);
}

enum tts_status tts_yamlmap_read(const struct tts_yamlmap_form *form, void *ctx,
                                 const char *text, size_t len, struct tts_error *err)
{
    struct tts_yamlmap map = {.form = form, .ctx = ctx, .err = err};
    assert(form->row_count <= TTS_YAMLMAP_ROWS_MAX);
    if (len > form->max_bytes)
        return tts_yamlmap_fail(
            &map, TTS_E_SYNTAX, tts_yaml_line_of(text, len, form->max_bytes),
            "larger than %s can be (%zu KiB)", form->what, form->max_bytes / 1024);
    enum tts_status status = tts_yaml_open(&map.yaml, text, len, err);
    if (status != TTS_OK)
        return status;
    tts_yaml_refs_init(&map.refs, &map.yaml, NULL);
    status = open_yamlmap(&map);
    if (status == TTS_OK)
        status = read_yamlmap_levels(&map);
    if (status == TTS_OK)
        status = close_yamlmap(&map);
    tts_yaml_refs_release(&map.refs);
    tts_yaml_close(&map.yaml);
    return status;
}
