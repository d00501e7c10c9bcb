#include "harness/t.h"
#include "wire/region.h"

#include <stdbool.h>
#include <string.h>

static const char *layout_name(uint32_t version, uint64_t bytes)
{
    const struct tts_region_layout *layout = tts_region_layout(version, bytes);
    return layout ? layout->name : "none";
}

T_TEST(version_and_size_together_select_the_layout)
{
    T_STR_EQ(layout_name(1, 9280), "v1k");
    T_STR_EQ(layout_name(1, 8576), "v1");
    T_STR_EQ(layout_name(2, 8576), "v2");
    T_STR_EQ(layout_name(3, 8576), "v3");
    T_STR_EQ(layout_name(4, 8576), "v4");
}

T_TEST(no_other_version_or_size_has_a_layout)
{
    static const uint64_t sizes[] = {0,    1,    8575,  8577,       9279,
                                     9281, 4096, 12288, UINT32_MAX, UINT64_MAX};
    for (uint32_t version = 0; version < 8; version++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            T_STR_EQ(layout_name(version, sizes[i]), "none");
    T_STR_EQ(layout_name(0, 8576), "none");
    T_STR_EQ(layout_name(5, 8576), "none");
    T_STR_EQ(layout_name(UINT32_MAX, 8576), "none");
    for (uint32_t version = 2; version < 5; version++)
        T_STR_EQ(layout_name(version, 9280), "none");
}

T_TEST(every_layout_has_the_offsets_of_its_runtime)
{
    size_t count = 0;
    for (const struct tts_region_layout *at; (at = tts_region_layout_at(count)); count++) {
        bool has_kernels = strcmp(at->name, "v1k") == 0;
        T_EQ(at->bytes, has_kernels ? 9280 : 8576);
        T_EQ(at->counters, has_kernels ? 6 : 5);
        T_EQ(at->totals_off, 48);
        T_EQ(at->chips_off, has_kernels ? 96 : 88);
        T_EQ(at->chip_bytes, has_kernels ? 56 : 48);
        T_EQ(at->chip_counters_off, 8);
        T_EQ(at->slots_off, has_kernels ? 992 : 856);
        T_EQ(at->slot_bytes, has_kernels ? 128 : 120);
        T_EQ(at->slot_counters_off, 8);
        T_EQ(at->slot_time_off, has_kernels ? 56 : 48);
        T_EQ(at->slot_name_off, has_kernels ? 64 : 56);
        T_EQ(at->init_state_off, at->version == 4 ? 8536 : 0);
        T_EQ(at->free_chip_id, at->version == 1 ? 0 : UINT32_MAX);
        T_EQ(at->is_unix_time, at->version != 1);
        T_EQ(at->has_asic_id, at->version != 1);
        T_TRUE(tts_region_layout(at->version, at->bytes) == at);
    }
    T_EQ(count, 5);
    T_TRUE(tts_region_layout_at(SIZE_MAX) == NULL);
}
