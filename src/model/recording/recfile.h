/* recfile.h: reads a recording from its beginning or from any event.
 *
 * Each block is verified before its items are returned. The file may still be written, may lack
 * its end, or may be cut or damaged. Items before the damage are returned, then an error with
 * its place. A block that the end of the file cuts cannot be verified: its items up to the cut
 * are returned, then the error. tts_recfile_resume() continues after damage. The file is not
 * mapped, so a file that is truncated meanwhile does no harm. Memory is bounded: one block of
 * at most 64 MiB, packed and unpacked, and the index. One thread at a time. The rules are in
 * docs/design/recording.md. */
#pragma once

#include "model/item.h"
#include "model/recording/recformat.h"
#include "ttscope/alloc.h"

struct tts_recfile;

/* Returns whether a file that begins with these `len` bytes is a recording. 8 bytes are
 * enough. */
bool tts_recfile_is_one(const unsigned char *bytes, size_t len);

/* Opens a recording. Pipes are not supported. Returns TTS_E_IO if the file cannot be read; the
 * error text names the path. Returns TTS_E_SYNTAX if the file is not a recording or the header
 * is damaged, TTS_E_RANGE if the version is newer, TTS_E_NOMEM if there is no memory; these
 * error texts do not name the path. */
TTS_NODISCARD enum tts_status tts_recfile_open(const char *path, const struct tts_alloc *alloc,
                                               struct tts_recfile **out, struct tts_error *err);
void tts_recfile_close(struct tts_recfile *file); /* `file` may be NULL */

struct tts_recfile_info {
    struct tts_rec_header header;
    /* State when the file was opened, or at the last check after the end. */
    struct tts_rec_state state;
    bool state_is_known; /* the file has a valid copy of the state */
    uint64_t file_bytes; /* size of the file at the same time as `state` */
    /* Number of events before the first event in the file. Above 0 in a black box, or if the
     * recorder began after the first event. */
    uint64_t first_seq;
    bool has_index;
};
const struct tts_recfile_info *tts_recfile_info(const struct tts_recfile *file);

/* Reads the next item (item.h). Returns TTS_E_SYNTAX if the file is damaged; err->offset is the
 * offset in the file, and the text names the block. Returns TTS_E_IO if the file cannot be
 * read, or if a black box was overwritten meanwhile; in the second case, open the file again.
 * After an error, each call returns the same error.
 *
 * A reader can follow a file that is still written. After opening the file or a seek, the
 * reader stores once how many bytes are committed. This point is the end, so the reader reaches
 * the end even if the file grows fast. A call after the end checks again: the call returns the
 * items that were committed since, in order and each once, or the end again. Altogether the
 * items are the same as in the finished file. When the state in struct tts_recfile_info is no
 * longer TTS_REC_RECORDING, the next end is the last one. A check costs a few small reads; a
 * check that finds items reads the last block again. */
TTS_NODISCARD enum tts_status tts_recfile_next(struct tts_recfile *file, struct tts_item *out,
                                               struct tts_error *err);

/* Seeks to the last keyframe at or before event `seq`, or to the first keyframe. `seq` =
 * first_seq is the moment before the first event. Makes one read if the file has an index,
 * otherwise reads the headers of the blocks one by one. Clears an earlier error. Returns
 * TTS_E_NOT_FOUND if `seq` is below first_seq or after the last event; TTS_E_SYNTAX, TTS_E_IO
 * and TTS_E_NOMEM as tts_recfile_next() does. After a failure the position is unchanged. */
TTS_NODISCARD enum tts_status tts_recfile_seek(struct tts_recfile *file, uint64_t seq,
                                               struct tts_error *err);
/* Continues after damage. After tts_recfile_next() returned TTS_E_SYNTAX, the next item is the
 * keyframe of the first good block that begins with one. The state that the caller folded
 * before the damage does not apply after it. *missing is the number of events between the last
 * returned event and the keyframe. Returns TTS_E_NOT_FOUND if there is no such block, or if
 * tts_recfile_seek() was called before; the error remains then. */
TTS_NODISCARD enum tts_status tts_recfile_resume(struct tts_recfile *file, uint64_t *missing);
/* Finds the figures that tts_recpack_figures() stored after the index. The figures are valid
 * until the next call for this file. *seq is the number of the last event of the file. Returns
 * false if there are no figures, or if the checksum of the figures or of any block is wrong.
 * Reads the whole file to check this. */
bool tts_recfile_figures(struct tts_recfile *file, const unsigned char **bytes, size_t *len,
                         uint64_t *seq);
/* Returns the offset in the file up to which items were read, to show progress. */
uint64_t tts_recfile_tell(const struct tts_recfile *file);
