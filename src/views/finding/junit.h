/* junit.h: a report of tests in the form that build servers read: one suite. The counts and
 * where each test is from stand at the top and are known last: tests are spooled in an unnamed
 * temporary file until the end, and the stream must be seekable. Only elements and attributes
 * that all published schemas have are written. A testcase has no file and no line there, and no
 * properties of its own, so these are properties of the suite.
 *
 * Caller's memory, one thread; errors of the stream are the stream's. */
#pragma once

#include "model/finding.h"
#include "ttscope/status.h"

#include <stdint.h>
#include <stdio.h>

struct tts_junit {
    FILE *out, *cases;
    const char *suite; /* borrowed */
    uint64_t tests, failures, errors;
};

/* `suite`: ours, short. TTS_E_IO: there can be no temporary file. */
TTS_NODISCARD enum tts_status tts_junit_begin(struct tts_junit *junit, FILE *out,
                                              const char *suite, struct tts_error *err);
/* Adds a test. An ERROR is a failure: the answer is no. A WARNING is an error: there is no
 * answer. Any other finding is a test that passed. The place of the finding is a property of
 * the suite. Markup is escaped, and bytes that XML cannot hold become U+FFFD. */
void tts_junit_case(struct tts_junit *junit, const char *class_name, const char *name,
                    const struct tts_finding *finding);
/* Completes the report and releases the spool in every case. TTS_E_IO: tests are missing. */
TTS_NODISCARD enum tts_status tts_junit_end(struct tts_junit *junit, struct tts_error *err);
void tts_junit_release(struct tts_junit *junit); /* without an end; harmless after it */
