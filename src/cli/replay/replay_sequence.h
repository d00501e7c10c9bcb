/* replay_sequence.h: reading and comparing a sequence, for the replay on one pool and the
 * replay on a device. */
#pragma once

#include "base/lines.h"
#include "views/replay/replay_view.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the next line. Skips the byte order mark that some editors write at the start of a
 * file. */
TTS_NODISCARD enum tts_status tts_replay_next_line(struct tts_lines *lines, const char *path,
                                                   const char **text, size_t *len,
                                                   struct tts_error *err);

/* Sets the line of an error in the file, unless it is set. An error at the end of the file gets
 * the last line. */
void tts_replay_locate(const struct tts_lines *lines, struct tts_error *err);

/* Counts one operation. `can`: the operation can have a result. `stated`: the file states a
 * result. `same`: both results are equal. Returns false if they differ at `line_no`; the caller
 * then writes `expected` and `got`. */
bool tts_replay_check_step(struct tts_replay_check *check, bool can, bool stated, bool same,
                           uint64_t line_no);

/* Prints the result of a comparison. The count goes to standard output unless `json` is set.
 * Returns the exit code. */
int tts_replay_check_end(const struct tts_replay_check *check, const char *path, bool json);
