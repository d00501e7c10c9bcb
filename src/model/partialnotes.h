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
    uint64_t line; /* line of the file; 0 if unknown */
    char text[TTS_PARTIAL_TEXT_MAX];
};

/* All notes about one file. If there are no notes, the answer covers the whole file. */
struct tts_partial_notes {
    size_t count;
    /* The answer covers the beginning of the file and only the end is missing, so the real
     * peaks may be higher. */
    bool is_beginning;
    bool is_stopped; /* the last note is of kind "program" */
    struct tts_partial_note note[TTS_PARTIAL_NOTES_MAX];
};
