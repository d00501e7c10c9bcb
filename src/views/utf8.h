/* utf8.h: foreign text, one code point after the other. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TTS_UTF8_REPLACEMENT UINT32_C(0xfffd)

/* The first code point of text[0..len), len > 0; returns the bytes it takes. What is not UTF-8
 * (a stray byte, an overlong form, a surrogate, a value past 10ffff) is one replacement
 * character a byte. */
size_t tts_utf8_next(const char *text, size_t len, uint32_t *code);
