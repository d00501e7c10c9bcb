/* sarif.h: writes findings as SARIF 2.1.0, for tools that show findings beside the files. A
 * document has one run of one tool. Call begin, result for each finding, notices, notice for
 * each problem of the work, end. Nothing is kept in memory. The caller owns the struct. One
 * thread. The caller checks the stream for errors. */
#pragma once

#include "model/finding.h"
#include "views/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tts_sarif {
    struct tts_json json;
    const struct tts_rule *rules; /* borrowed */
    size_t rule_count;
};

void tts_sarif_begin(struct tts_sarif *sarif, FILE *out, const struct tts_rule *rules,
                     size_t rule_count);
/* Adds a finding of one of the rules. Findings without a problem are skipped. */
void tts_sarif_result(struct tts_sarif *sarif, const struct tts_finding *finding);
/* Ends the results and begins the notices. `is_done` says whether the work could be done. */
void tts_sarif_notices(struct tts_sarif *sarif, bool is_done);
/* Adds a finding about the work itself. */
void tts_sarif_notice(struct tts_sarif *sarif, const struct tts_finding *finding);
void tts_sarif_end(struct tts_sarif *sarif);

/* Returns the FNV-1a hash of a text and its terminator, for fingerprints. Start with
 * TTS_FNV1A64_INIT. */
uint64_t tts_sarif_mix(uint64_t hash, const char *text);

/* Writes a path as a URI reference (RFC 3986): characters that are not unreserved are
 * percent-encoded, an absolute path begins with file://. A long path is cut, never inside an
 * escape. Returns `out`. */
enum { TTS_SARIF_URI_MAX = 3 * 4096 + 16 };
const char *tts_sarif_uri(char out[TTS_SARIF_URI_MAX], const char *path);
