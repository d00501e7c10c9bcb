/* optensors.h: the tensors of one rank of a runtime log: which tensor each name stands for, how
 * much device memory it takes, and where the allocator of the runtime places it. The operations
 * of the log are replayed in their order; memory blocks of the log correct the replay.
 * docs/design/runtime-log.md has the rules.
 *
 * Ownership: the caller owns the struct. A tensor that `on_change` gets is valid during the
 * call.
 * Threads: one thread at a time.
 * Cost: an operation takes a look at the table for each name, and one call of the allocator for
 * each tensor that it makes or frees. Memory grows with the number of live tensors and open
 * programs, not with the log.
 * Returns: TTS_OK, or TTS_E_NOMEM if the host has too little memory; the struct can then only
 * be released. */
#pragma once

#include "base/hashtable.h"
#include "sources/runtimelog/oplog.h"
#include "sources/runtimelog/optype.h"
#include "ttscope/chip.h"

struct tts_space;

enum {
    TTS_OPSCOPES_MAX = 64,       /* programs that are open at once */
    TTS_OPTENSORS_MAX = 1 << 20, /* live tensors */
};

/* Who holds the memory of a tensor. */
enum tts_opowner {
    TTS_OPOWNER_INPUT, /* inputs and weights of programs */
    TTS_OPOWNER_CONST_EVAL,
    TTS_OPOWNER_ACTIVATION,
    TTS_OPOWNER_KV_CACHE,
    TTS_OPOWNER_TRACE,
    TTS_OPOWNER_UNATTRIBUTED, /* the log shows the bytes, and no line explains them */
};
enum { TTS_OPOWNERS = TTS_OPOWNER_UNATTRIBUTED + 1 };

struct tts_optensor {
    uint64_t id; /* from 1, in the order of creation */
    enum tts_opowner owner;
    enum tts_pool pool;
    bool is_placed; /* the replay has an address for it */
    uint64_t address;
    uint64_t bank_bytes;    /* bytes in each bank */
    uint64_t padded_bytes;  /* bytes of all banks, without the rounding of banks; 0: unknown */
    uint64_t logical_bytes; /* bytes of the elements; 0: unknown */
    uint64_t page_bytes;
    uint64_t cores; /* number of shards; 0: interleaved */
};

/* Why a tensor appears or goes. */
enum tts_opchange_cause {
    TTS_OPCHANGE_OP,      /* the operation */
    TTS_OPCHANGE_UPLOAD,  /* inputs, between two programs */
    TTS_OPCHANGE_SILENT,  /* freed at the end of a program, without a line */
    TTS_OPCHANGE_UNNAMED, /* only a memory block shows it */
    TTS_OPCHANGE_SPLIT,   /* a part of the inputs is identified; the bytes are the same */
};

struct tts_opchange {
    bool is_free;
    enum tts_opchange_cause cause;
    const struct tts_optensor *tensor;
};
typedef enum tts_status (*tts_opchange_fn)(void *ctx, const struct tts_opchange *change);

/* The pools of the device. */
struct tts_oppool {
    struct tts_opbanks banks;
    uint64_t size_bytes;     /* of each bank; 0: unknown */
    struct tts_space *space; /* NULL: addresses are not replayed */
    uint64_t used_bytes;     /* bytes in each bank that the replay holds */
    /* Bytes by which `used_bytes` was too small before now. Inputs are in memory from the
     * beginning, but their exact sizes are known only from their first use on. */
    int64_t late_bytes;
    int64_t drift_bytes; /* bytes that the log has less than the replay, taken over */
    /* Differences between the replay and the blocks of the log. */
    uint64_t compared, differing; /* blocks */
    uint64_t drift_max_bytes;
    uint64_t drift_line;    /* the first block that differs; 0: none */
    uint64_t unnamed_bytes; /* taken over from the log within operations */
};

struct tts_optensors;

struct tts_optensors_config {
    const struct tts_alloc *alloc;
    bool has_blocks;                     /* the log has memory blocks */
    struct tts_opbanks banks[TTS_POOLS]; /* used if the log has no memory blocks */
    tts_opchange_fn on_change;
    void *ctx;
};

TTS_NODISCARD enum tts_status tts_optensors_new(const struct tts_optensors_config *config,
                                                struct tts_optensors **out);
void tts_optensors_free(struct tts_optensors *tensors); /* NULL is allowed */

/* The log has memory blocks. Call this before the first operation begins. */
void tts_optensors_expect_blocks(struct tts_optensors *tensors);

/* The lines of the log, in their order. */
TTS_NODISCARD enum tts_status tts_optensors_begin_program(struct tts_optensors *tensors,
                                                          struct tts_span name);
TTS_NODISCARD enum tts_status tts_optensors_end_program(struct tts_optensors *tensors);
/* An operation begins; the one before it has ended. NULL: its text is unknown. The types of the
 * step are borrowed until the next operation begins. */
TTS_NODISCARD enum tts_status tts_optensors_begin_op(struct tts_optensors *tensors,
                                                     const struct tts_opstep *step);
/* The operation in progress has ended. */
TTS_NODISCARD enum tts_status tts_optensors_settle(struct tts_optensors *tensors);
void tts_optensors_retain(struct tts_optensors *tensors);
/* Takes the hash of a cached function. */
void tts_optensors_lookup(struct tts_optensors *tensors, struct tts_span function,
                          struct tts_span hash);
/* A memory block: compares the replay with it, and takes over bytes that no line explains. */
TTS_NODISCARD enum tts_status tts_optensors_compare(struct tts_optensors *tensors,
                                                    const struct tts_opstate *state,
                                                    uint64_t line);
/* The end of the log: settles the last operation. */
TTS_NODISCARD enum tts_status tts_optensors_finish(struct tts_optensors *tensors);

const struct tts_oppool *tts_optensors_pool(const struct tts_optensors *tensors,
                                            enum tts_pool pool);
/* Returns the sums of the live results of operations in a pool. */
struct tts_opsums tts_optensors_sums(const struct tts_optensors *tensors, enum tts_pool pool);
/* Bytes in each bank by owner. */
uint64_t tts_optensors_owned(const struct tts_optensors *tensors, enum tts_pool pool,
                             enum tts_opowner owner);
/* Returns the const-eval function whose program is open, or "". */
const char *tts_optensors_function(const struct tts_optensors *tensors);
/* Returns the number of open programs. */
uint32_t tts_optensors_depth(const struct tts_optensors *tensors);
