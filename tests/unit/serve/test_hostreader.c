#include "base/heap.h"
#include "base/ticks.h"
#include "harness/host.h"
#include "harness/t.h"
#include "serve/hostreader.h"

#include <poll.h>
#include <semaphore.h>

#define MS_NS (UINT64_C(1000) * 1000)
enum { LONG_MS = 10000 };

/* An allocator that keeps a read of the host from its end, or fails. Two threads use it. */
struct slow_heap {
    struct tts_alloc alloc;
    bool is_slow, fails; /* atomic */
    sem_t go;
};

/* Waits if the heap is slow. Returns whether there is memory. */
static bool wait_for_memory(struct slow_heap *heap)
{
    if (__atomic_exchange_n(&heap->is_slow, false, __ATOMIC_ACQ_REL))
        sem_wait(&heap->go);
    return !__atomic_load_n(&heap->fails, __ATOMIC_ACQUIRE);
}

static void *slow_alloc(void *ctx, size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    return wait_for_memory(ctx) ? libc->alloc(libc->ctx, bytes) : NULL;
}

static void *slow_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    return wait_for_memory(ctx) ? libc->resize(libc->ctx, memory, old_bytes, bytes) : NULL;
}

static void slow_free(void *ctx, void *memory, size_t bytes)
{
    const struct tts_alloc *libc = tts_alloc_libc();
    (void)ctx;
    libc->free(libc->ctx, memory, bytes);
}

static struct slow_heap heap;

/* Opens a reader for a host with one chip. */
static struct tts_hostreader *open_reader(const char *name)
{
    struct tts_hostreader *reader;
    heap = (struct slow_heap){.alloc = {slow_alloc, slow_resize, slow_free, &heap}};
    sem_init(&heap.go, 0, 0);
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
    __atomic_store_n(&heap.is_slow, true, __ATOMIC_RELEASE);
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
    __atomic_store_n(&heap.fails, true, __ATOMIC_RELEASE);
    T_TRUE(!read_now(reader));
    T_TRUE(!tts_hostreader_is_busy(reader) && !is_ready(reader, 0));
    T_EQ(first->view.chip_count, 1);
    __atomic_store_n(&heap.fails, false, __ATOMIC_RELEASE);
    const struct tts_hostreading *second = read_now(reader);
    T_TRUE(second && second->view.chip_count == 2);
    tts_hostreader_close(reader);
}

T_TEST(a_reader_is_closed_while_it_reads)
{
    struct tts_hostreader *reader = open_reader("closed");
    T_TRUE(tts_hostreader_begin(reader));
    tts_hostreader_close(reader);
    tts_hostreader_close(NULL);
}

T_TEST(a_host_without_files_is_refused)
{
    struct tts_hostreader *reader;
    T_EQ(tts_hostreader_open("/nowhere", NULL, &reader, NULL), TTS_E_IO);
}
