#include "device/pages.h"
#include "harness/t.h"
#include "ttscope/buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row of the file is "N: id id ...", with the ids as the C++ library shuffles them. */
T_TEST(agrees_with_every_row_of_the_golden_file)
{
    static char line[4096];
    static uint16_t got[TTS_CORES_MAX];
    FILE *file = fopen(TTS_GOLDEN_DIR "/banks/l1_bank_shuffle.txt", "r");
    T_TRUE(file);
    unsigned rows = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        char *at;
        uint32_t count = (uint32_t)strtoul(line, &at, 10);
        T_TRUE(*at++ == ':' && count > 0 && count <= TTS_CORES_MAX);
        tts_bank_permutation(count, got);
        for (uint32_t i = 0; i < count; i++)
            T_EQ(got[i], strtoul(at, &at, 10));
        T_TRUE(*at == '\n' || *at == '\0');
        rows++;
    }
    fclose(file);
    T_EQ(rows, 13);
}

T_TEST(agrees_with_the_examples_for_8_and_64_banks)
{
    static const uint16_t eight[] = {2, 7, 1, 6, 5, 0, 4, 3};
    static const uint16_t sixty_four[] = {34, 63, 38, 6, 52, 33, 4, 37};
    uint16_t got[64];
    tts_bank_permutation(8, got);
    T_MEM_EQ(got, eight, sizeof eight);
    tts_bank_permutation(64, got);
    T_MEM_EQ(got, sixty_four, sizeof sixty_four);
}

T_TEST(is_a_permutation_for_every_count)
{
    static uint16_t got[TTS_CORES_MAX];
    static bool seen[TTS_CORES_MAX];
    for (uint32_t count = 0; count <= TTS_CORES_MAX; count += count < 300 ? 1 : 97) {
        memset(seen, 0, sizeof seen);
        tts_bank_permutation(count, got);
        for (uint32_t i = 0; i < count; i++) {
            T_TRUE(got[i] < count && !seen[got[i]]);
            seen[got[i]] = true;
        }
    }
}
