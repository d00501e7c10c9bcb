#include "base/ticks.h"
#include "harness/host.h"
#include "harness/slow_heap.h"
#include "serve/hostreader.h"

#include <poll.h>
#include <stdio.h>

#define MS_NS (UINT64_C(1000) * 1000)
enum {
    LONG_MS = 10000,
    PROCESSES = 50,
    STEP_CALLS = 8, /* of the step that a stopped read ends; a whole read has about 70 */
};

/* The linker puts this in the place of pthread_join() (tests/CMakeLists.txt): a read that waits
 * goes on when the end of its thread is waited for. */
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);

static struct slow_heap heap;
static uint64_t calls_at_join;

int __wrap_pthread_join(pthread_t thread, void **result)
{
    calls_at_join = slow_heap_calls(&heap);
    sem_post(&heap.go);
    return __real_pthread_join(thread, result);
}

/* Opens a reader for a host with one chip. */
static struct tts_hostreader *open_reader(const char *name)
{
    struct tts_hostreader *reader;
    slow_heap_init(&heap);
    host_new_driver(name, "2.0.0");
    host_add_chip(0, "0x401e");
    T_EQ(tts_hostreader_open(host_root, &heap.alloc, &reader, NULL), TTS_OK);
    return reader;
}

static bool is_ready(const struct tts_hostreader *reader, int wait_ms)
{
    struct pollfd end = {.fd = tts_hostreader_fd(reader), .events = POLLIN};
    return poll(&end, 1, wait_ms) == 1;
}

static const struct tts_hostreading *read_now(struct tts_hostreader *reader)
{
    T_TRUE(tts_hostreader_begin(reader));
    return tts_hostreader_take(reader, LONG_MS * MS_NS);
}

T_TEST(nobody_waits_for_a_slow_read_and_the_last_reading_stays)
{
    struct tts_hostreader *reader = open_reader("slow");
    T_TRUE(!tts_hostreader_take(reader, LONG_MS * MS_NS)); /* nothing is under way */
    const struct tts_hostreading *first = read_now(reader);
    T_TRUE(first && first->view.chip_count == 1 && first->frame.device_count == 1);
    T_TRUE(!tts_hostreader_is_busy(reader) && !is_ready(reader, 0));
    host_add_chip(1, "0x401e");
    slow_heap_make_slow(&heap);
    uint64_t begin_ns = tts_clock_ns();
    T_TRUE(tts_hostreader_begin(reader) && !tts_hostreader_begin(reader));
    T_TRUE(!tts_hostreader_take(reader, 0) && !tts_hostreader_take(reader, 5 * MS_NS));
    T_TRUE(tts_clock_ns() - begin_ns < LONG_MS * MS_NS / 2);
    T_TRUE(tts_hostreader_is_busy(reader) && !is_ready(reader, 0));
    T_TRUE(first->view.chip_count == 1 && first->frame.device_count == 1);
    sem_post(&heap.go);
    T_TRUE(is_ready(reader, LONG_MS));
    T_TRUE(!tts_hostreader_begin(reader)); /* the end was not taken */
    T_EQ(first->view.chip_count, 1);
    const struct tts_hostreading *second = tts_hostreader_take(reader, 0);
    T_TRUE(second && second->view.chip_count == 2 && second->frame.device_count == 2);
    T_TRUE(!tts_hostreader_is_busy(reader) && !is_ready(reader, 0));
    tts_hostreader_close(reader);
}

T_TEST(a_read_without_memory_gives_nothing_and_the_next_one_works)
{
    struct tts_hostreader *reader = open_reader("memory");
    const struct tts_hostreading *first = read_now(reader);
    host_add_chip(1, "0x401e");
    slow_heap_fail(&heap, true);
    T_TRUE(!read_now(reader));
    T_TRUE(!tts_hostreader_is_busy(reader) && !is_ready(reader, 0));
    T_EQ(first->view.chip_count, 1);
    slow_heap_fail(&heap, false);
    const struct tts_hostreading *second = read_now(reader);
    T_TRUE(second && second->view.chip_count == 2);
    tts_hostreader_close(reader);
}

T_TEST(a_reader_that_is_closed_does_not_finish_its_read)
{
    struct tts_hostreader *reader = open_reader("closed");
    char pids[PROCESSES * 8];
    size_t len = 0;
    for (uint32_t pid = 100; pid < 100 + PROCESSES; pid++) {
        host_add_process(pid, "python3", "100", 5);
        len += (size_t)snprintf(pids + len, sizeof pids - len, "%u\n", (unsigned)pid);
    }
    host_add_pids(0, pids);
    slow_heap_make_slow(&heap);
    T_TRUE(tts_hostreader_begin(reader));
    T_TRUE(slow_heap_await(&heap.waits));
    tts_hostreader_close(reader);
    T_TRUE(slow_heap_calls(&heap) - calls_at_join <= STEP_CALLS);
    tts_hostreader_close(NULL);
}

T_TEST(a_host_without_files_is_refused)
{
    struct tts_hostreader *reader;
    T_EQ(tts_hostreader_open("/nowhere", NULL, &reader, NULL), TTS_E_IO);
}
