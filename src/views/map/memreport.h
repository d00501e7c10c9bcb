/* memreport.h: writes the three memory reports (CSV) that the runtime writes for a snapshot:
 * DRAM, L1 and L1_SMALL in this order, never TRACE (docs/design/memory-reports.md). Readers of
 * the runtime's files can read these. The caller checks the stream for errors. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

#include <stdio.h>

/* Writes for each bank: total, allocated, free, largest free block. A missing pool has 0
 * everywhere. */
void tts_memreport_summary(const struct tts_device *device, FILE *out);

/* Writes for L1 the largest free block, and that size times the number of banks. */
void tts_memreport_l1(const struct tts_device *device, FILE *out);

/* Writes the totals of all banks, and the blocks. Uses `alloc` for a table during the call;
 * NULL is the C library's allocator. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_memreport_detail(const struct tts_device *device,
                                                   const struct tts_alloc *alloc, FILE *out);
