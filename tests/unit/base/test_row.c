/* Compares each function with a plain loop. Built for each width of a word, with AVX2 and
 * without. */
#include "base/cpu.h"
#include "base/row.h"
#include "harness/t.h"

#include <stdbool.h>
#include <stdlib.h>

enum { ROUNDS = 2000 };

struct words {
    _Alignas(64) tts_word w[TTS_ROW];
};

static uint64_t seed = 1;

#ifdef __AVX2__
__attribute__((constructor)) static void skip_where_it_cannot_run(void)
{
    if (!tts_cpu_has_avx2())
        exit(77);
}
#endif

/* Draws from few different numbers, so that words are often equal, and from some of the
 * largest. */
static tts_word draw(void)
{
    uint64_t x = t_random(&seed), top = x >> 60;
    uint64_t word = top == 0 ? TTS_WORD_NONE : (x >> 33) % (top == 1 ? 60000 : 5);
    return (tts_word)word;
}

static struct words draw_row(void)
{
    struct words row;
    for (uint32_t i = 0; i < TTS_ROW; i++)
        row.w[i] = draw();
    return row;
}

static struct words stored(tts_row row)
{
    struct words out;
    tts_row_store(out.w, row);
    return out;
}

T_TEST(comparisons_are_made_word_by_word)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct words row = draw_row();
        tts_word x = draw(), largest = 0;
        uint32_t at_least = 0, same = 0;
        for (uint32_t i = 0; i < TTS_ROW; i++) {
            at_least |= (uint32_t)(row.w[i] >= x) << i;
            same |= (uint32_t)(row.w[i] == x) << i;
            largest = row.w[i] > largest ? row.w[i] : largest;
        }
        tts_row r = tts_row_load(row.w);
        T_EQ(tts_row_bits(tts_row_at_least(r, tts_row_all(x))), at_least);
        T_EQ(tts_row_bits(tts_row_same(r, tts_row_all(x))), same);
        T_EQ(tts_row_largest(r), largest);
    }
}

T_TEST(words_move_one_place)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct words row = draw_row();
        tts_word fill = draw();
        struct words up = stored(tts_row_up(tts_row_load(row.w)));
        struct words down = stored(tts_row_down(tts_row_load(row.w), fill));
        for (uint32_t i = 0; i < TTS_ROW; i++) {
            T_EQ(up.w[i], i > 0 ? row.w[i - 1] : 0);
            T_EQ(down.w[i], i + 1 < TTS_ROW ? row.w[i + 1] : fill);
        }
    }
}

T_TEST(masks_choose_words)
{
    for (uint32_t count = 0; count <= TTS_ROW; count++) {
        struct words x = draw_row(), y = draw_row();
        tts_row rx = tts_row_load(x.w), ry = tts_row_load(y.w);
        tts_row last = tts_row_mask_last(count), spot = tts_row_mask_spot(count);
        struct words mixed = stored(tts_row_mix(rx, ry, last));
        struct words one = stored(tts_row_mix(rx, ry, spot));
        struct words both = stored(tts_row_and(rx, last)), rest = stored(tts_row_but(rx, last));
        struct words sum = stored(tts_row_sum(rx, ry));
        for (uint32_t i = 0; i < TTS_ROW; i++) {
            bool in = i + count >= TTS_ROW;
            T_EQ(mixed.w[i], in ? y.w[i] : x.w[i]);
            T_EQ(one.w[i], i + count == TTS_ROW ? y.w[i] : x.w[i]);
            T_EQ(both.w[i], in ? x.w[i] : 0);
            T_EQ(rest.w[i], in ? 0 : x.w[i]);
            T_EQ(sum.w[i], (tts_word)(x.w[i] + y.w[i]));
        }
    }
}

T_TEST(one_word_is_stored)
{
    for (uint32_t idx = 0; idx < TTS_ROW; idx++) {
        struct words row = draw_row(), before = row;
        tts_word x = draw();
        tts_row_put(row.w, idx, x);
        before.w[idx] = x;
        T_MEM_EQ(row.w, before.w, sizeof(row.w));
    }
}

/* Words that are part of a row are also used one by one. */
__attribute__((noinline)) static tts_word word_after_row(struct words *words, uint32_t idx)
{
    words->w[idx] = 7;
    tts_row_store(words->w, tts_row_all(11));
    return words->w[idx];
}

__attribute__((noinline)) static uint32_t row_after_word(struct words *words, uint32_t idx)
{
    tts_row_store(words->w, tts_row_all(11));
    words->w[idx] = 12;
    return tts_row_bits(tts_row_same(tts_row_load(words->w), tts_row_all(11)));
}

T_TEST(rows_and_words_are_the_same_memory)
{
    struct words words = draw_row();
    for (uint32_t idx = 0; idx < TTS_ROW; idx++) {
        T_EQ(word_after_row(&words, idx), 11);
        T_EQ(row_after_word(&words, idx),
             (uint32_t)(UINT64_MAX >> (64 - TTS_ROW)) & ~(UINT32_C(1) << idx));
    }
}
