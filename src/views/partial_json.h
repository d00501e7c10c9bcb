/* partial_json.h: the reasons why an answer is partial, in the one form that all commands
 * write.
 */
#pragma once

#include "model/partialnotes.h"
#include "views/json.h"

/* Writes the fields "partial" and "missing". */
void tts_partial_json(const struct tts_partial_notes *notes, struct tts_json *json);
