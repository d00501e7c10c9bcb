#include "sources/graph/graph_devices.h"

#include "harness/t.h"
#include "model/devicename.h"

static void look_at(struct tts_graph_look *look, enum tts_node_type type, uint32_t number)
{
    struct tts_graph_node node = {.type = type,
                                  .given = 1u << TTS_NODE_DEVICE | 1u << TTS_NODE_ADDRESS};
    node.value[TTS_NODE_DEVICE] = number;
    node.value[TTS_NODE_ADDRESS] = 64;
    tts_graph_look_node(look, &node);
}

static void look_at_pair(struct tts_graph_look *look, uint32_t chip, uint32_t mesh)
{
    struct tts_graph_node node = {
        .type = TTS_NODE_TENSOR, .pair_count = 1, .pairs = {{.chip = chip, .mesh = mesh}}};
    tts_graph_look_node(look, &node);
}

/* Begins a trace in which buffers belong to mesh 0, and circular buffers to the chips 0 and
 * 1. */
static void start_split(struct tts_graph_devices *devices)
{
    struct tts_graph_look look = {0};
    look_at(&look, TTS_NODE_BUFFER_ALLOCATE, 0);
    look_at(&look, TTS_NODE_CB_ALLOCATE, 0);
    look_at(&look, TTS_NODE_CB_ALLOCATE, 1);
    look_at_pair(&look, 0, 0);
    look_at_pair(&look, 1, 0);
    *devices = (struct tts_graph_devices){0};
    tts_graph_devices_start(devices, &look);
}

T_TEST(a_number_of_a_mesh_and_a_chip_is_two_devices)
{
    static struct tts_graph_devices devices;
    start_split(&devices);
    T_TRUE(devices.is_split);
    T_EQ(tts_graph_device_id(&devices, 0, TTS_GRAPH_BUFFER), TTS_MESH_ID(0));
    T_EQ(tts_graph_device_id(&devices, 0, TTS_GRAPH_PART), 0);
    T_EQ(tts_graph_device_id(&devices, 1, TTS_GRAPH_PROGRAM), 1);
    T_TRUE(tts_graph_device(&devices, TTS_MESH_ID(0)) != tts_graph_device(&devices, 0));
}

T_TEST(a_chip_joins_its_mesh_with_its_first_part)
{
    static struct tts_graph_devices devices;
    start_split(&devices);
    uint16_t mesh = tts_graph_device(&devices, TTS_MESH_ID(0));
    uint16_t chip = tts_graph_device(&devices, 1);
    T_EQ(devices.due, 0);
    tts_graph_devices_buffer(&devices, mesh);
    T_TRUE(tts_graph_devices_part(&devices, chip));
    T_EQ(devices.due, 1);
    T_TRUE(devices.device[chip].is_due && devices.device[chip].is_running);
    T_EQ(devices.device[chip].mesh, mesh);
    T_TRUE(tts_graph_devices_part(&devices, chip));
    T_EQ(devices.due, 1);
}

T_TEST(a_program_of_a_mesh_ends_those_of_its_chips)
{
    static struct tts_graph_devices devices;
    start_split(&devices);
    uint16_t mesh = tts_graph_device(&devices, TTS_MESH_ID(0));
    uint16_t chip = tts_graph_device(&devices, 1);
    tts_graph_devices_buffer(&devices, mesh);
    T_TRUE(tts_graph_devices_part(&devices, chip));
    tts_graph_devices_program(&devices, mesh);
    T_TRUE(!devices.device[chip].is_running);
    /* The end of the mesh's program has ended the programs of both chips. */
    T_EQ(devices.ending, 0);
}

T_TEST(a_chip_of_two_meshes_cannot_be_told)
{
    static struct tts_graph_devices devices;
    start_split(&devices);
    const struct tts_node_pair same = {.chip = 1, .mesh = 0}, other = {.chip = 1, .mesh = 7};
    T_TRUE(tts_graph_devices_pair(&devices, &same));
    T_TRUE(!tts_graph_devices_pair(&devices, &other));
    T_TRUE(!tts_graph_devices_part(&devices, tts_graph_device(&devices, 1)));
}

T_TEST(devices_beyond_the_limit_are_none)
{
    static struct tts_graph_devices devices;
    for (uint32_t id = 0; id < TTS_GRAPH_DEVICES; id++)
        T_EQ(tts_graph_device(&devices, id), id);
    T_EQ(tts_graph_device(&devices, TTS_GRAPH_DEVICES), TTS_GRAPH_NO_DEVICE);
    T_EQ(tts_graph_device(&devices, 5), 5);
}
