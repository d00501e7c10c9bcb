/* train_rig.h: reads a training file and checks its values. */
#pragma once

#include "harness/t.h"
#include "sources/config/trainfile.h"

#include <string.h>

static struct tts_trainfile held; /* static, because the struct has about 20 KB */

#define V(key) (&held.key)

struct refusal {
    const char *text;
    enum tts_status status;
    uint32_t line;
    const char *words;
};

static inline void parse_bytes(const char *text, size_t len, unsigned file)
{
    struct tts_error err = {0};
    enum tts_status status = tts_trainfile_parse(text, len, file, &held, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    T_EQ(err.line, 0);
}

static inline void parse(const char *text)
{
    held = (struct tts_trainfile){0};
    parse_bytes(text, strlen(text), TTS_TRAINFILE_TRAINING);
}

static inline void expect(const struct tts_trainfile_value *value, uint64_t number,
                          uint32_t line)
{
    T_TRUE(value->is_set);
    T_EQ(value->number, number);
    T_EQ(value->line, line);
}
