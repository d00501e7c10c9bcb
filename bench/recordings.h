/* recordings.h: stories into files, files into smaller files, and back, for the benchmark of
 * recordings. All of them exit with a message when something cannot be done. */
#pragma once

#include "story.h"

#include "model/follow.h"
#include "model/recording/recfile.h"
#include "model/recording/recpack.h"

/* By a recorder, in a tight loop, with the clock. */
void recording_by_clock(const struct story *story, const char *path);
/* The same file with the times of the story, in the time units of a recorder. */
void recording_drawn(const struct story *story, const char *path);

/* As `ttscope pack`; how long it took. */
double recording_pack(const char *from, const char *to);

/* Reads all items; how long it took, and how many events there were. */
double recording_read(const char *path, uint64_t *events);

/* What the file comes to. The follower is the caller's. */
struct tts_follow *recording_follow(const char *path, const struct tts_phase **whole);

/* A header for a file of ours, of either kind. */
struct tts_rec_header recording_header(enum tts_rec_kind kind);

uint64_t recording_bytes(const char *path);
