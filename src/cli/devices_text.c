/* devices_text.c: the presets as a table, and the layout of L1. */
#include "cli/devices_parts.h"
#include "cli/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

const char *tts_devices_units(char out[TTS_DEVICES_NUMBER_MAX], uint64_t bytes, unsigned shift)
{
    uint64_t whole = bytes >> shift, rest = bytes - (whole << shift);
    assert(shift > 0 && shift <= 40);
    uint64_t part = (rest * 100 + (UINT64_C(1) << (shift - 1))) >> shift;
    snprintf(out, TTS_DEVICES_NUMBER_MAX, "%" PRIu64 ".%02" PRIu64, whole + part / 100,
             part % 100);
    return out;
}

/* --- presets ---------------------------------------------------------------------------- */

enum { CELL_MAX = 40 };

struct cells {
    char grid[CELL_MAX], banks[CELL_MAX], allocatable[CELL_MAX], nominal[CELL_MAX],
        l1[CELL_MAX];
};

static const char *mark_of(const struct tts_fact *fact)
{
    return fact->origin == TTS_ORIGIN_INFERRED ? "~" : "";
}

static void put_cell(char out[CELL_MAX], const char *mark, const char *text)
{
    snprintf(out, CELL_MAX, "%s%s", mark, text);
}

static void fill_dram(const struct tts_chip *chip, struct cells *cells)
{
    char text[TTS_DEVICES_NUMBER_MAX];
    struct tts_pool_layout dram;
    struct tts_error err;
    if (tts_chip_pool(chip, TTS_POOL_DRAM, &dram, &err) != TTS_OK) {
        put_cell(cells->banks, "", "unknown");
        put_cell(cells->allocatable, "", "unknown");
        put_cell(cells->nominal, "", "unknown");
        return;
    }
    const char *mark = mark_of(&chip->fact[TTS_FACT_DRAM_BANKS]);
    snprintf(cells->banks, CELL_MAX, "%s%" PRIu32, mark, dram.banks);
    put_cell(cells->allocatable, mark,
             tts_devices_units(text, dram.banks * dram.bank_bytes, 30));
    put_cell(cells->nominal, mark,
             tts_devices_units(text, dram.banks * dram.nominal_bytes, 30));
}

static void print_preset(const struct tts_preset *preset, FILE *out)
{
    struct tts_chip chip;
    struct tts_error err;
    struct cells cells;
    char text[TTS_DEVICES_NUMBER_MAX];
    const struct tts_fact *grid = &chip.fact[TTS_FACT_GRID];
    if (tts_chip_preset(preset->name, &chip, &err) != TTS_OK) {
        assert(!"a preset of the list can be had");
        return;
    }
    put_cell(cells.grid, mark_of(grid), tts_fact_text(TTS_FACT_GRID, grid, text));
    fill_dram(&chip, &cells);
    uint64_t l1_bytes = tts_devices_l1_bytes(&chip);
    put_cell(cells.l1, "", l1_bytes > 0 ? tts_devices_units(text, l1_bytes, 10) : "unknown");
    fprintf(out, "%-16s %-9s %5" PRIu64 " %7s %7s %11s %7s %11s\n", preset->name,
            tts_arch_name(preset->arch), chip.fact[TTS_FACT_CHIPS].value, cells.grid,
            cells.banks, cells.allocatable, cells.nominal, cells.l1);
}

/* "other names: n300s (n300), t3000 (t3k)" */
static void print_aliases(FILE *out)
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

void tts_devices_text_list(FILE *out)
{
    const struct tts_preset *preset;
    fprintf(out, "%32s %7s %27s %11s\n", "", "compute", "DRAM of a chip, GiB", "L1, KiB");
    fprintf(out, "%-16s %-9s %5s %7s %7s %11s %7s %11s\n", "name", "arch", "chips", "grid",
            "banks", "allocatable", "nominal", "allocatable");
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++)
        print_preset(preset, out);
    print_aliases(out);
    fputs("~ is inferred from comments, vendor pages or likeness; the rest stands in the\n"
          "runtime's sources. L1 is that of a core.\n"
          "'ttscope devices NAME' shows all about one, with sources.\n",
          out);
}

/* --- L1 --------------------------------------------------------------------------------- */

enum {
    CELLS_MIN = 18, /* of a bar, in 80 columns */
    CELLS_MAX = 36,
    BAR_COLUMN = 37,
    NAME_COLUMNS = 23, /* of all names but the longest, which is broken */
};

struct glyphs {
    const char *empty, *filled, *up, *down;
};

static const struct glyphs ascii = {".", "#", ">", "<"};
static const struct glyphs utf8_glyphs = {"·", "█", "→", "←"};

/* How the bars of a layout look. */
struct bars {
    uint64_t size; /* of L1 */
    unsigned cells;
    const struct glyphs *glyphs;
};

/* Which part of the bar a part of L1 has: never none, and never beyond the end. */
static void bar_range(const struct tts_l1_part *part, const struct bars *bars, uint64_t *from,
                      uint64_t *to)
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

static void print_bar(const struct tts_l1_part *part, const struct bars *bars, FILE *out)
{
    const struct glyphs *glyphs = bars->glyphs;
    uint64_t from, to;
    bar_range(part, bars, &from, &to);
    for (uint64_t cell = 0; cell < bars->cells; cell++) {
        bool inside = cell >= from && cell < to;
        const char *fill = !part->grows                    ? glyphs->filled
                           : cell < from + (to - from) / 2 ? glyphs->up
                                                           : glyphs->down;
        fputs(inside ? fill : glyphs->empty, out);
    }
}

static void print_part(const struct tts_l1_part *part, const struct bars *bars, FILE *out)
{
    char kib[TTS_DEVICES_NUMBER_MAX];
    fprintf(out, "  %10" PRIu64 "  %10" PRIu64 "  %9s  ", part->start, part->end,
            tts_devices_units(kib, part->end - part->start, 10));
    print_bar(part, bars, out);
    fputs("  ", out);
    tts_say_column(out, BAR_COLUMN + bars->cells + 2, part->name);
}

static void print_growing(const struct tts_l1_part *part, const struct glyphs *glyphs,
                          FILE *out)
{
    char kib[TTS_DEVICES_NUMBER_MAX];
    fprintf(out,
            "Circular buffers grow up from %" PRIu64 " (%s), L1 buffers grow down from %" PRIu64
            " (%s);\nboth share %s KiB, and a program in which they meet fails.\n",
            part->start, glyphs->up, part->end, glyphs->down,
            tts_devices_units(kib, part->end - part->start, 10));
}

void tts_devices_text_layout(const struct tts_devices_one *one, bool utf8, FILE *out)
{
    char kib[TTS_DEVICES_NUMBER_MAX];
    unsigned room = tts_say_columns() - (BAR_COLUMN + 2 + NAME_COLUMNS);
    struct bars bars = {.cells = room < CELLS_MAX ? room : CELLS_MAX,
                        .glyphs = utf8 ? &utf8_glyphs : &ascii};
    assert(one->part_count > 0 && bars.cells >= CELLS_MIN);
    bars.size = one->parts[one->part_count - 1].end;
    tts_say(out, 0, "L1 of a core of %s (%s): %" PRIu64 " bytes, %s KiB, from bottom to top",
            one->chip.name, tts_arch_name(one->chip.arch), bars.size,
            tts_devices_units(kib, bars.size, 10));
    fprintf(out, "  %10s  %10s  %9s  %-*s  part\n", "start", "end", "KiB", (int)bars.cells,
            bars.cells < CELLS_MAX ? "to scale" : "to scale, at least one cell each");
    for (size_t i = 0; i < one->part_count; i++)
        print_part(&one->parts[i], &bars, out);
    for (size_t i = 0; i < one->part_count; i++)
        if (one->parts[i].grows)
            print_growing(&one->parts[i], bars.glyphs, out);
}
