#include "model/devicename.h"

#include <inttypes.h>
#include <stdio.h>

const char *tts_devicename(uint32_t device, char out[TTS_DEVICENAME_MAX])
{
    snprintf(out, TTS_DEVICENAME_MAX, "%s %" PRIu32,
             tts_mesh_is_one(device) ? "mesh" : "device", tts_device_number(device));
    return out;
}

const char *tts_devicename_short(uint32_t device, char out[TTS_DEVICENAME_MAX])
{
    snprintf(out, TTS_DEVICENAME_MAX, "%s%" PRIu32, tts_mesh_is_one(device) ? "mesh " : "",
             tts_device_number(device));
    return out;
}
