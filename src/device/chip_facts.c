#include "device/chip_facts.h"

/* Numbers without another source come from one commit of the runtime. A fact is INFERRED if no
 * file of the runtime states it, but a comment, a page of the vendor or a similar chip suggests
 * it. */
#define METAL "tt-metal e4f9f0bb8de, "
#define MEM_MAP METAL "dev_mem_map.h"
#define NOC METAL "noc_parameters.h"
#define SOC METAL "soc descriptor"
#define CORES METAL "core descriptors"
#define HAL METAL "hal.hpp"
#define HAL_DRAM METAL "HAL, reserved DRAM"
#define HAL_TENSIX METAL "HAL, Tensix core"
#define PROFILER METAL "device profiler"
#define DEFAULT METAL "default when a device is opened"
#define COMMENT METAL "comments of its model code"
#define OLD "tt-metal before 3ca870a9c0a, dev_mem_map.h"
#define OLD_NOC "tt-metal before 3ca870a9c0a, noc_parameters.h"
#define OLD_CBS "tt-metal before 3ca870a9c0a, circular_buffer_constants.h"

#define KNOWN(key, value, source)                                                              \
    {                                                                                          \
        TTS_FACT_##key,                                                                        \
        {                                                                                      \
            (value), TTS_ORIGIN_KNOWN, (source)                                                \
        }                                                                                      \
    }
#define INFERRED(key, value, source)                                                           \
    {                                                                                          \
        TTS_FACT_##key,                                                                        \
        {                                                                                      \
            (value), TTS_ORIGIN_INFERRED, (source)                                             \
        }                                                                                      \
    }
#define ALSO(...)                                                                              \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }
#define LAYER(rows)                                                                            \
    {                                                                                          \
        (rows), sizeof(rows) / sizeof((rows)[0])                                               \
    }

enum { KIB = 1024, MIB = 1024 * 1024 };

/* ---- architectures ---- */

static const struct tts_fact_row common[] = {
    KNOWN(TRACE_REGION, 0, DEFAULT),
    KNOWN(L1_SMALL, 0, DEFAULT),
    KNOWN(WORKER_L1, 0, DEFAULT),
};

static const struct tts_fact_row grayskull[] = {
    KNOWN(DRAM_ALIGNMENT, 32, OLD_NOC),   KNOWN(L1_ALIGNMENT, 16, OLD_NOC),
    KNOWN(L1_SIZE, 1024 * KIB, OLD),      KNOWN(MAILBOX_BASE, 16, OLD),
    KNOWN(MAILBOX_SIZE, 12640, OLD),      KNOWN(ZEROS_BASE, 12672, OLD),
    KNOWN(ZEROS_SIZE, 512, OLD),          KNOWN(FIRMWARE_BASE, 13184, OLD),
    KNOWN(NOC_COUNTERS_BASE, 29712, OLD), KNOWN(L1_MAP_END, 29728, OLD),
    KNOWN(KERNEL_CONFIG, 69 * KIB, OLD),  KNOWN(MAX_CBS, 32, OLD_CBS),
    KNOWN(BRISC_PRIVATE, 4 * KIB, OLD),   KNOWN(NCRISC_PRIVATE, 4 * KIB, OLD),
    KNOWN(TRISC_PRIVATE, 2 * KIB, OLD),
};

static const struct tts_fact_row wormhole[] = {
    KNOWN(DRAM_ALIGNMENT, 32, NOC),
    KNOWN(L1_ALIGNMENT, 16, NOC),
    KNOWN(PCIE_ALIGNMENT, 32, NOC),
    KNOWN(DRAM_BANKS, 12, SOC),
    KNOWN(DRAM_BANK_SIZE, 1024 * MIB, SOC),
    KNOWN(DRAM_CHANNEL_BANKS, 2, SOC),
    KNOWN(PROFILER_RECORD, 48, PROFILER),
    KNOWN(PROFILER_PROGRAMS, 1000, PROFILER ", compiled in by default"),
    KNOWN(PROFILER_RISCS, 5, PROFILER),
    KNOWN(PROFILER_CORES, 8, PROFILER ": 96 cores share 12 banks"),
    KNOWN(DRAM_PRINT, 1 * MIB, HAL_DRAM),
    KNOWN(DRAM_QUEUES, 0, HAL_DRAM ": 16 MiB if command queues are in DRAM"),
    KNOWN(L1_SIZE, 1464 * KIB, SOC),
    KNOWN(MAILBOX_BASE, 16, MEM_MAP),
    KNOWN(MAILBOX_SIZE, 13296, MEM_MAP),
    KNOWN(ZEROS_BASE, 13312, MEM_MAP),
    KNOWN(ZEROS_SIZE, 512, MEM_MAP),
    KNOWN(LLK_DEBUG_BASE, 13824, MEM_MAP),
    KNOWN(LLK_DEBUG_SIZE, 1 * KIB, MEM_MAP),
    KNOWN(FIRMWARE_BASE, 14848, MEM_MAP),
    KNOWN(NOC_COUNTERS_BASE, 29216, MEM_MAP),
    KNOWN(FABRIC_TABLE_BASE, 29472, MEM_MAP),
    KNOWN(PACKET_POOL_BASE, 32704, MEM_MAP),
    KNOWN(PACKET_POOL_SIZE, 2304, MEM_MAP),
    KNOWN(L1_MAP_END, 35008, MEM_MAP),
    KNOWN(KERNEL_CONFIG, 69 * KIB, HAL_TENSIX),
    KNOWN(DISPATCH, TTS_DISPATCH_ROW, CORES ", default dispatch axis"),
    KNOWN(MAX_CBS, 32, HAL),
    KNOWN(BRISC_PRIVATE, 4 * KIB, MEM_MAP),
    KNOWN(NCRISC_PRIVATE, 4 * KIB, MEM_MAP),
    KNOWN(TRISC_PRIVATE, 2 * KIB, MEM_MAP),
};

static const struct tts_fact_row blackhole[] = {
    KNOWN(DRAM_ALIGNMENT, 64, NOC),
    KNOWN(L1_ALIGNMENT, 16, NOC),
    KNOWN(PCIE_ALIGNMENT, 64, NOC),
    KNOWN(DRAM_BANKS, 8, SOC),
    KNOWN(DRAM_BANK_SIZE, UINT64_C(4080) * MIB, SOC),
    KNOWN(DRAM_CHANNEL_BANKS, 1, SOC),
    KNOWN(PROFILER_RECORD, 48, PROFILER),
    KNOWN(PROFILER_PROGRAMS, 1000, PROFILER ", compiled in by default"),
    KNOWN(PROFILER_RISCS, 5, PROFILER),
    KNOWN(PROFILER_CORES, 20,
          PROFILER ": 154 cores share 8 banks (the runtime counts 8 on a p100 too)"),
    KNOWN(DRAM_PRINT, 1 * MIB, HAL_DRAM),
    KNOWN(DRAM_QUEUES, 0, HAL_DRAM ": 16 MiB if command queues are in DRAM"),
    KNOWN(L1_SIZE, 1536 * KIB, SOC),
    KNOWN(MAILBOX_BASE, 96, MEM_MAP),
    KNOWN(MAILBOX_SIZE, 13424, MEM_MAP),
    KNOWN(ZEROS_BASE, 13536, MEM_MAP),
    KNOWN(ZEROS_SIZE, 512, MEM_MAP),
    KNOWN(LLK_DEBUG_BASE, 14048, MEM_MAP),
    KNOWN(LLK_DEBUG_SIZE, 1 * KIB, MEM_MAP),
    KNOWN(FIRMWARE_BASE, 15072, MEM_MAP),
    KNOWN(NOC_COUNTERS_BASE, 34016, MEM_MAP),
    KNOWN(FABRIC_TABLE_BASE, 34272, MEM_MAP),
    KNOWN(PACKET_POOL_BASE, 37504, MEM_MAP),
    KNOWN(PACKET_POOL_SIZE, 3456, MEM_MAP),
    KNOWN(L1_MAP_END, 40960, MEM_MAP),
    KNOWN(KERNEL_CONFIG, 69 * KIB, HAL_TENSIX),
    KNOWN(DISPATCH, TTS_DISPATCH_COLUMN, CORES ", default dispatch axis"),
    KNOWN(MAX_CBS, 64, HAL),
    KNOWN(BRISC_PRIVATE, 8 * KIB, MEM_MAP),
    KNOWN(NCRISC_PRIVATE, 8 * KIB, MEM_MAP),
    KNOWN(TRISC_PRIVATE, 4 * KIB, MEM_MAP),
};

static const struct tts_fact_row quasar[] = {
    KNOWN(DRAM_ALIGNMENT, 64, NOC),
    KNOWN(L1_ALIGNMENT, 16, NOC),
    KNOWN(L1_SIZE, 4 * MIB, SOC),
    KNOWN(MAILBOX_BASE, 16, MEM_MAP),
    KNOWN(MAILBOX_SIZE, 59632, MEM_MAP),
    KNOWN(LLK_DEBUG_BASE, 59648, MEM_MAP),
    KNOWN(LLK_DEBUG_SIZE, 1 * KIB, MEM_MAP),
    KNOWN(NOC_COUNTERS_BASE, 194048, MEM_MAP),
    KNOWN(FABRIC_TABLE_BASE, 194384, MEM_MAP),
    KNOWN(PACKET_POOL_BASE, 197616, MEM_MAP),
    KNOWN(PACKET_POOL_SIZE, 13824, MEM_MAP),
    KNOWN(L1_MAP_END, 211440, MEM_MAP),
    KNOWN(KERNEL_CONFIG, 100 * KIB, HAL_TENSIX),
    KNOWN(MAX_CBS, 64, HAL),
    INFERRED(BRISC_PRIVATE, 8 * KIB, MEM_MAP ": size of a DM core"),
    INFERRED(NCRISC_PRIVATE, 8 * KIB, MEM_MAP ": size of a DM core"),
    KNOWN(TRISC_PRIVATE, 4 * KIB, MEM_MAP),
};

struct tts_fact_layer tts_facts_common(void)
{
    return (struct tts_fact_layer)LAYER(common);
}

struct tts_fact_layer tts_facts_of_arch(enum tts_arch arch)
{
    static const struct tts_fact_layer layers[] = {
        [TTS_ARCH_GRAYSKULL] = LAYER(grayskull),
        [TTS_ARCH_WORMHOLE] = LAYER(wormhole),
        [TTS_ARCH_BLACKHOLE] = LAYER(blackhole),
        [TTS_ARCH_QUASAR] = LAYER(quasar),
    };
    assert(arch <= TTS_ARCH_QUASAR);
    return layers[arch];
}

/* ---- cores ---- */

#define GRIDS(row, column, ethernet, slow)                                                     \
    {                                                                                          \
        [TTS_DISPATCH_ROW] = row, [TTS_DISPATCH_COLUMN] = column,                              \
        [TTS_DISPATCH_ETHERNET] = ethernet, [TTS_DISPATCH_SLOW] = slow                         \
    }
#define G(columns, rows) TTS_GRID(columns, rows)

/* The last row of a board with one chip is not used for compute, even if dispatch runs on
 * Ethernet cores. */
static const struct tts_core_counts wormhole_8x9 = {G(8, 9),
                                                    GRIDS(G(8, 8), G(7, 9), G(8, 8), G(8, 9))};
static const struct tts_core_counts wormhole_8x8 = {G(8, 8),
                                                    GRIDS(G(8, 7), G(7, 8), G(8, 8), G(8, 8))};
static const struct tts_core_counts wormhole_8x10 = {
    G(8, 10), GRIDS(G(8, 9), G(7, 10), G(8, 10), G(8, 10))};
static const struct tts_core_counts wormhole_gateway = {G(8, 9),
                                                        GRIDS(G(8, 2), G(8, 2), 0, G(8, 9))};
static const struct tts_core_counts blackhole_14x10 = {
    G(14, 10), GRIDS(G(14, 9), G(13, 10), G(14, 10), G(14, 10))};
static const struct tts_core_counts blackhole_13x10 = {
    G(13, 10), GRIDS(G(13, 9), G(12, 10), G(13, 10), G(13, 10))};
static const struct tts_core_counts blackhole_12x10 = {
    G(12, 10), GRIDS(G(12, 9), G(11, 10), G(12, 10), G(12, 10))};

/* ---- boards ---- */

static const struct tts_fact_row seven_banks[] = {
    INFERRED(DRAM_BANKS, 7, COMMENT ": one channel is harvested")};
static const struct tts_fact_row eight_banks[] = {
    INFERRED(DRAM_BANKS, 8, "assumed to be like the p150 and the p300")};

static const struct tts_board boards[] = {
    {.preset = {"n150", TTS_ARCH_WORMHOLE,
                "Wormhole n150: 1 chip, 12 DRAM banks, 64 compute cores", "", ALSO(NULL)},
     .chips = 1,
     .cores_origin = TTS_ORIGIN_KNOWN,
     .cores_source = CORES,
     .cores = &wormhole_8x9},
    {.preset = {"n300", TTS_ARCH_WORMHOLE,
                "Wormhole n300: 2 chips, each 12 DRAM banks, 56 compute cores", "",
                ALSO("n300s")},
     .chips = 2,
     .cores_origin = TTS_ORIGIN_KNOWN,
     .cores_source = CORES,
     .cores = &wormhole_8x8},
    {.preset = {"t3k", TTS_ARCH_WORMHOLE,
                "Wormhole T3000: 8 chips, each 12 DRAM banks, 56 compute cores", "",
                ALSO("t3000")},
     .chips = 8,
     .cores_origin = TTS_ORIGIN_KNOWN,
     .cores_source = CORES,
     .cores = &wormhole_8x8},
    {.preset = {"galaxy", TTS_ARCH_WORMHOLE,
                "Wormhole Galaxy: 32 chips, each 12 DRAM banks, 72 compute cores", "",
                ALSO(NULL)},
     .chips = 32,
     .cores_origin = TTS_ORIGIN_KNOWN,
     .cores_source = CORES,
     .cores = &wormhole_8x10},
    {.preset = {"tg-gateway", TTS_ARCH_WORMHOLE,
                "Wormhole n150 as gateway of the old Galaxy: 12 DRAM banks, 16 compute cores",
                "", ALSO(NULL)},
     .chips = 1,
     .cores_origin = TTS_ORIGIN_INFERRED,
     .cores_source = CORES ": 16 cores; the shape 8x2 is inferred",
     .cores = &wormhole_gateway},
    {.preset = {"p100", TTS_ARCH_BLACKHOLE,
                "Blackhole p100: 1 chip, 7 DRAM banks, 110 compute cores", "", ALSO(NULL)},
     .chips = 1,
     .cores_origin = TTS_ORIGIN_INFERRED,
     .cores_source = COMMENT ": 11 compute columns",
     .cores = &blackhole_12x10,
     .own = LAYER(seven_banks)},
    {.preset =
         {"p150", TTS_ARCH_BLACKHOLE, "Blackhole p150: 1 chip, 8 DRAM banks, 110 compute cores",
          "12 compute columns: p150-12 (tensix_grid=13x10); 13: p150-13 (tensix_grid=14x10)",
          ALSO("p150a", "p150b")},
     .chips = 1,
     .cores_origin = TTS_ORIGIN_INFERRED,
     .cores_source = COMMENT ": many have 11 compute columns",
     .cores = &blackhole_12x10},
    {.preset = {"p150-12", TTS_ARCH_BLACKHOLE,
                "Blackhole p150 with 12 compute columns: 1 chip, 8 DRAM banks, 120 cores",
                "11 compute columns: p150 (tensix_grid=12x10); 13: p150-13 (tensix_grid=14x10)",
                ALSO(NULL)},
     .chips = 1,
     .cores_origin = TTS_ORIGIN_INFERRED,
     .cores_source = "a p150 has 120 to 140 Tensix cores; 13 columns are 130",
     .cores = &blackhole_13x10},
    {.preset = {"p150-13", TTS_ARCH_BLACKHOLE,
                "Blackhole p150 with 13 compute columns: 1 chip, 8 DRAM banks, 130 cores",
                "11 compute columns: p150 (tensix_grid=12x10); 12: p150-12 (tensix_grid=13x10)",
                ALSO(NULL)},
     .chips = 1,
     .cores_origin = TTS_ORIGIN_INFERRED,
     .cores_source = "a p150 has 120 to 140 Tensix cores; 14 columns are 140",
     .cores = &blackhole_14x10},
    {.preset = {"p300", TTS_ARCH_BLACKHOLE,
                "Blackhole p300: 2 chips, each 8 DRAM banks, 110 compute cores", "",
                ALSO(NULL)},
     .chips = 2,
     .cores_origin = TTS_ORIGIN_INFERRED,
     .cores_source = "vendor page: 120 cores are enabled",
     .cores = &blackhole_12x10},
    {.preset = {"bh-quietbox", TTS_ARCH_BLACKHOLE,
                "Blackhole QuietBox: 4 chips (4 p150), each 8 DRAM banks, 110 compute cores",
                "12 compute columns: set tensix_grid=13x10; 13: set tensix_grid=14x10",
                ALSO(NULL)},
     .chips = 4,
     .cores_origin = TTS_ORIGIN_INFERRED,
     .cores_source = COMMENT ": many p150 have 11 compute columns",
     .cores = &blackhole_12x10},
    {.preset = {"blackhole", TTS_ARCH_BLACKHOLE,
                "Blackhole, nothing harvested: 1 chip, 8 DRAM banks, 130 compute cores", "",
                ALSO(NULL)},
     .chips = 1,
     .cores_origin = TTS_ORIGIN_KNOWN,
     .cores_source = CORES,
     .cores = &blackhole_14x10},
    {.preset = {"galaxy-blackhole", TTS_ARCH_BLACKHOLE,
                "Blackhole Galaxy: 32 chips, each 8 DRAM banks, compute cores not known",
                "the number of columns is unknown: set tensix_grid, for example to 12x10",
                ALSO(NULL)},
     .chips = 32,
     .cores_source = "",
     .own = LAYER(eight_banks)},
    {.preset = {"grayskull", TTS_ARCH_GRAYSKULL,
                "Grayskull: 1 chip, L1 only; DRAM and compute cores not known", "", ALSO(NULL)},
     .chips = 1,
     .cores_source = ""},
    {.preset = {"quasar", TTS_ARCH_QUASAR,
                "Quasar: 1 chip, L1 only; DRAM and compute cores not known", "", ALSO(NULL)},
     .chips = 1,
     .cores_source = ""},
};

const struct tts_board *tts_board_at(size_t idx)
{
    return idx < sizeof(boards) / sizeof(boards[0]) ? &boards[idx] : NULL;
}
