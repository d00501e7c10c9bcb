/* replay_device.h: `ttscope replay --device`, which runs a sequence on all pools of a
 * device. */
#pragma once

#include "cli/device_arg.h"

#include <stdbool.h>

/* The values of the options. Strings are borrowed from argv. */
struct tts_replay_device {
    const char *path, *csv_dir, *mode;
    const char *map_path, *map_pool; /* `map_pool` is the mapped pool; NULL: dram */
    struct tts_device_arg device;
    bool check, stats, blocks, json, quiet;
};

/* Runs the sequence and writes all outputs. Returns the exit code. */
int tts_replay_device(const struct tts_replay_device *options);
