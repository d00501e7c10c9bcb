#include "sources/graph/graph_devices.h"

#include "model/devicename.h"

#include <assert.h>
#include <stddef.h>

/* Returns true if tensors name the number as a chip, but not as a mesh. */
static inline bool is_chip_only(const struct tts_graph_number *number)
{
    return number->is_chip && !number->is_mesh;
}

static struct tts_graph_number *find_number(struct tts_graph_look *look, uint64_t number)
{
    for (uint16_t i = 0; i < look->count; i++)
        if (look->numbers[i].number == number)
            return &look->numbers[i];
    if (number > UINT32_MAX || look->count == TTS_GRAPH_DEVICES)
        return NULL;
    look->numbers[look->count] = (struct tts_graph_number){.number = (uint32_t)number};
    return &look->numbers[look->count++];
}

static void look_at_tensor(struct tts_graph_look *look, const struct tts_graph_node *node)
{
    for (uint32_t i = 0; i < node->pair_count; i++) {
        const struct tts_node_pair *pair = &node->pairs[i];
        struct tts_graph_number *mesh = find_number(look, pair->mesh);
        struct tts_graph_number *chip = find_number(look, pair->chip);
        look->has_pairs = true;
        look->has_spread |= pair->chip != pair->mesh;
        if (!chip || !mesh)
            continue;
        mesh->is_mesh = true;
        chip->has_more_meshes |= chip->is_chip && chip->mesh != pair->mesh;
        if (!chip->is_chip)
            chip->mesh = pair->mesh;
        chip->is_chip = true;
    }
}

static void look_at_address(struct tts_graph_look *look, const struct tts_graph_node *node)
{
    if (node->type != TTS_NODE_BUFFER_ALLOCATE || !tts_node_has(node, TTS_NODE_ADDRESS))
        return;
    look->has_zero_address |= node->value[TTS_NODE_ADDRESS] == 0;
    look->has_address |= node->value[TTS_NODE_ADDRESS] != 0;
}

void tts_graph_look_node(struct tts_graph_look *look, const struct tts_graph_node *node)
{
    look->has_durations |= tts_node_has(node, TTS_NODE_DURATION);
    if (node->type == TTS_NODE_TENSOR)
        look_at_tensor(look, node);
    if (node->type < TTS_NODE_BUFFER || tts_node_is_bad(node, TTS_NODE_DEVICE))
        return;
    struct tts_graph_number *number = find_number(
        look, tts_node_has(node, TTS_NODE_DEVICE) ? node->value[TTS_NODE_DEVICE] : 0);
    look_at_address(look, node);
    if (!number)
        return;
    if (node->type <= TTS_NODE_BUFFER_DEALLOCATE)
        number->has_buffers = true;
    else if (node->type == TTS_NODE_CB_DEALLOCATE_ALL)
        number->has_programs = true;
    else
        number->has_parts = true;
}

/* Returns true if the runtime numbers meshes and chips separately and the trace uses one number
 * for both. */
static bool is_look_split(const struct tts_graph_look *look)
{
    /* If the runtime does not dispatch, circular buffers carry the number of the mesh, and
     * addresses are 0. */
    bool is_undispatched = look->has_zero_address && !look->has_address;
    bool uses_pairs = look->has_spread && !is_undispatched;
    uint32_t meshes = 0, bare_chips = 0;
    bool is_shared = false;
    for (uint16_t i = 0; i < look->count; i++) {
        const struct tts_graph_number *number = &look->numbers[i];
        bool is_mesh = number->is_mesh || number->has_buffers;
        bool is_chip = number->has_parts || (uses_pairs && number->is_chip);
        meshes += is_mesh;
        bare_chips += number->has_parts && !is_mesh;
        is_shared |= is_mesh && is_chip;
    }
    /* A chip that has parts but no buffers keeps its buffers under the number of a mesh. If
     * there are several meshes, only the pairs of tensors tell which one. */
    return is_shared && (uses_pairs || (bare_chips > 0 && meshes == 1));
}

/* Returns the only number that has buffers but no parts; this number is a mesh. Returns NULL if
 * no number or more than one is like that. Only for a trace that is not split. */
static const struct tts_graph_number *find_look_mesh(const struct tts_graph_look *look)
{
    const struct tts_graph_number *mesh = NULL;
    for (uint16_t i = 0; i < look->count; i++) {
        const struct tts_graph_number *number = &look->numbers[i];
        if (!number->has_buffers || number->has_parts)
            continue;
        if (mesh)
            return NULL;
        mesh = number;
    }
    return mesh;
}

/* ---- devices ---- */

static uint16_t find_graph_device(const struct tts_graph_devices *devices, uint32_t id)
{
    for (uint16_t i = 0; i < devices->count; i++)
        if (devices->device[i].id == id)
            return i;
    return TTS_GRAPH_NO_DEVICE;
}

uint16_t tts_graph_device(struct tts_graph_devices *devices, uint32_t id)
{
    if (devices->last < devices->count && devices->device[devices->last].id == id)
        return devices->last;
    uint16_t idx = find_graph_device(devices, id);
    if (idx != TTS_GRAPH_NO_DEVICE)
        return devices->last = idx;
    if (devices->count == TTS_GRAPH_DEVICES)
        return TTS_GRAPH_NO_DEVICE;
    devices->device[devices->count] =
        (struct tts_graph_device){.id = id,
                                  .mesh = TTS_GRAPH_NO_DEVICE,
                                  .named = TTS_GRAPH_NO_DEVICE,
                                  .is_mesh = devices->is_split && tts_mesh_is_one(id)};
    return devices->last = devices->count++;
}

uint32_t tts_graph_device_id(const struct tts_graph_devices *devices, uint32_t number,
                             enum tts_graph_role role)
{
    if (!devices->is_split || role == TTS_GRAPH_PART)
        return number;
    uint16_t mesh = find_graph_device(devices, TTS_MESH_ID(number));
    uint16_t chip = find_graph_device(devices, number);
    if (mesh != TTS_GRAPH_NO_DEVICE || chip == TTS_GRAPH_NO_DEVICE)
        return TTS_MESH_ID(number);
    /* If no tensor names the chip, its number cannot mean the chip's own buffers, so the number
     * is a new mesh. */
    bool is_chip =
        role == TTS_GRAPH_PROGRAM || devices->device[chip].named != TTS_GRAPH_NO_DEVICE;
    return is_chip ? number : TTS_MESH_ID(number);
}

/* ---- chips ---- */

static bool has_chips(const struct tts_graph_devices *devices, uint16_t idx)
{
    for (uint16_t i = 0; i < devices->count; i++)
        if (devices->device[i].mesh == idx)
            return true;
    return false;
}

static void join_mesh(struct tts_graph_devices *devices, uint16_t chip, uint16_t mesh)
{
    assert(chip != mesh && devices->device[mesh].mesh == TTS_GRAPH_NO_DEVICE);
    devices->device[chip].mesh = mesh;
    devices->device[chip].is_due = true;
    devices->due++;
}

/* Returns true if the device is a mesh, or probably one because it has buffers but no parts. */
static bool is_mesh_device(const struct tts_graph_devices *devices,
                           const struct tts_graph_device *device)
{
    if (devices->is_split)
        return device->is_mesh && device->has_buffers;
    return device->has_buffers && !device->has_parts && !device->gets_parts &&
           device->mesh == TTS_GRAPH_NO_DEVICE;
}

/* Returns the mesh of a chip: the mesh that tensors name, else the only mesh. Returns
 * TTS_GRAPH_NO_DEVICE if there is no such mesh. Sets *is_known to false if another device must
 * own the buffers of the chip, but it is unknown which one. */
static uint16_t find_mesh_of_chip(const struct tts_graph_devices *devices, uint16_t chip,
                                  bool *is_known)
{
    uint16_t meshes = 0, mesh = devices->device[chip].named;
    bool has_buffers = false;
    *is_known = true;
    if (mesh != TTS_GRAPH_NO_DEVICE)
        return mesh != chip ? mesh : TTS_GRAPH_NO_DEVICE;
    for (uint16_t i = 0; i < devices->count; i++) {
        has_buffers |= devices->device[i].has_buffers;
        if (i != chip && is_mesh_device(devices, &devices->device[i])) {
            meshes++;
            mesh = i;
        }
    }
    *is_known = meshes == 1 || !has_buffers || devices->device[chip].gets_buffers;
    return meshes == 1 ? mesh : TTS_GRAPH_NO_DEVICE;
}

/* Finds the mesh of a device that has parts or a program, but no buffers, and attaches the
 * device to it. Returns false if the mesh cannot be determined. */
static bool place_chip(struct tts_graph_devices *devices, uint16_t chip)
{
    bool is_known;
    uint16_t mesh = find_mesh_of_chip(devices, chip, &is_known);
    if (mesh == TTS_GRAPH_NO_DEVICE)
        return is_known;
    if (devices->device[mesh].mesh != TTS_GRAPH_NO_DEVICE || has_chips(devices, chip))
        return false;
    join_mesh(devices, chip, mesh);
    return true;
}

/* ---- the result of the look ---- */

static void start_number(struct tts_graph_devices *devices,
                         const struct tts_graph_number *number)
{
    bool is_chip = number->is_chip || number->has_parts;
    bool is_mesh = number->is_mesh || (number->has_buffers && !is_chip_only(number));
    if (devices->is_split && is_mesh && number->number < TTS_MESH_ID(0)) {
        uint16_t mesh = tts_graph_device(devices, TTS_MESH_ID(number->number));
        if (mesh != TTS_GRAPH_NO_DEVICE)
            devices->device[mesh].has_buffers = number->has_buffers;
    }
    if (devices->is_split && !is_chip)
        return;
    uint16_t idx = tts_graph_device(devices, number->number);
    if (idx == TTS_GRAPH_NO_DEVICE)
        return;
    devices->device[idx].has_programs = number->has_programs && !(devices->is_split && is_mesh);
    devices->device[idx].gets_buffers = number->has_buffers && !devices->is_split;
    devices->device[idx].gets_parts = number->has_parts;
}

static void start_chip(struct tts_graph_devices *devices, const struct tts_graph_number *number)
{
    const struct tts_node_pair pair = {.chip = number->number, .mesh = number->mesh};
    if (!number->is_chip)
        return;
    tts_graph_devices_pair(devices, &pair);
    uint16_t chip = find_graph_device(devices, number->number);
    if (chip != TTS_GRAPH_NO_DEVICE)
        devices->device[chip].has_more_meshes = number->has_more_meshes;
}

void tts_graph_devices_start(struct tts_graph_devices *devices,
                             const struct tts_graph_look *look)
{
    assert(devices->count == 0);
    devices->is_split = is_look_split(look);
    for (uint16_t i = 0; i < look->count; i++)
        start_number(devices, &look->numbers[i]);
    bool is_undispatched = look->has_zero_address && !look->has_address;
    for (uint16_t i = 0; i < look->count && look->has_spread; i++)
        if (devices->is_split || !is_undispatched)
            start_chip(devices, &look->numbers[i]);
    const struct tts_graph_number *mesh = find_look_mesh(look);
    if (!devices->is_split && mesh)
        devices->device[tts_graph_device(devices, mesh->number)].has_buffers = true;
}

/* ---- facts of nodes ---- */

bool tts_graph_devices_pair(struct tts_graph_devices *devices, const struct tts_node_pair *pair)
{
    uint32_t mesh_id = devices->is_split ? TTS_MESH_ID(pair->mesh) : pair->mesh;
    uint16_t mesh = tts_graph_device(devices, mesh_id);
    uint16_t chip = tts_graph_device(devices, pair->chip);
    if (mesh == TTS_GRAPH_NO_DEVICE || chip == TTS_GRAPH_NO_DEVICE)
        return true;
    struct tts_graph_device *device = &devices->device[chip];
    if (device->named == mesh)
        return true;
    bool is_first = device->named == TTS_GRAPH_NO_DEVICE;
    if (is_first)
        device->named = mesh;
    if (is_first && device->has_parts && device->mesh == TTS_GRAPH_NO_DEVICE)
        return place_chip(devices, chip);
    device->has_more_meshes |=
        !is_first || (device->mesh != TTS_GRAPH_NO_DEVICE && device->mesh != mesh);
    return !device->has_more_meshes;
}

void tts_graph_devices_buffer(struct tts_graph_devices *devices, uint16_t idx)
{
    struct tts_graph_device *device = &devices->device[idx];
    if (device->has_buffers)
        return;
    device->has_buffers = true;
    if (!is_mesh_device(devices, device))
        return;
    for (uint16_t i = 0; i < devices->count; i++) {
        const struct tts_graph_device *chip = &devices->device[i];
        if (chip->has_parts && (devices->is_split || !chip->has_buffers) &&
            chip->mesh == TTS_GRAPH_NO_DEVICE && chip->named == TTS_GRAPH_NO_DEVICE)
            place_chip(devices, i);
    }
}

bool tts_graph_devices_part(struct tts_graph_devices *devices, uint16_t idx)
{
    struct tts_graph_device *device = &devices->device[idx];
    device->is_running = true;
    if (device->has_parts)
        return !device->has_more_meshes;
    device->has_parts = true;
    if (has_chips(devices, idx))
        return false; /* this device was taken for a mesh: chips already belong to it */
    if ((device->has_buffers && !devices->is_split) || device->mesh != TTS_GRAPH_NO_DEVICE)
        return !device->has_more_meshes;
    return place_chip(devices, idx) && !device->has_more_meshes;
}

/* Ends the running programs of the mesh `idx`, of its chips, and of chips that may belong to it
 * and have no program ends of their own. */
static void end_chip_programs(struct tts_graph_devices *devices, uint16_t idx)
{
    for (uint16_t i = 0; i < devices->count; i++) {
        struct tts_graph_device *chip = &devices->device[i];
        bool is_own = i == idx || chip->mesh == idx;
        bool is_elsewhere = chip->mesh != TTS_GRAPH_NO_DEVICE && !chip->has_more_meshes;
        bool is_apart = chip->has_buffers && !devices->is_split;
        if (!chip->is_running || (!is_own && (is_elsewhere || is_apart || chip->has_programs)))
            continue;
        chip->is_running = false;
        if (is_own)
            continue;
        chip->is_ending = true;
        devices->ending++;
    }
}

void tts_graph_devices_program(struct tts_graph_devices *devices, uint16_t idx)
{
    struct tts_graph_device *device = &devices->device[idx];
    if (device->is_mesh || device->has_buffers) {
        end_chip_programs(devices, idx);
        return;
    }
    device->has_programs = true;
    device->is_running = false;
    /* A chip that only has programs uses no memory of a mesh, so an unknown mesh does no
     * harm. */
    if (device->mesh == TTS_GRAPH_NO_DEVICE && !device->has_parts)
        (void)place_chip(devices, idx);
}
