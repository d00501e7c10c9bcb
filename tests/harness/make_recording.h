/* make_recording.h: the functions that the files of the program make_recording share. */
#pragma once

#include "harness/item_rig.h"
#include "model/recording/recpack.h"

#define MAKE_START_NS UINT64_C(5000000000)

struct make {
    struct item_rig rig; /* makes the items */
    struct tts_recpack *pack;
    struct tts_rec_state state; /* the final state, without the number of events */
    /* Time from one event to the next; 0: one microsecond, as in item_rig.h. */
    uint64_t step_ns;
};

void make_put(struct make *make, struct tts_item item);
_Noreturn void make_die(const char *why);

/* Makes a recording from standard input, one item per line. The time of an event is its number
 * in microseconds:
 *     alloc DEVICE POOL ID SIZE PAGE CORES [ADDRESS]
 *                                              POOL is the number of an enum tts_pool
 *     free DEVICE POOL ID
 *     program DEVICE, cb DEVICE SIZE X0 Y0 X1 Y1
 *     op NAME, end
 *     refuse DEVICE SIZE [NEED BANKS BANK TAKEN FREE LARGEST]
 *                                              a request of DRAM fails
 *     clash DEVICE END ADDRESS                 circular buffers clash with L1 buffers
 *     trace DEVICE, traced DEVICE              the capture of a trace begins, or ends
 *     begin CAPTURE                            a capture begins
 *     chip CHIP MESH, missed COUNT
 *     behind SEQ                               the next items follow this event
 *     stopped DROPPED ERRNO
 *     churn PAIRS                              allocates and frees 12 pages of 2048 B
 *     many COUNT, none COUNT                   allocates, or frees, buffers 1 to COUNT
 *     box COUNT                                a black box begins (make_story.c)
 *     wait MS                                  the next event is later
 */
void make_story(struct make *make);

/* Makes the recording of a scene. Returns false if there is no scene of that name.
 *
 *     run       two phases, a mesh, a refused request, a free of an unknown buffer
 *     killed    `run`, but the program was killed
 *     stopped   `run`, but the recording stopped because the disk was full
 *     missed    `run`, but 5 events were missed
 *     box       a black box that begins after event 1000
 *     tight     `box`, but the keyframe lacks 7 buffers
 *     phases    60 phases
 *     names     66,000 names of operations
 */
bool make_scene(struct make *make, const char *name);

/* Makes a random history that depends only on the seed and contains every kind of item. A box
 * begins in the middle of the history, with a keyframe. */
void make_random(struct make *make, uint64_t events, uint64_t seed, bool is_box);
