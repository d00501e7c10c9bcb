/* replay_sequence.h: the functions that replay of a sequence on one pool and on a device
 * share. */
#pragma once

#include "base/lines.h"
#include "device/space.h"
#include "sources/seq/devseq.h"
#include "sources/seq/opseq_run.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The result of comparing with the results that the sequence states. */
struct tts_replay_check {
    uint64_t operations;
    uint64_t matched;
    uint64_t not_compared; /* operations that could state a result but do not */
    uint64_t line;         /* line of the first difference, or 0 */
    /* room for a device line, which is longer than a pool's */
    char expected[TTS_DEVSEQ_TEXT_MAX], got[TTS_DEVSEQ_TEXT_MAX];
};

/* Reads the next line. Skips the byte order mark that some editors write at the start of a
 * file. */
TTS_NODISCARD enum tts_status tts_replay_next_line(struct tts_lines *lines, const char *path,
                                                   const char **text, size_t *len,
                                                   struct tts_error *err);

/* Adds the current line to an error in the text, also if the file ended too early. */
void tts_replay_locate(const struct tts_lines *lines, struct tts_error *err);

/* Counts one operation. `can`: the operation can have a result. `stated`: the file states a
 * result. `same`: both results are equal. Returns false if they differ at `line_no`; the caller
 * then writes `expected` and `got`. */
bool tts_replay_check_step(struct tts_replay_check *check, bool can, bool stated, bool same,
                           uint64_t line_no);

/* Prints the result of a comparison. The count goes to standard output unless `json` is set.
 * Returns the exit code. */
int tts_replay_check_end(const struct tts_replay_check *check, const char *path, bool json);

/* Writes the result of a comparison as docs/design/replay-json.md describes it. `check` is NULL
 * if no comparison was asked for. */
void tts_replay_json_check(struct tts_json *json, const struct tts_replay_check *check);
void tts_replay_json_blocks(struct tts_json *json, const struct tts_space *space);

/* Each prints one row with aligned columns for name, number and remark. tts_replay_text_bytes()
 * and tts_replay_text_count() do not print the newline. */
void tts_replay_text_bytes(FILE *out, const char *name, uint64_t bytes);
void tts_replay_text_fragmentation(FILE *out, const struct tts_space_stats *stats);
void tts_replay_text_count(FILE *out, const char *name, uint64_t count);
