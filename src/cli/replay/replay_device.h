/* replay_device.h: `ttscope replay --device`: a sequence on all pools of a device. */
#pragma once

#include "cli/device_arg.h"

#include <stdbool.h>

/* What was asked for; strings are borrowed from argv. */
struct tts_replay_device {
    const char *path, *csv_dir, *mode;
    const char *map_path, *map_pool; /* the picture, and of which pool; NULL: dram */
    struct tts_device_arg device;
    bool check, stats, blocks, json, quiet;
};

/* Runs it all and returns the exit code. */
int tts_replay_device(const struct tts_replay_device *options);
