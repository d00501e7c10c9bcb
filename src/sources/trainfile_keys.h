/* trainfile_keys.h: every key that configurations of tt-train may have, and what is done with
 * it. For trainfile_*.c only. Matching is exact, as it is there. */
#pragma once

#include "sources/trainfile.h"

#include <stddef.h>
#include <stdint.h>

enum tts_train_section {
    TTS_SECTION_TOP,
    TTS_SECTION_TRAINING,
    TTS_SECTION_OPTIMIZER,
    TTS_SECTION_DEVICE,
    TTS_SECTION_MULTIHOST,
    TTS_SECTION_MODEL,
    TTS_SECTION_EXPERIMENTAL,
    TTS_SECTION_EVAL,
    TTS_SECTION_SCHEDULER,
    TTS_SECTION_ROPE,
};

enum tts_train_type {
    TTS_TYPE_NUMBER,
    TTS_TYPE_BOOL,
    TTS_TYPE_REAL,
    TTS_TYPE_TEXT,
};

enum tts_train_action {
    TTS_ACT_PASS,     /* it changes no memory */
    TTS_ACT_ENTER,    /* a section */
    TTS_ACT_VALUE,    /* kept */
    TTS_ACT_MESH,     /* two numbers */
    TTS_ACT_LORA,     /* the rest say of what kind the run is, by being there */
    TTS_ACT_PIPELINE, /* not null, not false */
    TTS_ACT_EXPERTS,
    TTS_ACT_EXPERT_AXIS, /* the same; -1 is none */
    TTS_ACT_GRPO,
    TTS_ACT_MLP, /* a section of another model */
};

struct tts_train_known {
    const char *name;
    uint8_t section; /* that it stands in */
    uint8_t action;
    uint8_t target; /* ENTER: the section; VALUE: its type */
    uint16_t field; /* VALUE: offset in struct tts_trainfile */
};

enum { TTS_TRAINFILE_KNOWN_MAX = 192 };

extern const struct tts_train_known tts_train_known[];
extern const size_t tts_train_known_count; /* at most TTS_TRAINFILE_KNOWN_MAX */
