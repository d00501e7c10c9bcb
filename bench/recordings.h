/* recordings.h: writes stories to files, packs files and reads them back, for the benchmark of
 * recordings. All functions exit with a message on failure. */
#pragma once

#include "story.h"

#include "model/follow.h"
#include "model/recording/recfile.h"
#include "model/recording/recpack.h"

/* Records a story with a recorder in a tight loop, with times of the clock. */
void recording_by_clock(const struct story *story, const char *path);
/* Writes the same file, but with the times of the story, in the time units of a recorder. */
void recording_drawn(const struct story *story, const char *path);

/* Packs a file like `ttscope pack`. Returns the time it took. */
double recording_pack(const char *from, const char *to);

/* Reads all items. Returns the time it took and stores the number of events. */
double recording_read(const char *path, uint64_t *events);

/* Follows the file to its end. The caller frees the follower. */
struct tts_follow *recording_follow(const char *path, const struct tts_phase **whole);

/* Returns a header for a file of this kind. */
struct tts_rec_header recording_header(enum tts_rec_kind kind);

uint64_t recording_bytes(const char *path);
