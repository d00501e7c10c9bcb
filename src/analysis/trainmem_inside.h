/* trainmem_inside.h: what the files of trainmem share. */
#pragma once

#include "analysis/trainmem.h"

/* How many devices the memory is of that the log prints, by what a chip has: it is a multiple
 * of that; else by the mesh that the log names. */
uint32_t tts_trainmem_log_devices(const struct tts_trainrun *run);

/* Fills in peak, its phase and its parts; what is expected and asked for is there already. */
void tts_trainmem_peak(const struct tts_trainrun *run,
                       const struct tts_trainmem_options *options, struct tts_trainmem *mem);
