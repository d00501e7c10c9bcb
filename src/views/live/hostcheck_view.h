/* hostcheck_view.h: writes the checks of `doctor` for people and as JSON. */
#pragma once

#include "analysis/live/hostcheck.h"
#include "views/json.h"

#include <stdio.h>

/* Writes one line with the answer, then the checks. Each check is a word for its severity, its
 * id, the answer and the action. */
void tts_hostcheck_text(const struct tts_hostchecks *checks, FILE *out);
/* Writes the array "checks" and the fields "devices_found" and "memory_visible". */
void tts_hostcheck_json(const struct tts_hostchecks *checks, struct tts_json *json);
