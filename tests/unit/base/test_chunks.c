#include "base/chunks.h"
#include "base/heap.h"
#include "harness/t.h"

#include <stdbool.h>
#include <string.h>

/* Counts allocations and frees, and can refuse the n-th call. */
struct counting {
    struct tts_alloc alloc;
    size_t out_bytes;
    unsigned calls, refused_call;
};

static void *counting_alloc(void *ctx, size_t bytes)
{
    struct counting *c = ctx;
    const struct tts_alloc *libc = tts_alloc_libc();
    if (++c->calls == c->refused_call)
        return NULL;
    c->out_bytes += bytes;
    return libc->alloc(libc->ctx, bytes);
}

static void *counting_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    struct counting *c = ctx;
    const struct tts_alloc *libc = tts_alloc_libc();
    if (++c->calls == c->refused_call)
        return NULL;
    c->out_bytes += bytes - old_bytes;
    return libc->resize(libc->ctx, memory, old_bytes, bytes);
}

static void counting_free(void *ctx, void *memory, size_t bytes)
{
    struct counting *c = ctx;
    const struct tts_alloc *libc = tts_alloc_libc();
    c->out_bytes -= bytes;
    libc->free(libc->ctx, memory, bytes);
}

static void counting_init(struct counting *c, unsigned refused_call)
{
    *c = (struct counting){.alloc = {counting_alloc, counting_resize, counting_free, c},
                           .refused_call = refused_call};
}

T_TEST(chunks_start_on_a_cache_line_and_never_move)
{
    struct counting counting;
    struct tts_chunks chunks;
    unsigned char *seen[50];
    counting_init(&counting, 0);
    tts_chunks_init(&chunks, &counting.alloc, 192);
    for (int i = 0; i < 50; i++) {
        seen[i] = tts_chunks_add(&chunks);
        T_TRUE(seen[i] && (uintptr_t)seen[i] % TTS_CACHE_LINE_BYTES == 0);
        memset(seen[i], i, 192);
    }
    T_EQ(chunks.count, 50);
    for (int i = 0; i < 50; i++) {
        T_TRUE(chunks.chunk[i] == seen[i]);
        T_TRUE(seen[i][0] == i && seen[i][191] == i);
    }
    tts_chunks_release(&chunks);
    T_EQ(counting.out_bytes, 0);
}

T_TEST(memory_is_what_was_allocated)
{
    struct counting counting;
    struct tts_chunks chunks;
    counting_init(&counting, 0);
    tts_chunks_init(&chunks, &counting.alloc, 64);
    T_EQ(tts_chunks_memory(&chunks), 0);
    for (int i = 0; i < 9; i++) {
        T_TRUE(tts_chunks_add(&chunks));
        T_EQ(tts_chunks_memory(&chunks), counting.out_bytes);
    }
    tts_chunks_release(&chunks);
    T_EQ(tts_chunks_memory(&chunks), 0);
}

T_TEST(a_refused_chunk_changes_nothing_and_can_be_asked_for_again)
{
    for (unsigned refused = 1; refused < 14; refused++) {
        struct counting counting;
        struct tts_chunks chunks;
        counting_init(&counting, refused);
        tts_chunks_init(&chunks, &counting.alloc, 64);
        for (size_t count = 0; count < 10;) {
            bool hit = counting.refused_call > counting.calls;
            unsigned char *chunk = tts_chunks_add(&chunks);
            count += chunk != NULL;
            T_EQ(chunks.count, count);
            T_TRUE(chunk || (hit && counting.calls == refused));
        }
        tts_chunks_release(&chunks);
        T_EQ(counting.out_bytes, 0);
    }
}
