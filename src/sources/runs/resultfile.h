/* resultfile.h: runs out of a document that a command wrote with --json (analyze, fit, show):
 * the shape is in docs/design/analyze-json.md, fit-json.md and show-json.md. What is null is
 * not known; what is of another kind than it should be is not known either, and noted. One
 * thread. */
#pragma once

#include "sources/json_pull.h"
#include "sources/runs/runs.h"

/* Does the document that comes have a schema of ours? Reads as far as it has to: a graph trace
 * is known by its "graph". What is wrong with it is not its affair. */
bool tts_result_is_one(struct tts_jsonpull *json);

/* TTS_E_SYNTAX (line and offset), TTS_E_RANGE, TTS_E_IO: it cannot be read; TTS_E_INVALID: it
 * is not of ours, or of a later version; TTS_E_NOT_FOUND: it has no phase; TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_result_read(struct tts_jsonpull *json,
                                              const struct tts_alloc *alloc,
                                              struct tts_runs *out, struct tts_error *err);

/* The same out of memory. */
TTS_NODISCARD enum tts_status tts_result_parse(const char *text, size_t len,
                                               const struct tts_alloc *alloc,
                                               struct tts_runs *out, struct tts_error *err);
