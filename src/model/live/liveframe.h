/* liveframe.h: who holds how much memory on which device at one moment. The terminal, the page,
 * the metrics and --json all show live frames; analysis/live/liveowners.h makes them.
 *
 * Every number that can be missing has a bit, and an unknown number is never shown as 0. Bytes
 * are of one device: the sum over the banks of a pool.
 *
 * Ownership: the caller owns the struct. Arrays come from `alloc`; release frees them. Texts
 * are foreign bytes; views escape them. Threads: one thread at a time. */
#pragma once

#include "model/live/hostview.h"
#include "model/live/liveanswer.h"

/* What a reader must know about the numbers of a device. Bits. */
enum tts_livecaveat {
    TTS_CAVEAT_ONE_THREAD = 1 << 0, /* only the first thread of each process is counted */
    TTS_CAVEAT_LOGICAL = 1 << 1,    /* requested bytes, without the padding of banks */
    TTS_CAVEAT_NOMINAL = 1 << 2,    /* capacities are those of the board, not of the program */
    TTS_CAVEAT_NO_BOARD = 1 << 3,   /* the region matches no board: remote chip or unknown */
    TTS_CAVEAT_CB_CACHED = 1 << 4, /* circular buffers of all cached programs, not of running */
    TTS_CAVEAT_SUM_DIFFERS = 1 << 5,   /* the processes do not add up to the total */
    TTS_CAVEAT_LEFT_OVER = 1 << 6,     /* the total contains bytes of dead processes */
    TTS_CAVEAT_NOT_TRACKED = 1 << 7,   /* a process holds the chip but counts no buffers */
    TTS_CAVEAT_SAMPLED = 1 << 8,       /* read from time to time, peaks in between are missed */
    TTS_CAVEAT_SHARED_SLOT = 1 << 9,   /* two containers share the entry of one pid */
    TTS_CAVEAT_CLOCK = 1 << 10,        /* the region stores no time of day */
    TTS_CAVEAT_PRIVATE = 1 << 11,      /* a holder keeps its region in a private /dev/shm */
    TTS_CAVEAT_OVER_NOMINAL = 1 << 12, /* allocated exceeds the nominal capacity */
    TTS_CAVEAT_PART_LOG = 1 << 13,     /* a buffer log was read only in part and is not used */
    TTS_CAVEAT_UNSURE_LOG = 1 << 14,   /* a log may belong to a process, and is not used */
    TTS_CAVEAT_BY_OWNER = 1 << 15,     /* a process joins region and board, not the id */
    TTS_CAVEAT_OLDER_ID = 1 << 16,     /* the board has a newer region with another id */
    TTS_CAVEAT_SHM_HIDDEN = 1 << 17,   /* the /dev/shm of a holder cannot be looked at */
    TTS_CAVEAT_ID_DIFFERS = 1 << 18,   /* the region and its file name different ids */
    TTS_CAVEAT_PART_REGION = 1 << 19,  /* another region of the device cannot be read */
    TTS_CAVEAT_DROPPED = 1 << 20,      /* a program did not count all of its events */
    TTS_CAVEAT_UNLISTED = 1 << 21,     /* live buffers of a program are not in its table */
    TTS_CAVEAT_UNKNOWN_FREES = 1 << 22, /* a program freed buffers that it never counted */
    TTS_CAVEAT_OF_PROGRAM = 1 << 23,    /* only a program names the device: no board is known */
    TTS_CAVEATS = 24
};

/* Where a total comes from. */
enum tts_livetotal { TTS_LIVETOTAL_UNKNOWN, TTS_LIVETOTAL_NOMINAL, TTS_LIVETOTAL_REPORTED };

enum tts_livesource {
    TTS_LIVESOURCE_NONE,      /* the driver lists the chip; no source has its memory */
    TTS_LIVESOURCE_REGION,    /* a shared-memory region of the runtime */
    TTS_LIVESOURCE_INSPECTOR, /* the buffer log of the inspector */
    TTS_LIVESOURCE_CLIENT,    /* a program that publishes its memory */
};

enum tts_livestate {
    TTS_LIVE_IDLE,      /* no process holds memory */
    TTS_LIVE_LIVE,      /* at least one owner is alive */
    TTS_LIVE_PHANTOM,   /* bytes are counted, but no process holds the chip */
    TTS_LIVE_UNREADABLE /* the region cannot be read; `reason` says why */
};

struct tts_livepool {
    bool banks_known, total_known, allocated_known, free_known, largest_known, buffers_known;
    bool free_is_limit; /* at most so much is free: the total is nominal */
    enum tts_livetotal total_source;
    uint32_t banks;
    uint64_t total_bytes, allocated_bytes, free_bytes, largest_free_bytes, buffers;
    /* Bytes of `allocated_bytes` that belong to processes that have ended. They are counted,
     * but programs can use them. */
    uint64_t left_over_bytes;
};

enum tts_liveprocess_state {
    TTS_LIVEPROCESS_LIVE,
    TTS_LIVEPROCESS_DEAD,        /* the process is dead: its bytes are left-overs */
    TTS_LIVEPROCESS_NOT_VISIBLE, /* alive, but the number or the owner cannot be seen from here
                                  */
};

/* Why a process cannot be seen or judged. */
enum tts_livereason {
    TTS_LIVEREASON_NONE,
    TTS_LIVEREASON_NAMESPACE,  /* a holder of the chip lives in another pid namespace */
    TTS_LIVEREASON_HIDDEN,     /* a holder has no number in our pid namespace */
    TTS_LIVEREASON_NO_LIST,    /* the driver does not list holders */
    TTS_LIVEREASON_NO_BOARD,   /* the region matches no board whose holders are known */
    TTS_LIVEREASON_OTHER_USER, /* a process fits that cannot open the region of another user */
    TTS_LIVEREASON_TOO_MANY,   /* not all holders are looked at */
    TTS_LIVEREASON_ENDED,      /* a holder has ended; a child may have the chip open */
    TTS_LIVEREASON_UNREAD,     /* the pid namespace of a holder cannot be read */
    TTS_LIVEREASON_NO_CHIPS,   /* the chips of this host cannot be listed */
    TTS_LIVEREASON_UNSURE,     /* a process fits, but may not use the chip */
};

/* Tells a process that publishes from all others, also after it has ended. */
struct tts_liveinstance {
    uint32_t pid; /* as the process numbers itself */
    uint64_t start_ticks, namespace_id;
};

struct tts_liveprocess {
    bool pid_known, container_pid_known, start_known, uid_known, buffers_known;
    uint32_t pid;           /* as this process numbers it */
    uint32_t container_pid; /* as the process numbers itself, if that is different or all that
                               is known */
    enum tts_liveprocess_state state;
    enum tts_livereason reason;
    bool is_name_changed; /* the process has another name than at its registration */
    uint32_t shared_by;   /* number of processes that share this entry */
    uint64_t start_ns;    /* changes when the clock of the host is set */
    uint64_t start_ticks; /* the same moment, for the identity of a process; 0: not known */
    uint32_t uid;
    struct tts_counters
        counters; /* no bit: the process holds the chip, its bytes are unknown */
    uint64_t buffers;
    uint64_t pool_buffers[TTS_POOLS]; /* known if buffers_known */
    enum tts_livesource source;
    uint32_t caveats;          /* enum tts_livecaveat, of a process without a device */
    enum tts_tracephase phase; /* set by analysis/questions/livequestions.h */
    /* What the process publishes itself: its region, and this device in its region. NULL: the
     * process publishes nothing. Both point into the host view from which the frame was made,
     * and are valid until the host view is read again. */
    const struct tts_seenclient *client;
    const struct tts_seenview *view;
    bool instance_known; /* the process publishes, or a server does for the process */
    struct tts_liveinstance instance;
    /* Texts end with a NUL byte. The bytes after the end have no meaning. */
    char user[TTS_HOSTVIEW_NAME_MAX];
    char name[TTS_HOSTVIEW_NAME_MAX];
    char command[TTS_HOSTVIEW_COMMAND_MAX];
};

struct tts_livedevice {
    uint32_t index; /* place on the screen, from 0 */
    bool logical_id_known, unique_id_known, node_known, arch_known;
    bool queues_known, channels_known, grid_known, is_shape_nominal;
    bool update_known;
    uint32_t logical_id, node;
    uint64_t unique_id;
    enum tts_arch arch;
    char card_type[TTS_HOSTVIEW_TEXT_MAX];
    uint32_t hardware_queues, dram_channels, grid_columns, grid_rows;
    enum tts_livestate state;
    char reason[TTS_HOSTVIEW_PATH_MAX]; /* why it is unreadable, phantom or not tracked; or ""
                                         */
    enum tts_livesource source;
    const char *layout; /* of the region: "v3"; NULL: no region */
    uint32_t caveats;   /* enum tts_livecaveat */
    uint64_t update_ns; /* time of the last change, since 1970 */
    uint64_t period_ns; /* with TTS_CAVEAT_SAMPLED */
    struct tts_livepool pools[TTS_POOLS];
    bool cb_known;
    uint64_t cb_bytes;
    struct tts_liveprocess *processes; /* largest sum first */
    size_t process_count, process_capacity;
    size_t deselected_count; /* processes after the others, which the user does not select */
    struct tts_liveanswers answers; /* set by analysis/questions/livequestions.h */
};

struct tts_liveframe {
    uint64_t time_ns; /* since 1970 */
    struct tts_livedevice *devices;
    size_t device_count, device_capacity;
    /* Processes with a buffer log whose device cannot be told. */
    struct tts_liveprocess *strays;
    size_t stray_count, stray_capacity;
    size_t
        left_out; /* devices beyond the limits of a host view, or that changed all the time */
    size_t processes_left_out, logs_left_out; /* not read for the same reason */
    bool driver_loaded;
    const struct tts_alloc *alloc;
};

/* Makes an empty frame. If `alloc` is NULL, the C library allocates. */
void tts_liveframe_init(struct tts_liveframe *frame, const struct tts_alloc *alloc);
void tts_liveframe_release(struct tts_liveframe *frame);
/* Empties the frame and keeps its memory. */
void tts_liveframe_reset(struct tts_liveframe *frame);

/* Append one empty entry and return it, or NULL if there is no memory. The pointer is valid
 * until the next call for the same array. */
struct tts_livedevice *tts_liveframe_add_device(struct tts_liveframe *frame);
struct tts_liveprocess *tts_livedevice_add_process(struct tts_liveframe *frame,
                                                   struct tts_livedevice *device);
struct tts_liveprocess *tts_liveframe_add_stray(struct tts_liveframe *frame);

/* Returns whether two entries, also of different frames, are of one process. Returns false if
 * this is not known. */
bool tts_liveprocess_is_same(const struct tts_liveprocess *a, const struct tts_liveprocess *b);
/* Copies the facts about a live process. The counters are unchanged. */
void tts_liveprocess_set_facts(struct tts_liveprocess *process,
                               const struct tts_seenprocess *seen);
/* Sets what is allocated and free in each pool. `left` are the bytes among `counters` that dead
 * processes left behind: a program can use them. */
void tts_livedevice_set_allocated(struct tts_livedevice *device,
                                  const struct tts_counters *counters,
                                  const struct tts_counters *left);

/* Returns the share of a pool in millionths, or false if total or allocated is unknown. A total
 * of 0 has the share 0. */
bool tts_livepool_share(const struct tts_livepool *pool, uint32_t *out_millionths);
const char *tts_counter_name(enum tts_counter counter); /* "DRAM", "CB" */
