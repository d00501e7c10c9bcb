/* inspecttext.h: reads the lines of the logs of the runtime's inspector as they grow. A log is
 * a YAML list in one fixed form:
 *
 *     - mesh_buffer_allocated:
 *         id: 94237
 *         size: 4096
 *
 * The bytes may arrive in pieces of any size; a line counts when its end arrives. Threads of
 * the runtime write without a lock, so a line may be damaged.
 *
 * The caller owns the struct, which is valid when zeroed. One thread at a time. Allocates
 * nothing. */
#pragma once

#include "base/span.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TTS_INSPECTTEXT_LINE_MAX = 4096 };

enum tts_inspectline_kind {
    TTS_INSPECTLINE_BLANK, /* nothing, a comment, or the start of a document */
    TTS_INSPECTLINE_EVENT, /* "- name:" */
    TTS_INSPECTLINE_FIELD, /* "  name: value", with at least one blank before the name */
    TTS_INSPECTLINE_BAD,   /* anything else, or longer than TTS_INSPECTTEXT_LINE_MAX */
};

struct tts_inspectline {
    enum tts_inspectline_kind kind;
    struct tts_span name, value; /* valid during the call of the reader */
};

struct tts_inspecttext {
    char carried[TTS_INSPECTTEXT_LINE_MAX]; /* the beginning of a line that has not ended */
    size_t carried_len;
    bool is_too_long; /* the line is skipped up to its end */
};

/* Splits bytes into lines and calls `reader` with each line that has ended. */
void tts_inspecttext_feed(struct tts_inspecttext *text, const char *bytes, size_t len,
                          void (*reader)(void *ctx, const struct tts_inspectline *line),
                          void *ctx);

/* Reads one line without its end. */
struct tts_inspectline tts_inspectline_parse(struct tts_span line);
/* Reads a decimal number that fills the span. Returns false if the span is not a number or the
 * number is above `max`. */
bool tts_inspectline_number(struct tts_span value, uint64_t max, uint64_t *out);
