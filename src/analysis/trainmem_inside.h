/* trainmem_inside.h: what the files of trainmem share. */
#pragma once

#include "analysis/trainmem.h"

/* Sets the memory of one device, and the number of devices, by what the log says. A log prints
 * the sum over all devices of its host: a multiple of what a chip has, else it is divided by
 * the mesh that the log names. If the log names the chip or the board, the memory is what the
 * catalogue has for it. Returns false, with *mem unchanged, if the log says nothing. */
bool tts_trainmem_log_device(const struct tts_run *run, struct tts_trainmem *mem);

/* Fills in peak, its phase and its parts; what is expected and asked for is there already. */
void tts_trainmem_peak(const struct tts_run *run, const struct tts_trainmem_options *options,
                       struct tts_trainmem *mem);
