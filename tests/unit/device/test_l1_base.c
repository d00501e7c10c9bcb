#include "harness/t.h"
#include "ttscope/chip.h"

#include <string.h>

enum { SOME = 32 };

/* The bases from the table and from messages that were verified, the latest first. */
static const uint64_t grayskull[] = {100384};
static const uint64_t wormhole[] = {105664, 105536, 103840, 103744, 103712, 103552, 102656,
                                    102208, 101952, 101440, 100352, 97248,  99104,  98816};
static const uint64_t blackhole[] = {111616, 111360, 111104, 105280, 104128,
                                     103168, 101952, 98304,  94848,  94720};
static const uint64_t quasar[] = {313856};

static const struct {
    const uint64_t *bases;
    size_t count;
} history[] = {{grayskull, 1}, {wormhole, 14}, {blackhole, 10}, {quasar, 1}};

T_TEST(the_history_of_each_architecture_is_listed_latest_first)
{
    for (unsigned a = 0; a < 4; a++) {
        struct tts_l1_base out[SOME];
        T_EQ(tts_l1_base_list((enum tts_arch)a, out, SOME), history[a].count);
        for (size_t i = 0; i < history[a].count; i++) {
            T_EQ(out[i].arch, a);
            T_EQ(out[i].base, history[a].bases[i]);
            T_EQ(out[i].tile_bytes, 0);
            T_TRUE(strlen(out[i].when) >= 7);
        }
    }
}

T_TEST(the_latest_base_is_that_of_the_presets)
{
    static const char *const presets[] = {"grayskull", "n150", "p150", "quasar"};
    for (unsigned a = 0; a < 4; a++) {
        struct tts_chip chip;
        struct tts_l1_base latest;
        T_EQ(tts_chip_preset(presets[a], &chip, NULL), TTS_OK);
        T_TRUE(tts_l1_base_list((enum tts_arch)a, &latest, 1) >= 1);
        T_EQ(latest.base, chip.fact[TTS_FACT_L1_BASE].value);
    }
}

/* For the end of the reserved map of a version, the rule of the runtime must give the base of
 * that version. */
T_TEST(a_base_of_the_history_follows_from_the_map_of_its_time)
{
    static const struct {
        const char *preset, *map_end;
        uint64_t base;
    } months[] = {
        {"n150", "28160", 98816},  {"n150", "28432", 99104},  {"n150", "26576", 97248},
        {"n150", "29696", 100352}, {"n150", "31280", 101952}, {"n150", "32000", 102656},
        {"n150", "32896", 103552}, {"n150", "33056", 103712}, {"n150", "33088", 103744},
        {"n150", "34880", 105536}, {"n150", "35008", 105664}, {"p150", "24064", 94720},
        {"p150", "24192", 94848},  {"p150", "27632", 98304},  {"p150", "31296", 101952},
        {"p150", "32496", 103168}, {"p150", "40416", 111104}, {"p150", "40448", 111104},
        {"p150", "40704", 111360}, {"p150", "40960", 111616},
    };
    for (size_t i = 0; i < sizeof(months) / sizeof(months[0]); i++) {
        struct tts_chip chip;
        T_EQ(tts_chip_preset(months[i].preset, &chip, NULL), TTS_OK);
        T_EQ(tts_chip_set(&chip, "l1_map_end", months[i].map_end, NULL), TTS_OK);
        T_EQ(chip.fact[TTS_FACT_L1_BASE].value, months[i].base);
        struct tts_l1_base out[SOME];
        size_t count = tts_l1_base_list(chip.arch, out, SOME), found = 0;
        for (size_t k = 0; k < count; k++)
            found += out[k].base == months[i].base;
        T_EQ(found, 1);
    }
}

/* Ends of regions from messages whose base is known. `bases` lists all bases that the decoder
 * must find, ended by 0. */
static const struct {
    const char *issue;
    enum tts_arch arch;
    uint64_t region_end, bases[4], tiles[4];
} vectors[] = {
    {"tt-metal#36426",
     TTS_ARCH_WORMHOLE,
     1721472,
     {103552, 101440, 100352},
     {4096, 1088, 1088}},
    {"tt-lang#511", TTS_ARCH_BLACKHOLE, 1683968, {111104, 94720, 105280}, {4096, 4096, 1088}},
    {"tt-metal#21904", TTS_ARCH_WORMHOLE, 1661920, {97248, 103840}, {4096, 576}},
    {"tt-mlir#3679", TTS_ARCH_WORMHOLE, 2587616, {97248, 103712}, {4096, 1088}},
    {"tt-xla#4214", TTS_ARCH_WORMHOLE, 890144, {103712}, {4096}},
    {"tt-xla#3353", TTS_ARCH_WORMHOLE, 1250432, {103552}, {4096}},
    {"tt-xla#5206", TTS_ARCH_WORMHOLE, 107936, {103840}, {4096}},
};

T_TEST(messages_of_known_base_are_decoded_with_the_right_one_first)
{
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        struct tts_l1_base out[SOME];
        size_t count = tts_l1_base_decode(vectors[i].arch, vectors[i].region_end, out, SOME);
        T_TRUE(count > 0 && count < 4);
        for (size_t k = 0; k < count; k++) {
            T_EQ(out[k].base, vectors[i].bases[k]);
            T_EQ(out[k].tile_bytes, vectors[i].tiles[k]);
            T_EQ((vectors[i].region_end - out[k].base) % out[k].tile_bytes, 0);
        }
        T_EQ(vectors[i].bases[count], 0);
    }
}

T_TEST(every_answer_leaves_whole_tiles_and_no_base_is_left_out)
{
    for (uint64_t end = 0; end < 400000; end += 32) {
        struct tts_l1_base out[SOME];
        size_t count = tts_l1_base_decode(TTS_ARCH_WORMHOLE, end, out, SOME), expected = 0;
        for (size_t i = 0; i < history[1].count; i++) {
            uint64_t base = wormhole[i], bytes = end > base ? end - base : 1;
            expected += bytes % 2048 == 0 || bytes % 1088 == 0 || bytes % 576 == 0;
        }
        T_EQ(count, expected);
        for (size_t i = 0; i < count; i++) {
            T_TRUE(end > out[i].base && (end - out[i].base) % out[i].tile_bytes == 0);
            T_TRUE(i == 0 || out[i].tile_bytes <= out[i - 1].tile_bytes);
        }
    }
}

T_TEST(a_region_without_a_tile_or_beyond_sense_has_no_base)
{
    struct tts_l1_base out[SOME];
    T_EQ(tts_l1_base_decode(TTS_ARCH_WORMHOLE, 0, out, SOME), 0);
    T_EQ(tts_l1_base_decode(TTS_ARCH_QUASAR, 313856, out, SOME), 0);
    T_EQ(tts_l1_base_decode(TTS_ARCH_QUASAR, 313856 + 575, out, SOME), 0);
    T_EQ(tts_l1_base_decode(TTS_ARCH_QUASAR, 313856 + 576, out, SOME), 1);
    T_EQ(tts_l1_base_decode(TTS_ARCH_QUASAR, 313855, out, SOME), 0);
    T_EQ(tts_l1_base_decode(TTS_ARCH_WORMHOLE, 1721473, out, SOME), 0);
    T_EQ(tts_l1_base_decode((enum tts_arch)9, 1721472, out, SOME), 0);
    T_EQ(tts_l1_base_list((enum tts_arch)9, out, SOME), 0);
    (void)tts_l1_base_decode(TTS_ARCH_WORMHOLE, UINT64_MAX, out, SOME);
}

T_TEST(no_more_than_the_capacity_is_written)
{
    struct tts_l1_base out[3] = {{.base = 1}, {.base = 2}, {.base = 3}};
    T_EQ(tts_l1_base_list(TTS_ARCH_WORMHOLE, out, 2), 14);
    T_EQ(out[1].base, 105536);
    T_EQ(out[2].base, 3);
    T_EQ(tts_l1_base_decode(TTS_ARCH_WORMHOLE, 1721472, out, 1), 3);
    T_EQ(out[0].base, 103552);
    T_EQ(out[1].base, 105536);
    T_EQ(tts_l1_base_decode(TTS_ARCH_WORMHOLE, 1721472, NULL, 0), 3);
}
