#include "views/utf8.h"

#include <assert.h>

/* Returns the bytes of the sequence that `lead` begins, or 0 if it begins none. */
static size_t sequence_len(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

size_t tts_utf8_next(const char *text, size_t len, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    assert(len > 0);
    size_t need = sequence_len((unsigned char)text[0]);
    *code = TTS_UTF8_REPLACEMENT;
    if (need == 0 || need > len)
        return 1;
    uint32_t value = (unsigned char)text[0] & lead_bits[need];
    for (size_t i = 1; i < need; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (next & 0x3f);
    }
    if (value < least[need] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return 1;
    *code = value;
    return need;
}
