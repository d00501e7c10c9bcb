/* cores.h: the bytes in use on each core of one device: blocks on all cores, buffers on some
 * cores, and the parts of the current program.
 *
 * The fullest core is always known. If it loses bytes, the next one is found by a scan of the
 * rows that changed since the last scan and a comparison of the maxima of all rows. Caller's
 * memory. The grid is set to 0 when the first part on only some cores comes; it is untouched
 * before. One thread at a time. */
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

/* Limit of the bytes that all cores have, and of the bytes that one core has in addition. Parts
 * above this limit are not put on cores, so sums cannot wrap. */
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
    uint64_t row_bytes[TTS_GRID_SIDE_MAX]; /* maximum of `sum` in a row that is not stale */
    uint16_t row_core[TTS_GRID_SIDE_MAX];  /* first core of the row with that maximum */
    uint64_t by[TTS_CORE_KINDS][TTS_CORES_MAX];
    uint32_t program_parts[TTS_CORES_MAX], buffer_parts[TTS_CORES_MAX];
    struct tts_program_part program[TTS_PROGRAM_PARTS_MAX];
};

struct tts_cores {
    struct tts_core_grid *grid;
    bool has_grid;                /* the grid was set to 0 */
    uint64_t all[TTS_CORE_KINDS]; /* bytes on every core. Always 0 for the kinds of a program */
    uint64_t all_bytes, all_parts; /* sum of `all`, and number of buffers in it */
    uint64_t some_parts;           /* number of buffers on some cores */
    uint64_t top_bytes;            /* maximum of the bytes that a core has in addition */
    uint16_t top_core;             /* first core with that maximum */
    uint64_t stale;                /* bits: rows that changed since the last scan */
    uint8_t columns, rows;         /* used part of the grid */
    uint32_t program_count;        /* number of listed parts */
    struct tts_box program_box;    /* box around all parts of the program */
    /* The program has parts; it has more parts than are listed. */
    bool has_program, has_unlisted;
    bool program_is_stale; /* the rows of program_box are stale as well */
    bool is_lost;          /* a part could not be put on a core: the figures are lower bounds */
};

/* The use of one core. For the fullest core, the first one in row-major order among equals. */
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
/* Like tts_cores_sum(), for any core. */
void tts_cores_sum_at(const struct tts_cores *cores, uint16_t core, struct tts_core_sum *out);

/* Return whether `bytes` can be added to every core, or to some cores. */
bool tts_cores_have_room_on_all(const struct tts_cores *cores, uint64_t bytes);
bool tts_cores_have_room(const struct tts_cores *cores, uint64_t bytes);

/* Add and remove a buffer on every core. `kind` is TTS_CORE_L1 or TTS_CORE_L1_SMALL. */
void tts_cores_add_all(struct tts_cores *cores, enum tts_core_kind kind, uint64_t bytes);
void tts_cores_remove_all(struct tts_cores *cores, enum tts_core_kind kind, uint64_t bytes);
/* Add and remove a part on the cores of the boxes. tts_cores_add() takes any kind.
 * tts_cores_remove() takes buffers only: parts of a program are removed together. */
void tts_cores_add(struct tts_cores *cores, enum tts_core_kind kind, const struct tts_box *box,
                   size_t count, uint64_t bytes);
void tts_cores_remove(struct tts_cores *cores, enum tts_core_kind kind,
                      const struct tts_box *box, size_t count, uint64_t bytes);

/* Lists a part of the program that was added. The list holds its set from now on. Returns false
 * if the list is full. */
bool tts_cores_list(struct tts_cores *cores, const struct tts_program_part *part);
/* Removes all parts of the program. The caller has dropped the sets of the list. */
void tts_cores_end_program(struct tts_cores *cores);

/* Adds everything on `other` to `cores`, except the list of the program. `cores` has room for
 * it. */
void tts_cores_merge(struct tts_cores *cores, const struct tts_cores *other);

bool tts_cores_are_valid(const struct tts_cores *cores); /* slow: walks everything */
