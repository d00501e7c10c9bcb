/* phase_json.h: what a phase did to memory, in the one form that all commands write. */
#pragma once

#include "model/run.h"
#include "ttscope/usage.h"
#include "views/json.h"

/* The field "dram" of a phase. */
void tts_phase_json_dram(struct tts_json *json, const struct tts_pool_usage *dram);

/* null where it is not known. */
void tts_json_amount(struct tts_json *json, const char *key, struct tts_amount amount);
