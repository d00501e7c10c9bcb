#include "views/table.h"

#include "base/heap.h"
#include "base/number.h"
#include "views/rowout.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    CELL_COLUMNS = 200,
    CELL_BYTES = CELL_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1,
    FLEX_MIN = 8,
    BELOW_INDENT = 8,
};

void tts_table_init(struct tts_table *table, const struct tts_column *columns,
                    size_t column_count, const struct tts_alloc *alloc)
{
    assert(column_count > 0 && column_count <= TTS_TABLE_COLUMNS_MAX);
    *table = (struct tts_table){.columns = columns,
                                .column_count = column_count,
                                .gap = 2,
                                .alloc = alloc ? alloc : tts_alloc_libc()};
}

static void free_cell_text(const struct tts_table *table, struct tts_cell *cell)
{
    if (cell->text)
        table->alloc->free(table->alloc->ctx, (void *)(uintptr_t)cell->text,
                           strlen(cell->text) + 1);
    cell->text = NULL;
}

void tts_table_release(struct tts_table *table)
{
    for (size_t i = 0; i < table->row_count * table->column_count; i++)
        free_cell_text(table, &table->cells[i]);
    if (table->cells)
        table->alloc->free(table->alloc->ctx, table->cells,
                           table->cell_capacity * sizeof *table->cells);
    *table = (struct tts_table){0};
}

static bool copy_table_cell(const struct tts_table *table, struct tts_cell *to,
                            const struct tts_cell *from)
{
    *to = *from;
    if (!from->text)
        return true;
    size_t bytes = strlen(from->text) + 1;
    char *copy = table->alloc->alloc(table->alloc->ctx, bytes);
    if (copy)
        memcpy(copy, from->text, bytes);
    to->text = copy;
    return copy != NULL;
}

enum tts_status tts_table_add(struct tts_table *table, const struct tts_cell *cells)
{
    size_t count = table->column_count, used = table->row_count * count;
    if (table->row_count == TTS_TABLE_ROWS_MAX)
        return TTS_E_FULL;
    struct tts_cell *grown = tts_alloc_grow(table->alloc, table->cells, &table->cell_capacity,
                                            used + count, sizeof *grown);
    if (!grown)
        return TTS_E_NOMEM;
    table->cells = grown;
    for (size_t i = 0; i < count; i++) {
        if (copy_table_cell(table, &grown[used + i], &cells[i]))
            continue;
        while (i > 0)
            free_cell_text(table, &grown[used + --i]);
        return TTS_E_NOMEM;
    }
    table->row_count++;
    return TTS_OK;
}

/* ---- text ---- */

struct layout {
    unsigned widths[TTS_TABLE_COLUMNS_MAX]; /* widths in columns of the terminal */
    unsigned line_columns;                  /* for the texts that go below */
};

static const struct tts_cell *table_cell_at(const struct tts_table *table, size_t row,
                                            size_t column)
{
    return &table->cells[row * table->column_count + column];
}

/* Writes the text of a cell, at most `width` columns of it. Returns its columns. */
static unsigned format_table_cell(const struct tts_column *column, const struct tts_cell *cell,
                                  unsigned width, char out[CELL_BYTES])
{
    char number[TTS_NUMBER_BYTES_MAX];
    const char *text = number;
    if (!cell->is_known)
        text = column->unknown ? column->unknown : "-";
    else if (cell->text)
        text = cell->text;
    else if (column->type == TTS_COLUMN_BOOL)
        text = cell->number ? "yes" : "no";
    else if (column->type == TTS_COLUMN_RATIO)
        snprintf(number, sizeof number, "%" PRIu64 ".%" PRIu64 " %%", cell->number / 10000,
                 cell->number / 1000 % 10);
    else if (column->type == TTS_COLUMN_BYTES && column->shift > 0)
        tts_number_format_shifted(number, cell->number, column->shift);
    else
        number[tts_number_format(number, cell->number)] = '\0';
    return (unsigned)tts_safe_text_end(out, CELL_BYTES, text, width);
}

/* Widens each column to its title and its cells. */
static void measure_columns(const struct tts_table *table, struct layout *layout)
{
    char text[CELL_BYTES];
    for (size_t i = 0; i < table->column_count; i++) {
        const struct tts_column *column = &table->columns[i];
        unsigned *width = &layout->widths[i];
        *width = column->width_min;
        if (!column->title)
            continue;
        if (strlen(column->title) > *width)
            *width = (unsigned)strlen(column->title);
        if (column->goes_below)
            continue;
        for (size_t row = 0; row < table->row_count; row++) {
            unsigned got =
                format_table_cell(column, table_cell_at(table, row, i), CELL_COLUMNS, text);
            *width = got > *width ? got : *width;
        }
    }
}

static unsigned table_text_width(const struct tts_table *table, const struct layout *layout)
{
    unsigned total = table->indent, shown = 0;
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].title)
            total += layout->widths[i] + (shown++ > 0 ? table->gap : 0);
    return total;
}

/* Takes columns from the widest flexible column until the table fits. */
static void shrink_columns(const struct tts_table *table, unsigned columns,
                           struct layout *layout)
{
    while (table_text_width(table, layout) > columns) {
        unsigned *widest = NULL;
        for (size_t i = 0; i < table->column_count; i++)
            if (table->columns[i].is_flexible && table->columns[i].title &&
                layout->widths[i] > FLEX_MIN && (!widest || layout->widths[i] > *widest))
                widest = &layout->widths[i];
        if (!widest)
            return;
        --*widest;
    }
}

static void put_table_blanks(unsigned count, FILE *out)
{
    static const char blanks[] = "                                ";
    for (; count >= sizeof blanks; count -= (unsigned)sizeof blanks - 1)
        fwrite(blanks, 1, sizeof blanks - 1, out);
    fwrite(blanks, 1, count, out);
}

/* Writes a padded cell. The last cell of a row has no blanks after it. */
static void put_padded_cell(const struct tts_column *column, const char *text, unsigned used,
                            unsigned width, bool is_last, FILE *out)
{
    unsigned blanks = width > used ? width - used : 0;
    if (column->type != TTS_COLUMN_TEXT)
        put_table_blanks(blanks, out);
    fputs(text, out);
    if (column->type == TTS_COLUMN_TEXT && !is_last)
        put_table_blanks(blanks, out);
}

static size_t last_shown_column(const struct tts_table *table)
{
    size_t last = 0;
    for (size_t i = 0; i < table->column_count; i++)
        last = table->columns[i].title ? i : last;
    return last;
}

/* Writes the blanks before a cell. */
static void put_column_gap(const struct tts_table *table, bool is_first, FILE *out)
{
    put_table_blanks(is_first ? table->indent : table->gap, out);
}

static bool is_same_group(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* Writes the names of the groups. Each ends where its last column ends. */
static void put_table_groups(const struct tts_table *table, const struct layout *layout,
                             FILE *out)
{
    unsigned end = table->indent, at = 0;
    bool is_first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct tts_column *column = &table->columns[i];
        if (!column->title)
            continue;
        end += layout->widths[i] + (is_first ? 0 : table->gap);
        is_first = false;
        bool goes_on = i + 1 < table->column_count &&
                       is_same_group(column->group, table->columns[i + 1].group);
        if (!column->group || goes_on)
            continue;
        fprintf(out, "%*s", (int)(end - at), column->group);
        at = end;
    }
    if (at > 0)
        fputc('\n', out);
}

static void put_table_titles(const struct tts_table *table, const struct layout *layout,
                             FILE *out)
{
    bool is_first = true;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct tts_column *column = &table->columns[i];
        if (!column->title)
            continue;
        put_column_gap(table, is_first, out);
        put_padded_cell(column, column->title, (unsigned)strlen(column->title),
                        layout->widths[i], i == last_shown_column(table), out);
        is_first = false;
    }
    fputc('\n', out);
}

/* The last text of a row that may go below. */
struct below_cell {
    char text[CELL_BYTES];
    unsigned width;
    bool is_below; /* the text does not fit into the line of the row */
};

/* Formats the last cell of a row that may go below. The other cells, with the gap after them,
 * have `used` columns. */
static void format_below_cell(const struct tts_table *table, size_t row, unsigned used,
                              const struct layout *layout, struct below_cell *out)
{
    size_t last = table->column_count - 1;
    out->width = format_table_cell(&table->columns[last], table_cell_at(table, row, last),
                                   CELL_COLUMNS, out->text);
    out->is_below = used + out->width > layout->line_columns;
}

/* Writes the last text of a row and ends the row. */
static void put_below_cell(const struct tts_table *table, const struct below_cell *cell,
                           const struct layout *layout, FILE *out)
{
    if (cell->is_below)
        fputc('\n', out);
    put_table_blanks(cell->is_below ? BELOW_INDENT : table->gap, out);
    if (cell->is_below && BELOW_INDENT + cell->width > layout->line_columns) {
        tts_say_within(out, BELOW_INDENT, layout->line_columns, cell->text);
        return;
    }
    fputs(cell->text, out);
    fputc('\n', out);
}

static void put_table_row(const struct tts_table *table, size_t row,
                          const struct layout *layout, FILE *out)
{
    char text[CELL_BYTES];
    struct below_cell below;
    below.is_below = false;
    size_t last = last_shown_column(table);
    bool is_first = true, goes_below = table->columns[last].goes_below;
    if (goes_below)
        format_below_cell(table, row, table_text_width(table, layout) - layout->widths[last],
                          layout, &below);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct tts_column *column = &table->columns[i];
        if (!column->title)
            continue;
        if (column->goes_below) {
            put_below_cell(table, &below, layout, out);
            return;
        }
        unsigned used =
            format_table_cell(column, table_cell_at(table, row, i), layout->widths[i], text);
        put_column_gap(table, is_first, out);
        put_padded_cell(column, text, used, layout->widths[i],
                        i == last || (below.is_below && i + 1 == last), out);
        is_first = false;
    }
    fputc('\n', out);
}

void tts_table_text(const struct tts_table *table, unsigned columns, FILE *out)
{
    struct layout layout = {.line_columns = columns};
    measure_columns(table, &layout);
    shrink_columns(table, columns, &layout);
    put_table_groups(table, &layout, out);
    put_table_titles(table, &layout, out);
    for (size_t row = 0; row < table->row_count; row++)
        put_table_row(table, row, &layout, out);
}

/* ---- JSON and CSV ---- */

static void put_json_cell(const struct tts_column *column, const struct tts_cell *cell,
                          struct tts_json *json)
{
    if (!cell->is_known)
        tts_json_null(json, column->key);
    else if (column->type == TTS_COLUMN_TEXT)
        tts_json_text(json, column->key, cell->text);
    else if (column->type == TTS_COLUMN_BOOL)
        tts_json_bool(json, column->key, cell->number != 0);
    else if (column->type == TTS_COLUMN_RATIO)
        tts_json_ratio(json, column->key, cell->number, 1000000);
    else
        tts_json_number(json, column->key, cell->number);
}

void tts_table_json(const struct tts_table *table, struct tts_json *json, const char *key)
{
    tts_json_array(json, key);
    for (size_t row = 0; row < table->row_count; row++) {
        tts_json_object(json, NULL);
        for (size_t i = 0; i < table->column_count; i++)
            if (table->columns[i].key)
                put_json_cell(&table->columns[i], table_cell_at(table, row, i), json);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_csv_cell(const struct tts_column *column, const struct tts_cell *cell,
                         struct tts_rowout *rows)
{
    char ratio[TTS_JSON_RATIO_MAX];
    if (!cell->is_known)
        return;
    if (column->type == TTS_COLUMN_TEXT)
        tts_rowout_csv(rows, cell->text, strlen(cell->text));
    else if (column->type == TTS_COLUMN_BOOL)
        tts_rowout_text(rows, cell->number ? "true" : "false");
    else if (column->type == TTS_COLUMN_RATIO)
        tts_rowout_text(rows, tts_json_ratio_text(ratio, (int64_t)cell->number, 1000000));
    else
        tts_rowout_number(rows, cell->number);
}

void tts_table_csv(const struct tts_table *table, FILE *out)
{
    struct tts_rowout rows;
    tts_rowout_init(&rows, out);
    for (size_t row = 0; row <= table->row_count; row++) {
        const char *before = "";
        for (size_t i = 0; i < table->column_count; i++) {
            const struct tts_column *column = &table->columns[i];
            if (!column->key)
                continue;
            tts_rowout_text(&rows, before);
            if (row == 0)
                tts_rowout_text(&rows, column->key);
            else
                put_csv_cell(column, table_cell_at(table, row - 1, i), &rows);
            before = ",";
        }
        tts_rowout_text(&rows, "\n");
    }
    tts_rowout_flush(&rows);
}
