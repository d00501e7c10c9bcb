/* phase_json.h: the memory figures of a phase in JSON, in the one form that all commands write.
 */
#pragma once

#include "model/run.h"
#include "ttscope/usage.h"
#include "views/json.h"

/* Writes the field "dram" of a phase. */
void tts_phase_json_dram(struct tts_json *json, const struct tts_pool_usage *dram);

/* Opens the field "l1" of a phase and writes its four figures. The caller may add fields, and
 * closes the object. */
void tts_phase_json_l1_begin(struct tts_json *json,
                             const struct tts_amount figures[TTS_RUN_FIGURES]);

/* Writes a phase of a run as an object: its name, its line, "dram" and "l1". All of "l1" is
 * null unless the run tracks L1. */
void tts_phase_json(struct tts_json *json, const struct tts_run_phase *phase, bool tracks_l1);

/* Writes an amount, or null if it is not known. */
void tts_json_amount(struct tts_json *json, const char *key, struct tts_amount amount);
