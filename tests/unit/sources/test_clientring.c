/* Tests the reader of the ring of events, with the real writer and with damaged files. */
#include "harness/client_rig.h"
#include "harness/publish_rig.h"
#include "sources/live/clientring.h"
#include "torture/heap.h"

#include <pthread.h>

enum { SLOTS = 8, MANY = 64 };

static struct tts_clientregion_event events[MANY];
static struct tts_clientwriter writer;
static struct tts_clientring *ring;

static struct tts_clientring *followed(const char *path)
{
    struct tts_error err = {0};
    struct tts_clientring *made = NULL;
    if (tts_clientring_open(path, NULL, &made, &err) != TTS_OK)
        fail_msg("%s", err.text);
    return made;
}

static void begin_ring(const char *name)
{
    host_new(name);
    client_make(&writer, CLIENT_PID);
    ring = followed(writer.path);
}

static void end_ring(void)
{
    tts_clientring_close(ring);
    tts_clientwriter_close(&writer, true, false);
}

static void put_events(size_t count)
{
    for (size_t i = 0; i < count; i++)
        client_alloc(&writer, 0, TTS_POOL_L1, 0, 64);
}

static size_t next_events(size_t max, uint64_t *lost)
{
    struct tts_error err = {0};
    size_t count = MANY + 1;
    if (tts_clientring_next(ring, events, max, &count, lost, &err) != TTS_OK)
        fail_msg("%s", err.text);
    T_TRUE(count <= max);
    return count;
}

static enum tts_status status_of_next(void)
{
    struct tts_error err = {0};
    size_t count = 7;
    uint64_t lost = 5;
    enum tts_status status = tts_clientring_next(ring, events, MANY, &count, &lost, &err);
    if (status != TTS_OK)
        T_TRUE(count == 7 && lost == 5 && err.text[0] != '\0');
    return status;
}

static enum tts_status status_of_open(const char *path)
{
    struct tts_error err = {0};
    struct tts_clientring *made = NULL;
    enum tts_status status = tts_clientring_open(path, NULL, &made, &err);
    if (status != TTS_OK)
        T_TRUE(!made && err.text[0] != '\0');
    tts_clientring_close(made);
    return status;
}

/* --- events ----------------------------------------------------------------------------- */

T_TEST(events_of_a_tracker_arrive_in_order_with_their_fields)
{
    struct tts_tracker *tracker = tracker_on(NULL);
    struct tts_publish_state at;
    uint64_t lost = 0;
    publish(tracker, 16, SLOTS);
    alloc_dram(tracker, 1, 100); /* before the ring is followed */
    tts_publish_get_state(tracker, &at);
    ring = followed(at.path);
    T_EQ(tts_clientring_header(ring)->pid, getpid());
    T_EQ(tts_clientring_header(ring)->events, 1);
    T_EQ(next_events(MANY, &lost), 0);
    op_begin(tracker, "ttnn::add");
    alloc_dram(tracker, 2, 4096);
    free_dram(tracker, 1);
    T_EQ(next_events(MANY, &lost), 2);
    T_TRUE(events[0].kind == TTS_CLIENTEVENT_ALLOC && events[0].id == 2);
    T_TRUE(events[0].size_bytes == 4096 && events[0].live_bytes == 4196);
    T_TRUE(events[1].kind == TTS_CLIENTEVENT_FREE && events[1].id == 1);
    T_TRUE(events[1].size_bytes == 100 && events[1].live_bytes == 4096);
    char name[TTS_CLIENTREGION_NAME_BYTES];
    tts_clientring_op(ring, events[0].op, name);
    T_STR_EQ(name, "ttnn::add");
    tts_clientring_op(ring, 0, name);
    T_STR_EQ(name, "");
    tts_clientring_op(ring, 17, name);
    T_STR_EQ(name, "");
    T_EQ(next_events(MANY, &lost), 0);
    T_EQ(lost, 0);
    alloc_dram(tracker, 3, 5);
    tts_publish_end(tracker);
    T_EQ(next_events(MANY, &lost), 1);
    T_EQ(status_of_next(), TTS_E_NOT_FOUND);
    tts_clientring_close(ring);
    tts_tracker_free(tracker);
}

T_TEST(a_full_ring_loses_nothing_and_one_event_more_loses_one)
{
    uint64_t lost = 0;
    begin_ring("full");
    put_events(SLOTS);
    T_EQ(next_events(MANY, &lost), SLOTS);
    T_EQ(lost, 0);
    T_EQ(events[0].stamp, 1);
    put_events(SLOTS + 1);
    size_t count = next_events(MANY, &lost);
    T_EQ(events[0].stamp, SLOTS + 2); /* up to the end of the file */
    count += next_events(MANY, &lost);
    T_EQ(count, SLOTS);
    T_EQ(lost, 1);
    end_ring();
}

T_TEST(each_event_arrives_once_over_many_rounds_and_in_portions)
{
    uint64_t lost = 0, next = 1, seed = 3;
    begin_ring("portions");
    for (int i = 0; i < 500; i++) {
        size_t put = t_random(&seed) % (SLOTS + 1), got = 0;
        put_events(put);
        while (got < put) {
            size_t count = next_events(1 + t_random(&seed) % 5, &lost);
            T_TRUE(count > 0);
            got += count;
            for (size_t k = 0; k < count; k++)
                T_EQ(events[k].stamp, next++);
        }
        T_EQ(got, put);
    }
    T_EQ(lost, 0);
    end_ring();
}

T_TEST(an_event_that_is_being_written_costs_the_oldest_event)
{
    uint64_t lost = 0;
    begin_ring("writing");
    put_events(SLOTS);
    writer.events[0].stamp = 0; /* event 8 will be in the slot of event 0 */
    writer.events[0].id = 999;
    T_EQ(next_events(MANY, &lost), SLOTS - 1);
    T_TRUE(lost == 1 && events[0].stamp == 2);
    end_ring();
}

T_TEST(impossible_events_are_lost_and_the_next_ones_arrive)
{
    uint64_t lost = 0;
    begin_ring("impossible");
    put_events(6);
    writer.events[0].kind = 0;
    writer.events[1].kind = TTS_CLIENTEVENT_KERNEL + 1;
    writer.events[2].pool = TTS_POOLS;
    writer.events[4].stamp = 77;
    T_EQ(next_events(MANY, &lost), 2);
    T_TRUE(events[0].stamp == 4 && events[1].stamp == 6 && lost == 4);
    put_events(1);
    writer.events[6].kind = 99;
    T_EQ(next_events(MANY, &lost), 0);
    T_EQ(lost, 5);
    uint64_t most = UINT64_MAX;
    put_events(1);
    writer.events[7].kind = 99;
    T_EQ(next_events(MANY, &most), 0);
    T_EQ(most, UINT64_MAX); /* the count does not wrap */
    put_events(1);
    T_EQ(next_events(MANY, &lost), 1);
    /* The program ends before its good event is reached. */
    put_events(6);
    for (uint64_t i = 0; i < 5; i++)
        writer.events[(writer.event_count - 2 - i) % SLOTS].kind = 99;
    writer.header->state = TTS_CLIENTREGION_ENDED;
    T_EQ(next_events(1, &lost), 0);
    T_EQ(next_events(1, &lost), 1);
    T_EQ(status_of_next(), TTS_E_NOT_FOUND);
    end_ring();
}

T_TEST(names_beyond_the_number_of_operations_are_not_read)
{
    char name[TTS_CLIENTREGION_NAME_BYTES];
    begin_ring("names");
    memset(writer.ops, 'x', 4 * sizeof *writer.ops);
    tts_clientring_op(ring, 1, name);
    T_STR_EQ(name, "");
    T_EQ(tts_clientwriter_add_op(&writer, "add"), 0);
    put_events(1);
    T_EQ(status_of_next(), TTS_OK);
    tts_clientring_op(ring, 1, name);
    T_EQ(strlen(name), sizeof name - 1); /* the name has no end */
    tts_clientring_op(ring, 2, name);
    T_STR_EQ(name, "");
    end_ring();
}

struct race {
    struct tts_clientwriter writer;
    uint64_t events;
};

static void *write_race(void *ctx)
{
    struct race *race = ctx;
    for (uint64_t i = 0; i < race->events; i++)
        tts_clientwriter_put_event(&race->writer, &(struct tts_clientregion_event){
                                                      .id = i,
                                                      .size_bytes = ~i,
                                                      .address = i * 3,
                                                      .live_bytes = i ^ 0xffff,
                                                      .kind = TTS_CLIENTEVENT_ALLOC,
                                                  });
    return NULL;
}

/* The ring is small, so that the writer overtakes the reader again and again. */
T_TEST(a_reader_beside_a_fast_writer_gets_whole_events_and_counts_the_others)
{
    static struct race race;
    struct tts_clientwriter_config config;
    pthread_t thread;
    uint64_t lost = 0, seen = 0, last = 0;
    host_new("race");
    config = client_config(CLIENT_PID);
    config.event_slots = 16;
    race.events = 400000;
    client_open(&race.writer, &config);
    ring = followed(race.writer.path);
    T_EQ(pthread_create(&thread, NULL, write_race, &race), 0);
    while (seen + lost < race.events) {
        size_t count = next_events(MANY, &lost);
        for (size_t i = 0; i < count; i++) {
            uint64_t id = events[i].id;
            T_TRUE(events[i].stamp == id + 1 && events[i].stamp > last);
            T_TRUE(events[i].size_bytes == ~id && events[i].address == id * 3);
            T_EQ(events[i].live_bytes, id ^ 0xffff);
            last = events[i].stamp;
        }
        seen += count;
    }
    T_EQ(pthread_join(thread, NULL), 0);
    T_EQ(seen + lost, race.events);
    T_TRUE(seen >= 16);
    tts_clientring_close(ring);
    tts_clientwriter_close(&race.writer, true, false);
}

/* --- damaged files ---------------------------------------------------------------------- */

T_TEST(a_truncated_file_is_damaged)
{
    begin_ring("truncated");
    put_events(2);
    T_EQ(truncate(writer.path, (off_t)writer.header->events_off), 0);
    T_EQ(status_of_next(), TTS_E_SYNTAX);
    T_EQ(truncate(writer.path, 100), 0);
    T_EQ(status_of_next(), TTS_E_SYNTAX);
    tts_clientring_close(ring);
    /* The pages of the writer are gone, so it must not write. */
    client_kill(&writer);
}

T_TEST(numbers_that_no_writer_stores_are_damage)
{
    static const struct {
        size_t off;
        uint64_t value;
        int bytes;
    } bad[] = {
        {CLIENT_OFF(events), 1, 8},       {CLIENT_OFF(state), 0, 4},
        {CLIENT_OFF(state), 9, 4},        {CLIENT_OFF(device_count), 5, 4},
        {CLIENT_OFF(device_count), 0, 4}, {CLIENT_OFF(op_count), 5, 4},
        {CLIENT_OFF(buffer_high), 17, 4}, {CLIENT_OFF(buffer_high), 0, 4},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        host_new("numbers");
        client_make(&writer, CLIENT_PID);
        put_events(2);
        ring = followed(writer.path);
        T_EQ(status_of_next(), TTS_OK);
        client_poke(writer.path, bad[i].off, &bad[i].value, (size_t)bad[i].bytes);
        T_EQ(status_of_next(), TTS_E_SYNTAX);
        end_ring();
    }
}

T_TEST(a_number_of_events_out_of_thin_air_gives_no_events)
{
    uint64_t lost = 0;
    begin_ring("thin_air");
    put_events(3);
    client_poke64(writer.path, CLIENT_OFF(events), UINT64_MAX - 1);
    for (int i = 0; i < 3; i++)
        T_EQ(next_events(MANY, &lost), 0);
    T_EQ(lost, UINT64_MAX - 1);
    client_poke32(writer.path, CLIENT_OFF(state), TTS_CLIENTREGION_ENDED);
    T_EQ(status_of_next(), TTS_E_NOT_FOUND);
    end_ring();
}

T_TEST(a_deleted_or_replaced_file_is_followed_to_its_end)
{
    uint64_t lost = 0;
    begin_ring("deleted");
    put_events(2);
    T_EQ(unlink(writer.path), 0);
    T_EQ(next_events(MANY, &lost), 2);
    struct tts_clientwriter other;
    client_make(&other, CLIENT_PID); /* the same name */
    put_events(1);
    T_EQ(next_events(MANY, &lost), 1);
    tts_clientwriter_close(&other, true, false);
    end_ring();
}

T_TEST(what_is_no_region_is_refused)
{
    struct tts_clientwriter_config config;
    char path[300];
    host_new("refused");
    snprintf(path, sizeof path, "%s/fifo", client_directory());
    T_EQ(status_of_open(path), TTS_E_NOT_FOUND);
    T_EQ(mkfifo(path, 0600), 0);
    T_EQ(status_of_open(path), TTS_E_SYNTAX);
    T_EQ(status_of_open(client_directory()), TTS_E_SYNTAX);
    client_make(&writer, CLIENT_PID);
    T_EQ(status_of_open(writer.path), TTS_OK);
    snprintf(path, sizeof path, "%s/link", client_directory());
    T_EQ(symlink(writer.path, path), 0);
    T_EQ(status_of_open(path), TTS_E_SYNTAX);
    client_poke32(writer.path, CLIENT_OFF(state), TTS_CLIENTREGION_MAKING);
    T_EQ(status_of_open(writer.path), TTS_E_BUSY);
    client_poke32(writer.path, CLIENT_OFF(version), 2);
    T_EQ(status_of_open(writer.path), TTS_E_SYNTAX);
    host_put("dev/shm/empty", "");
    T_EQ(status_of_open(host_path("dev/shm/empty")), TTS_E_BUSY);
    host_put("dev/shm/text", "TTSCLNT\nis not enough");
    T_EQ(status_of_open(host_path("dev/shm/text")), TTS_E_SYNTAX);
    client_kill(&writer);
    config = client_config(CLIENT_PID);
    config.event_slots = 0;
    client_open(&writer, &config);
    T_EQ(status_of_open(writer.path), TTS_E_SYNTAX);
    client_kill(&writer);
}

T_TEST(an_impossible_header_is_refused)
{
    static const struct {
        size_t off;
        uint64_t value;
        int bytes;
    } bad[] = {
        {CLIENT_OFF(magic), 0, 1},
        {CLIENT_OFF(header_bytes), 4095, 4},
        {CLIENT_OFF(file_bytes), 1, 8},
        {CLIENT_OFF(file_bytes), UINT64_MAX, 8},
        {CLIENT_OFF(writer), 0, 4},
        {CLIENT_OFF(writer), 4, 4},
        {CLIENT_OFF(device_slots), 257, 4},
        {CLIENT_OFF(op_slots), UINT32_MAX, 4},
        {CLIENT_OFF(op_slots), 5, 4},
        {CLIENT_OFF(buffer_slots), UINT32_MAX, 4},
        {CLIENT_OFF(buffer_slots), 17, 4},
        {CLIENT_OFF(event_slots), 16, 4},
        {CLIENT_OFF(event_slots), 7, 4},
        {CLIENT_OFF(event_slots), 1u << 31, 4},
        {CLIENT_OFF(devices_off), 4088, 8},
        {CLIENT_OFF(devices_off), UINT64_MAX, 8},
        {CLIENT_OFF(ops_off), 4096, 8},
        {CLIENT_OFF(ops_off), UINT64_MAX - 100, 8},
        {CLIENT_OFF(buffers_off), 0, 8},
        {CLIENT_OFF(buffers_off), UINT64_MAX - 7, 8},
        {CLIENT_OFF(events_off), UINT64_MAX - 511, 8},
        {CLIENT_OFF(events_off), 1, 8},
        {CLIENT_OFF(device_count), 5, 4},
        {CLIENT_OFF(buffer_high), 17, 4},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        host_new("header");
        client_make(&writer, CLIENT_PID);
        T_EQ(status_of_open(writer.path), TTS_OK);
        client_poke(writer.path, bad[i].off, &bad[i].value, (size_t)bad[i].bytes);
        T_EQ(status_of_open(writer.path), TTS_E_SYNTAX);
        client_kill(&writer);
    }
}

T_TEST(a_file_that_grew_is_read)
{
    uint64_t lost = 0;
    begin_ring("grown");
    put_events(1);
    T_EQ(truncate(writer.path, (off_t)writer.header->file_bytes + 100000), 0);
    T_EQ(next_events(MANY, &lost), 1);
    T_EQ(status_of_open(writer.path), TTS_OK);
    end_ring();
}

T_TEST(memory_can_run_out)
{
    struct heap heap;
    struct tts_error err = {0};
    struct tts_clientring *made = NULL;
    host_new("memory");
    client_make(&writer, CLIENT_PID);
    heap_init(&heap);
    heap.fail_at = 1;
    T_EQ(tts_clientring_open(writer.path, &heap.alloc, &made, &err), TTS_E_NOMEM);
    heap.fail_at = 0;
    T_EQ(tts_clientring_open(writer.path, &heap.alloc, &made, &err), TTS_OK);
    tts_clientring_close(made);
    T_TRUE(heap_is_settled(&heap));
    tts_clientring_close(NULL);
    tts_clientwriter_close(&writer, true, false);
}
