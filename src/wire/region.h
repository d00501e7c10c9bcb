/* region.h: the shared-memory region in which the runtime publishes how much memory each device
 * and each process uses. One file /dev/shm/tt_device_<id>_memory exists for each chip. The
 * runtime defines the bytes; docs/design/region.md has the tables.
 *
 * There are five versions in two layouts. The number of the version does not tell the layouts
 * apart: version 1 has either layout, so tts_region_layout() also needs the size of the file.
 * The structs below have the alignment of the runtime. Numbers are little-endian.
 *
 * A region belongs to other processes, which write it at any time. Copy the bytes, then check
 * the copy. Plain data: no allocation, no lock, no system call. */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_REGION_CHIPS = 16,
    TTS_REGION_SLOTS = 64,
    TTS_REGION_NAME_MAX = 64,
    TTS_REGION_BYTES = 8576,     /* versions 1 to 4 */
    TTS_REGION_V1K_BYTES = 9280, /* version 1 with a counter for kernels */
};

/* The value of init_state of a region that is complete. Only version 4 has init_state. */
#define TTS_REGION_READY UINT32_C(0x52454459)
/* The value of chip_id of a chip row that is not used, in versions 2 to 4. */
#define TTS_REGION_NO_CHIP UINT32_MAX

/* The counters of a region, in the order of their words. */
enum tts_region_counter {
    TTS_REGION_DRAM,
    TTS_REGION_L1,
    TTS_REGION_L1_SMALL,
    TTS_REGION_TRACE,
    TTS_REGION_CB,
    TTS_REGION_KERNEL, /* only in version 1 with kernels */
    TTS_REGION_COUNTERS
};

/* The first bytes of every layout. */
struct tts_region_header {
    uint32_t version;
    uint32_t active_processes; /* not reliable: updated without atomic operations */
    uint64_t last_update_ns;   /* versions 2 to 4: since 1970; version 1: of a steady clock */
    uint32_t reference_count;  /* +1 attach, -1 detach; not reduced if a process is killed
                                */
    uint32_t padding;
    uint64_t board_serial; /* version 1: the id of the board; else 0 */
    uint64_t asic_id;      /* versions 2 to 4: the id in the name of the file */
    uint32_t device_id;    /* logical id of the device in the process that attached last */
    uint32_t padding2;
};

struct tts_region_chip {
    uint32_t chip_id;
    uint32_t is_remote;
    uint64_t bytes[5];
};

struct tts_region_slot {
    int32_t pid; /* 0: free; -1: being released (version 4); of the writer's pid namespace */
    uint32_t padding;
    uint64_t bytes[5];
    uint64_t last_update_ns;
    char name[TTS_REGION_NAME_MAX]; /* terminated by a NUL byte; not trusted */
};

/* Versions 1 to 4. */
struct tts_region_v4 {
    struct tts_region_header header;
    uint64_t total_bytes[5];
    struct tts_region_chip chips[TTS_REGION_CHIPS];
    struct tts_region_slot slots[TTS_REGION_SLOTS];
    uint32_t init_state; /* version 4; else 0 */
    uint32_t padding[9];
};

struct tts_region_chip_v1k {
    uint32_t chip_id;
    uint32_t is_remote;
    uint64_t bytes[TTS_REGION_COUNTERS];
};

struct tts_region_slot_v1k {
    int32_t pid;
    uint32_t padding;
    uint64_t bytes[TTS_REGION_COUNTERS];
    uint64_t last_update_ns;
    char name[TTS_REGION_NAME_MAX];
};

/* Version 1 with kernels. */
struct tts_region_v1k {
    struct tts_region_header header;
    uint64_t total_bytes[TTS_REGION_COUNTERS];
    struct tts_region_chip_v1k chips[TTS_REGION_CHIPS];
    struct tts_region_slot_v1k slots[TTS_REGION_SLOTS];
    unsigned char padding[96];
};

static_assert(sizeof(struct tts_region_header) == 48, "the header has 48 bytes");
static_assert(offsetof(struct tts_region_header, asic_id) == 32, "asic_id is at 32");
static_assert(sizeof(struct tts_region_chip) == 48, "a chip row has 48 bytes");
static_assert(sizeof(struct tts_region_slot) == 120, "a slot has 120 bytes");
static_assert(offsetof(struct tts_region_slot, name) == 56, "the name is at 56");
static_assert(offsetof(struct tts_region_v4, chips) == 88, "the chips are at 88");
static_assert(offsetof(struct tts_region_v4, slots) == 856, "the slots are at 856");
static_assert(offsetof(struct tts_region_v4, init_state) == 8536, "init_state is at 8536");
static_assert(sizeof(struct tts_region_v4) == TTS_REGION_BYTES, "the file has 8576 bytes");
static_assert(sizeof(struct tts_region_chip_v1k) == 56, "a chip row of v1k has 56 bytes");
static_assert(sizeof(struct tts_region_slot_v1k) == 128, "a slot of v1k has 128 bytes");
static_assert(offsetof(struct tts_region_v1k, slots) == 992, "the slots of v1k are at 992");
static_assert(offsetof(struct tts_region_v1k, padding) == 9184, "the rest of v1k is at 9184");
static_assert(sizeof(struct tts_region_v1k) == TTS_REGION_V1K_BYTES, "v1k has 9280 bytes");

/* Where the parts of a layout are, so that one reader serves all versions. */
struct tts_region_layout {
    const char *name;  /* "v3" */
    uint32_t version;  /* value of the field `version` */
    size_t bytes;      /* size of the file */
    uint32_t counters; /* number of counters: 5 or TTS_REGION_COUNTERS */
    size_t totals_off;
    size_t chips_off, chip_bytes, chip_counters_off;
    size_t slots_off, slot_bytes, slot_counters_off, slot_time_off, slot_name_off;
    size_t init_state_off; /* 0: this version has none */
    uint32_t free_chip_id; /* chip_id of an unused chip row */
    int is_unix_time;      /* the times are nanoseconds since 1970 */
    int has_asic_id;       /* asic_id is the id in the name of the file */
};

/* Returns the layout of a region, or NULL if no runtime wrote such a region. `version` is the
 * first word of the file, `bytes` the size of the file. The size must be exact: every process
 * that attaches sets the size to that of its layout. A size of another layout means that two
 * different runtimes wrote the file. */
const struct tts_region_layout *tts_region_layout(uint32_t version, uint64_t bytes);
/* Returns the layout at `idx`, or NULL after the last layout. */
const struct tts_region_layout *tts_region_layout_at(size_t idx);
