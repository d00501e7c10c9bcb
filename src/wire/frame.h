/* frame.h: the frames that published clients send to an allocation server, and its replies
 * (docs/design/server-frames.md). The frames of all generations begin with one header of 40
 * bytes. There is no magic, no version and no length, so tts_framestream finds the size of the
 * frames of a connection from their content.
 *
 * Plain data and pure functions: no allocation, no lock, no system call. Every byte is foreign.
 * Threads: one thread at a time per stream. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_FRAME_HEADER_BYTES = 40,
    TTS_FRAME_BYTES_MAX = 144,
    TTS_FRAME_STATS_BYTES = 48, /* a record of the reply to TTS_FRAMEKIND_STATS */
    /* Limits of a frame in a stream. Bytes beyond them are no frame. */
    TTS_FRAME_DEVICES_MAX = 1024, /* logical ids from 0; in a request also -1 */
    TTS_FRAME_PID_MAX = 1 << 22,
};
#define TTS_FRAME_SIZE_BYTES_MAX (UINT64_C(1) << 50)

/* The sizes of frames, by generation. */
enum tts_framekind {
    TTS_FRAMEKIND_UNKNOWN, /* not yet found */
    TTS_FRAMEKIND_STATS,   /* 24 bytes: asks for the records of all devices */
    TTS_FRAMEKIND_CBK,     /* 32 bytes, fields of its own: circular buffers and kernels only */
    TTS_FRAMEKIND_P1,      /* 72 bytes */
    TTS_FRAMEKIND_P2,      /* 112 bytes */
    TTS_FRAMEKIND_P3,      /* 128 bytes */
    TTS_FRAMEKIND_P4,      /* 144 bytes */
    TTS_FRAMEKINDS
};

enum tts_frametype {
    TTS_FRAMETYPE_ALLOC = 1,
    TTS_FRAMETYPE_FREE = 2,
    TTS_FRAMETYPE_QUERY = 3,
    TTS_FRAMETYPE_RESPONSE = 4,
    TTS_FRAMETYPE_DUMP = 5,
    TTS_FRAMETYPE_INFO_QUERY = 6,
    TTS_FRAMETYPE_INFO_RESPONSE = 7,
    TTS_FRAMETYPE_CB_ALLOC = 8,
    TTS_FRAMETYPE_CB_FREE = 9,
    TTS_FRAMETYPE_KERNEL_LOAD = 10,
    TTS_FRAMETYPE_KERNEL_UNLOAD = 11,
    TTS_FRAMETYPE_DUMP_KERNELS = 12,
    TTS_FRAMETYPE_MAX = TTS_FRAMETYPE_DUMP_KERNELS,
};

/* A frame, with the fields of all generations. A field that the generation does not have is 0
 * when a frame is read, and is left out when a frame is written. */
struct tts_frame {
    enum tts_framekind kind;
    uint8_t type;        /* enum tts_frametype */
    uint8_t buffer_type; /* 0 DRAM, 1 L1, 2 SYSTEM_MEMORY, 3 L1_SMALL, 4 TRACE; of a kernel: 0
                            application, 1 fabric, 2 dispatch */
    int32_t device;      /* logical id; -1 in the query of the number of devices */
    int32_t pid;         /* of the sender, as the sender numbers itself */
    uint64_t size_bytes; /* 0 in FREE */
    uint64_t id;         /* address of a buffer or circular buffer, number of a kernel */
    uint64_t time_ns;    /* since 1970; 0 in FREE */
    /* Replies only. */
    uint64_t dram_bytes, l1_bytes, l1_small_bytes, trace_bytes, cb_bytes, kernel_bytes;
    uint64_t dram_total_bytes, l1_total_bytes;
    uint32_t arch, dram_channels, dram_channel_bytes, l1_core_bytes, is_available, device_count;
    uint32_t ring_total_bytes, ring_used_bytes, program_count;
};

/* Returns the bytes of a frame of this kind; 0 for TTS_FRAMEKIND_UNKNOWN. */
size_t tts_frame_bytes(enum tts_framekind kind);
/* Reads a frame of a known kind from tts_frame_bytes(kind) bytes. Checks nothing. */
void tts_frame_decode(enum tts_framekind kind, const unsigned char *bytes,
                      struct tts_frame *out);
/* Writes the frame as tts_frame_bytes(frame->kind) bytes, and returns their number. Padding is
 * 0. The kind is one of P1 to P4. */
size_t tts_frame_encode(const struct tts_frame *frame,
                        unsigned char bytes[TTS_FRAME_BYTES_MAX]);

/* What was seen of the frames of one connection. Valid when zeroed. */
struct tts_framestream {
    enum tts_framekind kind; /* of the last frame; UNKNOWN: not yet found, or lost */
    bool is_certain;         /* `kind` was confirmed by a second frame after the first */
    bool is_skipping;        /* the last bytes belong to no frame */
    uint8_t owed_bytes;      /* of the last frame: its end did not arrive yet (late_bytes) */
    uint64_t frames;
    uint64_t skipped_bytes; /* bytes that belong to no frame */
    uint64_t losses;        /* stretches of skipped bytes: how often the begin was lost */
    uint64_t late_bytes;    /* zeros that followed a frame which was taken for a shorter one */
};

/* Looks for the next frame at the start of bytes[0..len). `is_drained` says that the sender has
 * sent no more bytes so far: a frame may end here although no other begins. All bytes of an
 * event or request after its header are 0, and no client sends a reply.
 *
 * Returns the number of bytes that are done with: the caller calls again with the bytes after
 * them. *has_frame says whether they were a frame, which is in *out; otherwise the bytes are
 * skipped or are the late end of the last frame, and *out is unchanged. Returns 0 if more bytes
 * are necessary to decide; this never happens if len is at least 2 * TTS_FRAME_BYTES_MAX. If it
 * returns 0 and `is_drained` was false, call again when the sender is found to be drained.
 * Cost: constant for each frame of a stream in order, otherwise proportional to the bytes. */
size_t tts_framestream_next(struct tts_framestream *stream, const unsigned char *bytes,
                            size_t len, bool is_drained, struct tts_frame *out,
                            bool *has_frame);
