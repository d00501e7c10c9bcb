#include "model/devicename.h"

#include "base/number.h"

#include <string.h>

static const char *put_devicename(uint32_t device, const char *word, char *out)
{
    size_t len = strlen(word);
    memcpy(out, word, len);
    len += tts_number_format(out + len, tts_device_number(device));
    out[len] = '\0';
    return out;
}

const char *tts_devicename(uint32_t device, char out[TTS_DEVICENAME_MAX])
{
    return put_devicename(device, tts_mesh_is_one(device) ? "mesh " : "device ", out);
}

const char *tts_devicename_short(uint32_t device, char out[TTS_DEVICENAME_MAX])
{
    return put_devicename(device, tts_mesh_is_one(device) ? "mesh " : "", out);
}
