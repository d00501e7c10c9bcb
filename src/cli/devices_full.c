/* devices_full.c: all about one chip. */
#include "base/number.h"
#include "cli/devices_parts.h"
#include "cli/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Sources are long and few: each is written once, behind the facts, and has a number. */
struct notes {
    const char *texts[TTS_FACTS];
    size_t count;
};

static size_t note_number(struct notes *notes, const char *source)
{
    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->texts[i], source) == 0)
            return i + 1;
    assert(notes->count < TTS_FACTS);
    notes->texts[notes->count++] = source;
    return notes->count;
}

enum { MEANING_COLUMN = 55, SOURCE_COLUMN = 7 };

/* --- facts ------------------------------------------------------------------------------ */

/* Where in the list of facts a new subject begins. */
static const struct {
    enum tts_fact_key first;
    const char *title;
} subjects[] = {
    {TTS_FACT_CHIPS, "chips and alignments"},
    {TTS_FACT_DRAM_BANKS, "DRAM"},
    {TTS_FACT_L1_SIZE, "L1 of a core"},
    {TTS_FACT_TENSIX_GRID, "cores"},
};

static void print_subject(enum tts_fact_key key, FILE *out)
{
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        if (subjects[i].first == key)
            fprintf(out, "\n%s\n", subjects[i].title);
}

static void print_fact(enum tts_fact_key key, const struct tts_fact *fact, struct notes *notes,
                       FILE *out)
{
    char text[TTS_FACT_TEXT_MAX], human[TTS_NUMBER_BYTES_MAX] = "";
    bool known = fact->origin != TTS_ORIGIN_UNKNOWN;
    if (known && tts_fact_unit(key) == TTS_UNIT_BYTES && fact->value >= 1024)
        tts_number_format_bytes(human, fact->value);
    fprintf(out, "  %-18s %10s %8s %-8s ", tts_fact_name(key),
            known ? tts_fact_text(key, fact, text) : "-", human, tts_origin_name(fact->origin));
    size_t note = known ? note_number(notes, fact->source) : 0;
    if (note > 0)
        fprintf(out, "[%zu]%s", note, note < 10 ? " " : "");
    else
        fputs("    ", out);
    fputc(' ', out);
    tts_say_column(out, MEANING_COLUMN, tts_fact_meaning(key));
}

/* The grids that other kinds of dispatch leave, as long as nobody has set one. */
static void print_grids(const struct tts_chip *chip, FILE *out)
{
    char text[TTS_FACT_TEXT_MAX];
    const struct tts_fact *grid = &chip->fact[TTS_FACT_GRID];
    if (grid->origin == TTS_ORIGIN_UNKNOWN || grid->origin == TTS_ORIGIN_SET ||
        chip->fact[TTS_FACT_TENSIX_GRID].origin == TTS_ORIGIN_SET)
        return;
    fputs("  compute grid by dispatch:", out);
    for (size_t i = 0; i < TTS_DISPATCHES; i++) {
        const struct tts_fact *fact = &chip->grids[i];
        bool none = fact->origin != TTS_ORIGIN_UNKNOWN && fact->value == 0;
        fprintf(out, "%s %s %s", i > 0 ? "," : "", tts_dispatch_name((enum tts_dispatch)i),
                none ? "none" : tts_fact_text(TTS_FACT_GRID, fact, text));
    }
    fputc('\n', out);
}

static void print_facts(const struct tts_chip *chip, struct notes *notes, FILE *out)
{
    for (size_t i = 0; i < TTS_FACTS; i++) {
        enum tts_fact_key key = (enum tts_fact_key)i;
        print_subject(key, out);
        print_fact(key, &chip->fact[key], notes, out);
    }
    print_grids(chip, out);
}

/* --- the page --------------------------------------------------------------------------- */

static bool is_changed(const struct tts_chip *chip)
{
    bool changed = false;
    for (size_t i = 0; i < TTS_FACTS; i++)
        changed = changed || chip->fact[i].origin == TTS_ORIGIN_SET;
    return changed;
}

static void print_changes(const struct tts_chip *chip, FILE *out)
{
    char text[TTS_FACT_TEXT_MAX], line[TTS_FACTS * 64];
    size_t len = 0;
    for (size_t i = 0; i < TTS_FACTS; i++) {
        enum tts_fact_key key = (enum tts_fact_key)i;
        if (chip->fact[key].origin != TTS_ORIGIN_SET)
            continue;
        int need = snprintf(line + len, sizeof line - len, "%s%s=%s",
                            len > 0 ? ", " : "set: ", tts_fact_name(key),
                            tts_fact_text(key, &chip->fact[key], text));
        assert(need > 0 && (size_t)need < sizeof line - len);
        len += (size_t)need;
    }
    if (len > 0)
        tts_say_column(out, 0, line);
}

static void print_sources(const struct notes *notes, FILE *out)
{
    fputs("\nsources\n", out);
    for (size_t i = 0; i < notes->count; i++) {
        fprintf(out, "  [%zu]%s ", i + 1, i < 9 ? " " : "");
        tts_say_column(out, SOURCE_COLUMN, notes->texts[i]);
    }
}

void tts_devices_text_one(const struct tts_devices_one *one, FILE *out)
{
    struct notes notes = {0};
    const struct tts_preset *preset = one->preset;
    if (preset) /* the numbers of its title are those of the preset as it is */
        tts_say(
            out, 0, "%s: %.*s", preset->name,
            (int)(is_changed(&one->chip) ? strcspn(preset->title, ":") : strlen(preset->title)),
            preset->title);
    else
        fprintf(out, "%s: %s, from a device file\n", one->chip.name,
                tts_arch_name(one->chip.arch));
    for (size_t i = 0; preset && preset->aliases[i]; i++)
        fprintf(out, "%s%s%s", i == 0 ? "other names: " : ", ", preset->aliases[i],
                preset->aliases[i + 1] ? "" : "\n");
    if (preset && preset->variants[0])
        tts_say(out, 0, "variants: %s", preset->variants);
    print_changes(&one->chip, out);
    fprintf(out, "\n  %-18s %10s %8s %-8s %-4s %s\n", "key", "value", "", "origin", "from",
            "meaning");
    print_facts(&one->chip, &notes, out);
    tts_devices_text_pools(&one->chip, out);
    print_sources(&notes, out);
}
