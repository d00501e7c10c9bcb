#include "views/trace/perfetto.h"

#include "views/perfetto.pb-c.h"
#include "views/utf8.h"

#include <assert.h>
#include <string.h>

/* Values of Perfetto's enums. */
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { UNIT_SIZE_BYTES = 3, ORDERING_EXPLICIT = 3 };

/* Sequences of packets. A phase is written when it is over, with the time it began, so phases
 * have sequences of their own in which time never decreases. Operations and peaks are also
 * written late; theirs is the only sequence in which time decreases. Readers sort packets by
 * time. */
enum {
    MAIN_SEQUENCE = 1,
    LANE_SEQUENCE = 2,
    LATE_SEQUENCE = LANE_SEQUENCE + TTS_TIMELINE_LANES,
};

/* Keeps our tracks apart from those of other traces that are merged with this one. */
#define UUID_BASE UINT64_C(0x7474736300000000)

/* Maximum of a text. Operations, phases and failures have shorter texts. */
enum { TEXT_MAX = 1024, ANNOTATIONS_MAX = 12 };

enum annotation {
    BUFFER_ID = 1,
    BYTES,
    BYTES_PER_BANK,
    BLOCK_BYTES,
    ADDRESS,
    OP,
    SEQ,
    POOL,
    MISSING_BYTES,
    ANNOTATION_END,
};
static const char *const annotation_names[] = {
    [BUFFER_ID] = "id",
    [BYTES] = "bytes",
    [BYTES_PER_BANK] = "bytes_per_bank",
    [BLOCK_BYTES] = "block_bytes",
    [ADDRESS] = "address",
    [OP] = "op",
    [SEQ] = "seq",
    [POOL] = "pool",
    [MISSING_BYTES] = "missing_bytes",
};

/* A track event with storage for what it points to. */
struct event {
    Pf__TrackEvent message;
    char name[TEXT_MAX], op[TEXT_MAX];
    char *category;
    Pf__Annotation annotations[ANNOTATIONS_MAX], *pointers[ANNOTATIONS_MAX];
};

/* Converts foreign bytes to terminated UTF-8. */
static char *clean_name(char out[TEXT_MAX], const char *text)
{
    size_t len = strlen(text), to = 0;
    for (size_t i = 0; i < len && to < TEXT_MAX - 4;) {
        uint32_t code;
        size_t used = tts_utf8_next(text + i, len - i, &code);
        bool is_bad = code == TTS_UTF8_REPLACEMENT;
        size_t put = is_bad ? 3 : used;
        memcpy(out + to, is_bad ? "\xef\xbf\xbd" : text + i, put);
        to += put;
        i += used;
    }
    out[to] = '\0';
    return out;
}

/* ---- packets ---- */

static void write_packet(struct tts_perfetto *p, const Pf__Packet *packet)
{
    uint8_t bytes[TTS_PERFETTO_PACKET_MAX];
    size_t len = pf__packet__get_packed_size(packet);
    assert(len <= sizeof bytes);
    char frame[6] = {0x0a};
    size_t used = 1;
    for (size_t rest = len; used == 1 || rest > 0; rest >>= 7)
        frame[used++] = (char)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    tts_rowout_put(&p->rows, frame, used);
    pf__packet__pack(packet, bytes);
    tts_rowout_put(&p->rows, (const char *)bytes, len);
}

static Pf__Packet packet_at(uint64_t time_ns, uint32_t sequence)
{
    Pf__Packet packet = PF__PACKET__INIT;
    packet.has_timestamp = true;
    packet.timestamp = time_ns;
    packet.has_trusted_packet_sequence_id = true;
    packet.trusted_packet_sequence_id = sequence;
    return packet;
}

/* Writes the names of annotations, in the first packet of a sequence that has annotations. */
static void put_interned_names(struct tts_perfetto *p, uint64_t time_ns, uint32_t sequence)
{
    Pf__InternedName names[ANNOTATION_END], *pointers[ANNOTATION_END];
    Pf__Interned interned = PF__INTERNED__INIT;
    Pf__Packet packet = packet_at(time_ns, sequence);
    for (size_t i = 1; i < ANNOTATION_END; i++) {
        pf__interned_name__init(&names[i]);
        names[i].has_iid = true;
        names[i].iid = i;
        names[i].name = (char *)(uintptr_t)annotation_names[i];
        pointers[i] = &names[i];
    }
    interned.n_debug_annotation_names = ANNOTATION_END - 1;
    interned.debug_annotation_names = pointers + 1;
    packet.interned_data = &interned;
    packet.has_sequence_flags = true;
    packet.sequence_flags = STATE_CLEARED;
    write_packet(p, &packet);
}

/* Returns the sequence of a mark. Writes the names first if the sequence is new. */
static uint32_t sequence_of_track(struct tts_perfetto *p, const struct tts_mark *mark)
{
    bool is_span = mark->kind == TTS_MARK_SPAN;
    if (is_span && mark->track.kind == TTS_TRACK_CAPTURE)
        return LANE_SEQUENCE + mark->track.lane;
    if (!is_span && mark->track.kind != TTS_TRACK_DEVICE)
        return MAIN_SEQUENCE;
    if (!p->has_late_names)
        put_interned_names(p, mark->time_ns, LATE_SEQUENCE);
    p->has_late_names = true;
    return LATE_SEQUENCE;
}

static void put_track_event(struct tts_perfetto *p, const struct tts_mark *mark,
                            uint64_t time_ns, struct event *event)
{
    uint64_t lane = UINT64_C(1) << mark->track.lane;
    uint32_t sequence = sequence_of_track(p, mark);
    bool is_lane = sequence >= LANE_SEQUENCE && sequence < LATE_SEQUENCE;
    Pf__Packet packet = packet_at(time_ns, sequence);
    packet.track_event = &event->message;
    packet.has_sequence_flags = event->message.n_debug_annotations > 0;
    packet.sequence_flags = packet.has_sequence_flags ? NEEDS_STATE : 0;
    if (is_lane && !(p->begun & lane)) {
        packet.has_sequence_flags = true;
        packet.sequence_flags = STATE_CLEARED;
        p->begun |= lane;
    }
    write_packet(p, &packet);
}

static void init_event(struct event *event, const struct tts_mark *mark, uint32_t type)
{
    pf__track_event__init(&event->message);
    event->message.has_type = true;
    event->message.type = type;
    event->message.has_track_uuid = true;
    event->message.track_uuid = UUID_BASE + mark->track.number;
}

static void set_event_name(struct event *event, const char *name)
{
    event->message.name = clean_name(event->name, name);
}

static void set_event_category(struct event *event, enum tts_track_kind kind)
{
    static const char *const names[] = {
        [TTS_TRACK_PROCESS] = "file", [TTS_TRACK_THREAD] = "op",
        [TTS_TRACK_SLOT] = "buffer",  [TTS_TRACK_TRACES] = "trace",
        [TTS_TRACK_FAILURES] = "oom", [TTS_TRACK_CAPTURE] = "phase",
        [TTS_TRACK_DEVICE] = "peak",
    };
    assert(names[kind]);
    event->category = (char *)(uintptr_t)names[kind];
    event->message.n_categories = 1;
    event->message.categories = &event->category;
}

/* ---- annotations ---- */

static Pf__Annotation *add_to_list(struct event *event, enum annotation name)
{
    size_t idx = event->message.n_debug_annotations++;
    assert(idx < ANNOTATIONS_MAX);
    Pf__Annotation *annotation = &event->annotations[idx];
    pf__annotation__init(annotation);
    annotation->has_name_iid = true;
    annotation->name_iid = name;
    event->pointers[idx] = annotation;
    event->message.debug_annotations = event->pointers;
    return annotation;
}

static void annotate_number(struct event *event, enum annotation name, uint64_t value)
{
    Pf__Annotation *annotation = add_to_list(event, name);
    annotation->has_uint_value = true;
    annotation->uint_value = value;
}

static void annotate_text(struct event *event, enum annotation name, char *text)
{
    add_to_list(event, name)->string_value = text;
}

static void annotate_mark(struct event *event, const struct tts_mark_args *args)
{
    const struct tts_event *buffer = args->buffer;
    const struct tts_failure *failure = args->failure;
    if (buffer) {
        annotate_number(event, BUFFER_ID, buffer->id);
        annotate_number(event, BYTES, buffer->size_bytes);
    }
    if (buffer && buffer->bytes_per_bank > 0)
        annotate_number(event, BYTES_PER_BANK, buffer->bytes_per_bank);
    if (buffer && buffer->block_bytes > 0)
        annotate_number(event, BLOCK_BYTES, buffer->block_bytes);
    if (buffer && buffer->has_address) {
        Pf__Annotation *annotation = add_to_list(event, ADDRESS);
        annotation->has_pointer_value = true;
        annotation->pointer_value = buffer->address;
    }
    if (failure)
        annotate_text(event, POOL, (char *)(uintptr_t)tts_pool_name(failure->pool));
    if (failure && tts_failure_deficit_is_known(failure))
        annotate_number(event, MISSING_BYTES, tts_failure_deficit(failure));
    if (args->bytes)
        annotate_number(event, BYTES, args->bytes);
    if (args->op)
        annotate_text(event, OP, clean_name(event->op, args->op));
    if (args->seq)
        annotate_number(event, SEQ, args->seq);
}

/* ---- tracks ---- */

static void put_track_packet(struct tts_perfetto *p, uint64_t time_ns, const Pf__Track *track)
{
    Pf__Packet packet = packet_at(time_ns, MAIN_SEQUENCE);
    packet.track_descriptor = (Pf__Track *)(uintptr_t)track;
    write_packet(p, &packet);
}

static void put_process(struct tts_perfetto *p, const struct tts_mark *mark)
{
    char name[TEXT_MAX], label[TEXT_MAX], *labels = label;
    Pf__Process process = PF__PROCESS__INIT;
    Pf__Track track = PF__TRACK__INIT;
    track.has_uuid = true;
    track.uuid = UUID_BASE + mark->track.number;
    track.process = &process;
    process.has_pid = true;
    process.pid = (int32_t)tts_tracefile_pid(&p->file);
    process.process_name = clean_name(name, tts_tracefile_program(&p->file));
    snprintf(label, sizeof label, "%s", tts_tracefile_times(&p->file));
    process.n_process_labels = p->file.has_times && p->file.is_recording ? 0 : 1;
    process.process_labels = &labels;
    put_track_packet(p, mark->time_ns, &track);
}

/* Returns the position of a track among those of its device: pool by pool, then the rest. */
static int32_t rank_of_track(const struct tts_track *track)
{
    enum { PER_POOL = 3 };
    static const int32_t ranks[] = {
        [TTS_TRACK_POOL] = 0,
        [TTS_TRACK_CAPACITY] = 1,
        [TTS_TRACK_BUFFERS] = 2,
        [TTS_TRACK_CORES] = PER_POOL * TTS_POOLS,
        [TTS_TRACK_TRACES] = PER_POOL * TTS_POOLS + 1,
        [TTS_TRACK_FAILURES] = PER_POOL * TTS_POOLS + 2,
        [TTS_TRACK_SAMPLE] = PER_POOL * TTS_POOLS + 3, /* the first value */
    };
    if (track->kind == TTS_TRACK_SAMPLE)
        return ranks[track->kind] + (int32_t)track->index;
    bool is_pool = ranks[track->kind] < PER_POOL;
    return ranks[track->kind] + (is_pool ? PER_POOL * (int32_t)track->pool : 0);
}

/* Puts a track below that of its device. Counters of a pool share an axis. */
static void set_track_group(Pf__Track *track, Pf__Counter *counter, const struct tts_track *of)
{
    if (of->kind == TTS_TRACK_DEVICE) {
        track->has_child_ordering = true;
        track->child_ordering = ORDERING_EXPLICIT;
    }
    if (of->group > 0 && of->kind != TTS_TRACK_SLOT) {
        track->has_sibling_order_rank = true;
        track->sibling_order_rank = rank_of_track(of);
    }
    if (of->kind == TTS_TRACK_POOL || of->kind == TTS_TRACK_CAPACITY)
        counter->y_axis_share_key = (char *)(uintptr_t)tts_pool_name(of->pool);
}

static bool is_counter_track(const struct tts_track *track)
{
    return track->kind == TTS_TRACK_POOL || track->kind == TTS_TRACK_CAPACITY ||
           track->kind == TTS_TRACK_SAMPLE || track->kind == TTS_TRACK_CORES;
}

/* Returns whether the unit of a counter is the byte. Only samples count anything else. */
static bool has_bytes(const struct tts_track *track)
{
    return track->kind != TTS_TRACK_SAMPLE || track->index >= TTS_SAMPLE_CB ||
           track->index / TTS_POOLS != TTS_SAMPLE_BUFFERS;
}

static void put_other_track(struct tts_perfetto *p, const struct tts_mark *mark)
{
    char name[TTS_TRACK_NAME_MAX];
    Pf__Thread thread = PF__THREAD__INIT;
    Pf__Counter counter = PF__COUNTER__INIT;
    Pf__Track track = PF__TRACK__INIT;
    tts_track_name(&mark->track, name);
    track.has_uuid = true;
    track.uuid = UUID_BASE + mark->track.number;
    track.has_parent_uuid = mark->track.parent > 0;
    track.parent_uuid = UUID_BASE + mark->track.parent;
    set_track_group(&track, &counter, &mark->track);
    track.name = name;
    if (mark->track.kind == TTS_TRACK_THREAD) {
        thread.has_pid = thread.has_tid = true;
        thread.pid = (int32_t)tts_tracefile_pid(&p->file);
        thread.tid = mark->track.number;
        thread.thread_name = name;
        track.thread = &thread;
    }
    if (is_counter_track(&mark->track)) {
        counter.has_unit = has_bytes(&mark->track);
        counter.unit = UNIT_SIZE_BYTES;
        track.counter = &counter;
    }
    put_track_packet(p, mark->time_ns, &track);
}

/* ---- marks ---- */

static void put_counter_value(struct tts_perfetto *p, const struct tts_mark *mark)
{
    struct event event;
    init_event(&event, mark, TYPE_COUNTER);
    event.message.has_counter_value = true;
    event.message.counter_value = mark->value > INT64_MAX ? INT64_MAX : (int64_t)mark->value;
    put_track_event(p, mark, mark->time_ns, &event);
}

static void put_slice_begin(struct tts_perfetto *p, const struct tts_mark *mark, uint32_t type)
{
    struct event event;
    init_event(&event, mark, type);
    set_event_name(&event, mark->name);
    set_event_category(&event, mark->track.kind);
    annotate_mark(&event, &mark->args);
    put_track_event(p, mark, mark->time_ns, &event);
}

static void put_slice_end(struct tts_perfetto *p, const struct tts_mark *mark, uint64_t time_ns)
{
    struct event event;
    init_event(&event, mark, TYPE_SLICE_END);
    if (mark->kind == TTS_MARK_END && mark->args.bytes > 0)
        annotate_number(&event, BYTES, mark->args.bytes);
    put_track_event(p, mark, time_ns, &event);
}

void tts_perfetto_begin(struct tts_perfetto *p, const struct tts_tracefile *file, FILE *out)
{
    tts_rowout_init(&p->rows, out);
    p->file = *file;
    p->has_names = p->has_late_names = false;
    p->begun = 0;
}

void tts_perfetto_put(void *ctx, const struct tts_mark *mark)
{
    struct tts_perfetto *p = ctx;
    if (!p->has_names)
        put_interned_names(p, mark->time_ns, MAIN_SEQUENCE);
    p->has_names = true;
    switch (mark->kind) {
    case TTS_MARK_TRACK:
        if (mark->track.kind == TTS_TRACK_PROCESS)
            put_process(p, mark);
        else
            put_other_track(p, mark);
        break;
    case TTS_MARK_BEGIN:
        put_slice_begin(p, mark, TYPE_SLICE_BEGIN);
        break;
    case TTS_MARK_END:
        put_slice_end(p, mark, mark->time_ns);
        break;
    case TTS_MARK_INSTANT:
        put_slice_begin(p, mark, TYPE_INSTANT);
        break;
    case TTS_MARK_COUNTER:
        put_counter_value(p, mark);
        break;
    case TTS_MARK_SPAN:
        put_slice_begin(p, mark, TYPE_SLICE_BEGIN);
        if (!mark->is_open)
            put_slice_end(p, mark, mark->end_ns);
        break;
    }
}

void tts_perfetto_end(struct tts_perfetto *p)
{
    tts_rowout_flush(&p->rows);
}
