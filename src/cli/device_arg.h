/* device_arg.h: the chip that `--device NAME` and `--set KEY=VALUE` ask for. */
#pragma once

#include "ttscope/chip.h"

#include <stdbool.h>
#include <stddef.h>

enum { TTS_DEVICE_SETS_MAX = 64 };

/* Strings are borrowed from argv. */
struct tts_device_arg {
    const char *name; /* a preset, or a device file: "-", has a '/', ends in .yaml or .yml */
    const char *sets[TTS_DEVICE_SETS_MAX];
    size_t set_count;
};

/* Is it a device file, rather than a preset? `name` is there. */
bool tts_device_arg_is_file(const struct tts_device_arg *arg);

/* Writes the options as a shell takes them, safe for a terminal: "n150",
 * "'my device.yaml' --set dram_banks=4". `name` is given. A text that is too long ends in
 * " ...". Returns `out`. */
enum { TTS_DEVICE_ARG_WORDS_MAX = 800 };
const char *tts_device_arg_words(const struct tts_device_arg *arg,
                                 char out[TTS_DEVICE_ARG_WORDS_MAX]);

/* Keeps one `--set` of a table of options; the target is a struct tts_device_arg. */
enum tts_status tts_device_arg_take_set(void *target, const char *text, struct tts_error *err);

/* TTS_EXIT_DONE and *out, or the exit code; what is wrong has then been said on stderr. */
int tts_device_arg_resolve(const struct tts_device_arg *arg, const char *command,
                           struct tts_chip *out);
