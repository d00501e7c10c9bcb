/* export_writer.h: the items of a file, in the format that was asked for. */
#pragma once

#include "cli/partial.h"
#include "ttscope/alloc.h"
#include "views/trace/chrometrace.h"
#include "views/trace/eventrows.h"
#include "views/trace/itemcheck.h"
#include "views/trace/perfetto.h"

enum tts_export_format {
    TTS_EXPORT_PERFETTO,
    TTS_EXPORT_CHROME,
    TTS_EXPORT_CSV,
    TTS_EXPORT_JSON,
    TTS_EXPORT_FORMATS,
};
extern const char *const tts_export_format_names[TTS_EXPORT_FORMATS];

struct tts_export_writer {
    enum tts_export_format format;
    struct tts_itemcheck check;
    struct tts_timeline *timeline; /* PERFETTO, CHROME */
    struct tts_eventrows rows;     /* CSV, JSON */
    union {
        struct tts_perfetto perfetto;
        struct tts_chrometrace chrome;
        struct tts_rowout lines; /* CSV, JSON */
    };
};

/* What a timeline draws. */
struct tts_export_limits {
    uint32_t slots_max;
    uint64_t capacity_bytes[TTS_POOLS]; /* as struct tts_timeline_config has them */
};

/* What `file` points to, and `out`, are borrowed until release. The writer must not move.
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_export_begin(struct tts_export_writer *writer,
                                               const struct tts_tracefile *file,
                                               const struct tts_export_limits *limits,
                                               FILE *out, struct tts_error *err);
/* TTS_E_INVALID, TTS_E_RANGE: it cannot be, or not be drawn; err says why. TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_export_item(struct tts_export_writer *writer,
                                              const struct tts_item *item,
                                              struct tts_error *err);
/* With what is missing: instants, rows of kind "partial" and "damage". */
void tts_export_end(struct tts_export_writer *writer, const struct tts_partial_notes *missing);
void tts_export_release(struct tts_export_writer *writer);

/* How many operations and buffers of them have no name of their own. Returns `out`. */
enum { TTS_EXPORT_TEXT_MAX = TTS_PARTIAL_TEXT_MAX + 32 };
const char *tts_export_unnamed(uint64_t count, char out[TTS_EXPORT_TEXT_MAX]);
