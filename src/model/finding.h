/* finding.h: a problem or result that a person should know, with its evidence: an exceeded
 * limit, a leak, an unreadable input. Analyses and commands make findings. views/junit,
 * views/sarif and views/annotation write them, each in one place.
 *
 * A finding is plain data. All strings are borrowed and may contain any bytes. A string that
 * does not apply is NULL. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum tts_severity {
    TTS_SEVERITY_NONE,    /* checked, no problem */
    TTS_SEVERITY_NOTE,    /* information */
    TTS_SEVERITY_WARNING, /* at risk, or unknown */
    TTS_SEVERITY_ERROR,   /* problem */
};

/* A rule: a kind of finding. */
struct tts_rule {
    const char *id; /* never changes, because scripts and suppressions use the id */
    const char *title, *help;
};

struct tts_finding {
    const char *rule; /* id of the rule: "dram-peak" */
    enum tts_severity severity;
    /* The finding is about the check itself: for example, an input cannot be read. */
    bool is_about_work;
    const char *subject;  /* name of the run or program: "TinyLlama" */
    const char *label;    /* the rule and its object: "phase-change FORWARD_PASS" */
    const char *message;  /* a sentence: "98.20 MB, at most 90.00 MB: 8.20 MB over" */
    const char *evidence; /* origin of the rule: "budget.yaml:7" */
    const char *path;     /* file of the finding; NULL if there is none */
    uint64_t line;        /* line in the file; 0 if unknown */
    const char *part;     /* phase or operation that the finding is about */
    bool saves_is_known;  /* whether it is known how many bytes the advice would save */
    uint64_t saves_bytes;
    /* Identifies the finding: does not change if the finding moves to another line. */
    uint64_t fingerprint;
};
