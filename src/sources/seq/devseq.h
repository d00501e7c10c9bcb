/* devseq.h: one line of the device language (docs/design/devseq.md) as text and as data. Plain
 * values and pure functions: nothing is allocated, kept or printed. devseq_run.h runs a
 * sequence. */
#pragma once

#include "device/cbs.h"
#include "ttscope/buffer.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tts_devseq_kind {
    TTS_DEVSEQ_BLANK, /* an empty line or a comment, whose text is not kept */
    TTS_DEVSEQ_BUFFER,
    TTS_DEVSEQ_SHARD,
    TTS_DEVSEQ_CB,
    TTS_DEVSEQ_FREE,
    TTS_DEVSEQ_PROGRAM,
    TTS_DEVSEQ_RUN,
    TTS_DEVSEQ_KERNEL,
    TTS_DEVSEQ_CAPTURE,
    TTS_DEVSEQ_TRACE,
    TTS_DEVSEQ_STATS,
    TTS_DEVSEQ_ROOM,
    TTS_DEVSEQ_PAGE,
    TTS_DEVSEQ_KINDS,
};

enum tts_devseq_sharding { TTS_DEVSEQ_CLASSIC, TTS_DEVSEQ_ND, TTS_DEVSEQ_GRID };

enum tts_devseq_outcome {
    TTS_DEVSEQ_DONE,
    TTS_DEVSEQ_FAILED,      /* written as F */
    TTS_DEVSEQ_BELOW_LIMIT, /* written as T */
    TTS_DEVSEQ_NOT_PLACED,  /* written as - */
};

/* value[] holds the numbers of the result from left to right. All other elements are 0. */
struct tts_devseq_result {
    enum tts_devseq_outcome outcome;
    uint64_t value[4];
    bool has_core; /* of `page` in L1 */
    struct tts_core core;
};

enum { TTS_DEVSEQ_NAME_MAX = 48 };

struct tts_devseq_name {
    char text[TTS_DEVSEQ_NAME_MAX]; /* "" if there is none */
};

/* Operands and options that the line does not have are 0. */
struct tts_devseq_line {
    enum tts_devseq_kind kind;
    enum tts_pool pool;          /* of buffer, shard and stats, and of free by address */
    struct tts_devseq_name name; /* options `as` and `on`; operand of free and page */
    bool has_address;            /* of free by address */
    uint64_t address;
    uint64_t bytes;               /* operand SIZE */
    uint64_t page_bytes;          /* operand PAGE, option `page` */
    uint64_t number;              /* operand ID or INDEX, option `offset` */
    enum tts_placement placement; /* options `from` and `at` */
    enum tts_devseq_sharding sharding;
    uint32_t rank;
    uint64_t tensor[TTS_RANK_MAX], shard[TTS_RANK_MAX];
    bool has_tensor, column_major;
    struct tts_core core; /* operand of room */
    size_t range_count, index_count;
    struct tts_core_range ranges[TTS_RANGES_MAX];
    uint8_t indices[TTS_CB_INDICES_MAX];
    bool has_result;
    struct tts_devseq_result result;
};

/* Parses one line without its line end. TTS_E_SYNTAX, TTS_E_RANGE (a number above its limit):
 * err says what was expected, and err->offset is the byte in the line. */
TTS_NODISCARD enum tts_status tts_devseq_parse(const char *text, size_t len,
                                               struct tts_devseq_line *out,
                                               struct tts_error *err);

enum { TTS_DEVSEQ_TEXT_MAX = 4096 };

/* Writes the canonical text, terminated, without a line end. Returns its length. A blank line
 * gives "". */
size_t tts_devseq_format(const struct tts_devseq_line *line, char out[TTS_DEVSEQ_TEXT_MAX]);

/* Returns the verb of a kind, "" for a blank line. */
const char *tts_devseq_verb(enum tts_devseq_kind kind);

/* Returns true if a statement of this kind can have a result. */
bool tts_devseq_kind_has_result(enum tts_devseq_kind kind);

/* Returns true if two results of one statement are equal. */
bool tts_devseq_result_equal(const struct tts_devseq_result *a,
                             const struct tts_devseq_result *b);

/* Returns the request of a buffer or shard line. The request uses the memory of `shard` and
 * `distribution`, and the ranges of the line. */
struct tts_request tts_devseq_request(const struct tts_devseq_line *line,
                                      struct tts_shard *shard,
                                      struct tts_distribution *distribution);
