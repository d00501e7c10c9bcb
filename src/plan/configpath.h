/* configpath.h: the configuration file that a path stands for, and the configuration files in
 * the folder of a path that does not exist. */
#pragma once

#include "plan/note.h"
#include "sources/config/trainfile.h"

#include <stdbool.h>
#include <stdint.h>

enum { TTS_CONFIG_PATH_MAX = TTS_TRAINFILE_TEXT_MAX };

/* Replaces a folder in *path by the config.json in it, as Hugging Face models have it. `out`
 * holds the new path. Other paths stay as they are. TTS_E_NOT_FOUND: the folder has no
 * config.json. */
TTS_NODISCARD enum tts_status tts_configpath_resolve(const char **path,
                                                     char out[TTS_CONFIG_PATH_MAX],
                                                     struct tts_notes *notes);

/* Sets the error "the file `path` does not exist". The error lists the configuration files in
 * the same folder. */
enum tts_status tts_configpath_fail_file(struct tts_notes *notes, const char *path);
/* Sets the error that the model file `named`, named in line `line` of the training file `path`,
 * was not found. The error lists the configuration files in the folder where the model file
 * should be. */
enum tts_status tts_configpath_fail_model(struct tts_notes *notes, const char *path,
                                          uint32_t line, const char *named);

bool tts_ends_in(const char *text, const char *end);
