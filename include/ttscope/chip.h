/* chip.h: the numbers that describe a chip: architecture, banks, base addresses, grid, and the
 * source of each number.
 *
 * A chip is a plain value. Start with a preset, change the facts that differ, then ask for the
 * pools. Facts that follow from others (DERIVED) are computed again after every change, until
 * they are set themselves. The tables are in docs/design/chips.md. Nothing here allocates.
 *
 * Threads: any thread may call any function at any time, also in the child of a fork. Only
 * tts_chip_preset() and tts_chip_set() write to a chip: while one of them runs, no other thread
 * may use that chip.
 * Signals: not in a signal handler, because error texts are written with snprintf().
 *
 * Example:
 *     struct tts_chip chip;
 *     struct tts_pool_layout small;
 *     struct tts_error err;
 *     if (tts_chip_preset("n150", &chip, &err) != TTS_OK ||
 *         tts_chip_set(&chip, "l1_small", "32K", &err) != TTS_OK ||
 *         tts_chip_pool(&chip, TTS_POOL_L1_SMALL, &small, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     printf("%s: %u banks of L1_SMALL, %llu bytes each\n", chip.name, small.banks,
 *            (unsigned long long)small.bank_bytes); */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_arch { TTS_ARCH_GRAYSKULL, TTS_ARCH_WORMHOLE, TTS_ARCH_BLACKHOLE, TTS_ARCH_QUASAR };

/* Where a fact comes from. */
enum tts_origin {
    TTS_ORIGIN_UNKNOWN,  /* unknown; the value has no meaning */
    TTS_ORIGIN_KNOWN,    /* stated in the runtime's sources or computed from them */
    TTS_ORIGIN_INFERRED, /* concluded from comments, vendor pages or similar chips */
    TTS_ORIGIN_DERIVED,  /* follows from other facts by a rule of the runtime */
    TTS_ORIGIN_SET,      /* set by the user */
};

/* The form of a value as text. Examples, in this order: 32768 or 32KiB, 12, 13x10, row. */
enum tts_unit { TTS_UNIT_BYTES, TTS_UNIT_COUNT, TTS_UNIT_GRID, TTS_UNIT_DISPATCH };

/* The cores that dispatch work. */
enum tts_dispatch {
    TTS_DISPATCH_ROW,      /* a row of Tensix cores; the default on Wormhole */
    TTS_DISPATCH_COLUMN,   /* a column of Tensix cores; the default on Blackhole */
    TTS_DISPATCH_ETHERNET, /* Ethernet cores */
    TTS_DISPATCH_SLOW,     /* no core: the host dispatches */
    TTS_DISPATCHES
};

/* The facts of a chip: X(NAME, key, unit, meaning). All sizes are in bytes. L1 addresses are
 * addresses on one core. */
#define TTS_FACT_MAP(X)                                                                        \
    X(CHIPS, "chips", COUNT, "number of chips, all of the same kind")                          \
    X(DRAM_ALIGNMENT, "dram_alignment", BYTES,                                                 \
      "alignment of DRAM pages and of the blocks of all pools")                                \
    X(L1_ALIGNMENT, "l1_alignment", BYTES, "alignment of L1 pages")                            \
    X(PCIE_ALIGNMENT, "pcie_alignment", BYTES, "alignment of host transfers")                  \
    X(DRAM_BANKS, "dram_banks", COUNT, "DRAM banks of a chip")                                 \
    X(DRAM_BANK_SIZE, "dram_bank_size", BYTES,                                                 \
      "size of a DRAM bank, including the reserved part")                                      \
    X(DRAM_CHANNEL_BANKS, "dram_channel_banks", COUNT,                                         \
      "DRAM banks that share a memory channel")                                                \
    X(PROFILER_RECORD, "profiler_record", BYTES,                                               \
      "bytes in the profiler buffer for one program on one RISC processor")                    \
    X(PROFILER_PROGRAMS, "profiler_programs", COUNT,                                           \
      "programs that fit in the profiler buffer; 0: there is no profiler")                     \
    X(PROFILER_RISCS, "profiler_riscs", COUNT,                                                 \
      "RISC processors of a core that the profiler records")                                   \
    X(PROFILER_CORES, "profiler_cores", COUNT,                                                 \
      "cores whose profiler records are in the same DRAM bank")                                \
    X(DRAM_PRINT, "dram_print", BYTES, "buffer for prints of kernels, in every DRAM bank")     \
    X(DRAM_QUEUES, "dram_queues", BYTES,                                                       \
      "space for command queues in every DRAM bank; 0: the queues are on the host")            \
    X(DRAM_BASE, "dram_base", BYTES, "first byte of a DRAM bank that can be allocated")        \
    X(TRACE_REGION, "trace_region", BYTES,                                                     \
      "memory of the chip for traces; 0: traces are placed in DRAM")                           \
    X(L1_SIZE, "l1_size", BYTES, "size of the L1 of a core")                                   \
    X(MAILBOX_BASE, "mailbox_base", BYTES, "first byte of the mailboxes")                      \
    X(MAILBOX_SIZE, "mailbox_size", BYTES, "size of the mailboxes")                            \
    X(ZEROS_BASE, "zeros_base", BYTES, "first byte of the region of zeros")                    \
    X(ZEROS_SIZE, "zeros_size", BYTES, "size of the region of zeros")                          \
    X(LLK_DEBUG_BASE, "llk_debug_base", BYTES,                                                 \
      "first byte of the debug area of the kernel library")                                    \
    X(LLK_DEBUG_SIZE, "llk_debug_size", BYTES, "size of the debug area of the kernel library") \
    X(FIRMWARE_BASE, "firmware_base", BYTES, "first byte of the firmware")                     \
    X(NOC_COUNTERS_BASE, "noc_counters_base", BYTES, "first byte of the NoC counters")         \
    X(FABRIC_TABLE_BASE, "fabric_table_base", BYTES, "first byte of the fabric routing table") \
    X(PACKET_POOL_BASE, "packet_pool_base", BYTES, "first byte of the packet header pool")     \
    X(PACKET_POOL_SIZE, "packet_pool_size", BYTES, "size of the packet header pool")           \
    X(L1_MAP_END, "l1_map_end", BYTES,                                                         \
      "end of the parts with fixed addresses; the kernel-config ring follows")                 \
    X(KERNEL_CONFIG, "kernel_config", BYTES,                                                   \
      "size of the kernel-config ring, which holds binaries, arguments and semaphores")        \
    X(WORKER_L1, "worker_l1", BYTES,                                                           \
      "L1 for buffers that a program asks for when it opens the device; 0: the default")       \
    X(L1_BASE, "l1_base", BYTES, "first byte of L1 buffers and circular buffers")              \
    X(L1_SMALL, "l1_small", BYTES, "size of L1_SMALL, at the top of L1")                       \
    X(TENSIX_GRID, "tensix_grid", GRID,                                                        \
      "columns and rows of Tensix cores that are not harvested")                               \
    X(DISPATCH, "dispatch", DISPATCH,                                                          \
      "cores that dispatch work: row, column, ethernet, or slow (none: the host dispatches)")  \
    X(GRID, "grid", GRID, "columns and rows of compute cores; each core has one L1 bank")      \
    X(MAX_CBS, "max_cbs", COUNT, "number of circular-buffer indices of a core")                \
    X(BRISC_PRIVATE, "brisc_private", BYTES,                                                   \
      "memory of the BRISC processor, which is not part of L1")                                \
    X(NCRISC_PRIVATE, "ncrisc_private", BYTES,                                                 \
      "memory of the NCRISC processor, which is not part of L1")                               \
    X(TRISC_PRIVATE, "trisc_private", BYTES,                                                   \
      "memory of a TRISC processor, which is not part of L1")

#define TTS_FACT_ENUM(name, key, unit, meaning) TTS_FACT_##name,
enum tts_fact_key { TTS_FACT_MAP(TTS_FACT_ENUM) TTS_FACTS };
#undef TTS_FACT_ENUM

/* TTS_GRID() packs a grid into the value of a fact. TTS_GRID_COLUMNS() and TTS_GRID_ROWS()
 * unpack it. */
#define TTS_GRID(columns, rows) ((uint64_t)(columns) << 32 | (uint64_t)(rows))
#define TTS_GRID_COLUMNS(grid) ((uint32_t)((grid) >> 32))
#define TTS_GRID_ROWS(grid) ((uint32_t)(grid))

enum { TTS_CHIP_NAME_MAX = 32, TTS_GRID_SIDE_MAX = 64 };

struct tts_fact {
    uint64_t value;
    enum tts_origin origin;
    /* Constant text: the source of the value, or the rule that gives it; "" if the value is
     * unknown. */
    const char *source;
};

struct tts_chip {
    char name[TTS_CHIP_NAME_MAX];
    enum tts_arch arch;
    struct tts_fact fact[TTS_FACTS];
    /* The compute grid for each kind of dispatch. The value is 0 if the chip has no such
     * dispatch, and the origin is UNKNOWN if no source states the grid. The fact `grid` is
     * taken from here, unless `grid` or `tensix_grid` was set. */
    struct tts_fact grids[TTS_DISPATCHES];
};

enum { TTS_PRESET_ALIASES_MAX = 4 };

struct tts_preset {
    const char *name;
    enum tts_arch arch;
    const char *title; /* one line about the board: "Wormhole n150: 1 chip, ..." */
    /* Other variants of the board and how to select them; "" if none. */
    const char *variants;
    const char *aliases[TTS_PRESET_ALIASES_MAX]; /* other names; ends with NULL */
};

/* These functions return the constant name of a value in lower case, for example "wormhole". */
TTS_API const char *tts_arch_name(enum tts_arch arch);
TTS_API const char *tts_origin_name(enum tts_origin origin);
TTS_API const char *tts_dispatch_name(enum tts_dispatch dispatch);

/* These functions return the key, the unit and the meaning of a fact. The texts are
 * constant. */
TTS_API const char *tts_fact_name(enum tts_fact_key key);
TTS_API enum tts_unit tts_fact_unit(enum tts_fact_key key);
TTS_API const char *tts_fact_meaning(enum tts_fact_key key);

/* Returns the preset at `idx`, or NULL if there are fewer presets. The preset is constant. */
TTS_API const struct tts_preset *tts_preset_at(size_t idx);

/* Finds a preset by its name or an alias, ignoring case, and copies its chip to *out. The chip
 * has the name of the preset. Returns TTS_E_NOT_FOUND if there is no such preset; `err` names
 * the most similar one. */
TTS_API TTS_NODISCARD enum tts_status tts_chip_preset(const char *name, struct tts_chip *out,
                                                      struct tts_error *err);

/* Sets one fact from text and computes the derived facts again. Dashes and underscores in `key`
 * are equivalent. Bytes and counts are decimal; bytes may end in K, M or G (with or without iB)
 * for powers of 1024. Does not check the chip as a whole: call tts_chip_check().
 *
 * Returns TTS_E_NOT_FOUND if there is no such key; `err` names the most similar one. Returns
 * TTS_E_SYNTAX or TTS_E_RANGE if `value` is not a value of this fact. After a failure *chip is
 * unchanged. */
TTS_API TTS_NODISCARD enum tts_status tts_chip_set(struct tts_chip *chip, const char *key,
                                                   const char *value, struct tts_error *err);

/* Checks whether such a chip can exist: alignments are powers of two, regions do not overlap,
 * the runtime supports the bank counts. Unknown facts are not checked. Returns TTS_E_INVALID if
 * the chip cannot exist; `err` says what is wrong and which key to change. */
TTS_API TTS_NODISCARD enum tts_status tts_chip_check(const struct tts_chip *chip,
                                                     struct tts_error *err);

enum { TTS_FACT_TEXT_MAX = 24 };

/* Writes the value of a fact in the form that tts_chip_set() accepts, for example "13x10".
 * Writes "unknown" if the value is unknown. Returns `out`. */
TTS_API const char *tts_fact_text(enum tts_fact_key key, const struct tts_fact *fact,
                                  char out[TTS_FACT_TEXT_MAX]);

/* ---- pools ---- */

enum tts_pool { TTS_POOL_DRAM, TTS_POOL_L1, TTS_POOL_L1_SMALL, TTS_POOL_TRACE, TTS_POOLS };

/* Returns "DRAM", "L1", "L1_SMALL" or "TRACE". */
TTS_API const char *tts_pool_name(enum tts_pool pool);

/* The end of a bank from which buffers are placed. */
enum tts_direction { TTS_DIRECTION_DOWN, TTS_DIRECTION_UP };

/* One pool of one chip. A pool without bytes has no banks. */
struct tts_pool_layout {
    uint32_t banks;
    uint64_t bank_bytes;           /* bytes of a bank that can be allocated */
    uint64_t offset_bytes;         /* absolute address of the first of these bytes */
    uint64_t nominal_bytes;        /* size of the whole bank, including reserved parts */
    uint64_t page_alignment_bytes; /* pages are rounded up to a multiple of this */
    /* In HYBRID L1, pages in a bank are rounded up further, to a multiple of this. */
    uint64_t bank_page_alignment_bytes;
    /* Blocks are rounded up to a multiple of this, which is also the size of the smallest
     * block. */
    uint64_t block_alignment_bytes;
    /* Lowest address of interleaved buffers; 0 if there is no limit. */
    uint64_t limit;
    enum tts_direction direction; /* direction, if the request does not choose one */
};

/* Computes the layout of a pool. Returns TTS_E_NOT_FOUND if a fact that the pool needs is
 * unknown; `err` names it. Returns TTS_E_INVALID if tts_chip_check() rejects the chip. After a
 * failure *out is unchanged. */
TTS_API TTS_NODISCARD enum tts_status tts_chip_pool(const struct tts_chip *chip,
                                                    enum tts_pool pool,
                                                    struct tts_pool_layout *out,
                                                    struct tts_error *err);

/* ---- the L1 of a core, bottom to top ---- */

enum { TTS_L1_PARTS_MAX = 16 };

struct tts_l1_part {
    const char *name;
    uint64_t start, end;
    /* The part holds buffers and circular buffers, so its contents depend on the program. */
    bool grows;
};

/* Writes the parts of the L1 of a core, from address 0 to l1_size without gaps. Returns the
 * number of parts. Returns 0 if a fact is missing (`err` names one) or if tts_chip_check()
 * rejects the chip. */
TTS_API size_t tts_chip_l1_parts(const struct tts_chip *chip,
                                 struct tts_l1_part out[TTS_L1_PARTS_MAX],
                                 struct tts_error *err);

/* ---- the L1 base over time ---- */

struct tts_l1_base {
    enum tts_arch arch;
    const char *when; /* month in which the base was seen, as "2026-03", or the place */
    uint64_t base;
    uint64_t tile_bytes; /* tile size that matched; 0 in results of tts_l1_base_list() */
};

/* Finds the known L1 bases that fit `region_end`, the end of a region of circular buffers in a
 * message of the runtime. A base fits if there is a whole number of tiles of 4096, 2048, 1088
 * or 576 bytes between the base and `region_end`. Larger tiles come first, because they fit by
 * chance less often; then later bases come first. Writes the first `capacity` bases and returns
 * the number of all bases that fit. Returns 0 if no known base fits. */
TTS_API size_t tts_l1_base_decode(enum tts_arch arch, uint64_t region_end,
                                  struct tts_l1_base *out, size_t capacity);
/* Writes the first `capacity` known bases of an architecture, the latest first, and returns the
 * number of all. */
TTS_API size_t tts_l1_base_list(enum tts_arch arch, struct tts_l1_base *out, size_t capacity);
