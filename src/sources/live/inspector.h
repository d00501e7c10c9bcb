/* inspector.h: finds the logs that the inspector of the runtime writes for one process, and
 * follows them: mesh_buffers_log.yaml, mesh_devices_log.yaml and startup.yaml.
 *
 * The log is looked for in the open files of the process, because a stream stays open and a
 * name may lead to the log of another process. Only if the open files cannot be listed, the
 * name of the log is made from TT_METAL_LOGS_PATH or from the current directory of the process,
 * below its root, and startup.yaml must say that the log began after the process.
 *
 * A process without a log is searched again after 1, 2, 4 ... 64 seconds.
 *
 * Ownership: the caller owns the object and frees it. Threads: one thread at a time.
 * Cost: one refresh of an idle log takes two system calls. A search takes two system calls for
 * each file that the process has open, and looks at no more than 4096 files. */
#pragma once

#include "model/live/hostview.h"

struct tts_inspector; /* opaque; heap */

/* Makes an object that has no log yet. If `alloc` is NULL, the C library allocates. Returns
 * TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_inspector_new(const struct tts_alloc *alloc,
                                                struct tts_inspector **out,
                                                struct tts_error *err);
void tts_inspector_free(struct tts_inspector *inspector); /* NULL is allowed */

/* Looks for the logs if there are none, and reads at most `max_bytes` that were appended.
 * `proc_dir` is a descriptor of /proc/N of the process, `process` its facts. Returns TTS_OK if
 * there is a log, TTS_E_NOT_FOUND if there is no log, or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_inspector_read(struct tts_inspector *inspector, int proc_dir,
                                                 const struct tts_seenprocess *process,
                                                 uint64_t now_ns, uint64_t max_bytes);

/* Returns whether the logs have bytes that the last read left. */
bool tts_inspector_has_more(const struct tts_inspector *inspector);

/* Fills *out, except out->pid. Call after tts_inspector_read() returned TTS_OK. */
void tts_inspector_fill(struct tts_inspector *inspector, struct tts_seenbuffers *out);

/* Returns whether `a` and `b` follow the same file. */
bool tts_inspector_is_same(const struct tts_inspector *a, const struct tts_inspector *b);
/* Returns whether the log was found among the open files of the process, not by its name. */
bool tts_inspector_is_open_file(const struct tts_inspector *inspector);
/* Returns whether there is a log with the right name that is not used, because the log may
 * belong to another process. */
bool tts_inspector_is_unsure(const struct tts_inspector *inspector);
