/* whatif_view.h: the answer to the question whether the allocations of a recording fit another
 * device, as text and as JSON (docs/design/whatif.md). The functions only read the answer. */
#pragma once

#include "analysis/whatif_search.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdio.h>

/* Writes the answer for people. `with_counts`: also counts, and each pool at the end. */
void tts_whatif_text(const struct tts_whatif_answer *answer, bool with_counts, FILE *out);
/* Writes the answer as one JSON object. */
void tts_whatif_json(const struct tts_whatif_answer *answer, struct tts_json *json);
