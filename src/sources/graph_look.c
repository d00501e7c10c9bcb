#include "sources/graph_look.h"

#include <stddef.h>

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

bool tts_graph_look_is_split(const struct tts_graph_look *look)
{
    /* Without dispatch the runtime gives parts the number of the mesh, and no address. */
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
    /* A chip with parts and without buffers has its buffers under the number of a mesh. With
     * several meshes nothing but a tensor says which. */
    return is_shared && (uses_pairs || (bare_chips > 0 && meshes == 1));
}

const struct tts_graph_number *tts_graph_look_mesh(const struct tts_graph_look *look)
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
