/* devices_parts.h: what the files of `ttscope devices` share. For devices*.c only. */
#pragma once

#include "sources/hostchips.h"
#include "ttscope/chip.h"
#include "views/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One chip, as asked for. */
struct tts_devices_one {
    struct tts_chip chip;
    const struct tts_preset *preset; /* NULL: it is from a device file */
    struct tts_l1_part parts[TTS_L1_PARTS_MAX];
    size_t part_count; /* 0: the layout was not asked for */
};

struct tts_devices_host {
    struct tts_hostchips found;
    const char *reason; /* why nothing can be told, NULL: found is complete */
};

/* What circular buffers and L1 buffers of a core share; 0 when facts are missing. */
uint64_t tts_devices_l1_bytes(const struct tts_chip *chip);

/* --- text --- */

enum { TTS_DEVICES_NUMBER_MAX = 32 };

/* "12.35": bytes in units of 2^shift, rounded. Returns `out`. */
const char *tts_devices_units(char out[TTS_DEVICES_NUMBER_MAX], uint64_t bytes, unsigned shift);

void tts_devices_text_list(FILE *out);                                      /* _text.c */
void tts_devices_text_host(const struct tts_devices_host *host, FILE *out); /* _host.c */
void tts_devices_text_one(const struct tts_devices_one *one, FILE *out);    /* _full.c */
void tts_devices_text_pools(const struct tts_chip *chip, FILE *out);        /* _pools.c */
void tts_devices_text_layout(const struct tts_devices_one *one, bool utf8, FILE *out);

/* --- JSON (devices_json.c), docs/design/devices-json.md --- */

void tts_devices_json_list(struct tts_json *json, const struct tts_devices_host *host);
void tts_devices_json_one(struct tts_json *json, const struct tts_devices_one *one);
