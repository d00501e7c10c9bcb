/* devices_pools.c: the pools of one chip, and what they add up to. */
#include "cli/devices_parts.h"

#include <inttypes.h>

enum { MIB_SHIFT = 20, GIB_SHIFT = 30 };

/* Which fact is 0 when the pool is empty. */
static const char *empty_because(enum tts_pool pool)
{
    return pool == TTS_POOL_TRACE      ? "none, as trace_region is 0: traces go to DRAM"
           : pool == TTS_POOL_L1_SMALL ? "none, as l1_small is 0"
                                       : "none";
}

static void print_pool(const struct tts_chip *chip, enum tts_pool pool, FILE *out)
{
    struct tts_pool_layout layout;
    struct tts_error err;
    fprintf(out, "  %-8s  ", tts_pool_name(pool));
    if (tts_chip_pool(chip, pool, &layout, &err) != TTS_OK)
        fprintf(out, "unknown: %s\n", err.text);
    else if (layout.banks == 0)
        fprintf(out, "%s\n", empty_because(pool));
    else
        fprintf(out,
                "%5" PRIu32 "  %14" PRIu64 " %11" PRIu64 " %11" PRIu64 " %4" PRIu64 " %5" PRIu64
                "  %s\n",
                layout.banks, layout.bank_bytes, layout.offset_bytes,
                layout.offset_bytes + layout.bank_bytes, layout.page_alignment_bytes,
                layout.block_alignment_bytes,
                layout.direction == TTS_DIRECTION_UP ? "the bottom" : "the top");
}

/* A product of three, as bytes and in larger units. */
static void print_product(const uint64_t factors[3], enum tts_pool pool, FILE *out)
{
    char text[TTS_DEVICES_NUMBER_MAX];
    uint64_t product;
    bool is_dram = pool == TTS_POOL_DRAM || pool == TTS_POOL_TRACE;
    if (__builtin_mul_overflow(factors[0], factors[1], &product) ||
        __builtin_mul_overflow(product, factors[2], &product)) {
        fprintf(out, "  %26s", "past 64 bits");
        return;
    }
    fprintf(out, "  %13" PRIu64 "  %7s %s", product,
            tts_devices_units(text, product, is_dram ? GIB_SHIFT : MIB_SHIFT),
            is_dram ? "GiB" : "MiB");
}

/* L1_SMALL and TRACE are cut out of L1 and DRAM, whose nominal sizes contain them. */
static void print_total(const struct tts_chip *chip, enum tts_pool pool, uint64_t chips,
                        FILE *out)
{
    struct tts_pool_layout layout;
    struct tts_error err;
    if (tts_chip_pool(chip, pool, &layout, &err) != TTS_OK || layout.banks == 0)
        return;
    fprintf(out, "  %-8s  %5" PRIu64, tts_pool_name(pool), chips);
    print_product((const uint64_t[3]){layout.banks, layout.bank_bytes, chips}, pool, out);
    if (pool == TTS_POOL_DRAM || pool == TTS_POOL_L1)
        print_product((const uint64_t[3]){layout.banks, layout.nominal_bytes, chips}, pool,
                      out);
    fputc('\n', out);
}

static bool has_pools(const struct tts_chip *chip)
{
    struct tts_pool_layout layout;
    struct tts_error err;
    for (size_t i = 0; i < TTS_POOLS; i++)
        if (tts_chip_pool(chip, (enum tts_pool)i, &layout, &err) == TTS_OK && layout.banks > 0)
            return true;
    return false;
}

void tts_devices_text_pools(const struct tts_chip *chip, FILE *out)
{
    uint64_t chips = chip->fact[TTS_FACT_CHIPS].value;
    fprintf(out, "\n%68s\n%-10s  %5s  %14s %11s %11s %4s %5s  %s\n", "alignment", "pools",
            "banks", "bytes per bank", "first byte", "end", "page", "block", "taken from");
    for (size_t i = 0; i < TTS_POOLS; i++)
        print_pool(chip, (enum tts_pool)i, out);
    if (!has_pools(chip))
        return;
    fprintf(out, "\n%-10s  %5s  %26s  %26s\n", "totals", "chips", "allocatable", "nominal");
    for (size_t i = 0; i < TTS_POOLS; i++) {
        print_total(chip, (enum tts_pool)i, 1, out);
        if (chips > 1)
            print_total(chip, (enum tts_pool)i, chips, out);
    }
}
