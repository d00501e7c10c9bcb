/* replay_recording.h: `ttscope replay RECORDING --device`, which runs the allocations of a
 * recording or a graph trace on another device. */
#pragma once

#include "cli/device_arg.h"

#include <stdbool.h>

/* The values of the options. Strings are borrowed from argv. */
struct tts_replay_recording {
    const char *path;
    /* an option that only sequences have; NULL if none was given */
    const char *refused;
    struct tts_device_arg device; /* name is NULL if none was given */
    bool stats, json;
};

/* Runs the recording and writes the answer. Returns the exit code. */
int tts_replay_recording(const struct tts_replay_recording *options);
