/* trainline.h: what a line of a training log is: the values in it, its kind, and lines that a
 * terminal or a build server has wrapped. docs/design/train-log.md has the rules. Spans are
 * borrowed from the text that was given. One thread; nothing is allocated. */
#pragma once

#include "sources/log/logkey.h"

enum { TTS_TRAINLINE_EXCERPT = 24 };

/* ---- values ---- */

/* A size in MB: "+1,863.25 MB", all of it. */
bool tts_trainline_mb(struct tts_span text, int64_t *bytes);
/* The same for the form it is mostly printed in, "1863.25 MB", from text.at[*at] on, before the
 * end or a comma and a blank; *at is then behind it. False: ask the other. */
bool tts_trainline_quick_mb(struct tts_span text, size_t *at, int64_t *bytes);
/* Digits, in groups of three perhaps, all of it. */
bool tts_trainline_count(struct tts_span text, uint64_t *out);
/* "1x8": the product. */
bool tts_trainline_shape(struct tts_span text, uint32_t *out);
/* The text for a note: short, and nothing that cannot be shown. */
void tts_trainline_excerpt(char out[TTS_TRAINLINE_EXCERPT], struct tts_span text);

/* ---- what a line is ---- */

enum tts_trainline_kind {
    TTS_TRAINLINE_OTHER,
    TTS_TRAINLINE_HEADING,
    TTS_TRAINLINE_LABEL,
    TTS_TRAINLINE_SEGMENT,
    TTS_TRAINLINE_CUMULATIVE,
    TTS_TRAINLINE_L1,
    TTS_TRAINLINE_TOTALS,
    TTS_TRAINLINE_OVERALL,
    /* around a block */
    TTS_TRAINLINE_PARAMETERS,
    TTS_TRAINLINE_MEMORY,
    TTS_TRAINLINE_PREDICTED_PEAK,
    TTS_TRAINLINE_PREDICTED_PARTS,
    TTS_TRAINLINE_KAHAN,
    TTS_TRAINLINE_NO_OPTIMIZER,
    TTS_TRAINLINE_SECTION,
    TTS_TRAINLINE_ROW, /* as in a header; which it is, its name says */
};

struct tts_trainline {
    enum tts_trainline_kind kind;
    struct tts_span prefix; /* what stands before the content */
    struct tts_span name;   /* of a row, section or label */
    struct tts_span value;  /* what stands behind the words that tell what it is */
};

void tts_trainline_tell(struct tts_span text, struct tts_trainline *out);

/* ---- lines that were wrapped ---- */

enum {
    TTS_TRAINWRAP_PREFIX =
        TTS_LOGKEY_STRIP_MAX, /* bytes before the content of a line that may go on */
    TTS_TRAINWRAP_CONTENT = 256,
};

/* A line that may go on in the next. */
struct tts_trainwrap {
    uint64_t number, offset; /* of its first piece */
    uint64_t last;           /* when the last piece came, as the caller counts lines */
    uint64_t hash, folded;   /* of its key */
    bool has_key;
    bool is_told; /* its first piece was handled as it is: nothing is lost if no other comes */
    size_t prefix_len, len;
    char text[TTS_TRAINWRAP_PREFIX + TTS_TRAINWRAP_CONTENT]; /* all pieces, with one prefix */
};

enum tts_trainwrap_match {
    TTS_TRAINWRAP_NONE,  /* no line that is joined begins so */
    TTS_TRAINWRAP_PART,  /* more is missing */
    TTS_TRAINWRAP_WHOLE, /* nothing is */
};

/* Fills *wrap if the line, told as *line, is the beginning of one that is joined. In a block
 * (`is_block`) it need not be told. False: *wrap is unchanged. */
bool tts_trainwrap_begin(struct tts_trainwrap *wrap, struct tts_span text,
                         const struct tts_trainline *line, bool is_block);
/* Adds a piece, which has the prefix of the first or, if it is the very next line, none. NONE:
 * the text is no piece, and *wrap is unchanged. */
enum tts_trainwrap_match tts_trainwrap_join(struct tts_trainwrap *wrap, struct tts_span text,
                                            bool is_next, struct tts_logkey *work);
