#include "views/samplewords.h"

const char *tts_sampleword_name(unsigned number)
{
    static const char *const names[] = {[TTS_SAMPLE_ALLOCATED] = "allocated_bytes",
                                        [TTS_SAMPLE_BUFFERS] = "buffers",
                                        [TTS_SAMPLE_TOTAL] = "total_bytes",
                                        [TTS_SAMPLE_FREE] = "free_bytes",
                                        [TTS_SAMPLE_LARGEST_FREE] = "largest_free_bytes"};
    if (number < TTS_SAMPLE_CB)
        return names[number / TTS_POOLS];
    return number == TTS_SAMPLE_CB ? "cb_bytes" : "kernel_bytes";
}

const char *tts_sampleword_text(unsigned number)
{
    static const char *const texts[] = {[TTS_SAMPLE_ALLOCATED] = "allocated",
                                        [TTS_SAMPLE_BUFFERS] = "buffers",
                                        [TTS_SAMPLE_TOTAL] = "total",
                                        [TTS_SAMPLE_FREE] = "free",
                                        [TTS_SAMPLE_LARGEST_FREE] = "largest free"};
    if (number < TTS_SAMPLE_CB)
        return texts[number / TTS_POOLS];
    return number == TTS_SAMPLE_CB ? "circular buffers" : "kernels";
}

const char *tts_sampleword_pool(unsigned number)
{
    return number < TTS_SAMPLE_CB ? tts_pool_name((enum tts_pool)(number % TTS_POOLS)) : NULL;
}
