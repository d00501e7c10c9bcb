#include "ttscope/chip.h"

#include "base/error.h"
#include "device/chip_regions.h"

#include <inttypes.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool knows_all(const struct tts_chip *chip, const enum tts_fact_key *keys, size_t count)
{
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all = all && tts_chip_knows(chip, keys[i]);
    return all;
}

/* Checks that every value is within the bounds on which later sums rely. The caller may have
 * filled the chip with any values. */
static enum tts_status check_bounds(const struct tts_chip *chip, struct tts_error *err)
{
    static const uint64_t limits[] = {[TTS_UNIT_BYTES] = TTS_FACT_BYTES_MAX,
                                      [TTS_UNIT_COUNT] = UINT32_MAX,
                                      [TTS_UNIT_GRID] = UINT64_MAX,
                                      [TTS_UNIT_DISPATCH] = TTS_DISPATCHES - 1};
    for (size_t i = 0; i < TTS_FACTS; i++) {
        enum tts_fact_key key = (enum tts_fact_key)i;
        uint64_t limit = limits[tts_fact_unit(key)];
        if (tts_chip_knows(chip, key) && tts_chip_value(chip, key) > limit)
            return tts_error_set(err, TTS_E_INVALID,
                                 "'%s' is %" PRIu64 ", expected at most %" PRIu64,
                                 tts_fact_name(key), tts_chip_value(chip, key), limit);
    }
    return TTS_OK;
}

static bool is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

static enum tts_status check_alignments(const struct tts_chip *chip, struct tts_error *err)
{
    static const enum tts_fact_key keys[] = {TTS_FACT_DRAM_ALIGNMENT, TTS_FACT_L1_ALIGNMENT,
                                             TTS_FACT_PCIE_ALIGNMENT};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (tts_chip_knows(chip, keys[i]) && !is_power_of_two(tts_chip_value(chip, keys[i])))
            return tts_error_set(err, TTS_E_INVALID,
                                 "'%s' is %" PRIu64 ", expected a power of two",
                                 tts_fact_name(keys[i]), tts_chip_value(chip, keys[i]));
    }
    return TTS_OK;
}

static enum tts_status check_counts(const struct tts_chip *chip, struct tts_error *err)
{
    static const struct {
        enum tts_fact_key key;
        uint64_t min, max;
    } counts[] = {{TTS_FACT_CHIPS, 1, UINT32_MAX},
                  {TTS_FACT_DRAM_CHANNEL_BANKS, 1, UINT32_MAX},
                  {TTS_FACT_MAX_CBS, 1, 64}};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        if (!tts_chip_knows(chip, counts[i].key))
            continue;
        uint64_t value = tts_chip_value(chip, counts[i].key);
        if (value < counts[i].min || value > counts[i].max)
            return tts_error_set(
                err, TTS_E_INVALID, "'%s' is %" PRIu64 ", expected %" PRIu64 " to %" PRIu64,
                tts_fact_name(counts[i].key), value, counts[i].min, counts[i].max);
    }
    return TTS_OK;
}

/* Returns true if the runtime can interleave pages over this number of banks. */
static bool is_bank_count(uint64_t count)
{
    static const uint8_t odd_ones[] = {7,  12,  20,  48,  56,  63,  70,  72,  80,
                                       94, 108, 110, 117, 120, 124, 126, 130, 140};
    for (size_t i = 0; i < COUNT_OF(odd_ones); i++) {
        if (count == odd_ones[i])
            return true;
    }
    return is_power_of_two(count);
}

static enum tts_status check_grid(const struct tts_chip *chip, enum tts_fact_key key,
                                  struct tts_error *err)
{
    if (!tts_chip_knows(chip, key))
        return TTS_OK;
    uint64_t grid = tts_chip_value(chip, key);
    uint32_t columns = TTS_GRID_COLUMNS(grid), rows = TTS_GRID_ROWS(grid);
    if (columns == 0 || rows == 0)
        return tts_error_set(err, TTS_E_INVALID,
                             "'%s' has no cores%s: change 'dispatch', 'tensix_grid' or 'grid'",
                             tts_fact_name(key),
                             key == TTS_FACT_GRID ? " under this kind of dispatch" : "");
    if (columns > TTS_GRID_SIDE_MAX || rows > TTS_GRID_SIDE_MAX)
        return tts_error_set(err, TTS_E_INVALID,
                             "'%s' is %" PRIu32 "x%" PRIu32 ", expected sides up to %d",
                             tts_fact_name(key), columns, rows, TTS_GRID_SIDE_MAX);
    return TTS_OK;
}

static enum tts_status check_bank_count(const char *what, uint64_t count, struct tts_error *err)
{
    if (is_bank_count(count))
        return TTS_OK;
    return tts_error_set(err, TTS_E_INVALID,
                         "%s %" PRIu64
                         ", expected a power of two or one of 7 12 20 48 56 63 70 "
                         "72 80 94 108 110 117 120 124 126 130 140",
                         what, count);
}

static enum tts_status check_banks(const struct tts_chip *chip, struct tts_error *err)
{
    enum tts_status status = TTS_OK;
    if (tts_chip_knows(chip, TTS_FACT_DRAM_BANKS))
        status =
            check_bank_count("'dram_banks' is", tts_chip_value(chip, TTS_FACT_DRAM_BANKS), err);
    if (status == TTS_OK && tts_chip_knows(chip, TTS_FACT_DRAM_BANKS) &&
        tts_chip_knows(chip, TTS_FACT_DRAM_BANK_SIZE)) {
        uint64_t all;
        if (__builtin_mul_overflow(tts_chip_value(chip, TTS_FACT_DRAM_BANKS),
                                   tts_chip_value(chip, TTS_FACT_DRAM_BANK_SIZE), &all))
            return tts_error_set(err, TTS_E_INVALID,
                                 "'dram_banks' times 'dram_bank_size' does not fit in 64 bits");
    }
    if (status != TTS_OK || !tts_chip_knows(chip, TTS_FACT_GRID))
        return status;
    uint64_t grid = tts_chip_value(chip, TTS_FACT_GRID);
    return check_bank_count("number of cores of 'grid' is",
                            (uint64_t)TTS_GRID_COLUMNS(grid) * TTS_GRID_ROWS(grid), err);
}

static enum tts_status check_dram(const struct tts_chip *chip, struct tts_error *err)
{
    static const enum tts_fact_key base_keys[] = {TTS_FACT_DRAM_BASE, TTS_FACT_DRAM_BANK_SIZE};
    static const enum tts_fact_key trace_keys[] = {
        TTS_FACT_TRACE_REGION, TTS_FACT_DRAM_ALIGNMENT, TTS_FACT_DRAM_BANKS};
    if (!knows_all(chip, base_keys, COUNT_OF(base_keys)))
        return TTS_OK;
    uint64_t base = tts_chip_value(chip, TTS_FACT_DRAM_BASE);
    uint64_t size = tts_chip_value(chip, TTS_FACT_DRAM_BANK_SIZE);
    if (base >= size)
        return tts_error_set(
            err, TTS_E_INVALID,
            "'dram_base' is %" PRIu64
            " and leaves no bytes of a bank, because 'dram_bank_size' is %" PRIu64
            ": change one of them",
            base, size);
    if (!knows_all(chip, trace_keys, COUNT_OF(trace_keys)))
        return TTS_OK;
    uint64_t trace = tts_chip_trace_of_bank(chip);
    assert(trace % 8192 == 0);
    if (trace >= size - base)
        return tts_error_set(err, TTS_E_INVALID,
                             "'trace_region' takes %" PRIu64
                             " bytes of each bank, but a bank has %" PRIu64
                             " bytes: make 'trace_region' smaller",
                             trace, size - base);
    return TTS_OK;
}

/* Checks that the L1 address `low` is not above the L1 address `high`. */
static enum tts_status check_order(const struct tts_chip *chip, enum tts_fact_key low,
                                   enum tts_fact_key high, struct tts_error *err)
{
    if (!tts_chip_knows(chip, low) || !tts_chip_knows(chip, high) ||
        tts_chip_value(chip, low) <= tts_chip_value(chip, high))
        return TTS_OK;
    return tts_error_set(err, TTS_E_INVALID,
                         "'%s' (%" PRIu64 ") is above '%s' (%" PRIu64 "): change one of them",
                         tts_fact_name(low), tts_chip_value(chip, low), tts_fact_name(high),
                         tts_chip_value(chip, high));
}

static enum tts_status check_worker_l1(const struct tts_chip *chip, struct tts_error *err)
{
    static const enum tts_fact_key keys[] = {TTS_FACT_WORKER_L1, TTS_FACT_L1_SIZE,
                                             TTS_FACT_L1_MAP_END};
    if (!knows_all(chip, keys, COUNT_OF(keys)))
        return TTS_OK;
    uint64_t size = tts_chip_value(chip, TTS_FACT_L1_SIZE);
    uint64_t map_end = tts_chip_value(chip, TTS_FACT_L1_MAP_END);
    uint64_t most = size > map_end ? size - map_end : 0;
    if (tts_chip_value(chip, TTS_FACT_WORKER_L1) <= most)
        return TTS_OK;
    return tts_error_set(err, TTS_E_INVALID,
                         "'worker_l1' is %" PRIu64 ", expected at most %" PRIu64,
                         tts_chip_value(chip, TTS_FACT_WORKER_L1), most);
}

static enum tts_status check_l1(const struct tts_chip *chip, struct tts_error *err)
{
    static const enum tts_fact_key keys[] = {TTS_FACT_L1_SIZE, TTS_FACT_L1_BASE,
                                             TTS_FACT_L1_SMALL, TTS_FACT_DRAM_ALIGNMENT};
    enum tts_status status = check_worker_l1(chip, err);
    if (status == TTS_OK)
        status = check_order(chip, TTS_FACT_L1_MAP_END, TTS_FACT_L1_BASE, err);
    if (status == TTS_OK)
        status = check_order(chip, TTS_FACT_L1_BASE, TTS_FACT_L1_SIZE, err);
    if (status != TTS_OK || !knows_all(chip, keys, COUNT_OF(keys)))
        return status;
    uint64_t small = tts_chip_l1_small(chip);
    assert(small >= tts_chip_value(chip, TTS_FACT_L1_SMALL));
    uint64_t room =
        tts_chip_value(chip, TTS_FACT_L1_SIZE) - tts_chip_value(chip, TTS_FACT_L1_BASE);
    if (small < room)
        return TTS_OK;
    return tts_error_set(err, TTS_E_INVALID,
                         "'l1_small' is %" PRIu64
                         " bytes and leaves no L1, because L1 has %" PRIu64
                         " bytes above 'l1_base': make 'l1_small' smaller",
                         small, room);
}

enum tts_status tts_chip_check(const struct tts_chip *chip, struct tts_error *err)
{
    enum tts_status status = check_bounds(chip, err);
    if (status == TTS_OK)
        status = check_alignments(chip, err);
    if (status == TTS_OK)
        status = check_counts(chip, err);
    if (status == TTS_OK)
        status = check_grid(chip, TTS_FACT_TENSIX_GRID, err);
    if (status == TTS_OK)
        status = check_grid(chip, TTS_FACT_GRID, err);
    if (status == TTS_OK)
        status = check_banks(chip, err);
    if (status == TTS_OK)
        status = check_dram(chip, err);
    if (status == TTS_OK)
        status = check_l1(chip, err);
    return status;
}
