/* devicename.h: the name of a device in every output. The runtime numbers chips and meshes
 * separately, both from 0. Chip n is device n. Mesh n is device TTS_MESH_ID(n), so that both
 * can be in one file. All functions depend only on their arguments. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define TTS_MESH_ID(number) (UINT32_C(0x80000000) | (uint32_t)(number))

static inline bool tts_mesh_is_one(uint32_t device)
{
    return device >= TTS_MESH_ID(0);
}

/* Returns the number of the chip or mesh, as the runtime counts it. */
static inline uint32_t tts_device_number(uint32_t device)
{
    return device & ~TTS_MESH_ID(0);
}

enum { TTS_DEVICENAME_MAX = 32 };

/* Writes "device 3" or "mesh 0" into `out` and returns it. */
const char *tts_devicename(uint32_t device, char out[TTS_DEVICENAME_MAX]);
/* Writes "3" or "mesh 0" into `out` and returns it. For a column with the title "device". */
const char *tts_devicename_short(uint32_t device, char out[TTS_DEVICENAME_MAX]);
