/* yamlmap.h: reads a YAML text that is one map with known keys and sections, as described by a
 * table.
 *
 * A form describes one kind of file. It has rows (key, section, type, target) and functions
 * that store values and write error texts. The reader finds the row of each key, suggests the
 * nearest key for a misspelled one, refuses a key that occurs twice, keeps the line of each
 * key, follows sections and merge keys, and accepts only one document.
 * Only this file uses libyaml, which has its own allocator. Its memory is limited by the length
 * of the text and the depth of the values.
 * A struct tts_yamlmap is on the stack of tts_yamlmap_read(). One thread uses it. */
#pragma once

#include "base/compiler.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- tokens ---- */

enum {
    TTS_YAML_SCALAR_MAX = 511, /* bytes; enough for a path */
    /* Bytes of the name of an anchor. Longer names that agree in these bytes count as equal. */
    TTS_YAML_ANCHOR_MAX = 63,
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
    bool dressed;  /* the value (not an alias) has an anchor or a tag */
    bool tagged;   /* the value has a tag */
    bool quoted;   /* the scalar is in quotes or a block of text, so its value is a text, not a
                      number */
    bool too_long; /* the scalar is longer than `text` and `bytes`, which hold its beginning */
    bool unprintable; /* `text` has '?' in place of a byte that is not printable ASCII */
    bool control;     /* `bytes` has an ASCII control character, perhaps a NUL */
    char text[TTS_YAML_SCALAR_MAX + 1];
    char bytes[TTS_YAML_SCALAR_MAX + 1]; /* as in the file, in UTF-8; terminated */
    size_t len;                          /* number of bytes in `bytes` */
    /* Name of the anchor of the value, or of the anchor that an alias names; "" if there is
     * none. */
    char anchor[TTS_YAML_ANCHOR_MAX + 1];
};

/* Sets the line of an error that has been set. Does nothing if `status` is TTS_OK. `err` may be
 * NULL. Returns `status`. */
enum tts_status tts_yaml_at_line(struct tts_error *err, uint32_t line, enum tts_status status);

/* ---- the map ---- */

enum {
    TTS_YAMLMAP_ROWS_MAX = 192,
    TTS_YAMLMAP_LEVELS_MAX = 3, /* the file, a section, a section inside it */
    TTS_YAMLMAP_QUOTE_MAX = 40, /* bytes of foreign text in a message */
    TTS_YAMLMAP_TOP = 0,        /* the section of the file itself */
};

struct tts_yamlmap_row {
    const char *key;
    uint8_t section; /* the section that has the key */
    uint8_t type;    /* meaning defined by the form */
    uint16_t target; /* destination of the value, defined by the form */
};

/* The place of a refused token: an empty document, the whole document, or a key. */
enum tts_yamlmap_place { TTS_YAMLMAP_EMPTY, TTS_YAMLMAP_DOCUMENT, TTS_YAMLMAP_KEY };

struct tts_yamlmap;

struct tts_yamlmap_form {
    const char *what; /* the kind of file, for messages: "a device file" */
    size_t max_bytes;
    const struct tts_yamlmap_row *rows;
    size_t row_count; /* at most TTS_YAMLMAP_ROWS_MAX */
    /* If true, anchors, aliases and merge keys are followed, and keys must match exactly. If
     * false, aliases, anchors and tags are refused, and keys match in upper or lower case, with
     * '-' for '_'. */
    bool has_refs;
    /* A function that returns an error must first set map->err. `refuse` handles a token at a
     * place where it is not allowed, and never returns TTS_OK. */
    enum tts_status (*refuse)(struct tts_yamlmap *map, const struct tts_yaml_token *token,
                              enum tts_yamlmap_place place);
    /* Handles a key that has no row. `best` is the nearest key of the section, or NULL. The
     * function must read the value of the key. */
    enum tts_status (*unknown)(struct tts_yamlmap *map, const struct tts_yaml_token *key,
                               const char *best);
    /* Handles the value of a key that has a row. `token` is the first token of the value. */
    enum tts_status (*value)(struct tts_yamlmap *map, const struct tts_yamlmap_row *row,
                             const struct tts_yaml_token *token);
    /* Handles the end of a section, but not the end of the file. May be NULL. */
    enum tts_status (*end)(struct tts_yamlmap *map, const struct tts_yaml_token *token);
};

struct tts_yamlmap {
    const struct tts_yamlmap_form *form;
    void *ctx; /* argument of tts_yamlmap_read(), for the functions of the form */
    struct tts_error *err;
    /* The rest is private. */
    struct tts_yaml *yaml;
    struct tts_yaml_refs *refs;
    uint32_t lines[TTS_YAMLMAP_ROWS_MAX]; /* line of each key in the section entered last; 0 if
                                             absent */
    struct tts_yamlmap_level *levels;     /* array of TTS_YAMLMAP_LEVELS_MAX */
    size_t depth;
};

/* Reads the whole text. TTS_E_SYNTAX: not YAML, not this form, a key twice, or too large.
 * TTS_E_RANGE: a limit is exceeded. TTS_E_NOMEM: memory ran out. A status of a function of the
 * form is returned unchanged. err->line is the line. */
TTS_NODISCARD enum tts_status tts_yamlmap_read(const struct tts_yamlmap_form *form, void *ctx,
                                               const char *text, size_t len,
                                               struct tts_error *err);

/* ---- for the functions of a form ---- */

TTS_NODISCARD enum tts_status tts_yamlmap_next(struct tts_yamlmap *map,
                                               struct tts_yaml_token *out);
/* Like tts_yamlmap_next(), but returns an alias as one token. For values that are skipped.
 * Allowed only if the form has has_refs. */
TTS_NODISCARD enum tts_status tts_yamlmap_raw(struct tts_yamlmap *map,
                                              struct tts_yaml_token *out);
/* Sets the text and the line of map->err. Returns `status`. */
enum tts_status tts_yamlmap_fail(struct tts_yamlmap *map, enum tts_status status, uint32_t line,
                                 const char *format, ...) TTS_PRINTF(4, 5);
/* Enters the map whose first token has been read. Its keys belong to `section`. */
void tts_yamlmap_enter(struct tts_yamlmap *map, uint8_t section);
uint8_t tts_yamlmap_section(const struct tts_yamlmap *map);
/* Returns true if the current section is `section`, which must be directly below the top, or is
 * inside `section`. */
bool tts_yamlmap_is_in(const struct tts_yamlmap *map, uint8_t section);
/* Returns the line of the key of a row; 0 if the key was not seen. */
uint32_t tts_yamlmap_line(const struct tts_yamlmap *map, const struct tts_yamlmap_row *row);
/* Fails with TTS_E_SYNTAX if `seen` is not 0: the name already occurs in line `seen`. */
TTS_NODISCARD enum tts_status tts_yamlmap_check_once(struct tts_yamlmap *map, const char *name,
                                                     uint32_t seen, uint32_t line);
/* Returns true if a token is a scalar that has no anchor and no tag. */
bool tts_yamlmap_is_plain(const struct tts_yaml_token *token);
