/* clientlife.h: decides for each region of a program (clientregions.h) whether the program is
 * alive. docs/design/client-region.md has the rules.
 *
 * A program is known by three numbers: its pid namespace, its number in this namespace, and its
 * start time. A program of our namespace is found at once. A program of another namespace is
 * searched among all processes, and the place of a program that was found is kept.
 *
 * Ownership: the caller owns the struct, which is valid when zeroed. Threads: one thread at a
 * time. Cost: two system calls for each program that is known. A search takes four for each
 * process of the host; there is one search when an unknown program appears or a known one
 * leaves, and one each 10 seconds while a program is not found. */
#pragma once

#include "sources/live/liveprocs.h"

struct tts_clientlife {
    const struct tts_alloc *alloc;
    struct tts_insideproc *inside; /* programs of other namespaces, in the order of clients */
    size_t count, capacity;
    struct tts_insideproc *old; /* of the last call */
    size_t old_count, old_capacity;
    uint64_t search_ns;   /* time of the last search; 0: never */
    bool is_search_whole; /* the last search has seen every process of the host */
};

void tts_clientlife_release(struct tts_clientlife *life);

/* Adds the processes that the regions of `view` name to view->processes. Call it after
 * tts_liveprocs_begin(). Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_clientlife_add(struct tts_clientlife *life,
                                                 const struct tts_alloc *alloc,
                                                 struct tts_liveprocs *procs,
                                                 struct tts_hostview *view,
                                                 struct tts_error *err);

/* Sets `pid`, `is_alive`, `is_judged` and `is_orphan` of each region, and `pid` of its views.
 * The region of a program that belongs to another user becomes TTS_SEENREGION_CORRUPT. Call it
 * after tts_clientlife_add(); it is quick if the processes are sorted. */
void tts_clientlife_judge(const struct tts_clientlife *life, struct tts_hostview *view);
