/* failtemplate.h: the sentences of the failure families, and the match of one sentence.
 *
 * Ownership: spans are borrowed. Threads: any. Cost: linear in the text; nothing is
 * allocated. */
#pragma once

#include "base/span.h"
#include "model/failmsg.h"

#include <stddef.h>

enum { TTS_FAILPIECE_LINES = 64, TTS_FAILPIECE_STARTS = 8 };

/* Some lines of a text, without colours and escapes. */
struct tts_failpiece {
    const char *text; /* the lines one after the other, without line ends */
    size_t line_count;
    struct tts_failline {
        uint32_t begin, end; /* places in the text */
        /* Where the line may continue a sentence: after blanks, after the words that the line
         * before begins with too, and after each mark or prefix of a logger. */
        uint32_t starts[TTS_FAILPIECE_STARTS];
        uint32_t start_count;
    } lines[TTS_FAILPIECE_LINES];
};

/* A phrase that some sentences contain and few other texts do. TTS_FAILPHRASE_MIN bytes or
 * more. Most families have two, so that a line break inside one phrase does not hide the
 * sentence. */
enum { TTS_FAILPHRASE_MIN = 11, TTS_FAILPHRASE_MAX = 40 };
/* Returns a phrase. Its length is 0 after the last. */
struct tts_span tts_failphrase_at(size_t idx);

/* Finds the sentence that contains the byte `at` of line `line`, where the phrase `idx` begins.
 * A sentence may be broken anywhere, and each of its lines may have a prefix. Returns false if
 * there is none. Otherwise fills the fields of *out that the sentence has. [*begin, *end) is
 * the place of the sentence in the text. */
bool tts_failtemplate_find(const struct tts_failpiece *piece, size_t line, size_t at,
                           size_t idx, struct tts_failmsg *out, size_t *begin, size_t *end);
