/* yaml_refs.h: the tokens of a YAML text with its aliases replaced by the values of their
 * anchors, and with values that can be read again later (merge keys).
 *
 * From the first anchor on, the tokens of the text are kept in a log, which the text's length
 * bounds. An alias is a range of the log. What aliases add is bounded, so that a few lines
 * cannot stand for billions of values: TTS_YAML_REPLAYED_MAX tokens in all, TTS_YAML_FRAMES_MAX
 * aliases inside each other. An anchor that holds its own alias is refused.
 * Caller's memory, one thread: init, next, release. */
#pragma once

#include "sources/yaml.h"
#include "ttscope/alloc.h"

enum {
    TTS_YAML_ANCHORS_MAX = 64,
    TTS_YAML_FRAMES_MAX = 16,
    TTS_YAML_REPLAYED_MAX = 1 << 16,
};

/* A whole value in the log. */
struct tts_yaml_range {
    size_t begin, end;
};

struct tts_yaml_entry;

struct tts_yaml_refs {
    struct tts_yaml *yaml; /* borrowed */
    const struct tts_alloc *alloc;
    struct tts_yaml_entry *log;
    size_t count, capacity;
    char *bytes; /* of the scalars of the log */
    size_t byte_count, byte_capacity;
    struct tts_yaml_anchor {
        char name[TTS_YAML_ANCHOR_MAX + 1];
        struct tts_yaml_range range;
        unsigned depth; /* of the text where it began */
        bool is_open;   /* its value has not ended */
    } anchors[TTS_YAML_ANCHORS_MAX];
    size_t anchor_count;
    unsigned depth; /* of the text */
    bool is_kept;   /* tokens go to the log */
    struct tts_yaml_range frames[TTS_YAML_FRAMES_MAX];
    size_t frame_count;
    uint64_t replayed;
};

void tts_yaml_refs_init(struct tts_yaml_refs *refs, struct tts_yaml *yaml,
                        const struct tts_alloc *alloc);
void tts_yaml_refs_release(struct tts_yaml_refs *refs);

/* Reads the next token; an alias is read as its value. TTS_E_SYNTAX: not YAML, a tag, or an
 * alias without an anchor. TTS_E_RANGE: past a limit above. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_yaml_refs_next(struct tts_yaml_refs *refs,
                                                 struct tts_yaml_token *out,
                                                 struct tts_error *err);
/* Like tts_yaml_refs_next(), but an alias is one token: for values that are passed over. */
TTS_NODISCARD enum tts_status tts_yaml_refs_raw(struct tts_yaml_refs *refs,
                                                struct tts_yaml_token *out,
                                                struct tts_error *err);

/* Reads the value of a merge key: a map, or a list of maps. Fills `out` with the ranges of
 * these maps, in their order. TTS_E_SYNTAX: another value. TTS_E_RANGE: more than `max` maps.
 * Else as tts_yaml_refs_next(). */
TTS_NODISCARD enum tts_status tts_yaml_refs_merge(struct tts_yaml_refs *refs,
                                                  struct tts_yaml_range *out, size_t max,
                                                  size_t *count, struct tts_error *err);
/* Makes the pairs of such a map, and its end, the next tokens. TTS_E_RANGE: as above; the error
 * is at `line`. */
TTS_NODISCARD enum tts_status tts_yaml_refs_replay(struct tts_yaml_refs *refs,
                                                   struct tts_yaml_range range, uint32_t line,
                                                   struct tts_error *err);
