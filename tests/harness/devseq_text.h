/* devseq_text.h: short functions for tests that read and write lines of the device language. */
#pragma once

#include "harness/same_step.h"
#include "harness/t.h"

static inline struct tts_devseq_line parsed(const char *text)
{
    struct tts_devseq_line line;
    struct tts_error err = {0};
    if (tts_devseq_parse(text, strlen(text), &line, &err) != TTS_OK)
        fail_msg("'%s': %s", text, err.text);
    return line;
}

/* Checks that `text` is read and then written as `canonical`, and that `canonical` is read and
 * written unchanged. */
static inline void expect_canonical(const char *text, const char *canonical)
{
    char first[TTS_DEVSEQ_TEXT_MAX], second[TTS_DEVSEQ_TEXT_MAX];
    struct tts_devseq_line line = parsed(text), back;
    T_EQ(tts_devseq_format(&line, first), strlen(canonical));
    T_STR_EQ(first, canonical);
    back = parsed(first);
    T_TRUE(same_step(&line, &back));
    tts_devseq_format(&back, second);
    T_STR_EQ(second, canonical);
}
