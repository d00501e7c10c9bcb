#include "graph_gen.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARAMETERS = 20000, /* number of weights, gradients and optimizer states */
    TEXT_BYTES = 16 * 1024,
    CHIP = 0,
    MESH = 1,
};

struct buffer {
    uint64_t node, size;
};

struct gen {
    FILE *out;       /* NULL: only the bytes are counted */
    FILE *top_level; /* receives the counters of top-level functions; may be NULL */
    int indent;
    uint64_t bytes, limit, counter, seed;
    unsigned depth;
    bool is_first_top;
    size_t live;
    struct buffer buffers[GRAPH_GEN_LIVE + 8];
    uint64_t programs;
    int64_t dram;
    struct graph_gen_result *result;
    char text[TEXT_BYTES];
};

static uint64_t draw(struct gen *gen, uint64_t below)
{
    gen->seed ^= gen->seed >> 12;
    gen->seed ^= gen->seed << 25;
    gen->seed ^= gen->seed >> 27;
    return (gen->seed * UINT64_C(2685821657736338717) >> 33) % below;
}

static void write_text(struct gen *gen, const char *text, size_t len)
{
    gen->bytes += len;
    if (gen->out)
        fwrite(text, 1, len, gen->out);
}

/* Writes the text as it is, or laid out with blanks after ':' and line breaks after ',' and
 * brackets. */
static void write_laid_out(struct gen *gen, const char *text, size_t len)
{
    static const char blanks[] = "                                        ";
    unsigned level = 1;
    bool in_string = false;
    write_text(gen, "\n  ", 3);
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        bool is_empty = (c == '[' && text[i + 1] == ']') || (c == '{' && text[i + 1] == '}');
        if (in_string || is_empty) {
            in_string = in_string && c != '"';
            if (c == '\\')
                write_text(gen, &text[i++], 1);
            write_text(gen, &text[i], 1);
            if (is_empty)
                write_text(gen, &text[++i], 1);
            continue;
        }
        in_string = c == '"';
        level += c == '{' || c == '[';
        level -= c == '}' || c == ']';
        if (c == '}' || c == ']') {
            write_text(gen, "\n", 1);
            write_text(gen, blanks, 2 * level);
        }
        write_text(gen, &c, 1);
        if (c == ':')
            write_text(gen, " ", 1);
        if (c == ',' || c == '{' || c == '[') {
            write_text(gen, "\n", 1);
            write_text(gen, blanks, 2 * level);
        }
    }
}

/* Writes a node with the given parts from "arguments" to "connections" and from "node_type" to
 * "params". The keys are in alphabetical order. */
__attribute__((format(printf, 4, 5))) static uint64_t
node(struct gen *gen, const char *type, const char *lists, const char *params, ...)
{
    va_list args;
    uint64_t counter = gen->counter++;
    int len = snprintf(gen->text, TEXT_BYTES,
                       "{%s,\"counter\":%" PRIu64 ",\"input_tensors\":[],\"node_type\":\"%s\","
                       "\"params\":",
                       lists, counter, type);
    va_start(args, params);
    len += vsnprintf(gen->text + len, TEXT_BYTES - (size_t)len, params, args);
    va_end(args);
    len += snprintf(gen->text + len, TEXT_BYTES - (size_t)len, ",\"stacking_level\":%u}",
                    gen->depth);
    if (counter > 0)
        write_text(gen, ",", 1);
    if (gen->indent)
        write_laid_out(gen, gen->text, (size_t)len);
    else
        write_text(gen, gen->text, (size_t)len);
    gen->result->nodes++;
    return counter;
}

#define NO_LISTS "\"arguments\":[],\"connections\":[]"

/* ---- the program ---- */

#define TENSOR_ARGUMENT                                                                        \
    "\"Tensor(storage=DeviceStorage(),tensor_spec=TensorSpec(logical_shape=Shape([1, 1, "      \
    "2048, 2048]),tensor_layout=TensorLayout(dtype=DataType::BFLOAT16,page_config=PageConfig(" \
    "config=TilePageConfig(tile=Tile(tile_shape={32, 32},face_shape={16, 16},num_faces=4))),"  \
    "memory_config=MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type="    \
    "BufferType::DRAM,shard_spec=std::nullopt),alignment=Alignment([32, 32]))))\""

static const char *const operations[] = {
    "MatmulDeviceOperation",        "BinaryNgDeviceOperation", "LayerNormDeviceOperation",
    "UnaryDeviceOperation",         "SDPAForwardOperation",    "NLPConcatHeadsDeviceOperation",
    "RotaryEmbeddingLlamaOperation"};

static void begin(struct gen *gen, const char *name, unsigned tensors)
{
    static char lists[4096];
    if (gen->depth == 0 && gen->top_level) {
        char text[24];
        int len = snprintf(text, sizeof text, gen->is_first_top ? "%" PRIu64 : ",%" PRIu64,
                           gen->counter);
        gen->is_first_top = false;
        fwrite(text, 1, (size_t)len, gen->top_level);
    }
    int len = snprintf(lists, sizeof lists, "\"arguments\":[");
    for (unsigned i = 0; i < tensors; i++)
        len += snprintf(lists + len, sizeof lists - (size_t)len, "%s,", TENSOR_ARGUMENT);
    uint64_t at = gen->counter;
    snprintf(lists + len, sizeof lists - (size_t)len,
             "\"std::nullopt\",\"BFLOAT16\"],\"connections\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64
             ",%" PRIu64 "]",
             at + 1, at + 2, at + 5, at + 6);
    gen->depth++;
    node(gen, "function_start", lists, "{\"inputs\":\"%u\",\"name\":\"%s\"}", tensors + 2,
         name);
}

static void end(struct gen *gen, const char *name)
{
    node(gen, "function_end", NO_LISTS, "{\"name\":\"%s\"}", name);
    gen->depth--;
}

static void tensor(struct gen *gen, const struct buffer *buffer)
{
    uint64_t address = buffer->node * 2048;
    node(gen, "tensor", NO_LISTS,
         "{\"address\":%" PRIu64 ",\"buffer_type\":0,\"device_id\":%d,\"device_tensors\":\"[{"
         "\\\"address\\\":%" PRIu64 ",\\\"device_id\\\":%d,\\\"mesh_device_id\\\":%d}]\","
         "\"dtype\":\"DataType::BFLOAT16\",\"layout\":\"Layout::TILE\",\"memory_config\":"
         "\"MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::"
         "DRAM,shard_spec=std::nullopt,nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0)"
         "\",\"shape\":\"Shape([1, 1, 2048, 2048])\",\"size\":%" PRIu64
         ",\"tensor_id\":%" PRIu64 "}",
         address, MESH, address, CHIP, MESH, buffer->size, gen->counter);
}

static void buffer_node(struct gen *gen, const char *type, const struct buffer *buffer)
{
    char lists[64];
    snprintf(lists, sizeof lists, "\"arguments\":[],\"connections\":[%" PRIu64 "]",
             buffer->node);
    node(gen, type, lists,
         "{\"address\":%" PRIu64 ",\"buffer_type\":0,\"device_id\":%d,\"layout\":\"INTERLEAVED"
         "\",\"max_size_per_bank\":%" PRIu64
         ",\"num_cores\":0,\"page_size\":2048,\"size\":%" PRIu64 ",\"type\":\"DRAM\"}",
         buffer->node * 2048, MESH, buffer->size / 8, buffer->size);
}

static void allocate(struct gen *gen)
{
    struct buffer *buffer = &gen->buffers[gen->live++];
    *buffer = (struct buffer){.size = 2048 * (1 + draw(gen, 4096))};
    buffer->node = node(gen, "buffer", NO_LISTS,
                        "{\"buffer_type\":0,\"device_id\":%d,\"layout\":\"INTERLEAVED\","
                        "\"size\":%" PRIu64 ",\"type\":\"DRAM\"}",
                        MESH, buffer->size);
    buffer_node(gen, "buffer_allocate", buffer);
    gen->dram += (int64_t)buffer->size;
    gen->result->dram_allocated += (int64_t)buffer->size;
    if (gen->result->dram_peak < gen->dram)
        gen->result->dram_peak = gen->dram;
    if (gen->result->live_max < gen->live)
        gen->result->live_max = gen->live;
}

static void deallocate(struct gen *gen, size_t idx)
{
    struct buffer buffer = gen->buffers[idx];
    gen->buffers[idx] = gen->buffers[--gen->live];
    begin(gen, "Tensor::deallocate", 1);
    buffer_node(gen, "buffer_deallocate", &buffer);
    end(gen, "Tensor::deallocate");
    gen->dram -= (int64_t)buffer.size;
    gen->result->dram_freed += (int64_t)buffer.size;
}

static void program(struct gen *gen)
{
    node(gen, "circular_buffer_deallocate_all", NO_LISTS, "{\"device_id\":%d}", MESH);
    /* Compiles every 16th program; the other programs are in the cache. */
    if (gen->programs++ % 16 != 0)
        return;
    for (unsigned i = 0; i < 6; i++)
        node(
            gen, "circular_buffer_allocate", NO_LISTS,
            "{\"address\":%u,\"core_range_set\":\"{[(x=0,y=0) - (x=7,y=7)]}\",\"device_id\":%d,"
            "\"globally_allocated\":\"0\",\"size\":%u}",
            103712 + 4096 * i, CHIP, 4096 * (1 + i % 3));
}

static void operation(struct gen *gen)
{
    const char *name = operations[draw(gen, sizeof operations / sizeof operations[0])];
    begin(gen, name, 2);
    tensor(gen, &gen->buffers[draw(gen, PARAMETERS)]);
    tensor(gen, &gen->buffers[draw(gen, gen->live)]);
    begin(gen, "tt::tt_metal::create_device_tensor", 0);
    allocate(gen);
    end(gen, "tt::tt_metal::create_device_tensor");
    tensor(gen, &gen->buffers[gen->live - 1]);
    program(gen);
    end(gen, name);
    tensor(gen, &gen->buffers[gen->live - 1]);
}

/* Runs one step. In the forward pass all buffers stay. In the backward pass two buffers are
 * freed for each new one. */
static void run(struct gen *gen)
{
    while (gen->live < PARAMETERS)
        allocate(gen);
    while (gen->bytes < gen->limit) {
        while (gen->live < GRAPH_GEN_LIVE && gen->bytes < gen->limit)
            operation(gen);
        while (gen->live > PARAMETERS + 2 && gen->bytes < gen->limit) {
            operation(gen);
            deallocate(gen, gen->live - 1);
            deallocate(gen, gen->live - 1);
        }
    }
    node(gen, "capture_end", NO_LISTS, "null");
}

/* Starts the program again, after the first node of the trace. */
static void restart(struct gen *gen, FILE *out, FILE *top_level)
{
    struct graph_gen_result *result = gen->result;
    *gen = (struct gen){.out = out,
                        .top_level = top_level,
                        .indent = gen->indent,
                        .limit = gen->limit,
                        .counter = 1,
                        .seed = 88172645463325252u,
                        .is_first_top = true,
                        .result = result};
    *result = (struct graph_gen_result){.nodes = 1};
}

int graph_gen(FILE *out, uint64_t bytes, int indent, struct graph_gen_result *result)
{
    static const char head[] = "[{\"arguments\":[],\"connections\":[";
    static const char rest[] =
        "],\"counter\":0,\"input_tensors\":[],\"node_type\":\"capture_start\",\"params\":null,"
        "\"stacking_level\":0}";
    struct gen *gen = calloc(1, sizeof *gen);
    if (!gen)
        return -1;
    gen->indent = indent;
    gen->limit = bytes;
    gen->result = result;
    /* The first node contains the counters of all top-level functions, so the whole trace is
     * generated twice: once to find the counters, once to write it. */
    fwrite(head, 1, sizeof head - 1, out);
    restart(gen, NULL, out);
    run(gen);
    fwrite(rest, 1, sizeof rest - 1, out);
    restart(gen, out, NULL);
    run(gen);
    fputs("]\n", out);
    free(gen);
    long at = fflush(out) == 0 ? ftell(out) : -1;
    result->bytes = at > 0 ? (uint64_t)at : 0;
    return at > 0 && !ferror(out) ? 0 : -1;
}
