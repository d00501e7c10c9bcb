/* recfile.h: a recording, read from its begin or from any event on.
 * Every block is checked before an item of it is given. The file may be one that is being
 * written, was never ended, is cut or damaged: what is before the damage is read, then it is an
 * error with its place. A block that the file ends in cannot be checked: its items up to the
 * cut are given all the same, then comes the error. tts_recfile_resume() goes on behind damage.
 * Nothing is mapped, so that a file which is cut meanwhile does no harm. Bounded memory: one
 * block of at most 64 MiB at a time, packed and unpacked, and the index. One thread. The rules
 * are in docs/design/recording.md. */
#pragma once

#include "model/item.h"
#include "model/recording/recformat.h"
#include "ttscope/alloc.h"

struct tts_recfile;

/* Is this how a recording begins? `len` bytes of its first ones; 8 are enough. */
bool tts_recfile_is_one(const unsigned char *bytes, size_t len);

/* TTS_E_IO, TTS_E_SYNTAX (not a recording, or its header is damaged), TTS_E_RANGE (newer),
 * TTS_E_NOMEM. Not a pipe. The text of TTS_E_IO names the path, others are to stand behind it.
 */
TTS_NODISCARD enum tts_status tts_recfile_open(const char *path, const struct tts_alloc *alloc,
                                               struct tts_recfile **out, struct tts_error *err);
void tts_recfile_close(struct tts_recfile *file); /* NULL is fine */

struct tts_recfile_info {
    struct tts_rec_header header;
    struct tts_rec_state state; /* when it was opened, or looked at again behind an end */
    bool state_is_known;        /* a copy is valid */
    uint64_t file_bytes;        /* the same */
    uint64_t first_seq; /* events before the first that is there: of a black box, or when the
                         * recorder began late */
    bool has_index;
};
const struct tts_recfile_info *tts_recfile_info(const struct tts_recfile *file);

/* As item.h says. TTS_E_SYNTAX: err->offset is the byte of the file, the text names the block.
 * TTS_E_IO: it cannot be read, or a black box was written over meanwhile: open it anew. After
 * an error it stays one.
 *
 * A file that is being written can be followed. It ends with the blocks that were begun, and
 * what was committed in the last of them, at some time after it was opened or sought in:
 * however fast it grows it has an end. A call behind that end looks again: it gives what was
 * committed since, in its order, nothing twice and nothing left out, or tells the end again. So
 * all that is given before the file has ended, and after, is what a reading of the whole would
 * give; once info's state is no longer TTS_REC_RECORDING, an end that is told after that is the
 * last one. A look costs a few small reads, and one that finds something reads the last block
 * anew. */
TTS_NODISCARD enum tts_status tts_recfile_next(struct tts_recfile *file, struct tts_item *out,
                                               struct tts_error *err);

/* The next item is that of the last keyframe that is at or before event `seq`, or the first
 * there is; first_seq is the moment before the first event. With an index one read finds it;
 * without, headers of blocks are walked. Forgets an error. TTS_E_NOT_FOUND: `seq` is below
 * first_seq or behind the last event. TTS_E_SYNTAX, TTS_E_IO, TTS_E_NOMEM. Where it fails it
 * stays where it was. */
TTS_NODISCARD enum tts_status tts_recfile_seek(struct tts_recfile *file, uint64_t seq,
                                               struct tts_error *err);
/* Goes on behind damage: after tts_recfile_next() said TTS_E_SYNTAX the next item is the
 * keyframe of the first good block that begins with one. What the caller knew before is not
 * right any more there. *missing: events between the last that was given and that keyframe.
 * TTS_E_NOT_FOUND: there is no such block, or there was a seek; the error stays. */
TTS_NODISCARD enum tts_status tts_recfile_resume(struct tts_recfile *file, uint64_t *missing);
/* Finds the figures that tts_recpack_figures() stored after the index, borrowed until the next
 * call for this file. Returns false if there are none, or if they or any block of items do not
 * fit their check: all bytes of the file are read for that. *seq is the last event of the file.
 */
bool tts_recfile_figures(struct tts_recfile *file, const unsigned char **bytes, size_t *len,
                         uint64_t *seq);
/* How far it is: bytes of the file behind it. For progress. */
uint64_t tts_recfile_tell(const struct tts_recfile *file);
