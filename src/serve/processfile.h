/* processfile.h: the recording of one process that the allocation server sees
 * (docs/design/recording.md). Buffers become events. Circular buffers, kernels and counters
 * become samples, because the server knows their bytes and not their buffers.
 *
 * The file is mapped, so that everything up to the last event is readable after the server is
 * killed. Disk space is reserved before it is written.
 *
 * Ownership: heap object of the caller. One thread at a time. */
#pragma once

#include "model/live/serverevent.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"

struct tts_processfile;

enum { TTS_PROCESSFILE_NAME_MAX = 96 };

/* Writes the name of the file of a process: "python3-4242-90017.tts", from the name, the number
 * and the start of the process. `copy` above 1 is added: "python3-4242-90017-2.tts". Bytes of
 * the name other than letters, digits, '.', '_' and '-' become '_'. Returns `out`. */
const char *tts_processfile_name(char out[TTS_PROCESSFILE_NAME_MAX],
                                 const struct tts_serverprocess *process, unsigned copy);

struct tts_processfile_config {
    int dir_fd; /* the directory; borrowed for the call */
    const struct tts_serverprocess *process;
    uint64_t begin_ns;  /* time of the first event, since 1970; 0: now */
    uint64_t period_ns; /* time between two looks at counters; 0: unknown */
};

/* Makes the file. An existing file is never overwritten. Mode 0600. Returns TTS_E_IO if the
 * file cannot be made, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_processfile_new(const struct tts_processfile_config *config,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_processfile **out,
                                                  struct tts_error *err);
/* Ends the recording and cuts the file after its last byte in use. NULL is allowed. */
void tts_processfile_free(struct tts_processfile *file);

/* Says that the recording ends before its program: the state is then "stopped", ECANCELED. */
void tts_processfile_leave(struct tts_processfile *file);

/* Writes an event of the process. An event that no recording can have, and an event after the
 * file stopped, is counted as missed. Returns true if something was written or nothing had to
 * be written. */
bool tts_processfile_event(struct tts_processfile *file, const struct tts_serverevent *event);
/* Writes that events are missing. */
void tts_processfile_missed(struct tts_processfile *file, uint64_t events);

/* Returns the system's error number if the file stopped: the disk is full, for example. 0: the
 * file goes on. */
int tts_processfile_stopped(const struct tts_processfile *file);
/* Returns the bytes of the file in use. */
uint64_t tts_processfile_bytes(const struct tts_processfile *file);
