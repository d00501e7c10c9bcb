#include "device/chip_text.h"

#include "base/error.h"
#include "base/number.h"
#include "device/chip_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

static const char *const arch_names[] = {
    [TTS_ARCH_GRAYSKULL] = "grayskull",
    [TTS_ARCH_WORMHOLE] = "wormhole",
    [TTS_ARCH_BLACKHOLE] = "blackhole",
    [TTS_ARCH_QUASAR] = "quasar",
};

static const char *const origin_names[] = {
    [TTS_ORIGIN_UNKNOWN] = "unknown",   [TTS_ORIGIN_KNOWN] = "known",
    [TTS_ORIGIN_INFERRED] = "inferred", [TTS_ORIGIN_DERIVED] = "derived",
    [TTS_ORIGIN_SET] = "set",
};

static const char *const dispatch_names[] = {
    [TTS_DISPATCH_ROW] = "row",
    [TTS_DISPATCH_COLUMN] = "column",
    [TTS_DISPATCH_ETHERNET] = "ethernet",
    [TTS_DISPATCH_SLOW] = "slow",
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Returns names[idx], or "unknown" if there is no such name. Callers can fill a chip
 * themselves, so `idx` can be any value. */
static const char *name_at(const char *const *names, size_t count, uint64_t idx)
{
    return idx < count ? names[idx] : "unknown";
}

const char *tts_arch_name(enum tts_arch arch)
{
    return name_at(arch_names, COUNT_OF(arch_names), arch);
}

const char *tts_origin_name(enum tts_origin origin)
{
    return name_at(origin_names, COUNT_OF(origin_names), origin);
}

const char *tts_dispatch_name(enum tts_dispatch dispatch)
{
    return name_at(dispatch_names, COUNT_OF(dispatch_names), dispatch);
}

static const struct {
    const char *name;
    enum tts_unit unit;
    const char *meaning;
} fact_table[] = {
#define FACT(name, key, unit, meaning) [TTS_FACT_##name] = {key, TTS_UNIT_##unit, meaning},
    TTS_FACT_MAP(FACT)
#undef FACT
};

const char *tts_fact_name(enum tts_fact_key key)
{
    assert(key < TTS_FACTS);
    return fact_table[key].name;
}

enum tts_unit tts_fact_unit(enum tts_fact_key key)
{
    assert(key < TTS_FACTS);
    return fact_table[key].unit;
}

const char *tts_fact_meaning(enum tts_fact_key key)
{
    assert(key < TTS_FACTS);
    return fact_table[key].meaning;
}

const char *tts_fact_text(enum tts_fact_key key, const struct tts_fact *fact,
                          char out[TTS_FACT_TEXT_MAX])
{
    uint64_t value = fact->value;
    if (fact->origin == TTS_ORIGIN_UNKNOWN)
        snprintf(out, TTS_FACT_TEXT_MAX, "unknown");
    else if (tts_fact_unit(key) == TTS_UNIT_GRID)
        snprintf(out, TTS_FACT_TEXT_MAX, "%" PRIu32 "x%" PRIu32, TTS_GRID_COLUMNS(value),
                 TTS_GRID_ROWS(value));
    else if (tts_fact_unit(key) == TTS_UNIT_DISPATCH)
        snprintf(out, TTS_FACT_TEXT_MAX, "%s",
                 name_at(dispatch_names, COUNT_OF(dispatch_names), value));
    else
        snprintf(out, TTS_FACT_TEXT_MAX, "%" PRIu64, value);
    return out;
}

/* ---- parsing ---- */

/* Fails because `text` is not a value of this fact. `wanted` is an example of a value. */
static enum tts_status refuse(enum tts_fact_key key, const char *text, enum tts_status status,
                              const char *wanted, struct tts_error *err)
{
    return tts_error_set(err, status, "invalid value '%.30s' for '%s': expected %s", text,
                         tts_fact_name(key), wanted);
}

/* Returns the exponent of two for the unit after a number: 20 for "3M" and "3MiB". Sets *len to
 * the length of the number. */
static unsigned take_unit(const char *text, size_t *len)
{
    static const char units[] = "KMG";
    size_t end = *len;
    if (end > 2 && memcmp(text + end - 2, "iB", 2) == 0)
        end -= 2;
    const char *unit = end > 0 ? memchr(units, text[end - 1], sizeof(units) - 1) : NULL;
    if (!unit)
        return 0;
    *len = end - 1;
    return 10 * (unsigned)(unit - units + 1);
}

static enum tts_status parse_bytes(const char *text, uint64_t *out)
{
    size_t len = strlen(text);
    unsigned shift = take_unit(text, &len);
    uint64_t value = 0;
    enum tts_status status = tts_number_parse(text, len, &value);
    if (status != TTS_OK)
        return status;
    if (value > TTS_FACT_BYTES_MAX >> shift)
        return TTS_E_RANGE;
    *out = value << shift;
    return TTS_OK;
}

static enum tts_status parse_count(const char *text, size_t len, uint64_t min, uint64_t max,
                                   uint64_t *out)
{
    uint64_t value = 0;
    enum tts_status status = tts_number_parse(text, len, &value);
    if (status != TTS_OK)
        return status;
    if (value < min || value > max)
        return TTS_E_RANGE;
    *out = value;
    return TTS_OK;
}

static enum tts_status parse_grid(const char *text, uint64_t *out)
{
    const char *x = strchr(text, 'x');
    if (!x)
        return TTS_E_SYNTAX;
    uint64_t columns = 0, rows = 0;
    enum tts_status first =
        parse_count(text, (size_t)(x - text), 1, TTS_GRID_SIDE_MAX, &columns);
    enum tts_status second = parse_count(x + 1, strlen(x + 1), 1, TTS_GRID_SIDE_MAX, &rows);
    if (first == TTS_E_SYNTAX || second == TTS_E_SYNTAX)
        return TTS_E_SYNTAX;
    if (first != TTS_OK || second != TTS_OK)
        return TTS_E_RANGE;
    *out = TTS_GRID(columns, rows);
    return TTS_OK;
}

static enum tts_status parse_dispatch(const char *text, uint64_t *out)
{
    for (size_t i = 0; i < TTS_DISPATCHES; i++) {
        if (strcmp(text, dispatch_names[i]) == 0) {
            *out = i;
            return TTS_OK;
        }
    }
    return TTS_E_SYNTAX;
}

enum tts_status tts_fact_parse(enum tts_fact_key key, const char *text, uint64_t *out,
                               struct tts_error *err)
{
    enum tts_status status = TTS_E_SYNTAX;
    const char *wanted = "";
    switch (tts_fact_unit(key)) {
    case TTS_UNIT_BYTES:
        status = parse_bytes(text, out);
        wanted = "bytes such as 32768 or 32KiB, up to 2^46";
        break;
    case TTS_UNIT_COUNT:
        status = parse_count(text, strlen(text), 0, UINT32_MAX, out);
        wanted = "a number up to 4294967295";
        break;
    case TTS_UNIT_GRID:
        status = parse_grid(text, out);
        wanted = "columns x rows such as 8x9, each 1 to 64";
        break;
    case TTS_UNIT_DISPATCH:
        status = parse_dispatch(text, out);
        wanted = "row, column, ethernet or slow";
        break;
    }
    assert(wanted[0] != '\0');
    return status == TTS_OK ? TTS_OK : refuse(key, text, status, wanted, err);
}
