#include "views/svg.h"

#include "views/utf8.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void tts_svg_length(FILE *out, int64_t length)
{
    if (length < 0) {
        fputc('-', out);
        length = -length;
    }
    int64_t whole = length / TTS_SVG_PX, part = length % TTS_SVG_PX;
    fprintf(out, "%" PRId64, whole);
    if (part % 10)
        fprintf(out, ".%02" PRId64, part);
    else if (part)
        fprintf(out, ".%" PRId64, part / 10);
}

static const char *escape_of(uint32_t code)
{
    switch (code) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        /* Control characters, and two code points that XML does not allow. */
        if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xfffe || code == 0xffff ||
            code == TTS_UTF8_REPLACEMENT)
            return "\xef\xbf\xbd";
        return NULL;
    }
}

void tts_svg_escape(FILE *out, const char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len;) {
        uint32_t code;
        size_t used = tts_utf8_next(text + i, len - i, &code);
        const char *escape = escape_of(code);
        if (escape)
            fputs(escape, out);
        else
            fwrite(text + i, 1, used, out);
        i += used;
    }
}

void tts_svg_rect_begin(FILE *out, struct tts_svg_box box)
{
    fputs("<rect x=\"", out);
    tts_svg_length(out, box.x);
    fputs("\" y=\"", out);
    tts_svg_length(out, box.y);
    fputs("\" width=\"", out);
    tts_svg_length(out, box.width);
    fputs("\" height=\"", out);
    tts_svg_length(out, box.height);
    fputs("\"", out);
}

void tts_svg_rect(FILE *out, struct tts_svg_box box, const char *style)
{
    tts_svg_rect_begin(out, box);
    fprintf(out, " %s/>\n", style);
}

void tts_svg_text(FILE *out, struct tts_svg_point at, const char *style, const char *format,
                  ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fputs("<text x=\"", out);
    tts_svg_length(out, at.x);
    fputs("\" y=\"", out);
    tts_svg_length(out, at.y);
    fprintf(out, "\"%s%s>", style[0] ? " " : "", style);
    tts_svg_escape(out, text);
    fputs("</text>\n", out);
}
