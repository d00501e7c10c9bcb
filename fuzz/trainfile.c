/* Reads bytes as a training or model file. A refused file has a message and a line of the text,
 * and changes nothing. An accepted file gives the same result when it is read again, and every
 * value, flag and unknown key has a line of the text and a terminated name. */
#include "sources/config/trainfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

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

static void check_value(const struct tts_trainfile_value *value, const char *name,
                        uint32_t lines)
{
    if (!value->is_set) {
        if (value->key || value->line != 0 || value->number != 0 || value->text[0] != '\0')
            stop("a value that is not set has something", name);
        return;
    }
    if (value->line == 0 || value->line > lines || value->file != TTS_TRAINFILE_MODEL)
        stop("a value from nowhere", name);
    if (memchr(value->text, 0, sizeof value->text) == NULL)
        stop("a text without an end", name);
    if (value->text[0] != '\0' && value->number != 0)
        stop("a text that is a number", name);
}

static bool is_same_value(const struct tts_trainfile_value *a,
                          const struct tts_trainfile_value *b)
{
    return a->is_set == b->is_set && a->file == b->file && a->line == b->line &&
           a->number == b->number && strcmp(a->text, b->text) == 0;
}

/* All values of a file. */
static const struct {
    const char *name;
    size_t offset;
} fields[] = {
#define FIELD(field, section, name, type) {name, offsetof(struct tts_trainfile, field)},
    TTS_TRAINFILE_KEYS(FIELD)
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static const struct tts_trainfile_value *value_at(const struct tts_trainfile *file, size_t i)
{
    return (const void *)((const char *)file + fields[i].offset);
}

static bool is_same(const struct tts_trainfile *a, const struct tts_trainfile *b)
{
    for (size_t i = 0; i < FIELDS; i++)
        if (!is_same_value(value_at(a, i), value_at(b, i)))
            return false;
    return a->mesh_shape[0] == b->mesh_shape[0] && a->mesh_shape[1] == b->mesh_shape[1] &&
           a->mesh_line == b->mesh_line && a->lora_line == b->lora_line &&
           a->pipeline_line == b->pipeline_line && a->moe_line == b->moe_line &&
           a->grpo_line == b->grpo_line && a->mlp_line == b->mlp_line &&
           a->unknown_keys == b->unknown_keys && a->unknown_line == b->unknown_line &&
           memcmp(a->unknown_names, b->unknown_names, sizeof a->unknown_names) == 0;
}

static void check_line(const char *what, uint32_t line, uint32_t lines)
{
    if (line > lines)
        stop("past the end", what);
}

static void check(const struct tts_trainfile *read, uint32_t lines)
{
    for (size_t i = 0; i < FIELDS; i++)
        check_value(value_at(read, i), fields[i].name, lines);
    check_line("mesh", read->mesh_line, lines);
    check_line("lora", read->lora_line, lines);
    check_line("pipeline", read->pipeline_line, lines);
    check_line("moe", read->moe_line, lines);
    check_line("grpo", read->grpo_line, lines);
    check_line("mlp", read->mlp_line, lines);
    check_line("unknown", read->unknown_line, lines);
    if ((read->mesh_shape[0] == 0) != (read->mesh_line == 0) ||
        (read->mesh_shape[1] == 0) != (read->mesh_line == 0))
        stop("half a mesh", "");
    if ((read->unknown_keys == 0) != (read->unknown_line == 0) ||
        memchr(read->unknown_names[0], 0, sizeof read->unknown_names[0]) == NULL)
        stop("an unknown key from nowhere", "");
    if (read->paths[0][0] != '\0' || read->paths[1][0] != '\0')
        stop("a path out of a text", read->paths[0]);
}

static void check_error(const struct tts_error *err, enum tts_status status, uint32_t lines)
{
    if (status != TTS_E_SYNTAX && status != TTS_E_NOT_FOUND && status != TTS_E_RANGE)
        stop("a status of another kind", err->text);
    if (err->status != status || err->text[0] == '\0' || err->line == 0 || err->line > lines)
        stop("an error without words or place", err->text);
    for (const char *c = err->text; *c; c++)
        if (*c < ' ' || *c > '~')
            stop("an error that cannot be shown", err->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct tts_trainfile once, again;
    uint32_t lines = count_lines(bytes, len);
    struct tts_error err = {0};
    memset(&once, 0, sizeof once);
    memset(&again, 0, sizeof again);
    enum tts_status status =
        tts_trainfile_parse((const char *)bytes, len, TTS_TRAINFILE_MODEL, &once, &err);
    if (status != TTS_OK) {
        check_error(&err, status, lines);
        if (memcmp(&once, &again, sizeof once) != 0)
            stop("a failure that changes something", err.text);
        return 0;
    }
    check(&once, lines);
    if (tts_trainfile_parse((const char *)bytes, len, TTS_TRAINFILE_MODEL, &again, NULL) !=
            TTS_OK ||
        !is_same(&once, &again))
        stop("it reads differently", "");
    return 0;
}
