/* replay.h: the options of `ttscope replay`, and the two kinds of replay that need a device. */
#pragma once

#include "cli/device_arg.h"

#include <stdbool.h>
#include <stdint.h>

/* The values of the options. Strings are borrowed from argv. */
struct tts_replay_options {
    const char *path;
    const char *map_path, *map_pool; /* `map_pool` is the mapped pool; NULL: dram */
    const char *csv_dir, *mode;
    struct tts_device_arg device; /* name is NULL if no device was given */
    bool check, stats, blocks, json, quiet;
    bool publish;
    uint64_t step_ms; /* time of one step of a replay that is published */
    bool has_hold;    /* false: the memory stays published until a signal */
    uint64_t hold_s;
};

/* Runs a sequence on all pools of a device and writes all outputs. Returns the exit code. */
int tts_replay_device(const struct tts_replay_options *options);

/* Runs the allocations of a recording or a graph trace on another device and writes the answer.
 * Returns the exit code. */
int tts_replay_recording(const struct tts_replay_options *options);
