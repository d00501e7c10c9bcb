/* replay_parts.h: what the files of `ttscope replay` share. For replay*.c only. */
#pragma once

#include "base/lines.h"
#include "device/space.h"
#include "sources/seq/devseq.h"
#include "sources/seq/opseq_run.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* --- on one pool and on a device (replay_parts.c) --- */

/* How far a comparison with the stated results came. */
struct tts_replay_check {
    uint64_t operations;
    uint64_t matched;
    uint64_t not_compared; /* could have stated a result, and did not */
    uint64_t line;         /* of the first difference, 0: none */
    char expected[TTS_DEVSEQ_TEXT_MAX], got[TTS_DEVSEQ_TEXT_MAX]; /* longer than of one pool */
};

/* The next line, without the mark of the byte order that some editors put before the first. */
TTS_NODISCARD enum tts_status tts_replay_next_line(struct tts_lines *lines, const char *path,
                                                   const char **text, size_t *len,
                                                   struct tts_error *err);

/* What is wrong with the text has its line, also where the file ended too early. */
void tts_replay_locate(const struct tts_lines *lines, struct tts_error *err);

/* Counts one operation: can it have a result, did the file state one, are they the same? False:
 * they differ at `line_no`, and expected and got are the caller's to write. */
bool tts_replay_check_step(struct tts_replay_check *check, bool can, bool stated, bool same,
                           uint64_t line_no);

/* Says how a comparison went, the count on standard output unless that has JSON; the exit code.
 */
int tts_replay_check_end(const struct tts_replay_check *check, const char *path, bool json);

/* `check` NULL: none was asked for. */
void tts_replay_json_check(struct tts_json *json, const struct tts_replay_check *check);
void tts_replay_json_blocks(struct tts_json *json, const struct tts_space *space);

/* Names, numbers, and what there is to say about them each begin in one column; the first and
 * the last without the end of the line. */
void tts_replay_text_bytes(FILE *out, const char *name, uint64_t bytes);
void tts_replay_text_fragmentation(FILE *out, const struct tts_space_stats *stats);
void tts_replay_text_count(FILE *out, const char *name, uint64_t count);

/* --- on one pool --- */

/* --- text (replay_text.c) --- */

/* --- JSON (replay_json.c), in this order; docs/design/replay-json.md --- */
