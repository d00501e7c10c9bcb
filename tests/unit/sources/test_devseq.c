#include "sources/seq/devseq.h"

#include "harness/devseq_text.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* --- statements ------------------------------------------------------------------------- */

T_TEST(every_statement_and_option_is_written_as_it_was_read)
{
    static const char *const lines[] = {
        "buffer dram interleaved 2097152 2048",
        "buffer l1 interleaved 0 0 from=top as=x",
        "buffer l1_small interleaved 1 1 from=bottom",
        "buffer trace interleaved 18446744073709551615 1 at=18446744073709551615 as=_",
        "buffer l1 interleaved 2048 2048 at=0",
        "shard l1 classic 262144 2048 shard=2x1 cores=0-0..7-7",
        "shard dram classic 4096 2048 tensor=2x1 shard=1x1 cores=0-0+1-0 order=column from=top",
        "shard l1 nd 4096 2048 tensor=2 shard=1 cores=0-0 at=1024 as=b",
        "shard l1 nd 1 1 tensor=1x2x3x4x5x6x7x8 shard=8x7x6x5x4x3x2x1 cores=63-63",
        "shard l1_small grid 8192 2048 tensor=2x2 shard=1x1 cores=0-0..1-1",
        "cb 8192 cores=0-0..7-7+8-0..8-7",
        "cb 0 cores=0-0 index=0",
        "cb 4096 cores=3-4 index=1,2,63 page=2048 on=scores offset=64",
        "free weight",
        "free l1 1497088",
        "free dram",
        "free trace 0",
        "program 7",
        "program 18446744073709551615",
        "run",
        "kernel 5000",
        "kernel 5000 as=k",
        "capture",
        "trace 100000",
        "trace 100000 as=t/0:a.b-c_D",
        "idle 0",
        "idle 18446744073709551615",
        "stats dram",
        "stats l1",
        "stats l1_small",
        "stats trace",
        "room 0-0",
        "room 63-63",
        "page hidden 3",
    };
    for (size_t i = 0; i < COUNT(lines); i++)
        expect_canonical(lines[i], lines[i]);
}

T_TEST(every_result_is_written_as_it_was_read)
{
    static const char *const lines[] = {
        "buffer dram interleaved 1 1 = 2968640",
        "buffer dram interleaved 1 1 as=a = F",
        "buffer dram interleaved 1 1 = T 0",
        "buffer dram interleaved 1 1 = -",
        "shard l1 nd 1 1 tensor=1 shard=1 cores=0-0 = T 18446744073709551615",
        "shard l1 classic 1 1 shard=1x1 cores=0-0 = F",
        "kernel 1 = 0",
        "kernel 1 = F",
        "kernel 0 = -",
        "trace 1 = 5",
        "trace 1 as=t = F",
        "trace 1 = T 9",
        "trace 0 = -",
        "cb 1 cores=0-0 = 105664",
        "run = ok",
        "run = F",
        "stats l1 = 1 2 3 4",
        "room 1-2 = 18446744073709551615 2 3",
        "page hidden 3 = 3 6-3 1497088",
        "page weight 3 = 3 - 1497088",
        "page weight 3 = -",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        expect_canonical(lines[i], lines[i]);
        T_TRUE(parsed(lines[i]).has_result);
    }
}

T_TEST(there_is_one_way_to_write_what_can_be_said_in_many)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {" \t ", ""},
        {"# buffer \xff\x01 =", ""},
        {"\t#", ""},
        {"  run\t", "run"},
        {"run\t =  ok  ", "run = ok"},
        {"program 007", "program 7"},
        {"room 007-00", "room 7-0"},
        {"cb 1 cores=0-0..0-0", "cb 1 cores=0-0"},
        {"cb 1 page=0 offset=0 index=1 cores=01-02..3-4", "cb 1 cores=1-2..3-4 index=1"},
        {"cb 1 offset=2 on=x page=3 index=4 cores=5-6",
         "cb 1 cores=5-6 index=4 page=3 on=x offset=2"},
        {"shard l1 nd 1 1 as=a from=bottom order=row cores=0-0 shard=1 tensor=1",
         "shard l1 nd 1 1 tensor=1 shard=1 cores=0-0 from=bottom as=a"},
        {"buffer l1 interleaved 1 1 as=a at=3", "buffer l1 interleaved 1 1 at=3 as=a"},
    };
    for (size_t i = 0; i < COUNT(pairs); i++)
        expect_canonical(pairs[i][0], pairs[i][1]);
}

T_TEST(the_parts_of_a_line_land_where_they_are_looked_for)
{
    struct tts_devseq_line line =
        parsed("shard l1_small grid 8192 2048 cores=1-2..3-4+5-6 shard=7x8 tensor=9x10 "
               "order=column from=bottom as=name = T 12");
    T_TRUE(line.kind == TTS_DEVSEQ_SHARD && line.pool == TTS_POOL_L1_SMALL);
    T_TRUE(line.sharding == TTS_DEVSEQ_GRID && line.column_major && line.has_tensor);
    T_TRUE(line.bytes == 8192 && line.page_bytes == 2048 && line.rank == 2);
    T_TRUE(line.shard[0] == 7 && line.shard[1] == 8 && line.shard[2] == 0);
    T_TRUE(line.tensor[0] == 9 && line.tensor[1] == 10);
    T_EQ(line.range_count, 2);
    T_TRUE(line.ranges[0].x0 == 1 && line.ranges[0].y0 == 2 && line.ranges[0].x1 == 3 &&
           line.ranges[0].y1 == 4);
    T_TRUE(line.ranges[1].x0 == 5 && line.ranges[1].y0 == 6 && line.ranges[1].x1 == 5 &&
           line.ranges[1].y1 == 6);
    T_TRUE(line.placement == TTS_PLACE_UP && !line.has_address);
    T_STR_EQ(line.name.text, "name");
    T_TRUE(line.has_result && line.result.outcome == TTS_DEVSEQ_BELOW_LIMIT &&
           line.result.value[0] == 12);
    line = parsed("cb 4096 cores=0-0 index=3,1 page=2048 on=buf offset=64");
    T_TRUE(line.bytes == 4096 && line.page_bytes == 2048 && line.number == 64);
    T_TRUE(line.index_count == 2 && line.indices[0] == 3 && line.indices[1] == 1);
    T_STR_EQ(line.name.text, "buf");
    line = parsed("free l1 99");
    T_TRUE(line.has_address && line.address == 99 && line.pool == TTS_POOL_L1 &&
           line.name.text[0] == '\0');
    line = parsed("free l1"); /* without an address, "l1" is the name of a buffer */
    T_TRUE(!line.has_address);
    T_STR_EQ(line.name.text, "l1");
    line = parsed("page a 5 = 1 2-3 4");
    T_TRUE(line.number == 5 && line.result.value[0] == 1 && line.result.value[1] == 4);
    T_TRUE(line.result.has_core && line.result.core.x == 2 && line.result.core.y == 3);
    line = parsed("buffer l1 interleaved 1 1 at=7");
    T_TRUE(line.placement == TTS_PLACE_AT && line.address == 7);
    T_EQ(parsed("buffer l1 interleaved 1 1 from=top").placement, TTS_PLACE_DOWN);
    T_EQ(parsed("buffer l1 interleaved 1 1").placement, TTS_PLACE_DEFAULT);
}

T_TEST(results_are_equal_when_every_word_is)
{
    struct tts_devseq_result a = {TTS_DEVSEQ_DONE, {1, 2, 3, 4}, true, {5, 6}}, b = a;
    T_TRUE(tts_devseq_result_equal(&a, &b));
    for (int i = 0; i < 4; i++) {
        b = a;
        b.value[i]++;
        T_TRUE(!tts_devseq_result_equal(&a, &b));
    }
    b = a;
    b.outcome = TTS_DEVSEQ_FAILED;
    T_TRUE(!tts_devseq_result_equal(&a, &b));
    b = a;
    b.has_core = false;
    T_TRUE(!tts_devseq_result_equal(&a, &b));
    b = a;
    b.core.x++;
    T_TRUE(!tts_devseq_result_equal(&a, &b));
    b = a;
    b.core.y++;
    T_TRUE(!tts_devseq_result_equal(&a, &b));
}

/* --- requests --------------------------------------------------------------------------- */

T_TEST(a_line_becomes_the_request_it_stands_for)
{
    struct tts_shard shard;
    struct tts_distribution spread;
    struct tts_devseq_line line = parsed("buffer dram interleaved 4096 2048 at=64");
    struct tts_request request = tts_devseq_request(&line, &shard, &spread);
    T_TRUE(request.pool == TTS_POOL_DRAM && request.size_bytes == 4096 &&
           request.page_bytes == 2048 && request.placement == TTS_PLACE_AT &&
           request.address == 64 && !request.shard && !request.distribution);
    line = parsed("shard l1 classic 4096 2048 tensor=5x6 shard=3x4 cores=1-1 order=column");
    request = tts_devseq_request(&line, &shard, &spread);
    T_TRUE(request.shard == &shard && !request.distribution);
    T_TRUE(shard.shard_height == 3 && shard.shard_width == 4 && shard.page_height == 1 &&
           shard.page_width == 1 && shard.tensor_height_pages == 5 &&
           shard.tensor_width_pages == 6);
    T_TRUE(shard.cores.ranges == line.ranges && shard.cores.count == 1 &&
           shard.cores.column_major);
    line = parsed("shard l1 nd 4096 2048 tensor=5x6x7 shard=2x3x4 cores=1-1");
    request = tts_devseq_request(&line, &shard, &spread);
    T_TRUE(request.distribution == &spread && !request.shard);
    T_TRUE(spread.rank == 3 && !spread.grid && !spread.cores.column_major);
    T_TRUE(spread.tensor[2] == 7 && spread.shard[2] == 4 && spread.cores.count == 1);
    line = parsed("shard l1 grid 4096 2048 tensor=5x6 shard=2x3 cores=1-1");
    request = tts_devseq_request(&line, &shard, &spread);
    T_TRUE(spread.grid && spread.rank == 2 && request.distribution == &spread);
}

/* --- any line --------------------------------------------------------------------------- */

static uint64_t any_number(uint64_t *rng)
{
    return t_random(rng) >> t_random(rng) % 64;
}

static uint64_t below(uint64_t *rng, uint64_t bound)
{
    return t_random(rng) % bound;
}

static void any_name(uint64_t *rng, struct tts_devseq_name *name)
{
    static const char first[] = "abzABZ_", rest[] = "azAZ09_.:/-";
    size_t len = 1 + below(rng, TTS_DEVSEQ_NAME_MAX - 1);
    name->text[0] = first[below(rng, sizeof first - 1)];
    for (size_t i = 1; i < len; i++)
        name->text[i] = rest[below(rng, sizeof rest - 1)];
}

static struct tts_core any_core(uint64_t *rng)
{
    return (struct tts_core){(uint16_t)below(rng, 64), (uint16_t)below(rng, 64)};
}

static void any_ranges(uint64_t *rng, struct tts_devseq_line *line)
{
    line->range_count = 1 + below(rng, below(rng, 8) ? 3 : TTS_RANGES_MAX);
    for (size_t i = 0; i < line->range_count; i++) {
        struct tts_core from = any_core(rng), to = from;
        if (below(rng, 2)) {
            to.x = (uint16_t)(to.x + below(rng, 64u - to.x));
            to.y = (uint16_t)(to.y + below(rng, 64u - to.y));
        }
        line->ranges[i] = (struct tts_core_range){from.x, from.y, to.x, to.y};
    }
}

static void any_sharding(uint64_t *rng, struct tts_devseq_line *line)
{
    line->sharding = (enum tts_devseq_sharding)below(rng, TTS_DEVSEQ_GRID + 1);
    line->rank = line->sharding == TTS_DEVSEQ_ND ? 1 + (uint32_t)below(rng, TTS_RANK_MAX) : 2;
    line->has_tensor = line->sharding != TTS_DEVSEQ_CLASSIC || below(rng, 2);
    line->column_major = below(rng, 2);
    for (uint32_t i = 0; i < line->rank; i++) {
        line->shard[i] = any_number(rng) | 1;
        line->tensor[i] = line->has_tensor ? any_number(rng) | 1 : 0;
    }
    any_ranges(rng, line);
}

static void any_buffer(uint64_t *rng, struct tts_devseq_line *line)
{
    line->pool = (enum tts_pool)below(rng, TTS_POOLS);
    line->page_bytes = any_number(rng);
    line->placement = (enum tts_placement)below(rng, TTS_PLACE_AT + 1);
    line->address = line->placement == TTS_PLACE_AT ? any_number(rng) : 0;
    if (line->kind == TTS_DEVSEQ_SHARD)
        any_sharding(rng, line);
}

static void any_cb(uint64_t *rng, struct tts_devseq_line *line)
{
    any_ranges(rng, line);
    line->number = any_number(rng);
    line->index_count = below(rng, TTS_CB_INDICES_MAX + 1);
    line->page_bytes = line->index_count > 0 ? any_number(rng) : 0;
    for (size_t i = 0; i < line->index_count; i++)
        line->indices[i] = (uint8_t)below(rng, 64);
}

static void any_result(uint64_t *rng, struct tts_devseq_line *line)
{
    struct tts_devseq_result *result = &line->result;
    enum tts_devseq_kind kind = line->kind;
    size_t values = kind == TTS_DEVSEQ_STATS  ? 4
                    : kind == TTS_DEVSEQ_ROOM ? 3
                    : kind == TTS_DEVSEQ_PAGE ? 2
                    : kind == TTS_DEVSEQ_RUN  ? 0
                                              : 1;
    bool placing = kind == TTS_DEVSEQ_BUFFER || kind == TTS_DEVSEQ_SHARD ||
                   kind == TTS_DEVSEQ_KERNEL || kind == TTS_DEVSEQ_TRACE;
    line->has_result = true;
    if (placing)
        result->outcome = (enum tts_devseq_outcome)below(rng, 4);
    else if (kind == TTS_DEVSEQ_RUN && below(rng, 2))
        result->outcome = TTS_DEVSEQ_FAILED;
    else if (kind == TTS_DEVSEQ_PAGE && below(rng, 3) == 0)
        result->outcome = TTS_DEVSEQ_NOT_PLACED;
    if (result->outcome == TTS_DEVSEQ_FAILED || result->outcome == TTS_DEVSEQ_NOT_PLACED)
        return;
    for (size_t i = 0; i < values; i++)
        result->value[i] = any_number(rng);
    result->has_core = kind == TTS_DEVSEQ_PAGE && below(rng, 2);
    if (result->has_core)
        result->core = any_core(rng);
}

static struct tts_devseq_line any_line(uint64_t *rng)
{
    struct tts_devseq_line line = {.kind = (enum tts_devseq_kind)below(rng, TTS_DEVSEQ_KINDS)};
    enum tts_devseq_kind kind = line.kind;
    bool buffer = kind == TTS_DEVSEQ_BUFFER || kind == TTS_DEVSEQ_SHARD;
    bool sized = kind == TTS_DEVSEQ_CB || kind == TTS_DEVSEQ_KERNEL || kind == TTS_DEVSEQ_TRACE;
    if (buffer || sized)
        line.bytes = any_number(rng);
    if (buffer)
        any_buffer(rng, &line);
    if (kind == TTS_DEVSEQ_CB)
        any_cb(rng, &line);
    if ((buffer || sized) && below(rng, 2))
        any_name(rng, &line.name);
    if (kind == TTS_DEVSEQ_FREE && below(rng, 2)) {
        line.has_address = true;
        line.address = any_number(rng);
        line.pool = (enum tts_pool)below(rng, TTS_POOLS);
    } else if (kind == TTS_DEVSEQ_FREE || kind == TTS_DEVSEQ_PAGE) {
        any_name(rng, &line.name);
    }
    if (kind == TTS_DEVSEQ_PROGRAM || kind == TTS_DEVSEQ_IDLE || kind == TTS_DEVSEQ_PAGE)
        line.number = any_number(rng);
    if (kind == TTS_DEVSEQ_STATS)
        line.pool = (enum tts_pool)below(rng, TTS_POOLS);
    if (kind == TTS_DEVSEQ_ROOM)
        line.core = any_core(rng);
    if (tts_devseq_kind_has_result(kind) && below(rng, 4))
        any_result(rng, &line);
    return line;
}

T_TEST(what_is_written_is_read_back_the_same)
{
    uint64_t rng = 7;
    for (int i = 0; i < 50000; i++) {
        struct tts_devseq_line line = any_line(&rng), back;
        char text[TTS_DEVSEQ_TEXT_MAX];
        struct tts_error err = {0};
        size_t len = tts_devseq_format(&line, text);
        T_TRUE(len < TTS_DEVSEQ_TEXT_MAX && strlen(text) == len);
        if (tts_devseq_parse(text, len, &back, &err) != TTS_OK || !same_step(&line, &back))
            fail_msg("%s: %s", text, err.text);
    }
}
