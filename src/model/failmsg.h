/* failmsg.h: one failure message of the runtime, as its numbers. The families are the versions
 * of the messages (docs/design/failure-message.md). The reader is sources/failure; the meaning
 * is in analysis/failure/failverdict.h.
 *
 * Plain data. One thread for each message. Nothing here allocates. */
#pragma once

#include "ttscope/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(NAME, name, title). The name is the name in JSON. The title begins a sentence. */
#define TTS_FAILMSG_MAP(X)                                                                     \
    X(V1, "V1", "out of memory")                                                               \
    X(V2, "V2", "out of memory")                                                               \
    X(V3, "V3", "out of memory")                                                               \
    X(D1, "D1", "out of memory because of other allocators")                                   \
    X(D2, "D2", "out of memory because of other allocators")                                   \
    X(ADDR, "ADDR", "L1 buffer below the lowest allowed address")                              \
    X(CB, "CB", "circular buffers clash with L1 buffers")                                      \
    X(DFB, "DFB", "dataflow buffers clash with L1 buffers")                                    \
    X(SVC, "SVC", "circular buffers clash with service memory")                                \
    X(CBMAX, "CBMAX", "circular buffers beyond L1")                                            \
    X(DFBMAX, "DFBMAX", "dataflow buffers beyond L1")                                          \
    X(DFBRING, "DFBRING", "dataflow buffer larger than L1")                                    \
    X(TRACE, "TRACE", "trace region too small")                                                \
    X(TOVER_BOTH, "TOVER/both", "trace overlaps DRAM in use")                                  \
    X(TOVER_FREED, "TOVER/freed", "trace overlaps freed DRAM")                                 \
    X(TOVER_ALLOCATED, "TOVER/allocated", "trace overlaps allocated DRAM")                     \
    X(TOVER_LIVE, "TOVER/live", "trace overlaps another trace")                                \
    X(TRACKER, "TRACKER", "buffers alive before trace replay")                                 \
    X(UNSAFE, "UNSAFE", "allocation while a trace is active")                                  \
    X(RING, "RING", "program too large for the kernel-config ring")                            \
    X(CBSIZE, "CBSIZE", "circular buffer size is not a multiple of its page")                  \
    X(CBINDEX, "CBINDEX", "circular buffer index out of range")                                \
    X(CBSLOTS, "CBSLOTS", "too many circular buffers")                                         \
    X(CBTWICE, "CBTWICE", "circular buffer index used twice")                                  \
    X(CBPAGES, "CBPAGES", "too many pages in a circular buffer")                               \
    X(CBFORMAT, "CBFORMAT", "circular buffer without format or page size")                     \
    X(CBGLOBAL, "CBGLOBAL", "circular buffer larger than its L1 buffer")                       \
    X(CBGRID, "CBGRID", "circular buffer outside the compute grid")                            \
    X(DFBRULE, "DFBRULE", "dataflow buffer breaks a rule")

#define TTS_FAILMSG_ENUM(name, text, title) TTS_FAILMSG_##name,
enum tts_failmsg_family { TTS_FAILMSG_MAP(TTS_FAILMSG_ENUM) TTS_FAILMSG_FAMILIES };
#undef TTS_FAILMSG_ENUM

/* Return the name and the title of a family. The texts are constant. */
const char *tts_failmsg_name(enum tts_failmsg_family family);
const char *tts_failmsg_title(enum tts_failmsg_family family);

/* The numbers of a message. A message has some of them. */
enum tts_failmsg_field {
    TTS_FAILMSG_REQUESTED, /* bytes of the whole buffer; TRACE: bytes of all traces */
    TTS_FAILMSG_BANKS,
    TTS_FAILMSG_NEED, /* this field and the four below: bytes of one bank */
    TTS_FAILMSG_BANK,
    TTS_FAILMSG_ALLOCATED,
    TTS_FAILMSG_FREE,
    TTS_FAILMSG_LARGEST,
    TTS_FAILMSG_PROGRAM, /* id of the program */
    /* CB, DFB, SVC: lowest address in use above the circular buffers. ADDR, TOVER: address of
     * the buffer. */
    TTS_FAILMSG_ADDRESS,
    TTS_FAILMSG_END,       /* CB, DFB, SVC, CBMAX, DFBMAX: end of the region, an address */
    TTS_FAILMSG_LIMIT,     /* ADDR: lowest allowed address. Others: most bytes allowed */
    TTS_FAILMSG_MESH,      /* id of the mesh device */
    TTS_FAILMSG_ALLOC_END, /* TOVER: highest end of the DRAM allocated during the capture */
    TTS_FAILMSG_FREE_END,  /* TOVER: highest end of the DRAM freed during the capture */
    TTS_FAILMSG_LIVE_END,  /* TOVER: highest end of the DRAM that a live trace used */
    TTS_FAILMSG_SIZE,      /* bytes that exceed LIMIT: DFBRING, RING, CBGLOBAL, CBSIZE */
    TTS_FAILMSG_INDEX,     /* index of the circular or dataflow buffer */
    TTS_FAILMSG_COUNT,     /* TRACKER: buffers. CBPAGES: pages. CBSLOTS: indices */
    TTS_FAILMSG_FIELDS
};

enum { TTS_FAILMSG_RANGE_MAX = 96, TTS_FAILMSG_OP_MAX = 128, TTS_FAILMSG_CORE_MAX = 24 };

struct tts_failmsg {
    enum tts_failmsg_family family;
    uint64_t value[TTS_FAILMSG_FIELDS];
    uint32_t known;     /* bit i is set if the message has field i */
    uint32_t too_large; /* bit i is set if field i has a number above 64 bits */
    bool has_pool;
    enum tts_pool pool;
    bool is_cut;                       /* the text ends before the end of the message */
    char range[TTS_FAILMSG_RANGE_MAX]; /* the cores, as written: "[0-0 - 7-7]"; may be empty */
    char core_type[TTS_FAILMSG_CORE_MAX]; /* RING: "TENSIX"; may be empty */

    uint64_t line;               /* line of the first word of the message, from 1 */
    char op[TTS_FAILMSG_OP_MAX]; /* name of the operation that failed; "" if unknown */
    uint64_t op_line;            /* line that names the operation; 0 if unknown */
    /* `op` is not from a backtrace: it is the last operation before the message. */
    bool op_is_near;
    uint64_t l1_base; /* base of circular buffers that the log states; 0 if it states none */
};

static inline bool tts_failmsg_has(const struct tts_failmsg *msg, enum tts_failmsg_field field)
{
    return (msg->known >> field & 1) != 0;
}

/* Returns true if two messages have the same family, numbers and cores, so that they are
 * probably the same failure, printed twice. */
bool tts_failmsg_is_same(const struct tts_failmsg *a, const struct tts_failmsg *b);
