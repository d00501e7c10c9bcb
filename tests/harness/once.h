/* once.h: an allocator that a test can tell to refuse memory from some moment on. From then on,
 * an object that uses the allocator keeps its memory but cannot grow. The struct must not be
 * moved. */
#pragma once

#include "ttscope/alloc.h"

#include <stdbool.h>
#include <stdlib.h>

struct once {
    struct tts_alloc alloc;
    bool is_refused;
};

static inline void *once_take(void *ctx, size_t bytes)
{
    const struct once *once = ctx;
    return once->is_refused ? NULL : malloc(bytes);
}

static inline void *once_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    const struct once *once = ctx;
    (void)old_bytes;
    return once->is_refused ? NULL : realloc(memory, bytes);
}

static inline void once_give(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(memory);
}

static inline void once_init(struct once *once)
{
    *once = (struct once){.alloc = {once_take, once_resize, once_give, once}};
}
