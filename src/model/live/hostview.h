/* hostview.h: what the live sources read on this host at one moment: chips, memory regions,
 * buffer logs and processes. Plain facts, before anyone decides which process owns which bytes;
 * analysis/live/liveowners.h decides.
 *
 * Everything in a host view comes from files that other processes write. Texts may hold any
 * bytes; a text is "" if it is not known. Every other fact that can be missing has a bit.
 *
 * Ownership: the caller owns the struct. Arrays come from `alloc`; release frees them. A host
 * view is filled again and again: tts_hostview_reset() keeps the memory of the arrays.
 * Threads: one thread at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_HOSTVIEW_TEXT_MAX = 40,
    TTS_HOSTVIEW_NAME_MAX = 64,
    TTS_HOSTVIEW_COMMAND_MAX = 256,
    TTS_HOSTVIEW_PATH_MAX = 256,
    TTS_HOSTVIEW_CHIPS_MAX = 256,
    TTS_HOSTVIEW_REGIONS_MAX = 1024,
    TTS_HOSTVIEW_PROCESSES_MAX = 4096,
    TTS_HOSTVIEW_SLOTS = 64,
    TTS_HOSTVIEW_HOLDERS_MAX = 64,
    TTS_HOSTVIEW_MESH_DEVICES_MAX = 256,
    TTS_HOSTVIEW_CLIENTS_MAX = 1024,
    TTS_SIZECLASSES = 48,
};

/* What a number of bytes counts. The first four are the pools, in the order of enum tts_pool.
 */
enum tts_counter {
    TTS_COUNTER_DRAM,
    TTS_COUNTER_L1,
    TTS_COUNTER_L1_SMALL,
    TTS_COUNTER_TRACE,
    TTS_COUNTER_CB,     /* circular buffers */
    TTS_COUNTER_KERNEL, /* kernel binaries */
    TTS_COUNTERS
};
static_assert((int)TTS_COUNTER_TRACE == (int)TTS_POOL_TRACE, "pools come first, in order");

/* Bytes by counter. Bit 1 << i of `known` says whether bytes[i] is known. */
struct tts_counters {
    uint64_t bytes[TTS_COUNTERS];
    uint32_t known;
};

/* tts_counters_sum() returns the sum of the known numbers. tts_counters_add() adds `more` to
 * `*sum`, counter by counter. A sum that does not fit stays at the largest number. */
uint64_t tts_counters_sum(const struct tts_counters *counters);
void tts_counters_add(struct tts_counters *sum, const struct tts_counters *more);

/* A chip that the driver lists. */
struct tts_seenchip {
    uint32_t node; /* N of /dev/tenstorrent/N */
    char card_type[TTS_HOSTVIEW_TEXT_MAX];
    bool serial_known, asic_id_known, arch_known;
    uint64_t serial, asic_id;
    enum tts_arch arch;
    const char *preset; /* name of the preset of this card, a constant; NULL: none is known */
    /* Processes that have the node open, as this process numbers them. 0 stands for processes
     * that are not visible from here. */
    bool holders_known;
    uint32_t holders[TTS_HOSTVIEW_HOLDERS_MAX];
    size_t holder_count; /* all holders; only TTS_HOSTVIEW_HOLDERS_MAX are in `holders` */
    /* The process that locked the chip for use, as that process numbers itself. */
    bool lock_known;
    int32_t lock_pid;
};

/* A device node /dev/tenstorrent/N. Nodes are never opened. */
struct tts_seennode {
    uint32_t node;
    bool is_usable; /* this user may open the node for reading and writing */
    uint32_t owner_uid, owner_gid, mode;
};

enum tts_seenregion_state {
    TTS_SEENREGION_READ,            /* the counters are good */
    TTS_SEENREGION_NO_ACCESS,       /* the file belongs to another user */
    TTS_SEENREGION_EMPTY,           /* version 0 or size 0: created, not initialised */
    TTS_SEENREGION_INITIALISING,    /* version 4: another process initialises the region */
    TTS_SEENREGION_UNKNOWN_VERSION, /* a version or size that no known runtime writes */
    TTS_SEENREGION_CORRUPT,         /* values that no device can hold */
    TTS_SEENREGION_CHANGING,        /* the region changed during each attempt to read it */
    TTS_SEENREGION_FAILED,          /* the file cannot be read; sys_errno says why */
};

/* A process that is registered in a region. */
struct tts_seenslot {
    int32_t pid;    /* above 0, in the pid namespace of the writer */
    uint32_t index; /* place in the region, below TTS_HOSTVIEW_SLOTS */
    struct tts_counters counters;
    uint64_t last_update_ns; /* see is_unix_time of the region */
    char name[TTS_HOSTVIEW_NAME_MAX];
};

/* A region of the runtime: /dev/shm/tt_device_<id>_memory. */
struct tts_seenregion {
    uint64_t id; /* from the name of the file */
    enum tts_seenregion_state state;
    int sys_errno; /* with TTS_SEENREGION_FAILED */
    uint32_t owner_uid;
    uint64_t file_bytes;
    uint64_t device_no, inode; /* st_dev and st_ino of the file */
    const char *layout;        /* "v3"; a constant; NULL: not known */
    uint32_t version;          /* first word of the file; 0 if the file could not be read */
    uint32_t private_of;  /* process whose /dev/shm holds the file; 0: /dev/shm of this host */
    bool is_of_this_boot; /* the file is in memory, so it is not older than the boot */
    /* The rest is valid if state is TTS_SEENREGION_READ. */
    bool is_unix_time;    /* the times are nanoseconds since 1970, else of a steady clock */
    bool is_id_confirmed; /* the region and the name of its file have the same id */
    uint64_t asic_id;
    uint32_t logical_id; /* id of the device in the process that attached last */
    uint32_t reference_count;
    uint64_t last_update_ns;
    struct tts_counters total;
    struct tts_seenslot slots[TTS_HOSTVIEW_SLOTS];
    size_t slot_count;
};

/* The live buffers of one process, from the buffer log of the runtime's inspector. A buffer of
 * several devices is counted with its bytes on one device. */
struct tts_seenbuffers {
    uint32_t pid; /* process that writes the log, as this process numbers it */
    /* Logical ids of the devices of the only live mesh of the process. Not known if the process
     * has several meshes or none: then the device of a buffer is unknown. */
    bool devices_known;
    uint32_t devices[TTS_HOSTVIEW_MESH_DEVICES_MAX];
    size_t device_count;
    uint64_t bytes[TTS_POOLS];   /* of one device */
    uint64_t buffers[TTS_POOLS]; /* without views of other buffers */
    uint64_t largest_bytes[TTS_POOLS];
    uint64_t events;        /* events read so far */
    uint64_t bad_lines;     /* lines that cannot be parsed */
    uint64_t unknown_frees; /* frees of buffers that the log does not have */
    uint64_t left_out;      /* buffers beyond the maximum that is kept */
    bool update_known;
    uint64_t update_ns; /* time of the last event, since 1970 */
    bool is_complete;   /* the log was read from its beginning and nothing was skipped */
};

/* One pool, as its own allocator reports the pool. Bytes are of all banks. */
struct tts_seenpool {
    bool is_known;
    uint32_t banks;
    uint64_t total_bytes, allocated_bytes, free_bytes, largest_free_bytes;
    bool buffers_known;
    uint64_t buffers;
};

/* A program that publishes its memory in a region of its own (wire/clientregion.h), or a
 * program for which a server does. */
struct tts_seenclient {
    enum tts_seenregion_state state; /* the facts after `file_bytes` need TTS_SEENREGION_READ */
    int sys_errno;                   /* with TTS_SEENREGION_FAILED */
    char file[TTS_HOSTVIEW_NAME_MAX + 32]; /* name of the file */
    uint32_t owner_uid;                    /* of the file */
    uint64_t file_bytes;
    uint64_t device_no, inode; /* st_dev and st_ino of the file */
    uint32_t private_of;       /* process whose /dev/shm holds the file; 0: that of this host */
    uint32_t pid;              /* as this process numbers it; 0: it cannot be seen from here */
    uint32_t pid_inside;       /* as the program numbers itself */
    uint64_t start_ticks, namespace_id;
    char comm[TTS_HOSTVIEW_NAME_MAX];
    bool is_alive;    /* false: the file is a left-over of a process that has ended */
    bool is_judged;   /* false: nobody here can say whether the process is alive */
    bool is_boot_old; /* the file is from before the last boot */
    bool by_server;   /* a server writes the file */
    bool has_ended;   /* the program has ended publishing */
    bool is_orphan;   /* the server that wrote the file has ended: the numbers are old */
    uint32_t writer_pid_inside; /* with by_server: the server, as it numbers itself */
    uint64_t writer_start_ticks;
    bool is_sampled;   /* the program reads its allocator from time to time */
    bool has_table;    /* the live buffers are listed */
    uint64_t events;   /* published so far */
    uint64_t dropped;  /* events that the program did not count */
    uint64_t unlisted; /* live buffers that are counted, but not listed */
    uint64_t unknown_frees;
    uint64_t update_ns;            /* time of the last event, since 1970; 0: none yet */
    size_t first_view, view_count; /* its devices in `views` of the host view */
    size_t views_left_out;         /* devices that changed during each attempt to read them */
};

/* A device, as a process with an allocator reports the device. */
struct tts_seenview {
    uint32_t pid;    /* process that reports, as this process numbers it */
    size_t client_1; /* 1 + index in `clients`; 0: not from a region of a program */
    bool unique_id_known, arch_known, queues_known, channels_known, grid_known;
    uint64_t unique_id;
    uint32_t logical_id;
    enum tts_arch arch;
    uint32_t hardware_queues, dram_channels, grid_columns, grid_rows;
    struct tts_seenpool pools[TTS_POOLS];
    bool cb_known;
    uint64_t cb_bytes;
    bool period_known; /* sampled, not reported at each change */
    uint64_t period_ns;
    /* What a program counts itself, whether or not its allocator reports. Bytes are requested
     * bytes on one chip. */
    bool counted_known, kernel_known, mesh_known, trace_known, classes_known;
    uint64_t counted_bytes[TTS_POOLS], counted_buffers[TTS_POOLS], peak_bytes[TTS_POOLS];
    uint64_t allocs[TTS_POOLS], frees[TTS_POOLS];
    uint64_t kernel_bytes;
    uint32_t mesh;        /* the device is a chip of this mesh, whose buffers count here too */
    uint32_t trace_depth; /* above 0: a trace is being captured */
    uint64_t traces;      /* captures that have ended */
    /* The listed live buffers by size: class c has sizes from 2^c to 2^(c + 1) - 1, and the
     * last class has all larger ones. */
    uint32_t class_buffers[TTS_POOLS][TTS_SIZECLASSES];
};

/* A process that holds a chip, or that a slot or a log may belong to. */
struct tts_seenprocess {
    uint32_t pid;        /* as this process numbers it */
    uint32_t pid_inside; /* as the process numbers itself; 0: not known */
    uint32_t pid_levels; /* pid namespaces from ours to that of the process; 0: not known */
    bool namespace_known, start_known, uid_known;
    uint64_t namespace_id; /* inode of the pid namespace */
    uint64_t start_ns;     /* since 1970 */
    bool ticks_known;
    uint64_t start_ticks; /* field 22 of /proc/N/stat */
    uint32_t uid;
    char user[TTS_HOSTVIEW_NAME_MAX]; /* "" if there is no name for the uid */
    char comm[TTS_HOSTVIEW_NAME_MAX];
    char command[TTS_HOSTVIEW_COMMAND_MAX]; /* arguments, separated by blanks; may be cut */
    bool is_alive;                          /* false: the process does not exist */
    bool is_holder; /* the driver lists the process among those that have a chip open */
    /* Nodes N of /dev/tenstorrent/N that the process has open; known only for processes of the
     * same user, or as root. */
    bool nodes_known;
    uint64_t nodes;      /* bit N, for N below 64 */
    bool has_unsure_log; /* a buffer log may belong to the process, and is not used */
    /* Why the /dev/shm of the process cannot be listed; 0: listed, or not tried. */
    int shm_errno;
};

struct tts_hostview {
    uint64_t time_ns; /* since 1970 */
    /* The boot of the host by its present clock, or the last time at which a reader saw that
     * the clock had been set. Nothing in memory is older than the boot, so an earlier time is
     * that of a clock that was set since then. */
    bool clock_known;
    uint64_t clock_since_ns;
    uint32_t own_pid, own_uid;
    bool own_namespace_known;
    uint64_t own_namespace_id;
    bool driver_loaded;
    char driver_version[TTS_HOSTVIEW_TEXT_MAX];
    struct tts_seenchip *chips;
    size_t chip_count, chip_capacity, chips_left_out;
    int chips_errno; /* why the chips of the driver cannot be listed; 0: listed, or no driver */
    /* Read by tts_livenodes_read() only. */
    bool nodes_listed;          /* /dev/tenstorrent exists and can be listed */
    struct tts_seennode *nodes; /* by number */
    size_t node_count, node_capacity;
    struct tts_seenregion *regions; /* by id; of equal ids the region of this host is first */
    size_t region_count, region_capacity, regions_left_out;
    int regions_errno;               /* why /dev/shm of this host cannot be listed; 0: listed */
    struct tts_seenbuffers *buffers; /* by pid */
    size_t buffers_count, buffers_capacity, buffers_left_out;
    struct tts_seenclient *clients; /* in the order of their files */
    size_t client_count, client_capacity, clients_left_out;
    struct tts_seenview *views;
    size_t view_count, view_capacity;
    struct tts_seenprocess *processes; /* by pid after tts_hostview_sort_processes() */
    size_t process_count, process_capacity, processes_left_out;
    bool is_sorted; /* the processes are in the order of their pids, each once */
    const struct tts_alloc *alloc;
};

/* Makes an empty host view. If `alloc` is NULL, the C library allocates. */
void tts_hostview_init(struct tts_hostview *view, const struct tts_alloc *alloc);
void tts_hostview_release(struct tts_hostview *view);
/* Empties the arrays and keeps their memory. */
void tts_hostview_reset(struct tts_hostview *view);

/* Each of these functions appends one zeroed entry and returns it, or NULL if there is no
 * memory. The pointer is valid until the next call that appends to the same array. */
struct tts_seenchip *tts_hostview_add_chip(struct tts_hostview *view);
struct tts_seennode *tts_hostview_add_node(struct tts_hostview *view);
struct tts_seenregion *tts_hostview_add_region(struct tts_hostview *view);
struct tts_seenbuffers *tts_hostview_add_buffers(struct tts_hostview *view);
struct tts_seenclient *tts_hostview_add_client(struct tts_hostview *view);
struct tts_seenview *tts_hostview_add_view(struct tts_hostview *view);
struct tts_seenprocess *tts_hostview_add_process(struct tts_hostview *view);

/* Sorts the processes by pid, so that they are found quickly. */
void tts_hostview_sort_processes(struct tts_hostview *view);
/* Returns the process with this pid, or NULL. Cost: linear, or logarithmic if the processes are
 * sorted. */
const struct tts_seenprocess *tts_hostview_process(const struct tts_hostview *view,
                                                   uint32_t pid);
