/* failverdict.h: the meaning of a failure message: the cause, the bytes that are missing, and
 * what follows from the numbers of the message alone. docs/design/failure-message.md has the
 * rules.
 *
 * Plain data, no memory is allocated, any thread. Nothing is guessed: a fact that does not
 * follow from the message is unknown. */
#pragma once

#include "model/failmsg.h"
#include "ttscope/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_failcause {
    TTS_FAILCAUSE_UNKNOWN,       /* the message does not contain the answer */
    TTS_FAILCAUSE_NEVER_FITS,    /* the request is larger than an empty bank */
    TTS_FAILCAUSE_CAPACITY,      /* the request is larger than the free bytes of a bank */
    TTS_FAILCAUSE_FRAGMENTATION, /* enough bytes are free, but not in one piece */
    TTS_FAILCAUSE_CLASH,         /* circular buffers grow into L1 buffers */
    TTS_FAILCAUSE_BEYOND_L1,     /* circular buffers are larger than L1 */
    TTS_FAILCAUSE_BELOW_LIMIT,
    TTS_FAILCAUSE_TRACE_REGION,
    TTS_FAILCAUSE_TRACE_OVERLAP,
    TTS_FAILCAUSE_CONFIG_RING,
    TTS_FAILCAUSE_OTHER, /* a rule is broken; memory is not the problem */
};

/* Returns "never_fits" and so on, NULL for UNKNOWN. The text is constant. */
const char *tts_failcause_name(enum tts_failcause cause);

/* What the missing bytes are counted in. */
enum tts_failscope {
    TTS_FAILSCOPE_BANK, /* of each bank */
    TTS_FAILSCOPE_CORE, /* of the L1 of each core in question */
    TTS_FAILSCOPE_CHIP, /* of the whole chip */
};

enum { TTS_FAILPAGES_MAX = 6, TTS_FAILBASES_MAX = 8, TTS_FAILREASON_MAX = 240 };

/* A page size that explains the bytes of a bank: a tile of that many bytes. */
struct tts_failpage {
    uint64_t bytes;
    const char *dtype; /* "bf16"; a tile of this size may have other types too */
};

struct tts_failverdict {
    enum tts_failcause cause;
    /* UNKNOWN, or a cause without `deficit`: why it is unknown, and what would decide it. Empty
     * otherwise. */
    char reason[TTS_FAILREASON_MAX];
    const char *decides; /* NULL: nothing to add */
    bool is_warning;     /* nothing has failed yet */
    bool has_deficit;
    uint64_t deficit_bytes;
    enum tts_failscope scope;
    /* The numbers contradict each other; `reason` says how. The cause, if any, holds whichever
     * of them is right. */
    bool is_contradictory;

    bool is_sharded; /* V*, D*: false means unknown */
    struct tts_failpage pages[TTS_FAILPAGES_MAX];
    size_t page_count;

    bool has_arch;
    enum tts_arch arch;
    /* Circular buffers: candidates for their first address, computed from the end address in
     * the message. The best candidate comes first. */
    struct tts_l1_base bases[TTS_FAILBASES_MAX];
    size_t base_count;
    bool has_base;    /* one base is clearly the best, or the log states it */
    uint64_t l1_base; /* first byte of the circular buffers; if has_base */
};

void tts_failverdict_make(const struct tts_failmsg *msg, struct tts_failverdict *out);

/* Returns the bytes that a bank needs for `size` bytes in pages of `page` bytes over `banks`
 * banks. Pages are rounded up to `align` bytes. UINT64_MAX if that is too large. */
uint64_t tts_failverdict_need(uint64_t size, uint64_t page, uint64_t banks, uint64_t align);
