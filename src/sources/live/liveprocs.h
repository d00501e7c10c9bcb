/* liveprocs.h: facts about processes from /proc, kept over refreshes.
 *
 * A process that was read once costs two system calls in later refreshes. They use an open
 * /proc/N/stat, which never means another process, even if the number of the process is used
 * again. The other facts are read again if the name of the process changes, and every 10
 * seconds. docs/design/live-sources.md lists the files.
 *
 * At most TTS_LIVEPROCS_OPEN_MAX processes keep files open, two for each process. The others
 * are read completely at each refresh.
 *
 * Ownership: the caller owns the object and frees it. Threads: one thread at a time. */
#pragma once

#include "model/live/hostview.h"

enum { TTS_LIVEPROCS_OPEN_MAX = 192 };

struct tts_liveprocs; /* opaque; heap */

/* Makes an object without processes. `root` is put before /proc and is copied. If `alloc` is
 * NULL, the C library allocates. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_liveprocs_new(const char *root, const struct tts_alloc *alloc,
                                                struct tts_liveprocs **out,
                                                struct tts_error *err);
void tts_liveprocs_free(struct tts_liveprocs *procs); /* NULL is allowed */

/* Begins a refresh: forgets the processes that were not added in the last refresh. `now_ns` is
 * the present time. If `wants_nodes` is set, the nodes that each process has open are read, at
 * most every 5 seconds. */
void tts_liveprocs_begin(struct tts_liveprocs *procs, uint64_t now_ns, bool wants_nodes);

/* Returns whether the start of the kernel is known, and sets *since_ns to clock_since_ns of a
 * host view. A start of the kernel that moves shows that the clock of the host was set. */
bool tts_liveprocs_clock(const struct tts_liveprocs *procs, uint64_t *since_ns);

/* Also reads the nodes of the processes that are added from now on in this refresh. */
void tts_liveprocs_want_nodes(struct tts_liveprocs *procs);

/* From now on the processes have no user names. tts_liveprocs_user() finds names that are
 * shown.
 */
void tts_liveprocs_defer_users(struct tts_liveprocs *procs);
/* Returns whether a process was added in this refresh whose user was never looked up. */
bool tts_liveprocs_has_unasked(const struct tts_liveprocs *procs);
/* Returns the name of a user, borrowed until the end of `procs`; "" if the user has no name.
 * Asks the system once for each user: a name service on the network can block for seconds.
 * Users after the first 256 have no name. */
const char *tts_liveprocs_user(struct tts_liveprocs *procs, uint32_t uid);

/* Appends a process to view->processes, unless the process was added since begin, `pid` is 0,
 * or TTS_HOSTVIEW_PROCESSES_MAX processes were added (counted in view->processes_left_out). A
 * process that does not exist is added with is_alive false. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_liveprocs_add(struct tts_liveprocs *procs, uint32_t pid,
                                                struct tts_hostview *view,
                                                struct tts_error *err);

/* A process of another pid namespace. */
struct tts_insideproc {
    uint32_t pid_inside; /* as the process numbers itself */
    uint64_t start_ticks, namespace_id;
    uint32_t pid; /* as this process numbers it; 0: not found */
};

/* Returns whether `seen` is the wanted process. The namespace is compared if it is known: only
 * the same user and root may read it. */
bool tts_insideproc_is(const struct tts_insideproc *wanted, const struct tts_seenprocess *seen);

/* Searches all processes of /proc and sets `pid` of each wanted process that is found. Returns
 * whether every process of this pid namespace was visible. Cost: four system calls for each
 * process of the host. */
bool tts_liveprocs_search(struct tts_liveprocs *procs, struct tts_insideproc *wanted,
                          size_t count);

/* Returns a descriptor of the directory /proc/N of a process that was added, borrowed until the
 * next begin, or -1 if the process is not alive or keeps no files open. The descriptor can only
 * be used as the start of a path, and never means another process. */
int tts_liveprocs_dir(const struct tts_liveprocs *procs, uint32_t pid);

/* Finds the /dev/shm that a process sees. Returns 0 and sets *device and *inode, or returns why
 * the directory cannot be seen; the process must be one that was added and keeps files open.
 * The answer may be as old as the other facts. */
int tts_liveprocs_shm(struct tts_liveprocs *procs, uint32_t pid, uint64_t *device,
                      uint64_t *inode);
