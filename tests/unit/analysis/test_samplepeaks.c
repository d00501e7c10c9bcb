#include "analysis/samplepeaks.h"

#include "harness/t.h"

#include <string.h>

static struct tts_samplepeaks peaks;

static void take(uint32_t device, uint64_t time_ns, uint64_t period_ns, unsigned number,
                 uint64_t value)
{
    struct tts_sample sample = {.period_ns = period_ns};
    struct tts_item item = {.kind = TTS_ITEM_SAMPLE,
                            .device = device,
                            .sample = &sample,
                            .has_time = true,
                            .time_ns = time_ns};
    tts_sample_set(&sample, number, value);
    tts_samplepeaks_item(&peaks, &item);
}

T_TEST(a_value_has_its_first_highest_and_its_last_sample)
{
    memset(&peaks, 0, sizeof peaks);
    unsigned number = tts_sample_number(TTS_SAMPLE_ALLOCATED, TTS_POOL_DRAM);
    take(3, 10, 5, number, 100);
    take(3, 15, 5, number, 300);
    take(3, 20, 5, number, 300);
    take(3, 25, 5, number, 200);
    take(4, 26, 5, TTS_SAMPLE_CB, 0);
    const struct tts_samplepeak *value = &peaks.devices[0].values[number];
    T_EQ(peaks.device_count, 2);
    T_EQ(peaks.samples, 5);
    T_EQ(peaks.devices[0].samples, 4);
    T_TRUE(value->is_known && value->has_time);
    T_EQ(value->peak, 300);
    T_EQ(value->peak_ns, 15);
    T_EQ(value->last, 200);
    T_EQ(value->last_ns, 25);
    T_TRUE(peaks.devices[1].values[TTS_SAMPLE_CB].is_known);
    T_TRUE(!peaks.devices[1].values[number].is_known);
    T_TRUE(peaks.period_is_known && peaks.period_ns == 5);
}

T_TEST(a_period_is_known_only_if_all_samples_agree)
{
    memset(&peaks, 0, sizeof peaks);
    take(0, 1, 5, 0, 1);
    T_TRUE(peaks.period_is_known);
    take(0, 2, 6, 0, 1);
    T_TRUE(!peaks.period_is_known);
    take(0, 3, 6, 0, 1);
    T_TRUE(!peaks.period_is_known);
    memset(&peaks, 0, sizeof peaks);
    take(0, 1, 0, 0, 1);
    T_TRUE(!peaks.period_is_known);
}

T_TEST(samples_of_too_many_devices_are_counted)
{
    memset(&peaks, 0, sizeof peaks);
    for (uint32_t device = 0; device < TTS_SAMPLEPEAKS_DEVICES_MAX + 3; device++)
        take(device, 1, 1, 0, device);
    take(5, 1, 1, 0, 70);
    T_EQ(peaks.device_count, TTS_SAMPLEPEAKS_DEVICES_MAX);
    T_EQ(peaks.left_out, 3);
    T_EQ(peaks.samples, TTS_SAMPLEPEAKS_DEVICES_MAX + 4);
    T_EQ(peaks.devices[5].values[0].peak, 70);
}

T_TEST(other_items_change_nothing)
{
    memset(&peaks, 0, sizeof peaks);
    tts_samplepeaks_item(&peaks, &(struct tts_item){.kind = TTS_ITEM_EVENT});
    T_EQ(peaks.samples, 0);
}
