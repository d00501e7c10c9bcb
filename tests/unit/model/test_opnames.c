#include "harness/t.h"
#include "model/opnames.h"
#include "torture/heap.h"

#include <stdio.h>
#include <string.h>

static struct tts_opnames *names_of(uint32_t max)
{
    struct tts_opnames *names = NULL;
    T_EQ(tts_opnames_new(max, NULL, &names), TTS_OK);
    return names;
}

static uint32_t add(struct tts_opnames *names, const char *name, size_t len)
{
    uint64_t hash = tts_opnames_hash(name, len);
    tts_opnames_add(names, hash, name, len);
    return tts_opnames_find(names, hash);
}

T_TEST(a_name_is_kept_once_and_read_back)
{
    struct tts_opnames *names = names_of(4);
    uint32_t matmul = add(names, "matmul", 6), relu = add(names, "relu", 4);
    T_TRUE(matmul != relu && matmul > TTS_OPNAMES_OTHER && relu > TTS_OPNAMES_OTHER);
    T_EQ(add(names, "matmul", 6), matmul);
    T_STR_EQ(tts_opnames_text(names, matmul), "matmul");
    T_STR_EQ(tts_opnames_text(names, relu), "relu");
    T_EQ(tts_opnames_find(names, tts_opnames_hash("matmul", 6)), matmul);
    T_EQ(tts_opnames_find(names, tts_opnames_hash("relu", 4)), relu);
    tts_opnames_free(names);
    tts_opnames_free(NULL);
}

T_TEST(no_operation_has_no_name)
{
    struct tts_opnames *names = names_of(4);
    T_EQ(tts_opnames_find(names, 0), TTS_OPNAMES_NONE);
    T_TRUE(tts_opnames_text(names, TTS_OPNAMES_NONE) == NULL);
    T_STR_EQ(tts_opnames_text(names, add(names, NULL, 0)), "");
    tts_opnames_free(names);
}

T_TEST(what_has_no_room_is_other_and_what_had_stays)
{
    struct tts_opnames *names = names_of(2);
    uint64_t c = tts_opnames_hash("c", 1);
    T_EQ(tts_opnames_find(names, c), TTS_OPNAMES_OTHER);
    uint32_t a = add(names, "a", 1), b = add(names, "b", 1);
    T_EQ(add(names, "c", 1), TTS_OPNAMES_OTHER);
    T_STR_EQ(tts_opnames_text(names, TTS_OPNAMES_OTHER), "(other)");
    T_EQ(add(names, "a", 1), a);
    T_EQ(add(names, "b", 1), b);
    tts_opnames_free(names);
}

T_TEST(a_name_that_was_not_there_is_found_once_it_is)
{
    struct tts_opnames *names = names_of(2);
    uint64_t hash = tts_opnames_hash("late", 4);
    T_EQ(tts_opnames_find(names, hash), TTS_OPNAMES_OTHER);
    tts_opnames_add(names, hash, "late", 4);
    T_STR_EQ(tts_opnames_text(names, tts_opnames_find(names, hash)), "late");
    tts_opnames_free(names);
}

T_TEST(only_the_last_bytes_count)
{
    char name[100];
    memset(name, 'x', sizeof name);
    name[sizeof name - TTS_OP_NAME_MAX - 1] = 'y';
    name[sizeof name - 1] = 'z';
    struct tts_opnames *names = names_of(4);
    uint32_t cut = add(names, name + sizeof name - TTS_OP_NAME_MAX, TTS_OP_NAME_MAX);
    T_EQ(add(names, name, sizeof name), cut);
    T_EQ(strlen(tts_opnames_text(names, cut)), TTS_OP_NAME_MAX);
    T_EQ(tts_opnames_text(names, cut)[TTS_OP_NAME_MAX - 1], 'z');
    T_TRUE(add(names, name, sizeof name - 1) != cut);
    /* A name is cut between two characters, not inside one. */
    memcpy(name + sizeof name - TTS_OP_NAME_MAX - 1, "\xe2\x82\xac", 3);
    T_EQ(strlen(tts_opnames_text(names, add(names, name, sizeof name))), TTS_OP_NAME_MAX - 2);
    tts_opnames_free(names);
}

T_TEST(control_characters_become_question_marks)
{
    struct tts_opnames *names = names_of(4);
    T_STR_EQ(tts_opnames_text(names, add(names, "a\0b\n\x1f \x7f~\xc3\xa9", 10)),
             "a?b?? ?~\xc3\xa9");
    tts_opnames_free(names);
}

T_TEST(names_that_read_the_same_are_one)
{
    enum { LEN = 19 };
    static const char all_bytes[] = "\x01\x1f\x7f\x20\x7e\x80\xff";
    struct tts_opnames *names = names_of(4);
    char marked[LEN], name[LEN];
    for (size_t at = 0; at < LEN; at++)
        for (size_t i = 0; i < sizeof all_bytes; i++) {
            unsigned char byte = (unsigned char)all_bytes[i];
            bool is_plain = byte >= ' ' && byte != 0x7f;
            memset(marked, 'x', LEN);
            memset(name, 'x', LEN);
            marked[at] = '?';
            name[at] = all_bytes[i];
            bool is_same = tts_opnames_hash(name, LEN) == tts_opnames_hash(marked, LEN);
            T_EQ(is_same, !is_plain);
        }
    T_EQ(add(names, "copy\nof", 7), add(names, "copy\tof", 7));
    tts_opnames_free(names);
}

T_TEST(every_byte_and_the_length_are_in_the_hash)
{
    char name[TTS_OP_NAME_MAX];
    uint64_t hashes[2 * TTS_OP_NAME_MAX + 1];
    size_t count = 0;
    memset(name, 'a', sizeof name);
    for (size_t i = 0; i < TTS_OP_NAME_MAX; i++) {
        name[i] = 'b';
        hashes[count++] = tts_opnames_hash(name, sizeof name);
        name[i] = 'a';
        hashes[count++] = tts_opnames_hash(name, i);
    }
    hashes[count++] = tts_opnames_hash(name, sizeof name);
    for (size_t i = 0; i < count; i++) {
        T_TRUE(hashes[i] != 0);
        for (size_t k = 0; k < i; k++)
            T_TRUE(hashes[i] != hashes[k]);
    }
}

T_TEST(thousands_of_names_are_told_apart)
{
    enum { MANY = 5000 };
    struct tts_opnames *names = names_of(MANY);
    char name[32];
    for (uint32_t i = 0; i <= MANY; i++) {
        int len = snprintf(name, sizeof name, "Operation%u", i);
        uint32_t idx = add(names, name, (size_t)len);
        T_TRUE((idx == TTS_OPNAMES_OTHER) == (i == MANY));
    }
    for (uint32_t i = 0; i < MANY; i++) {
        int len = snprintf(name, sizeof name, "Operation%u", i);
        uint64_t hash = tts_opnames_hash(name, (size_t)len);
        T_STR_EQ(tts_opnames_text(names, tts_opnames_find(names, hash)), name);
    }
    tts_opnames_free(names);
}

T_TEST(hashes_that_meet_in_the_table_are_told_apart)
{
    struct tts_opnames *names = names_of(4);
    for (uint64_t i = 1; i <= 4; i++)
        tts_opnames_add(names, i << 32 | 7, &"abcd"[i - 1], 1);
    for (uint64_t i = 1; i <= 4; i++)
        T_EQ(tts_opnames_text(names, tts_opnames_find(names, i << 32 | 7))[0],
             'a' + (int)i - 1);
    T_EQ(tts_opnames_find(names, 7), TTS_OPNAMES_OTHER);
    tts_opnames_free(names);
}

T_TEST(no_memory_is_told_at_birth_and_nothing_is_kept)
{
    struct tts_opnames *names = NULL;
    T_EQ(tts_opnames_new(0, NULL, &names), TTS_E_INVALID);
    for (uint64_t n = 1;; n++) {
        struct heap heap;
        heap_init(&heap);
        heap.fail_at = n;
        enum tts_status status = tts_opnames_new(100, &heap.alloc, &names);
        if (status == TTS_OK) {
            T_TRUE(heap.failed == 0 && n > 1);
            uint64_t calls = heap.calls;
            T_TRUE(add(names, "a", 1) > TTS_OPNAMES_OTHER);
            T_EQ(heap.calls, calls);
            tts_opnames_free(names);
            T_TRUE(heap_is_settled(&heap));
            break;
        }
        T_EQ(status, TTS_E_NOMEM);
        T_TRUE(names == NULL && heap_is_settled(&heap));
    }
}
