/* replay_parts.h: what the files of `ttscope replay` share. For replay*.c only. */
#pragma once

#include "sources/opseq_run.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* How far a comparison with the stated results came. */
struct tts_replay_check {
    uint64_t matched;
    uint64_t not_compared; /* could have stated a result, and did not */
    uint64_t line;         /* of the first difference, 0: none */
    char expected[TTS_OPSEQ_TEXT_MAX], got[TTS_OPSEQ_TEXT_MAX];
};

/* The operations that ask for room, `a` and `x` together, as text and JSON show them. */
struct tts_replay_requests {
    uint64_t total, ok, below_limit, failed;
    uint64_t fragmentation, too_little_free, range_not_free; /* why they failed */
};

struct tts_replay_requests tts_replay_requests(const struct tts_opseq_counts *counts);

/* --- text (replay_text.c) --- */

void tts_replay_text_stats(const struct tts_opseq_run *run, FILE *out);

/* --- JSON (replay_json.c), in this order; docs/design/replay-json.md --- */

/* Opens the document and, when `results`, the array of them. */
void tts_replay_json_begin(struct tts_json *json, const char *file,
                           const struct tts_space_config *pool, bool results);
void tts_replay_json_result(struct tts_json *json, const struct tts_opseq_step *step,
                            uint64_t line_no);
/* `check` NULL: none was asked for. */
void tts_replay_json_end(struct tts_json *json, const struct tts_opseq_run *run,
                         const struct tts_replay_check *check, bool results, bool blocks);
