/* replay_view.h: the parts that the answers of all kinds of replay share, as text and as JSON
 * (docs/design/replay-json.md). */
#pragma once

#include "base/compiler.h"
#include "device/space.h"
#include "model/devseqline.h"
#include "ttscope/failure.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The result of comparing with the results that the sequence states. */
struct tts_replay_check {
    uint64_t operations;
    uint64_t matched;
    uint64_t not_compared;   /* operations that could state a result but do not */
    uint64_t without_result; /* operations that have no result, such as a free */
    uint64_t line;           /* line of the first difference, or 0 */
    /* room for a device line, which is longer than a pool's */
    char expected[TTS_DEVSEQ_TEXT_MAX], got[TTS_DEVSEQ_TEXT_MAX];
};

/* Writes the field "check". `check` is NULL if no comparison was asked for. */
void tts_replay_json_check(struct tts_json *json, const struct tts_replay_check *check);

/* Writes the array "blocks" with all blocks of a space. */
void tts_replay_json_blocks(struct tts_json *json, const struct tts_space *space);

/* Writes the fields of a statistics result: total, allocated, free and largest free bytes. */
void tts_replay_json_stats(struct tts_json *json, const uint64_t value[4]);
/* Writes the same fields for a space, and its fragmentation. */
void tts_replay_json_space(struct tts_json *json, const struct tts_space_stats *stats);

/* Each prints one row with aligned columns for the name, the number and a remark. `remark` is
 * NULL or a format. */
void tts_replay_text_bytes(FILE *out, const char *name, uint64_t bytes, const char *remark, ...)
    TTS_PRINTF(4, 5);
void tts_replay_text_count(FILE *out, const char *name, uint64_t count, const char *remark, ...)
    TTS_PRINTF(4, 5);
/* Prints the missing bytes of a failure after `mark`, and `where` after the number. Explains
 * the number if the block is larger than the request. Prints nothing if the bytes are unknown.
 */
void tts_replay_text_missing(FILE *out, const char *mark, const struct tts_failure *failure,
                             const char *where);
/* Prints two rows: the largest free block and the fragmentation. */
void tts_replay_text_largest(FILE *out, const struct tts_space_stats *stats);
