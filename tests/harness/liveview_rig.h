/* liveview_rig.h: the text of a view of a live frame, and the comparison with a published
 * screen. */
#pragma once

#include "harness/live_rig.h"
#include "views/live/live_view.h"

static inline struct tts_liveview live_view(const struct tts_liveframe *frame)
{
    return (struct tts_liveview){.frame = frame,
                                 .period_ms = 1000,
                                 .columns = 100,
                                 .is_utf8 = true,
                                 .has_delta = true,
                                 .has_tips = true};
}

enum { LIVE_TEXT_MAX = 1 << 16 };

/* Returns what a view writes. The text is valid until the next call. `kind` is 'b', 't', 'p',
 * 'f' for phases, or 'j'. */
static inline const char *live_written(const struct tts_liveview *view, char kind)
{
    static char text[LIVE_TEXT_MAX];
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    T_TRUE(out != NULL);
    if (kind == 'b')
        tts_liveview_blocks(view, out);
    else if (kind == 't')
        tts_liveview_table(view, out);
    else if (kind == 'p')
        T_EQ(tts_liveview_processes(view, out), TTS_OK);
    else if (kind == 'f')
        T_EQ(tts_liveview_phases(view, out), TTS_OK);
    else
        tts_liveview_json(view, out);
    fclose(out);
    return text;
}

static inline bool live_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fprintf(stderr, "'%s' is missing in:\n%s\n", part, text);
    return strstr(text, part) != NULL;
}

/* Returns the widest line of a text in columns, with every code point counted as one. */
static inline size_t live_width(const char *text)
{
    size_t widest = 0, width = 0;
    for (; *text; text++) {
        width = *text == '\n' ? 0 : width + (((unsigned char)*text & 0xc0) != 0x80);
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* Copies a line without its line end. Runs of blanks become one blank, blanks at the end and
 * the cells of a bar are left out. Returns the text after the line. */
static inline const char *live_plain_line(const char *text, char out[512])
{
    size_t used = 0;
    bool is_bar = false;
    for (; *text && *text != '\n'; text++) {
        bool is_blank = *text == ' ' && used > 0 && out[used - 1] == ' ';
        is_bar = is_bar && *text != ']';
        if (!is_blank && !is_bar && used < 511)
            out[used++] = *text;
        is_bar = is_bar || *text == '[';
    }
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
    return *text ? text + 1 : text;
}

/* Compares a screen with a published one by the rules of the published screens. The screen may
 * have more lines after the published ones. */
static inline void live_check_published(const char *screen, const char *path)
{
    static char published[LIVE_TEXT_MAX];
    char expected[512], got[512];
    FILE *file = fopen(path, "r");
    T_TRUE(file != NULL);
    size_t len = fread(published, 1, sizeof published - 1, file);
    fclose(file);
    T_TRUE(len > 200);
    published[len] = '\0';
    for (const char *at = published; *at;) {
        at = live_plain_line(at, expected);
        screen = live_plain_line(screen, got);
        T_STR_EQ(got, expected);
    }
}
