/* textroom.h: builds a short text in memory of the caller, without printf(), which takes most
 * of the time of a screen with thousands of numbers.
 *
 *     char text[40];
 *     struct tts_textroom room = tts_textroom_of(text, sizeof text);
 *     tts_textroom_put(&room, "Device ");
 *     tts_textroom_number(&room, 7);
 *
 * The text is terminated after every call. A text that does not fit is cut. Plain data; any
 * thread. */
#pragma once

#include "base/number.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

struct tts_textroom {
    char *at, *end; /* the terminator, and the last byte of the memory */
};

static inline struct tts_textroom tts_textroom_of(char *memory, size_t capacity)
{
    assert(capacity > 0);
    memory[0] = '\0';
    return (struct tts_textroom){memory, memory + capacity - 1};
}

static inline void tts_textroom_bytes(struct tts_textroom *room, const char *bytes, size_t len)
{
    size_t left = (size_t)(room->end - room->at);
    size_t put = len < left ? len : left;
    memcpy(room->at, bytes, put);
    room->at += put;
    *room->at = '\0';
}

static inline void tts_textroom_put(struct tts_textroom *room, const char *text)
{
    tts_textroom_bytes(room, text, strlen(text));
}

static inline void tts_textroom_number(struct tts_textroom *room, uint64_t number)
{
    char digits[TTS_NUMBER_MAX];
    tts_textroom_bytes(room, digits, tts_number_format(digits, number));
}

/* Writes a number below 100 with two digits. */
static inline void tts_textroom_two(struct tts_textroom *room, unsigned number)
{
    assert(number < 100);
    const char digits[2] = {(char)('0' + number / 10), (char)('0' + number % 10)};
    tts_textroom_bytes(room, digits, sizeof digits);
}
