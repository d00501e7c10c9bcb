/* mapfile.h: parts of a file in memory. A part is reserved on the disk before it is mapped, so
 * that a disk that is full is an error number here, and no signal where it is written to.
 * Everything returns 0 or what errno would be. Caller's memory. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Bytes of a file, until release; a zeroed one is none. */
struct tts_mapped {
    unsigned char *bytes;
    void *base; /* of the pages that it lies on */
    size_t base_bytes;
};

/* [off, off + len) has room on the disk, and the file is at least that long. What was there
 * stays. EFBIG: longer than the process may make files; no signal is sent. */
int tts_file_reserve(int fd, uint64_t off, uint64_t len);

/* Maps reserved bytes for writing, shared with all who read the file. */
int tts_file_map(int fd, uint64_t off, uint64_t len, struct tts_mapped *out);

/* Gets the pages now, so that writing does not have to. */
int tts_mapped_populate(const struct tts_mapped *mapped);
void tts_mapped_release(struct tts_mapped *mapped);

/* A word of this process: 1, and 0 in a child that it forks. ENOMEM; ENOSYS: a kernel before
 * Linux 4.14 clears nothing in children. */
int tts_forkmark_new(const volatile uint32_t **out);
void tts_forkmark_free(const volatile uint32_t *mark); /* NULL is fine */
