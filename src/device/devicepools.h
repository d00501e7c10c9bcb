/* devicepools.h: gives other rooms access to the parts of a device: its banks, its map of
 * banks, and the circular buffers of the current program. The device owns all of them. One
 * thread at a time for each device. */
#pragma once

#include "device/banks.h"
#include "device/cbs.h"
#include "device/pages.h"
#include "ttscope/device.h"

/* Return the banks of a pool, and the map of banks. The banks are NULL if the device has no
 * such pool or the pool has no bytes; the map is NULL if a fact it needs is unknown. Valid as
 * long as the device. */
const struct tts_banks *tts_device_pool(const struct tts_device *device, enum tts_pool pool);
const struct tts_banks_map *tts_device_map(const struct tts_device *device);
/* Returns the circular buffers of the current program; NULL if the grid or a fact of L1 is
 * unknown. Valid as long as the device. */
const struct tts_cbs *tts_device_cbs(const struct tts_device *device);
/* Returns the lowest addresses of L1 buffers; in HYBRID mode one for each core. Valid until the
 * device changes. */
struct tts_cbs_floor tts_device_floor(struct tts_device *device);
