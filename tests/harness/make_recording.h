/* make_recording.h: what the files of the program make_recording know of each other. */
#pragma once

#include "harness/item_rig.h"
#include "model/recording/recpack.h"

#define MAKE_START_NS UINT64_C(5000000000)

struct make {
    struct item_rig rig; /* makes the items */
    struct tts_recpack *pack;
    struct tts_rec_state state; /* to end with, but for its events */
    uint64_t step_ns;           /* from event to event; 0: as the rig has it */
};

void make_put(struct make *make, struct tts_item item);
_Noreturn void make_die(const char *why);

/* Of what stands on standard input: one item on a line, each at the time of its number in
 * microseconds:
 *     alloc DEVICE POOL ID SIZE PAGE CORES     POOL as enum tts_pool counts them
 *     free DEVICE POOL ID
 *     program DEVICE, cb DEVICE SIZE X0 Y0 X1 Y1
 *     op NAME, end
 *     refuse DEVICE SIZE                       a request of DRAM
 *     trace DEVICE                             the capture of a trace begins
 *     begin CAPTURE                            a capture begins
 *     chip CHIP MESH, missed COUNT
 *     behind SEQ                               what comes is behind this event
 *     stopped DROPPED ERRNO
 *     churn PAIRS                              allocs and frees of 12 pages of 2048
 *     many COUNT, none COUNT                   buffers 1 to COUNT come, of 2048 B, or go
 *     box COUNT                                a black box begins with COUNT buffers, see there
 */
void make_story(struct make *make);

/* "run" (two phases, a mesh, a refused request, a free from before), "killed", "stopped" and
 * "missed" (the same with such an end), "box" (begins behind event 1000), "tight"
 * (the same with a keyframe that leaves out 7 buffers), "phases" (60 of
 * them), "names" (66,000 of operations). False: none of that name. */
bool make_scene(struct make *make, const char *name);

/* A history that the seed decides, with all that a recording can have; a box begins in the
 * middle, with a keyframe. */
void make_random(struct make *make, uint64_t events, uint64_t seed, bool is_box);
