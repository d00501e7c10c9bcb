/* live_regions.h: the part "regions" of bench_live. Prints its values and ends the program on
 * an error. */
#pragma once

void measure_live_regions(void);
