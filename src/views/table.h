/* table.h: the rows of an answer, with named and typed columns. One description of the columns
 * serves text that fits the terminal, JSON rows and CSV.
 *
 *     static const struct tts_column columns[] = {
 *         {.key = "name", .title = "name", .is_flexible = true},
 *         {.key = "peak_bytes", .title = "peak, MB", .type = TTS_COLUMN_BYTES, .shift = 20},
 *     };
 *     struct tts_table table;
 *     tts_table_init(&table, columns, 2, NULL);
 *     tts_table_add(&table, (struct tts_cell[]){tts_cell_text(name), tts_cell_number(bytes)});
 *     tts_table_text(&table, tts_say_columns(), out);
 *     tts_table_release(&table);
 *
 * A cell that is not known is `unknown` in text, null in JSON and empty in CSV; never 0. Texts
 * are foreign bytes: each writer escapes them. Caller's memory, one thread. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"
#include "views/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tts_column_type {
    TTS_COLUMN_TEXT,   /* to the left; all others to the right */
    TTS_COLUMN_NUMBER, /* uint64_t */
    TTS_COLUMN_BYTES,  /* uint64_t; text has units of 2^shift with two decimals */
    TTS_COLUMN_RATIO,  /* millionths: 0.25 is 250000; text has percent with one decimal */
    TTS_COLUMN_BOOL,   /* number 0 or 1; text has yes and no */
};

struct tts_column {
    const char *key;     /* in JSON and CSV; NULL: in text only */
    const char *title;   /* in text; NULL: in JSON and CSV only */
    const char *group;   /* above the titles of neighbours that have the same; NULL: none */
    const char *unknown; /* in text, for what is not known; NULL: "-" */
    enum tts_column_type type;
    uint8_t shift;     /* BYTES; 0: whole bytes */
    uint8_t width_min; /* columns of the terminal, at least */
    bool is_flexible;  /* TEXT: loses its beginning if the table is too wide */
    bool goes_below;   /* TEXT, the last: on lines of its own in rows where it does not fit */
};

struct tts_cell {
    bool is_known;
    uint64_t number;
    const char *text; /* of another type than TEXT: shown instead of the number, in text only */
};

enum { TTS_TABLE_COLUMNS_MAX = 24, TTS_TABLE_ROWS_MAX = 1 << 20 };

struct tts_table {
    const struct tts_column *columns; /* borrowed for the life of the table */
    size_t column_count;
    unsigned indent, gap; /* of text; 0 and 2 after init */
    const struct tts_alloc *alloc;
    struct tts_cell *cells; /* row after row; texts are copies */
    size_t row_count, cell_capacity;
};

static inline struct tts_cell tts_cell_number(uint64_t number)
{
    return (struct tts_cell){.is_known = true, .number = number};
}

/* NULL and "" are not known. */
static inline struct tts_cell tts_cell_text(const char *text)
{
    return (struct tts_cell){.is_known = text && text[0], .text = text};
}

static inline struct tts_cell tts_cell_unknown(void)
{
    return (struct tts_cell){0};
}

/* An empty table. `alloc` NULL is the C library's. */
void tts_table_init(struct tts_table *table, const struct tts_column *columns,
                    size_t column_count, const struct tts_alloc *alloc);
/* Frees the rows. Harmless on a zeroed table. */
void tts_table_release(struct tts_table *table);

/* Adds a row of column_count cells, with copies of their texts. TTS_E_NOMEM, TTS_E_FULL: there
 * are TTS_TABLE_ROWS_MAX rows; the table is unchanged. */
TTS_NODISCARD enum tts_status tts_table_add(struct tts_table *table,
                                            const struct tts_cell *cells);

/* Writes headings and rows. If they are wider than `columns`, flexible texts lose their
 * beginning; what is still wider is not broken. */
void tts_table_text(const struct tts_table *table, unsigned columns, FILE *out);
/* Writes an array of objects. */
void tts_table_json(const struct tts_table *table, struct tts_json *json, const char *key);
/* Writes a line of keys and a line for each row, by RFC 4180. */
void tts_table_csv(const struct tts_table *table, FILE *out);
