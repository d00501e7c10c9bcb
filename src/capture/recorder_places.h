/* recorder_places.h: the places of a recording that is being written, in memory one after the
 * other.
 *
 * A black box has all its places from the begin on. Any other gets the next one ready while the
 * one before is written to, in a thread of its own; who needs a place takes it, makes it itself
 * when that thread has not begun to, and naps while it is at it. Every place has its room on
 * the disk before it can be written to. Functions return 0 or what errno would be. For the
 * thread that folds, but for open and close. */
#pragma once

#include "base/mapfile.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

struct tts_places {
    int fd;
    uint64_t place_bytes;
    uint64_t box_places; /* of a black box; 0: any number */
    struct tts_mapped header;
    struct tts_mapped now; /* a black box: all places */
    /* What follows is for any number of places. */
    _Atomic int step;        /* who may touch the rest: see recorder_places.c */
    uint64_t next_number;    /* of the place that is got ready */
    struct tts_mapped next;  /* that place */
    struct tts_mapped spent; /* the one before `now`, to be unmapped */
    int reason;              /* why there is no next one */
    bool has_helper;
    atomic_bool is_over;
    sem_t wake;
    pthread_t helper;
};

/* The header and the first place, or all places, are reserved and mapped. `fd` is borrowed. */
int tts_places_open(struct tts_places *places, int fd, uint64_t place_bytes,
                    uint64_t box_places);
/* Unmaps everything. `is_child`: the helper is another process's. */
void tts_places_close(struct tts_places *places, bool is_child);

/* The memory of the place of block `number`; numbers count from 0, one more each time. The one
 * before is no longer touched. */
int tts_places_take(struct tts_places *places, uint64_t number, unsigned char **out);

/* Where it is in the file. */
uint64_t tts_places_offset(const struct tts_places *places, uint64_t number);
