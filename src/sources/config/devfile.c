#include "sources/config/devfile.h"

#include "base/error.h"
#include "sources/config/yamlmap.h"
#include "sources/textfile.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* A key that sets a fact has the number of the fact. The two other keys follow. */
enum { KEY_DEVICE = TTS_FACTS, KEY_PRESET, KEYS };
enum { VALUE_MAX = 63 };

/* The values of the file, kept in the order of their lines: a fact may depend on earlier
 * facts. */
struct device_entries {
    struct device_entry {
        const char *key;
        int number;
        uint32_t line; /* line of the value */
        char value[VALUE_MAX + 1];
    } list[KEYS];
    size_t count;
};

/* Fails with "<what> is <kind of the token>: write 'key: value' lines ...". */
static enum tts_status refuse_device_token(struct tts_yamlmap *map,
                                           const struct tts_yaml_token *token, const char *what)
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
    return tts_yamlmap_fail(map, TTS_E_SYNTAX, token->line,
                            "%s is %s: write 'key: value' lines with plain values", what, is);
}

static enum tts_status refuse_device_place(struct tts_yamlmap *map,
                                           const struct tts_yaml_token *token,
                                           enum tts_yamlmap_place place)
{
    if (place == TTS_YAMLMAP_EMPTY)
        return tts_yamlmap_fail(map, TTS_E_SYNTAX, 1,
                                "the file is empty: begin with a line 'preset: NAME'");
    return refuse_device_token(map, token, place == TTS_YAMLMAP_KEY ? "a key" : "the document");
}

static enum tts_status refuse_device_key(struct tts_yamlmap *map,
                                         const struct tts_yaml_token *key, const char *best)
{
    return tts_yamlmap_fail(
        map, TTS_E_NOT_FOUND, key->line, "unknown key '%.*s', %s%s%s", TTS_YAMLMAP_QUOTE_MAX,
        key->text, best ? "did you mean '" : "expected a key that 'ttscope devices NAME' lists",
        best ? best : "", best ? "'?" : "");
}

static enum tts_status keep_device_entry(struct tts_yamlmap *map,
                                         const struct tts_yamlmap_row *row,
                                         const struct tts_yaml_token *token)
{
    struct device_entries *entries = map->ctx;
    char what[TTS_YAMLMAP_QUOTE_MAX + sizeof "the value of ''"];
    snprintf(what, sizeof what, "the value of '%s'", row->key);
    if (!tts_yamlmap_is_plain(token))
        return refuse_device_token(map, token, what);
    if (strlen(token->text) > VALUE_MAX || token->unprintable)
        return tts_yamlmap_fail(map, TTS_E_SYNTAX, token->line,
                                "%s is too long or has characters other than printable ASCII",
                                what);
    assert(entries->count < KEYS); /* no key occurs twice */
    struct device_entry *entry = &entries->list[entries->count++];
    *entry = (struct device_entry){.key = row->key, .number = row->target, .line = token->line};
    memcpy(entry->value, token->text, sizeof entry->value);
    return TTS_OK;
}

/* --- the chip --------------------------------------------------------------------------- */

static enum tts_status apply_device_preset(const struct device_entries *entries,
                                           struct tts_chip *chip, struct tts_error *err)
{
    for (size_t i = 0; i < entries->count; i++) {
        const struct device_entry *entry = &entries->list[i];
        if (entry->number == KEY_PRESET)
            return tts_yaml_at_line(err, entry->line, tts_chip_preset(entry->value, chip, err));
    }
    tts_error_set(err, TTS_E_SYNTAX, "'preset' is missing: begin with a line 'preset: NAME'");
    return tts_yaml_at_line(err, 1, TTS_E_SYNTAX);
}

static enum tts_status apply_device_name(const char *name, struct tts_chip *chip,
                                         struct tts_error *err)
{
    size_t len = strlen(name);
    if (len == 0)
        return tts_error_set(err, TTS_E_SYNTAX, "the name of the device is empty");
    if (len > TTS_CHIP_NAME_MAX - 1)
        return tts_error_set(err, TTS_E_RANGE,
                             "the name of the device is longer than %d characters",
                             TTS_CHIP_NAME_MAX - 1);
    memset(chip->name, 0, sizeof chip->name);
    memcpy(chip->name, name, len);
    return TTS_OK;
}

static enum tts_status build_file_chip(const struct device_entries *entries,
                                       struct tts_chip *out, struct tts_error *err)
{
    struct tts_chip chip;
    uint32_t line = 0;
    enum tts_status status = apply_device_preset(entries, &chip, err);
    for (size_t i = 0; status == TTS_OK && i < entries->count; i++) {
        const struct device_entry *entry = &entries->list[i];
        line = entry->line;
        if (entry->number == KEY_DEVICE)
            status = apply_device_name(entry->value, &chip, err);
        else if (entry->number != KEY_PRESET)
            status = tts_chip_set(&chip, entry->key, entry->value, err);
        status = tts_yaml_at_line(err, line, status);
    }
    if (status != TTS_OK)
        return status;
    /* Check only the complete chip: until the last line is applied, the chip may contradict
     * itself. */
    status = tts_yaml_at_line(err, line, tts_chip_check(&chip, err));
    if (status == TTS_OK)
        *out = chip;
    return status;
}

/* --- the file --------------------------------------------------------------------------- */

enum tts_status tts_devfile_parse(const char *text, size_t len, struct tts_chip *out,
                                  struct tts_error *err)
{
    struct tts_yamlmap_row rows[KEYS] = {
        [KEY_DEVICE] = {.key = "device"}, [KEY_PRESET] = {.key = "preset"}};
    const struct tts_yamlmap_form form = {.what = "a device file",
                                          .max_bytes = TTS_DEVFILE_MAX_BYTES,
                                          .rows = rows,
                                          .row_count = KEYS,
                                          .refuse = refuse_device_place,
                                          .unknown = refuse_device_key,
                                          .value = keep_device_entry};
    struct device_entries entries = {0};
    for (uint16_t i = 0; i < KEYS; i++) {
        rows[i].target = i;
        if (i < TTS_FACTS)
            rows[i].key = tts_fact_name((enum tts_fact_key)i);
    }
    enum tts_status status = tts_yamlmap_read(&form, &entries, text, len, err);
    return status == TTS_OK ? build_file_chip(&entries, out, err) : status;
}

enum tts_status tts_devfile_load(const char *path, struct tts_chip *out, struct tts_error *err)
{
    struct tts_textfile file = {0};
    enum tts_status status = tts_textfile_read(path, TTS_DEVFILE_MAX_BYTES, NULL, &file, err);
    if (status == TTS_OK)
        status = tts_devfile_parse(file.text, file.len, out, err);
    tts_textfile_release(&file);
    return status;
}
