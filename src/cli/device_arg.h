/* device_arg.h: the chip that the options `--device NAME` and `--set KEY=VALUE` describe. */
#pragma once

#include "ttscope/chip.h"

#include <stdbool.h>
#include <stddef.h>

enum { TTS_DEVICE_SETS_MAX = 64 };

/* The values of the options. Strings are borrowed from argv. */
struct tts_device_arg {
    /* preset or device file; a file is "-", has a '/' or ends in .yaml or .yml */
    const char *name;
    const char *sets[TTS_DEVICE_SETS_MAX];
    size_t set_count;
};

/* Returns true if the name is a device file and false if it is a preset. `name` must not be
 * NULL. */
bool tts_device_arg_is_file(const struct tts_device_arg *arg);

/* Writes the options in shell syntax, safe for a terminal: "n150", "'my device.yaml' --set
 * dram_banks=4". `name` must not be NULL. A text that is too long ends in " ...". Returns
 * `out`. */
enum { TTS_DEVICE_ARG_WORDS_MAX = 800 };
const char *tts_device_arg_words(const struct tts_device_arg *arg,
                                 char out[TTS_DEVICE_ARG_WORDS_MAX]);

/* Stores one `--set` from a table of options. `target` is a struct tts_device_arg. */
enum tts_status tts_device_arg_take_set(void *target, const char *text, struct tts_error *err);

/* Finds the chip and applies each `--set`. Returns TTS_EXIT_DONE and fills *out, or returns
 * another exit code after printing a message. */
int tts_device_arg_resolve(const struct tts_device_arg *arg, const char *command,
                           struct tts_chip *out);

/* Stores the size of a bank and the number of banks of each pool. A pool that the device does
 * not have is unchanged, and all pools are if arg->name is NULL. Returns like
 * tts_device_arg_resolve(). */
int tts_device_arg_banks(const struct tts_device_arg *arg, const char *command,
                         uint64_t bank_bytes[TTS_POOLS], uint64_t banks[TTS_POOLS]);
