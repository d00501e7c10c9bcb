#include "views/trace/perfetto.h"

#include "harness/item_rig.h"
#include "harness/t.h"
#include "views/perfetto.pb-c.h"

#include <stdlib.h>

static struct item_rig rig;
static struct tts_timeline *timeline;
static struct tts_perfetto perfetto;
static char *bytes;
static size_t bytes_len;

static void begin(const struct tts_tracefile *file)
{
    static const struct tts_timeline_config config = {
        .slots_max = 4, .put = tts_perfetto_put, .ctx = &perfetto};
    struct tts_error err;
    FILE *out = open_memstream(&bytes, &bytes_len);
    T_TRUE(out != NULL);
    rig = (struct item_rig){.has_time = true};
    tts_perfetto_begin(&perfetto, file, out);
    T_EQ(tts_timeline_new(&config, NULL, &timeline, &err), TTS_OK);
}

static void put(struct tts_item item)
{
    struct tts_error err;
    T_EQ(tts_timeline_item(timeline, &item, &err), TTS_OK);
}

/* ---- reading it back ---- */

enum { PACKETS_MAX = 64 };
static Pf__Packet *packets[PACKETS_MAX];
static size_t packet_count;

static void read_packets(void)
{
    packet_count = 0;
    for (size_t at = 0; at < bytes_len;) {
        T_EQ(bytes[at++], 0x0a);
        size_t len = 0;
        for (int shift = 0;; shift += 7) {
            unsigned char byte = (unsigned char)bytes[at++];
            len |= (size_t)(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                break;
        }
        T_TRUE(len <= bytes_len - at && packet_count < PACKETS_MAX);
        packets[packet_count] = pf__packet__unpack(NULL, len, (const uint8_t *)bytes + at);
        T_TRUE(packets[packet_count++] != NULL);
        at += len;
    }
}

static void end(void)
{
    tts_timeline_end(timeline);
    tts_timeline_free(timeline);
    tts_perfetto_end(&perfetto);
    T_EQ(fclose(perfetto.rows.out), 0);
    read_packets();
}

static void drop(void)
{
    for (size_t i = 0; i < packet_count; i++)
        pf__packet__free_unpacked(packets[i], NULL);
    free(bytes);
}

/* Returns event number `n` of a type, counted from 0. Sets *packet to its packet. */
static const Pf__TrackEvent *event(uint32_t type, size_t n, const Pf__Packet **packet)
{
    for (size_t i = 0; i < packet_count; i++) {
        const Pf__TrackEvent *at = packets[i]->track_event;
        if (!at || at->type != type || n-- > 0)
            continue;
        *packet = packets[i];
        return at;
    }
    fail_msg("there are not so many");
    return NULL;
}

static const Pf__Track *track_of(const Pf__TrackEvent *at)
{
    for (size_t i = 0; i < packet_count; i++)
        if (packets[i]->track_descriptor &&
            packets[i]->track_descriptor->uuid == at->track_uuid)
            return packets[i]->track_descriptor;
    fail_msg("it has no track");
    return NULL;
}

/* Finds an annotation by its name. The names are the same in all sequences. */
static const Pf__Annotation *annotation(const Pf__TrackEvent *at, const char *name)
{
    const Pf__Interned *names = packets[0]->interned_data;
    for (size_t i = 0; i < at->n_debug_annotations; i++) {
        uint64_t iid = at->debug_annotations[i]->name_iid;
        T_TRUE(iid >= 1 && iid <= names->n_debug_annotation_names);
        if (strcmp(names->debug_annotation_names[iid - 1]->name, name) == 0)
            return at->debug_annotations[i];
    }
    return NULL;
}

enum { BEGIN = 1, END = 2, INSTANT = 3, COUNTER = 4 };

static const struct tts_tracefile recording = {.path = "x.tts",
                                               .program = "train\xff",
                                               .pid = 321,
                                               .is_recording = true,
                                               .has_times = true};

/* ---- tests ---- */

T_TEST(the_first_packet_clears_the_state_and_has_the_names)
{
    begin(&recording);
    rig.time_ns = 5;
    put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    end();
    T_EQ(packet_count, 2);
    T_EQ(packets[0]->sequence_flags, 1);
    T_EQ(packets[0]->timestamp, 1005);
    T_EQ(packets[0]->trusted_packet_sequence_id, 1);
    for (size_t i = 0; i < packets[0]->interned_data->n_debug_annotation_names; i++)
        T_EQ(packets[0]->interned_data->debug_annotation_names[i]->iid, i + 1);
    const Pf__Track *process = packets[1]->track_descriptor;
    T_EQ(process->process->pid, 321);
    T_STR_EQ(process->process->process_name, "train\xef\xbf\xbd");
    T_EQ(process->process->n_process_labels, 0);
    drop();
}

T_TEST(without_times_the_process_says_so)
{
    begin(&(struct tts_tracefile){.path = "-"});
    end();
    const Pf__Process *process = packets[1]->track_descriptor->process;
    T_EQ(process->pid, 1);
    T_STR_EQ(process->process_name, "(graph trace)");
    T_STR_EQ(process->process_labels[0], TTS_TRACEFILE_NO_TIMES);
    drop();
}

T_TEST(a_buffer_is_a_slice_with_annotations)
{
    begin(&recording);
    struct tts_item item = item_alloc(&rig, 2, TTS_POOL_L1, UINT64_MAX, 4096);
    item.event.bytes_per_bank = 64;
    item.event.block_bytes = 96;
    item.event.has_address = true;
    item.event.address = 1048576;
    item_set_op(&item, "add\xff");
    put(item);
    put(item_free(&rig, 2, TTS_POOL_L1, UINT64_MAX));
    end();
    const Pf__Packet *packet;
    const Pf__TrackEvent *slice = event(BEGIN, 0, &packet);
    T_EQ(packet->timestamp, 1000);
    T_EQ(packet->sequence_flags, 2);
    T_STR_EQ(slice->name, "add\xef\xbf\xbd 4.00 KiB");
    T_STR_EQ(slice->categories[0], "buffer");
    T_TRUE(annotation(slice, "id")->uint_value == UINT64_MAX);
    T_EQ(annotation(slice, "bytes")->uint_value, 4096);
    T_EQ(annotation(slice, "bytes_per_bank")->uint_value, 64);
    T_EQ(annotation(slice, "block_bytes")->uint_value, 96);
    T_EQ(annotation(slice, "address")->pointer_value, 1048576);
    T_STR_EQ(annotation(slice, "op")->string_value, "add\xef\xbf\xbd");
    T_EQ(annotation(slice, "seq")->uint_value, 1);
    T_TRUE(annotation(slice, "pool") == NULL);
    const Pf__Track *track = track_of(slice);
    T_STR_EQ(track->name, "device 2 L1 buffers");
    T_EQ(event(END, 0, &packet)->track_uuid, slice->track_uuid);
    T_EQ(packet->timestamp, 2000);
    T_TRUE(track->parent_uuid != packets[1]->track_descriptor->uuid);
    drop();
}

T_TEST(what_is_not_known_of_a_buffer_is_not_said)
{
    begin(&recording);
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10));
    end();
    const Pf__Packet *packet;
    const Pf__TrackEvent *slice = event(BEGIN, 0, &packet);
    T_STR_EQ(slice->name, "buffer 10 B");
    T_EQ(slice->n_debug_annotations, 3);
    T_TRUE(!annotation(slice, "address") && !annotation(slice, "op"));
    drop();
}

T_TEST(counters_are_in_bytes)
{
    begin(&recording);
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 10));
    put(item_alloc(&rig, 0, TTS_POOL_DRAM, 2, 20));
    end();
    const Pf__Packet *packet;
    const Pf__TrackEvent *counter = event(COUNTER, 1, &packet);
    T_EQ(counter->counter_value, 30);
    T_EQ(track_of(counter)->counter->unit, 3);
    T_STR_EQ(track_of(counter)->name, "device 0 DRAM");
    T_TRUE(!packet->has_sequence_flags);
    drop();
}

T_TEST(a_counter_past_63_bits_stays_at_the_most)
{
    struct tts_mark mark = {.kind = TTS_MARK_COUNTER, .value = UINT64_MAX};
    mark.track = (struct tts_track){.kind = TTS_TRACK_POOL, .number = 2, .parent = 1};
    begin(&recording);
    tts_perfetto_put(&perfetto, &mark);
    end();
    const Pf__Packet *packet;
    T_TRUE(event(COUNTER, 0, &packet)->counter_value == INT64_MAX);
    drop();
}

T_TEST(operations_are_on_tracks_of_threads)
{
    begin(&recording);
    put(item_op(&rig, 4, "op"));
    put(item_op(&rig, 4, NULL));
    end();
    const Pf__Packet *packet;
    const Pf__TrackEvent *slice = event(BEGIN, 0, &packet);
    const Pf__Thread *thread = track_of(slice)->thread;
    T_EQ(thread->pid, 321);
    T_EQ(thread->tid, 2);
    T_STR_EQ(thread->thread_name, "thread 4");
    T_EQ(packet->trusted_packet_sequence_id, 66);
    T_EQ(packet->timestamp, 1000);
    T_EQ(annotation(slice, "seq")->uint_value, 1);
    T_EQ(event(END, 0, &packet)->track_uuid, slice->track_uuid);
    T_EQ(packet->timestamp, 2000);
    drop();
}

static const Pf__Track *track_named(const char *name)
{
    for (size_t i = 0; i < packet_count; i++) {
        const Pf__Track *track = packets[i]->track_descriptor;
        if (track && track->name && strcmp(track->name, name) == 0)
            return track;
    }
    fail_msg("there is no track '%s'", name);
    return NULL;
}

T_TEST(tracks_of_a_device_stand_below_it_and_its_peak_is_marked_there)
{
    begin(&recording);
    put(item_alloc(&rig, 3, TTS_POOL_DRAM, 1, 6 << 20));
    put(item_free(&rig, 3, TTS_POOL_DRAM, 1));
    end();
    const Pf__Track *device = track_named("device 3"), *pool = track_named("device 3 DRAM");
    const Pf__Track *buffers = track_named("device 3 DRAM buffers");
    T_TRUE(!device->has_parent_uuid && !device->process && device->child_ordering == 3);
    T_TRUE(pool->parent_uuid == device->uuid && buffers->parent_uuid == device->uuid);
    T_TRUE(pool->sibling_order_rank < buffers->sibling_order_rank);
    T_STR_EQ(pool->counter->y_axis_share_key, "DRAM");
    const Pf__Packet *packet;
    const Pf__TrackEvent *peak = event(INSTANT, 0, &packet);
    T_STR_EQ(peak->name, "peak of DRAM 6.00 MiB");
    T_TRUE(peak->track_uuid == device->uuid && packet->timestamp == 1000);
    T_EQ(annotation(peak, "bytes")->uint_value, 6 << 20);
    drop();
}

T_TEST(a_failure_is_an_instant)
{
    struct tts_failure failure = {
        .kind = TTS_FAILURE_BELOW_LIMIT, .pool = TTS_POOL_L1, .limit = 100, .address = 50};
    begin(&recording);
    struct tts_item item = item_event(&rig, TTS_EVENT_FAILURE, 0);
    item.event.failure = &failure;
    item_set_op(&item, "conv");
    put(item);
    end();
    const Pf__Packet *packet;
    const Pf__TrackEvent *at = event(INSTANT, 0, &packet);
    char sentence[TTS_FAILURE_TEXT_MAX];
    T_STR_EQ(at->name, tts_failure_text(&failure, sentence));
    T_STR_EQ(annotation(at, "pool")->string_value, "L1");
    T_EQ(annotation(at, "missing_bytes")->uint_value, 50);
    T_STR_EQ(annotation(at, "op")->string_value, "conv");
    drop();
}

T_TEST(phases_are_a_sequence_of_their_own)
{
    begin(&recording);
    put(item_capture(&rig, TTS_ITEM_BEGIN, 1, NULL));
    put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    put(item_capture(&rig, TTS_ITEM_CUT, 1, "a"));
    put(item_event(&rig, TTS_EVENT_PROGRAM, 0));
    end();
    const Pf__Packet *first, *last, *open;
    T_STR_EQ(event(BEGIN, 0, &first)->name, "a");
    event(END, 0, &last);
    T_STR_EQ(event(BEGIN, 1, &open)->name, "(unfinished)");
    T_TRUE(first->timestamp == 0 && last->timestamp == 1000 && open->timestamp == 1000);
    T_TRUE(first->trusted_packet_sequence_id == 2 && last->trusted_packet_sequence_id == 2);
    T_TRUE(first->sequence_flags == 1 && !last->has_sequence_flags &&
           !open->has_sequence_flags);
    T_EQ(packets[packet_count - 1]->track_event->type, BEGIN); /* the slice has no end */
    drop();
}

T_TEST(packets_of_any_length_are_framed)
{
    for (size_t len = 0; len <= TTS_PHASE_NAME_MAX; len++) {
        char name[TTS_PHASE_NAME_MAX + 1] = "";
        begin(&recording);
        memset(name, 'n', len);
        put(item_capture(&rig, TTS_ITEM_BEGIN, 1, NULL));
        put(item_capture(&rig, TTS_ITEM_CUT, 1, name));
        put(item_capture(&rig, TTS_ITEM_END, 1, NULL));
        end();
        const Pf__Packet *packet;
        T_STR_EQ(event(BEGIN, 0, &packet)->name, name);
        drop();
    }
}
