#include "sources/devfile.h"

#include "base/error.h"
#include "base/nearest.h"
#include "sources/textfile.h"
#include "sources/yaml.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Facts are keys by their own number; two keys more are no facts. */
enum { KEY_DEVICE = TTS_FACTS, KEY_PRESET, KEYS };
enum { QUOTE_MAX = 40, VALUE_MAX = 63 };

struct entry {
    int key;
    uint32_t line; /* of the value */
    char value[VALUE_MAX + 1];
};

struct reader {
    struct tts_yaml yaml;
    struct tts_error *err;
    uint32_t key_lines[KEYS]; /* 0: not seen */
    struct entry entries[KEYS];
    size_t count;
};

/* --- tokens ----------------------------------------------------------------------------- */

/* A token that cannot stand where it does; `what` is the place, as a message begins. */
static enum tts_status refuse(const struct reader *r, const struct tts_yaml_token *token,
                              const char *what)
{
    const char *is = "a list";
    if (token->dressed && token->kind != TTS_YAML_LIST)
        is = "marked with '&' or '!'";
    else if (token->kind == TTS_YAML_ALIAS)
        is = "an alias";
    else if (token->kind == TTS_YAML_MAP)
        is = "a map";
    else if (token->kind == TTS_YAML_SCALAR)
        is = "plain text";
    tts_error_set(r->err, TTS_E_SYNTAX, "%s is %s: write 'key: value' lines, values plain",
                  what, is);
    return tts_yaml_at_line(r->err, token->line, TTS_E_SYNTAX);
}

static bool is_plain(const struct tts_yaml_token *token)
{
    return token->kind == TTS_YAML_SCALAR && !token->dressed;
}

/* --- keys ------------------------------------------------------------------------------- */

static const char *key_name(int key)
{
    assert(key >= 0 && key < KEYS);
    if (key == KEY_DEVICE)
        return "device";
    return key == KEY_PRESET ? "preset" : tts_fact_name((enum tts_fact_key)key);
}

/* One way to write a key, that of tts_chip_set(). */
static void make_plain(char *key)
{
    for (; *key; key++) {
        if (*key == '-')
            *key = '_';
        else if (*key >= 'A' && *key <= 'Z')
            *key = (char)(*key - 'A' + 'a');
    }
}

static enum tts_status find_key(const struct reader *r, const struct tts_yaml_token *token,
                                int *out)
{
    char word[TTS_YAML_SCALAR_MAX + 1];
    memcpy(word, token->text, sizeof word);
    make_plain(word);
    struct tts_nearest nearest = {.word = word};
    for (int key = 0; key < KEYS; key++) {
        if (strcmp(word, key_name(key)) == 0) {
            *out = key;
            return TTS_OK;
        }
        tts_nearest_offer(&nearest, key_name(key));
    }
    const char *best = nearest.best;
    tts_error_set(r->err, TTS_E_NOT_FOUND, "a device file has no key '%.*s'%s%s%s", QUOTE_MAX,
                  token->text, best ? ", did you mean '" : "", best ? best : "",
                  best ? "'?" : "");
    return tts_yaml_at_line(r->err, token->line, TTS_E_NOT_FOUND);
}

static enum tts_status take_key(struct reader *r, const struct tts_yaml_token *token, int *out)
{
    if (!is_plain(token))
        return refuse(r, token, "a key");
    enum tts_status status = find_key(r, token, out);
    if (status != TTS_OK)
        return status;
    uint32_t *seen = &r->key_lines[*out];
    if (*seen != 0) {
        tts_error_set(r->err, TTS_E_SYNTAX, "'%s' stands twice, first in line %" PRIu32,
                      key_name(*out), *seen);
        return tts_yaml_at_line(r->err, token->line, TTS_E_SYNTAX);
    }
    *seen = token->line;
    return TTS_OK;
}

static enum tts_status take_value(struct reader *r, int key, const struct tts_yaml_token *token)
{
    char what[QUOTE_MAX + sizeof "the value of ''"];
    snprintf(what, sizeof what, "the value of '%s'", key_name(key));
    if (!is_plain(token))
        return refuse(r, token, what);
    if (strlen(token->text) > VALUE_MAX || token->unprintable) {
        tts_error_set(r->err, TTS_E_SYNTAX, "%s is not a short text of printable ASCII", what);
        return tts_yaml_at_line(r->err, token->line, TTS_E_SYNTAX);
    }
    assert(r->count < KEYS); /* no key comes twice */
    struct entry *entry = &r->entries[r->count++];
    *entry = (struct entry){.key = key, .line = token->line};
    memcpy(entry->value, token->text, sizeof entry->value);
    return TTS_OK;
}

/* --- the document ----------------------------------------------------------------------- */

static enum tts_status read_map(struct reader *r)
{
    for (;;) {
        struct tts_yaml_token token;
        int key = 0;
        enum tts_status status = tts_yaml_next(&r->yaml, &token, r->err);
        if (status != TTS_OK || token.kind == TTS_YAML_MAP_END)
            return status;
        if ((status = take_key(r, &token, &key)) != TTS_OK ||
            (status = tts_yaml_next(&r->yaml, &token, r->err)) != TTS_OK ||
            (status = take_value(r, key, &token)) != TTS_OK)
            return status;
    }
}

/* Reads past the beginning of the map. */
static enum tts_status open_map(struct reader *r)
{
    struct tts_yaml_token token;
    enum tts_status status = tts_yaml_next(&r->yaml, &token, r->err);
    if (status == TTS_OK && token.kind == TTS_YAML_DOCUMENT)
        status = tts_yaml_next(&r->yaml, &token, r->err);
    if (status != TTS_OK)
        return status;
    if (token.kind == TTS_YAML_END || (is_plain(&token) && token.text[0] == '\0')) {
        tts_error_set(r->err, TTS_E_SYNTAX, "it is empty: begin with a line 'preset: NAME'");
        return tts_yaml_at_line(r->err, 1, TTS_E_SYNTAX);
    }
    if (token.kind != TTS_YAML_MAP || token.dressed)
        return refuse(r, &token, "the document");
    return TTS_OK;
}

/* Nothing may follow the map. */
static enum tts_status close_document(struct reader *r)
{
    struct tts_yaml_token token;
    enum tts_status status = tts_yaml_next(&r->yaml, &token, r->err);
    assert(status != TTS_OK || token.kind == TTS_YAML_DOCUMENT_END);
    if (status == TTS_OK)
        status = tts_yaml_next(&r->yaml, &token, r->err);
    if (status != TTS_OK || token.kind == TTS_YAML_END)
        return status;
    tts_error_set(r->err, TTS_E_SYNTAX, "a second document begins, a device file has one");
    return tts_yaml_at_line(r->err, token.line, TTS_E_SYNTAX);
}

static enum tts_status read_entries(struct reader *r, const char *text, size_t len)
{
    enum tts_status status = tts_yaml_open(&r->yaml, text, len, r->err);
    if (status != TTS_OK)
        return status;
    status = open_map(r);
    if (status == TTS_OK)
        status = read_map(r);
    if (status == TTS_OK)
        status = close_document(r);
    tts_yaml_close(&r->yaml);
    return status;
}

/* --- the chip --------------------------------------------------------------------------- */

static enum tts_status apply_preset(const struct reader *r, struct tts_chip *chip)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct entry *entry = &r->entries[i];
        if (entry->key == KEY_PRESET)
            return tts_yaml_at_line(r->err, entry->line,
                                    tts_chip_preset(entry->value, chip, r->err));
    }
    tts_error_set(r->err, TTS_E_SYNTAX,
                  "'preset' is missing: begin with a line 'preset: NAME'");
    return tts_yaml_at_line(r->err, 1, TTS_E_SYNTAX);
}

static enum tts_status apply_name(const struct reader *r, const char *name,
                                  struct tts_chip *chip)
{
    size_t len = strlen(name);
    if (len == 0)
        return tts_error_set(r->err, TTS_E_SYNTAX, "the name of the device is empty");
    if (len > TTS_CHIP_NAME_MAX - 1)
        return tts_error_set(r->err, TTS_E_RANGE,
                             "the name of the device is longer than %d characters",
                             TTS_CHIP_NAME_MAX - 1);
    memset(chip->name, 0, sizeof chip->name);
    memcpy(chip->name, name, len);
    return TTS_OK;
}

static enum tts_status apply(const struct reader *r, const struct entry *entry,
                             struct tts_chip *chip)
{
    enum tts_status status = TTS_OK;
    if (entry->key == KEY_DEVICE)
        status = apply_name(r, entry->value, chip);
    else if (entry->key != KEY_PRESET)
        status = tts_chip_set(chip, key_name(entry->key), entry->value, r->err);
    return tts_yaml_at_line(r->err, entry->line, status);
}

static enum tts_status build_chip(const struct reader *r, struct tts_chip *out)
{
    struct tts_chip chip;
    enum tts_status status = apply_preset(r, &chip);
    for (size_t i = 0; status == TTS_OK && i < r->count; i++)
        status = apply(r, &r->entries[i], &chip);
    if (status != TTS_OK)
        return status;
    /* Not before its last line is a chip wrong for good. */
    status =
        tts_yaml_at_line(r->err, r->entries[r->count - 1].line, tts_chip_check(&chip, r->err));
    if (status == TTS_OK)
        *out = chip;
    return status;
}

enum tts_status tts_devfile_parse(const char *text, size_t len, struct tts_chip *out,
                                  struct tts_error *err)
{
    if (len > TTS_DEVFILE_MAX_BYTES) {
        tts_error_set(err, TTS_E_SYNTAX, "larger than a device file can be (%d KiB)",
                      TTS_DEVFILE_MAX_BYTES / 1024);
        return tts_yaml_at_line(err, tts_yaml_line_of(text, len, TTS_DEVFILE_MAX_BYTES),
                                TTS_E_SYNTAX);
    }
    struct reader reader = {.err = err};
    enum tts_status status = read_entries(&reader, text, len);
    return status == TTS_OK ? build_chip(&reader, out) : status;
}

/* --- the file --------------------------------------------------------------------------- */

enum tts_status tts_devfile_load(const char *path, struct tts_chip *out, struct tts_error *err)
{
    struct tts_textfile file = {0};
    enum tts_status status = tts_textfile_read(path, TTS_DEVFILE_MAX_BYTES, NULL, &file, err);
    if (status == TTS_OK)
        status = tts_devfile_parse(file.text, file.len, out, err);
    tts_textfile_release(&file);
    return status;
}
