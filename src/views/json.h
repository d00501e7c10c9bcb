/* json.h: writes a JSON document to a stream, without building it in memory. `key` is NULL
 * inside arrays and for the document itself. The writer adds commas, line breaks and escapes;
 * the caller nests correctly and checks the stream for errors. The end of the outermost object
 * or array writes the rest and a line end. The caller owns the struct. One thread at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { TTS_JSON_DEPTH_MAX = 16, TTS_JSON_DEPTH_LINES = 2, TTS_JSON_BUFFER = 4096 };

struct tts_json {
    FILE *out;
    unsigned depth;
    bool is_one_line;                /* set by the caller after init: write no line breaks */
    bool filled[TTS_JSON_DEPTH_MAX]; /* the container at this depth has an element */
    size_t used;
    char buffer[TTS_JSON_BUFFER]; /* collects small pieces for one write */
};

void tts_json_init(struct tts_json *json, FILE *out);

/* Begin and end an object or an array. Elements down to depth TTS_JSON_DEPTH_LINES have a line
 * each; deeper elements share a line. */
void tts_json_object(struct tts_json *json, const char *key);
void tts_json_array(struct tts_json *json, const char *key);
void tts_json_object_end(struct tts_json *json);
void tts_json_array_end(struct tts_json *json);

/* Writes any bytes: control characters are escaped, invalid UTF-8 becomes U+FFFD. Keys are our
 * own and need neither. */
void tts_json_text(struct tts_json *json, const char *key, const char *text);
/* Writes null if the text is NULL or "". */
void tts_json_text_or_null(struct tts_json *json, const char *key, const char *text);
void tts_json_number(struct tts_json *json, const char *key, uint64_t value);
/* Writes null if the number is not known. */
void tts_json_number_or_null(struct tts_json *json, const char *key, bool is_known,
                             uint64_t value);
void tts_json_signed(struct tts_json *json, const char *key, int64_t value);
void tts_json_hex(struct tts_json *json, const char *key,
                  uint64_t value); /* as 16 hexadecimal digits */
/* Writes part / whole with six decimals, rounded towards 0; null if whole is 0. whole <=
 * UINT64_MAX / 10. */
void tts_json_ratio(struct tts_json *json, const char *key, uint64_t part, uint64_t whole);
/* Like tts_json_ratio(), with a sign; 0 has no sign. */
void tts_json_signed_ratio(struct tts_json *json, const char *key, int64_t part,
                           uint64_t whole);
/* Write a ratio as the two functions above do, for other formats. whole > 0. The text is
 * terminated. Return `out`. */
enum { TTS_JSON_RATIO_MAX = 32 };
const char *tts_json_ratio_text(char out[TTS_JSON_RATIO_MAX], int64_t part, uint64_t whole);
void tts_json_bool(struct tts_json *json, const char *key, bool value);
void tts_json_null(struct tts_json *json, const char *key);
