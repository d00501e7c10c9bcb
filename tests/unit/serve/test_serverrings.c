/* Tests the events of programs that publish, as the server hands them over. */
#include "harness/client_rig.h"
#include "serve/serverrings.h"

enum { TAKEN_MAX = 16 };

struct taken_events {
    struct tts_serverevent list[TAKEN_MAX];
    size_t count;
    uint32_t phases; /* bit 1 << phase: told */
};

static void take_ring_event(void *ctx, const struct tts_serverevent *event)
{
    struct taken_events *taken = ctx;
    if (event->kind == TTS_SERVEREVENT_PHASE) {
        taken->phases |= 1u << event->phase;
        return;
    }
    T_TRUE(taken->count < TAKEN_MAX);
    taken->list[taken->count++] = *event;
}

static bool is_no_sender(void *ctx, uint32_t pid)
{
    (void)ctx;
    (void)pid;
    return false;
}

/* A program with the events that the test puts into its ring. */
struct rings_rig {
    struct tts_clientwriter writer;
    struct tts_serverrings *rings;
    struct tts_hostview view;
    struct taken_events taken;
};

static void open_rings(struct rings_rig *rig)
{
    struct tts_error err = {0};
    memset(rig, 0, sizeof *rig);
    host_new("serverrings");
    const char *directory = client_directory();
    struct tts_serversink sink = {take_ring_event, &rig->taken};
    if (tts_serverrings_open(directory, &sink, NULL, &rig->rings, &err) != TTS_OK)
        fail_msg("%s", err.text);
    client_make(&rig->writer, CLIENT_PID);
    tts_hostview_init(&rig->view, NULL);
    struct tts_seenclient *client = tts_hostview_add_client(&rig->view);
    *client = (struct tts_seenclient){
        .state = TTS_SEENREGION_READ, .pid_inside = CLIENT_PID, .comm = "python3"};
    snprintf(client->file, sizeof client->file, "%s", strrchr(rig->writer.path, '/') + 1);
}

static void close_rings(struct rings_rig *rig)
{
    tts_clientwriter_close(&rig->writer, true, false);
    tts_serverrings_close(rig->rings);
    tts_hostview_release(&rig->view);
}

static void put_ring_event(struct rings_rig *rig, uint8_t kind, enum tts_pool pool, uint64_t id,
                           uint64_t address)
{
    tts_clientwriter_put_event(&rig->writer,
                               &(struct tts_clientregion_event){.time_ns = 1000,
                                                                .id = id,
                                                                .address = address,
                                                                .size_bytes = 4096,
                                                                .kind = kind,
                                                                .pool = (uint8_t)pool});
}

/* Hands over the events. The first one tells that the program begins. */
static const struct tts_serverevent *step_rings(struct rings_rig *rig, size_t count)
{
    tts_serverrings_update(rig->rings, &rig->view, is_no_sender, NULL);
    (void)tts_serverrings_step(rig->rings, UINT64_MAX - 1);
    T_EQ(rig->taken.count, 1 + count);
    T_EQ(rig->taken.list[0].kind, TTS_SERVEREVENT_BEGIN);
    return &rig->taken.list[1];
}

T_TEST(a_free_names_the_buffer_that_its_allocation_named)
{
    struct rings_rig rig;
    open_rings(&rig);
    /* The publisher does not know the address of a buffer that is not in its table. */
    put_ring_event(&rig, TTS_CLIENTEVENT_ALLOC, TTS_POOL_DRAM, 7, 0x10000);
    put_ring_event(&rig, TTS_CLIENTEVENT_FREE, TTS_POOL_DRAM, 7, TTS_CLIENTREGION_NO_ADDRESS);
    const struct tts_serverevent *events = step_rings(&rig, 2);
    T_TRUE(events[0].kind == TTS_SERVEREVENT_ALLOC && events[1].kind == TTS_SERVEREVENT_FREE);
    T_EQ(events[0].id, 7);
    T_EQ(events[1].id, 7);
    close_rings(&rig);
}

T_TEST(buffers_of_two_pools_with_one_address_are_two_buffers)
{
    struct rings_rig rig;
    open_rings(&rig);
    put_ring_event(&rig, TTS_CLIENTEVENT_ALLOC, TTS_POOL_DRAM, 1, 0x10000);
    put_ring_event(&rig, TTS_CLIENTEVENT_ALLOC, TTS_POOL_L1, 2, 0x10000);
    const struct tts_serverevent *events = step_rings(&rig, 2);
    T_TRUE(events[0].id != events[1].id);
    close_rings(&rig);
}

T_TEST(a_view_that_is_older_than_the_events_begins_no_phase)
{
    struct rings_rig rig;
    open_rings(&rig);
    /* A program that is older than the server: its first events are not followed. */
    client_poke64(rig.writer.path, CLIENT_OFF(begin_ns), 1);
    struct tts_seenview *seen = tts_hostview_add_view(&rig.view);
    *seen = (struct tts_seenview){
        .client_1 = 1, .counted_known = true, .trace_known = true, .trace_depth = 1};
    rig.view.clients[0].view_count = 1;
    rig.view.clients[0].events = 1; /* while the host was read, a trace was captured */
    put_ring_event(&rig, TTS_CLIENTEVENT_TRACE_BEGIN, TTS_POOL_DRAM, 1, 0);
    put_ring_event(&rig, TTS_CLIENTEVENT_TRACE_END, TTS_POOL_DRAM, 1, 0);
    (void)step_rings(&rig, 0);
    T_EQ(rig.taken.phases, 0);
    rig.view.clients[0].events = 2; /* the next read of the host */
    seen->trace_depth = 0;
    seen->traces = 1;
    seen->counted_bytes[TTS_POOL_TRACE] = 4096;
    (void)step_rings(&rig, 0);
    T_EQ(rig.taken.phases, 1u << TTS_TRACEPHASE_EXECUTION);
    close_rings(&rig);
}
