/* phase_json.h: what a phase did to DRAM, in the one form that all commands write. */
#pragma once

#include "ttscope/usage.h"
#include "views/json.h"

/* The field "dram" of a phase. */
void tts_phase_json_dram(struct tts_json *json, const struct tts_pool_usage *dram);
