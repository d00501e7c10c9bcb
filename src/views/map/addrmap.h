/* addrmap.h: the history of a space as a picture of fixed size: which addresses were taken
 * when.
 *
 * A map takes one event for each operation, for any number of operations, and keeps at most
 * TTS_ADDRMAP_COLUMNS columns. A column stands for `span` operations. When all columns are
 * used, neighbours are merged and the span doubles. Cells and series are means over a column.
 * The cost of an event is the number of rows that its block covers; the space is never walked.
 *
 * While the span is 1, the blocks are kept too, for a picture without loss.
 *
 * Heap object. One thread at a time. The views read the fields. */
#pragma once

#include "device/space.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

enum {
    TTS_ADDRMAP_COLUMNS = 640, /* must be even: neighbours are merged in pairs */
    TTS_ADDRMAP_ROWS = 200,
    TTS_ADDRMAP_FULL = UINT16_MAX, /* a cell that was taken all the time */
    TTS_ADDRMAP_SIZES = 64,        /* steps for the size of a failed request */
    TTS_ADDRMAP_ROW_WORDS = (TTS_ADDRMAP_ROWS + 63) / 64,
};

enum tts_addrmap_change {
    TTS_ADDRMAP_NOTHING, /* the operation moved no block; it may have cut the space */
    TTS_ADDRMAP_TAKEN,
    TTS_ADDRMAP_LEAKED, /* taken, but below the limit: the runtime throws an exception and keeps
                           the block */
    TTS_ADDRMAP_GIVEN,
    TTS_ADDRMAP_CLEARED,
    TTS_ADDRMAP_FAILED,  /* no block was large enough for `bytes` */
    TTS_ADDRMAP_REFUSED, /* an exact range at `address` was requested and is not free */
    TTS_ADDRMAP_NOT_CUT, /* the range from `address` could not be cut off; not a request */
};

struct tts_addrmap_event {
    enum tts_addrmap_change change;
    uint64_t address; /* absolute; inside the space unless REFUSED or NOT_CUT */
    uint64_t bytes;   /* rounded up to the alignment */
    uint64_t line;    /* line of the operation in its file */
};

/* Requests fail for three reasons: no piece is large enough, too little memory is free, or an
 * exact range is not free. */
struct tts_addrmap_counts {
    uint64_t taken; /* requests that got a block, including leaked ones */
    uint64_t leaked;
    uint64_t fragmented; /* failed although enough was free */
    uint64_t exhausted;  /* failed because too little was free */
    uint64_t refused;    /* failed because the exact range was not free */
    uint64_t not_cut;
};

/* The failed request with the most free memory to spare, and the state at that time. */
struct tts_addrmap_worst {
    uint64_t seq, line; /* 0: no such request */
    uint64_t need_bytes, free_bytes, largest_bytes;
};

struct tts_addrmap_column {
    uint16_t cover[TTS_ADDRMAP_ROWS]; /* share of a row that was taken; 0 and FULL are exact */
    uint64_t free_bytes, largest_bytes, cut_bytes; /* means over the column */
    uint64_t fragmented, exhausted;                /* number of failed requests */
    uint64_t blocked;                              /* number of REFUSED and NOT_CUT events */
    uint64_t fragmented_sizes, exhausted_sizes; /* one bit for each size step with a failure */
    uint64_t blocked_rows[TTS_ADDRMAP_ROW_WORDS]; /* one bit for each row with such an event */
};

/* A block. Operations are numbered from 1. The block exists after first_seq and is gone after
 * end_seq. */
struct tts_addrmap_block {
    uint64_t first_seq, end_seq; /* end_seq UINT64_MAX: until the end */
    uint64_t start, size_bytes;  /* start is relative to the space */
    bool leaked;
};

/* A request that failed. */
struct tts_addrmap_mark {
    uint64_t seq, size_bytes;
    bool fragmented; /* enough was free, but in pieces */
};

struct tts_addrmap {
    struct tts_alloc alloc;
    struct tts_space_config config;
    uint64_t operations;
    struct tts_addrmap_counts counts;
    struct tts_addrmap_worst worst;
    struct tts_space_stats last; /* state of the space after the last operation */

    size_t column_count;
    uint64_t span;      /* operations per column */
    uint64_t last_span; /* operations of the last column */
    uint64_t row_bytes; /* the last row may be smaller */
    size_t row_count;
    uint64_t row_unit_bytes; /* unit of the row sums */
    /* Sums are in units of 2^value_shift bytes, so that they cannot wrap. */
    unsigned value_shift;
    struct tts_addrmap_column columns[TTS_ADDRMAP_COLUMNS];

    bool has_detail; /* blocks, marks and lines are complete */
    size_t block_count, mark_count;
    struct tts_addrmap_block blocks[TTS_ADDRMAP_COLUMNS];
    struct tts_addrmap_mark marks[TTS_ADDRMAP_COLUMNS];
    uint64_t lines[TTS_ADDRMAP_COLUMNS]; /* lines[seq - 1] is the line of operation seq */

    /* The current state, and the column that is being filled. */
    uint64_t row_taken_bytes[TTS_ADDRMAP_ROWS];
    uint64_t row_sum[TTS_ADDRMAP_ROWS];   /* sum of taken units in this column, up to operation
                                             row_since */
    uint64_t row_since[TTS_ADDRMAP_ROWS]; /* number of the operation in this column */
    uint64_t free_sum, largest_sum, cut_sum;
    uint64_t filled; /* number of operations in this column */
};

/* Creates an empty map. If `alloc` is NULL, the C library's allocator is used. TTS_E_NOMEM: out
 * of memory. */
TTS_NODISCARD enum tts_status tts_addrmap_new(const struct tts_space_config *config,
                                              const struct tts_alloc *alloc,
                                              struct tts_addrmap **out);
void tts_addrmap_free(struct tts_addrmap *map);

/* Adds one operation. `after` is the state of the space after the operation. */
void tts_addrmap_add(struct tts_addrmap *map, const struct tts_addrmap_event *event,
                     const struct tts_space_stats *after);

/* Closes the last column. Nothing can be added afterwards. */
void tts_addrmap_finish(struct tts_addrmap *map);

/* Returns the bytes of a row. The rows tile the space. */
uint64_t tts_addrmap_row_size(const struct tts_addrmap *map, size_t row);
