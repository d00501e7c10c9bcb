/* addrmap.h: the history of a space as a picture of fixed size: who held which address, when.
 *
 * A map takes one event an operation, for any number of operations, and keeps at most
 * TTS_ADDRMAP_COLUMNS columns. A column stands for `span` operations; when the columns are used
 * up, neighbours are merged and the span doubles. Cells and series are means over a column. An
 * event costs the rows its block covers, never a walk over the space.
 *
 * As long as the span is 1 the blocks themselves are kept too, for a picture without loss.
 *
 * Heap object, one thread. The fields are for the views to read. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/space.h"
#include "ttscope/status.h"

enum {
    TTS_ADDRMAP_COLUMNS = 640, /* even */
    TTS_ADDRMAP_ROWS = 200,
    TTS_ADDRMAP_FULL = UINT16_MAX, /* a cell that was taken all the time */
    TTS_ADDRMAP_SIZES = 64,        /* steps for the size of a failed request */
    TTS_ADDRMAP_ROW_WORDS = (TTS_ADDRMAP_ROWS + 63) / 64,
};

enum tts_addrmap_change {
    TTS_ADDRMAP_NOTHING, /* an operation that moved no block; it may have cut the space */
    TTS_ADDRMAP_TAKEN,
    TTS_ADDRMAP_LEAKED, /* taken, but below the limit: the runtime throws and keeps it */
    TTS_ADDRMAP_GIVEN,
    TTS_ADDRMAP_CLEARED,
    TTS_ADDRMAP_FAILED,  /* no block was large enough for `bytes` */
    TTS_ADDRMAP_REFUSED, /* the range at `address` was asked for and not free */
    TTS_ADDRMAP_NOT_CUT, /* what begins at `address` was not free to cut off; no request */
};

struct tts_addrmap_event {
    enum tts_addrmap_change change;
    uint64_t address; /* absolute, inside the space except where REFUSED or NOT_CUT */
    uint64_t bytes;   /* rounded */
    uint64_t line;    /* where the operation stands in its file */
};

/* Failed requests are of three kinds: for lack of one large piece, for lack of memory, and for
 * an exact range. */
struct tts_addrmap_counts {
    uint64_t taken; /* requests that got a block; leaked ones among them */
    uint64_t leaked;
    uint64_t fragmented; /* failed although enough was free */
    uint64_t exhausted;  /* failed as too little was free */
    uint64_t refused;    /* failed as its range was not free */
    uint64_t not_cut;
};

/* The failed request that had the most to spare: how it stood then. */
struct tts_addrmap_worst {
    uint64_t seq, line; /* 0: there is none */
    uint64_t need_bytes, free_bytes, largest_bytes;
};

struct tts_addrmap_column {
    uint16_t
        cover[TTS_ADDRMAP_ROWS]; /* the share of a row that was taken; 0 and FULL are exact */
    uint64_t free_bytes, largest_bytes, cut_bytes; /* means */
    uint64_t fragmented, exhausted;                /* how many */
    uint64_t blocked;                              /* how many were REFUSED or NOT_CUT */
    uint64_t fragmented_sizes, exhausted_sizes;    /* a bit for each step of size that failed */
    uint64_t blocked_rows[TTS_ADDRMAP_ROW_WORDS];  /* a bit for each row of these */
};

/* Operations are numbered from 1; a block is there after first_seq and gone after end_seq. */
struct tts_addrmap_block {
    uint64_t first_seq, end_seq; /* end_seq UINT64_MAX: to the end */
    uint64_t start, size_bytes;  /* start is relative */
    bool leaked;
};

/* A request that failed. */
struct tts_addrmap_mark {
    uint64_t seq, size_bytes;
    bool fragmented; /* enough was free */
};

struct tts_addrmap {
    struct tts_alloc alloc;
    struct tts_space_config config;
    uint64_t operations;
    struct tts_addrmap_counts counts;
    struct tts_addrmap_worst worst;
    struct tts_space_stats last; /* after the last operation */

    size_t column_count;
    uint64_t span;      /* operations a column */
    uint64_t last_span; /* of the last column */
    uint64_t row_bytes; /* the last row may be smaller */
    size_t row_count;
    uint64_t row_unit_bytes; /* what row sums count in */
    unsigned
        value_shift; /* sums are in units of 2^value_shift bytes, so that they cannot wrap */
    struct tts_addrmap_column columns[TTS_ADDRMAP_COLUMNS];

    bool has_detail; /* blocks, marks and lines are complete */
    size_t block_count, mark_count;
    struct tts_addrmap_block blocks[TTS_ADDRMAP_COLUMNS];
    struct tts_addrmap_mark marks[TTS_ADDRMAP_COLUMNS];
    uint64_t lines[TTS_ADDRMAP_COLUMNS]; /* of operation seq in lines[seq - 1] */

    /* The state now, and the column that is being filled. */
    uint64_t row_taken_bytes[TTS_ADDRMAP_ROWS];
    uint64_t row_sum[TTS_ADDRMAP_ROWS];   /* of taken units, up to row_since */
    uint64_t row_since[TTS_ADDRMAP_ROWS]; /* operation of this column */
    uint64_t free_sum, largest_sum, cut_sum;
    uint64_t filled; /* operations in it */
};

/* `alloc` NULL means the C library's. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_addrmap_new(const struct tts_space_config *config,
                                              const struct tts_alloc *alloc,
                                              struct tts_addrmap **out);
void tts_addrmap_free(struct tts_addrmap *map);

/* One operation; `after` is the state of the space behind it. */
void tts_addrmap_add(struct tts_addrmap *map, const struct tts_addrmap_event *event,
                     const struct tts_space_stats *after);

/* Closes the last column. Nothing can be added afterwards. */
void tts_addrmap_finish(struct tts_addrmap *map);

/* The bytes of a row: all rows tile the space. */
uint64_t tts_addrmap_row_size(const struct tts_addrmap *map, size_t row);
