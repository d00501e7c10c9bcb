/* cases.h: what events cost that are not plain buffers of DRAM: in an operation, in L1, with an
 * address, on cores of their own, of many devices. One thread; medians over rounds. */
#pragma once

/* Prints a row for each, counted and, where that is common, recorded. Exits with a message when
 * something goes wrong. */
void cases_run(void);
