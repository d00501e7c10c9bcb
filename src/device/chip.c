#include "ttscope/chip.h"

#include "base/error.h"
#include "base/nearest.h"
#include "device/chip_facts.h"
#include "device/chip_text.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- derived facts ---- */

static const struct tts_fact unknown = {0, TTS_ORIGIN_UNKNOWN, ""};

static bool is_set(const struct tts_chip *chip, enum tts_fact_key key)
{
    return chip->fact[key].origin == TTS_ORIGIN_SET;
}

static void derive(struct tts_chip *chip, enum tts_fact_key key, struct tts_fact fact)
{
    assert(key < TTS_FACTS && fact.origin != TTS_ORIGIN_SET && fact.source);
    if (!is_set(chip, key))
        chip->fact[key] = fact;
}

/* bounded_sum() returns a + b, bounded_product() a * b. A result that is too large becomes a
 * size that tts_chip_check() rejects. */
static uint64_t bounded_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    bool wraps = __builtin_add_overflow(a, b, &sum);
    return wraps || sum > TTS_FACT_BYTES_MAX ? TTS_FACT_BYTES_MAX : sum;
}

static uint64_t bounded_product(uint64_t a, uint64_t b)
{
    uint64_t product;
    bool wraps = __builtin_mul_overflow(a, b, &product);
    return wraps || product > TTS_FACT_BYTES_MAX ? TTS_FACT_BYTES_MAX : product;
}

static struct tts_fact dram_base_of(const struct tts_chip *chip)
{
    static const enum tts_fact_key factors[] = {
        TTS_FACT_PROFILER_RECORD, TTS_FACT_PROFILER_PROGRAMS, TTS_FACT_PROFILER_RISCS,
        TTS_FACT_PROFILER_CORES};
    static const enum tts_fact_key terms[] = {TTS_FACT_DRAM_ALIGNMENT, TTS_FACT_DRAM_ALIGNMENT,
                                              TTS_FACT_DRAM_PRINT, TTS_FACT_DRAM_QUEUES};
    uint64_t sum = 1;
    for (size_t i = 0; i < COUNT_OF(factors); i++) {
        if (!tts_chip_knows(chip, factors[i]))
            return unknown;
        sum = bounded_product(sum, tts_chip_value(chip, factors[i]));
    }
    for (size_t i = 0; i < COUNT_OF(terms); i++) {
        if (!tts_chip_knows(chip, terms[i]))
            return unknown;
        sum = bounded_sum(sum, tts_chip_value(chip, terms[i]));
    }
    return (struct tts_fact){sum, TTS_ORIGIN_DERIVED,
                             "barrier + profiler buffer + alignment + print buffer + queues"};
}

static bool worker_l1_is_given(const struct tts_chip *chip)
{
    return tts_chip_knows(chip, TTS_FACT_WORKER_L1) &&
           tts_chip_value(chip, TTS_FACT_WORKER_L1) != 0;
}

static struct tts_fact l1_base_of(const struct tts_chip *chip)
{
    bool given = worker_l1_is_given(chip);
    enum tts_fact_key a = given ? TTS_FACT_L1_SIZE : TTS_FACT_L1_MAP_END;
    enum tts_fact_key b = given ? TTS_FACT_WORKER_L1 : TTS_FACT_KERNEL_CONFIG;
    if (!tts_chip_knows(chip, a) || !tts_chip_knows(chip, b) ||
        !tts_chip_knows(chip, TTS_FACT_DRAM_ALIGNMENT) ||
        !tts_chip_knows(chip, TTS_FACT_L1_ALIGNMENT))
        return unknown;
    uint64_t dram = tts_chip_value(chip, TTS_FACT_DRAM_ALIGNMENT);
    uint64_t l1 = tts_chip_value(chip, TTS_FACT_L1_ALIGNMENT);
    uint64_t x = tts_chip_value(chip, a), y = tts_chip_value(chip, b);
    uint64_t end = given ? (y < x ? x - y : 0) : bounded_sum(x, y);
    uint64_t base = bounded_sum(tts_chip_round_up(end, dram > l1 ? dram : l1), 0);
    return (struct tts_fact){base, TTS_ORIGIN_DERIVED,
                             given ? "l1_size - worker_l1, rounded up"
                                   : "l1_map_end + kernel_config, rounded up"};
}

/* Derives the base of L1 and the size of the kernel-config ring. The ring has its usual size.
 * If the user set worker_l1, the ring has all bytes up to the base that follows from it. */
static void derive_l1(struct tts_chip *chip)
{
    struct tts_fact_layer layer = tts_facts_of_arch(chip->arch);
    for (size_t i = 0; i < layer.count; i++) {
        if (layer.rows[i].key == TTS_FACT_KERNEL_CONFIG)
            derive(chip, TTS_FACT_KERNEL_CONFIG, layer.rows[i].fact);
    }
    derive(chip, TTS_FACT_L1_BASE, l1_base_of(chip));
    if (!worker_l1_is_given(chip) || !tts_chip_knows(chip, TTS_FACT_L1_BASE) ||
        !tts_chip_knows(chip, TTS_FACT_L1_MAP_END))
        return;
    uint64_t base = tts_chip_value(chip, TTS_FACT_L1_BASE);
    uint64_t map_end = tts_chip_value(chip, TTS_FACT_L1_MAP_END);
    derive(chip, TTS_FACT_KERNEL_CONFIG,
           (struct tts_fact){base > map_end ? base - map_end : 0, TTS_ORIGIN_DERIVED,
                             "l1_base - l1_map_end, because worker_l1 is set"});
}

static struct tts_fact grid_of(const struct tts_chip *chip)
{
    if (!tts_chip_knows(chip, TTS_FACT_DISPATCH))
        return unknown;
    uint64_t dispatch = tts_chip_value(chip, TTS_FACT_DISPATCH);
    assert(dispatch < TTS_DISPATCHES);
    if (!is_set(chip, TTS_FACT_TENSIX_GRID))
        return chip->grids[dispatch];
    uint64_t tensix = tts_chip_value(chip, TTS_FACT_TENSIX_GRID);
    uint32_t columns = TTS_GRID_COLUMNS(tensix), rows = TTS_GRID_ROWS(tensix);
    if (dispatch == TTS_DISPATCH_ROW)
        return (struct tts_fact){TTS_GRID(columns, rows - 1), TTS_ORIGIN_DERIVED,
                                 "tensix_grid minus one row for dispatch"};
    if (dispatch == TTS_DISPATCH_COLUMN)
        return (struct tts_fact){TTS_GRID(columns - 1, rows), TTS_ORIGIN_DERIVED,
                                 "tensix_grid minus one column for dispatch"};
    return (struct tts_fact){tensix, TTS_ORIGIN_DERIVED, "all cores of tensix_grid"};
}

static void derive_all(struct tts_chip *chip)
{
    assert(chip->arch <= TTS_ARCH_QUASAR);
    derive(chip, TTS_FACT_DRAM_BASE, dram_base_of(chip));
    derive_l1(chip);
    derive(chip, TTS_FACT_GRID, grid_of(chip));
}

/* ---- presets ---- */

const struct tts_preset *tts_preset_at(size_t idx)
{
    const struct tts_board *board = tts_board_at(idx);
    return board ? &board->preset : NULL;
}

static void lay(struct tts_chip *chip, struct tts_fact_layer layer)
{
    for (size_t i = 0; i < layer.count; i++) {
        assert(layer.rows[i].key < TTS_FACTS && layer.rows[i].fact.source[0] != '\0');
        chip->fact[layer.rows[i].key] = layer.rows[i].fact;
    }
}

static void lay_cores(struct tts_chip *chip, const struct tts_board *board)
{
    const struct tts_core_counts *cores = board->cores;
    if (!cores)
        return;
    struct tts_fact fact = {cores->tensix, board->cores_origin, board->cores_source};
    assert(fact.origin != TTS_ORIGIN_UNKNOWN);
    chip->fact[TTS_FACT_TENSIX_GRID] = fact;
    for (size_t i = 0; i < TTS_DISPATCHES; i++) {
        fact.value = cores->grids[i];
        chip->grids[i] = fact;
    }
}

static struct tts_chip chip_of(const struct tts_board *board)
{
    struct tts_chip chip = {.arch = board->preset.arch};
    size_t len = strlen(board->preset.name);
    assert(len < TTS_CHIP_NAME_MAX);
    memcpy(chip.name, board->preset.name, len);
    for (size_t i = 0; i < TTS_FACTS; i++)
        chip.fact[i] = unknown;
    for (size_t i = 0; i < TTS_DISPATCHES; i++)
        chip.grids[i] = unknown;
    lay(&chip, tts_facts_common());
    lay(&chip, tts_facts_of_arch(chip.arch));
    lay(&chip, board->own);
    chip.fact[TTS_FACT_CHIPS] = (struct tts_fact){board->chips, TTS_ORIGIN_KNOWN,
                                                  "the number of chips of the board or system"};
    lay_cores(&chip, board);
    derive_all(&chip);
    return chip;
}

enum { WORD_MAX = 40 }; /* more than the length of any key or preset name */

/* Copies a word in lower case, with each `from` replaced by `to`. Cuts a word that is too long.
 * The cut word matches no name, because all names are shorter. */
static const char *plain_word(char out[WORD_MAX + 1], const char *word, char from, char to)
{
    size_t len = 0;
    for (; len < WORD_MAX && word[len]; len++) {
        char c = word[len] == from ? to : word[len];
        out[len] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    out[len] = '\0';
    return out;
}

/* Returns true if `word` is the name or an alias of the preset. Offers both names to
 * `nearest`. */
static bool is_called(const struct tts_preset *preset, const char *word,
                      struct tts_nearest *nearest)
{
    bool is_it = strcmp(preset->name, word) == 0;
    tts_nearest_offer(nearest, preset->name);
    for (size_t i = 0; preset->aliases[i]; i++) {
        is_it |= strcmp(preset->aliases[i], word) == 0;
        tts_nearest_offer(nearest, preset->aliases[i]);
    }
    return is_it;
}

enum tts_status tts_chip_preset(const char *name, struct tts_chip *out, struct tts_error *err)
{
    char word[WORD_MAX + 1];
    struct tts_nearest nearest = {.word = plain_word(word, name, '_', '-')};
    const struct tts_board *board;
    for (size_t i = 0; (board = tts_board_at(i)) != NULL; i++) {
        if (is_called(&board->preset, word, &nearest)) {
            *out = chip_of(board);
            return TTS_OK;
        }
    }
    const char *best = nearest.best;
    return tts_error_set(err, TTS_E_NOT_FOUND, "no device is named '%.40s'%s%s%s", name,
                         best ? ", did you mean '" : "", best ? best : "", best ? "'?" : "");
}

/* ---- setting ---- */

static enum tts_status key_find(const char *text, enum tts_fact_key *out, struct tts_error *err)
{
    char word[WORD_MAX + 1];
    struct tts_nearest nearest = {.word = plain_word(word, text, '-', '_')};
    for (size_t i = 0; i < TTS_FACTS; i++) {
        if (strcmp(tts_fact_name((enum tts_fact_key)i), word) == 0) {
            *out = (enum tts_fact_key)i;
            return TTS_OK;
        }
        tts_nearest_offer(&nearest, tts_fact_name((enum tts_fact_key)i));
    }
    const char *best = nearest.best;
    return tts_error_set(err, TTS_E_NOT_FOUND, "no property of a device is named '%.40s'%s%s%s",
                         text, best ? ", did you mean '" : "", best ? best : "",
                         best ? "'?" : "");
}

enum tts_status tts_chip_set(struct tts_chip *chip, const char *key, const char *value,
                             struct tts_error *err)
{
    enum tts_fact_key which = TTS_FACTS;
    enum tts_status status = key_find(key, &which, err);
    if (status != TTS_OK)
        return status;
    struct tts_fact fact = {0, TTS_ORIGIN_SET, "set by the user"};
    status = tts_fact_parse(which, value, &fact.value, err);
    if (status != TTS_OK)
        return status;
    chip->fact[which] = fact;
    derive_all(chip);
    return TTS_OK;
}
