/* finding.h: something that a person should know, with its evidence: a limit that is exceeded,
 * a leak, an input that cannot be read. Analyses and commands make findings; views/junit,
 * views/sarif and views/annotation write them, each in one place.
 *
 * Plain data. Every string is borrowed and may hold any bytes; NULL is "none". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum tts_severity {
    TTS_SEVERITY_NONE,    /* checked, and good */
    TTS_SEVERITY_NOTE,    /* good to know */
    TTS_SEVERITY_WARNING, /* at risk, or not known */
    TTS_SEVERITY_ERROR,   /* bad */
};

/* What a kind of finding is about. */
struct tts_rule {
    const char *id; /* stable: scripts and suppressions name it */
    const char *title, *help;
};

struct tts_finding {
    const char *rule; /* the id: "dram-peak" */
    enum tts_severity severity;
    bool is_about_work;   /* the work itself went wrong: an input cannot be read */
    const char *subject;  /* the run or program: "TinyLlama" */
    const char *label;    /* the rule and its object: "phase-change FORWARD_PASS" */
    const char *message;  /* a sentence: "98.20 MB, at most 90.00 MB: 8.20 MB over" */
    const char *evidence; /* where the rule is from: "budget.yaml:7" */
    const char *path;     /* where the finding is; NULL: in no file */
    uint64_t line;        /* 0: not known */
    const char *part;     /* the phase or operation */
    bool saves_is_known;  /* what following the advice would save */
    uint64_t saves_bytes;
    uint64_t fingerprint; /* the same for the same finding of another day, whatever its line */
};
