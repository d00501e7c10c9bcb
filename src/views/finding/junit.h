/* junit.h: writes a test report with one suite, in the form that build servers read. A report
 * begins with the counts and the places of the tests, but these are known only at the end. So
 * the tests are kept in an unnamed temporary file until the end, and the stream must be
 * seekable. The report has only elements and attributes that all published schemas have. There,
 * a testcase has no file, no line and no properties, so the places are properties of the suite.
 *
 * The caller owns the struct. One thread at a time. Stream errors are left to the caller. */
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

/* Begins a report. `suite` is the name of the suite: short, and without special characters.
 * TTS_E_IO: no temporary file can be made. */
TTS_NODISCARD enum tts_status tts_junit_begin(struct tts_junit *junit, FILE *out,
                                              const char *suite, struct tts_error *err);
/* Adds a test. An ERROR becomes a failure: the test failed. A WARNING becomes an error: the
 * test has no result. Any other finding becomes a passed test. The place of the finding becomes
 * a property of the suite. Markup is escaped, and bytes that XML cannot hold become U+FFFD. */
void tts_junit_case(struct tts_junit *junit, const char *class_name, const char *name,
                    const struct tts_finding *finding);
/* Completes the report and always releases the temporary file. TTS_E_IO: the report lacks
 * tests. */
TTS_NODISCARD enum tts_status tts_junit_end(struct tts_junit *junit, struct tts_error *err);
void tts_junit_release(
    struct tts_junit *junit); /* use instead of tts_junit_end(); harmless after it */
