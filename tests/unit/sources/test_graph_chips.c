#include "base/compiler.h"
#include "harness/graph_rig.h"

/* Compares random traces of 1 to 8 chips, in the form of the runtime, with a simple count of
 * the bytes on every core of every chip. */

enum { CHIPS = 8, MESHES = 2, SIDE = 4, BUFFERS = 64, STEPS = 40, TEXT = 256 * 1024 };

struct chip_count {
    uint64_t core[SIDE][SIDE]; /* bytes of circular buffers on each core */
    uint64_t cb_bytes, l1_bytes;
};

struct buffer {
    unsigned mesh, node;
    bool is_dram;
    uint64_t bytes;
};

struct scene {
    uint64_t rng;
    unsigned chips, meshes;
    unsigned number[MESHES]; /* the number that the runtime gives each mesh */
    unsigned mesh_of[CHIPS];
    bool has_tensors, is_undispatched;
    struct buffer live[BUFFERS];
    unsigned live_count;
    struct chip_count chip[CHIPS];
    uint64_t core_peak, cb_peak, dram_bytes, dram_peak;
    unsigned node;
    size_t len;
    char text[TEXT];
};

static struct scene scene;
static struct rig rig;

static unsigned draw(unsigned below)
{
    return (unsigned)(t_random(&scene.rng) % below);
}

/* ---- the simple count ---- */

static void count_peaks(void)
{
    for (unsigned c = 0; c < scene.chips; c++) {
        const struct chip_count *chip = &scene.chip[c];
        if (chip->cb_bytes > scene.cb_peak)
            scene.cb_peak = chip->cb_bytes;
        for (int x = 0; x < SIDE; x++)
            for (int y = 0; y < SIDE; y++)
                if (chip->core[x][y] + chip->l1_bytes > scene.core_peak)
                    scene.core_peak = chip->core[x][y] + chip->l1_bytes;
    }
    if (scene.dram_bytes > scene.dram_peak)
        scene.dram_peak = scene.dram_bytes;
}

static void end_chip(unsigned c)
{
    memset(scene.chip[c].core, 0, sizeof scene.chip[c].core);
    scene.chip[c].cb_bytes = 0;
}

static void add_cb(unsigned c, unsigned x1, unsigned y1, uint64_t bytes)
{
    for (unsigned x = 0; x <= x1; x++)
        for (unsigned y = 0; y <= y1; y++)
            scene.chip[c].core[x][y] += bytes;
    scene.chip[c].cb_bytes += bytes;
}

static void add_buffer(const struct buffer *buffer, bool is_freed)
{
    uint64_t bytes = is_freed ? (uint64_t)0 - buffer->bytes : buffer->bytes;
    if (buffer->is_dram)
        scene.dram_bytes += bytes;
    for (unsigned c = 0; c < scene.chips && !buffer->is_dram; c++)
        if (scene.mesh_of[c] == buffer->mesh)
            scene.chip[c].l1_bytes += bytes;
}

/* ---- the trace ---- */

static void put_node(const char *type, unsigned link, const char *params, ...) TTS_PRINTF(3, 4);

static void put_node(const char *type, unsigned link, const char *params, ...)
{
    size_t room = sizeof scene.text - scene.len;
    va_list args;
    int len = snprintf(scene.text + scene.len, room,
                       "%s{\"counter\":%u,\"node_type\":\"%s\",\"connections\":[%u],"
                       "\"params\":{",
                       scene.node > 0 ? ",\n" : "[", scene.node, type, link);
    va_start(args, params);
    len += vsnprintf(scene.text + scene.len + len, room - (size_t)len, params, args);
    va_end(args);
    len += snprintf(scene.text + scene.len + len, room - (size_t)len, "}}");
    scene.len += (size_t)len;
    scene.node++;
    T_TRUE(scene.len < sizeof scene.text - 4096);
}

static void put_tensor(unsigned mesh)
{
    char list[2048];
    int len = 0;
    for (unsigned c = 0; c < scene.chips; c++)
        if (scene.mesh_of[c] == mesh)
            len += snprintf(list + len, sizeof list - (size_t)len,
                            "%s{\\\"address\\\":64,\\\"device_id\\\":%u,"
                            "\\\"mesh_device_id\\\":%u}",
                            len > 0 ? "," : "", c, scene.number[mesh]);
    put_node("tensor", 0, "\"tensor_id\":%u,\"device_id\":%u,\"device_tensors\":\"[%s]\"",
             scene.node, scene.number[mesh], list);
}

static void put_alloc(unsigned mesh)
{
    if (scene.live_count == BUFFERS)
        return;
    struct buffer buffer = {.mesh = mesh,
                            .node = scene.node,
                            .is_dram = draw(3) == 0,
                            .bytes = 64 * (1 + draw(50))};
    const char *type = buffer.is_dram ? "DRAM" : "L1";
    unsigned address = scene.is_undispatched ? 0 : 1024 + 64 * draw(1000);
    put_node("buffer", 0, "\"size\":%u,\"type\":\"%s\",\"buffer_type\":%d,\"device_id\":%u",
             (unsigned)buffer.bytes, type, !buffer.is_dram, scene.number[buffer.mesh]);
    put_node("buffer_allocate", buffer.node,
             "\"size\":%u,\"address\":%u,\"type\":\"%s\",\"buffer_type\":%d,\"page_size\":64,"
             "\"num_cores\":0,\"device_id\":%u,\"max_size_per_bank\":%u",
             (unsigned)buffer.bytes, address, type, !buffer.is_dram, scene.number[buffer.mesh],
             (unsigned)buffer.bytes);
    if (scene.has_tensors)
        put_tensor(buffer.mesh);
    add_buffer(&buffer, false);
    scene.live[scene.live_count++] = buffer;
    count_peaks();
}

static void put_free(void)
{
    if (scene.live_count == 0)
        return;
    unsigned i = draw(scene.live_count);
    struct buffer buffer = scene.live[i];
    scene.live[i] = scene.live[--scene.live_count];
    put_node("buffer_deallocate", buffer.node,
             "\"size\":%u,\"type\":\"%s\",\"device_id\":%u,\"max_size_per_bank\":%u",
             (unsigned)buffer.bytes, buffer.is_dram ? "DRAM" : "L1", scene.number[buffer.mesh],
             (unsigned)buffer.bytes);
    add_buffer(&buffer, true);
}

static void put_cb(unsigned number, unsigned x1, unsigned y1, uint64_t bytes)
{
    put_node("circular_buffer_allocate", 0,
             "\"size\":%u,\"address\":%u,\"globally_allocated\":\"0\",\"device_id\":%u,"
             "\"core_range_set\":\"{[(x=0,y=0) - (x=%u,y=%u)]}\"",
             (unsigned)bytes, scene.is_undispatched ? 0 : 103712, number, x1, y1);
}

/* Writes a program of a mesh: first the end of the parts on all its chips, then new parts on
 * some of them. */
static void put_program(void)
{
    unsigned mesh = draw(scene.meshes), only = draw(4) == 0 ? draw(scene.chips) : CHIPS;
    put_node("circular_buffer_deallocate_all", 0, "\"device_id\":%u", scene.number[mesh]);
    for (unsigned c = 0; c < scene.chips; c++)
        if (scene.mesh_of[c] == mesh)
            end_chip(c);
    for (unsigned cb = draw(4); cb > 0; cb--) {
        unsigned x1 = draw(SIDE), y1 = draw(SIDE);
        uint64_t bytes = 32 * (1 + draw(100));
        if (scene.is_undispatched)
            put_cb(scene.number[mesh], x1, y1, bytes);
        for (unsigned c = 0; c < scene.chips; c++) {
            bool is_on = scene.is_undispatched || only == CHIPS || only == c;
            if (scene.mesh_of[c] != mesh || !is_on)
                continue;
            if (!scene.is_undispatched)
                put_cb(c, x1, y1, bytes);
            add_cb(c, x1, y1, bytes);
        }
        count_peaks();
    }
}

/* Writes the nodes by which the runtime forgets a program. There is one node for each chip. */
static void put_forgotten(void)
{
    for (unsigned c = 0; c < scene.chips; c++) {
        bool is_shared = false;
        for (unsigned m = 0; m < scene.meshes; m++)
            is_shared |= scene.number[m] == c;
        if (is_shared || scene.is_undispatched)
            continue;
        put_node("circular_buffer_deallocate_all", 0, "\"device_id\":%u", c);
        end_chip(c);
    }
}

static void draw_scene(uint64_t seed)
{
    memset(&scene, 0, offsetof(struct scene, text));
    scene.rng = seed * 7919 + 1;
    scene.chips = 1 + draw(CHIPS);
    scene.has_tensors = draw(2) == 0;
    scene.meshes = scene.has_tensors && scene.chips > 1 && draw(3) == 0 ? 2 : 1;
    scene.is_undispatched = draw(8) == 0;
    bool collides = draw(3) > 0;
    scene.number[0] = collides ? draw(scene.chips) : scene.chips + draw(3);
    scene.number[1] = collides ? (scene.number[0] + 1) % scene.chips : scene.number[0] + 1;
    for (unsigned c = 0; c < scene.chips; c++)
        scene.mesh_of[c] = scene.meshes == 2 ? c * 2 / scene.chips : 0;
    put_node("capture_start", 0, "\"x\":0");
    for (unsigned programs = draw(3); programs > 0; programs--)
        put_program();
    for (unsigned mesh = 0; mesh < scene.meshes; mesh++)
        put_alloc(mesh); /* the reader cannot know a mesh that has no buffers */
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned kind = draw(16);
        if (kind < 6)
            put_alloc(draw(scene.meshes));
        else if (kind < 10)
            put_free();
        else if (kind < 15)
            put_program();
        else
            put_forgotten();
    }
    put_node("capture_end", 0, "\"x\":0");
    scene.text[scene.len++] = ']';
    scene.text[scene.len] = '\0';
}

/* ---- tests ---- */

static bool is_same(void)
{
    return rig.usage.core.bytes == scene.core_peak && !rig.usage.core.at_least &&
           (uint64_t)rig.usage.peak_cb_bytes == scene.cb_peak &&
           (uint64_t)rig.usage.pools[TTS_POOL_DRAM].peak_bytes == scene.dram_peak &&
           rig.live == scene.live_count;
}

T_TEST(random_traces_of_chips_are_counted_as_by_hand)
{
    for (uint64_t seed = 1; seed <= 400; seed++) {
        draw_scene(seed);
        rig_read_well(&rig, scene.text, 0);
        if (!is_same())
            fail_msg("seed %" PRIu64 ", %u chips, %u meshes (%u, %u), tensors %d, undispatched "
                     "%d: core %" PRIu64 " not %" PRIu64 ", CB %" PRId64 " not %" PRIu64
                     ", DRAM %" PRId64 " not %" PRIu64 ", live %" PRIu64 " not %u",
                     seed, scene.chips, scene.meshes, scene.number[0], scene.number[1],
                     scene.has_tensors, scene.is_undispatched, rig.usage.core.bytes,
                     scene.core_peak, rig.usage.peak_cb_bytes, scene.cb_peak,
                     rig.usage.pools[TTS_POOL_DRAM].peak_bytes, scene.dram_peak, rig.live,
                     scene.live_count);
    }
}
