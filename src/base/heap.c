#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { FIRST_ITEMS = 16 };

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

static void *pages_alloc(void *ctx, size_t bytes)
{
    (void)ctx;
    assert(bytes > 0);
    int kept_errno = errno;
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = kept_errno;
    return memory == MAP_FAILED ? NULL : memory;
}

static void *pages_resize(void *ctx, void *memory, size_t old_bytes, size_t bytes)
{
    (void)ctx;
    assert(bytes > 0);
    int kept_errno = errno;
    void *moved = mremap(memory, old_bytes, bytes, MREMAP_MAYMOVE);
    errno = kept_errno;
    return moved == MAP_FAILED ? NULL : moved;
}

static void pages_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    int kept_errno = errno;
    munmap(memory, bytes);
    errno = kept_errno;
}

const struct tts_alloc *tts_alloc_pages(void)
{
    static const struct tts_alloc pages = {pages_alloc, pages_resize, pages_free, NULL};
    return &pages;
}

void *tts_alloc_grow(const struct tts_alloc *alloc, void *items, size_t *capacity,
                     size_t needed, size_t item_bytes)
{
    assert(items || *capacity == 0);
    if (items && needed <= *capacity)
        return items;
    size_t grown = *capacity + *capacity / 2;
    grown = grown < FIRST_ITEMS ? FIRST_ITEMS : grown;
    grown = grown < needed ? needed : grown;
    if (grown > SIZE_MAX / item_bytes)
        return NULL;
    void *more =
        items ? alloc->resize(alloc->ctx, items, *capacity * item_bytes, grown * item_bytes)
              : alloc->alloc(alloc->ctx, grown * item_bytes);
    if (more)
        *capacity = grown;
    return more;
}
