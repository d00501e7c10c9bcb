#include "sources/trainlog/trainline.h"

#include "harness/t.h"

#include <stdio.h>
#include <string.h>

static struct tts_span span_of(const char *text)
{
    return (struct tts_span){text, strlen(text)};
}

static struct tts_trainline tell(const char *text)
{
    struct tts_trainline line;
    tts_trainline_tell(span_of(text), &line);
    return line;
}

T_TEST(a_size_is_rounded_to_the_nearest_byte)
{
    int64_t bytes;
    T_TRUE(tts_trainline_mb(span_of("+1,863.25 MB"), &bytes));
    T_EQ(bytes, INT64_C(1863) * 1048576 + 262144);
    T_TRUE(tts_trainline_mb(span_of("-0.0000004 MB"), &bytes));
    T_EQ(bytes, 0);
    T_TRUE(tts_trainline_mb(span_of("0.0000005 MB"), &bytes));
    T_EQ(bytes, 1);
    T_TRUE(!tts_trainline_mb(span_of("18,63.25 MB"), &bytes));
    T_TRUE(!tts_trainline_mb(span_of("1863.25 GB"), &bytes));
    T_TRUE(!tts_trainline_mb(span_of("8796093022208 MB"), &bytes));
}

T_TEST(the_quick_reader_agrees_with_the_exact_one)
{
    uint64_t rng = 20;
    for (int i = 0; i < 20000; i++) {
        char text[64];
        int64_t exact, quick;
        size_t at = 0;
        int len = snprintf(text, sizeof text, "%s%llu.%02u MB", i % 3 == 0 ? "-" : "",
                           (unsigned long long)(t_random(&rng) % 1000000),
                           (unsigned)(t_random(&rng) % 100));
        T_TRUE(tts_trainline_mb(span_of(text), &exact));
        T_TRUE(tts_trainline_quick_mb(span_of(text), &at, &quick));
        T_EQ(quick, exact);
        T_EQ(at, len);
    }
}

T_TEST(counts_and_shapes_are_whole_numbers)
{
    uint64_t count;
    uint32_t devices;
    T_TRUE(tts_trainline_count(span_of("1,100,048,384"), &count));
    T_EQ(count, 1100048384);
    T_TRUE(!tts_trainline_count(span_of("1,100,04"), &count));
    T_TRUE(!tts_trainline_count(span_of("7 "), &count));
    T_TRUE(tts_trainline_shape(span_of("1x8"), &devices));
    T_EQ(devices, 8);
    T_TRUE(!tts_trainline_shape(span_of("0x8"), &devices));
    T_TRUE(!tts_trainline_shape(span_of("65536x65536"), &devices));
    T_TRUE(!tts_trainline_shape(span_of("1x"), &devices));
}

T_TEST(a_line_is_told_by_its_words_after_any_prefix)
{
    struct tts_trainline line = tell("[1,0]<stdout>: === Memory Usage Summary ===");
    T_EQ(line.kind, TTS_TRAINLINE_HEADING);
    T_EQ(line.prefix.len, strlen("[1,0]<stdout>: "));
    line = tell("rank 3 --- FORWARD_PASS ---  ");
    T_EQ(line.kind, TTS_TRAINLINE_LABEL);
    T_TRUE(tts_span_is(line.name, "FORWARD_PASS"));
    line = tell("  DRAM: Segment Peak 1.00 MB, Allocations 2.00 MB");
    T_EQ(line.kind, TTS_TRAINLINE_SEGMENT);
    T_TRUE(tts_span_begins(line.value, " Segment Peak"));
    T_EQ(tell("DRAM: 12 GB").kind, TTS_TRAINLINE_OTHER);
    T_EQ(tell("WARNING: Using NoOp optimizer").kind, TTS_TRAINLINE_NO_OPTIMIZER);
    line = tell("x      memory  12288.00  MB");
    T_EQ(line.kind, TTS_TRAINLINE_ROW);
    T_TRUE(tts_span_is(line.name, "memory"));
}

T_TEST(an_excerpt_holds_nothing_that_a_terminal_obeys)
{
    char out[TTS_TRAINLINE_EXCERPT];
    tts_trainline_excerpt(out, span_of("  a\tb\033[31m and much more than fits "));
    T_STR_EQ(out, "a?b?[31m and much more ");
}

T_TEST(the_pieces_of_a_wrapped_line_are_joined)
{
    static struct tts_logkey work;
    struct tts_trainwrap wrap;
    const char *first = "[0] DRAM: Cumulative Peak 10.00 MB, Cumu";
    struct tts_trainline line = tell(first);
    T_EQ(line.kind, TTS_TRAINLINE_CUMULATIVE);
    T_TRUE(tts_trainwrap_begin(&wrap, span_of(first), &line, true));
    T_EQ(tts_trainwrap_join(&wrap, span_of("[0] something else"), true, &work),
         TTS_TRAINWRAP_NONE);
    T_EQ(tts_trainwrap_join(&wrap, span_of("[0] lative Current "), true, &work),
         TTS_TRAINWRAP_PART);
    T_EQ(tts_trainwrap_join(&wrap, span_of("8.00 MB"), true, &work), TTS_TRAINWRAP_WHOLE);
    line = tell("x");
    tts_trainline_tell((struct tts_span){wrap.text, wrap.len}, &line);
    T_TRUE(tts_span_ends(line.value, "Cumulative Current 8.00 MB"));

    const char *whole = "DRAM: Cumulative Peak 10.00 MB, Cumulative Current 8.00 MB";
    line = tell(whole);
    T_TRUE(!tts_trainwrap_begin(&wrap, span_of(whole), &line, true));
}
