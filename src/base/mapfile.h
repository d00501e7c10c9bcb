/* mapfile.h: maps parts of a file into memory. A part is reserved on the disk before it is
 * mapped, so that a full disk gives an error number here and not a signal at a later write. All
 * functions return 0 or an errno value. The caller owns the structs. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Mapped bytes of a file, valid until tts_mapped_release(). A struct of zeros maps nothing. */
struct tts_mapped {
    unsigned char *bytes;
    void *base; /* start of the pages that contain the bytes */
    size_t base_bytes;
};

/* Reserves disk space for [off, off + len) and makes the file at least that long. Keeps the
 * contents. Returns EFBIG if the file would exceed the file size limit of the process; the
 * system sends no signal then. */
int tts_file_reserve(int fd, uint64_t off, uint64_t len);

/* Maps reserved bytes for writing, shared with all readers of the file. */
int tts_file_map(int fd, uint64_t off, uint64_t len, struct tts_mapped *out);

/* Allocates the pages now, so that later writes cause no page faults. */
int tts_mapped_populate(const struct tts_mapped *mapped);
void tts_mapped_release(struct tts_mapped *mapped);

/* Creates a word that is 1 in this process and 0 in a forked child. Returns ENOMEM if there is
 * no memory, ENOSYS if the kernel is older than Linux 4.14 and cannot clear memory in a
 * child. */
int tts_forkmark_new(const volatile uint32_t **out);
/* Sets the word to 1 in a child, which begins its own work. */
void tts_forkmark_renew(const volatile uint32_t *mark);
void tts_forkmark_free(const volatile uint32_t *mark); /* `mark` may be NULL */
