#include "base/alloc.h"

#include <assert.h>
#include <stdlib.h>

static void *libc_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    assert(bytes > 0);
    return malloc(bytes);
}

static void *libc_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    (void)ctx;
    (void)old_bytes;
    assert(bytes > 0);
    return realloc(memory, bytes);
}

static void libc_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(memory);
}

const struct tts_alloc *tts_alloc_libc(void)
{
    static const struct tts_alloc libc = {libc_alloc, libc_resize, libc_free, NULL};
    return &libc;
}
