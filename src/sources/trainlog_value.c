#include "sources/trainlog_inside.h"

#include <assert.h>
#include <string.h>

enum {
    MB_BITS = 20,
    QUICK_DIGITS = 12, /* of a fraction: times 2^21 they fit into 64 bits */
    /* A half of a byte has 21 decimals: digits behind these change no rounding. */
    EXACT_DIGITS = 24,
};
#define MB_MAX (INT64_MAX >> MB_BITS)

/* The digits from `*at` on, as groups of three where there are commas. */
static bool read_whole(struct tts_span text, size_t *at, uint64_t *out)
{
    uint64_t value = 0;
    size_t digits = 0, commas = 0, i = *at;
    for (; i < text.len; i++) {
        char c = text.at[i];
        if (tts_is_digit(c)) {
            if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
                __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
                return false;
            digits++;
        } else if (c == ',') {
            if (commas > 0 ? digits != 3 : digits == 0 || digits > 3)
                return false;
            commas++;
            digits = 0;
        } else {
            break;
        }
    }
    if (commas > 0 ? digits != 3 : digits == 0)
        return false;
    *at = i;
    *out = value;
    return true;
}

/* 0.digits times 2^21, rounded down: doubled, digit by digit, and what runs over kept. */
static uint64_t scale_slowly(const char *text, size_t count)
{
    unsigned char digits[EXACT_DIGITS];
    uint64_t bits = 0;
    assert(count <= EXACT_DIGITS);
    for (size_t i = 0; i < count; i++)
        digits[i] = (unsigned char)(text[i] - '0');
    for (int bit = 0; bit <= MB_BITS; bit++) {
        unsigned carry = 0;
        for (size_t i = count; i-- > 0;) {
            unsigned twice = digits[i] * 2u + carry;
            carry = twice >= 10;
            digits[i] = (unsigned char)(twice - 10 * carry);
        }
        bits = bits * 2 + carry;
    }
    return bits;
}

static uint64_t scale(const char *text, size_t count)
{
    uint64_t value = 0, unit = 1;
    if (count > QUICK_DIGITS)
        return scale_slowly(text, count < EXACT_DIGITS ? count : EXACT_DIGITS);
    for (size_t i = 0; i < count; i++) {
        value = value * 10 + (uint64_t)(text[i] - '0');
        unit *= 10;
    }
    return (value << (MB_BITS + 1)) / unit;
}

/* The fraction from `*at` on, in bytes of a MB, half up. No point is no fraction. */
static bool read_fraction(struct tts_span text, size_t *at, uint64_t *out)
{
    *out = 0;
    if (*at == text.len || text.at[*at] != '.')
        return true;
    size_t begin = *at + 1, end = begin;
    while (end < text.len && tts_is_digit(text.at[end]))
        end++;
    if (end == begin)
        return false;
    *out = (scale(text.at + begin, end - begin) + 1) / 2;
    *at = end;
    return true;
}

bool tts_logvalue_mb(struct tts_span text, int64_t *bytes)
{
    text = tts_span_trim(text);
    bool is_negative = text.len > 0 && text.at[0] == '-';
    size_t at = text.len > 0 && (text.at[0] == '-' || text.at[0] == '+');
    uint64_t whole, fraction;
    if (!read_whole(text, &at, &whole) || !read_fraction(text, &at, &fraction) ||
        whole >= MB_MAX)
        return false;
    while (at < text.len && tts_is_blank(text.at[at]))
        at++;
    if (text.len - at != 2 || memcmp(text.at + at, "MB", 2) != 0)
        return false;
    int64_t value = (int64_t)((whole << MB_BITS) + fraction);
    assert(value >= 0);
    *bytes = is_negative ? -value : value;
    return true;
}

/* Up to `max` digits. */
static inline size_t quick_digits(struct tts_span text, size_t at, size_t max, uint64_t *out)
{
    uint64_t value = 0;
    size_t count = 0;
    while (count < max && at < text.len && tts_is_digit(text.at[at])) {
        value = value * 10 + (uint64_t)(text.at[at++] - '0');
        count++;
    }
    *out = value;
    return count;
}

bool tts_logvalue_quick_mb(struct tts_span text, size_t *at, int64_t *bytes)
{
    size_t i = *at, digits;
    uint64_t whole, hundredths;
    while (i < text.len && text.at[i] == ' ')
        i++;
    bool is_negative = i < text.len && text.at[i] == '-';
    i += is_negative || (i < text.len && text.at[i] == '+');
    digits = quick_digits(text, i, QUICK_DIGITS, &whole);
    i += digits + 1;
    if (digits == 0 || i > text.len || text.at[i - 1] != '.' ||
        quick_digits(text, i, 2, &hundredths) != 2)
        return false;
    struct tts_span rest = {text.at + i + 2, text.len - i - 2};
    if (!tts_span_begins(rest, " MB") ||
        (rest.len > 3 && (rest.at[3] != ',' || (rest.len > 4 && !tts_is_blank(rest.at[4])))))
        return false;
    int64_t value = (int64_t)((whole << MB_BITS) + (((hundredths << 21) / 100 + 1) >> 1));
    *bytes = is_negative ? -value : value;
    *at = i + 5;
    return true;
}

bool tts_logvalue_count(struct tts_span text, uint64_t *out)
{
    size_t at = 0;
    uint64_t value;
    if (!read_whole(text, &at, &value) || at != text.len)
        return false;
    *out = value;
    return true;
}

bool tts_logvalue_shape(struct tts_span text, uint32_t *out)
{
    uint32_t product = 1;
    for (size_t begin = 0; begin <= text.len;) {
        size_t end = begin;
        uint64_t side;
        while (end < text.len && tts_is_digit(text.at[end]))
            end++;
        if (!tts_logvalue_count((struct tts_span){text.at + begin, end - begin}, &side) ||
            side == 0 || __builtin_mul_overflow(product, side, &product) ||
            (end < text.len && text.at[end] != 'x'))
            return false;
        begin = end + 1;
    }
    *out = product;
    return true;
}
