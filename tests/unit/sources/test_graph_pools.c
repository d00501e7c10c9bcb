/* The runtime counts TRACE as DRAM, and L1_SMALL as L1. So the sums of two pools in the fold
 * must be equal to the figures that the runtime computes from the same nodes. Uses random
 * traces of one device. */
#include "harness/graph_rig.h"

#include <stdarg.h>

enum { BUFFERS = 40, STEPS = 300, TEXT_BYTES = 1 << 18 };

struct writer {
    char *text;
    size_t len;
    uint64_t nodes, rng;
};

__attribute__((format(printf, 4, 5))) static void
put_node(struct writer *w, const char *type, uint64_t connection, const char *format, ...)
{
    va_list args;
    w->len += (size_t)snprintf(w->text + w->len, TEXT_BYTES - w->len,
                               ",\n{\"counter\":%" PRIu64 ",\"node_type\":\"%s\","
                               "\"connections\":[%" PRIu64 "],\"params\":",
                               w->nodes++, type, connection);
    va_start(args, format);
    w->len += (size_t)vsnprintf(w->text + w->len, TEXT_BYTES - w->len, format, args);
    va_end(args);
    w->len += (size_t)snprintf(w->text + w->len, TEXT_BYTES - w->len, "}");
    T_TRUE(w->len < TEXT_BYTES);
}

struct drawn {
    uint64_t node, size;
    /* The runtime's number of the buffer type: DRAM, L1, (unused), L1_SMALL, TRACE. */
    unsigned type;
};

static void put_buffer(struct writer *w, const char *node_type, const struct drawn *buffer)
{
    put_node(w, node_type, buffer->node,
             "{\"size\":%" PRIu64 ",\"address\":64,\"type\":\"%s\",\"buffer_type\":%u,"
             "\"layout\":\"INTERLEAVED\",\"page_size\":32,\"num_cores\":0,\"device_id\":0,"
             "\"max_size_per_bank\":%" PRIu64 "}",
             buffer->size, buffer->type % 4 == 0 ? "DRAM" : "L1", buffer->type,
             buffer->size / 8);
}

/* Draws random buffers of all four pools, and programs with circular buffers. */
static void draw_trace(struct writer *w, uint64_t seed)
{
    static const unsigned types[] = {0, 0, 0, 1, 1, 3, 4};
    struct drawn live[BUFFERS];
    size_t count = 0;
    *w = (struct writer){.text = calloc(1, TEXT_BYTES), .rng = seed, .nodes = 1};
    w->len = (size_t)snprintf(w->text, TEXT_BYTES,
                              "[{\"counter\":0,\"node_type\":\"capture_start\","
                              "\"connections\":[],\"params\":null}");
    for (int i = 0; i < STEPS; i++) {
        uint64_t draw = t_random(&w->rng);
        if (draw % 16 == 0) {
            put_node(w, "circular_buffer_deallocate_all", 0, "{\"device_id\":0}");
        } else if (draw % 16 == 1) {
            put_node(w, "circular_buffer_allocate", 0,
                     "{\"size\":%" PRIu64 ",\"address\":64,\"core_range_set\":"
                     "\"{[(x=0,y=0) - (x=7,y=7)]}\",\"globally_allocated\":\"0\","
                     "\"device_id\":0}",
                     32 + draw / 16 % 4096);
        } else if (count < BUFFERS && (count == 0 || draw % 16 < 10)) {
            struct drawn *new = &live[count++];
            *new = (struct drawn){w->nodes, 64 * (1 + draw / 16 % 1000),
                                  types[t_random(&w->rng) % 7]};
            put_node(w, "buffer", 0,
                     "{\"size\":%" PRIu64 ",\"type\":\"%s\",\"buffer_type\":%u,"
                     "\"layout\":\"INTERLEAVED\",\"device_id\":0}",
                     new->size, new->type % 4 == 0 ? "DRAM" : "L1", new->type);
            put_buffer(w, "buffer_allocate", new);
        } else {
            size_t gone = draw / 16 % count;
            put_buffer(w, "buffer_deallocate", &live[gone]);
            live[gone] = live[--count];
        }
    }
    put_node(w, "capture_end", 0, "null");
    w->len += (size_t)snprintf(w->text + w->len, TEXT_BYTES - w->len, "]\n");
}

T_TEST(the_sums_of_two_pools_are_the_figures_of_the_runtime)
{
    static struct rig rig;
    uint64_t traces = 0, small = 0, apart = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct writer writer;
        draw_trace(&writer, seed);
        rig_read_well(&rig, writer.text, 0);
        free(writer.text);
        const struct tts_usage *ours = &rig.usage;
        T_TRUE(rig.has_phase);
        T_EQ(ours->dram_with_trace.peak_bytes, rig.figures.dram_peak_bytes);
        T_EQ(ours->dram_with_trace.allocated_bytes, rig.figures.dram_allocated_bytes);
        T_EQ(ours->dram_with_trace.freed_bytes, rig.figures.dram_freed_bytes);
        T_EQ(ours->l1_with_small.peak_bytes, rig.figures.peak_l1_bytes);
        T_EQ(ours->peak_total_bytes, rig.figures.peak_total_bytes);
        T_EQ(ours->peak_cb_bytes, rig.figures.peak_cb_bytes);
        traces += ours->pools[TTS_POOL_TRACE].frees;
        small += ours->pools[TTS_POOL_L1_SMALL].frees;
        apart += ours->dram_with_trace.peak_bytes <
                 ours->pools[TTS_POOL_DRAM].peak_bytes + ours->pools[TTS_POOL_TRACE].peak_bytes;
    }
    T_TRUE(traces > 100 && small > 100 &&
           apart > 30); /* often enough the peak of the sum differs from the sum of the peaks */
}
