/* Reads bytes as a device file. A refused file has a message and a line. An accepted file is a
 * valid chip, and its set facts, written under the same preset, give the same chip. */
#include "sources/config/devfile.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { TEXT_BYTES = 8 * 1024 };

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static bool same_facts(const struct tts_fact *a, const struct tts_fact *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].value != b[i].value || a[i].origin != b[i].origin ||
            strcmp(a[i].source, b[i].source) != 0)
            return false;
    return true;
}

static bool same_chip(const struct tts_chip *a, const struct tts_chip *b)
{
    return strcmp(a->name, b->name) == 0 && a->arch == b->arch &&
           same_facts(a->fact, b->fact, TTS_FACTS) &&
           same_facts(a->grids, b->grids, TTS_DISPATCHES);
}

/* Writes the name in single quotes. A single quote in it is written twice. */
static void write_name(const char *name, char *out)
{
    size_t at = 0;
    for (; *name; name++) {
        out[at++] = *name;
        if (*name == '\'')
            out[at++] = '\'';
    }
    out[at] = '\0';
}

static size_t write_chip(const struct tts_chip *chip, const char *preset, char *out)
{
    char value[TTS_FACT_TEXT_MAX], name[2 * TTS_CHIP_NAME_MAX];
    write_name(chip->name, name);
    int at = snprintf(out, TEXT_BYTES, "device: '%s'\npreset: %s\n", name, preset);
    for (int key = 0; key < TTS_FACTS; key++) {
        const struct tts_fact *fact = &chip->fact[key];
        if (fact->origin == TTS_ORIGIN_SET)
            at += snprintf(out + at, TEXT_BYTES - (size_t)at, "%s: %s\n",
                           tts_fact_name((enum tts_fact_key)key),
                           tts_fact_text((enum tts_fact_key)key, fact, value));
    }
    if (at >= TEXT_BYTES)
        stop("a chip is a long text", chip->name);
    return (size_t)at;
}

/* Checks that the chip is the same when it is written and read back. A chip does not keep the
 * name of its preset, so this tries all presets, and one of them must give the same chip. */
static void check_round_trip(const struct tts_chip *chip)
{
    static char text[TEXT_BYTES];
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        struct tts_chip back;
        size_t len = write_chip(chip, preset->name, text);
        if (preset->arch == chip->arch && tts_devfile_parse(text, len, &back, NULL) == TTS_OK &&
            same_chip(chip, &back))
            return;
    }
    stop("what was written reads differently", text);
}

/* Returns an upper bound for the number of lines: the largest result of any way to count line
 * ends. UTF-8 also has line ends of two and three bytes. */
static uint32_t lines_at_most(const uint8_t *bytes, size_t len)
{
    uint32_t lines = 1;
    for (size_t i = 0; i < len; i++)
        lines += bytes[i] == '\n' || bytes[i] == '\r' || bytes[i] == 0xc2 || bytes[i] == 0xe2;
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tts_chip chip;
    struct tts_error err = {0};
    enum tts_status status = tts_devfile_parse((const char *)bytes, len, &chip, &err);
    if (status == TTS_OK) {
        if (tts_chip_check(&chip, &err) != TTS_OK)
            stop("a chip that cannot be", err.text);
        if (memchr(chip.name, 0, sizeof chip.name) == NULL || chip.name[0] == '\0')
            stop("a chip without a name", "");
        check_round_trip(&chip);
        return 0;
    }
    if (err.status != status || err.text[0] == '\0' || err.line == 0 ||
        err.line > lines_at_most(bytes, len))
        stop("an error without words or place", err.text);
    for (const char *c = err.text; *c; c++)
        if (*c < ' ' || *c > '~')
            stop("an error that cannot be shown", err.text);
    return 0;
}
