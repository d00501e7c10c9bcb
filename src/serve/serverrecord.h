/* serverrecord.h: writes the events of the allocation server to recordings, one file for each
 * process: `<name>-<pid>-<start>.tts`. A file that exists is never overwritten: the next free
 * name ends in `-2`, `-3`, ... The files are read by `show`, `export`, `pack` and `replay`.
 *
 * The server hands over each event to a thread that writes. The queue between them has a fixed
 * size. If the queue is full, the event is dropped and counted, and the recording of its
 * process says that events are missing. A file is complete up to its last block even if the
 * server is killed.
 *
 * Ownership: heap object of the caller. The directory name is copied.
 * Threads: one thread calls the sink, close and all other functions. */
#pragma once

#include "model/live/serverevent.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

struct tts_serverrecord;

struct tts_serverrecord_config {
    const char *dir;            /* exists; recordings are made in it */
    uint64_t counter_period_ns; /* time between two looks at counters; 0: unknown */
    size_t files_max;           /* open at the same time; 0: TTS_SERVERRECORD_FILES */
    size_t queue_max;           /* events in the queue; 0: TTS_SERVERRECORD_QUEUE */
};
enum {
    TTS_SERVERRECORD_FILES = 128,
    TTS_SERVERRECORD_FILES_MAX = 1024,
    TTS_SERVERRECORD_QUEUE = 1 << 14,
    TTS_SERVERRECORD_QUEUE_MAX = 1 << 20,
};

/* Starts the writing thread. Returns TTS_E_IO if `dir` is no directory or cannot be written,
 * TTS_E_NOMEM, or TTS_E_IO if there is no thread. */
TTS_NODISCARD enum tts_status
tts_serverrecord_open(const struct tts_serverrecord_config *config,
                      const struct tts_alloc *alloc, struct tts_serverrecord **out,
                      struct tts_error *err);
/* Ends all recordings, after the events that are in the queue. NULL is allowed. */
void tts_serverrecord_close(struct tts_serverrecord *record);

/* Returns the sink that takes events. It copies the event, never blocks and makes no system
 * call, except to wake the thread if it sleeps. An event of an unknown process is ignored. */
struct tts_serversink tts_serverrecord_sink(struct tts_serverrecord *record);

/* Counts since the start, as the writing thread knows them now. */
struct tts_serverrecord_counts {
    uint64_t files, bytes;    /* made; written to them */
    uint64_t events;          /* recorded, samples included */
    uint64_t dropped_events;  /* the queue was full, or the file could not be made or written */
    uint64_t failed_files;    /* files that could not be made or written to their end */
    struct tts_error failure; /* why the first of them failed; status TTS_OK: none did */
};
void tts_serverrecord_counts(struct tts_serverrecord *record,
                             struct tts_serverrecord_counts *out);
