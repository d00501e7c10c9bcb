/* yaml.h: a YAML text as a row of plain tokens; the only place that knows libyaml. Every reader
 * of YAML is above it and has its own, smaller limits. Caller's memory: open, next until
 * TTS_YAML_END or an error, close.
 *
 * libyaml allocates on its own and cannot be told where from. What it takes is bounded by the
 * length of the text and by how deep the caller goes into it. */
#pragma once

#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yaml.h>

enum {
    TTS_YAML_SCALAR_MAX = 511, /* bytes; room for a path */
    TTS_YAML_ANCHOR_MAX = 63,  /* bytes of a name; longer ones are told apart by as many */
};

enum tts_yaml_kind {
    TTS_YAML_DOCUMENT,
    TTS_YAML_DOCUMENT_END,
    TTS_YAML_MAP,
    TTS_YAML_MAP_END,
    TTS_YAML_LIST,
    TTS_YAML_LIST_END,
    TTS_YAML_SCALAR,
    TTS_YAML_ALIAS,
    TTS_YAML_END,
};

struct tts_yaml_token {
    enum tts_yaml_kind kind;
    uint32_t line;
    bool dressed;     /* a map, a list or a scalar that has an anchor or a tag */
    bool tagged;      /* it has a tag */
    bool quoted;      /* a scalar in quotes, or a block of text: it is text, not a number */
    bool too_long;    /* text and bytes are its beginning */
    bool unprintable; /* in text, '?' stands for a byte that is no printable ASCII */
    bool control;     /* bytes has a control character of ASCII, perhaps a NUL */
    char text[TTS_YAML_SCALAR_MAX + 1];
    char bytes[TTS_YAML_SCALAR_MAX + 1];  /* as it stands: UTF-8, terminated */
    size_t len;                           /* of bytes */
    char anchor[TTS_YAML_ANCHOR_MAX + 1]; /* its name, or that of an alias; "": none */
};

struct tts_yaml {
    yaml_parser_t parser;
    const char *text; /* borrowed, behind a byte order mark */
    size_t len;
    uint32_t last_line;
};

/* UTF-8, with or without a byte order mark. TTS_E_SYNTAX: it holds a NUL byte. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_yaml_open(struct tts_yaml *yaml, const char *text, size_t len,
                                            struct tts_error *err);
/* TTS_E_SYNTAX: it is not YAML, err says where and why. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_yaml_next(struct tts_yaml *yaml, struct tts_yaml_token *out,
                                            struct tts_error *err);
void tts_yaml_close(struct tts_yaml *yaml);

/* Fills text, bytes, len and what is said of them: the bytes of a scalar, at most
 * TTS_YAML_SCALAR_MAX of them. */
void tts_yaml_token_fill(struct tts_yaml_token *token, const char *bytes, size_t len);

/* The line of a byte, from 1. */
uint32_t tts_yaml_line_of(const char *text, size_t len, size_t offset);

/* Adds where it was to an error that has been set; success passes. Returns `status`. */
enum tts_status tts_yaml_at_line(struct tts_error *err, uint32_t line, enum tts_status status);
