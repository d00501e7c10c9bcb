/* clientregion.h: the shared-memory region in which one process publishes its memory use: a
 * header, the counters of each device, a table of the live buffers and a ring of the last
 * events. One file /dev/shm/ttscope_<pid>_<start>_<namespace> exists for each process. A
 * program that links libttscope writes its own region (capture/publisher.h). The allocation
 * server writes a region without table and ring for each process that sends frames (2.2 of the
 * protocol), so that monitors have one source. docs/design/client-region.md has the tables and
 * the rules.
 *
 * A region has one writing thread at a time. Readers copy with pread() and check the copy.
 * Every number in the file may be wrong: a reader trusts no index and no offset. Numbers are
 * little-endian with natural alignment. Plain data: no allocation, no lock, no system call. */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define TTS_CLIENTREGION_PREFIX "ttscope_"
#define TTS_CLIENTREGION_MAGIC "TTSCLNT\n"
/* The value of `address` if the address is unknown. */
#define TTS_CLIENTREGION_NO_ADDRESS UINT64_MAX

enum {
    TTS_CLIENTREGION_VERSION = 1,
    TTS_CLIENTREGION_HEADER_BYTES = 4096,
    TTS_CLIENTREGION_DEVICES_MAX = 256,
    TTS_CLIENTREGION_BUFFERS_MAX = 1 << 24,
    TTS_CLIENTREGION_EVENTS_MAX = 1 << 24,
    TTS_CLIENTREGION_OPS_MAX = 65000,
    TTS_CLIENTREGION_NAME_BYTES = 64,
    TTS_CLIENTREGION_POOLS = 4, /* in the order of enum tts_pool */
};

/* Values of `state`. */
enum {
    TTS_CLIENTREGION_MAKING = 0, /* the header is not complete: ignore the file */
    TTS_CLIENTREGION_LIVE = 1,
    TTS_CLIENTREGION_ENDED = 2, /* the process stopped publishing */
};

/* Values of `writer`. */
enum {
    TTS_CLIENTREGION_BY_PROCESS = 1, /* the process itself reports each change */
    TTS_CLIENTREGION_BY_SAMPLER = 2, /* the process reads its allocator from time to time */
    TTS_CLIENTREGION_BY_SERVER = 3,  /* a server writes for a process that sends frames */
};

/* The first page of the file. Everything before `state` is constant once `state` is not
 * TTS_CLIENTREGION_MAKING. */
struct tts_clientregion_header {
    char magic[8];
    uint32_t version;
    uint32_t header_bytes;
    uint64_t file_bytes;
    unsigned char boot_id[16]; /* of the kernel: an older boot means a dead process */
    uint32_t pid;              /* as the process numbers itself */
    uint32_t uid;
    uint64_t start_ticks;   /* field 22 of /proc/<pid>/stat */
    uint64_t pid_namespace; /* inode of /proc/<pid>/ns/pid; 0: unknown */
    uint64_t begin_ns;      /* when the region was made, since 1970 */
    uint32_t writer;
    uint32_t writer_pid; /* equal to `pid`, or the server, as the server numbers itself */
    uint64_t writer_start_ticks;
    char comm[TTS_CLIENTREGION_NAME_BYTES]; /* terminated */
    uint32_t device_slots, op_slots;
    uint32_t buffer_slots; /* 0: no table */
    uint32_t event_slots;  /* a power of two; 0: no ring */
    uint64_t devices_off, ops_off, buffers_off, events_off;
    unsigned char padding[56];
    /* The fields below change. Each is stored atomically. */
    uint32_t state;
    uint32_t device_count; /* devices[0 .. device_count - 1] are in use; they never leave */
    uint64_t events;       /* number of events: event i is in slot i % event_slots */
    uint64_t update_ns;    /* time of the last event, since 1970; 0: none yet */
    uint64_t dropped;      /* events that were not counted */
    uint64_t unlisted;     /* live buffers that are counted but not in the table (full) */
    uint64_t unknown_frees;
    uint32_t buffer_high; /* no buffer was ever in a slot at or above this number */
    uint32_t op_count;    /* ops[0 .. op_count - 1] are complete; they never change */
    unsigned char rest[3784];
};

/* The counters of one pool of a device. Bytes are requested bytes on one chip. */
struct tts_clientregion_pool {
    uint64_t allocated_bytes, buffers, peak_bytes;
    uint64_t allocs, frees; /* numbers of events */
    /* The pool as its allocator reports it; bytes of all banks. Valid if view_ns is not 0. */
    uint64_t view_ns; /* time of the report, since 1970 */
    uint64_t total_bytes, taken_bytes, free_bytes, largest_free_bytes;
    uint32_t banks;
    uint32_t padding;
};

/* Bits of `known`. */
enum {
    TTS_CLIENTDEVICE_UNIQUE_ID = 1,
    TTS_CLIENTDEVICE_ARCH = 2,
    TTS_CLIENTDEVICE_QUEUES = 4,
    TTS_CLIENTDEVICE_CHANNELS = 8,
    TTS_CLIENTDEVICE_GRID = 16,
    TTS_CLIENTDEVICE_MESH = 32,   /* the device is a chip of the mesh `mesh` */
    TTS_CLIENTDEVICE_KERNEL = 64, /* kernel_bytes is counted */
    TTS_CLIENTDEVICE_CB = 128,    /* cb_bytes is counted */
};

/* The counters of one device, or of one mesh whose buffers count on each of its chips. */
struct tts_clientregion_device {
    /* Odd while the writer changes the struct. A reader copies the struct between two reads of
     * the same even number. */
    uint32_t lock;
    uint32_t id; /* as the program numbers its devices */
    uint32_t known;
    uint32_t arch; /* enum tts_arch */
    uint64_t unique_id;
    uint32_t mesh;
    uint32_t hardware_queues, dram_channels, grid_columns, grid_rows;
    uint32_t trace_depth; /* above 0: a trace is being captured */
    uint64_t traces;      /* number of captures that have ended */
    uint64_t cb_bytes;    /* of the last program, sum over its cores */
    uint64_t kernel_bytes;
    uint64_t period_ns; /* the views are sampled with this period; 0: at each change */
    struct tts_clientregion_pool pools[TTS_CLIENTREGION_POOLS];
    unsigned char rest[80];
};

/* A live buffer. A slot is in use if `stamp` is not 0. A stamp is used once, so a reader copies
 * the slot between two reads of the same stamp. Only `flags` change while the stamp stays. */
struct tts_clientregion_buffer {
    uint64_t stamp; /* 1 + number of the event that allocated the buffer */
    uint64_t id, address;
    uint64_t size_bytes;
    uint64_t bank_bytes; /* bytes in the fullest bank; 0: unknown */
    uint64_t time_ns;    /* since 1970 */
    uint32_t device;
    uint16_t op; /* 1 + index of the operation in ops[]; 0: none */
    uint8_t pool;
    uint8_t flags; /* TTS_CLIENTBUFFER_... */
    uint64_t padding;
};

/* Bits of `flags`. */
enum {
    TTS_CLIENTBUFFER_SHARDED = 1, /* the buffer lies on some cores only, or its page layout is
                                     sharded; without this bit it is interleaved or unknown */
    TTS_CLIENTBUFFER_HAS_CB = 2,  /* a circular buffer lies in the memory of the buffer */
};

/* Values of `kind` of an event. */
enum {
    TTS_CLIENTEVENT_ALLOC = 1,
    TTS_CLIENTEVENT_FREE = 2,
    TTS_CLIENTEVENT_PROGRAM =
        3,                  /* a program began: its circular buffers replace the last ones */
    TTS_CLIENTEVENT_CB = 4, /* size_bytes: bytes on all cores of the circular buffer */
    TTS_CLIENTEVENT_TRACE_BEGIN = 5,
    TTS_CLIENTEVENT_TRACE_END = 6,
    TTS_CLIENTEVENT_REFUSED = 7, /* a request of size_bytes failed */
    TTS_CLIENTEVENT_KERNEL = 8,  /* size_bytes: kernel binaries in L1 */
};

/* An event of the ring, in the order of the events. `stamp` is 0 while the writer changes the
 * slot. A reader copies the slot between two reads of the stamp that it expects. */
struct tts_clientregion_event {
    uint64_t stamp; /* 1 + number of the event */
    uint64_t time_ns;
    uint64_t id, address;
    uint64_t size_bytes; /* FREE: of the buffer; 0 if the allocation was not seen */
    uint64_t bank_bytes;
    uint64_t live_bytes; /* of the pool, after the event; CB: of all circular buffers */
    uint32_t device;
    uint16_t op;
    uint8_t kind, pool;
};

static_assert(sizeof(struct tts_clientregion_header) == TTS_CLIENTREGION_HEADER_BYTES,
              "the header is one page");
static_assert(offsetof(struct tts_clientregion_header, state) == 256, "state is at 256");
static_assert(sizeof(struct tts_clientregion_pool) == 88, "a pool has 88 bytes");
static_assert(sizeof(struct tts_clientregion_device) == 512, "a device has 512 bytes");
static_assert(sizeof(struct tts_clientregion_buffer) == 64, "a buffer has 64 bytes");
static_assert(sizeof(struct tts_clientregion_event) == 64, "an event has 64 bytes");
