/* json.h: writes one JSON document to a stream, without building it.
 * Caller's memory, one thread. `key` is NULL inside arrays and for the document itself. The
 * writer keeps commas, line breaks and escapes; the caller nests rightly and asks the stream
 * for errors. The end of the outermost object or array writes out the rest and a line end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TTS_JSON_DEPTH_MAX = 16, TTS_JSON_DEPTH_LINES = 2, TTS_JSON_BUFFER = 4096 };

struct tts_json {
    FILE *out;
    unsigned depth;
    bool is_one_line; /* the caller's, after init: no line breaks, for a stream of documents */
    bool filled[TTS_JSON_DEPTH_MAX]; /* the container at this depth has an element */
    size_t used;
    char buffer[TTS_JSON_BUFFER]; /* one call of the stream for many small pieces */
};

void tts_json_init(struct tts_json *json, FILE *out);

/* Down to TTS_JSON_DEPTH_LINES every element has a line of its own; what is deeper shares one.
 */
void tts_json_object(struct tts_json *json, const char *key);
void tts_json_array(struct tts_json *json, const char *key);
void tts_json_object_end(struct tts_json *json);
void tts_json_array_end(struct tts_json *json);

/* Any bytes: control characters are escaped, what is not UTF-8 becomes U+FFFD. Keys are ours
 * and need neither. */
void tts_json_text(struct tts_json *json, const char *key, const char *text);
/* null where it is NULL or "". */
void tts_json_text_or_null(struct tts_json *json, const char *key, const char *text);
void tts_json_number(struct tts_json *json, const char *key, uint64_t value);
void tts_json_signed(struct tts_json *json, const char *key, int64_t value);
void tts_json_hex(struct tts_json *json, const char *key, uint64_t value); /* as 16 digits */
/* part / whole with six decimals, cut off; null when whole is 0. whole <= UINT64_MAX / 10. */
void tts_json_ratio(struct tts_json *json, const char *key, uint64_t part, uint64_t whole);
/* The same with a sign; 0 has none. */
void tts_json_signed_ratio(struct tts_json *json, const char *key, int64_t part,
                           uint64_t whole);
/* As the two above write it, for other formats: terminated; returns `out`. whole > 0. */
enum { TTS_JSON_RATIO_MAX = 32 };
const char *tts_json_ratio_text(char out[TTS_JSON_RATIO_MAX], int64_t part, uint64_t whole);
void tts_json_bool(struct tts_json *json, const char *key, bool value);
void tts_json_null(struct tts_json *json, const char *key);
