/* logkey.h: the prefix of a log line: times, ranks, processes and the fields of loggers, and
 * the key that lines of one rank have in common. docs/design/log-text.md has the rules.
 *
 * Ownership: spans are borrowed from the text that was given; a key holds a copy.
 * Threads: no state is shared.
 * Cost: linear in the line, which is at most TTS_LOGLINE_MAX bytes; nothing is allocated.
 * Returns: no call fails. */
#pragma once

#include "base/span.h"
#include "sources/log/logtext.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_LOGKEY_RANKS = 256,     /* ranks that are distinguished; a larger number is a process */
    TTS_LOGKEY_STRIP_MAX = 256, /* bytes of a prefix that tts_logkey_strip() can handle */
};

/* Splits a line without escape sequences into its prefix and the rest. *rank is the part of the
 * prefix that names a rank; its length is 0 if there is none. */
void tts_logkey_split(struct tts_span line, struct tts_span *prefix, struct tts_span *rank,
                      struct tts_span *rest);

/* A prefix without times and numbers of source lines. */
struct tts_logkey {
    uint64_t hash;
    uint64_t folded; /* the hash with all numbers made equal, unless they distinguish ranks */
    bool has_time;   /* a time or a source line was removed */
    size_t len;
    char text[TTS_LOGLINE_MAX];
};
void tts_logkey_make(struct tts_logkey *key, struct tts_span prefix);

/* Writes the name of the rank: the key without process numbers, words of loggers and brackets
 * around all of it; with `is_folded` also without numbers, because they change from line to
 * line. Two executions of a program give the same names. Two ranks of a log may have the same
 * name: only the key tells them apart. */
void tts_logkey_show(const struct tts_logkey *key, bool is_folded, char *out, size_t capacity);

/* Finds the rest of `text` after the same prefix; times and numbers of source lines may differ.
 * Returns false if `text` has another prefix, or if `prefix` holds only times. `work` is
 * scratch space. */
bool tts_logkey_strip(struct tts_logkey *work, struct tts_span prefix, struct tts_span text,
                      struct tts_span *rest);
/* Returns the text after the times at its beginning. */
struct tts_span tts_logkey_skip_times(struct tts_span text);

/* Returns the length of the level ("INFO", "warn") that the text begins with; 0 if none. */
size_t tts_logline_level(struct tts_span text);
/* Returns the text without a reference to a source line at its end: "(main.cpp:23)" or
 * "train.py:106". */
struct tts_span tts_logline_without_source(struct tts_span text);
