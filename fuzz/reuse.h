/* reuse.h: memory that every run of a fuzz target uses again. Requesting it from the system
 * would take most of the time of a run.
 *
 * Each block comes from the C library, so that a sanitizer guards its ends. A freed block is
 * kept until a block of the same size is requested. Meanwhile its first bytes
 * (REUSE_MARK_BYTES) are marked as inaccessible. A reused block keeps its old contents. One
 * thread. */
#pragma once

#include "ttscope/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_HAS_ASAN 1
#endif
#endif

#ifdef FUZZ_HAS_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(memory, bytes) ((void)(memory), (void)(bytes))
#endif

enum { REUSE_BLOCKS = 64, REUSE_BYTES_MAX = 4 << 20, REUSE_MARK_BYTES = 1 << 14 };

static struct {
    void *memory;
    size_t bytes;
} reuse_blocks[REUSE_BLOCKS]; /* freed blocks; memory is NULL in an unused entry */

static size_t reuse_marked(size_t bytes)
{
    return bytes < REUSE_MARK_BYTES ? bytes : REUSE_MARK_BYTES;
}

static void *reuse_take(void *ctx, size_t bytes)
{
    (void)ctx;
    for (int i = 0; i < REUSE_BLOCKS; i++) {
        void *memory = reuse_blocks[i].memory;
        if (!memory || reuse_blocks[i].bytes != bytes)
            continue;
        reuse_blocks[i].memory = NULL;
        ASAN_UNPOISON_MEMORY_REGION(memory, reuse_marked(bytes));
        return memory;
    }
    return malloc(bytes);
}

static void reuse_give(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    for (int i = 0; bytes <= REUSE_BYTES_MAX && i < REUSE_BLOCKS; i++) {
        if (reuse_blocks[i].memory)
            continue;
        reuse_blocks[i].memory = memory;
        reuse_blocks[i].bytes = bytes;
        ASAN_POISON_MEMORY_REGION(memory, reuse_marked(bytes));
        return;
    }
    free(memory);
}

static void *reuse_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    void *moved = reuse_take(ctx, bytes);
    if (!moved)
        return NULL;
    if (memory) {
        memcpy(moved, memory, old_bytes < bytes ? old_bytes : bytes);
        reuse_give(ctx, memory, old_bytes);
    }
    return moved;
}

static const struct tts_alloc reuse_alloc = {reuse_take, reuse_resize, reuse_give, NULL};
