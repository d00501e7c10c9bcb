/* devseq.h: converts one line of the device language (docs/design/devseq.md) from text to data
 * (model/devseqline.h) and back. The functions keep no state, allocate nothing and print
 * nothing. devseq_run.h runs a sequence. */
#pragma once

#include "model/devseqline.h"
#include "ttscope/buffer.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Parses one line, given without its line end. TTS_E_SYNTAX: err says what was expected.
 * TTS_E_RANGE: a number is above its limit. err->offset is the byte in the line. */
TTS_NODISCARD enum tts_status tts_devseq_parse(const char *text, size_t len,
                                               struct tts_devseq_line *out,
                                               struct tts_error *err);

/* Writes the canonical text of a line, terminated, without a line end. Returns its length. A
 * blank line gives "". */
size_t tts_devseq_format(const struct tts_devseq_line *line, char out[TTS_DEVSEQ_TEXT_MAX]);

/* Returns the verb of a kind; "" for a blank line. */
const char *tts_devseq_verb(enum tts_devseq_kind kind);

/* Returns true if a statement of this kind can have a result. */
bool tts_devseq_kind_has_result(enum tts_devseq_kind kind);

/* Returns true if two results of one statement are equal. */
bool tts_devseq_result_equal(const struct tts_devseq_result *a,
                             const struct tts_devseq_result *b);

/* Returns the allocation request of a buffer or shard line. The request points into *shard,
 * *distribution and the ranges of *line, so all three must outlive it. */
struct tts_request tts_devseq_request(const struct tts_devseq_line *line,
                                      struct tts_shard *shard,
                                      struct tts_distribution *distribution);
