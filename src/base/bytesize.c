#include "base/bytesize.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    DIGITS_MAX = 19, /* number of digits that fit in 64 bits; further digits are dropped */
    DIVISOR_MAX = 18,
    EXPONENT_MAX = 1000,
};

/* The number digits x 10^exponent x 2^shift. */
struct size {
    uint64_t digits;
    int exponent;
    unsigned shift;
    bool is_negative;
};

static bool is_size_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns the text after the number, or NULL if there is no number. */
static const char *read_size_digits(const char *text, struct size *size)
{
    bool any = false, is_behind_point = false;
    int kept = 0;
    for (; is_size_digit(*text) || (*text == '.' && !is_behind_point); text++) {
        if (*text == '.') {
            is_behind_point = true;
            continue;
        }
        any = true;
        if (kept < DIGITS_MAX) {
            size->digits = size->digits * 10 + (uint64_t)(*text - '0');
            kept += size->digits > 0;
            size->exponent -= is_behind_point;
        } else if (!is_behind_point && size->exponent < EXPONENT_MAX) {
            size->exponent++;
        }
    }
    return any ? text : NULL;
}

/* Returns the text after the exponent, or NULL if the exponent is incomplete. */
static const char *read_size_exponent(const char *text, struct size *size)
{
    if (*text != 'e' && *text != 'E')
        return text;
    bool is_negative = *++text == '-';
    int value = 0;
    if (*text == '-' || *text == '+')
        text++;
    if (!is_size_digit(*text))
        return NULL;
    for (; is_size_digit(*text); text++)
        value = value < EXPONENT_MAX ? value * 10 + (*text - '0') : value;
    size->exponent += is_negative ? -value : value;
    return text;
}

static bool read_size_suffix(const char *text, struct size *size)
{
    static const char units[] = "kmgt";
    if (*text == ' ')
        text++;
    char lower = *text >= 'A' && *text <= 'Z' ? (char)(*text - 'A' + 'a') : *text;
    const char *unit = lower ? strchr(units, lower) : NULL;
    if (unit) {
        size->shift = 10 * (unsigned)(unit - units + 1);
        text++;
    }
    return *text == '\0' ? text[-1] != ' '
                         : strcmp(text, "B") == 0 || (unit && strcmp(text, "iB") == 0);
}

/* Computes digits * 2^shift / divisor, rounded half up. Works bit by bit, so that no
 * intermediate result overflows. */
static enum tts_status divide_size(uint64_t digits, uint64_t divisor, unsigned shift,
                                   uint64_t *out)
{
    uint64_t whole = digits / divisor, rest = digits % divisor;
    assert(divisor > 0 && divisor <= UINT64_MAX / 16);
    for (unsigned i = 0; i < shift; i++) {
        if (whole > TTS_BYTESIZE_MAX)
            return TTS_E_RANGE;
        rest *= 2;
        whole = whole * 2 + (rest >= divisor);
        rest -= rest >= divisor ? divisor : 0;
    }
    whole += rest * 2 >= divisor;
    if (whole > TTS_BYTESIZE_MAX)
        return TTS_E_RANGE;
    *out = whole;
    return TTS_OK;
}

static enum tts_status size_value(struct size size, uint64_t *out)
{
    uint64_t divisor = 1;
    for (; size.exponent > 0 && size.digits > 0; size.exponent--)
        if (__builtin_mul_overflow(size.digits, 10, &size.digits))
            return TTS_E_RANGE;
    for (; size.exponent < -DIVISOR_MAX && size.digits > 0; size.exponent++)
        size.digits /= 10;
    if (size.digits == 0) {
        *out = 0;
        return TTS_OK;
    }
    for (; size.exponent < 0; size.exponent++)
        divisor *= 10;
    return divide_size(size.digits, divisor, size.shift, out);
}

enum tts_status tts_bytesize_parse(const char *text, uint64_t *out)
{
    struct size size = {.is_negative = text[0] == '-'};
    if (*text == '-' || *text == '+')
        text++;
    text = read_size_digits(text, &size);
    if (text)
        text = read_size_exponent(text, &size);
    if (!text || !read_size_suffix(text, &size))
        return TTS_E_SYNTAX;
    if (size.is_negative && size.digits > 0)
        return TTS_E_INVALID;
    return size_value(size, out);
}
