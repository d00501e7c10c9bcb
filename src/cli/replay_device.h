/* replay_device.h: `ttscope replay --device`: a sequence on all pools of a device. For
 * replay*.c only. */
#pragma once

#include "cli/device_arg.h"
#include "cli/replay_parts.h"
#include "sources/seq/devseq_run.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdio.h>

/* What was asked for; strings are borrowed from argv. */
struct tts_replay_device {
    const char *path, *csv_dir, *mode;
    const char *map_path, *map_pool; /* the picture, and of which pool; NULL: dram */
    struct tts_device_arg device;
    bool check, stats, blocks, json, quiet;
};

/* Runs it all and returns the exit code. */
int tts_replay_device(const struct tts_replay_device *options);

/* --- text (replay_device_text.c) --- */

void tts_replay_device_stats(const struct tts_devseq_run *run, FILE *out);

/* --- JSON (replay_device_json.c), in this order; docs/design/replay-json.md --- */

void tts_replay_device_json_begin(struct tts_json *json,
                                  const struct tts_replay_device *options,
                                  const struct tts_device *device);
void tts_replay_device_json_result(struct tts_json *json, const struct tts_devseq_step *step,
                                   uint64_t line_no);
/* `check` NULL: none was asked for. */
void tts_replay_device_json_end(struct tts_json *json, const struct tts_replay_device *options,
                                struct tts_devseq_run *run,
                                const struct tts_replay_check *check);

/* "place", "no-dispatch", "overcommit". */
extern const char *const tts_mode_names[TTS_MODE_OVERCOMMIT + 1];
