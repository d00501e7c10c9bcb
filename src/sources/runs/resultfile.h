/* resultfile.h: reads the runs in a document that `analyze`, `fit` or `show` wrote with --json.
 * docs/design/analyze-json.md, fit-json.md and show-json.md describe the documents. A null
 * means unknown. A value of the wrong type is noted and treated as unknown. One thread at a
 * time. */
#pragma once

#include "sources/json_pull.h"
#include "sources/runs/runs.h"

/* Returns true if the document has a schema of ttscope. Reads only up to the schema, or up to a
 * key "graph", which means a graph trace. Errors in the document are ignored. */
bool tts_result_is_one(struct tts_jsonpull *json);

/* Reads the runs of a document. The caller frees *out with tts_runs_release(). TTS_E_SYNTAX
 * (err has the line and the offset), TTS_E_RANGE, TTS_E_IO: the document cannot be read.
 * TTS_E_INVALID: not a document of ttscope, or a document of a later version. TTS_E_NOT_FOUND:
 * no run has a phase. TTS_E_NOMEM: memory ran out. After a failure *out is unchanged. */
TTS_NODISCARD enum tts_status tts_result_read(struct tts_jsonpull *json,
                                              const struct tts_alloc *alloc,
                                              struct tts_runs *out, struct tts_error *err);

/* Like tts_result_read(), but reads a text in memory. */
TTS_NODISCARD enum tts_status tts_result_parse(const char *text, size_t len,
                                               const struct tts_alloc *alloc,
                                               struct tts_runs *out, struct tts_error *err);
