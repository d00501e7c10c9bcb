#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FRACTION_DIGITS = 6 };
#define MILLION UINT64_C(1000000)

/* Returns the value of a digit in any base up to 16, or 16 for other characters. */
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

/* If the text has both a character that is not a digit and too many digits, the error is about
 * the character, wherever it stands. */
static enum tts_status parse_digits(const char *text, size_t len, unsigned base, uint64_t *out)
{
    uint64_t value = 0;
    enum tts_status status = len > 0 ? TTS_OK : TTS_E_SYNTAX;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = digit_value(text[i]);
        if (digit >= base)
            return TTS_E_SYNTAX;
        if (value > (UINT64_MAX - digit) / base)
            status = TTS_E_RANGE;
        else
            value = value * base + digit;
    }
    if (status == TTS_OK)
        *out = value;
    return status;
}

enum tts_status tts_number_parse(const char *text, size_t len, uint64_t *out)
{
    return parse_digits(text, len, 10, out);
}

enum tts_status tts_number_parse_hex(const char *text, size_t len, uint64_t *out)
{
    return parse_digits(text, len, 16, out);
}

bool tts_number_parse_millionths(const char *text, size_t len, uint64_t max, uint64_t *out)
{
    const char *dot = memchr(text, '.', len);
    size_t whole_len = dot ? (size_t)(dot - text) : len;
    size_t digits = dot ? len - whole_len - 1 : 0;
    uint64_t whole = 0, fraction = 0;
    if (whole_len + digits == 0 ||
        (whole_len > 0 && tts_number_parse(text, whole_len, &whole) != TTS_OK) ||
        (digits > 0 && tts_number_parse(dot + 1, digits, &fraction) != TTS_OK) || whole > max)
        return false;
    /* Digits after the sixth are dropped. */
    for (; digits < FRACTION_DIGITS; digits++)
        fraction *= 10;
    for (; digits > FRACTION_DIGITS; digits--)
        fraction /= 10;
    uint64_t value = whole * MILLION + fraction;
    if (value > max * MILLION)
        return false;
    *out = value;
    return true;
}

/* Returns bytes / 2^shift in units of 10^-decimals, rounded half up. Works digit by digit, so
 * that no intermediate result overflows. */
static uint64_t scale_number(uint64_t bytes, unsigned shift, unsigned decimals)
{
    assert(shift >= 10 && shift <= 60);
    uint64_t mask = (UINT64_C(1) << shift) - 1;
    uint64_t value = bytes >> shift, rest = bytes & mask;
    for (unsigned i = 0; i < decimals; i++) {
        rest *= 10;
        value = value * 10 + (rest >> shift);
        rest &= mask;
    }
    return value + (rest >> (shift - 1));
}

const char *tts_number_format_bytes(char out[TTS_NUMBER_BYTES_MAX], uint64_t bytes)
{
    static const char units[] = "KMGTPE";
    unsigned unit = 0;
    if (bytes < 1024) {
        snprintf(out, TTS_NUMBER_BYTES_MAX, "%" PRIu64 " B", bytes);
        return out;
    }
    /* Rounding may give 1024 KiB, for example. Write 1 MiB instead. */
    while (unit < 5 && scale_number(bytes, 10 * (unit + 1), 0) >= 1024)
        unit++;
    unsigned shift = 10 * (unit + 1), decimals = 2;
    while (decimals > 0 && scale_number(bytes, shift, decimals) >= 1000)
        decimals--;
    static const unsigned powers[] = {1, 10, 100};
    uint64_t value = scale_number(bytes, shift, decimals);
    uint64_t whole = value / powers[decimals], part = value % powers[decimals];
    if (decimals == 0)
        snprintf(out, TTS_NUMBER_BYTES_MAX, "%" PRIu64 " %ciB", whole, units[unit]);
    else
        snprintf(out, TTS_NUMBER_BYTES_MAX, "%" PRIu64 ".%0*" PRIu64 " %ciB", whole,
                 (int)decimals, part, units[unit]);
    return out;
}

size_t tts_number_format(char out[TTS_NUMBER_MAX], uint64_t value)
{
    char digits[TTS_NUMBER_MAX];
    size_t len = 0;
    do {
        digits[TTS_NUMBER_MAX - ++len] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    memcpy(out, digits + TTS_NUMBER_MAX - len, len);
    return len;
}

void tts_number_format_hex(char *out, uint64_t value, int digits)
{
    for (int i = 0; i < digits; i++)
        out[i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 15];
}

/* Splits bytes / 1048576, rounded half to even, into whole units and hundredths, 0 to 100. */
static inline uint64_t split_mb(uint64_t bytes, uint64_t *hundredths)
{
    const uint64_t mb = UINT64_C(1) << 20;
    uint64_t scaled = bytes % mb * 100, rest = scaled % mb;
    *hundredths = scaled / mb;
    /* Round half to even: a tie is rounded up if the last digit is odd. The whole units do not
     * change whether the last digit is odd, because they count hundreds and 100 is even. */
    if (rest > mb / 2 || (rest == mb / 2 && *hundredths % 2 == 1))
        ++*hundredths;
    return bytes / mb;
}

uint64_t tts_number_mb_hundredths(uint64_t bytes)
{
    uint64_t hundredths, whole = split_mb(bytes, &hundredths);
    return whole * 100 + hundredths;
}

/* Writes hundredths with two decimals and a terminator. */
static void put_hundredths(char *out, uint64_t whole, unsigned hundredths)
{
    size_t len = tts_number_format(out, whole);
    out[len] = '.';
    out[len + 1] = (char)('0' + hundredths / 10);
    out[len + 2] = (char)('0' + hundredths % 10);
    out[len + 3] = '\0';
}

const char *tts_number_format_mb(char out[TTS_NUMBER_MB_MAX], int64_t bytes, bool plus)
{
    uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
    uint64_t hundredths, whole = split_mb(size, &hundredths);
    bool has_sign = bytes < 0 || plus;
    out[0] = bytes < 0 ? '-' : '+';
    put_hundredths(out + has_sign, whole + hundredths / 100, (unsigned)(hundredths % 100));
    return out;
}

const char *tts_number_format_shifted(char out[TTS_NUMBER_BYTES_MAX], uint64_t bytes,
                                      unsigned shift)
{
    uint64_t hundredths = scale_number(bytes, shift, 2);
    put_hundredths(out, hundredths / 100, (unsigned)(hundredths % 100));
    return out;
}
