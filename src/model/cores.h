/* cores.h: the bytes in use on each core of one device. Three things use a core: buffers on all
 * cores, buffers on some cores, and the circular buffers, dataflow buffers and scratchpads of
 * the current program. One such thing is called a part.
 *
 * The fullest core is always known. If the fullest core loses bytes, a scan of the rows that
 * changed since the last scan and a comparison of the maxima of all rows find the new fullest
 * core. The caller owns the memory. The grid is set to 0 when the first part on only some cores
 * comes, and is not touched before. One thread at a time. */
#pragma once

#include "model/coresets.h"
#include "ttscope/buffer.h"
#include "ttscope/event.h"

#include <stdbool.h>
#include <stdint.h>

/* Kinds of memory on a core. The first three belong to a program. */
enum tts_core_kind {
    TTS_CORE_CB,
    TTS_CORE_DFB,
    TTS_CORE_SCRATCHPAD,
    TTS_CORE_L1,
    TTS_CORE_L1_SMALL,
    TTS_CORE_KINDS,
};
_Static_assert(TTS_EVENT_DFB - TTS_EVENT_CB == TTS_CORE_DFB &&
                   TTS_EVENT_SCRATCHPAD - TTS_EVENT_CB == TTS_CORE_SCRATCHPAD,
               "one order for events and cores");
enum { TTS_PROGRAM_KINDS = TTS_CORE_L1, TTS_PROGRAM_PARTS_MAX = 1024 };

/* Two limits of the same value: of the bytes that every core has, and of the bytes that one
 * core has in addition. A part that would exceed a limit is not put on cores, so no sum can
 * overflow. */
#define TTS_CORE_BYTES_MAX (UINT64_C(1) << 62)

/* A circular buffer, dataflow buffer or scratchpad of the current program. */
struct tts_program_part {
    uint64_t bytes, seq;
    uint32_t op, set;
    enum tts_core_kind kind;
};

/* Arrays over cores have the index y * TTS_GRID_SIDE_MAX + x. */
struct tts_core_grid {
    uint64_t sum[TTS_CORES_MAX];
    /* Maximum of `sum` in the row; valid unless the row is stale. */
    uint64_t row_bytes[TTS_GRID_SIDE_MAX];
    uint16_t row_core[TTS_GRID_SIDE_MAX]; /* first core of the row that has this maximum */
    uint64_t by[TTS_CORE_KINDS][TTS_CORES_MAX];
    uint32_t program_parts[TTS_CORES_MAX], buffer_parts[TTS_CORES_MAX];
    struct tts_program_part program[TTS_PROGRAM_PARTS_MAX];
};

struct tts_cores {
    struct tts_core_grid *grid;
    bool has_grid; /* whether the grid was set to 0 and is in use */
    /* Bytes that every core has, by kind. Always 0 for the kinds of a program. */
    uint64_t all[TTS_CORE_KINDS];
    uint64_t all_bytes, all_parts; /* sum of `all`; number of buffers that are on every core */
    uint64_t some_parts;           /* number of buffers on some cores */
    uint64_t top_bytes;            /* most bytes that any core has in addition to all_bytes */
    uint16_t top_core;             /* first core with top_bytes */
    /* One bit for each row: the row changed since the last scan. */
    uint64_t stale;
    uint8_t columns, rows;      /* number of columns and rows in use */
    uint32_t program_count;     /* number of listed parts of the program */
    struct tts_box program_box; /* box around all parts of the program */
    /* Whether the program has parts, and whether it has parts that are not listed. */
    bool has_program, has_unlisted;
    /* The rows of program_box are stale too, although `stale` does not say so. */
    bool program_is_stale;
    /* A part could not be put on a core, so the real use may be higher. */
    bool is_lost;
};

/* The use of one core. If several cores are the fullest, the first one in row-major order
 * counts as the fullest core. */
struct tts_core_sum {
    uint64_t bytes, by[TTS_CORE_KINDS], parts;
    uint16_t core;
};

void tts_cores_init(struct tts_cores *cores, struct tts_core_grid *grid);

static inline uint64_t tts_cores_bytes(const struct tts_cores *cores)
{
    return cores->all_bytes + cores->top_bytes;
}
void tts_cores_sum(const struct tts_cores *cores, struct tts_core_sum *out);
/* tts_cores_sum() returns the use of the fullest core. tts_cores_sum_at() returns the use of
 * any core. */
void tts_cores_sum_at(const struct tts_cores *cores, uint16_t core, struct tts_core_sum *out);

/* tts_cores_have_room_on_all() returns whether `bytes` can be added to every core,
 * tts_cores_have_room() whether they can be added to any single core, without exceeding
 * TTS_CORE_BYTES_MAX. */
bool tts_cores_have_room_on_all(const struct tts_cores *cores, uint64_t bytes);
bool tts_cores_have_room(const struct tts_cores *cores, uint64_t bytes);

/* tts_cores_add_all() adds a buffer to every core, tts_cores_remove_all() removes a buffer from
 * every core. `kind` is TTS_CORE_L1 or TTS_CORE_L1_SMALL. */
void tts_cores_add_all(struct tts_cores *cores, enum tts_core_kind kind, uint64_t bytes);
void tts_cores_remove_all(struct tts_cores *cores, enum tts_core_kind kind, uint64_t bytes);
/* tts_cores_add() adds a part of any kind to the cores of the boxes. tts_cores_remove() removes
 * a buffer from the cores of the boxes. Parts of a program cannot be removed alone:
 * tts_cores_end_program() removes all of them. */
void tts_cores_add(struct tts_cores *cores, enum tts_core_kind kind, const struct tts_box *box,
                   size_t count, uint64_t bytes);
void tts_cores_remove(struct tts_cores *cores, enum tts_core_kind kind,
                      const struct tts_box *box, size_t count, uint64_t bytes);

/* Adds a part of the program, which tts_cores_add() has added to the cores, to the list of
 * parts. From now on the list is a holder of the part's set of cores (coresets.h). Returns
 * false if the list is full. */
bool tts_cores_list(struct tts_cores *cores, const struct tts_program_part *part);
/* Removes all parts of the program. Before this call, the caller drops the sets of the listed
 * parts. */
void tts_cores_end_program(struct tts_cores *cores);

/* Adds all bytes and parts on the cores of `other` to `cores`, except the list of the program.
 * The caller has checked that there is room. */
void tts_cores_merge(struct tts_cores *cores, const struct tts_cores *other);

bool tts_cores_are_valid(const struct tts_cores *cores); /* slow: checks every core */
