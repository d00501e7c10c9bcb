#include "harness/graph_rig.h"
#include "sources/graph/graph_devices.h"

/* Tests which devices are meshes and which are chips. The reader finds this out from their
 * buffers and parts. */

static struct rig rig;
static char text[TTS_GRAPH_LOOK_BYTES + 64 * 1024];

static int put_tensor(char *out, size_t size, int counter, const char *node)
{
    if (node[0] == 'z') {
        int len =
            snprintf(out, size, ",{\"counter\":%d,\"node_type\":\"tensor\",\"x\":\"", counter);
        memset(out + len, 'z', TTS_GRAPH_LOOK_BYTES);
        len += TTS_GRAPH_LOOK_BYTES;
        return len + snprintf(out + len, size - (size_t)len, "\"}");
    }
    return snprintf(out, size,
                    ",{\"counter\":%d,\"node_type\":\"tensor\",\"params\":{"
                    "\"device_tensors\":\"[{\\\"device_id\\\":%c,"
                    "\\\"mesh_device_id\\\":%c}]\"}}",
                    counter, node[1], node[2]);
}

/* Reads a trace that is given in short form, and returns its items as text. Each node is a
 * letter and the digit of its device: b (node of a buffer), a (allocates the last buffer), c
 * (circular buffer), p (program). "tXY" is a tensor on chip X of mesh Y. "z." is a text longer
 * than the look ahead. In the result, "m<chip><mesh>" says that a chip belongs to a mesh. */
static const char *items_of(const char *nodes, unsigned allowed)
{
    static char out[RIG_ITEMS * 3 + 1];
    int len = snprintf(text, sizeof text, "[{\"counter\":0,\"node_type\":\"capture_start\"}");
    int buffer = 0;
    for (int n = 1; *nodes; nodes += nodes[0] == 't' ? 3 : 2, n++) {
        if (nodes[0] == 't' || nodes[0] == 'z') {
            len += put_tensor(text + len, sizeof text - (size_t)len, n, nodes);
            continue;
        }
        static const char *const types[] = {['b'] = "buffer",
                                            ['a'] = "buffer_allocate",
                                            ['c'] = "circular_buffer_allocate",
                                            ['p'] = "circular_buffer_deallocate_all"};
        buffer = nodes[0] == 'b' ? n : buffer;
        len +=
            snprintf(text + len, sizeof text - (size_t)len,
                     ",{\"counter\":%d,\"node_type\":\"%s\",\"connections\":[%d],\"params\":{"
                     "\"size\":64,\"type\":\"L1\",\"max_size_per_bank\":64,\"device_id\":%c,"
                     "\"core_range_set\":\"{[(x=0,y=0) - (x=1,y=1)]}\"}}",
                     n, types[(int)nodes[0]], buffer, nodes[1]);
    }
    snprintf(text + len, sizeof text - (size_t)len, "]");
    rig_read_well(&rig, text, allowed);
    size_t at = 0;
    const char *letters = rig_letters(&rig);
    for (size_t i = 1; i + 2 < rig.count; i++) {
        out[at++] = letters[i];
        if (letters[i] == 'm') {
            out[at++] = (char)('0' + rig.items[i].item.device);
            out[at++] = (char)('0' + rig.items[i].item.mesh);
        }
    }
    out[at] = '\0';
    return out;
}

T_TEST(one_device_alone_is_no_mesh)
{
    T_STR_EQ(items_of("b0a0p0c0c0b0a0", 0), "APCCA");
    T_STR_EQ(items_of("p0c0b0a0c0", 0), "PCAC");
    T_STR_EQ(items_of("b1a1b1a1", 0), "AA");
    T_STR_EQ(items_of("c0c0", 0), "CC");
    T_STR_EQ(items_of("b0a0c0b1a1", 0), "ACA");
}

T_TEST(chips_are_told_before_their_first_part)
{
    T_STR_EQ(items_of("b1a1p1c0c0", 0), "APm01CC");
    T_STR_EQ(items_of("b4a4p4c0c1c0c3c1", 0), "APm04Cm14CCm34CC");
    T_EQ(rig.usage.core.bytes, 64 + 2 * 64); /* both circular buffers are on chip 0 */
    T_EQ(rig.usage.core.device, 0);
    T_STR_EQ(items_of("b1a1p0c0", 0), "Am01PC");
    T_STR_EQ(items_of("b1c0", 0), "m01C"); /* the buffer was allocated before the capture */
    /* The buffer has no `buffer` node. */
    T_STR_EQ(items_of("a1c0", 1u << TTS_GRAPH_BAD_NODE), "Am01C");
}

T_TEST(chips_are_told_before_the_first_buffer_of_their_mesh)
{
    T_STR_EQ(items_of("c0c1b4a4", 0), "m04Cm14CA");
    T_EQ(rig.usage.core.bytes, 128);
    T_STR_EQ(items_of("p1c0b1a1", 0), "Pm01CA"); /* the program belongs to the mesh */
    T_STR_EQ(items_of("p4c0c1p4c0c1b4a4", 0), "Pm04Cm14CPCCA");
    T_EQ(rig.usage.peak_cb_bytes, 64);
    /* The look ahead ends before these nodes. */
    T_STR_EQ(items_of("z.c0c1b4a4", 0), "CCm04m14A");
}

T_TEST(a_number_of_a_mesh_and_of_a_chip_is_two_devices)
{
    T_STR_EQ(items_of("b0a0p0c0c1p0c0c1", 0), "APm00Cm10CPCC");
    T_EQ(rig.items[1].item.event.device, 0x80000000u);
    T_EQ(rig.items[2].item.event.device, 0x80000000u);
    T_EQ(rig.items[3].item.mesh, 0x80000000u);
    T_EQ(rig.items[4].item.event.device, 0);
    T_EQ(rig.usage.peak_cb_bytes, 64);
    T_EQ(rig.usage.core.bytes, 128);
    T_STR_EQ(items_of("c0c1b0a0", 0), "m00Cm10CA");
    T_STR_EQ(items_of("p0c0c1p0c0c1b0a0", 0), "Pm00Cm10CPCCA");
    T_EQ(rig.usage.peak_cb_bytes, 64);
    T_STR_EQ(items_of("b0a0c1c0c0", 0), "Am10Cm00CC");
    T_STR_EQ(items_of("b1a1c0c1c2p1", 0), "Am01Cm11Cm21CP");
}

T_TEST(tensors_say_which_chip_is_of_which_mesh)
{
    T_STR_EQ(items_of("b0a0b1a1t00t10t21t31c0c1c2c3p0c0c1p1c2c3", 0),
             "AAm00Cm10Cm21Cm31CPCCPCC");
    T_EQ(rig.usage.peak_cb_bytes, 64);
    T_EQ(rig.usage.core.bytes, 128);
    T_STR_EQ(items_of("b4a4b5a5t04t15c0c1p4c0", 0), "AAm04Cm15CPC");
    /* There is one chip, which is its own mesh. */
    T_STR_EQ(items_of("b0a0t00p0c0c0", 0), "APCC");
    T_EQ(rig.items[1].item.event.device, 0);
    /* The number of the second buffer means a chip with buffers of its own, not a mesh. */
    T_STR_EQ(items_of("b0a0t00t10b1a1c1", 0), "AAm10C");
    T_EQ(rig.items[2].item.event.device, 1);
    /* The chip belongs to two meshes. A program end of either mesh ends the program of the
     * chip. */
    T_STR_EQ(items_of("b0a0b1a1t00t20t21c2p1c2p0c2", 1u << TTS_GRAPH_WHICH_MESH),
             "AAm20CPPCPC");
    T_EQ(rig.usage.peak_cb_bytes, 64);
}

T_TEST(what_is_found_out_too_late_is_noted_and_ends_all_the_same)
{
    T_STR_EQ(items_of("b0a0c0z.p0c0c1p0c0c1", 1u << TTS_GRAPH_WHICH_MESH), "ACPCCPPCC");
    T_EQ(rig.notes[TTS_GRAPH_WHICH_MESH].count, 1);
    T_EQ(rig.usage.peak_cb_bytes, 64);
    T_STR_EQ(items_of("b0a0t00t10z.c0c1p0c0c1", 0), "Am00Cm10CPCC");
    T_EQ(rig.usage.peak_cb_bytes, 64);
    T_STR_EQ(items_of("b4a4b5a5z.c0c1t04t15p5c1", 1u << TTS_GRAPH_WHICH_MESH), "AACCm04m15PC");
}

T_TEST(a_program_of_its_own_ends_a_chip_alone)
{
    T_STR_EQ(items_of("b0a0c0c1c2p1c1p2p0c0", 0), "Am00Cm10Cm20CPCPPC");
    T_EQ(rig.usage.peak_cb_bytes, 64);
    unsigned noted = 1u << TTS_GRAPH_WHICH_MESH;
    T_STR_EQ(items_of("b4a4b5a5c0c1p4c0c1p1", noted), "AACCPPCCP");
    /* Chip 1 has program ends of its own, so the one of mesh 4 does not count for it. */
    T_EQ(rig.usage.peak_cb_bytes, 128);
}

T_TEST(a_mesh_that_has_programs_is_no_chip)
{
    T_STR_EQ(items_of("b1a1p1p1c0p1c0", 0), "APPm01CPC");
    /* The program end of the mesh also ends the program of the chip. */
    T_EQ(rig.usage.peak_cb_bytes, 64);
}

T_TEST(without_dispatch_everything_is_the_meshs)
{
    T_STR_EQ(items_of("b1a1p1c1c1", 0), "APCC");
    T_EQ(rig.usage.core.bytes, 3 * 64);
}

T_TEST(a_chip_of_several_meshes_is_noted_and_stays_alone)
{
    unsigned noted = 1u << TTS_GRAPH_WHICH_MESH;
    T_STR_EQ(items_of("b4a4b5a5p0c0c0c1", noted), "AAPCCC");
    T_EQ(rig.notes[TTS_GRAPH_WHICH_MESH].count, 2);
    T_EQ(rig.notes[TTS_GRAPH_WHICH_MESH].node, 6);
    T_STR_EQ(items_of("b4a4c0b5a5c1", noted), "Am04CAC");
    T_EQ(rig.notes[TTS_GRAPH_WHICH_MESH].count, 1);
}

T_TEST(a_chip_may_have_buffers_of_its_own)
{
    T_STR_EQ(items_of("b4a4c0b0a0c1b1a1", 0), "Am04CAm14CA");
    T_STR_EQ(items_of("b4a4p0b0a0c0", 0), "Am04PAC");
    T_STR_EQ(items_of("b4a4p0b5a5c1b0a0", 1u << TTS_GRAPH_WHICH_MESH), "Am04PACA");
}

T_TEST(there_is_an_end_to_devices)
{
    int len = snprintf(text, sizeof text, "[{\"counter\":0,\"node_type\":\"capture_start\"}");
    for (int i = 1; i <= TTS_GRAPH_DEVICES + 2; i++)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        ",{\"counter\":%d,\"node_type\":\"circular_buffer_deallocate_all\","
                        "\"params\":{\"device_id\":%d}}",
                        i, 1000 + i);
    snprintf(text + len, sizeof text - (size_t)len, "]");
    struct tts_graph *graph = NULL;
    struct tts_item item;
    size_t count = 0;
    T_EQ(tts_graph_open(-1, (const unsigned char *)text, strlen(text), NULL, &graph, NULL),
         TTS_OK);
    while (tts_graph_next(graph, &item, NULL) == TTS_OK)
        count++;
    T_EQ(tts_graph_note(graph, TTS_GRAPH_BAD_NODE)->count, 2);
    T_EQ(count, TTS_GRAPH_DEVICES + 3);
    tts_graph_close(graph);
}
