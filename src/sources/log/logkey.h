/* logkey.h: the prefix of a log line (times, ranks, processes, fields of loggers), and the key
 * that the lines of one rank have in common. docs/design/log-text.md has the rules.
 *
 * Ownership: a returned span points into the text of the caller; a key holds a copy.
 * Threads: the functions share no state.
 * Cost: linear in the length of the line, which is at most TTS_LOGLINE_MAX bytes. Nothing is
 * allocated.
 * Returns: no function fails. */
#pragma once

#include "base/span.h"
#include "sources/log/logtext.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_LOGKEY_RANKS = 256, /* ranks that are distinguished; a larger number is a process id */
    TTS_LOGKEY_STRIP_MAX = 256, /* bytes of the longest key that tts_logkey_strip() can find */
};

/* Splits a line without escape sequences into its prefix and the rest. Sets *rank to the part
 * of the prefix that names a rank; rank->len is 0 if no part does. The three spans point into
 * `line`. */
void tts_logkey_split(struct tts_span line, struct tts_span *prefix, struct tts_span *rank,
                      struct tts_span *rest);

/* A key: a prefix without times and without line numbers of source code. */
struct tts_logkey {
    uint64_t hash;
    uint64_t folded; /* the hash of the text with all numbers made equal; equal to `hash` if the
                        numbers distinguish ranks */
    bool has_time;   /* a time or a line number was removed */
    size_t len;
    char text[TTS_LOGLINE_MAX];
};
void tts_logkey_make(struct tts_logkey *key, struct tts_span prefix);

/* Writes the name of the rank: the key without process ids, words of loggers and brackets
 * around the whole key. If `is_folded`, removes all digits too, because they change from line
 * to line. Two executions of a program give the same names. Two ranks of a log may have the
 * same name; only their keys differ. */
void tts_logkey_show(const struct tts_logkey *key, bool is_folded, char *out, size_t capacity);

/* Finds the rest of `text` after the prefix `prefix`. Times and line numbers of source code may
 * differ. Returns false if `text` has another prefix, if `prefix` has nothing but times, or if
 * its key is longer than TTS_LOGKEY_STRIP_MAX. `work` is scratch space. */
bool tts_logkey_strip(struct tts_logkey *work, struct tts_span prefix, struct tts_span text,
                      struct tts_span *rest);
/* Returns `text` without the times at its beginning. */
struct tts_span tts_logkey_skip_times(struct tts_span text);

/* Returns the length of the level ("INFO", "warn") at the beginning of the text; 0 if there is
 * none. */
size_t tts_logline_level(struct tts_span text);
/* Returns the text without a reference to source code at its end, such as "(main.cpp:23)" or
 * "train.py:106". */
struct tts_span tts_logline_without_source(struct tts_span text);
