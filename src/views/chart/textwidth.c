#include "views/chart/textwidth.h"

#include "views/utf8.h"

#include <assert.h>
#include <string.h>

enum { FIRST = 0x20, LAST = 0x7e, MARGIN_PERCENT = 3 };

/* Advance widths in thousandths of an em, rounded up. */
static const uint16_t regular[LAST - FIRST + 1] = {
    318,  401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337,
    637,  637, 637, 637, 637, 637, 637, 637, 637, 637, 337, 337, 838, 838, 838, 531,
    1000, 685, 687, 699, 771, 632, 576, 775, 752, 295, 295, 656, 558, 863, 749, 788,
    604,  788, 695, 635, 611, 732, 685, 989, 686, 611, 686, 391, 337, 391, 838, 500,
    500,  613, 635, 550, 635, 616, 353, 635, 634, 278, 278, 580, 278, 975, 634, 612,
    635,  635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,
};
static const uint16_t bold[LAST - FIRST + 1] = {
    349,  457, 521, 838, 696, 1002, 873, 307,  458, 458, 523, 838, 380, 416,  380, 366,
    696,  696, 696, 696, 696, 696,  696, 696,  696, 696, 400, 400, 838, 838,  838, 581,
    1000, 774, 763, 734, 831, 684,  684, 821,  837, 373, 373, 775, 638, 996,  837, 851,
    733,  851, 771, 721, 683, 813,  774, 1104, 771, 725, 726, 458, 366, 458,  838, 500,
    500,  675, 716, 593, 716, 679,  436, 716,  712, 343, 343, 666, 343, 1042, 712, 688,
    716,  716, 494, 596, 479, 712,  652, 924,  646, 652, 583, 712, 366, 712,  838,
};

uint32_t tts_text_shown(uint32_t code)
{
    if (code == '\t' || code == '\n' || code == '\r' || code == 0x2028 || code == 0x2029)
        return ' ';
    bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool is_unseen = code == 0xad || code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
                     (code >= 0x202a && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
                     code == 0xfeff || (code & 0xfffe) == 0xfffe;
    return is_control || is_unseen ? TTS_UTF8_REPLACEMENT : code;
}

/* Returns the width of a glyph. Characters outside the tables get a width that few of them
 * exceed. */
static int64_t glyph_width(uint32_t code, struct tts_font font)
{
    code = tts_text_shown(code);
    int64_t em = font.bold ? 1300 : 1100;
    if (code >= FIRST && code <= LAST)
        em = font.bold ? bold[code - FIRST] : regular[code - FIRST];
    return (em * (100 + MARGIN_PERCENT) * font.size + 99999) / 100000;
}

int64_t tts_text_width(const char *text, size_t len, struct tts_font font)
{
    int64_t width = 0;
    for (size_t i = 0; i < len;) {
        uint32_t code;
        i += tts_utf8_next(text + i, len - i, &code);
        width += glyph_width(code, font);
    }
    return width;
}

static bool is_blank_char(uint32_t code)
{
    return tts_text_shown(code) == ' ';
}

static size_t skip_line_blanks(const char *text, size_t at, size_t len)
{
    while (at < len) {
        uint32_t code;
        size_t used = tts_utf8_next(text + at, len - at, &code);
        if (!is_blank_char(code))
            break;
        at += used;
    }
    return at;
}

/* Returns how many bytes from the start fit into `width`. Sets *soft to the length up to the
 * last good break, without blanks, or 0. */
static size_t fitting_bytes(const char *text, size_t len, struct tts_font font, int64_t width,
                            size_t *soft)
{
    size_t at = 0;
    int64_t used = 0;
    *soft = 0;
    while (at < len) {
        uint32_t code;
        size_t bytes = tts_utf8_next(text + at, len - at, &code);
        if (is_blank_char(code) && at > 0)
            *soft = at;
        used += glyph_width(code, font);
        if (used > width)
            break;
        at += bytes;
        if (code == '_' || code == '-' || code == '/' || code == '.')
            *soft = at;
    }
    return at;
}

static struct tts_text_line cut_text_line(const char *text, size_t start, size_t len,
                                          struct tts_font font, int64_t width)
{
    size_t soft;
    int64_t dots = tts_text_width("...", 3, font);
    struct tts_text_line line = {.start = start, .is_cut = dots <= width};
    line.len =
        fitting_bytes(text + start, len - start, font, width - (line.is_cut ? dots : 0), &soft);
    line.width = tts_text_width(text + start, line.len, font) + (line.is_cut ? dots : 0);
    return line;
}

size_t tts_text_wrap(const char *text, struct tts_font font, int64_t width,
                     struct tts_text_line *lines, size_t max)
{
    assert(max > 0);
    size_t len = strlen(text), at = skip_line_blanks(text, 0, len), count = 0;
    while (at < len && count < max) {
        size_t soft, fit = fitting_bytes(text + at, len - at, font, width, &soft);
        bool is_last = at + fit == len;
        if (!is_last && count + 1 == max) {
            lines[count++] = cut_text_line(text, at, len, font, width);
            break;
        }
        size_t taken = is_last || soft == 0 ? fit : soft;
        lines[count++] = (struct tts_text_line){
            .start = at, .len = taken, .width = tts_text_width(text + at, taken, font)};
        at = skip_line_blanks(text, at + taken, len);
    }
    return count;
}

/* Returns the start of the longest tail that fits into `width`. */
static size_t tail_start(const char *text, size_t len, struct tts_font font, int64_t width)
{
    int64_t rest = tts_text_width(text, len, font);
    size_t at = 0;
    while (at < len && rest > width) {
        uint32_t code;
        at += tts_utf8_next(text + at, len - at, &code);
        rest -= glyph_width(code, font);
    }
    return at;
}

const char *tts_text_squeeze(char out[TTS_TEXT_SQUEEZED_MAX], const char *text,
                             struct tts_font font, int64_t width)
{
    size_t len = strlen(text), soft;
    if (len < TTS_TEXT_SQUEEZED_MAX && tts_text_width(text, len, font) <= width) {
        memcpy(out, text, len + 1);
        return out;
    }
    int64_t dots = tts_text_width("...", 3, font);
    int64_t room = width > dots ? width - dots : 0;
    size_t tail = tail_start(text, len, font, room * 2 / 5);
    size_t head = fitting_bytes(text, tail, font,
                                room - tts_text_width(text + tail, len - tail, font), &soft);
    /* A letter has up to four bytes: half of the buffer suffices for any reasonable width. */
    if (head + (len - tail) + 4 > TTS_TEXT_SQUEEZED_MAX) {
        head = 0;
        tail = len;
    }
    memcpy(out, text, head);
    memcpy(out + head, "...", 3);
    memcpy(out + head + 3, text + tail, len - tail + 1);
    return out;
}
