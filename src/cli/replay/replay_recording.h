/* replay_recording.h: `ttscope replay RECORDING --device`: the allocations of a recording or a
 * graph trace on another device. */
#pragma once

#include "cli/device_arg.h"

#include <stdbool.h>

/* What was asked for; strings are borrowed from argv. */
struct tts_replay_recording {
    const char *path;
    const char *refused;          /* an option that only sequences have; NULL: none was given */
    struct tts_device_arg device; /* name NULL: none was given */
    bool stats, json;
};

/* Runs it all and returns the exit code. */
int tts_replay_recording(const struct tts_replay_recording *options);
