/* utf8.h: decodes foreign text, one code point at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TTS_UTF8_REPLACEMENT UINT32_C(0xfffd)

/* Decodes the first code point of text[0..len), len > 0. Returns the number of its bytes. Each
 * byte that is not valid UTF-8 (a stray byte, an overlong form, a surrogate, a value above
 * 10ffff) becomes one replacement character. */
size_t tts_utf8_next(const char *text, size_t len, uint32_t *code);
