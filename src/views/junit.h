/* junit.h: a report of tests in the form that build servers read: one suite. The counts and
 * where each test is from stand at the top and are known last: tests are spooled in an unnamed
 * temporary file until the end, and the stream must be seekable. Only elements and attributes
 * that all published schemas have are written. A testcase has no file and no line there, and no
 * properties of its own, so these are properties of the suite.
 *
 * Caller's memory, one thread; errors of the stream are the stream's. */
#pragma once

#include "ttscope/status.h"

#include <stdint.h>
#include <stdio.h>

enum tts_junit_outcome {
    TTS_JUNIT_PASSED,
    TTS_JUNIT_FAILED, /* the answer is no */
    TTS_JUNIT_ERROR,  /* there is no answer */
};

struct tts_junit {
    FILE *out, *cases;
    const char *suite; /* borrowed */
    uint64_t tests, failures, errors;
};

/* Any bytes: markup is escaped, what XML cannot hold becomes U+FFFD. */
struct tts_junit_case {
    const char *class_name, *name;
    const char *file; /* NULL: none; else a property of the suite, with the line */
    uint64_t line;    /* 0: none */
    enum tts_junit_outcome outcome;
    const char *text; /* why, or figures */
    const char *type; /* of a failure or an error: a rule; may be NULL */
};

/* `suite`: ours, short. TTS_E_IO: there can be no temporary file. */
TTS_NODISCARD enum tts_status tts_junit_begin(struct tts_junit *junit, FILE *out,
                                              const char *suite, struct tts_error *err);
void tts_junit_case(struct tts_junit *junit, const struct tts_junit_case *test);
/* Completes the report and releases the spool in every case. TTS_E_IO: tests are missing. */
TTS_NODISCARD enum tts_status tts_junit_end(struct tts_junit *junit, struct tts_error *err);
void tts_junit_release(struct tts_junit *junit); /* without an end; harmless after it */
