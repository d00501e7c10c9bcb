/* make_recording.c: a program that writes packed recordings for tests.
 *     make_recording OUT.tts story < story
 *     make_recording OUT.tts random|box_of EVENTS SEED
 *     make_recording OUT.tts SCENE
 * make_recording.h describes the stories and the scenes. */
#include "harness/make_recording.h"

#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void make_die(const char *why)
{
    fprintf(stderr, "make_recording: %s\n", why);
    exit(3);
}

void make_put(struct make *make, struct tts_item item)
{
    struct tts_error err = {0};
    if (make->step_ns > 0)
        item.time_ns = MAKE_START_NS + make->step_ns * item.seq;
    if (tts_recpack_item(make->pack, &item, &err) != TTS_OK)
        make_die(err.text);
}

static uint64_t number(const char *text)
{
    uint64_t value = 0;
    if (!text || tts_number_parse(text, strlen(text), &value) != TTS_OK)
        make_die("expected a number");
    return value;
}

static void make_all(struct make *make, char **argv)
{
    const char *scene = argv[2];
    if (strcmp(scene, "story") == 0)
        make_story(make);
    else if (strcmp(scene, "random") == 0 || strcmp(scene, "box_of") == 0)
        make_random(make, number(argv[3]), number(argv[3] ? argv[4] : NULL), scene[0] == 'b');
    else if (!make_scene(make, scene))
        make_die("unknown scene");
}

int main(int argc, char **argv)
{
    static struct make make = {
        .rig = {.has_time = true, .time_ns = MAKE_START_NS},
        .state = {.generation = 1, .kind = TTS_REC_ENDED},
    };
    struct tts_error err = {0};
    struct tts_rec_header header = {.kind = TTS_REC_PACKED,
                                    .start_ns = MAKE_START_NS,
                                    .start_realtime_ns = UINT64_C(1700000000000000000),
                                    .unit_scale = UINT64_C(1) << 32,
                                    .pid = 4711,
                                    .program = "train\x1b[2J.py",
                                    .writer = "0.1.0"};
    FILE *out = argc >= 3 ? fopen(argv[1], "wb+") : NULL;
    if (!out)
        make_die("give a file to write and a scene");
    if (tts_recpack_new(out, &header, NULL, &make.pack, &err) != TTS_OK)
        make_die(err.text);
    make_all(&make, argv);
    /* Until here, state.events holds the number of events before the first. */
    make.state.events = make.rig.seq - make.state.events;
    if (tts_recpack_end(make.pack, &make.state, &err) != TTS_OK)
        make_die(err.text);
    tts_recpack_free(make.pack);
    return fclose(out) == 0 ? 0 : 3;
}
