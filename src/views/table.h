/* table.h: rows of an answer, with named and typed columns. One description of the columns
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
 * An unknown cell is `unknown` in text, null in JSON and empty in CSV; it is never 0. Texts are
 * foreign bytes: each writer escapes them. The caller owns the struct. One thread at a time. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"
#include "views/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tts_column_type {
    TTS_COLUMN_TEXT,   /* left-aligned; all other types are right-aligned */
    TTS_COLUMN_NUMBER, /* uint64_t */
    TTS_COLUMN_BYTES,  /* uint64_t; in text, units of 2^shift with two decimals */
    TTS_COLUMN_RATIO,  /* millionths: 250000 is 0.25; in text, percent with one decimal */
    TTS_COLUMN_BOOL,   /* 0 or 1; in text, yes or no */
};

struct tts_column {
    const char *key;     /* name in JSON and CSV; NULL: only in text */
    const char *title;   /* heading in text; NULL: only in JSON and CSV */
    const char *group;   /* heading above neighbours with the same group; NULL: none */
    const char *unknown; /* text of an unknown cell; NULL: "-" */
    enum tts_column_type type;
    uint8_t shift;     /* for BYTES: the unit is 2^shift bytes; 0: whole bytes */
    uint8_t width_min; /* minimum width in text */
    bool is_flexible;  /* TEXT: is cut at the front if the table is too wide */
    bool goes_below;   /* TEXT, last column: goes on lines of its own if it does not fit */
};

struct tts_cell {
    bool is_known;
    uint64_t number;
    const char *text; /* shown in text instead of a number; not for TEXT */
};

enum { TTS_TABLE_COLUMNS_MAX = 24, TTS_TABLE_ROWS_MAX = 1 << 20 };

struct tts_table {
    const struct tts_column *columns; /* borrowed for the life of the table */
    size_t column_count;
    unsigned indent, gap; /* columns in text; 0 and 2 after init */
    const struct tts_alloc *alloc;
    struct tts_cell *cells; /* row by row; texts are copies */
    size_t row_count, cell_capacity;
};

static inline struct tts_cell tts_cell_number(uint64_t number)
{
    return (struct tts_cell){.is_known = true, .number = number};
}

/* Returns a cell with a text. NULL and "" make an unknown cell. */
static inline struct tts_cell tts_cell_text(const char *text)
{
    return (struct tts_cell){.is_known = text && text[0], .text = text};
}

static inline struct tts_cell tts_cell_unknown(void)
{
    return (struct tts_cell){0};
}

/* Makes an empty table. If `alloc` is NULL, the C library allocates. */
void tts_table_init(struct tts_table *table, const struct tts_column *columns,
                    size_t column_count, const struct tts_alloc *alloc);
/* Frees the rows. The table may be all zero. */
void tts_table_release(struct tts_table *table);

/* Adds a row of column_count cells and copies their texts. TTS_E_NOMEM: memory ran out.
 * TTS_E_FULL: the table has TTS_TABLE_ROWS_MAX rows. After a failure the table is unchanged. */
TTS_NODISCARD enum tts_status tts_table_add(struct tts_table *table,
                                            const struct tts_cell *cells);

/* Writes headings and rows. If they are wider than `columns`, flexible texts are cut at the
 * front, and a last text may go below its row; wider rows are not broken. */
void tts_table_text(const struct tts_table *table, unsigned columns, FILE *out);
/* Writes an array of objects. */
void tts_table_json(const struct tts_table *table, struct tts_json *json, const char *key);
/* Writes a line of keys and a line for each row, by RFC 4180. */
void tts_table_csv(const struct tts_table *table, FILE *out);
