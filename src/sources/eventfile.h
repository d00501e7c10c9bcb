/* eventfile.h: reads a recording or a graph trace as one sequence of items. The content decides
 * the kind. A graph trace may be compressed (gzip, zstd). One thread at a time. */
#pragma once

#include "model/recording/recfile.h"
#include "sources/graph/graph.h"

struct tts_eventfile;
struct tts_input;

/* A function that is called from time to time with the number of bytes read so far, also while
 * no item is produced. */
struct tts_eventfile_watch {
    void (*fn)(void *ctx, uint64_t bytes);
    void *ctx;
};

/* Opens a file. "-" is standard input. A recording from a pipe is first copied to a temporary
 * file without a name. `watch` may be NULL; *watch is copied.
 * Returns TTS_E_IO if the file cannot be read; the error text names the path. The texts of the
 * other errors do not name the path. Returns TTS_E_SYNTAX if the file is neither a recording
 * nor a trace, TTS_E_RANGE if the file exceeds a limit of its reader, and TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_eventfile_open(const char *path,
                                                 const struct tts_eventfile_watch *watch,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_eventfile **out,
                                                 struct tts_error *err);
/* Like tts_eventfile_open(), but takes over an input that the caller opened and that was not
 * read. After an error, the caller still owns the input. */
TTS_NODISCARD enum tts_status tts_eventfile_new(struct tts_input *in,
                                                const struct tts_eventfile_watch *watch,
                                                const struct tts_alloc *alloc,
                                                struct tts_eventfile **out,
                                                struct tts_error *err);
/* Like tts_eventfile_open(), but only for a recording in a file that can be read at any offset.
 * Fails like tts_recfile_open(). */
TTS_NODISCARD enum tts_status
tts_eventfile_open_recording(const char *path, const struct tts_eventfile_watch *watch,
                             const struct tts_alloc *alloc, struct tts_eventfile **out,
                             struct tts_error *err);
void tts_eventfile_close(struct tts_eventfile *file); /* NULL is allowed */

/* Reads the next item (item.h). A recording that is damaged before its first item begins with
 * the first good keyframe. */
TTS_NODISCARD enum tts_status tts_eventfile_next(struct tts_eventfile *file,
                                                 struct tts_item *out, struct tts_error *err);

/* Continues after damage, like tts_recfile_resume(). Returns TTS_OK if there is more to
 * read. */
TTS_NODISCARD enum tts_status tts_eventfile_resume(struct tts_eventfile *file,
                                                   const struct tts_error *damage);

/* The places where events are missing because of damage, with more items after them. */
struct tts_eventfile_gaps {
    uint64_t count, events;
    struct tts_error first; /* the damage at the first gap */
    /* The number of the last event before the first gap, and the number of events missing in
     * the first gap. */
    uint64_t first_after, first_events;
};
const struct tts_eventfile_gaps *tts_eventfile_gaps(const struct tts_eventfile *file);

/* Calls the watch, if there is one, with the number of bytes read so far. */
void tts_eventfile_report(const struct tts_eventfile *file);
/* tts_eventfile_tell() returns the number of bytes read so far. tts_eventfile_size() returns
 * the size of the file, or 0 if the size is unknown (a pipe or a compressed file). */
uint64_t tts_eventfile_tell(const struct tts_eventfile *file);
uint64_t tts_eventfile_size(const struct tts_eventfile *file);

/* Return the reader of the recording and the reader of the graph trace. The file is one of the
 * two, so the other function returns NULL. The pointers are borrowed from the file. */
struct tts_recfile *tts_eventfile_recording(struct tts_eventfile *file);
const struct tts_graph *tts_eventfile_graph(const struct tts_eventfile *file);

/* Returns the number of L1 bytes of one core of the device. The number comes from the report in
 * a graph trace. Without a report it is the maximum of all boards in the catalogue, 1.5 MiB. */
uint64_t tts_eventfile_core_bytes(const struct tts_eventfile *file, uint32_t device);
