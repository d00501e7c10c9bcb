/* clientfile.h: the region of a program that publishes (wire/clientregion.h), as an open file.
 * docs/design/client-region.md has the rules.
 *
 * Another process may write, truncate or replace the file at any time. The functions copy with
 * pread() and check the copy. They map nothing, write nothing and open regular files only.
 *
 * Ownership: the caller owns the struct, and closes it. Threads: one thread per struct. */
#pragma once

#include "model/live/hostview.h"
#include "wire/clientregion.h"

struct stat;

/* Numbers of bytes above this limit are not believed. */
#define TTS_CLIENTFILE_BYTES_MAX (UINT64_C(1) << 50)

struct tts_clientfile {
    int fd; /* -1: not open */
    uint64_t device_no, inode;
    uint64_t file_bytes;
    uint32_t owner_uid;
    struct tts_clientregion_header header; /* checked */
};

/* Opens the file and checks the header. On TTS_SEENREGION_READ the caller closes the file. With
 * any other state the file is not open, and `file_bytes` and `owner_uid` are set if the file
 * exists. With TTS_SEENREGION_FAILED, *sys_errno says why: ENOENT if there is no such file,
 * EINVAL or ELOOP if there is something else of this name. Cost: five system calls. */
enum tts_seenregion_state tts_clientfile_open(struct tts_clientfile *file, int dir,
                                              const char *name, int *sys_errno);
void tts_clientfile_close(struct tts_clientfile *file); /* a file that is not open is allowed */

/* Copies file->header.state and the fields after it. Returns TTS_OK, TTS_E_SYNTAX if the file
 * was truncated or no writer makes such a change, TTS_E_IO with *sys_errno. After a failure the
 * header is unchanged. Cost: one system call. */
TTS_NODISCARD enum tts_status tts_clientfile_refresh(struct tts_clientfile *file,
                                                     int *sys_errno);

/* Like tts_clientfile_refresh(), from a copy of the file that begins at `state` of the header.
 * Returns TTS_OK or TTS_E_SYNTAX. */
TTS_NODISCARD enum tts_status tts_clientfile_take_change(struct tts_clientfile *file,
                                                         const unsigned char *copy);

/* Copies [off, off + bytes) of the file. Returns TTS_OK, TTS_E_SYNTAX if the file is too short,
 * TTS_E_IO with *sys_errno. */
TTS_NODISCARD enum tts_status tts_clientfile_copy(const struct tts_clientfile *file,
                                                  uint64_t off, void *out, size_t bytes,
                                                  int *sys_errno);

/* Copies devices[0 .. header.device_count) until each copy is whole. `twin` has room for as
 * many devices. Sets bit i of `changing` for a device that changed during each attempt; its
 * copy is not to be used. Returns as tts_clientfile_copy() does. Cost: two system calls, and
 * more for devices that change. */
TTS_NODISCARD enum tts_status tts_clientfile_devices(const struct tts_clientfile *file,
                                                     struct tts_clientregion_device *devices,
                                                     struct tts_clientregion_device *twin,
                                                     unsigned char changing[32],
                                                     int *sys_errno);

/* Copies `count` slots of the table from `first` on, which are below header.buffer_high. A slot
 * that is free, or that changes during each attempt, has the stamp 0. `twin` has room for as
 * many slots. Returns as tts_clientfile_copy() does. */
TTS_NODISCARD enum tts_status tts_clientfile_buffers(const struct tts_clientfile *file,
                                                     uint32_t first, uint32_t count,
                                                     struct tts_clientregion_buffer *slots,
                                                     struct tts_clientregion_buffer *twin,
                                                     int *sys_errno);

/* Copies the name of an operation: 1 + its index, as a buffer or an event has it. Copies "" for
 * 0 and for an unknown index. Cost: one system call. */
void tts_clientfile_op(const struct tts_clientfile *file, uint16_t op,
                       char name[TTS_CLIENTREGION_NAME_BYTES]);
