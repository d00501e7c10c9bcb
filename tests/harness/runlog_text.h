/* runlog_text.h: writes small logs of a compiler's runtime for tests, line by line. */
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A tensor of ROWS x COLS tiles in DRAM. */
#define RUNLOG_TILES(rows, cols, dtype)                                                        \
    "tensor<64x64x" dtype ", #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<" #rows     \
    "x" #cols "x!ttcore.tile<32x32, " dtype ">, #ttnn.buffer_type<dram>>, <interleaved>>>"

struct runlog_text {
    char text[1 << 17];
    size_t len;
    const char *rank; /* before each line; "" */
    int has_colours;
};

static inline void runlog_begin(struct runlog_text *log)
{
    log->len = 0;
    log->text[0] = '\0';
    log->rank = "";
    log->has_colours = 0;
}

__attribute__((format(printf, 2, 3))) static inline void runlog_raw(struct runlog_text *log,
                                                                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(log->text + log->len, sizeof log->text - log->len, format, args);
    va_end(args);
    if (len > 0 && (size_t)len < sizeof log->text - log->len)
        log->len += (size_t)len;
}

/* Writes the fields before a message. */
static inline void runlog_prefix(struct runlog_text *log, const char *type, const char *level)
{
    if (log->has_colours)
        runlog_raw(log, "%s\033[32m%23s\033[0m | \033[1m\033[38;5;240m%8s\033[0m | ", log->rank,
                   type, level);
    else
        runlog_raw(log, "%s%23s | %8s | ", log->rank, type, level);
}

/* Writes the line of an operation. */
static inline void runlog_op(struct runlog_text *log, const char *op)
{
    runlog_prefix(log, "RuntimeTTNN", "DEBUG");
    runlog_raw(log, "Executing operation: %s\n", op);
}

static inline void runlog_program(struct runlog_text *log, int is_begin, const char *name)
{
    runlog_prefix(log, "RuntimeTTNN", "DEBUG");
    runlog_raw(log, "%s execution of program: %s\n", is_begin ? "Starting" : "Finished", name);
}

static inline void runlog_note(struct runlog_text *log, const char *text)
{
    runlog_prefix(log, "Always", "DEBUG");
    runlog_raw(log, "%s\n", text);
}

static inline void runlog_view(struct runlog_text *log, const char *pool, int banks,
                               double total, double allocated, double largest)
{
    runlog_prefix(log, "Always", "INFO");
    runlog_raw(log,
               "Device %s memory state: MemoryView{numBanks: %d, totalBytesPerBank: %.3f MB, "
               "totalBytesAllocatedPerBank: %.3f MB, totalBytesFreePerBank: %.3f MB, "
               "largestContiguousBytesFreePerBank: %.3f MB}\n",
               pool, banks, total / 1048576, allocated / 1048576, (total - allocated) / 1048576,
               largest / 1048576);
}

/* The four views of a block: DRAM with 12 banks of 8 MiB, the other pools empty. */
static inline void runlog_views(struct runlog_text *log, double allocated, double largest)
{
    runlog_view(log, "DRAM", 12, 8388608, allocated, largest);
    runlog_view(log, "L1", 64, 1048576, 0, 1048576);
    runlog_view(log, "L1_SMALL", 64, 65536, 0, 65536);
    runlog_view(log, "TRACE", 12, 0, 0, 0);
}

/* Writes the memory block before an operation of this kind. */
static inline void runlog_block(struct runlog_text *log, const char *kind, double allocated,
                                double largest)
{
    runlog_prefix(log, "Always", "INFO");
    runlog_raw(log, "Device memory state before operation %s\n", kind);
    runlog_views(log, allocated, largest);
}
