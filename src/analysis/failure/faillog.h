/* faillog.h: the failures of one text, each once, and how often each family occurs.
 *
 * The runtime prints a failure at least twice (a log line, then the exception), and tracebacks
 * repeat it. Messages with the same numbers are one entry.
 *
 * Ownership: the caller owns the struct. Memory: TTS_FAILLOG_MAX entries at most; further
 * failures are only counted. One thread at a time. */
#pragma once

#include "model/failmsg.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stddef.h>
#include <stdint.h>

enum { TTS_FAILLOG_MAX = 2048 };

struct tts_failentry {
    struct tts_failmsg msg; /* the first message; its operation may be from a later one */
    uint64_t count, last_line;
};

struct tts_failfamily {
    uint64_t count; /* messages, repeated ones too */
    uint64_t first_line, last_line;
    size_t entries; /* different failures, of those that are kept */
};

struct tts_faillog {
    const struct tts_alloc *alloc;
    size_t count, capacity;
    struct tts_failentry *entries; /* in the order of their first lines */
    uint32_t *hashes;
    uint64_t messages;
    uint64_t left_out; /* messages of failures that are not kept */
    struct tts_failfamily families[TTS_FAILMSG_FAMILIES];
};

/* If `alloc` is NULL, the C library allocates. */
void tts_faillog_init(struct tts_faillog *log, const struct tts_alloc *alloc);
void tts_faillog_release(struct tts_faillog *log);

/* Counts a message. Returns TTS_E_NOMEM if memory runs out; the log stays valid. */
TTS_NODISCARD enum tts_status
tts_faillog_add(struct tts_faillog *log, const struct tts_failmsg *msg, struct tts_error *err);

/* Returns the first failure, or the first warning if there are only warnings. NULL: none. */
const struct tts_failentry *tts_faillog_first(const struct tts_faillog *log);

/* The failure in which a log ends. */
struct tts_failending {
    const struct tts_failentry *entry;
    uint64_t line;   /* of a message of this failure, after the line that was given */
    bool is_first;   /* the log has no earlier failure */
    uint64_t others; /* number of other failures of the log, as far as they are kept */
};

/* Finds the first failure that has a message after line `after`. Warnings are no failures.
 * Returns false if there is none. */
bool tts_faillog_ending(const struct tts_faillog *log, uint64_t after,
                        struct tts_failending *out);
