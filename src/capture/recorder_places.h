/* recorder_places.h: the places of a recording: parts of the file, mapped into memory, that the
 * recorder writes one after the other.
 *
 * A black box has all its places from the beginning. Any other recording gets its next place
 * from a helper thread while the current place is written. If the helper has not begun, the
 * thread that needs the place makes it itself; if the helper is at work, the thread sleeps
 * briefly until the place is ready. Every place has its room on the disk before it is written.
 * Functions return 0 or an errno value. Only for the thread that folds, except open and
 * close. */
#pragma once

#include "base/mapfile.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct tts_places {
    int fd;
    uint64_t place_bytes;
    uint64_t box_places; /* places of a black box; 0: no limit */
    struct tts_mapped header;
    struct tts_mapped now; /* the current place; in a black box all places */
    /* The rest is only used if the number of places has no limit. */
    _Atomic int step;        /* which thread may use the fields below: see recorder_places.c */
    uint64_t next_number;    /* number of the next place */
    struct tts_mapped next;  /* the next place */
    struct tts_mapped spent; /* the place before `now`, to be unmapped */
    int reason;              /* why there is no next place */
    bool has_helper;
    atomic_bool is_over;
    sem_t wake;
    pthread_t helper;
};

/* Reserves and maps the header and the first place, or all places of a black box. `fd` is
 * borrowed until close. */
int tts_places_open(struct tts_places *places, int fd, uint64_t place_bytes,
                    uint64_t box_places);
/* Unmaps everything. `is_child`: the helper thread belongs to the parent process. */
void tts_places_close(struct tts_places *places, bool is_child);

/* Writes the memory of the place for block `number` to *out. Numbers count from 0 and increase
 * by one with each call. The caller no longer uses the previous place. */
int tts_places_take(struct tts_places *places, uint64_t number, unsigned char **out);

/* Returns the offset of that place in the file. */
uint64_t tts_places_offset(const struct tts_places *places, uint64_t number);
