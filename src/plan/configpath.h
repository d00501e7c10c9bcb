/* configpath.h: the configuration file that a path stands for, and the configuration files in
 * the folder of a path that does not exist. */
#pragma once

#include "plan/note.h"
#include "sources/config/trainfile.h"

#include <stdbool.h>
#include <stdint.h>

enum { TTS_CONFIG_PATH_MAX = TTS_TRAINFILE_TEXT_MAX };

/* Replaces a folder in *path by its config.json, as Hugging Face models have it. `out` holds
 * the new path. Other paths stay as they are. TTS_E_NOT_FOUND: the folder has none. */
TTS_NODISCARD enum tts_status tts_configpath_resolve(const char **path,
                                                     char out[TTS_CONFIG_PATH_MAX],
                                                     struct tts_notes *notes);

/* Sets the error that the file `path` does not exist. The error names the configuration files
 * beside it. */
enum tts_status tts_configpath_fail_file(struct tts_notes *notes, const char *path);
/* Sets the error that the model file `named` in line `line` of the training file `path` is
 * nowhere. The error names the configuration files where the model file should be. */
enum tts_status tts_configpath_fail_model(struct tts_notes *notes, const char *path,
                                          uint32_t line, const char *named);

bool tts_ends_in(const char *text, const char *end);
