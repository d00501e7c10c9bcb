/* devseqline.h: one line of the device language (docs/design/devseq.md) as data, with its
 * result, and the state of a run. Plain values. sources/seq/devseq.h parses and formats a line,
 * and sources/seq/devseq_run.h runs it. */
#pragma once

#include "device/cbs.h"
#include "ttscope/buffer.h"
#include "ttscope/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_devseq_kind {
    TTS_DEVSEQ_BLANK, /* an empty line or a comment, whose text is not kept */
    TTS_DEVSEQ_BUFFER,
    TTS_DEVSEQ_SHARD,
    TTS_DEVSEQ_CB,
    TTS_DEVSEQ_FREE,
    TTS_DEVSEQ_PROGRAM,
    TTS_DEVSEQ_RUN,
    TTS_DEVSEQ_KERNEL,
    TTS_DEVSEQ_CAPTURE,
    TTS_DEVSEQ_TRACE,
    TTS_DEVSEQ_IDLE,
    TTS_DEVSEQ_STATS,
    TTS_DEVSEQ_ROOM,
    TTS_DEVSEQ_PAGE,
    TTS_DEVSEQ_KINDS,
};

enum tts_devseq_sharding { TTS_DEVSEQ_CLASSIC, TTS_DEVSEQ_ND, TTS_DEVSEQ_GRID };

enum tts_devseq_outcome {
    TTS_DEVSEQ_DONE,
    TTS_DEVSEQ_FAILED,      /* written as F */
    TTS_DEVSEQ_BELOW_LIMIT, /* written as T */
    TTS_DEVSEQ_NOT_PLACED,  /* written as - */
};

/* value[] holds the numbers of the result from left to right. All other elements are 0. */
struct tts_devseq_result {
    enum tts_devseq_outcome outcome;
    uint64_t value[4];
    bool has_core; /* only for `page` in L1 */
    struct tts_core core;
};

enum { TTS_DEVSEQ_NAME_MAX = 48, TTS_DEVSEQ_TEXT_MAX = 4096 }; /* with the NUL */

struct tts_devseq_name {
    char text[TTS_DEVSEQ_NAME_MAX]; /* "" if there is none */
};

/* Operands and options that the line does not have are 0. */
struct tts_devseq_line {
    enum tts_devseq_kind kind;
    /* The pool of a buffer, shard or stats line, or of a free line with an address. */
    enum tts_pool pool;
    struct tts_devseq_name name; /* options `as` and `on`; operand of free and page */
    bool has_address;            /* the line frees the buffer at `address` */
    uint64_t address;
    uint64_t bytes;               /* operand SIZE */
    uint64_t page_bytes;          /* the operand PAGE or the option `page` */
    uint64_t number;              /* the operand ID, STEPS or INDEX, or the option `offset` */
    enum tts_placement placement; /* options `from` and `at` */
    enum tts_devseq_sharding sharding;
    uint32_t rank;
    uint64_t tensor[TTS_RANK_MAX], shard[TTS_RANK_MAX];
    bool has_tensor, column_major;
    struct tts_core core; /* operand of room */
    size_t range_count, index_count;
    struct tts_core_range ranges[TTS_RANGES_MAX];
    uint8_t indices[TTS_CB_INDICES_MAX];
    bool has_result;
    struct tts_devseq_result result;
};

/* The result of one line. */
struct tts_devseq_step {
    struct tts_devseq_line line; /* the line with its actual result */
    bool has_buffer;
    struct tts_buffer buffer; /* the buffer that was placed, counted or freed */
    bool failed;
    struct tts_failure failure;
    /* For a circular buffer: the number of earlier ones that it overlaps on at least one core.
     */
    size_t overlaps;
};

/* Counts of the run so far. */
struct tts_devseq_counts {
    uint64_t operations; /* all lines except comments and blank lines */
    uint64_t buffers_ok, buffers_failed, buffers_below_limit, buffers_not_placed;
    /* Number of the failed buffers for which enough bytes were free, but not in one block. */
    uint64_t fragmented;
    uint64_t frees_ok, frees_ignored;
    uint64_t programs, cbs, runs_ok, runs_failed;
    uint64_t captures, idles, queries;
    uint64_t first_failure_line; /* 0 if nothing failed */
    /* Line that first reached the peak; 0 if nothing was allocated. */
    uint64_t peak_line[TTS_POOLS];
    uint64_t peak_bytes[TTS_POOLS];
};

/* The core with the least room at the start of any program. */
struct tts_devseq_tight {
    uint64_t line; /* 0 if no program was run */
    uint64_t program_id;
    struct tts_core core;
    struct tts_core_room room;
};

/* A buffer of a device sequence. */
struct tts_devseq_held {
    struct tts_devseq_name name;
    bool live; /* false if the allocation failed; the name may then be used again */
    bool has_address;
    struct tts_buffer buffer;
    uint64_t page_bytes;
    /* The line of a sharded buffer, owned; NULL: interleaved. */
    struct tts_devseq_line *sharding;
};
