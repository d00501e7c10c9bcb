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

/* Loads a device file. "-" is standard input. The following errors have a line in err, and
 * their text does not name the path: TTS_E_SYNTAX (not YAML, not a flat map, a key twice, too
 * large), TTS_E_NOT_FOUND (an unknown key or preset: err names the nearest one), TTS_E_RANGE,
 * TTS_E_INVALID. The following have no line: TTS_E_IO (the text names the path),
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_devfile_load(const char *path, struct tts_chip *out,
                                               struct tts_error *err);

/* Like tts_devfile_load(), but from memory. */
TTS_NODISCARD enum tts_status tts_devfile_parse(const char *text, size_t len,
                                                struct tts_chip *out, struct tts_error *err);
