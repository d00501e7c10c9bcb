/* Plays several connections of the allocation server from the input: frames of every kind, with
 * fields from the input, whole or in pieces, glued or with garbage between them, and the ends
 * of connections and processes. The frames that the connections find go to the registry.
 *
 * After each step, the sums of each device are those of a slow model that gets the same frames,
 * and the registry is consistent. At the end, when all processes have ended, nothing is left.
 */
#include "serve/serverclient.h"
#include "serve/serverregistry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum {
    INPUT_MAX = 1024,
    CLIENTS = 4,
    PROCESSES = 8, /* of a client; more claims are of the last one */
    BUFFERS_MAX = 64,
    DEVICES = 4, /* of made frames; garbage may name others */
    NOW = 1000,
};

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* --- the slow model --------------------------------------------------------------------- */

struct model_buffer {
    uint32_t process; /* place in the registry */
    uint32_t device, pool;
    uint64_t id, bytes, references;
};

struct model {
    struct model_buffer buffers[BUFFERS_MAX];
    size_t count;
    struct {
        uint32_t process, device;
        uint64_t cb, kernel;
    } code[CLIENTS * PROCESSES * 32];
    size_t code_count;
    uint64_t unknown_frees;
    bool is_full; /* the registry lost events: the model has no such maximum */
};

static struct model model;

static size_t find_model_buffer(uint32_t process, const struct tts_frame *frame)
{
    size_t i = 0;
    while (i < model.count && (model.buffers[i].process != process ||
                               model.buffers[i].device != (uint32_t)frame->device ||
                               model.buffers[i].id != frame->id))
        i++;
    return i;
}

static void model_alloc(uint32_t process, const struct tts_frame *frame)
{
    static const uint32_t pools[] = {0, 1, 2, 2, 3};
    size_t i = find_model_buffer(process, frame);
    if (i < model.count) {
        model.buffers[i].references++;
    } else if (model.count == BUFFERS_MAX) {
        model.is_full = true;
    } else {
        model.buffers[model.count++] =
            (struct model_buffer){process,   (uint32_t)frame->device, pools[frame->buffer_type],
                                  frame->id, frame->size_bytes,       1};
    }
}

static void model_free(uint32_t process, const struct tts_frame *frame)
{
    size_t i = find_model_buffer(process, frame);
    if (i == model.count)
        model.unknown_frees++;
    else if (--model.buffers[i].references == 0)
        model.buffers[i] = model.buffers[--model.count];
}

static void model_code(uint32_t process, const struct tts_frame *frame)
{
    bool is_cb = frame->type <= TTS_FRAMETYPE_CB_FREE, is_adding = frame->type % 2 == 0;
    size_t i = 0;
    while (i < model.code_count && (model.code[i].process != process ||
                                    model.code[i].device != (uint32_t)frame->device))
        i++;
    if (i == sizeof model.code / sizeof *model.code) {
        model.is_full = true;
        return;
    }
    if (i == model.code_count) {
        memset(&model.code[i], 0, sizeof model.code[i]);
        model.code[i].process = process;
        model.code[i].device = (uint32_t)frame->device;
        model.code_count++;
    }
    uint64_t *sum = is_cb ? &model.code[i].cb : &model.code[i].kernel;
    if (is_adding)
        *sum += frame->size_bytes;
    else
        *sum -= frame->size_bytes < *sum ? frame->size_bytes : *sum;
}

static void model_end(uint32_t process)
{
    for (size_t i = model.count; i-- > 0;)
        if (model.buffers[i].process == process)
            model.buffers[i] = model.buffers[--model.count];
    for (size_t i = model.code_count; i-- > 0;)
        if (model.code[i].process == process)
            model.code[i] = model.code[--model.code_count];
}

static void compare_device(const struct tts_serverregistry *registry, uint32_t device)
{
    const struct tts_serverdevice *sums = tts_serverregistry_device(registry, device);
    uint64_t bytes[TTS_POOLS] = {0}, buffers[TTS_POOLS] = {0}, cb = 0, kernel = 0;
    for (size_t i = 0; i < model.count; i++)
        if (model.buffers[i].device == device) {
            bytes[model.buffers[i].pool] += model.buffers[i].bytes;
            buffers[model.buffers[i].pool]++;
        }
    for (size_t i = 0; i < model.code_count; i++)
        if (model.code[i].device == device) {
            cb += model.code[i].cb;
            kernel += model.code[i].kernel;
        }
    check(memcmp(bytes, sums->bytes, sizeof bytes) == 0, "the bytes differ from the model");
    check(memcmp(buffers, sums->buffers, sizeof buffers) == 0, "the buffers differ");
    check(cb == sums->cb_bytes && kernel == sums->kernel_bytes, "circular buffers differ");
}

/* --- connections ------------------------------------------------------------------------ */

struct fuzz_client {
    struct tts_serverclient client;
    int32_t claims[PROCESSES];
    uint32_t places[PROCESSES];
    size_t count;
};

struct scene {
    struct tts_serverregistry *registry;
    struct fuzz_client clients[CLIENTS];
    struct fuzz_client *current;
    uint64_t frames;
};

static struct tts_serverroom room;

static uint32_t process_of(struct scene *scene, int32_t pid)
{
    struct fuzz_client *client = scene->current;
    const struct tts_serverprocess facts = {.pid_inside = (uint32_t)pid};
    size_t i = 0;
    while (i < client->count && client->claims[i] != pid)
        i++;
    if (i == PROCESSES)
        return client->places[PROCESSES - 1];
    if (i == client->count) {
        client->claims[i] = pid;
        check(tts_serverregistry_begin(scene->registry, &facts, NOW, &client->places[i]) ==
                  TTS_OK,
              "a process cannot begin");
        client->count++;
    }
    return client->places[i];
}

static void take_scene_frame(void *ctx, const struct tts_frame *frame)
{
    struct scene *scene = ctx;
    scene->frames++;
    if (frame->kind == TTS_FRAMEKIND_STATS || frame->type == TTS_FRAMETYPE_QUERY ||
        frame->type == TTS_FRAMETYPE_DUMP || frame->type == TTS_FRAMETYPE_INFO_QUERY ||
        frame->type == TTS_FRAMETYPE_DUMP_KERNELS)
        return;
    check(frame->device >= 0 && frame->device < TTS_FRAME_DEVICES_MAX, "a wrong device");
    uint32_t process = process_of(scene, frame->pid);
    tts_serverregistry_take(scene->registry, process, frame, NOW);
    if (frame->type == TTS_FRAMETYPE_ALLOC)
        model_alloc(process, frame);
    else if (frame->type == TTS_FRAMETYPE_FREE)
        model_free(process, frame);
    else
        model_code(process, frame);
    compare_device(scene->registry, (uint32_t)frame->device);
}

static void send_bytes(struct scene *scene, struct fuzz_client *client, const uint8_t *bytes,
                       size_t len, bool is_drained)
{
    const struct tts_serverframes frames = {take_scene_frame, scene};
    scene->current = client;
    memcpy(room.bytes + client->client.rest_bytes, bytes, len);
    tts_serverclient_take(&client->client, &room, len, is_drained, &frames);
}

static void end_client(struct scene *scene, struct fuzz_client *client)
{
    for (size_t i = 0; i < client->count; i++) {
        tts_serverregistry_end(scene->registry, client->places[i], NOW);
        model_end(client->places[i]);
    }
    tts_serverclient_release(&client->client);
    memset(client, 0, sizeof *client);
    tts_serverclient_init(&client->client, -1, NULL);
}

/* --- the input -------------------------------------------------------------------------- */

struct input {
    const uint8_t *at, *end;
};

static uint8_t next_byte(struct input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/* Makes a frame whose fields collide often. */
static size_t make_frame(struct input *input, uint8_t bytes[TTS_FRAME_BYTES_MAX])
{
    uint8_t form = next_byte(input), place = next_byte(input);
    struct tts_frame frame = {.kind = TTS_FRAMEKIND_P1 + form % 4,
                              .type = (uint8_t)(1 + (form >> 2) % 12),
                              .device = place % DEVICES,
                              .pid = 1 + (place >> 2) % 3,
                              .id = place >> 4};
    bool is_free = frame.type == TTS_FRAMETYPE_FREE;
    if (!is_free)
        frame.size_bytes = 1 + next_byte(input);
    if (frame.type == TTS_FRAMETYPE_ALLOC)
        frame.buffer_type = (uint8_t)(frame.size_bytes % 5);
    return tts_frame_encode(&frame, bytes);
}

static void run_step(struct scene *scene, struct input *input)
{
    uint8_t bytes[TTS_FRAME_BYTES_MAX], what = next_byte(input);
    struct fuzz_client *client = &scene->clients[what % CLIENTS];
    bool is_drained = what & 4;
    size_t len = 0;
    switch (what >> 3 & 7) {
    case 0:
        end_client(scene, client);
        break;
    case 1: /* garbage */
        len = next_byte(input) % 64;
        for (size_t i = 0; i < len; i++)
            bytes[i] = next_byte(input);
        send_bytes(scene, client, bytes, len, is_drained);
        break;
    case 2: { /* a frame in two pieces */
        len = make_frame(input, bytes);
        size_t first = next_byte(input) % (len + 1);
        send_bytes(scene, client, bytes, first, is_drained);
        send_bytes(scene, client, bytes + first, len - first, is_drained);
        break;
    }
    case 3:
        (void)tts_serverregistry_sweep(scene->registry, what >> 6);
        break;
    default:
        len = make_frame(input, bytes);
        send_bytes(scene, client, bytes, len, is_drained);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct scene scene;
    const struct tts_serverregistry_config config = {.buffers_max = 4096};
    struct input input = {bytes, bytes + (len < INPUT_MAX ? len : INPUT_MAX)};
    memset(&model, 0, sizeof model);
    memset(&scene, 0, sizeof scene);
    check(tts_serverregistry_new(&config, NULL, &scene.registry, NULL) == TTS_OK, "no memory");
    for (int i = 0; i < CLIENTS; i++)
        tts_serverclient_init(&scene.clients[i].client, -1, NULL);
    while (input.at < input.end && !model.is_full)
        run_step(&scene, &input);
    check(tts_serverregistry_is_valid(scene.registry), "the registry is not valid");
    if (!model.is_full)
        check(tts_serverregistry_counts(scene.registry)->unknown_frees == model.unknown_frees,
              "the unknown frees differ");
    for (int i = 0; i < CLIENTS; i++)
        end_client(&scene, &scene.clients[i]);
    while (tts_serverregistry_sweep(scene.registry, 3))
        continue;
    for (uint32_t i = 0; i < TTS_FRAME_DEVICES_MAX; i++)
        compare_device(scene.registry, i);
    check(tts_serverregistry_counts(scene.registry)->live_buffers == 0, "buffers are left");
    tts_serverregistry_free(scene.registry);
    return 0;
}
