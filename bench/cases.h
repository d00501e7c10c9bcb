/* cases.h: measures events other than plain DRAM buffers: in an operation, in L1, with an
 * address, on single cores, on many devices. One thread; medians over rounds. */
#pragma once

/* Prints one row for each kind, counted and, for common kinds, recorded. Exits with a message
 * on failure. */
void cases_run(void);
