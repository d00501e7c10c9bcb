/* devfile.h: a device file: YAML that begins with a preset and changes facts of it
 * (docs/design/device-file.md).
 *
 *     device: my-p150
 *     preset: p150
 *     grid: 13x10
 *     l1_small: 32768
 */
#pragma once

#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stddef.h>

enum { TTS_DEVFILE_MAX_BYTES = 64 * 1024 };

/* "-" is standard input. TTS_E_SYNTAX (not YAML, not a flat map, a key twice, too large),
 * TTS_E_NOT_FOUND (an unknown key or preset: err names the nearest), TTS_E_RANGE,
 * TTS_E_INVALID: err->line is where, and the text does not name the path. TTS_E_IO (the text
 * names the path), TTS_E_NOMEM: there is no line. */
TTS_NODISCARD enum tts_status tts_devfile_load(const char *path, struct tts_chip *out,
                                               struct tts_error *err);

/* The same from memory. */
TTS_NODISCARD enum tts_status tts_devfile_parse(const char *text, size_t len,
                                                struct tts_chip *out, struct tts_error *err);
