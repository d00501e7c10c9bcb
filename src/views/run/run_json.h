/* run_json.h: a run in JSON; docs/design/analyze-json.md is the contract. */
#pragma once

#include "analysis/run/named_run.h"
#include "views/json.h"

/* Writes the fields of a run into the object that is open. */
void tts_run_json(struct tts_json *json, const struct tts_named_run *run);
