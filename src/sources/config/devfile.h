/* devfile.h: reads a device file, which is a YAML text that names a preset and changes some of
 * its facts (docs/design/device-file.md):
 *
 *   device: my-p150
 *   preset: p150
 *   grid: 13x10
 *   l1_small: 32768
 */
#pragma once

#include "ttscope/chip.h"
#include "ttscope/status.h"

#include <stddef.h>

enum { TTS_DEVFILE_MAX_BYTES = 64 * 1024 };

/* Loads a device file. The path "-" means standard input. After a failure *out is unchanged.
 * The following errors set err->line, and their text does not name the path. TTS_E_SYNTAX: not
 * YAML, not a flat map, a key twice, or too large. TTS_E_NOT_FOUND: an unknown key or preset;
 * err names the nearest known one. TTS_E_RANGE, TTS_E_INVALID: a value that the chip cannot
 * have.
 * The following errors have no line. TTS_E_IO: the file cannot be read; the text names the
 * path. TTS_E_NOMEM: memory ran out. */
TTS_NODISCARD enum tts_status tts_devfile_load(const char *path, struct tts_chip *out,
                                               struct tts_error *err);

/* Like tts_devfile_load(), but reads a text in memory. */
TTS_NODISCARD enum tts_status tts_devfile_parse(const char *text, size_t len,
                                                struct tts_chip *out, struct tts_error *err);
