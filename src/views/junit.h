/* junit.h: a report of tests in the form that build servers read: one suite, written to a
 * stream as it comes. The counts stand at the top and are written last, so the stream can be
 * sought in. Caller's memory, one thread; errors are the stream's. */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum tts_junit_outcome {
    TTS_JUNIT_PASSED,
    TTS_JUNIT_FAILED, /* the answer is no */
    TTS_JUNIT_ERROR,  /* there is no answer */
};

struct tts_junit {
    FILE *out;
    const char *suite; /* borrowed */
    uint64_t tests, failures, errors;
};

/* Any bytes: markup is escaped, what XML cannot hold becomes U+FFFD. */
struct tts_junit_case {
    const char *class_name, *name;
    const char *file; /* NULL: none */
    uint64_t line;    /* 0: none */
    enum tts_junit_outcome outcome;
    const char *text; /* why, or figures */
    const char *type; /* of a failure or an error: a rule; may be NULL */
};

/* `suite`: ours, short. */
void tts_junit_begin(struct tts_junit *junit, FILE *out, const char *suite);
void tts_junit_case(struct tts_junit *junit, const struct tts_junit_case *test);
void tts_junit_end(struct tts_junit *junit);
