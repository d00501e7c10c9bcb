/* cleanplan.h: which entries of memory regions and which regions of programs may be removed
 * because their processes are dead, and why others may not. docs/design/region.md and
 * docs/design/client-region.md have the rules. Stricter than
 * liveowners.h: a wrong answer there is a wrong line on a screen, a wrong answer here destroys
 * the numbers of a live process. The function is pure: it reads no file.
 *
 * Ownership: the caller owns the struct; init, make any number of times, release. The plan
 * borrows the regions of the host view. Threads: one thread at a time. */
#pragma once

#include "model/live/liveframe.h"

/* Why nothing in a region may be removed. */
enum tts_cleanwhy {
    TTS_CLEANWHY_NONE,
    TTS_CLEANWHY_UNREADABLE, /* region->state says why */
    TTS_CLEANWHY_PRIVATE,    /* the region is in the private /dev/shm of process `pid` */
    TTS_CLEANWHY_NO_BOARD,   /* no board is known that the region belongs to */
    TTS_CLEANWHY_NO_LIST,    /* the driver does not list the processes that use the board */
    TTS_CLEANWHY_HIDDEN,     /* the driver hides a process that uses the board */
    TTS_CLEANWHY_NAMESPACE,  /* process `pid` uses the board and has another pid namespace */
    TTS_CLEANWHY_HOLDER,     /* process `pid` uses the board and cannot be examined */
    TTS_CLEANWHY_OWNER,      /* process `pid` may be the owner of an entry with its number */
    TTS_CLEANWHY_PROGRAM_NAMESPACE, /* the program ran in another pid namespace */
    TTS_CLEANWHY_PROGRAM_OWNER,     /* the region of a program belongs to another user */
    TTS_CLEANWHY_PROGRAM_PRIVATE,   /* it is in the private /dev/shm of a process */
};

/* A region in which a dead process left something. */
struct tts_cleanregion {
    const struct tts_seenregion *region; /* borrowed from the host view */
    enum tts_cleanwhy why;
    uint32_t pid;
    bool is_unheld;                   /* no process has the device open */
    bool needs_reset;                 /* references or bytes remain that belong to no entry */
    size_t slots[TTS_HOSTVIEW_SLOTS]; /* places of the dead entries in region->slots */
    size_t slot_count;
};

/* The region of a program that has ended: the whole file goes. */
struct tts_cleanprogram {
    const struct tts_seenclient *client; /* borrowed from the host view */
    enum tts_cleanwhy why;               /* a reason that names a program, or NONE */
    struct tts_counters bytes;           /* on all its devices */
};

struct tts_cleanplan {
    struct tts_cleanregion *regions; /* in the order of the host view */
    size_t count, capacity;
    struct tts_cleanprogram *programs; /* in the order of the host view */
    size_t program_count, program_capacity;
    const struct tts_alloc *alloc;
};

/* If `alloc` is NULL, the C library allocates. */
void tts_cleanplan_init(struct tts_cleanplan *plan, const struct tts_alloc *alloc);
void tts_cleanplan_release(struct tts_cleanplan *plan);

/* Makes a plan from a host view and the frame that tts_liveowners_judge() made from this view.
 * Regions in which nothing is left over are not in the plan. Returns TTS_E_NOMEM; the plan is
 * empty then. */
TTS_NODISCARD enum tts_status tts_cleanplan_make(struct tts_cleanplan *plan,
                                                 const struct tts_hostview *view,
                                                 const struct tts_liveframe *frame,
                                                 struct tts_error *err);

/* Removes from `plan` everything that `earlier` does not have: other regions, other files with
 * the same name, and entries that were used in between. Both host views must still exist. */
void tts_cleanplan_restrict(struct tts_cleanplan *plan, const struct tts_cleanplan *earlier);
