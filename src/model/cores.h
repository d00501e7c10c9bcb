/* cores.h: what is in use on every core of one device now: blocks that all cores have alike,
 * buffers of some cores, and what the program under way has.
 *
 * The fullest core is known at any time. Where it loses something, the next is looked for: in
 * the rows that changed since the last look, and among the fullest of all rows. Caller's
 * memory; the grid is touched, and set to 0, when the first thing lies on some cores only. One
 * thread at a time. */
#pragma once

#include "model/coresets.h"
#include "ttscope/buffer.h"
#include "ttscope/event.h"

#include <stdbool.h>
#include <stdint.h>

/* What takes bytes of a core; the first three are a program's. */
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

/* More than this, for all that every core has or for all that a core has besides, is never put
 * on a core: sums cannot wrap. */
#define TTS_CORE_BYTES_MAX (UINT64_C(1) << 62)

/* A circular buffer, dataflow buffer or scratchpad of the program under way. */
struct tts_program_part {
    uint64_t bytes, seq;
    uint32_t op, set;
    enum tts_core_kind kind;
};

/* [y * TTS_GRID_SIDE_MAX + x] */
struct tts_core_grid {
    uint64_t sum[TTS_CORES_MAX];
    uint64_t row_bytes[TTS_GRID_SIDE_MAX]; /* the most of `sum` in a row that is not stale */
    uint16_t row_core[TTS_GRID_SIDE_MAX];  /* the first that has it */
    uint64_t by[TTS_CORE_KINDS][TTS_CORES_MAX];
    uint32_t program_parts[TTS_CORES_MAX], buffer_parts[TTS_CORES_MAX];
    struct tts_program_part program[TTS_PROGRAM_PARTS_MAX];
};

struct tts_cores {
    struct tts_core_grid *grid;
    bool has_grid;                  /* it was set to 0 */
    uint64_t all[TTS_CORE_KINDS];   /* on every core; of a program nothing is */
    uint64_t all_bytes, all_parts;  /* their sum, and how many they are */
    uint64_t some_parts;            /* buffers on some cores */
    uint64_t top_bytes;             /* the most of what a core has besides */
    uint16_t top_core;              /* the first that has it */
    uint64_t stale;                 /* rows that changed since they were looked at: bits */
    uint8_t columns, rows;          /* of the grid, as far as there was ever something */
    uint32_t program_count;         /* listed */
    struct tts_box program_box;     /* around all that the program has */
    bool has_program, has_unlisted; /* it has anything; more than is listed */
    bool program_is_stale;          /* the rows of its box are stale, too */
    bool is_lost; /* something could not be put on a core: all is at least what it says */
};

/* The fullest core: row-major first among equals. */
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
/* Of any core. */
void tts_cores_sum_at(const struct tts_cores *cores, uint16_t core, struct tts_core_sum *out);

/* Can so much be put on every core, or on some? */
bool tts_cores_have_room_on_all(const struct tts_cores *cores, uint64_t bytes);
bool tts_cores_have_room(const struct tts_cores *cores, uint64_t bytes);

/* Buffers, of TTS_CORE_L1 or TTS_CORE_L1_SMALL. */
void tts_cores_add_all(struct tts_cores *cores, enum tts_core_kind kind, uint64_t bytes);
void tts_cores_remove_all(struct tts_cores *cores, enum tts_core_kind kind, uint64_t bytes);
/* Of any kind; of a program they are removed together. */
void tts_cores_add(struct tts_cores *cores, enum tts_core_kind kind, const struct tts_box *box,
                   size_t count, uint64_t bytes);
void tts_cores_remove(struct tts_cores *cores, enum tts_core_kind kind,
                      const struct tts_box *box, size_t count, uint64_t bytes);

/* Lists what was added for the program, with a set that the list holds from now on. False: the
 * list is full. */
bool tts_cores_list(struct tts_cores *cores, const struct tts_program_part *part);
/* The program has nothing any more; who held the sets of the list has dropped them. */
void tts_cores_end_program(struct tts_cores *cores);

/* Puts on `cores` all that `other` has, but for the list. Both have room for it. */
void tts_cores_merge(struct tts_cores *cores, const struct tts_cores *other);

bool tts_cores_are_valid(const struct tts_cores *cores); /* walks everything */
