#include "sources/graph_inside.h"

uint16_t tts_graph_device(struct tts_graph_devices *devices, uint32_t id)
{
    if (devices->last < devices->count && devices->device[devices->last].id == id)
        return devices->last;
    for (uint16_t i = 0; i < devices->count; i++)
        if (devices->device[i].id == id)
            return devices->last = i;
    if (devices->count == TTS_GRAPH_DEVICES)
        return TTS_GRAPH_NO_DEVICE;
    devices->device[devices->count] =
        (struct tts_graph_device){.id = id, .mesh = TTS_GRAPH_NO_DEVICE};
    return devices->last = devices->count++;
}

static void tell(struct tts_graph_devices *devices, uint16_t chip, uint16_t mesh)
{
    assert(chip != mesh && devices->device[mesh].mesh == TTS_GRAPH_NO_DEVICE);
    devices->device[chip].mesh = mesh;
    devices->device[chip].is_due = true;
    devices->due++;
}

void tts_graph_devices_buffer(struct tts_graph_devices *devices, uint16_t idx)
{
    struct tts_graph_device *device = &devices->device[idx];
    if (device->has_buffers)
        return;
    device->has_buffers = true;
    if (device->has_parts || device->mesh != TTS_GRAPH_NO_DEVICE)
        return;
    for (uint16_t i = 0; i < devices->count; i++) {
        const struct tts_graph_device *chip = &devices->device[i];
        if (chip->has_parts && !chip->has_buffers && chip->mesh == TTS_GRAPH_NO_DEVICE)
            tell(devices, i, idx);
    }
}

/* Has buffers and no parts: a mesh, as far as one can tell. */
static bool is_mesh(const struct tts_graph_device *device)
{
    return device->has_buffers && !device->has_parts && device->mesh == TTS_GRAPH_NO_DEVICE;
}

static bool has_chips(const struct tts_graph_devices *devices, uint16_t idx)
{
    for (uint16_t i = 0; i < devices->count; i++)
        if (devices->device[i].mesh == idx)
            return true;
    return false;
}

bool tts_graph_devices_part(struct tts_graph_devices *devices, uint16_t idx, bool is_program)
{
    struct tts_graph_device *device = &devices->device[idx];
    if (device->has_parts)
        return true;
    if (!is_program && has_chips(devices, idx)) {
        device->has_parts = true;
        return false; /* it was taken for a mesh, and chips were told to be of it */
    }
    bool is_first = !device->has_buffers && device->mesh == TTS_GRAPH_NO_DEVICE;
    device->has_parts = device->has_parts || !is_program;
    if (!is_first)
        return true;
    uint16_t meshes = 0, mesh = 0;
    for (uint16_t i = 0; i < devices->count; i++) {
        if (is_mesh(&devices->device[i])) {
            meshes++;
            mesh = i;
        }
    }
    if (meshes == 1)
        tell(devices, idx, mesh);
    return meshes <= 1 || is_program; /* a program alone takes nothing of any mesh */
}
