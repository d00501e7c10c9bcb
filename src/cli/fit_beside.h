/* fit_beside.h: the file that an operand of `ttscope fit` stands for, and the files beside one
 * that does not exist. */
#pragma once

#include "sources/trainfile.h"

#include <stdint.h>

enum { TTS_FIT_PATH_MAX = TTS_TRAINFILE_TEXT_MAX };

/* Replaces a folder by its config.json, as Hugging Face models have it; `out` holds that path.
 * Returns TTS_EXIT_DONE, or TTS_EXIT_INPUT after a message: the folder has none. */
int tts_fit_operand(const char **path, char out[TTS_FIT_PATH_MAX]);

/* Says that a file cannot be read as it does not exist, and names the configurations beside it.
 */
void tts_fit_say_no_file(const char *path);
/* Says that the model file `named` in line `line` of the training file `path` is nowhere, and
 * names the configurations where it should be. */
void tts_fit_say_no_model(const char *path, uint32_t line, const char *named);
