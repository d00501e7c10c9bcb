/* sarif.h: findings as SARIF 2.1.0, for those who show them beside the files they are in: one
 * run of one tool, written to a stream as it comes: begin, results, end. Caller's memory, one
 * thread; errors are the stream's. */
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
/* Adds a finding of one of the rules. Findings that are good are left out. */
void tts_sarif_result(struct tts_sarif *sarif, const struct tts_finding *finding);
/* After the last result: then notices, then the end. `is_done`: the work could be done. */
void tts_sarif_notices(struct tts_sarif *sarif, bool is_done);
/* Adds a finding about the work itself. */
void tts_sarif_notice(struct tts_sarif *sarif, const struct tts_finding *finding);
void tts_sarif_end(struct tts_sarif *sarif);

/* FNV-1a of a text and its end, for fingerprints. Begin with TTS_FNV1A64_INIT. */
uint64_t tts_sarif_mix(uint64_t hash, const char *text);

/* A path as a reference of RFC 3986: what is not unreserved is percent-encoded, an absolute one
 * is file://. Cut off where it is too long, never within an escape. Returns `out`. */
enum { TTS_SARIF_URI_MAX = 3 * 4096 + 16 };
const char *tts_sarif_uri(char out[TTS_SARIF_URI_MAX], const char *path);
