/* memreport.h: the three memory reports of the runtime (CSV), as it writes them for a snapshot:
 * DRAM, L1 and L1_SMALL in this order, TRACE never (docs/design/memory-reports.md). Readers of
 * those files read these. Errors of writing are the stream's. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/device.h"
#include "ttscope/status.h"

#include <stdio.h>

/* Per bank: total, allocated, free, largest free block. A pool that is not there is all 0. */
void tts_memreport_summary(const struct tts_device *device, FILE *out);

/* L1 alone: the largest free block, and that times the banks. */
void tts_memreport_l1(const struct tts_device *device, FILE *out);

/* Totals of all banks, and the blocks. `alloc` is for the table while it is written, NULL means
 * the C library's. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_memreport_detail(const struct tts_device *device,
                                                   const struct tts_alloc *alloc, FILE *out);
