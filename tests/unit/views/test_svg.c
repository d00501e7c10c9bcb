#include "harness/t.h"
#include "views/svg.h"

#include <stdlib.h>

static char *text;
static size_t text_len;

static FILE *begin(void)
{
    FILE *out = open_memstream(&text, &text_len);
    T_TRUE(out != NULL);
    return out;
}

static void expect(FILE *out, const char *wanted)
{
    T_EQ(fclose(out), 0);
    T_STR_EQ(text, wanted);
    free(text);
}

T_TEST(lengths_have_no_more_digits_than_needed)
{
    static const int64_t lengths[] = {0, 1, 10, 99, 100, 105, 1250, 123456, -1, -150};
    FILE *out = begin();
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        tts_svg_length(out, lengths[i]);
        fputc(' ', out);
    }
    expect(out, "0 0.01 0.1 0.99 1 1.05 12.5 1234.56 -0.01 -1.5 ");
}

T_TEST(markup_and_what_xml_cannot_hold_are_escaped)
{
    FILE *out = begin();
    tts_svg_escape(out, "<a href=\"x\">&'</a>");
    tts_svg_escape(out, "|\x01\x1b\n\x7f\xc2\x85|\xff|\xef\xbf\xbe|\xc3\xa4");
    expect(out, "&lt;a href=&quot;x&quot;&gt;&amp;'&lt;/a&gt;|"
                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd|"
                "\xef\xbf\xbd|\xc3\xa4");
}

T_TEST(elements_are_closed)
{
    FILE *out = begin();
    tts_svg_rect(out, (struct tts_svg_box){100, 250, 300, 401}, "fill=\"#fff\"");
    tts_svg_text(out, (struct tts_svg_point){100, 200}, "", "%d < %s", 1, "two");
    tts_svg_text(out, (struct tts_svg_point){0, 0}, "fill=\"red\"", "%s", "x");
    expect(out, "<rect x=\"1\" y=\"2.5\" width=\"3\" height=\"4.01\" fill=\"#fff\"/>\n"
                "<text x=\"1\" y=\"2\">1 &lt; two</text>\n"
                "<text x=\"0\" y=\"0\" fill=\"red\">x</text>\n");
}
