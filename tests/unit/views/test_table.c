#include "harness/t.h"
#include "torture/heap.h"
#include "views/table.h"

#include <stdlib.h>
#include <string.h>

enum { NAME, BYTES, SHARE, USED, COUNT };

static const struct tts_column columns[COUNT] = {
    [NAME] = {.key = "name", .title = "name", .is_flexible = true},
    [BYTES] = {.key = "peak_bytes",
               .title = "peak, MB",
               .group = "DRAM",
               .unknown = "unknown",
               .type = TTS_COLUMN_BYTES,
               .shift = 20},
    [SHARE] = {.key = "ratio", .title = "share", .group = "DRAM", .type = TTS_COLUMN_RATIO},
    [USED] = {.key = "used", .title = "used", .type = TTS_COLUMN_BOOL},
};

static void fill(struct tts_table *table, const struct tts_alloc *alloc)
{
    tts_table_init(table, columns, COUNT, alloc);
    T_EQ(tts_table_add(table, (struct tts_cell[]){tts_cell_text("matmul"),
                                                  tts_cell_number(UINT64_C(3) << 20),
                                                  tts_cell_number(123456), tts_cell_number(1)}),
         TTS_OK);
    T_EQ(tts_table_add(table, (struct tts_cell[]){tts_cell_text("ttnn::add,\x1b \"x\""),
                                                  tts_cell_unknown(), tts_cell_number(0),
                                                  tts_cell_number(0)}),
         TTS_OK);
}

static const char *written(const struct tts_table *table, char as, unsigned width)
{
    static char text[2048];
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    struct tts_json json;
    if (as == 't') {
        tts_table_text(table, width, out);
    } else if (as == 'c') {
        tts_table_csv(table, out);
    } else {
        tts_json_init(&json, out);
        json.is_one_line = true;
        tts_table_json(table, &json, NULL);
    }
    fclose(out);
    return text;
}

T_TEST(text_has_aligned_columns_under_their_titles_and_groups)
{
    struct tts_table table;
    fill(&table, NULL);
    T_STR_EQ(written(&table, 't', 80), "                             DRAM\n"
                                       "name             peak, MB   share  used\n"
                                       "matmul               3.00  12.3 %   yes\n"
                                       "ttnn::add,? \"x\"   unknown   0.0 %    no\n");
    tts_table_release(&table);
}

T_TEST(a_table_that_is_too_wide_shortens_flexible_texts_at_their_beginning)
{
    struct tts_table table;
    setenv("LC_ALL", "C", 1);
    fill(&table, NULL);
    T_STR_EQ(written(&table, 't', 33), "                       DRAM\n"
                                       "name       peak, MB   share  used\n"
                                       "matmul         3.00  12.3 %   yes\n"
                                       "...,? \"x\"   unknown   0.0 %    no\n");
    tts_table_release(&table);
}

T_TEST(json_and_csv_have_base_units_and_no_number_for_what_is_unknown)
{
    struct tts_table table;
    fill(&table, NULL);
    T_STR_EQ(written(&table, 'j', 0),
             "[{\"name\": \"matmul\", \"peak_bytes\": 3145728, \"ratio\": 0.123456, \"used\": "
             "true}, {\"name\": \"ttnn::add,\\u001b \\\"x\\\"\", \"peak_bytes\": null, "
             "\"ratio\": 0.000000, \"used\": false}]\n");
    T_STR_EQ(written(&table, 'c', 0), "name,peak_bytes,ratio,used\n"
                                      "matmul,3145728,0.123456,true\n"
                                      "\"ttnn::add,\xef\xbf\xbd \"\"x\"\"\",,0.000000,false\n");
    tts_table_release(&table);
}

T_TEST(a_row_that_cannot_be_kept_changes_nothing)
{
    for (size_t fail_at = 1;; fail_at++) {
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = fail_at;
        struct tts_table table;
        tts_table_init(&table, columns, COUNT, &heap.alloc);
        enum tts_status status = tts_table_add(
            &table, (struct tts_cell[]){tts_cell_text("a"),
                                        tts_cell_number(1),
                                        {.is_known = true, .number = 2, .text = "~2"},
                                        tts_cell_text("b")});
        T_EQ(table.row_count, status == TTS_OK);
        tts_table_release(&table);
        T_TRUE(heap_is_settled(&heap));
        if (status == TTS_OK)
            break;
        T_EQ(status, TTS_E_NOMEM);
    }
}

T_TEST(a_row_whose_last_text_goes_below_has_no_blanks_at_its_end)
{
    static const struct tts_column two[] = {{.title = "name"},
                                            {.title = "left", .goes_below = true}};
    struct tts_table table;
    tts_table_init(&table, two, 2, NULL);
    for (size_t i = 0; i < 2; i++)
        T_EQ(tts_table_add(&table, (struct tts_cell[]){tts_cell_text(i ? "ab" : "abcdefgh"),
                                                       tts_cell_text("one two three")}),
             TTS_OK);
    T_STR_EQ(written(&table, 't', 24), "name      left\n"
                                       "abcdefgh  one two three\n"
                                       "ab        one two three\n");
    T_STR_EQ(written(&table, 't', 22), "name      left\n"
                                       "abcdefgh\n        one two three\n"
                                       "ab\n        one two three\n");
    T_STR_EQ(written(&table, 't', 16), "name      left\n"
                                       "abcdefgh\n        one two\n        three\n"
                                       "ab\n        one two\n        three\n");
    tts_table_release(&table);
}

T_TEST(a_last_text_that_does_not_fit_goes_below_its_row)
{
    static const struct tts_column two[] = {{.title = "n", .type = TTS_COLUMN_NUMBER},
                                            {.title = "why", .goes_below = true}};
    struct tts_table table;
    tts_table_init(&table, two, 2, NULL);
    T_EQ(tts_table_add(&table, (struct tts_cell[]){tts_cell_number(7), tts_cell_text("short")}),
         TTS_OK);
    const char *sentence =
        "a sentence of more than eighty columns, which is broken between two "
        "of its words and goes on below";
    T_EQ(
        tts_table_add(&table, (struct tts_cell[]){tts_cell_number(8), tts_cell_text(sentence)}),
        TTS_OK);
    T_STR_EQ(written(&table, 't', 80),
             "n  why\n"
             "7  short\n"
             "8\n"
             "        a sentence of more than eighty columns, which is broken between two of\n"
             "        its words and goes on below\n");
    tts_table_release(&table);
}
