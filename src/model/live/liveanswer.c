#include "model/live/liveanswer.h"

#include <assert.h>

static const struct {
    const char *word, *name;
} phase_names[TTS_TRACEPHASES] = {
    [TTS_TRACEPHASE_UNKNOWN] = {NULL, "unknown"},
    [TTS_TRACEPHASE_INIT] = {"init", "Init"},
    [TTS_TRACEPHASE_CAPTURE_START] = {"capture_start", "Capture Start"},
    [TTS_TRACEPHASE_CAPTURE_DATA] = {"capture_data", "Capture (Data)"},
    [TTS_TRACEPHASE_CAPTURE_KERNELS] = {"capture_kernels", "Capture (Kernels)"},
    [TTS_TRACEPHASE_CAPTURE_END] = {"capture_end", "Capture End"},
    [TTS_TRACEPHASE_EXECUTION] = {"execution", "Execution"},
    [TTS_TRACEPHASE_IDLE] = {"idle", "Idle"},
};

const char *tts_tracephase_word(enum tts_tracephase phase)
{
    assert((unsigned)phase < TTS_TRACEPHASES);
    return phase_names[phase].word;
}

const char *tts_tracephase_name(enum tts_tracephase phase)
{
    assert((unsigned)phase < TTS_TRACEPHASES);
    return phase_names[phase].name;
}

uint64_t tts_tracerow_total(const struct tts_tracerow *row)
{
    uint64_t total;
    bool is_large = __builtin_add_overflow(row->trace_bytes, row->data_bytes, &total);
    if (row->code_known)
        is_large |= __builtin_add_overflow(total, row->code_bytes, &total);
    return is_large ? UINT64_MAX : total;
}
