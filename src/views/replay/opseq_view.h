/* opseq_view.h: the run of a sequence on one pool, as text and as JSON
 * (docs/design/replay-json.md). The functions only read the run. */
#pragma once

#include "model/opseqline.h"
#include "views/json.h"
#include "views/replay/replay_view.h"

/* A run and the wanted parts of its output. All pointers are borrowed. */
struct tts_opseq_view {
    const char *path, *policy; /* the file; "FIRST" or "BEST" */
    const struct tts_space_config *pool;
    const struct tts_opseq_counts *counts;
    const struct tts_space_stats *stats;
    const struct tts_space *space;
    const struct tts_replay_check *check; /* NULL if no comparison was asked for */
    bool with_results, with_blocks;
};

/* Writes the statistics for people. */
void tts_opseq_text_stats(const struct tts_opseq_view *view, FILE *out);

/* Write one JSON document: the begin needs only path, policy, pool and with_results. A result
 * is written if with_results is set; `letter` is the letter of the operation. */
void tts_opseq_json_begin(struct tts_json *json, const struct tts_opseq_view *view);
void tts_opseq_json_result(struct tts_json *json, const struct tts_opseq_step *step,
                           char letter, uint64_t line_no);
void tts_opseq_json_end(struct tts_json *json, const struct tts_opseq_view *view);
