/* eventrows.h: turns the items of a file into flat rows, which each row format prints in its
 * way. The columns are in docs/design/export.md. A row is a plain value that points into its
 * item.
 *
 * The row of a free also describes the freed buffer. A recording does not repeat that
 * description, so live buffers are kept. The caller owns the struct. One thread at a time. */
#pragma once

#include "model/devicename.h"
#include "model/item.h"
#include "views/trace/liveset.h"

/* X(NAME, "name", TYPE) in the order of the columns. */
#define TTS_EVENTROW_MAP(X)                                                                    \
    X(SEQ, "seq", NUMBER)                                                                      \
    X(TIME, "time_ns", NUMBER)                                                                 \
    X(KIND, "kind", WORD)                                                                      \
    X(DEVICE, "device", NUMBER)                                                                \
    X(POOL, "pool", WORD)                                                                      \
    X(ID, "id", NUMBER)                                                                        \
    X(SIZE, "size_bytes", NUMBER)                                                              \
    X(PER_BANK, "bytes_per_bank", NUMBER)                                                      \
    X(BLOCK, "block_bytes", NUMBER)                                                            \
    X(ADDRESS, "address", NUMBER)                                                              \
    X(PAGE, "page_bytes", NUMBER)                                                              \
    X(CORES, "cores", NUMBER)                                                                  \
    X(PLACEMENT, "placement", WORD)                                                            \
    X(BORROWED, "borrowed", BOOL)                                                              \
    X(RANGES, "ranges", RANGES)                                                                \
    X(OP, "op", TEXT)                                                                          \
    X(THREAD, "thread", NUMBER)                                                                \
    X(CAPTURE, "capture", NUMBER)                                                              \
    X(MESH, "mesh", NUMBER)                                                                    \
    X(COUNT, "count", NUMBER)                                                                  \
    X(NAME, "name", TEXT)                                                                      \
    X(FAILURE, "failure", WORD)                                                                \
    X(MISSING, "missing_bytes", NUMBER)                                                        \
    X(MESSAGE, "message", TEXT)                                                                \
    X(DEVICE_NAME, "device_name", WORD)

#define TTS_EVENTROW_ENUM(name, text, type) TTS_ROW_##name,
enum tts_eventrow_field { TTS_EVENTROW_MAP(TTS_EVENTROW_ENUM) TTS_ROW_FIELDS };
#undef TTS_EVENTROW_ENUM

enum tts_eventrow_type {
    TTS_ROW_IS_NUMBER,
    TTS_ROW_IS_BOOL,
    TTS_ROW_IS_WORD, /* our own text */
    TTS_ROW_IS_TEXT, /* foreign text */
    TTS_ROW_IS_RANGES,
};
extern const char *const tts_eventrow_names[TTS_ROW_FIELDS];
extern const enum tts_eventrow_type tts_eventrow_types[TTS_ROW_FIELDS];

struct tts_eventrow {
    uint32_t known; /* one bit for each field; unknown fields are not printed */
    uint64_t numbers[TTS_ROW_FIELDS];
    const char *texts[TTS_ROW_FIELDS];
    size_t text_lens[TTS_ROW_FIELDS];
    const struct tts_core_range *ranges;
    size_t range_count;
    char message[TTS_FAILURE_TEXT_MAX];
    char device_name[TTS_DEVICENAME_MAX];
};

/* Fills a row from an item that tts_itemcheck_pass() accepted. */
void tts_eventrow_of(struct tts_eventrow *row, const struct tts_item *item);
/* Fills a row from one value of a SAMPLE item. `number` is the number of the value (sample.h).
 * Returns false and changes nothing if the sample does not have the value. */
bool tts_eventrow_sample(struct tts_eventrow *row, const struct tts_item *item,
                         unsigned number);
/* Fills a row about the file itself, with a kind and a message. Such rows come after the last
 * item. Both texts are borrowed. */
void tts_eventrow_note(struct tts_eventrow *row, const char *kind, const char *message);

static inline bool tts_eventrow_has(const struct tts_eventrow *row,
                                    enum tts_eventrow_field field)
{
    return row->known >> field & 1;
}

struct tts_eventrows {
    struct tts_liveset live;
    bool l1_is_requested; /* set by the caller after init: the bytes per bank are unknown */
    uint64_t buffers;     /* number of buffers so far */
    struct tts_eventrow row;
};

/* Initializes the struct and allocates nothing. If `alloc` is NULL, the C library's allocator
 * is used. */
void tts_eventrows_init(struct tts_eventrows *rows, const struct tts_alloc *alloc);
void tts_eventrows_release(struct tts_eventrows *rows);

/* Fills rows->row from an item that tts_itemcheck_pass() accepted. TTS_E_RANGE: too many
 * buffers are live at the same time. TTS_E_NOMEM: out of memory. */
TTS_NODISCARD enum tts_status tts_eventrows_item(struct tts_eventrows *rows,
                                                 const struct tts_item *item,
                                                 struct tts_error *err);
