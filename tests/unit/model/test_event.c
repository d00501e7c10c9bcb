/* Tests of valid events, and of the messages for invalid events. */
#include "harness/t.h"
#include "model/fold.h"

#include <string.h>

static const struct tts_core_range square = {0, 0, 7, 7};
static const uint64_t MOST = UINT64_C(1) << 62, LARGEST = UINT64_C(1) << 52;

static void passes(struct tts_event event)
{
    struct tts_error err = {.status = TTS_OK};
    T_EQ(tts_event_check(&event, &err), TTS_OK);
    T_EQ(err.status, TTS_OK);
}

/* Checks that the event is refused with this status, and that the message contains `part` and
 * is not cut. */
static void refused(struct tts_event event, enum tts_status status, const char *part)
{
    struct tts_error err = {.status = TTS_OK};
    T_EQ(tts_event_check(&event, &err), status);
    T_EQ(err.status, status);
    T_TRUE(strstr(err.text, part) != NULL);
    T_TRUE(strlen(err.text) <= 150);
    T_EQ(tts_event_check(&event, NULL), status);
}

static struct tts_event alloc_in(enum tts_pool pool, uint64_t size, uint64_t per_bank)
{
    return (struct tts_event){.kind = TTS_EVENT_ALLOC,
                              .pool = pool,
                              .id = UINT64_MAX,
                              .size_bytes = size,
                              .bytes_per_bank = per_bank};
}

static struct tts_event cb_on(const struct tts_core_range *ranges, size_t count)
{
    return (struct tts_event){
        .kind = TTS_EVENT_CB, .size_bytes = 64, .ranges = ranges, .range_count = count};
}

T_TEST(every_kind_has_a_name)
{
    static const char *const names[TTS_EVENT_KINDS] = {
        "alloc",    "free",   "program",     "cb",        "dfb",    "scratchpad",
        "op_begin", "op_end", "trace_begin", "trace_end", "failure"};
    for (unsigned kind = 0; kind < TTS_EVENT_KINDS; kind++)
        T_STR_EQ(tts_event_kind_name((enum tts_event_kind)kind), names[kind]);
    T_STR_EQ(tts_event_kind_name((enum tts_event_kind)TTS_EVENT_KINDS), "unknown");
    T_STR_EQ(tts_event_kind_name((enum tts_event_kind)1000), "unknown");
}

T_TEST(there_is_no_such_kind)
{
    refused((struct tts_event){.kind = (enum tts_event_kind)TTS_EVENT_KINDS}, TTS_E_INVALID,
            "kind of event 11");
    refused((struct tts_event){.kind = (enum tts_event_kind)UINT32_MAX}, TTS_E_INVALID, "kind");
}

T_TEST(fields_that_a_kind_does_not_name_are_not_read)
{
    static const enum tts_event_kind kinds[] = {TTS_EVENT_PROGRAM, TTS_EVENT_OP_END,
                                                TTS_EVENT_TRACE_BEGIN, TTS_EVENT_TRACE_END};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        passes((struct tts_event){.kind = kinds[i],
                                  .pool = (enum tts_pool)99,
                                  .size_bytes = UINT64_MAX,
                                  .bytes_per_bank = UINT64_MAX,
                                  .range_count = SIZE_MAX,
                                  .name_len = SIZE_MAX});
    struct tts_event event = cb_on(&square, 1);
    event.pool = (enum tts_pool)99;
    event.bytes_per_bank = UINT64_MAX;
    event.name_len = 1;
    passes(event);
    event = alloc_in(TTS_POOL_L1, 1, 1);
    event.kind = TTS_EVENT_FREE;
    event.range_count = SIZE_MAX;
    passes(event);
}

T_TEST(there_is_no_such_pool)
{
    refused(alloc_in((enum tts_pool)TTS_POOLS, 1, 1), TTS_E_INVALID, "unknown pool 4");
    struct tts_event event = alloc_in((enum tts_pool)UINT32_MAX, 0, 0);
    event.kind = TTS_EVENT_FREE;
    refused(event, TTS_E_INVALID, "pool");
}

T_TEST(in_l1_a_buffer_says_what_a_bank_holds)
{
    for (unsigned free = 0; free < 2; free++) {
        for (unsigned pool = 0; pool < TTS_POOLS; pool++) {
            struct tts_event event = alloc_in((enum tts_pool)pool, 100, 0);
            event.kind = free ? TTS_EVENT_FREE : TTS_EVENT_ALLOC;
            if (pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL)
                refused(event, TTS_E_INVALID,
                        "give the bytes in the fullest bank of the buffer");
            else
                passes(event);
            event.bytes_per_bank = 1;
            passes(event);
            event.size_bytes = event.bytes_per_bank = 0;
            passes(event);
        }
    }
}

T_TEST(sizes_have_a_limit)
{
    for (unsigned kind = 0; kind <= TTS_EVENT_SCRATCHPAD; kind++) {
        struct tts_event event = {.kind = (enum tts_event_kind)kind,
                                  .pool = TTS_POOL_DRAM,
                                  .size_bytes = kind < TTS_EVENT_CB ? LARGEST : MOST,
                                  .ranges = kind < TTS_EVENT_CB ? NULL : &square,
                                  .range_count = kind < TTS_EVENT_CB ? 0 : 1};
        passes(event);
        event.size_bytes++;
        if (kind == TTS_EVENT_PROGRAM)
            passes(event);
        else
            refused(event, TTS_E_RANGE, kind < TTS_EVENT_CB ? "2^52" : "2^62");
    }
    struct tts_event event = alloc_in(TTS_POOL_L1, LARGEST, MOST);
    event.block_bytes = MOST;
    passes(event);
    event.block_bytes++;
    refused(event, TTS_E_RANGE, "2^62");
    event.block_bytes = 0;
    event.bytes_per_bank++;
    refused(event, TTS_E_RANGE, "2^62");
}

T_TEST(a_block_is_no_less_than_what_is_in_it)
{
    struct tts_event event = alloc_in(TTS_POOL_L1, 100, 50);
    event.block_bytes = 50;
    passes(event);
    event.block_bytes = 49;
    refused(event, TTS_E_INVALID, "block_bytes 49");
    event.kind = TTS_EVENT_FREE;
    refused(event, TTS_E_INVALID, "block_bytes 49");
    event.size_bytes = LARGEST;
    event.bytes_per_bank = MOST;
    event.block_bytes = MOST - 1;
    refused(event, TTS_E_INVALID, "block");
}

T_TEST(only_buffers_in_l1_have_cores)
{
    for (unsigned pool = 0; pool < TTS_POOLS; pool++) {
        struct tts_event event = alloc_in((enum tts_pool)pool, 100, 50);
        event.ranges = &square;
        passes(event); /* this kind of event ignores its ranges */
        event.range_count = 1;
        if (pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL)
            passes(event);
        else
            refused(event, TTS_E_INVALID, "not in L1");
    }
    struct tts_event event = alloc_in(TTS_POOL_L1, 100, 50);
    event.range_count = 1;
    refused(event, TTS_E_INVALID, "NULL");
    event.ranges = &(struct tts_core_range){1, 0, 0, 0};
    refused(event, TTS_E_INVALID, "backwards");
}

T_TEST(what_is_on_cores_says_on_which)
{
    static const enum tts_event_kind kinds[] = {TTS_EVENT_CB, TTS_EVENT_DFB,
                                                TTS_EVENT_SCRATCHPAD};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct tts_event event = cb_on(&square, 1);
        event.kind = kinds[i];
        passes(event);
        event.size_bytes = 0;
        event.borrowed = true;
        passes(event);
        event.range_count = 0;
        refused(event, TTS_E_INVALID, tts_event_kind_name(kinds[i]));
        refused(event, TTS_E_INVALID, "no core ranges");
        event.range_count = 1;
        event.ranges = NULL;
        refused(event, TTS_E_INVALID, "NULL");
    }
}

T_TEST(ranges_are_on_some_grid_and_not_backwards)
{
    passes(cb_on(&(struct tts_core_range){63, 63, 63, 63}, 1));
    passes(cb_on(&(struct tts_core_range){0, 0, 63, 63}, 1));
    refused(cb_on(&(struct tts_core_range){0, 0, 64, 0}, 1), TTS_E_INVALID, "0 to 63");
    refused(cb_on(&(struct tts_core_range){0, 0, 0, 64}, 1), TTS_E_INVALID, "0 to 63");
    refused(cb_on(&(struct tts_core_range){65535, 65535, 65535, 65535}, 1), TTS_E_INVALID,
            "65535-65535..65535-65535");
    refused(cb_on(&(struct tts_core_range){2, 0, 1, 0}, 1), TTS_E_INVALID, "backwards");
    refused(cb_on(&(struct tts_core_range){0, 2, 0, 1}, 1), TTS_E_INVALID, "backwards");
    const struct tts_core_range second[] = {{0, 0, 0, 0}, {2, 2, 2, 1}};
    refused(cb_on(second, 2), TTS_E_INVALID, "2-2..2-1");
}

T_TEST(ranges_share_no_core)
{
    const struct tts_core_range apart[] = {{0, 0, 1, 1}, {2, 0, 3, 1}, {0, 2, 1, 3}};
    passes(cb_on(apart, 3));
    const struct tts_core_range corner[] = {{5, 5, 6, 6}, {0, 0, 1, 1}, {1, 1, 2, 2}};
    refused(cb_on(corner, 3), TTS_E_INVALID, "0-0..1-1 and 1-1..2-2 overlap");
    const struct tts_core_range inside[] = {{0, 0, 9, 9}, {4, 4, 4, 4}};
    refused(cb_on(inside, 2), TTS_E_INVALID, "overlap");
    const struct tts_core_range cross[] = {{0, 4, 9, 4}, {4, 0, 4, 9}};
    refused(cb_on(cross, 2), TTS_E_INVALID, "overlap");
}

T_TEST(there_are_at_most_64_ranges)
{
    struct tts_core_range many[TTS_RANGES_MAX + 1];
    for (uint16_t i = 0; i < TTS_RANGES_MAX; i++)
        many[i] = (struct tts_core_range){i, 0, i, 0};
    many[TTS_RANGES_MAX] = (struct tts_core_range){0, 1, 0, 1};
    passes(cb_on(many, TTS_RANGES_MAX));
    refused(cb_on(many, TTS_RANGES_MAX + 1), TTS_E_INVALID, "at most 64");
    refused(cb_on(many, SIZE_MAX), TTS_E_INVALID, "at most 64");
    many[TTS_RANGES_MAX - 1] = many[0]; /* the last two ranges are equal */
    refused(cb_on(many, TTS_RANGES_MAX), TTS_E_INVALID, "overlap");
}

T_TEST(a_name_with_a_length_is_there)
{
    struct tts_event event = {.kind = TTS_EVENT_OP_BEGIN};
    passes(event);
    event.name_len = 3;
    refused(event, TTS_E_INVALID, "name_len 3 but name NULL");
    event.name = "abc";
    passes(event);
    event.name_len = SIZE_MAX; /* only the first bytes of a name are read */
    passes(event);
}

T_TEST(a_failure_has_circumstances_that_can_be)
{
    struct tts_event event = tts_event_of(TTS_EVENT_FAILURE, 1);
    refused(event, TTS_E_INVALID, "no tts_failure");
    struct tts_failure failure = {.kind = TTS_FAILURE_NONE};
    event.failure = &failure;
    refused(event, TTS_E_INVALID, "kind 0");
    failure.kind = TTS_FAILURE_TRACE_OVERLAP;
    passes(event);
    failure.kind = (enum tts_failure_kind)(TTS_FAILURE_TRACE_OVERLAP + 1);
    refused(event, TTS_E_INVALID, "kind 8");
    failure.kind = TTS_FAILURE_SPACE;
    failure.pool = (enum tts_pool)TTS_POOLS;
    refused(event, TTS_E_INVALID, "pool");
}

T_TEST(how_a_buffer_was_asked_for_is_bounded)
{
    struct tts_event event = alloc_in(TTS_POOL_DRAM, 1, 0);
    event.has_address = true;
    event.address = TTS_EVENT_BYTES_MAX;
    event.page_bytes = TTS_EVENT_SIZE_MAX;
    event.cores = TTS_CORES_MAX;
    event.placement = TTS_PLACE_DOWN;
    passes(event);
    event.placement = TTS_PLACE_AT;
    refused(event, TTS_E_INVALID, "placement");
    event.placement = TTS_PLACE_DEFAULT;
    event.cores++;
    refused(event, TTS_E_INVALID, "cores");
    event.cores = 0;
    event.page_bytes++;
    refused(event, TTS_E_INVALID, "page");
    event.page_bytes = 0;
    event.address++;
    refused(event, TTS_E_INVALID, "address");
}
