/* chipholders.h: the processes that have a chip open, and which entries of a region they can
 * own. liveowners.h and cleanplan.h decide by these facts. Pure functions.
 *
 * A process that uses a remote chip has a local chip open, so the holders of a region without a
 * chip are those of all chips. ttscope itself is never a holder.
 *
 * Plain data; the processes are borrowed from the host view. One thread at a time. */
#pragma once

#include "model/live/hostview.h"

enum { TTS_CHIPHOLDERS_HEADS = 256 };

struct tts_chipholders {
    /* Processes that are alive and visible from here, each once. */
    const struct tts_seenprocess *processes[TTS_HOSTVIEW_HOLDERS_MAX];
    size_t count;
    bool is_listed;       /* the driver lists the holders of the chip */
    bool is_open;         /* the list is not empty, even if the listed processes have ended */
    bool has_hidden;      /* a holder is not visible from here, or the list is cut */
    bool has_outside;     /* a holder has no number in our pid namespace */
    bool has_ended;       /* a holder has ended */
    bool is_cut;          /* there are more holders than `processes` has, or than were read */
    uint32_t nested_pid;  /* a live holder in another pid namespace; 0: none */
    uint32_t unclear_pid; /* a holder that has ended, whose children may hold the chip, or whose
                             pid namespace cannot be read; 0: none */
    /* Places + 1 in `processes`, by the number of the process in its own namespace. */
    uint8_t heads[TTS_CHIPHOLDERS_HEADS], next[TTS_HOSTVIEW_HOLDERS_MAX];
};

/* Finds the holders of a chip. If `chip` is NULL, finds the holders of all chips. */
void tts_chipholders_find(const struct tts_hostview *view, const struct tts_seenchip *chip,
                          struct tts_chipholders *out);

/* Returns the place + 1 of the first holder that may number itself `inside`; 0 if there is
 * none. `next` of a place leads to the next such holder. The number of each must be compared:
 * other holders are in the same chain. */
static inline unsigned tts_chipholders_first(const struct tts_chipholders *holders,
                                             uint32_t inside)
{
    return holders->heads[inside % TTS_CHIPHOLDERS_HEADS];
}

/* Returns the number of a process in its own pid namespace, or its number here if its own
 * number is not known. */
static inline uint32_t tts_seenprocess_inside(const struct tts_seenprocess *process)
{
    return process->pid_inside ? process->pid_inside : process->pid;
}

/* Returns whether the time of the last change of the entry can be compared with the start of a
 * process. An entry that seems to be older than the boot was changed before the clock of the
 * host was set. */
bool tts_seenslot_has_time(const struct tts_hostview *view, const struct tts_seenregion *region,
                           const struct tts_seenslot *slot);

/* Returns whether the process may have started before the last change of the entry. Allows two
 * seconds: the kernel counts the start time in clock ticks, and the boot time may be rounded to
 * a second. */
bool tts_seenslot_is_after_start(const struct tts_hostview *view,
                                 const struct tts_seenregion *region,
                                 const struct tts_seenslot *slot,
                                 const struct tts_seenprocess *process);
