/* run_json.h: a run in JSON; docs/design/analyze-json.md is the contract. */
#pragma once

#include "analysis/named_run.h"
#include "views/json.h"

/* Writes the fields of a run into the object that is open. */
void tts_run_json(struct tts_json *json, const struct tts_named_run *run);

/* Returns the word for the origin of a size; NULL if the size is not known. */
const char *tts_train_source_name(enum tts_train_source source);
/* Returns the origin of the parts of the peak: "predicted", "actual" or "expected". */
const char *tts_train_sizes_name(const struct tts_trainmem *mem);
