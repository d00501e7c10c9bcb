/* finding.h: a problem or result that a person should know, with its evidence: an exceeded
 * limit, a leak, an unreadable input. Analyses and commands make findings. views/junit,
 * views/sarif and views/annotation write them, each in one place.
 *
 * Plain data. Every string is borrowed and may contain any bytes. NULL means "none". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum tts_severity {
    TTS_SEVERITY_NONE,    /* checked, no problem */
    TTS_SEVERITY_NOTE,    /* information */
    TTS_SEVERITY_WARNING, /* at risk, or unknown */
    TTS_SEVERITY_ERROR,   /* problem */
};

/* A kind of finding. */
struct tts_rule {
    const char *id; /* never changes: scripts and suppressions name it */
    const char *title, *help;
};

struct tts_finding {
    const char *rule; /* id of the rule: "dram-peak" */
    enum tts_severity severity;
    bool is_about_work;   /* the work itself failed: an input cannot be read */
    const char *subject;  /* name of the run or program: "TinyLlama" */
    const char *label;    /* the rule and its object: "phase-change FORWARD_PASS" */
    const char *message;  /* a sentence: "98.20 MB, at most 90.00 MB: 8.20 MB over" */
    const char *evidence; /* origin of the rule: "budget.yaml:7" */
    const char *path;     /* place of the finding. NULL: no file */
    uint64_t line;        /* 0: unknown */
    const char *part;     /* phase or operation */
    bool saves_is_known;  /* bytes that following the advice would save */
    uint64_t saves_bytes;
    uint64_t fingerprint; /* stays the same when the same finding moves to another line */
};
