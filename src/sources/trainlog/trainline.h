/* trainline.h: recognizes the lines of a training log, reads their values, and joins lines that
 * a terminal or a build server broke into pieces. docs/design/train-log.md has the rules. Spans
 * point into the given text. One thread at a time. Nothing is allocated. */
#pragma once

#include "sources/log/logkey.h"

enum { TTS_TRAINLINE_EXCERPT = 24 };

/* ---- values ---- */

/* Reads a size in MB, such as "+1,863.25 MB". Returns false if `text` is anything else. */
bool tts_trainline_mb(struct tts_span text, int64_t *bytes);
/* Like tts_trainline_mb(), but faster, and only for the usual form "1863.25 MB". The size
 * begins at text.at[*at]; the end of the text, or a comma and a blank, must follow. Moves *at
 * past the size. If the function returns false, tts_trainline_mb() may still be able to read
 * the size. */
bool tts_trainline_quick_mb(struct tts_span text, size_t *at, int64_t *bytes);
/* Reads a whole number, with or without commas between groups of three digits. Returns false if
 * the text is anything else. */
bool tts_trainline_count(struct tts_span text, uint64_t *out);
/* Reads a mesh shape such as "1x8" and sets *out to the product of its sides. Returns false if
 * the text is anything else. */
bool tts_trainline_shape(struct tts_span text, uint32_t *out);
/* Copies the beginning of a text for a note. Characters that cannot be printed become '?'. */
void tts_trainline_excerpt(char out[TTS_TRAINLINE_EXCERPT], struct tts_span text);

/* ---- kinds of lines ---- */

enum tts_trainline_kind {
    TTS_TRAINLINE_OTHER,
    TTS_TRAINLINE_HEADING,
    TTS_TRAINLINE_LABEL,
    TTS_TRAINLINE_SEGMENT,
    TTS_TRAINLINE_CUMULATIVE,
    TTS_TRAINLINE_L1,
    TTS_TRAINLINE_TOTALS,
    TTS_TRAINLINE_OVERALL,
    /* The following lines are around a block. */
    TTS_TRAINLINE_PARAMETERS,
    TTS_TRAINLINE_MEMORY,
    TTS_TRAINLINE_PREDICTED_PEAK,
    TTS_TRAINLINE_PREDICTED_PARTS,
    TTS_TRAINLINE_KAHAN,
    TTS_TRAINLINE_NO_OPTIMIZER,
    TTS_TRAINLINE_SECTION,
    TTS_TRAINLINE_ROW, /* a row of a header; `name` is its first column */
};

struct tts_trainline {
    enum tts_trainline_kind kind;
    struct tts_span prefix; /* the text before the recognized words */
    struct tts_span name;   /* the name of the row, section or label */
    struct tts_span value;  /* the text after the recognized words */
};

void tts_trainline_tell(struct tts_span text, struct tts_trainline *out);

/* ---- lines that were wrapped ---- */

enum {
    TTS_TRAINWRAP_PREFIX = TTS_LOGKEY_STRIP_MAX, /* longest prefix of a wrapped line */
    TTS_TRAINWRAP_CONTENT = 256,
};

/* A line that was broken into pieces (wrapped), as far as it has been read. */
struct tts_trainwrap {
    uint64_t number, offset; /* line number and offset of the first piece */
    uint64_t last;           /* line number of the last piece; set by the caller */
    uint64_t hash, folded;   /* hashes of the key of the prefix */
    bool has_key;
    /* The first piece was already handled as a line of its own, so nothing is lost if no other
     * piece follows. */
    bool is_told;
    size_t prefix_len, len;
    /* The prefix, then the content of all pieces. */
    char text[TTS_TRAINWRAP_PREFIX + TTS_TRAINWRAP_CONTENT];
};

enum tts_trainwrap_match {
    TTS_TRAINWRAP_NONE,  /* the text does not begin like any form */
    TTS_TRAINWRAP_PART,  /* the text is the beginning of a form */
    TTS_TRAINWRAP_WHOLE, /* the text is a complete form */
};

/* Fills *wrap if the text is the first piece of a wrapped line. *line is the result of
 * tts_trainline_tell(). Inside a block (`is_block`), a line that was not recognized may be a
 * first piece too. If the function returns false, *wrap is unchanged. */
bool tts_trainwrap_begin(struct tts_trainwrap *wrap, struct tts_span text,
                         const struct tts_trainline *line, bool is_block);
/* Adds a piece. A piece has the same prefix as the first piece. A piece that is the very next
 * line (`is_next`) may also have no prefix. Returns TTS_TRAINWRAP_NONE and leaves *wrap
 * unchanged if the text is not a piece. */
enum tts_trainwrap_match tts_trainwrap_join(struct tts_trainwrap *wrap, struct tts_span text,
                                            bool is_next, struct tts_logkey *work);
