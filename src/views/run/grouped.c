#include "views/run/grouped.h"

#include "base/number.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* Copies "[-]1234567[.89]" with a comma between thousands. */
static const char *put_grouped(char out[TTS_GROUPED_MAX], const char *number)
{
    size_t to = 0, digits;
    if (*number == '-')
        out[to++] = *number++;
    digits = strspn(number, "0123456789");
    for (size_t i = 0; number[i]; i++) {
        assert(to + 2 < TTS_GROUPED_MAX);
        if (i > 0 && i < digits && (digits - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = number[i];
    }
    out[to] = '\0';
    return out;
}

const char *tts_grouped_mb(char out[TTS_GROUPED_MAX], int64_t bytes)
{
    char number[TTS_NUMBER_MB_MAX];
    return put_grouped(out, tts_number_format_mb(number, bytes, false));
}

const char *tts_grouped_count(char out[TTS_GROUPED_MAX], uint64_t count)
{
    char number[TTS_NUMBER_MAX + 1];
    number[tts_number_format(number, count)] = '\0';
    return put_grouped(out, number);
}

const char *tts_grouped_percent(char out[TTS_GROUPED_MAX], int64_t part, int64_t whole)
{
    assert(whole > 0);
    snprintf(out, TTS_GROUPED_MAX, "%.2f", (double)part / (double)whole * 100);
    return out;
}
