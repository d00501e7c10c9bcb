/* devseq_view.h: the run of a sequence on a device, as text and as JSON
 * (docs/design/replay-json.md). The functions only read the run. */
#pragma once

#include "model/devseqline.h"
#include "views/json.h"
#include "views/replay/replay_view.h"

/* A run and the wanted parts of its output. All pointers are borrowed. */
struct tts_devseq_view {
    const char *path, *mode; /* the file; the value of `--mode` */
    const struct tts_device *device;
    const struct tts_devseq_counts *counts;
    const struct tts_devseq_tight *tight;
    const struct tts_devseq_held *held; /* array of held_count buffers */
    size_t held_count;
    const struct tts_replay_check *check; /* NULL if no comparison was asked for */
    bool with_results, with_blocks;
};

/* Writes the statistics for people. */
void tts_devseq_text_stats(const struct tts_devseq_view *view, FILE *out);
/* Writes further facts about a line as comments, if there are any. */
void tts_devseq_text_remarks(const struct tts_devseq_step *step, FILE *out);

/* Write one JSON document: the begin needs only path, mode, device and with_results. A result
 * is written if with_results is set; `verb` and `statement` are its text. */
void tts_devseq_json_begin(struct tts_json *json, const struct tts_devseq_view *view);
void tts_devseq_json_result(struct tts_json *json, const struct tts_devseq_step *step,
                            const char *verb, const char *statement, uint64_t line_no);
void tts_devseq_json_end(struct tts_json *json, const struct tts_devseq_view *view);
