/* chipview.c: writes the presets as a table, one chip with its facts, and the layout of its
 * L1. */
#include "views/chipview.h"

#include "base/number.h"
#include "views/say.h"
#include "views/table.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- JSON ---- */

static const char no_source[] = "no known source; set a value";

static void put_pool_layout(struct tts_json *json, const struct tts_pool_layout *layout)
{
    tts_json_number(json, "banks", layout->banks);
    tts_json_number(json, "bank_bytes", layout->bank_bytes);
    tts_json_number(json, "offset", layout->offset_bytes);
    tts_json_number(json, "alignment", layout->block_alignment_bytes);
    tts_json_number(json, "page_alignment", layout->page_alignment_bytes);
    tts_json_number(json, "nominal_bank_bytes", layout->nominal_bytes);
    tts_json_text(json, "direction", layout->direction == TTS_DIRECTION_UP ? "up" : "down");
}

static void put_missing_layout(struct tts_json *json, const char *reason)
{
    static const char *const keys[] = {"banks",     "bank_bytes",     "offset",
                                       "alignment", "page_alignment", "nominal_bank_bytes",
                                       "direction"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        tts_json_null(json, keys[i]);
    tts_json_text(json, "reason", reason);
}

static void put_chip_pools(struct tts_json *json, const struct tts_chip *chip)
{
    tts_json_array(json, "pools");
    for (size_t i = 0; i < TTS_POOLS; i++) {
        struct tts_pool_layout layout;
        struct tts_error err;
        tts_json_object(json, NULL);
        tts_json_text(json, "pool", tts_pool_name((enum tts_pool)i));
        if (tts_chip_pool(chip, (enum tts_pool)i, &layout, &err) == TTS_OK)
            put_pool_layout(json, &layout);
        else
            put_missing_layout(json, err.text);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_fact_value(struct tts_json *json, enum tts_fact_key key,
                           const struct tts_fact *fact)
{
    char text[TTS_FACT_TEXT_MAX];
    enum tts_unit unit = tts_fact_unit(key);
    if (fact->origin == TTS_ORIGIN_UNKNOWN) {
        tts_json_null(json, "value");
        return;
    }
    if (unit == TTS_UNIT_BYTES || unit == TTS_UNIT_COUNT)
        tts_json_number(json, "value", fact->value);
    else
        tts_json_text(json, "value", tts_fact_text(key, fact, text));
    if (unit == TTS_UNIT_GRID) {
        tts_json_number(json, "columns", TTS_GRID_COLUMNS(fact->value));
        tts_json_number(json, "rows", TTS_GRID_ROWS(fact->value));
    }
}

static void put_chip_facts(struct tts_json *json, const struct tts_chip *chip)
{
    tts_json_object(json, "facts");
    for (size_t i = 0; i < TTS_FACTS; i++) {
        enum tts_fact_key key = (enum tts_fact_key)i;
        const struct tts_fact *fact = &chip->fact[key];
        tts_json_object(json, tts_fact_name(key));
        put_fact_value(json, key, fact);
        tts_json_text(json, "origin", tts_origin_name(fact->origin));
        tts_json_text_or_null(json, "source", fact->source);
        if (fact->origin == TTS_ORIGIN_UNKNOWN)
            tts_json_text(json, "reason", no_source);
        tts_json_text(json, "meaning", tts_fact_meaning(key));
        tts_json_object_end(json);
    }
    tts_json_object_end(json);
}

static void put_chip_grid(struct tts_json *json, const struct tts_fact *grid)
{
    char text[TTS_FACT_TEXT_MAX];
    bool known = grid->origin != TTS_ORIGIN_UNKNOWN;
    tts_json_text_or_null(json, "grid",
                          known ? tts_fact_text(TTS_FACT_GRID, grid, text) : NULL);
    tts_json_text(json, "grid_origin", tts_origin_name(grid->origin));
}

static void put_chip(struct tts_json *json, const struct tts_chip *chip,
                     const struct tts_preset *preset, bool facts)
{
    const struct tts_fact *chips = &chip->fact[TTS_FACT_CHIPS];
    tts_json_object(json, NULL);
    tts_json_text(json, "name", chip->name);
    tts_json_text(json, "arch", tts_arch_name(chip->arch));
    tts_json_number(json, "chips", chips->value);
    put_chip_grid(json, &chip->fact[TTS_FACT_GRID]);
    tts_json_text_or_null(json, "title", preset ? preset->title : NULL);
    tts_json_text_or_null(json, "variants", preset ? preset->variants : NULL);
    tts_json_array(json, "aliases");
    for (size_t i = 0; preset && preset->aliases[i]; i++)
        tts_json_text(json, NULL, preset->aliases[i]);
    tts_json_array_end(json);
    put_chip_pools(json, chip);
    if (facts)
        put_chip_facts(json, chip);
    tts_json_object_end(json);
}

void tts_chipview_json_list(struct tts_json *json)
{
    const struct tts_preset *preset;
    tts_json_array(json, "presets");
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        struct tts_chip chip;
        struct tts_error err;
        if (tts_chip_preset(preset->name, &chip, &err) == TTS_OK)
            put_chip(json, &chip, preset, false);
        else
            assert(!"a preset of the list can be had");
    }
    tts_json_array_end(json);
}

static void put_l1_parts(struct tts_json *json, const struct tts_chipview *one)
{
    tts_json_array(json, "l1");
    for (size_t i = 0; i < one->part_count; i++) {
        const struct tts_l1_part *part = &one->parts[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "name", part->name);
        tts_json_number(json, "start", part->start);
        tts_json_number(json, "end", part->end);
        tts_json_number(json, "bytes", part->end - part->start);
        tts_json_bool(json, "grows", part->grows);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

void tts_chipview_json_one(struct tts_json *json, const struct tts_chipview *view)
{
    tts_json_array(json, "presets");
    put_chip(json, &view->chip, view->preset, true);
    tts_json_array_end(json);
    if (view->part_count > 0)
        put_l1_parts(json, view);
}

/* Returns the bytes that circular buffers and L1 buffers of a core share; 0 if a fact is
 * missing. */
static uint64_t chip_l1_bytes(const struct tts_chip *chip)
{
    struct tts_l1_part parts[TTS_L1_PARTS_MAX];
    struct tts_error err;
    size_t count = tts_chip_l1_parts(chip, parts, &err);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += parts[i].grows ? parts[i].end - parts[i].start : 0;
    return bytes;
}

/* ---- presets as a table ---- */

/* The text of a fact, marked if the fact is inferred. */
struct marked {
    char text[TTS_FACT_TEXT_MAX + TTS_NUMBER_BYTES_MAX];
};

static struct tts_cell mark_fact_cell(struct marked *out, const struct tts_fact *fact,
                                      const char *text)
{
    snprintf(out->text, sizeof out->text, "%s%s",
             fact->origin == TTS_ORIGIN_INFERRED ? "~" : "", text);
    return (struct tts_cell){.is_known = true, .text = out->text};
}

enum { NAME, ARCH, CHIPS, GRID, BANKS, ALLOCATABLE, NOMINAL, L1, PRESET_COLUMNS };

static const struct tts_column preset_columns[PRESET_COLUMNS] = {
    [NAME] = {.title = "name", .width_min = 16},
    [ARCH] = {.title = "arch", .width_min = 9},
    [CHIPS] = {.title = "chips", .type = TTS_COLUMN_NUMBER},
    [GRID] = {.title = "grid", .group = "compute", .type = TTS_COLUMN_NUMBER, .width_min = 7},
    [BANKS] = {.title = "banks",
               .group = "DRAM of a chip, GiB",
               .unknown = "unknown",
               .type = TTS_COLUMN_NUMBER,
               .width_min = 7},
    [ALLOCATABLE] = {.title = "allocatable",
                     .group = "DRAM of a chip, GiB",
                     .unknown = "unknown",
                     .type = TTS_COLUMN_BYTES},
    [NOMINAL] = {.title = "nominal",
                 .group = "DRAM of a chip, GiB",
                 .unknown = "unknown",
                 .type = TTS_COLUMN_BYTES},
    [L1] = {.title = "allocatable",
            .group = "L1, KiB",
            .unknown = "unknown",
            .type = TTS_COLUMN_BYTES,
            .shift = 10},
};

static enum tts_status add_preset_row(struct tts_table *table, const struct tts_preset *preset)
{
    struct tts_chip chip;
    struct tts_error err;
    struct tts_pool_layout dram;
    struct marked grid, banks, allocatable, nominal;
    char text[TTS_FACT_TEXT_MAX], number[TTS_NUMBER_BYTES_MAX];
    if (tts_chip_preset(preset->name, &chip, &err) != TTS_OK) {
        assert(!"a preset of the list can be had");
        return err.status;
    }
    const struct tts_fact *fact = &chip.fact[TTS_FACT_GRID];
    struct tts_cell cells[PRESET_COLUMNS] = {
        [NAME] = tts_cell_text(preset->name),
        [ARCH] = tts_cell_text(tts_arch_name(preset->arch)),
        [CHIPS] = tts_cell_number(chip.fact[TTS_FACT_CHIPS].value),
        [GRID] = mark_fact_cell(&grid, fact, tts_fact_text(TTS_FACT_GRID, fact, text)),
    };
    if (tts_chip_pool(&chip, TTS_POOL_DRAM, &dram, &err) == TTS_OK) {
        fact = &chip.fact[TTS_FACT_DRAM_BANKS];
        snprintf(number, sizeof number, "%" PRIu32, dram.banks);
        cells[BANKS] = mark_fact_cell(&banks, fact, number);
        tts_number_format_shifted(number, dram.banks * dram.bank_bytes, 30);
        cells[ALLOCATABLE] = mark_fact_cell(&allocatable, fact, number);
        tts_number_format_shifted(number, dram.banks * dram.nominal_bytes, 30);
        cells[NOMINAL] = mark_fact_cell(&nominal, fact, number);
    }
    uint64_t l1_bytes = chip_l1_bytes(&chip);
    if (l1_bytes > 0)
        cells[L1] = tts_cell_number(l1_bytes);
    return tts_table_add(table, cells);
}

/* Writes "other names: n300s (n300), t3000 (t3k)". */
static void print_preset_aliases(FILE *out)
{
    const struct tts_preset *preset;
    const char *before = "other names: ";
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++)
        for (size_t j = 0; preset->aliases[j]; j++) {
            fprintf(out, "%s%s (%s)", before, preset->aliases[j], preset->name);
            before = ", ";
        }
    fputc('\n', out);
}

enum tts_status tts_chipview_text_list(FILE *out)
{
    const struct tts_preset *preset;
    struct tts_table table;
    enum tts_status status = TTS_OK;
    tts_table_init(&table, preset_columns, PRESET_COLUMNS, NULL);
    table.gap = 1;
    for (size_t i = 0; status == TTS_OK && (preset = tts_preset_at(i)) != NULL; i++)
        status = add_preset_row(&table, preset);
    if (status == TTS_OK) {
        tts_table_text(&table, tts_say_columns(), out);
        print_preset_aliases(out);
        fputs("~ marks values inferred from comments, vendor pages or similar devices; "
              "all\nothers are from the runtime's sources. L1 is per core.\n'ttscope devices "
              "NAME' shows all properties of a device, with sources.\n",
              out);
    }
    tts_table_release(&table);
    return status;
}

enum {
    CELLS_MIN = 18, /* minimum length of a bar, for 80 columns */
    CELLS_MAX = 36,
    BAR_COLUMN = 37,
    NAME_COLUMNS = 23, /* fits all names except the longest, which takes two lines */
};

struct glyphs {
    const char *empty, *filled, *up, *down;
};

static const struct glyphs ascii = {".", "#", ">", "<"};

static const struct glyphs utf8_glyphs = {"·", "█", "→", "←"};

/* Appearance of the bars in a layout. */
struct bars {
    uint64_t size; /* size of L1 */
    unsigned cells;
    const struct glyphs *glyphs;
};

/* Sets the cells of the bar for a part of L1: at least one cell, inside the bar. */
static void l1_bar_range(const struct tts_l1_part *part, const struct bars *bars,
                         uint64_t *from, uint64_t *to)
{
    uint64_t size = bars->size;
    assert(part->start < part->end && part->end <= size && size < UINT64_MAX / CELLS_MAX);
    *from = (part->start * bars->cells + size / 2) / size;
    *to = (part->end * bars->cells + size / 2) / size;
    if (*from == *to && *to < bars->cells)
        ++*to;
    else if (*from == *to)
        --*from;
}

static void print_l1_bar(const struct tts_l1_part *part, const struct bars *bars, FILE *out)
{
    const struct glyphs *glyphs = bars->glyphs;
    uint64_t from, to;
    l1_bar_range(part, bars, &from, &to);
    for (uint64_t cell = 0; cell < bars->cells; cell++) {
        bool inside = cell >= from && cell < to;
        const char *fill = !part->grows                    ? glyphs->filled
                           : cell < from + (to - from) / 2 ? glyphs->up
                                                           : glyphs->down;
        fputs(inside ? fill : glyphs->empty, out);
    }
}

static void print_l1_part(const struct tts_l1_part *part, const struct bars *bars, FILE *out)
{
    char kib[TTS_NUMBER_BYTES_MAX];
    fprintf(out, "  %10" PRIu64 "  %10" PRIu64 "  %9s  ", part->start, part->end,
            tts_number_format_shifted(kib, part->end - part->start, 10));
    print_l1_bar(part, bars, out);
    fputs("  ", out);
    tts_say_column(out, BAR_COLUMN + bars->cells + 2, part->name);
}

static void print_l1_growing(const struct tts_l1_part *part, const struct glyphs *glyphs,
                             FILE *out)
{
    char kib[TTS_NUMBER_BYTES_MAX];
    fprintf(out,
            "Circular buffers grow up from %" PRIu64 " (%s), L1 buffers grow down from %" PRIu64
            " (%s);\nthey share %s KiB. A program fails if the two overlap.\n",
            part->start, glyphs->up, part->end, glyphs->down,
            tts_number_format_shifted(kib, part->end - part->start, 10));
}

void tts_chipview_text_layout(const struct tts_chipview *one, bool utf8, FILE *out)
{
    char kib[TTS_NUMBER_BYTES_MAX];
    unsigned room = tts_say_columns() - (BAR_COLUMN + 2 + NAME_COLUMNS);
    struct bars bars = {.cells = room < CELLS_MAX ? room : CELLS_MAX,
                        .glyphs = utf8 ? &utf8_glyphs : &ascii};
    assert(one->part_count > 0 && bars.cells >= CELLS_MIN);
    bars.size = one->parts[one->part_count - 1].end;
    tts_say(out, 0, "L1 of a core of %s (%s): %" PRIu64 " bytes, %s KiB, from bottom to top",
            one->chip.name, tts_arch_name(one->chip.arch), bars.size,
            tts_number_format_shifted(kib, bars.size, 10));
    fprintf(out, "  %10s  %10s  %9s  %-*s  part\n", "start", "end", "KiB", (int)bars.cells,
            bars.cells < CELLS_MAX ? "to scale" : "to scale, at least one cell each");
    for (size_t i = 0; i < one->part_count; i++)
        print_l1_part(&one->parts[i], &bars, out);
    for (size_t i = 0; i < one->part_count; i++)
        if (one->parts[i].grows)
            print_l1_growing(&one->parts[i], bars.glyphs, out);
}

enum { MIB_SHIFT = 20, GIB_SHIFT = 30 };

/* Returns the fact that is 0 if the pool is empty. */
static const char *why_pool_is_empty(enum tts_pool pool)
{
    return pool == TTS_POOL_TRACE      ? "none: trace_region is 0, so traces are in DRAM"
           : pool == TTS_POOL_L1_SMALL ? "none: l1_small is 0"
                                       : "none";
}

static void print_chip_pool(const struct tts_chip *chip, enum tts_pool pool, FILE *out)
{
    struct tts_pool_layout layout;
    struct tts_error err;
    fprintf(out, "  %-8s  ", tts_pool_name(pool));
    if (tts_chip_pool(chip, pool, &layout, &err) != TTS_OK)
        fprintf(out, "unknown: %s\n", err.text);
    else if (layout.banks == 0)
        fprintf(out, "%s\n", why_pool_is_empty(pool));
    else
        fprintf(out,
                "%5" PRIu32 "  %14" PRIu64 " %11" PRIu64 " %11" PRIu64 " %4" PRIu64 " %5" PRIu64
                "  %s\n",
                layout.banks, layout.bank_bytes, layout.offset_bytes,
                layout.offset_bytes + layout.bank_bytes, layout.page_alignment_bytes,
                layout.block_alignment_bytes,
                layout.direction == TTS_DIRECTION_UP ? "the bottom" : "the top");
}

/* Writes a product of three factors in bytes and in a larger unit. */
static void print_pool_product(const uint64_t factors[3], enum tts_pool pool, FILE *out)
{
    char text[TTS_NUMBER_BYTES_MAX];
    uint64_t product;
    bool is_dram = pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE;
    if (__builtin_mul_overflow(factors[0], factors[1], &product) ||
        __builtin_mul_overflow(product, factors[2], &product)) {
        fprintf(out, "  %26s", "does not fit in 64 bits");
        return;
    }
    fprintf(out, "  %13" PRIu64 "  %7s %s", product,
            tts_number_format_shifted(text, product, is_dram ? GIB_SHIFT : MIB_SHIFT),
            is_dram ? "GiB" : "MiB");
}

/* Writes the total of a pool. The nominal sizes of L1 and DRAM include L1_SMALL and TRACE,
 * which have none of their own. */
static void print_pool_total(const struct tts_chip *chip, enum tts_pool pool, uint64_t chips,
                             FILE *out)
{
    struct tts_pool_layout layout;
    struct tts_error err;
    if (tts_chip_pool(chip, pool, &layout, &err) != TTS_OK || layout.banks == 0)
        return;
    fprintf(out, "  %-8s  %5" PRIu64, tts_pool_name(pool), chips);
    print_pool_product((const uint64_t[3]){layout.banks, layout.bank_bytes, chips}, pool, out);
    if (pool == TTS_POOL_DRAM || pool == TTS_POOL_L1)
        print_pool_product((const uint64_t[3]){layout.banks, layout.nominal_bytes, chips}, pool,
                           out);
    fputc('\n', out);
}

static bool has_chip_pools(const struct tts_chip *chip)
{
    struct tts_pool_layout layout;
    struct tts_error err;
    for (size_t i = 0; i < TTS_POOLS; i++)
        if (tts_chip_pool(chip, (enum tts_pool)i, &layout, &err) == TTS_OK && layout.banks > 0)
            return true;
    return false;
}

static void print_chip_pools(const struct tts_chip *chip, FILE *out)
{
    uint64_t chips = chip->fact[TTS_FACT_CHIPS].value;
    fprintf(out, "\n%68s\n%-10s  %5s  %14s %11s %11s %4s %5s  %s\n", "alignment", "pools",
            "banks", "bytes per bank", "first byte", "end", "page", "block", "taken from");
    for (size_t i = 0; i < TTS_POOLS; i++)
        print_chip_pool(chip, (enum tts_pool)i, out);
    if (!has_chip_pools(chip))
        return;
    fprintf(out, "\n%-10s  %5s  %26s  %26s\n", "totals", "chips", "allocatable", "nominal");
    for (size_t i = 0; i < TTS_POOLS; i++) {
        print_pool_total(chip, (enum tts_pool)i, 1, out);
        if (chips > 1)
            print_pool_total(chip, (enum tts_pool)i, chips, out);
    }
}

/* Numbered sources. Sources are long and few, so each is written once, after the facts. */
struct notes {
    const char *texts[TTS_FACTS];
    size_t count;
};

static size_t note_number_of(struct notes *notes, const char *source)
{
    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->texts[i], source) == 0)
            return i + 1;
    assert(notes->count < TTS_FACTS);
    notes->texts[notes->count++] = source;
    return notes->count;
}

enum { MEANING_COLUMN = 55, SOURCE_COLUMN = 7 };

/* The facts that begin a new group in the list. */
static const struct {
    enum tts_fact_key first;
    const char *title;
} subjects[] = {
    {TTS_FACT_CHIPS, "chips and alignments"},
    {TTS_FACT_DRAM_BANKS, "DRAM"},
    {TTS_FACT_L1_SIZE, "L1 of a core"},
    {TTS_FACT_TENSIX_GRID, "cores"},
};

static void print_fact_subject(enum tts_fact_key key, FILE *out)
{
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++)
        if (subjects[i].first == key)
            fprintf(out, "\n%s\n", subjects[i].title);
}

static void print_chip_fact(enum tts_fact_key key, const struct tts_fact *fact,
                            struct notes *notes, FILE *out)
{
    char text[TTS_FACT_TEXT_MAX], human[TTS_NUMBER_BYTES_MAX] = "";
    bool known = fact->origin != TTS_ORIGIN_UNKNOWN;
    if (known && tts_fact_unit(key) == TTS_UNIT_BYTES && fact->value >= 1024)
        tts_number_format_bytes(human, fact->value);
    fprintf(out, "  %-18s %10s %8s %-8s ", tts_fact_name(key),
            known ? tts_fact_text(key, fact, text) : "-", human, tts_origin_name(fact->origin));
    size_t note = known ? note_number_of(notes, fact->source) : 0;
    if (note > 0)
        fprintf(out, "[%zu]%s", note, note < 10 ? " " : "");
    else
        fputs("    ", out);
    fputc(' ', out);
    tts_say_column(out, MEANING_COLUMN, tts_fact_meaning(key));
}

/* Writes the grid for each dispatch setting, unless the user has set a grid. */
static void print_chip_grids(const struct tts_chip *chip, FILE *out)
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

static void print_chip_facts(const struct tts_chip *chip, struct notes *notes, FILE *out)
{
    for (size_t i = 0; i < TTS_FACTS; i++) {
        enum tts_fact_key key = (enum tts_fact_key)i;
        print_fact_subject(key, out);
        print_chip_fact(key, &chip->fact[key], notes, out);
    }
    print_chip_grids(chip, out);
}

static bool is_fact_changed(const struct tts_chip *chip)
{
    bool changed = false;
    for (size_t i = 0; i < TTS_FACTS; i++)
        changed = changed || chip->fact[i].origin == TTS_ORIGIN_SET;
    return changed;
}

static void print_fact_changes(const struct tts_chip *chip, FILE *out)
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

static void print_fact_sources(const struct notes *notes, FILE *out)
{
    fputs("\nsources\n", out);
    for (size_t i = 0; i < notes->count; i++) {
        fprintf(out, "  [%zu]%s ", i + 1, i < 9 ? " " : "");
        tts_say_column(out, SOURCE_COLUMN, notes->texts[i]);
    }
}

void tts_chipview_text_one(const struct tts_chipview *one, FILE *out)
{
    struct notes notes = {0};
    const struct tts_preset *preset = one->preset;
    if (preset) /* the numbers in the title are those of the unchanged preset */
        tts_say(out, 0, "%s: %.*s", preset->name,
                (int)(is_fact_changed(&one->chip) ? strcspn(preset->title, ":")
                                                  : strlen(preset->title)),
                preset->title);
    else
        fprintf(out, "%s: %s, from a device file\n", one->chip.name,
                tts_arch_name(one->chip.arch));
    for (size_t i = 0; preset && preset->aliases[i]; i++)
        fprintf(out, "%s%s%s", i == 0 ? "other names: " : ", ", preset->aliases[i],
                preset->aliases[i + 1] ? "" : "\n");
    if (preset && preset->variants[0])
        tts_say(out, 0, "variants: %s", preset->variants);
    print_fact_changes(&one->chip, out);
    fprintf(out, "\n  %-18s %10s %8s %-8s %-4s %s\n", "key", "value", "", "origin", "from",
            "meaning");
    print_chip_facts(&one->chip, &notes, out);
    print_chip_pools(&one->chip, out);
    print_fact_sources(&notes, out);
}
