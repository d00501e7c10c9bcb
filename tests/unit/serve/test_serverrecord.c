#include "harness/recorded_file_rig.h"
#include "harness/server_rig.h"
#include "serve/serverrecord.h"
#include "torture/heap.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static struct recorded recorded;

static const char *make_dir(const char *name)
{
    static char dir[256];
    snprintf(dir, sizeof dir, "%s", t_scratch(name));
    T_EQ(mkdir(dir, 0700), 0);
    return dir;
}

static struct tts_serverrecord *open_record(const char *dir, size_t files_max, size_t queue_max)
{
    struct tts_serverrecord *record = NULL;
    struct tts_serverrecord_config config = {.dir = dir,
                                             .counter_period_ns = 1000000000,
                                             .files_max = files_max,
                                             .queue_max = queue_max};
    struct tts_error err = {0};
    T_EQ(tts_serverrecord_open(&config, NULL, &record, &err), TTS_OK);
    return record;
}

static struct tts_serverprocess process_of(uint32_t number)
{
    return (struct tts_serverprocess){
        .instance = number, .pid = number, .start_ticks = 100 + number, .name = "worker"};
}

static void send_event(struct tts_serverrecord *record, uint32_t process,
                       enum tts_serverevent_kind kind, uint64_t id)
{
    struct tts_serversink sink = tts_serverrecord_sink(record);
    struct tts_serverprocess owner = process_of(process);
    struct tts_serverevent event = server_event(kind);
    event.process = &owner;
    event.pool = TTS_POOL_DRAM;
    event.id = id;
    event.size_bytes = 100 + id;
    event.references = kind == TTS_SERVEREVENT_ALLOC;
    sink.event(sink.ctx, &event);
}

static void read_process(const char *dir, uint32_t number)
{
    char path[512];
    snprintf(path, sizeof path, "%s/worker-%u-%u.tts", dir, number, 100 + number);
    recorded_read(&recorded, path);
}

static size_t count_files(const char *dir)
{
    size_t count = 0;
    DIR *files = opendir(dir);
    assert_non_null(files);
    for (const struct dirent *entry; (entry = readdir(files));)
        count += entry->d_name[0] != '.';
    closedir(files);
    return count;
}

T_TEST(each_process_has_a_recording_of_its_own_events)
{
    const char *dir = make_dir("each");
    struct tts_serverrecord *record = open_record(dir, 0, 0);
    for (uint32_t process = 1; process <= 20; process++)
        send_event(record, process, TTS_SERVEREVENT_BEGIN, 0);
    for (uint64_t id = 0; id < 200; id++)
        for (uint32_t process = 1; process <= 5; process++)
            send_event(record, process, TTS_SERVEREVENT_ALLOC, id * process);
    send_event(record, 3, TTS_SERVEREVENT_DEATH, 0);
    tts_serverrecord_close(record);
    T_EQ(count_files(dir), 5); /* a process without events has no recording */
    for (uint32_t process = 1; process <= 5; process++) {
        read_process(dir, process);
        T_EQ(recorded.events, 200);
        T_EQ(recorded.missed, 0);
        /* Only the third program ended before its recording. */
        T_EQ(recorded.info.state.kind, process == 3 ? TTS_REC_ENDED : TTS_REC_STOPPED);
        T_EQ(recorded.info.state.sys_errno, process == 3 ? 0 : ECANCELED);
        for (size_t i = 0; i < 200; i++)
            T_EQ(recorded.items[i].event.id, i * process);
    }
}

T_TEST(a_number_that_is_used_again_has_another_recording)
{
    const char *dir = make_dir("again");
    struct tts_serverrecord *record = open_record(dir, 0, 0);
    struct tts_serversink sink = tts_serverrecord_sink(record);
    for (uint32_t life = 0; life < 3; life++) {
        struct tts_serverprocess owner = process_of(8);
        struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
        owner.instance = 50 + life;
        event.process = &owner;
        sink.event(sink.ctx, &event);
        event.kind = TTS_SERVEREVENT_DEATH;
        sink.event(sink.ctx, &event);
    }
    tts_serverrecord_close(record);
    T_EQ(count_files(dir), 3); /* worker-8-108.tts, -2, -3 */
}

T_TEST(events_that_the_queue_has_no_room_for_are_missed_in_their_recording)
{
    enum { EVENTS = 200000 };
    const char *dir = make_dir("full");
    struct tts_serverrecord *record = open_record(dir, 0, 4);
    struct tts_serverrecord_counts counts;
    for (uint64_t id = 0; id < EVENTS; id++)
        send_event(record, 1 + id % 2, TTS_SERVEREVENT_ALLOC, id);
    tts_serverrecord_counts(record, &counts);
    tts_serverrecord_close(record);
    T_TRUE(counts.dropped_events > 0);
    uint64_t seen = 0;
    for (uint32_t process = 1; process <= 2; process++) {
        read_process(dir, process);
        T_EQ(recorded.events + recorded.missed, EVENTS / 2);
        T_TRUE(recorded.missed > 0);
        seen += recorded.events;
    }
    T_TRUE(seen > 0 && seen < EVENTS);
}

T_TEST(at_most_the_given_number_of_files_is_open)
{
    const char *dir = make_dir("many");
    struct tts_serverrecord *record = open_record(dir, 2, 0);
    struct tts_serverrecord_counts counts;
    for (uint32_t process = 1; process <= 4; process++)
        send_event(record, process, TTS_SERVEREVENT_ALLOC, process);
    send_event(record, 1, TTS_SERVEREVENT_DEATH, 0);
    send_event(record, 4, TTS_SERVEREVENT_ALLOC, 5);
    do {
        usleep(1000);
        tts_serverrecord_counts(record, &counts);
    } while (counts.events + counts.dropped_events < 5);
    tts_serverrecord_close(record);
    T_EQ(counts.files, 3);
    T_EQ(counts.events, 3);
    T_EQ(counts.dropped_events, 2);
    T_EQ(counts.failed_files, 2);
    T_TRUE(strstr(counts.failure.text, "2 processes are recorded already"));
    T_TRUE(counts.bytes > 3 * 4096);
    T_EQ(count_files(dir), 3);
    read_process(dir, 4);
    T_EQ(recorded.events, 1);
    T_EQ(recorded.items[0].event.id, 5);
}

T_TEST(a_directory_that_cannot_be_used_is_refused_at_the_start)
{
    struct tts_serverrecord *record = NULL;
    struct tts_serverrecord_config config = {.dir = "/no/such/directory"};
    struct tts_error err;
    T_EQ(tts_serverrecord_open(&config, NULL, &record, &err), TTS_E_IO);
    T_TRUE(strstr(err.text, "cannot open the directory '/no/such/directory'"));
    T_TRUE(!record);
}

T_TEST(a_file_that_cannot_be_made_is_counted_once_for_its_process)
{
    const char *dir = make_dir("removed");
    struct tts_serverrecord *record = open_record(dir, 0, 0);
    struct tts_serverrecord_counts counts;
    T_EQ(rmdir(dir), 0);
    for (uint64_t id = 0; id < 10; id++)
        send_event(record, 1, TTS_SERVEREVENT_ALLOC, id);
    do {
        usleep(1000);
        tts_serverrecord_counts(record, &counts);
    } while (counts.dropped_events < 10);
    tts_serverrecord_close(record);
    T_EQ(counts.failed_files, 1);
    T_EQ(counts.failure.status, TTS_E_IO);
    T_EQ(counts.files, 0);
}

T_TEST(an_event_of_an_unknown_process_is_ignored)
{
    const char *dir = make_dir("unknown");
    struct tts_serverrecord *record = open_record(dir, 0, 0);
    struct tts_serversink sink = tts_serverrecord_sink(record);
    struct tts_serverevent event = server_event(TTS_SERVEREVENT_ALLOC);
    event.process = NULL;
    sink.event(sink.ctx, &event);
    tts_serverrecord_close(record);
    T_EQ(count_files(dir), 0);
}

T_TEST(every_allocation_that_fails_leaves_nothing_behind)
{
    const char *dir = make_dir("torture");
    struct tts_serverrecord_config config = {.dir = dir, .queue_max = 8};
    enum tts_status status = TTS_E_NOMEM;
    for (uint64_t fail_at = 1; status != TTS_OK; fail_at++) {
        struct tts_serverrecord *record = NULL;
        struct tts_error err;
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = fail_at;
        status = tts_serverrecord_open(&config, &heap.alloc, &record, &err);
        T_TRUE(status == TTS_OK || status == TTS_E_NOMEM);
        tts_serverrecord_close(record);
        T_TRUE(heap_is_settled(&heap));
        T_TRUE(fail_at < 10);
    }
}
