/* eventfile.h: a recording or a graph trace, told apart by content, as one row of items. A
 * graph trace may be compressed (gzip, zstd). One thread. */
#pragma once

#include "model/recording/recfile.h"
#include "sources/graph.h"

struct tts_eventfile;

/* Told now and then how many bytes were read so far, also where no item comes for long. */
struct tts_eventfile_watch {
    void (*fn)(void *ctx, uint64_t bytes);
    void *ctx;
};

/* "-" is standard input; a recording that comes through a pipe is put into an unnamed
 * temporary file first. `watch` may be NULL, and is copied. TTS_E_IO: the text names the path;
 * others are to stand behind it: TTS_E_SYNTAX (neither of the two), TTS_E_RANGE, TTS_E_NOMEM.
 */
TTS_NODISCARD enum tts_status tts_eventfile_open(const char *path,
                                                 const struct tts_eventfile_watch *watch,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_eventfile **out,
                                                 struct tts_error *err);
/* A recording alone, of a file that can be read at any place; what tts_recfile_open() says. */
TTS_NODISCARD enum tts_status
tts_eventfile_open_recording(const char *path, const struct tts_eventfile_watch *watch,
                             const struct tts_alloc *alloc, struct tts_eventfile **out,
                             struct tts_error *err);
void tts_eventfile_close(struct tts_eventfile *file); /* NULL is fine */

/* As item.h says. A recording that is damaged before its first item begins with the first good
 * keyframe. */
TTS_NODISCARD enum tts_status tts_eventfile_next(struct tts_eventfile *file,
                                                 struct tts_item *out, struct tts_error *err);

/* As tts_recfile_resume(): behind damage, TTS_OK when there is more to read. */
TTS_NODISCARD enum tts_status tts_eventfile_resume(struct tts_eventfile *file,
                                                   const struct tts_error *damage);

/* Events that are missing because of damage, with items behind them. */
struct tts_eventfile_gaps {
    uint64_t count, events;
    struct tts_error first;             /* the damage of the first */
    uint64_t first_after, first_events; /* the event before it, and how many it lacks */
};
const struct tts_eventfile_gaps *tts_eventfile_gaps(const struct tts_eventfile *file);

/* Tells the watch, if there is one, how many bytes were read. */
void tts_eventfile_report(const struct tts_eventfile *file);
/* Bytes behind it, and in all; 0: not known, it is a pipe or compressed. */
uint64_t tts_eventfile_tell(const struct tts_eventfile *file);
uint64_t tts_eventfile_size(const struct tts_eventfile *file);

/* One of them is NULL. Borrowed. */
struct tts_recfile *tts_eventfile_recording(struct tts_eventfile *file);
const struct tts_graph *tts_eventfile_graph(const struct tts_eventfile *file);

/* Returns the bytes of L1 that a core of the device has: what the report of a graph trace says,
 * else the most that any board of the catalogue has, 1.5 MiB. */
uint64_t tts_eventfile_core_bytes(const struct tts_eventfile *file, uint32_t device);
