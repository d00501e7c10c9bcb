/* resultfile.h: reads the runs in a document that a command wrote with --json (analyze, fit,
 * show). docs/design/analyze-json.md, fit-json.md and show-json.md describe the documents. A
 * null means unknown. A value of the wrong type is noted and treated as unknown. One thread. */
#pragma once

#include "sources/json_pull.h"
#include "sources/runs/runs.h"

/* Returns true if the document has a schema of ttscope. Reads only as far as necessary: a
 * "graph" means a graph trace. Ignores errors in the document. */
bool tts_result_is_one(struct tts_jsonpull *json);

/* Reads the runs of a document. TTS_E_SYNTAX (err has line and offset), TTS_E_RANGE, TTS_E_IO:
 * it cannot be read. TTS_E_INVALID: not a document of ttscope, or of a later version.
 * TTS_E_NOT_FOUND: it has no phase. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_result_read(struct tts_jsonpull *json,
                                              const struct tts_alloc *alloc,
                                              struct tts_runs *out, struct tts_error *err);

/* Like tts_result_read(), but from memory. */
TTS_NODISCARD enum tts_status tts_result_parse(const char *text, size_t len,
                                               const struct tts_alloc *alloc,
                                               struct tts_runs *out, struct tts_error *err);
