/* devicepools.h: the parts of a device, for rooms that show them: its banks, its map of banks,
 * and the circular buffers of the current program. All are borrowed from the device. One thread
 * at a time for each device. */
#pragma once

#include "device/banks.h"
#include "device/cbs.h"
#include "device/pages.h"
#include "ttscope/device.h"

/* Returns NULL if the device has no such pool, or a pool of no bytes. Valid as long as the
 * device. */
const struct tts_banks *tts_device_pool(const struct tts_device *device, enum tts_pool pool);
const struct tts_banks_map *tts_device_map(const struct tts_device *device);
/* Returns NULL if the grid or a fact of L1 is unknown. Valid as long as the device. */
const struct tts_cbs *tts_device_cbs(const struct tts_device *device);
/* Returns where the L1 buffers begin, by core in HYBRID mode. Valid until the next change. */
struct tts_cbs_floor tts_device_floor(struct tts_device *device);
