/* partialnotes.h: the reasons why an answer covers only a part of a file of events. A reader
 * (sources/partial.h) makes them; views and commands print them. Plain values. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTS_PARTIAL_NOTES_MAX = 16,
    TTS_PARTIAL_TEXT_MAX = 320,
};

struct tts_partial_note {
    /* "damage", "graph", "l1", "missed", "program", "refused", "start", "state", "stopped" */
    const char *kind;
    uint64_t line; /* 0: none */
    char text[TTS_PARTIAL_TEXT_MAX];
};

/* The answer covers the whole file if there are no notes. */
struct tts_partial_notes {
    size_t count;
    bool is_beginning; /* only the end is missing, so peaks are at least those shown */
    bool is_stopped;   /* the last note is of kind "program" */
    struct tts_partial_note note[TTS_PARTIAL_NOTES_MAX];
};
