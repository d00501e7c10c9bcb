/* trainline.h: recognizes the lines of a training log, reads the values in them, and joins
 * lines that a terminal or a build server wrapped. docs/design/train-log.md has the rules.
 * Spans are borrowed from the given text. One thread. Nothing is allocated. */
#pragma once

#include "sources/log/logkey.h"

enum { TTS_TRAINLINE_EXCERPT = 24 };

/* ---- values ---- */

/* Reads a size in MB, such as "+1,863.25 MB". Returns false if `text` has anything else. */
bool tts_trainline_mb(struct tts_span text, int64_t *bytes);
/* Like tts_trainline_mb(), but faster and only for the usual form "1863.25 MB". Reads from
 * text.at[*at] up to the end or to a comma and a blank, and moves *at past the size. If it
 * returns false, tts_trainline_mb() may still read the size. */
bool tts_trainline_quick_mb(struct tts_span text, size_t *at, int64_t *bytes);
/* Reads a whole number, perhaps in groups of three digits. Returns false for other text. */
bool tts_trainline_count(struct tts_span text, uint64_t *out);
/* Reads a mesh shape such as "1x8". *out is the product. */
bool tts_trainline_shape(struct tts_span text, uint32_t *out);
/* Copies a short, printable part of the text for a note. */
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
    /* Lines around a block. */
    TTS_TRAINLINE_PARAMETERS,
    TTS_TRAINLINE_MEMORY,
    TTS_TRAINLINE_PREDICTED_PEAK,
    TTS_TRAINLINE_PREDICTED_PARTS,
    TTS_TRAINLINE_KAHAN,
    TTS_TRAINLINE_NO_OPTIMIZER,
    TTS_TRAINLINE_SECTION,
    TTS_TRAINLINE_ROW, /* a row of a header; `name` says which one */
};

struct tts_trainline {
    enum tts_trainline_kind kind;
    struct tts_span prefix; /* the text before the content */
    struct tts_span name;   /* of a row, section or label */
    struct tts_span value;  /* the text after the words by which the line was recognized */
};

void tts_trainline_tell(struct tts_span text, struct tts_trainline *out);

/* ---- lines that were wrapped ---- */

enum {
    TTS_TRAINWRAP_PREFIX =
        TTS_LOGKEY_STRIP_MAX, /* bytes before the content of a wrapped line */
    TTS_TRAINWRAP_CONTENT = 256,
};

/* A line that may continue in the next line. */
struct tts_trainwrap {
    uint64_t number, offset; /* line number and offset of the first piece */
    uint64_t last;           /* the number of the last piece; the caller counts the lines */
    uint64_t hash, folded;   /* hashes of its key */
    bool has_key;
    /* The first piece was already handled alone, so nothing is lost without the others. */
    bool is_told;
    size_t prefix_len, len;
    char text[TTS_TRAINWRAP_PREFIX + TTS_TRAINWRAP_CONTENT]; /* all pieces, with one prefix */
};

enum tts_trainwrap_match {
    TTS_TRAINWRAP_NONE,  /* not the beginning of a form */
    TTS_TRAINWRAP_PART,  /* the beginning of a form */
    TTS_TRAINWRAP_WHOLE, /* a complete form */
};

/* Fills *wrap if the text is the first piece of a wrapped line. *line is the result of
 * tts_trainline_tell(). In a block (`is_block`) the piece may also be a line that was not
 * recognized. If it returns false, *wrap is unchanged. */
bool tts_trainwrap_begin(struct tts_trainwrap *wrap, struct tts_span text,
                         const struct tts_trainline *line, bool is_block);
/* Adds a piece. The piece has the prefix of the first piece; if it is the very next line
 * (`is_next`), it may have no prefix. Returns TTS_TRAINWRAP_NONE and leaves *wrap unchanged if
 * the text is not a piece. */
enum tts_trainwrap_match tts_trainwrap_join(struct tts_trainwrap *wrap, struct tts_span text,
                                            bool is_next, struct tts_logkey *work);
