/* opstep.h: one operation of a compiler's runtime, with the memory before and after it. The
 * reader of runtime logs (sources/runtimelog) fills steps, analyses and views use them. Plain
 * values; spans and pointers are valid until the next step is read. */
#pragma once

#include "base/span.h"
#include "ttscope/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- types ---- */

enum { TTS_OPTYPE_DIMS_MAX = 10 };

/* Where a tensor is. The first four have the order of enum tts_pool. */
enum tts_opplace {
    TTS_OPPLACE_DRAM,
    TTS_OPPLACE_L1,
    TTS_OPPLACE_L1_SMALL,
    TTS_OPPLACE_TRACE,
    TTS_OPPLACE_SYSTEM, /* memory of the host */
    TTS_OPPLACE_UNKNOWN
};

/* A list of dimensions. */
struct tts_opdims {
    size_t count;
    uint64_t sizes[TTS_OPTYPE_DIMS_MAX];
    bool is_known; /* false: a size is dynamic, too large, or there are too many */
};

/* The type of a value: "tensor<1x64xbf16, #ttnn.ttnn_layout<...>>". */
struct tts_optype {
    struct tts_span text;
    bool is_tensor;
    struct tts_opdims shape; /* of the tensor; a scalar has no dimensions */
    struct tts_span dtype;   /* "bf16"; for tiles of block floats the type of the tile */
    enum tts_opplace place;
    /* The layout in memory: "interleaved", "height_sharded"; empty if the text has none. */
    struct tts_span layout;
    bool is_sharded;
    uint64_t cores; /* cores of the grid; 0 if the text has no grid */
    /* The part of the tensor in one memory reference: the whole tensor if it is interleaved,
     * one shard if it is sharded. Counts tiles if the tensor is tiled. */
    struct tts_opdims memref;
    struct tts_span memref_dtype;
    bool is_tiled;
    uint32_t tile_rows, tile_cols;

    /* What follows from the fields above, in bytes of all banks. */
    bool logical_known;
    uint64_t logical_bytes; /* the elements of the shape */
    bool padded_known;
    uint64_t page_bytes; /* of one tile, or of one row */
    uint64_t pages;      /* of the memory reference */
    uint64_t padded_bytes;
};

/* The types of an operation: first the inputs, then the outputs. */
struct tts_opsig {
    struct tts_span text;
    uint32_t inputs, outputs;
    bool is_cut; /* there are more types than a reader keeps */
    struct tts_optype *types;
    size_t capacity; /* of `types` */
};

/* ---- the text of an operation ---- */

struct tts_optext {
    struct tts_span result; /* "%2"; empty if there is no result */
    uint32_t results;       /* number of values of the result: 2 for "%2:2" */
    struct tts_span name;   /* "ttnn.add", without quotes */
    struct tts_span callee; /* the function of a call, without '@' */
    /* The text between the parentheses, without the callee and the brackets of a
     * "ttcore.load_cached". */
    struct tts_span operands;
    struct tts_span attributes; /* "{dtype = ...}"; empty if there are none */
    /* The types: "(type, type) -> type". Empty if the text ends before them. */
    struct tts_span signature;
    struct tts_span loc; /* the text between the parentheses of loc(...) */
    bool is_whole;       /* the text has a name, operands and types */
};

/* ---- memory ---- */

/* The memory of one pool as a log states it, in bytes of each bank. The log has three decimals
 * of a MiB: a value is up to 525 bytes off. */
struct tts_opview {
    uint64_t banks, total_bytes, allocated_bytes, free_bytes, largest_bytes;
};
struct tts_opstate {
    uint32_t known; /* bit 1 << pool: the pool is stated */
    struct tts_opview pools[TTS_POOLS];
};

/* Results of operations that are live: number, and bytes of all banks. */
struct tts_opsums {
    uint64_t count, logical_bytes, padded_bytes;
};

/* The memory of the replay in one pool, in bytes of each bank. */
struct tts_opreplay {
    uint64_t used_bytes;
    /* Bytes by which this and all earlier values are too small, as far as it is known now.
     * Inputs are in memory from the beginning, but their exact sizes are known only from their
     * first use on. */
    int64_t late_bytes;
};

/* The figures of a pool that are known only at the end of the log. */
struct tts_opfinal {
    int64_t late_bytes;           /* the final value of tts_opreplay.late_bytes */
    uint64_t compared, differing; /* blocks that were compared with the replay */
    uint64_t drift_max_bytes;     /* the largest difference, in bytes of each bank */
    uint64_t drift_line;          /* the first block that differs; 0: none */
    uint64_t unnamed_bytes;       /* bytes within operations that no line explains */
};

/* ---- steps ---- */

enum {
    TTS_OPNAME_MAX = 128, /* size of a kept name, with its terminator */
    TTS_OPLOC_MAX = 256,
};

struct tts_opstep {
    uint32_t rank;
    uint64_t index; /* number of the operation in its rank, from 0 */
    uint64_t line;  /* the line of the operation, or of its block */
    bool is_submit; /* no operation: the memory before or after a program */
    bool is_after;

    bool has_op; /* the log has the text of the operation */
    struct tts_optext op;
    const struct tts_opsig *sig; /* NULL if has_op is false */
    const struct tts_span *operands;
    size_t operand_count;
    char loc[TTS_OPLOC_MAX];  /* the name of the location; "" if there is none */
    struct tts_span type;     /* "TypecastOp"; empty if the log has no block */
    bool is_retained;         /* the deallocation freed nothing */
    uint32_t program;         /* number of the outermost program, from 0 */
    const char *program_name; /* "" if it is unknown */
    const char *function;     /* the const-eval function that runs; "" if none */
    bool is_cache_miss;       /* the cache of this function was missed */

    bool has_block;
    uint64_t block; /* number of the block in its rank, from 0 */
    uint64_t block_line, block_last_line;
    struct tts_opstate before; /* of this block */
    struct tts_opstate after;  /* of the next block; known is 0 if there is none */

    bool has_replay; /* false: the log has no operations; the next fields are 0 */
    struct tts_opreplay replay[TTS_POOLS];  /* before the operation */
    uint64_t replay_after_bytes[TTS_POOLS]; /* after it, without uploads, on the same base */
    struct tts_opsums sums[TTS_POOLS];      /* after it */
    /* Bytes in each bank that the next block shows and no line explains: uploaded inputs, and
     * others. */
    uint64_t upload_bytes[TTS_POOLS], unnamed_bytes[TTS_POOLS];
};
