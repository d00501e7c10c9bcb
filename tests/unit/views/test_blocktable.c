#include "device/space.h"
#include "harness/t.h"
#include "torture/heap.h"
#include "views/map/blocktable.h"

#include <stdlib.h>
#include <string.h>

static struct tts_space *new_space(uint64_t size, uint64_t offset)
{
    struct tts_space_config config = {size, offset, 32, 32, TTS_POLICY_FIRST};
    struct tts_space *space;
    T_EQ(tts_space_new(&config, NULL, &space, NULL), TTS_OK);
    return space;
}

static void expect(const struct tts_space *space, const char *wanted)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    T_TRUE(out != NULL);
    T_EQ(tts_blocktable_write(space, NULL, out), TTS_OK);
    T_EQ(fclose(out), 0);
    T_STR_EQ(text, wanted);
    free(text);
}

T_TEST(an_empty_space_is_one_free_block)
{
    struct tts_space *space = new_space(1000, 5);
    expect(space, "blocks, by id; Address is relative, add the pool offset 5 for absolute\n"
                  "  ids of the free blocks of each size class, by address:\n"
                  "  class  0,        below      2048: 0\n"
                  "  class  1,      2048 and above:\n"
                  "  unused ids:\n"
                  "       Block     Address        Size      PrevID      NextID   Allocated\n"
                  "           0           0        1000        none        none          no\n");
    tts_space_free(space);
}

T_TEST(free_blocks_stand_in_their_class_and_all_stand_by_id)
{
    struct tts_space *space = new_space(16384, 1024);
    static const uint64_t taken[] = {1024, 4096, 8192, 5120, 10240};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        T_EQ(tts_space_take_at(space, taken[i], 512), TTS_OK);
    T_EQ(tts_space_give(space, 8192),
         TTS_OK); /* the block merges with both neighbours, so two ids are retired */
    expect(space, "blocks, by id; Address is relative, add the pool offset 1024 for absolute\n"
                  "  ids of the free blocks of each size class, by address:\n"
                  "  class  0,        below      2048: 6\n"
                  "  class  1,      2048 to      4095: 2\n"
                  "  class  2,      4096 to      8191: 7 9\n"
                  "  class  3,      8192 to     16383:\n"
                  "  class  4,     16384 and above:\n"
                  "  unused ids: 3 8\n"
                  "       Block     Address        Size      PrevID      NextID   Allocated\n"
                  "           0           0         512        none           2         yes\n"
                  "           1        3072         512           2           6         yes\n"
                  "           2         512        2560           0           1          no\n"
                  "           4        4096         512           6           7         yes\n"
                  "           5        9216         512           7           9         yes\n"
                  "           6        3584         512           1           4          no\n"
                  "           7        4608        4608           4           5          no\n"
                  "           9        9728        6656           5        none          no\n");
    T_EQ(tts_space_give(space, 10240), TTS_OK);
    T_EQ(tts_space_give(space, 5120), TTS_OK);
    expect(space, "blocks, by id; Address is relative, add the pool offset 1024 for absolute\n"
                  "  ids of the free blocks of each size class, by address:\n"
                  "  class  0,        below      2048:\n"
                  "  class  1,      2048 to      4095: 2\n"
                  "  class  2,      4096 to      8191:\n"
                  "  class  3,      8192 to     16383: 6\n"
                  "  class  4,     16384 and above:\n"
                  "  unused ids: 3-5 7-9\n"
                  "       Block     Address        Size      PrevID      NextID   Allocated\n"
                  "           0           0         512        none           2         yes\n"
                  "           1        3072         512           2           6         yes\n"
                  "           2         512        2560           0           1          no\n"
                  "           6        3584       12800           1        none          no\n");
    tts_space_free(space);
}

T_TEST(a_large_space_has_wider_columns)
{
    struct tts_space *space = new_space(UINT64_C(131072000000), 0);
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    T_EQ(tts_blocktable_write(space, NULL, out), TTS_OK);
    T_EQ(fclose(out), 0);
    T_TRUE(strstr(text, " 131072000000 ") != NULL);
    T_TRUE(strstr(text, "  class 17, 134217728 and above: 0\n") != NULL);
    T_TRUE(strstr(text, "class 18") == NULL);
    free(text);
    tts_space_free(space);
}

T_TEST(without_memory_nothing_is_written)
{
    struct tts_space *space = new_space(16384, 0);
    struct heap heap;
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    heap_init(&heap);
    heap.fail_at = 1;
    T_EQ(tts_blocktable_write(space, &heap.alloc, out), TTS_E_NOMEM);
    T_EQ(fclose(out), 0);
    T_EQ(len, 0);
    heap_init(&heap);
    out = fopen("/dev/null", "w");
    T_EQ(tts_blocktable_write(space, &heap.alloc, out), TTS_OK);
    T_TRUE(heap.calls == 1 && heap_is_settled(&heap));
    fclose(out);
    free(text);
    tts_space_free(space);
}
