/* devseq_form.h: the tables that the reader and the writer of the device language share.
 * For devseq.c and devseq_parse.c only. */
#pragma once

#include "sources/devseq.h"

/* What can stand behind the operands, in canonical order. */
enum tts_devseq_option {
    TTS_DEVSEQ_TENSOR,
    TTS_DEVSEQ_SHAPE,
    TTS_DEVSEQ_CORES,
    TTS_DEVSEQ_ORDER,
    TTS_DEVSEQ_INDEX,
    TTS_DEVSEQ_PAGE_SIZE,
    TTS_DEVSEQ_ON,
    TTS_DEVSEQ_OFFSET,
    TTS_DEVSEQ_FROM,
    TTS_DEVSEQ_AT,
    TTS_DEVSEQ_AS,
    TTS_DEVSEQ_OPTIONS,
};

/* What can stand behind '='. */
enum tts_devseq_shape {
    TTS_DEVSEQ_SAYS_NOTHING,
    TTS_DEVSEQ_SAYS_ADDRESS, /* ADDR, F, T ADDR, - */
    TTS_DEVSEQ_SAYS_PLACE,   /* ADDR */
    TTS_DEVSEQ_SAYS_OK,      /* ok, F */
    TTS_DEVSEQ_SAYS_NUMBERS, /* as many as `numbers` */
    TTS_DEVSEQ_SAYS_PAGE,    /* BANK CORE ADDR, - */
};

struct tts_devseq_form {
    const char *verb;
    const char *usage;
    unsigned options, required; /* bits of enum tts_devseq_option */
    uint8_t shape;              /* enum tts_devseq_shape */
    uint8_t numbers;
};

extern const struct tts_devseq_form tts_devseq_forms[TTS_DEVSEQ_KINDS];
extern const char *const tts_devseq_option_names[TTS_DEVSEQ_OPTIONS];
extern const char *const tts_devseq_pool_names[TTS_POOLS];
extern const char *const tts_devseq_sharding_names[TTS_DEVSEQ_GRID + 1];
