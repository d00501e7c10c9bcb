/* trainlog_inside.h: the parts of the reader of training logs. docs/design/train-log.md says
 * how they go together. */
#pragma once

#include "base/compiler.h"
#include "model/run.h"
#include "sources/logkey.h"
#include "sources/logtext.h"
#include "sources/trainlog.h"

#include <assert.h>

enum {
    TTS_TRAINLOG_LOOK_BACK = 1000, /* bytes before a line that may say something about it */
    TTS_TRAINLOG_RANKS = TTS_LOGKEY_RANKS,
    TTS_TRAINLOG_PHASES = 16384, /* of one block */
    TTS_TRAINLOG_PHASES_IN_ALL = 32768,
    TTS_TRAINLOG_EXCERPT = 24,
    TTS_TRAINLOG_PREDICTION_LINES =
        8, /* a prediction is this near to the heading, or ignored */
};

static_assert((int)TTS_LOGTEXT_BACK >= (int)TTS_LOGLINE_MAX + (int)TTS_TRAINLOG_LOOK_BACK,
              "the lines before one of interest are in the window");

/* ---- values ---- */

/* A size in MB: "+1,863.25 MB", all of it. */
bool tts_logvalue_mb(struct tts_span text, int64_t *bytes);
/* The same for the form it is mostly printed in, "1863.25 MB", from text.at[*at] on, before the
 * end or a comma and a blank; *at is then behind it. False: ask the other. */
bool tts_logvalue_quick_mb(struct tts_span text, size_t *at, int64_t *bytes);
/* Digits, in groups of three perhaps, all of it. */
bool tts_logvalue_count(struct tts_span text, uint64_t *out);
/* "1x8": the product. */
bool tts_logvalue_shape(struct tts_span text, uint32_t *out);

/* ---- what a line is ---- */

enum tts_logline_kind {
    TTS_LOGLINE_OTHER,
    TTS_LOGLINE_HEADING,
    TTS_LOGLINE_LABEL,
    TTS_LOGLINE_SEGMENT,
    TTS_LOGLINE_CUMULATIVE,
    TTS_LOGLINE_L1,
    TTS_LOGLINE_TOTALS,
    TTS_LOGLINE_OVERALL,
    /* around a block */
    TTS_LOGLINE_PARAMETERS,
    TTS_LOGLINE_MEMORY,
    TTS_LOGLINE_PREDICTED_PEAK,
    TTS_LOGLINE_PREDICTED_PARTS,
    TTS_LOGLINE_KAHAN,
    TTS_LOGLINE_NO_OPTIMIZER,
    TTS_LOGLINE_SECTION,
    TTS_LOGLINE_ROW, /* as in a header; which it is, its name says */
};

struct tts_logline {
    enum tts_logline_kind kind;
    struct tts_span prefix; /* what stands before the content */
    struct tts_span name;   /* of a row, section or label */
    struct tts_span value;  /* what stands behind the words that tell what it is */
};

void tts_logline_tell(struct tts_span text, struct tts_logline *out);

/* ---- lines that were wrapped ---- */

enum {
    TTS_LOGWRAP_PREFIX =
        TTS_LOGKEY_STRIP_MAX, /* bytes before the content of a line that may go on */
    TTS_LOGWRAP_CONTENT = 256,
    TTS_TRAINLOG_WRAPS = 8, /* lines that wait at once, of several ranks */
};

/* A line that may go on in the next. */
struct tts_logwrap {
    uint64_t number, offset; /* of its first piece */
    uint64_t last;           /* when the last piece came, of tts_trainlog.lines_read */
    uint64_t hash, folded;   /* of its key */
    bool has_key;
    bool is_told; /* its first piece was handled as it is: nothing is lost if no other comes */
    size_t prefix_len, len;
    char text[TTS_LOGWRAP_PREFIX + TTS_LOGWRAP_CONTENT]; /* all pieces, with one prefix */
};

enum tts_logwrap_match {
    TTS_LOGWRAP_NONE,  /* no line that is joined begins so */
    TTS_LOGWRAP_PART,  /* more is missing */
    TTS_LOGWRAP_WHOLE, /* nothing is */
};

/* Fills *wrap if the line, told as *line, is the beginning of one that is joined. In a block
 * (`is_block`) it need not be told. False: *wrap is unchanged. */
bool tts_logwrap_begin(struct tts_logwrap *wrap, struct tts_span text,
                       const struct tts_logline *line, bool is_block);
/* Adds a piece, which has the prefix of the first or, if it is the very next line, none. NONE:
 * the text is no piece, and *wrap is unchanged. */
enum tts_logwrap_match tts_logwrap_join(struct tts_logwrap *wrap, struct tts_span text,
                                        bool is_next, struct tts_logkey *work);

/* ---- blocks ---- */

/* What was said, by a rank or by any. Each of the three groups has the time at which it was
 * said (of tts_trainlog.clock; 0: it was not), and is one statement. */
struct tts_trainlog_around {
    uint64_t parameters_at, device_at, optimizer_at;
    bool has_memory; /* seen, and perhaps not to be read */
    bool is_parameters_bad;
    uint64_t parameters, parameters_line, memory_line;
    struct tts_amount memory;
    char bad_parameters[TTS_TRAINLOG_EXCERPT], bad_memory[TTS_TRAINLOG_EXCERPT];
    uint32_t mesh_devices;
    char chip[TTS_RUN_WORD_MAX];
    bool has_kahan, is_kahan;
    bool is_optimizer_new; /* no block has begun since */
    char optimizer[TTS_RUN_WORD_MAX];
    /* The prediction for the next block only. */
    uint64_t whole_at, whole_line;
    struct tts_run_whole whole;
    char bad_whole[TTS_TRAINLOG_EXCERPT]; /* if whole.peak is not known */
};

/* The part of a header that is being printed. */
enum tts_trainlog_section {
    TTS_TRAINLOG_NO_SECTION,
    TTS_TRAINLOG_SECTION,
    TTS_TRAINLOG_OPTIMIZER_SECTION,
};

/* One rank: what it said, and its block while that is open. */
struct tts_trainlog_rank {
    uint64_t hash, folded;
    uint64_t touched;   /* the higher the later */
    uint64_t ended;     /* when its last block did */
    uint64_t joined_to; /* the offset after the last line of a block that was joined */
    char name[TTS_RUN_TITLE_MAX], folded_name[TTS_RUN_TITLE_MAX];
    enum tts_trainlog_section section;
    struct tts_trainlog_around around;
    bool is_open;
    bool is_bare;        /* only the heading has the prefix */
    bool is_folded;      /* the numbers of the prefix are different from line to line */
    bool is_full;        /* it had more phases than are kept */
    bool is_mixed;       /* a line came twice */
    unsigned seen;       /* lines of the last phase, a bit for each kind */
    bool is_change_lost; /* the line of the last phase ends before 'Segment Change' does */
    bool is_warned;      /* the program said above the block that it overwrites phases */
    struct tts_run run;
    struct tts_run_phase *phases;
    size_t capacity;
};

struct tts_trainlog {
    const struct tts_alloc *alloc;
    struct tts_input *in;
    bool owns_in;
    struct tts_logtext text;
    struct tts_trainlog_rank *ranks[TTS_TRAINLOG_RANKS];
    size_t rank_count, open_count, phase_count;
    struct tts_trainlog_rank *last_opened; /* NULL: it is closed */
    uint64_t clock;
    uint64_t looked_at;  /* the text up to this offset was read line by line */
    unsigned lines_more; /* to be read one by one, as they may belong to the last one */
    bool has_section;    /* some rank may be in one */
    struct tts_trainlog_around around; /* the last seen of any rank */
    uint64_t stray_lines, stray_line;
    struct tts_logwrap wraps[TTS_TRAINLOG_WRAPS]; /* the oldest first */
    size_t wrap_count;
    uint64_t lines_read;             /* lines that were looked at */
    uint64_t joined_from, joined_to; /* the offsets of the line around a block joined last */
    bool has_run;                    /* `run` is to be given */
    struct tts_run run;
    struct tts_run_phase *phases; /* its */
    size_t capacity;
    enum tts_status status; /* out of memory: nothing more is read */
    struct tts_logkey key, line_key;
    char clean[TTS_LOGLINE_MAX], clean_before[TTS_LOGLINE_MAX];
};

/* The rank of this key; made if there is none. NULL: out of memory, or all that there may be
 * have an open block and `may_close` forbids to end one. */
struct tts_trainlog_rank *tts_trainlog_rank_of(struct tts_trainlog *log,
                                               const struct tts_logkey *key, bool may_close);
/* The rank of this key, if there is one. */
struct tts_trainlog_rank *tts_trainlog_find_rank(const struct tts_trainlog *log, uint64_t hash);
struct tts_trainlog_rank *tts_trainlog_open_rank(struct tts_trainlog *log,
                                                 const struct tts_logkey *key);

void tts_trainlog_note(struct tts_run *run, uint64_t line, const char *format, ...)
    TTS_PRINTF(3, 4);
/* The text for a note: short, and nothing that cannot be shown. */
void tts_trainlog_excerpt(char out[TTS_TRAINLOG_EXCERPT], struct tts_span text);

/* A line of a block. */
void tts_trainlog_heading(struct tts_trainlog *log, struct tts_span line, uint64_t number);
void tts_trainlog_in_block(struct tts_trainlog *log, const struct tts_logline *line,
                           uint64_t number);
/* Ends the block of a rank: it becomes the run to be given. */
void tts_trainlog_end(struct tts_trainlog *log, struct tts_trainlog_rank *rank, bool is_cut);

/* The figures of a line, for the last phase of the block, or the block itself. */
void tts_trainlog_figures(struct tts_trainlog_rank *rank, const struct tts_logline *line,
                          uint64_t number);
void tts_trainlog_check(struct tts_trainlog_rank *rank, bool is_whole);
/* Marks a block whose phases the program overwrote. */
void tts_trainlog_find_overwritten(struct tts_trainlog_rank *rank);
/* Returns whether the program says so in the lines before the heading at `raw`. */
bool tts_trainlog_is_warned(const struct tts_trainlog *log, struct tts_span raw);
/* At the end of a phase: derives its 'Segment Change' if that is not known. */
void tts_trainlog_derive(struct tts_trainlog_rank *rank);

/* A line around a block; `raw` is where it stands. */
void tts_trainlog_say(struct tts_trainlog *log, const struct tts_logline *line,
                      struct tts_span raw, uint64_t number);
/* A line that says nothing: an empty one ends the section of its rank. */
void tts_trainlog_pass(struct tts_trainlog *log, struct tts_span text);
void tts_trainlog_end_sections(struct tts_trainlog *log);
/* What is known when a block begins. */
void tts_trainlog_apply(struct tts_trainlog *log, struct tts_trainlog_rank *rank);

/* The title of the block whose heading is `raw`. log->key is the heading's. */
void tts_trainlog_title(struct tts_trainlog *log, struct tts_span raw,
                        char out[TTS_RUN_TITLE_MAX]);
