/* logtext.h: reads a log of any size line by line, without colours and prefixes.
 * docs/design/log-text.md has the rules.
 *
 * Ownership: the caller owns the struct and the input, and keeps the input open until
 * tts_logtext_close(). A returned span is valid until the next call that reads.
 * Threads: one thread at a time for each text.
 * Cost: one pass; one window of 265 KiB, whatever the size of the log.
 * Returns: a failed read ends the text. The lines before the failure are good, and
 * tts_logtext_finish() returns the reason. */
#pragma once

#include "base/span.h"
#include "sources/input.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_LOGLINE_MAX = 4096, /* bytes of a line that are returned; the rest is skipped */
    TTS_LOGTEXT_BACK = TTS_LOGLINE_MAX + 1024, /* bytes before a line that stay in the window */
    TTS_LOGSCAN_HEAD = 3,             /* bytes of a word before the byte that `find` finds */
    TTS_LOGSCAN_TAIL = 3,             /* bytes of a word from the byte that `find` finds on */
    TTS_LOGSEARCH_MAX = 64,           /* maximum length of a phrase for tts_logtext_search() */
    TTS_LOGSEARCH_AHEAD = 128 * 1024, /* maximum of `ahead` for tts_logtext_search() */
};

/* The number of line ends before `at`, and whether a NUL byte is among the bytes counted. */
struct tts_logcount {
    const unsigned char *at;
    uint64_t line_ends;
    bool has_nul;
};

/* The words that tts_logtext_find() searches. With them a reader finds its lines without
 * examining every line. */
struct tts_logscan {
    /* Returns the first place from count->at on where one of the words may be, or `end` if
     * there is none. Counts line ends up to about that place, but not past it. The function may
     * read 64 bytes after `end`. */
    const unsigned char *(*find)(struct tts_logcount *count, const unsigned char *end);
    /* Returns true if `word` is one of the words. word[TTS_LOGSCAN_HEAD] is the byte that
     * `find` found. */
    bool (*is_word)(const char word[TTS_LOGSCAN_HEAD + TTS_LOGSCAN_TAIL]);
};

/* Bytes that a reader has read, and the number of line ends in all bytes before them. */
struct tts_logpiece {
    const void *bytes;
    size_t len; /* 0: the text has ended */
    uint64_t line_ends;
};

/* The fields are private; use the functions below. */
struct tts_logtext {
    const struct tts_alloc *alloc;
    struct tts_input *in; /* NULL: the bytes come from tts_logtext_feed() */
    struct tts_span fed;  /* bytes that are not in the window yet */
    bool is_fed_whole;    /* no bytes will follow them */
    unsigned char *bytes;
    size_t line_max;       /* bytes of a line that are returned */
    size_t back, capacity; /* bytes kept before the current line; size of the window */
    size_t at, end;        /* offsets of the next line and of the end of the window */
    size_t no_line_for; /* it is known that no line begins in the TTS_LOGLINE_MAX bytes before
                           this offset */
    struct tts_logcount count;
    uint64_t gone; /* bytes of the text before the window */
    bool is_end, skips_rest, is_utf16;
    enum tts_status status; /* TTS_OK, or why reading failed */
    struct tts_error err;
    void (*tick)(void *ctx, uint64_t taken);
    void *tick_ctx;
    void (*tap)(void *ctx, const struct tts_logpiece *piece);
    void *tap_ctx;
    char clean[TTS_LOGLINE_MAX];
};

/* One line. The spans are valid until the next call that reads. */
struct tts_logtext_line {
    uint64_t number;        /* from 1; counts "\n" only, as editors do */
    uint64_t offset;        /* offset of the first byte in the (uncompressed) content */
    struct tts_span raw;    /* the bytes as in the log, without the line end */
    struct tts_span prefix; /* times, ranks and fields of loggers, without escape sequences */
    /* The part of the prefix that distinguishes ranks; empty if no part does. */
    struct tts_span rank;
    struct tts_span text; /* the line after the prefix, without escape sequences */
    bool is_cut;          /* the line is longer than TTS_LOGLINE_MAX; the rest is skipped */
    bool is_overwritten;  /* a lone "\r" ends the line, so a terminal shows the next line in its
                             place */
};

/* Opens the text of `in` from its current position. Allocates the window. TTS_E_NOMEM: err
 * names the path. */
TTS_NODISCARD enum tts_status tts_logtext_open(struct tts_logtext *text, struct tts_input *in,
                                               const struct tts_alloc *alloc,
                                               struct tts_error *err);
/* Like tts_logtext_open(), but the window keeps `back` bytes before the current line instead of
 * TTS_LOGTEXT_BACK. */
TTS_NODISCARD enum tts_status tts_logtext_open_back(struct tts_logtext *text,
                                                    struct tts_input *in, size_t back,
                                                    const struct tts_alloc *alloc,
                                                    struct tts_error *err);
/* Like tts_logtext_open(), but lines of up to `line_max` bytes are returned whole, by
 * tts_logtext_raw() only. The window has `line_max` bytes more. */
TTS_NODISCARD enum tts_status tts_logtext_open_long(struct tts_logtext *text,
                                                    struct tts_input *in, size_t line_max,
                                                    const struct tts_alloc *alloc,
                                                    struct tts_error *err);
/* Like tts_logtext_open_back(), for bytes that another reader has read: see tts_logtext_feed().
 * `path` is for messages. */
TTS_NODISCARD enum tts_status tts_logtext_open_fed(struct tts_logtext *text, const char *path,
                                                   size_t back, const struct tts_alloc *alloc,
                                                   struct tts_error *err);
/* Gives a text of tts_logtext_open_fed() its next bytes. They are borrowed until
 * tts_logtext_search() returns false. Only that function reads such a text. */
void tts_logtext_feed(struct tts_logtext *text, const struct tts_logpiece *piece);
void tts_logtext_close(struct tts_logtext *text); /* a zeroed struct is allowed */

/* Returns whether the rest of the line that was returned last is skipped, because the line is
 * too long. */
bool tts_logtext_is_cut(const struct tts_logtext *text);

/* Reads the next line, which ends with "\n", "\r" or "\r\n". Returns false at the end of the
 * text. */
bool tts_logtext_next(struct tts_logtext *text, struct tts_logtext_line *out);
/* Like tts_logtext_next(), but returns only the bytes of the line, without splitting it. */
bool tts_logtext_raw(struct tts_logtext *text, struct tts_span *out);
/* Like tts_logtext_raw(), but skips lines without a word of `scan`. */
bool tts_logtext_find(struct tts_logtext *text, const struct tts_logscan *scan,
                      struct tts_span *out);

/* Searches the bytes, not the lines, from the current position on. `find` returns the first
 * place in [at, end) where a phrase of at most TTS_LOGSEARCH_MAX bytes begins, or `end`; the
 * function may read TTS_LOGSEARCH_MAX bytes after `end`. The place becomes the current
 * position. Returns the rest of the window from there on in *out: at least `ahead` bytes, or
 * all up to the end of the text. Returns false at the end, or if a fed text needs more bytes.
 */
typedef const unsigned char *tts_logsearch(const void *ctx, const unsigned char *at,
                                           const unsigned char *end);
bool tts_logtext_search(struct tts_logtext *text, tts_logsearch *find, const void *ctx,
                        size_t ahead, struct tts_span *out);

/* Continues after the end of a text that grows. Reads once. Returns false if the text cannot
 * grow, because its input is compressed or its reading failed. */
bool tts_logtext_resume(struct tts_logtext *text);

/* Return the number and the offset of the line that was returned last. `line` is the beginning
 * of its raw bytes. */
uint64_t tts_logtext_line(struct tts_logtext *text, const char *line);
uint64_t tts_logtext_offset(const struct tts_logtext *text, const char *line);
/* Returns the offset of the current position. */
uint64_t tts_logtext_tell(const struct tts_logtext *text);
/* Moves the current position back to `line`, the beginning of the last line, so that the next
 * call returns this line again. */
void tts_logtext_unread(struct tts_logtext *text, const char *line);
/* Returns a pointer to the byte at `offset`, which must be in the window. */
const char *tts_logtext_at(const struct tts_logtext *text, uint64_t offset);

/* Counts the lines up to the current end of the window. Returns TTS_OK if the text ended
 * regularly, otherwise the reason why the rest cannot be read; err then has the line and the
 * offset. */
enum tts_status tts_logtext_finish(struct tts_logtext *text, struct tts_error *err);

/* Facts about the whole text. They are final after tts_logtext_finish(). */
struct tts_logtext_facts {
    uint64_t lines, bytes; /* of the content after decompression */
    bool has_nul;          /* the input is not a text file, or it is a log with a hole */
    bool is_utf16;         /* the text begins like UTF-16 */
};
struct tts_logtext_facts tts_logtext_facts(const struct tts_logtext *text);

/* Calls `tap` with the bytes of each following read, also at the end. */
void tts_logtext_on_read(struct tts_logtext *text,
                         void (*tap)(void *ctx, const struct tts_logpiece *piece), void *ctx);
/* Calls `tick` after each following read with the number of bytes of the file read so far. */
void tts_logtext_on_tick(struct tts_logtext *text, void (*tick)(void *ctx, uint64_t taken),
                         void *ctx);

/* ---- text in the window ---- */

/* Returns the complete lines in the window that end before `line`, at most `bytes` bytes of
 * them. */
struct tts_span tts_logtext_before(const struct tts_logtext *text, const char *line,
                                   size_t bytes);
/* Removes the first line from *all and returns it without its line end. *all must not be
 * empty. */
struct tts_span tts_logtext_first(struct tts_span *all);
/* Removes the last line from *all and sets *line to it, without its line end. Returns false if
 * *all is empty. */
bool tts_logtext_last(struct tts_span *all, struct tts_span *line);

/* Returns the length of the escape sequence at the beginning of the text. The first byte must
 * be ESC. */
size_t tts_logline_escape_len(struct tts_span text);
/* Returns the line without escape sequences and without a byte order mark. The result is a part
 * of `line`, or a copy in `out`. */
struct tts_span tts_logline_clean(struct tts_span line, char out[TTS_LOGLINE_MAX]);
