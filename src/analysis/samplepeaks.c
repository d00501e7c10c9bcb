#include "analysis/samplepeaks.h"

/* Finds or adds a device. Returns NULL if there is no room. */
static struct tts_sampledevice *find_sampled(struct tts_samplepeaks *peaks, uint32_t device)
{
    for (size_t i = 0; i < peaks->device_count; i++)
        if (peaks->devices[i].device == device)
            return &peaks->devices[i];
    if (peaks->device_count == TTS_SAMPLEPEAKS_DEVICES_MAX)
        return NULL;
    struct tts_sampledevice *added = &peaks->devices[peaks->device_count++];
    *added = (struct tts_sampledevice){.device = device};
    return added;
}

static void note_period(struct tts_samplepeaks *peaks, uint64_t period_ns)
{
    bool is_first = peaks->samples == 0;
    peaks->period_is_known =
        period_ns > 0 &&
        (is_first || (peaks->period_is_known && peaks->period_ns == period_ns));
    peaks->period_ns = period_ns;
}

static void note_value(struct tts_samplepeak *at, uint64_t value, const struct tts_item *item)
{
    if (!at->is_known || value > at->peak) {
        at->peak = value;
        at->peak_ns = item->time_ns;
    }
    at->last = value;
    at->last_ns = item->time_ns;
    at->has_time = item->has_time;
    at->is_known = true;
}

void tts_samplepeaks_item(struct tts_samplepeaks *peaks, const struct tts_item *item)
{
    if (item->kind != TTS_ITEM_SAMPLE)
        return;
    const struct tts_sample *sample = item->sample;
    struct tts_sampledevice *device = find_sampled(peaks, item->device);
    note_period(peaks, sample->period_ns);
    peaks->samples++;
    if (!device) {
        peaks->left_out++;
        return;
    }
    device->samples++;
    for (unsigned i = 0; i < TTS_SAMPLE_VALUES; i++)
        if (tts_sample_has(sample, i))
            note_value(&device->values[i], sample->values[i], item);
}
