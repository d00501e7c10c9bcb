/* recfile_inside.h: the state that the files of the recording reader share. */
#pragma once

#include "model/recording/recdec.h"
#include "model/recording/recfile.h"
#include "model/recording/recindex.h"

#include <assert.h>
#include <zstd.h>

/* The header of a block. */
struct tts_recblock {
    struct tts_rec_block head;
    uint64_t off; /* offset in the file */
    uint32_t used, check;
};

/* A byte array that grows. */
struct tts_recbytes {
    unsigned char *bytes;
    size_t capacity;
};

/* The position of the reader: before item `given` of a block, counted from 0. */
struct tts_recspot {
    uint64_t number, off, given;
};

struct tts_recfile {
    const struct tts_alloc *alloc;
    int fd;
    struct tts_recfile_info info;
    struct tts_recspot first; /* first block */
    uint64_t blocks;          /* number of blocks that are known to exist */
    uint64_t limit; /* the reader stops here until it has returned the end, so that a file that
                       grows fast has an end. All blocks below the limit had begun when it was
                       set, so all except the last are complete */
    bool is_due;    /* `limit` must be set again */
    bool was_ended; /* the file was finished when it was opened: nothing is written any more */
    bool has_end;   /* the number of the last event is known: end_seq */
    uint64_t end_seq;
    struct tts_recindex_entry *entries;
    size_t entry_count, entry_capacity;

    struct tts_recspot spot;
    bool is_open;  /* the decoder has the block at `spot` */
    bool is_stale; /* the block in the decoder was read before `limit` was set */
    bool is_cut;   /* the file ends inside the block in the decoder */
    bool was_sought;
    /* A block was read before this block; `seq` is the last event of that block. */
    bool follows;
    /* The block at `spot`; valid if is_open or if an item was returned. */
    struct tts_recblock block;
    uint64_t seq, time_ns;    /* number and time of the previous item */
    struct tts_error failure; /* permanent error; its status is TTS_OK if there is none */

    struct tts_recbytes raw, plain;
    ZSTD_DCtx *zstd;       /* created when needed */
    struct tts_recdec dec; /* must be last: opening a file clears the fields before it */
};

/* ---- blocks: recfile_block.c ---- */

/* Reads `len` bytes at `off`. Returns TTS_E_NOT_FOUND if the file ends before; *got is the
 * number of bytes read. */
TTS_NODISCARD enum tts_status tts_recfile_pread(const struct tts_recfile *file, uint64_t off,
                                                unsigned char *out, size_t len, size_t *got,
                                                struct tts_error *err);

/* Sets the error "block N at byte OFF is damaged: WHY". Returns TTS_E_SYNTAX. */
enum tts_status tts_recblock_damaged(uint64_t number, uint64_t off, const char *why,
                                     struct tts_error *err);

/* Sets the error "block N at byte OFF is missing". */
enum tts_status tts_recblock_missing(struct tts_recspot spot, struct tts_error *err);

/* Returns the offset of block `number` in a live file. */
uint64_t tts_recblock_off(const struct tts_recfile *file, uint64_t number);

/* Reads the header of the block at a spot. Returns TTS_E_NOT_FOUND if no block was begun there,
 * TTS_E_SYNTAX if the header is damaged. */
TTS_NODISCARD enum tts_status tts_recblock_look(const struct tts_recfile *file,
                                                struct tts_recspot spot,
                                                struct tts_recblock *out,
                                                struct tts_error *err);

/* Reads the stored payload and verifies its checksum. Returns TTS_OK, TTS_E_SYNTAX, TTS_E_IO or
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_recblock_check(struct tts_recfile *file,
                                                 const struct tts_recblock *block,
                                                 struct tts_error *err);

/* Reads, verifies and unpacks the payload. The payload is valid until the next call. Returns
 * TTS_OK, TTS_E_SYNTAX, TTS_E_IO or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_recblock_read(struct tts_recfile *file,
                                                const struct tts_recblock *block,
                                                const unsigned char **payload, size_t *len,
                                                struct tts_error *err);

/* Reads the available part of the payload of a block that the end of the file cuts, without
 * verification. Returns false if the block is complete or no part of it can be read. */
bool tts_recblock_read_cut(struct tts_recfile *file, const struct tts_recblock *block,
                           const unsigned char **payload, size_t *len);
/* Sets the error "block N at byte OFF is damaged: the file ends inside the block". */
enum tts_status tts_recblock_cut(const struct tts_recblock *block, struct tts_error *err);

/* Returns whether `block`, which was read last, is the same block as `was` at the same place,
 * and begins with the same bytes. */
bool tts_recblock_goes_on(const struct tts_recfile *file, const struct tts_recblock *block,
                          const struct tts_recblock *was);

/* Sets the error "block N was overwritten while it was read". Returns TTS_E_IO. */
enum tts_status tts_recblock_overwritten(struct tts_recspot spot, struct tts_error *err);

/* ---- first block and index: recfile_seek.c ---- */

/* Finds the first block and the index. Returns TTS_OK, TTS_E_IO or TTS_E_NOMEM. Damage is
 * reported later, when the items are read. */
TTS_NODISCARD enum tts_status tts_recfile_locate(struct tts_recfile *file,
                                                 struct tts_error *err);
/* Reads the state again. If the file is a live file that is not finished, also sets the limit
 * again. */
void tts_recfile_renew(struct tts_recfile *file);
/* Sets the error for a spot that lost its block: the block is missing, or it was overwritten in
 * a black box that wrapped around meanwhile. */
enum tts_status tts_recfile_lacks(const struct tts_recfile *file, struct tts_recspot spot,
                                  struct tts_error *err);
/* Returns the spot after a block. */
struct tts_recspot tts_recfile_behind(const struct tts_recfile *file,
                                      const struct tts_recblock *block);
/* Returns whether the spot is after the last block of a packed file. */
bool tts_recfile_is_index(const struct tts_recfile *file, struct tts_recspot spot);

/* ---- items: recfile.c ---- */

/* Opens the block of the spot and skips its items that were returned before. Returns
 * TTS_E_NOT_FOUND if there is no further block and no block is missing. */
TTS_NODISCARD enum tts_status tts_recfile_enter(struct tts_recfile *file,
                                                struct tts_error *err);
