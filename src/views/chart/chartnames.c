#include "views/chart/chartnames.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* ---- what names have in common ---- */

static bool is_word_edge(char letter)
{
    return letter == '\0' || strchr(" \t_-/.:,", letter) != NULL;
}

/* Returns the length of the common beginning, in whole words. */
static size_t common_prefix(const char *a, const char *b)
{
    size_t len = 0;
    while (a[len] != '\0' && a[len] == b[len])
        len++;
    while (len > 0 && !is_word_edge(a[len - 1]))
        len--;
    return len;
}

/* Returns the length of the longest end of `text` that has at most `len` bytes and begins at a
 * word edge. */
static size_t whole_words(const char *text, size_t len)
{
    size_t all = strlen(text);
    while (len > 0 && !is_word_edge(text[all - len]))
        len--;
    return len;
}

static size_t common_suffix(const char *a, const char *b)
{
    size_t a_len = strlen(a), b_len = strlen(b), len = 0;
    while (len < a_len && len < b_len && a[a_len - len - 1] == b[b_len - len - 1])
        len++;
    return whole_words(a, len);
}

/* Number of bytes that a name shares with other names, at its beginning and its end. */
struct common {
    size_t prefix, suffix;
};

/* Compares a name with all names that begin, or end, with the same word. A name with a
 * different word there needs no comparison: any of its words tells it apart. */
static struct common common_ends(const struct tts_chartnames *names, const char *name)
{
    struct common common = {SIZE_MAX, SIZE_MAX};
    for (size_t i = 0; i < names->count; i++) {
        const char *other = names->runs[i].name;
        if (strcmp(name, other) == 0)
            continue;
        size_t prefix = common_prefix(name, other), suffix = common_suffix(name, other);
        if (prefix > 0 && prefix < common.prefix)
            common.prefix = prefix;
        if (suffix > 0 && suffix < common.suffix)
            common.suffix = suffix;
    }
    common.prefix = common.prefix == SIZE_MAX ? 0 : common.prefix;
    common.suffix = common.suffix == SIZE_MAX ? 0 : common.suffix;
    size_t most = strlen(name) - common.prefix;
    common.suffix = whole_words(name, common.suffix < most ? common.suffix : most);
    return common;
}

/* ---- shortening ---- */

enum { DOTS = 3 };

struct piece {
    const char *text;
    size_t len;
};

static bool name_fits(const char *text, const struct tts_chartname_space *space)
{
    struct tts_text_line lines[TTS_CHARTNAME_LINES_MAX];
    assert(space->lines <= TTS_CHARTNAME_LINES_MAX);
    size_t count = tts_text_wrap(text, space->font, space->width, lines, space->lines);
    for (size_t i = 1; i < count; i++)
        if (lines[i].start > 0 && memcmp(text + lines[i].start - 1, "..", 2) == 0)
            return false; /* do not cut inside the three dots */
    return count == 0 || !(lines[count - 1].is_cut || lines[count - 1].len == 0);
}

/* Returns true if a UTF-8 character begins, or the text ends, at `at`. */
static bool is_letter_start(const char *at)
{
    return ((unsigned char)*at & 0xc0) != 0x80;
}

static struct piece head_of_piece(struct piece from, size_t len)
{
    while (len > 0 && len < from.len && !is_letter_start(from.text + len))
        len--;
    return (struct piece){from.text, len};
}

static struct piece tail_of_piece(struct piece from, size_t len)
{
    while (len > 0 && len < from.len && !is_letter_start(from.text + from.len - len))
        len--;
    return (struct piece){from.text + from.len - len, len};
}

/* Writes "head...tail", and dots after it if `is_open`. Returns false if it does not fit. */
static bool join_cut_name(struct piece head, struct piece tail, bool is_open,
                          const struct tts_chartname_space *space,
                          char out[TTS_TEXT_SQUEEZED_MAX])
{
    if (head.len + tail.len + (size_t)2 * DOTS >= TTS_TEXT_SQUEEZED_MAX)
        return false;
    snprintf(out, TTS_TEXT_SQUEEZED_MAX, "%.*s...%.*s%s", (int)head.len, head.text,
             (int)tail.len, tail.text, is_open ? "..." : "");
    return name_fits(out, space);
}

const char *tts_chartnames_fit(const struct tts_chartnames *names, const char *name,
                               const struct tts_chartname_space *space,
                               char out[TTS_TEXT_SQUEEZED_MAX])
{
    size_t len = strlen(name);
    if (len < TTS_TEXT_SQUEEZED_MAX && name_fits(name, space)) {
        memcpy(out, name, len + 1);
        return out;
    }
    struct common common = common_ends(names, name);
    struct piece none = {name, 0}, prefix = {name, common.prefix};
    struct piece own = {name + common.prefix, len - common.prefix - common.suffix};
    bool is_open = common.suffix > DOTS;
    if (!is_open)
        own.len += common.suffix;
    else if (join_cut_name((struct piece){name, prefix.len + own.len}, none, false, space, out))
        return out;
    for (size_t kept = prefix.len; kept-- > 0;)
        if (join_cut_name(head_of_piece(prefix, kept), own, is_open, space, out))
            return out;
    size_t kept = own.len < TTS_TEXT_SQUEEZED_MAX ? own.len : TTS_TEXT_SQUEEZED_MAX;
    for (; kept > 0; kept--)
        if (join_cut_name(head_of_piece(own, kept * 3 / 5),
                          tail_of_piece(own, kept - kept * 3 / 5), false, space, out))
            return out;
    memcpy(out, "...", DOTS + 1);
    return out;
}
