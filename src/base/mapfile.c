#include "base/mapfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- disk space ---- */

/* Returns whether a file of `end` bytes exceeds the file size limit. Checked before each
 * change, because the system ends a program that exceeds the limit with a signal. */
static bool is_above_limit(uint64_t end)
{
    struct rlimit limit;
    if (end > INT64_MAX)
        return true;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           end > limit.rlim_cur;
}

static int file_length(int fd, uint64_t *out)
{
    off_t end = lseek(fd, 0, SEEK_END);
    if (end < 0)
        return errno;
    *out = (uint64_t)end;
    return 0;
}

/* Reserves disk space by writing zeros, for file systems that cannot reserve space
 * otherwise. */
static int write_zeros(int fd, uint64_t off, uint64_t end)
{
    const unsigned char zeros[4096] = {0}; /* static would add 4 KB to the library */
    uint64_t length = 0;
    int reason = file_length(fd, &length);
    if (reason != 0)
        return reason;
    off = off < length ? length : off;
    while (off < end) {
        uint64_t left = end - off;
        ssize_t done = pwrite(fd, zeros, left < sizeof zeros ? left : sizeof zeros, (off_t)off);
        if (done < 0 && errno != EINTR)
            return errno;
        off += done > 0 ? (uint64_t)done : 0;
    }
    return 0;
}

int tts_file_reserve(int fd, uint64_t off, uint64_t len)
{
    uint64_t end;
    if (__builtin_add_overflow(off, len, &end) || is_above_limit(end))
        return EFBIG;
    while (fallocate(fd, 0, (off_t)off, (off_t)len) != 0) {
        if (errno == EOPNOTSUPP || errno == ENOSYS)
            return write_zeros(fd, off, end);
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

/* ---- memory ---- */

int tts_file_map(int fd, uint64_t off, uint64_t len, struct tts_mapped *out)
{
    /* Start the mapping at a page: `off` may lie inside a page. */
    uint64_t before = off % page_bytes();
    if (len > SIZE_MAX - before)
        return ENOMEM;
    size_t bytes = (size_t)(len + before);
    void *base =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(off - before));
    if (base == MAP_FAILED)
        return errno;
    *out = (struct tts_mapped){(unsigned char *)base + before, base, bytes};
    return 0;
}

/* Allocates each page by writing the first byte of the page again, for a kernel without
 * MADV_POPULATE_WRITE. The pages are new and contain zeros only. */
static void touch_pages(const struct tts_mapped *mapped)
{
    volatile unsigned char *at = mapped->bytes;
    size_t page = page_bytes();
    size_t len = mapped->base_bytes - (size_t)(mapped->bytes - (unsigned char *)mapped->base);
    for (size_t i = 0; i < len; i += page)
        at[i] = at[i];
}

int tts_mapped_populate(const struct tts_mapped *mapped)
{
    assert(mapped->bytes);
    while (madvise(mapped->base, mapped->base_bytes, MADV_POPULATE_WRITE) != 0) {
        if (errno == EINVAL) {
            touch_pages(mapped);
            return 0;
        }
        if (errno == EFAULT)
            return EIO; /* the page has no disk space: a write would cause a signal */
        if (errno != EINTR && errno != EAGAIN)
            return errno;
    }
    return 0;
}

void tts_mapped_release(struct tts_mapped *mapped)
{
    if (mapped->base)
        munmap(mapped->base, mapped->base_bytes);
    *mapped = (struct tts_mapped){0};
}

/* ---- forks ---- */

int tts_forkmark_new(const volatile uint32_t **out)
{
    void *page =
        mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return ENOMEM;
    if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
        int reason = errno == EINVAL ? ENOSYS : ENOMEM; /* EINVAL: an old kernel */
        munmap(page, page_bytes());
        return reason;
    }
    *(uint32_t *)page = 1;
    *out = page;
    return 0;
}

void tts_forkmark_renew(const volatile uint32_t *mark)
{
    *(volatile uint32_t *)(uintptr_t)mark = 1;
}

void tts_forkmark_free(const volatile uint32_t *mark)
{
    if (mark)
        munmap((void *)(uintptr_t)mark, page_bytes());
}
