/* Reads bytes as a config.json. A refused file has a printable message and changes nothing. An
 * accepted file has lines of the text and terminated texts, and gives the same result with
 * blanks around it. */
#include "sources/config/hfconfig.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { BLANKS = 3 };

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static uint32_t count_lines(const uint8_t *bytes, size_t len)
{
    uint32_t lines = 1;
    for (size_t i = 0; i < len; i++)
        lines += bytes[i] == '\n' || bytes[i] == '\r';
    return lines;
}

static void check(const struct tts_hfconfig *config, uint32_t lines)
{
    for (int key = 0; key < TTS_HF_KEYS; key++) {
        const struct tts_hf_value *value = &config->values[key];
        const char *name = tts_hf_key_name((enum tts_hf_key)key);
        if (value->is_set != (value->line != 0) || value->line > lines)
            stop("a value from nowhere", name);
        if (!value->is_set && value->number != 0)
            stop("a value that is not set has something", name);
        bool is_flag = key == TTS_HF_TIED || key == TTS_HF_BIASES || key == TTS_HF_USE_WINDOW;
        if (is_flag && value->number > 1)
            stop("a flag that is a number", name);
    }
    bool has_all = config->values[TTS_HF_HIDDEN_SIZE].is_set &&
                   config->values[TTS_HF_LAYERS].is_set &&
                   config->values[TTS_HF_HEADS].is_set && config->values[TTS_HF_MLP].is_set &&
                   config->values[TTS_HF_VOCABULARY].is_set;
    if ((tts_hfconfig_check(config, NULL) == TTS_OK) != has_all)
        stop("a key that must be there is not", "");
    if (memchr(config->model_type, 0, sizeof config->model_type) == NULL ||
        memchr(config->kind_key, 0, sizeof config->kind_key) == NULL ||
        memchr(config->quantization, 0, sizeof config->quantization) == NULL ||
        config->quantization_line > lines)
        stop("a text without an end", "");
    bool is_plain = config->kind == TTS_HF_PLAIN;
    if (config->kind >= TTS_HF_KINDS || (config->kind_line == 0) != is_plain ||
        (config->kind_key[0] == '\0') != is_plain || config->kind_line > lines)
        stop("a kind from nowhere", config->kind_key);
}

static void check_error(const struct tts_error *err, enum tts_status status, uint32_t lines)
{
    if (status != TTS_E_SYNTAX && status != TTS_E_RANGE)
        stop("a status of another kind", err->text);
    if (err->status != status || err->text[0] == '\0' || err->line > lines || err->line == 0)
        stop("an error without words or place", err->text);
    for (const char *c = err->text; *c; c++)
        if (*c < ' ' || *c > '~')
            stop("an error that cannot be shown", err->text);
}

/* Returns true if `b` is equal to `a`, except that every line number is one higher. */
static bool is_same(const struct tts_hfconfig *a, const struct tts_hfconfig *b)
{
    for (int key = 0; key < TTS_HF_KEYS; key++)
        if (a->values[key].is_set != b->values[key].is_set ||
            a->values[key].number != b->values[key].number ||
            (a->values[key].is_set && a->values[key].line + 1 != b->values[key].line))
            return false;
    return strcmp(a->model_type, b->model_type) == 0 && a->kind == b->kind &&
           strcmp(a->kind_key, b->kind_key) == 0 &&
           strcmp(a->quantization, b->quantization) == 0 &&
           (a->quantization_line > 0) == (b->quantization_line > 0);
}

static void check_with_blanks(const uint8_t *bytes, size_t len, const struct tts_hfconfig *was)
{
    char *text = malloc(len + 2 * BLANKS);
    struct tts_hfconfig config;
    struct tts_error err = {0};
    if (!text)
        return;
    memcpy(text, " \n ", BLANKS);
    memcpy(text + BLANKS, bytes, len);
    memcpy(text + BLANKS + len, "\t\n ", BLANKS);
    if (tts_hfconfig_parse(text, len + 2 * BLANKS, &config, &err) != TTS_OK ||
        !is_same(was, &config))
        stop("it reads differently", err.text);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tts_hfconfig config, before;
    struct tts_error err = {0};
    memset(&config, 0x5a, sizeof config);
    before = config;
    enum tts_status status = tts_hfconfig_parse((const char *)bytes, len, &config, &err);
    if (status != TTS_OK) {
        check_error(&err, status, count_lines(bytes, len));
        if (memcmp(&config, &before, sizeof config) != 0)
            stop("a failure that changes something", err.text);
        return 0;
    }
    check(&config, count_lines(bytes, len));
    check_with_blanks(bytes, len, &config);
    return 0;
}
