/* recfile_inside.h: what the files of the reader of recordings know of each other. */
#pragma once

#include "model/recording/recdec.h"
#include "model/recording/recfile.h"
#include "model/recording/recindex.h"

#include <assert.h>
#include <zstd.h>

/* A block that was looked at: what its header says. */
struct tts_recblock {
    struct tts_rec_block head;
    uint64_t off; /* in the file */
    uint32_t used, check;
};

/* Bytes that grow as they are needed. */
struct tts_recbytes {
    unsigned char *bytes;
    size_t capacity;
};

/* Where the reader is: before item `given` of a block, by 0. */
struct tts_recspot {
    uint64_t number, off, given;
};

struct tts_recfile {
    const struct tts_alloc *alloc;
    int fd;
    struct tts_recfile_info info;
    struct tts_recspot first; /* block there is */
    uint64_t blocks;          /* there are these at least: numbers are below */
    uint64_t limit;           /* no further, until the end was told: so that a file which grows
                               * faster than it is read has one. When it was set the blocks below
                               * it were begun, so that all but the last of them are whole */
    bool is_due;              /* to set it anew */
    bool was_ended;           /* when it was opened: nothing is written any more */
    bool has_end;             /* it is known what the last event is: */
    uint64_t end_seq;
    struct tts_recindex_entry *entries;
    size_t entry_count, entry_capacity;

    struct tts_recspot spot;
    bool is_open;  /* the block of the spot is in the decoder */
    bool is_stale; /* and was looked at before the limit was set */
    bool is_cut;   /* the file ends in that block */
    bool was_sought;
    bool follows;              /* a block was read before this one: seq is its last */
    struct tts_recblock block; /* of the spot, if it is open or something of it was given */
    uint64_t seq, time_ns;     /* of the item before */
    struct tts_error failure;  /* TTS_OK: none */

    struct tts_recbytes raw, plain;
    ZSTD_DCtx *zstd;       /* made when it is needed */
    struct tts_recdec dec; /* stays the last: to open a file clears what is before it */
};

/* ---- blocks: recfile_block.c ---- */

/* TTS_OK: all of them. TTS_E_NOT_FOUND: the file ends before, *got tells after how many. */
TTS_NODISCARD enum tts_status tts_recfile_pread(const struct tts_recfile *file, uint64_t off,
                                                unsigned char *out, size_t len, size_t *got,
                                                struct tts_error *err);

/* "block N at byte OFF is damaged: WHY". Returns TTS_E_SYNTAX. */
enum tts_status tts_recblock_damaged(uint64_t number, uint64_t off, const char *why,
                                     struct tts_error *err);

/* "block N at byte OFF is missing". */
enum tts_status tts_recblock_missing(struct tts_recspot spot, struct tts_error *err);

/* Of a live file: where block `number` is. */
uint64_t tts_recblock_off(const struct tts_recfile *file, uint64_t number);

/* The header of the block at a spot. TTS_E_NOT_FOUND: none was begun there. TTS_E_SYNTAX. */
TTS_NODISCARD enum tts_status tts_recblock_look(const struct tts_recfile *file,
                                                struct tts_recspot spot,
                                                struct tts_recblock *out,
                                                struct tts_error *err);

/* Reads the payload as it is stored, and checks it. TTS_E_SYNTAX, TTS_E_IO, TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_recblock_check(struct tts_recfile *file,
                                                 const struct tts_recblock *block,
                                                 struct tts_error *err);

/* Its payload, checked and unpacked, borrowed until the next call. TTS_E_SYNTAX, TTS_E_IO,
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_recblock_read(struct tts_recfile *file,
                                                const struct tts_recblock *block,
                                                const unsigned char **payload, size_t *len,
                                                struct tts_error *err);

/* The payload of a block that the file ends in, as far as it is there, not checked. Returns
 * false if the file has all of it, or if nothing of it can be had. */
bool tts_recblock_read_cut(struct tts_recfile *file, const struct tts_recblock *block,
                           const unsigned char **payload, size_t *len);
/* "block N at byte OFF is damaged: the file ends in it". */
enum tts_status tts_recblock_cut(const struct tts_recblock *block, struct tts_error *err);

/* Whether `block`, which was read last, is the block of the same place that it `was`, and
 * begins as that. */
bool tts_recblock_goes_on(const struct tts_recfile *file, const struct tts_recblock *block,
                          const struct tts_recblock *was);

/* "block N was written over while it was read". Returns TTS_E_IO. */
enum tts_status tts_recblock_overwritten(struct tts_recspot spot, struct tts_error *err);

/* ---- where to start: recfile_seek.c ---- */

/* Finds the first block, and the index. TTS_E_IO, TTS_E_NOMEM; damage is for who reads on. */
TTS_NODISCARD enum tts_status tts_recfile_locate(struct tts_recfile *file,
                                                 struct tts_error *err);
/* The state, and the limit of a live file until it has ended, anew. */
void tts_recfile_renew(struct tts_recfile *file);
/* There is no block at a spot where one was: it is missing, or, in a black box whose places
 * went round meanwhile, written over. */
enum tts_status tts_recfile_lacks(const struct tts_recfile *file, struct tts_recspot spot,
                                  struct tts_error *err);
/* The spot behind a block. */
struct tts_recspot tts_recfile_behind(const struct tts_recfile *file,
                                      const struct tts_recblock *block);
/* Whether there are no more blocks: behind the last of a packed file. */
bool tts_recfile_is_index(const struct tts_recfile *file, struct tts_recspot spot);

/* ---- items: recfile.c ---- */

/* Opens the block of the spot, and passes over what was given of it. TTS_E_NOT_FOUND: there is
 * no block, and none is missing. */
TTS_NODISCARD enum tts_status tts_recfile_enter(struct tts_recfile *file,
                                                struct tts_error *err);
