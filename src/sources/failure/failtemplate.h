/* failtemplate.h: the sentences of the failure families, and a function that matches one
 * sentence.
 *
 * Ownership: spans are borrowed. Threads: the functions keep no state. Cost: linear in the
 * text; nothing is allocated. */
#pragma once

#include "base/span.h"
#include "model/failmsg.h"

#include <stddef.h>

enum {
    TTS_FAILPIECE_LINES = 64,
    TTS_FAILPIECE_STARTS = 8,
    TTS_FAILPIECE_BACK = 12, /* a sentence begins at most this many lines before a phrase */
};

/* Some lines of a text, without colours and escapes. */
struct tts_failpiece {
    const char *text; /* the lines one after another, without line ends */
    size_t line_count;
    struct tts_failline {
        uint32_t begin, end; /* the places in `text` where the line begins and ends */
        /* The places where the line may continue a sentence: after its blanks, and after each
         * mark or prefix of a logger. */
        uint32_t starts[TTS_FAILPIECE_STARTS];
        uint32_t start_count;
        uint32_t common; /* length of the words with which the line before begins too */
    } lines[TTS_FAILPIECE_LINES];
};

/* A phrase that some sentences contain and few other texts do. TTS_FAILPHRASE_MIN bytes or
 * more. Most sentences have two or more that do not overlap, so that a line break inside one
 * phrase does not hide the sentence. */
enum { TTS_FAILPHRASE_MIN = 19, TTS_FAILPHRASE_MAX = 40 };
/* Returns a phrase. Its length is 0 after the last. */
struct tts_span tts_failphrase_at(size_t idx);

/* Finds the sentence that contains the phrase `idx`, which begins at place `at` of line `line`.
 * The sentence may be broken into lines anywhere, and each line may have a prefix. Returns
 * false if there is no such sentence. Otherwise fills the fields of *out that the sentence has,
 * and sets [*begin, *end) to the place of the sentence in the text. */
bool tts_failtemplate_find(const struct tts_failpiece *piece, size_t line, size_t at,
                           size_t idx, struct tts_failmsg *out, size_t *begin, size_t *end);
