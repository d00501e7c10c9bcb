/* logtext.h: the lines of a log of any size, one after the other, without colours and prefixes.
 * docs/design/log-text.md has the rules.
 *
 * Ownership: the caller owns the struct and the input; the input stays open until close. A span
 * that a call returns is borrowed until the next call that reads.
 * Threads: one thread for each text.
 * Cost: one pass and one window of 265 KiB, whatever the size of the log.
 * Returns: a read that fails ends the text. The lines before the failure are good, and
 * tts_logtext_finish() says why. */
#pragma once

#include "base/span.h"
#include "sources/input.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_LOGLINE_MAX = 4096,                    /* bytes of a line that are examined */
    TTS_LOGTEXT_BACK = TTS_LOGLINE_MAX + 1024, /* bytes before a line that stay in the window */
    TTS_LOGSCAN_HEAD = 3,             /* bytes of a word before the byte that is found */
    TTS_LOGSCAN_TAIL = 3,             /* bytes of a word from the byte that is found */
    TTS_LOGSEARCH_MAX = 64,           /* bytes of a phrase that tts_logtext_search() finds */
    TTS_LOGSEARCH_AHEAD = 128 * 1024, /* bytes after a phrase that can be asked for */
};

/* The number of line ends before `at`, and whether there was a NUL byte. */
struct tts_logcount {
    const unsigned char *at;
    uint64_t line_ends;
    bool has_nul;
};

/* Lets a reader find its lines without examining every line. */
struct tts_logscan {
    /* Returns the first place from count->at on where one of the words may be, or `end`. Counts
     * line ends up to about that place, not past it. The function may read 64 bytes after
     * `end`. */
    const unsigned char *(*find)(struct tts_logcount *count, const unsigned char *end);
    /* Returns true if one of the words is there. The byte that was found is
     * word[TTS_LOGSCAN_HEAD]. */
    bool (*is_word)(const char word[TTS_LOGSCAN_HEAD + TTS_LOGSCAN_TAIL]);
};

/* The fields are private; use the functions below. */
struct tts_logtext {
    const struct tts_alloc *alloc;
    struct tts_input *in;
    unsigned char *bytes;
    size_t back, capacity; /* bytes kept before the current line; bytes of the window */
    size_t at, end;        /* offsets of the next line and of the end of the window */
    size_t no_line_for;    /* no line begins in the TTS_LOGLINE_MAX bytes before this offset */
    struct tts_logcount count;
    uint64_t gone; /* bytes before the window */
    bool is_end, skips_rest, is_utf16;
    enum tts_status status; /* the reason for the end */
    struct tts_error err;
    void (*tick)(void *ctx, uint64_t taken);
    void *tick_ctx;
    char clean[TTS_LOGLINE_MAX];
};

/* One line. */
struct tts_logtext_line {
    uint64_t number;        /* from 1, as an editor counts: by "\n" */
    uint64_t offset;        /* of the first byte in the content */
    struct tts_span raw;    /* the bytes as they are in the log, without the line end */
    struct tts_span prefix; /* times, ranks and fields of loggers, without escape sequences */
    /* The part of the prefix that tells ranks apart; empty if none does. */
    struct tts_span rank;
    struct tts_span text; /* the rest, without escape sequences */
    bool is_cut;          /* the line is longer than TTS_LOGLINE_MAX; the rest is skipped */
    bool is_overwritten;  /* a lone "\r" ends the line, and another text follows in its place */
};

/* Opens the text of `in` from its current position. TTS_E_NOMEM: err names the path. */
TTS_NODISCARD enum tts_status tts_logtext_open(struct tts_logtext *text, struct tts_input *in,
                                               const struct tts_alloc *alloc,
                                               struct tts_error *err);
/* Like tts_logtext_open(), but keeps `back` bytes before the current position in the window
 * instead of TTS_LOGTEXT_BACK. */
TTS_NODISCARD enum tts_status tts_logtext_open_back(struct tts_logtext *text,
                                                    struct tts_input *in, size_t back,
                                                    const struct tts_alloc *alloc,
                                                    struct tts_error *err);
void tts_logtext_close(struct tts_logtext *text); /* a zeroed struct is allowed */

/* Reads the next line, up to its "
 * ", "\r" or "\r
 * ". Returns false at the end. */
bool tts_logtext_next(struct tts_logtext *text, struct tts_logtext_line *out);
/* Like tts_logtext_next(), but gives only the bytes. */
bool tts_logtext_raw(struct tts_logtext *text, struct tts_span *out);
/* Like tts_logtext_raw(), but skips to the next line that has a word of `scan`. */
bool tts_logtext_find(struct tts_logtext *text, const struct tts_logscan *scan,
                      struct tts_span *out);

/* Searches the bytes, not the lines, from the current position on. `find` returns the first
 * place in [at, end) where a phrase of at most TTS_LOGSEARCH_MAX bytes begins, or `end`; the
 * function may read TTS_LOGSEARCH_MAX bytes after `end`. The place becomes the current
 * position. Returns the rest of the window from there on in *out: at least `ahead` bytes, or
 * all up to the end of the text. Returns false at the end. */
typedef const unsigned char *tts_logsearch(const void *ctx, const unsigned char *at,
                                           const unsigned char *end);
bool tts_logtext_search(struct tts_logtext *text, tts_logsearch *find, const void *ctx,
                        size_t ahead, struct tts_span *out);

/* Goes on after the end of a text that grows, with one read. Returns false if the text cannot
 * grow: its input is compressed, or the end was an error. */
bool tts_logtext_resume(struct tts_logtext *text);

/* Returns the number or the offset of the line that was given last. `line` is its beginning. */
uint64_t tts_logtext_line(struct tts_logtext *text, const char *line);
uint64_t tts_logtext_offset(const struct tts_logtext *text, const char *line);
/* Returns the offset of the next byte to read. */
uint64_t tts_logtext_tell(const struct tts_logtext *text);
/* Makes the next call return the last line again. `line` is the beginning of that line. */
void tts_logtext_unread(struct tts_logtext *text, const char *line);
/* Returns the pointer to an offset that is in the window. */
const char *tts_logtext_at(const struct tts_logtext *text, uint64_t offset);

/* Counts the remaining lines at the end. Returns TTS_OK after the last line, or the reason why
 * the rest cannot be read; then err has line and offset. */
enum tts_status tts_logtext_finish(struct tts_logtext *text, struct tts_error *err);

/* Facts about the text besides its lines. They are final after tts_logtext_finish(). */
struct tts_logtext_facts {
    uint64_t lines, bytes; /* of the content, not of the compressed file */
    bool has_nul;          /* not a text file, or a log with a hole */
    bool is_utf16;         /* the text begins like UTF-16 */
};
struct tts_logtext_facts tts_logtext_facts(const struct tts_logtext *text);

/* Calls `tick` after each following read with the number of bytes of the file read so far. */
void tts_logtext_on_tick(struct tts_logtext *text, void (*tick)(void *ctx, uint64_t taken),
                         void *ctx);

/* ---- text in the window ---- */

/* Returns the complete lines before `line` in the window, at most `bytes` bytes. */
struct tts_span tts_logtext_before(const struct tts_logtext *text, const char *line,
                                   size_t bytes);
/* Removes the first line from *all, which is not empty, and returns it. */
struct tts_span tts_logtext_first(struct tts_span *all);
/* Removes the last line from *all. Returns false if *all is empty. */
bool tts_logtext_last(struct tts_span *all, struct tts_span *line);

/* Returns the length of the escape sequence that the text begins with. The text begins with
 * ESC. */
size_t tts_logline_escape_len(struct tts_span text);
/* Returns the line without a byte order mark and escape sequences: the line itself, or a copy
 * in `out`. */
struct tts_span tts_logline_clean(struct tts_span line, char out[TTS_LOGLINE_MAX]);
