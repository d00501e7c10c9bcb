/* recfile.h: reads a recording from its begin or from any event on.
 *
 * Each block is verified before its items are returned. The file may still be written, may lack
 * its end, or may be cut or damaged. Items before the damage are returned, then an error with
 * its place. A block that the end of the file cuts cannot be verified: its items up to the cut
 * are returned, then the error. tts_recfile_resume() continues after damage. Nothing is mapped,
 * so a file that is truncated meanwhile does no harm. Memory is bounded: one block of at most
 * 64 MiB, packed and unpacked, and the index. One thread. The rules are in
 * docs/design/recording.md. */
#pragma once

#include "model/item.h"
#include "model/recording/recformat.h"
#include "ttscope/alloc.h"

struct tts_recfile;

/* Returns whether a file that begins with these `len` bytes is a recording. 8 bytes are
 * enough. */
bool tts_recfile_is_one(const unsigned char *bytes, size_t len);

/* Opens a recording. Pipes are not supported. TTS_E_IO: the file cannot be read; the text names
 * the path. TTS_E_SYNTAX: not a recording, or the header is damaged. TTS_E_RANGE: a newer
 * version. TTS_E_NOMEM: out of memory. Texts other than of TTS_E_IO are meant to follow the
 * path. */
TTS_NODISCARD enum tts_status tts_recfile_open(const char *path, const struct tts_alloc *alloc,
                                               struct tts_recfile **out, struct tts_error *err);
void tts_recfile_close(struct tts_recfile *file); /* `file` may be NULL */

struct tts_recfile_info {
    struct tts_rec_header header;
    struct tts_rec_state state; /* at the open, or at the last check after the end */
    bool state_is_known;        /* one copy of the state is valid */
    uint64_t file_bytes;        /* at the same time as `state` */
    uint64_t first_seq; /* number of events before the first one in the file. Above 0 in a black
                           box, or if the recorder began late */
    bool has_index;
};
const struct tts_recfile_info *tts_recfile_info(const struct tts_recfile *file);

/* Reads the next item (item.h). TTS_E_SYNTAX: damage; err->offset is the byte in the file, and
 * the text names the block. TTS_E_IO: the file cannot be read, or a black box was overwritten
 * meanwhile: open it again. An error is permanent.
 *
 * A file that is still written can be followed. After the open or a
 * seek, the reader notes once how far the file has been committed. That point is the end, so
 * the end is reached even if the file grows fast. A call after the end checks again: it returns
 * the items committed since, in order and each once, or the end again. All items together are
 * the same as in a reading of the finished file. When the state in info is no longer
 * TTS_REC_RECORDING, the next end is the last one. A check costs a few small reads; a check
 * that finds items reads the last block again. */
TTS_NODISCARD enum tts_status tts_recfile_next(struct tts_recfile *file, struct tts_item *out,
                                               struct tts_error *err);

/* Seeks to the last keyframe at or before event `seq`, or to the first keyframe. `seq` =
 * first_seq is the moment before the first event. Takes one read with an index; without one,
 * walks over the headers of blocks. Clears an error. TTS_E_NOT_FOUND: `seq` is below first_seq
 * or after the last event. TTS_E_SYNTAX, TTS_E_IO, TTS_E_NOMEM: see above. After a failure the
 * position is unchanged. */
TTS_NODISCARD enum tts_status tts_recfile_seek(struct tts_recfile *file, uint64_t seq,
                                               struct tts_error *err);
/* Continues after damage. After tts_recfile_next() returned TTS_E_SYNTAX, the next item is the
 * keyframe of the first good block that begins with one. The caller's state from before is not
 * valid there. *missing is the number of events between the last returned event and the
 * keyframe. TTS_E_NOT_FOUND: there is no such block, or there was a seek; the error remains. */
TTS_NODISCARD enum tts_status tts_recfile_resume(struct tts_recfile *file, uint64_t *missing);
/* Finds the figures that tts_recpack_figures() stored after the index. They are borrowed until
 * the next call for this file. *seq is the last event of the file. Returns false if there are
 * no figures, or if their checksum or that of any block is wrong; reads the whole file to find
 * out. */
bool tts_recfile_figures(struct tts_recfile *file, const unsigned char **bytes, size_t *len,
                         uint64_t *seq);
/* Returns the number of bytes of the file that were passed. For progress. */
uint64_t tts_recfile_tell(const struct tts_recfile *file);
