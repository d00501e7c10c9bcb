/* recorder_places.h: the places of a recording: parts of the file, mapped into memory, that the
 * recorder writes one after the other.
 *
 * A black box has all its places from the beginning. Any other recording gets its next place
 * from a helper thread while the current place is written. If the helper has not begun, the
 * thread that needs the place makes the place itself. If the helper is making the place, the
 * thread sleeps briefly until the place is ready. Disk space for a place is reserved before the
 * place is written. Functions return 0 or an errno value. Only the thread that folds calls
 * them, except open and close. */
#pragma once

#include "base/mapfile.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct tts_places {
    int fd;
    uint64_t place_bytes;
    uint64_t box_places; /* number of places of a black box; 0 if there is no limit */
    struct tts_mapped header;
    struct tts_mapped now; /* the current place; in a black box all places */
    /* The fields below are used only if the number of places has no limit. */
    _Atomic int step;        /* which thread may use the fields below: see recorder_places.c */
    uint64_t next_number;    /* number of the next place */
    struct tts_mapped next;  /* the next place */
    struct tts_mapped spent; /* the place before `now`, which is to be unmapped */
    int reason;              /* errno value if the next place could not be made */
    bool has_helper;
    atomic_bool is_over;
    sem_t wake;
    pthread_t helper;
};

/* Reserves and maps the header and the first place, or all places of a black box. `fd` is
 * borrowed until close. */
int tts_places_open(struct tts_places *places, int fd, uint64_t place_bytes,
                    uint64_t box_places);
/* Unmaps everything and ends the helper thread. `is_child` is true in the child of a fork,
 * where the helper thread does not exist. */
void tts_places_close(struct tts_places *places, bool is_child);

/* Sets *out to the memory of the place for block `number`. Numbers count from 0 and increase by
 * one with each call. After the call, the caller must not use the previous place. */
int tts_places_take(struct tts_places *places, uint64_t number, unsigned char **out);

/* Returns the offset in the file of the place for block `number`. */
uint64_t tts_places_offset(const struct tts_places *places, uint64_t number);
