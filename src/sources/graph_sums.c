#include "sources/graph_sums.h"

#include <assert.h>

/* Sums stop at what 64 bits hold; nobody has that much. */
static void add(int64_t *sum, uint64_t bytes)
{
    assert(bytes <= INT64_MAX);
    if (__builtin_add_overflow(*sum, (int64_t)bytes, sum))
        *sum = INT64_MAX;
}

/* Down to 0; returns how much it was. */
static uint64_t take(int64_t *sum, uint64_t bytes)
{
    assert(*sum >= 0);
    uint64_t taken = bytes < (uint64_t)*sum ? bytes : (uint64_t)*sum;
    *sum -= (int64_t)taken;
    return taken;
}

static void raise_peak(int64_t *peak, int64_t value)
{
    if (*peak < value)
        *peak = value;
}

static void raise_legacy(struct tts_graph_sums *sums)
{
    uint64_t bytes = (uint64_t)sums->legacy_program_bytes + (uint64_t)sums->legacy_buffer_bytes;
    if (sums->figures.legacy_l1_peak_bytes < bytes)
        sums->figures.legacy_l1_peak_bytes = bytes;
}

static void end_program(struct tts_graph_sums *sums)
{
    take(&sums->total_bytes, (uint64_t)sums->cb_bytes);
    take(&sums->total_bytes, (uint64_t)sums->dfb_bytes);
    take(&sums->total_bytes, (uint64_t)sums->scratchpad_bytes);
    sums->cb_bytes = sums->dfb_bytes = sums->scratchpad_bytes = 0;
    sums->legacy_program_bytes = 0;
}

void tts_graph_sums_node(struct tts_graph_sums *sums, enum tts_node_type type)
{
    sums->figures.nodes++;
    /* Inputs are buffers of L1 and tensors; the first other node ends them. */
    if (type != TTS_NODE_BUFFER && type != TTS_NODE_TENSOR)
        sums->takes_inputs = false;
    if (type == TTS_NODE_TENSOR) {
        sums->figures.tensors++;
    } else if (type == TTS_NODE_FUNCTION_START) {
        sums->figures.functions++;
        sums->takes_inputs = sums->depth == 0;
        sums->depth++;
    } else if (type == TTS_NODE_FUNCTION_END) {
        sums->depth -= sums->depth > 0;
    } else if (type == TTS_NODE_CB_DEALLOCATE_ALL) {
        end_program(sums);
    }
}

void tts_graph_sums_buffer(struct tts_graph_sums *sums, enum tts_node_memory memory,
                           uint64_t size_bytes)
{
    sums->takes_inputs = sums->takes_inputs && memory == TTS_NODE_L1;
    if (!sums->takes_inputs)
        return;
    add(&sums->legacy_buffer_bytes, size_bytes);
    raise_legacy(sums);
}

void tts_graph_sums_alloc(struct tts_graph_sums *sums, enum tts_node_memory memory,
                          uint64_t size_bytes, uint64_t per_bank_bytes)
{
    struct tts_graph_figures *figures = &sums->figures;
    if (memory == TTS_NODE_L1) {
        add(&sums->legacy_buffer_bytes, size_bytes);
        raise_legacy(sums);
    }
    if (memory == TTS_NODE_DRAM) {
        add(&sums->dram_bytes, size_bytes);
        add(&figures->dram_allocated_bytes, size_bytes);
        raise_peak(&figures->dram_peak_bytes, sums->dram_bytes);
        return;
    }
    add(&sums->l1_bytes, per_bank_bytes);
    add(&sums->total_bytes, per_bank_bytes);
    raise_peak(&figures->peak_l1_bytes, sums->l1_bytes);
    raise_peak(&figures->peak_total_bytes, sums->total_bytes);
}

void tts_graph_sums_free(struct tts_graph_sums *sums, enum tts_node_memory memory,
                         uint64_t size_bytes, enum tts_node_memory own_memory,
                         uint64_t per_bank_bytes)
{
    if (memory == TTS_NODE_DRAM) {
        add(&sums->figures.dram_freed_bytes, size_bytes);
        if (__builtin_sub_overflow(sums->dram_bytes, (int64_t)size_bytes, &sums->dram_bytes))
            sums->dram_bytes = INT64_MIN;
    }
    if (memory == TTS_NODE_L1)
        take(&sums->legacy_buffer_bytes, size_bytes);
    /* What was there before is not in the sums, so not all of it may be there to take. */
    if (own_memory != TTS_NODE_DRAM)
        take(&sums->total_bytes, take(&sums->l1_bytes, per_bank_bytes));
}

void tts_graph_sums_part(struct tts_graph_sums *sums, enum tts_node_type type,
                         uint64_t size_bytes, bool is_borrowed)
{
    struct tts_graph_figures *figures = &sums->figures;
    if (!is_borrowed || type == TTS_NODE_CB_ALLOCATE) {
        add(&sums->legacy_program_bytes, size_bytes);
        raise_legacy(sums);
    }
    if (is_borrowed && type != TTS_NODE_SCRATCHPAD_ALLOCATE)
        return;
    if (type == TTS_NODE_CB_ALLOCATE) {
        add(&sums->cb_bytes, size_bytes);
        raise_peak(&figures->peak_cb_bytes, sums->cb_bytes);
    } else if (type == TTS_NODE_DFB_ALLOCATE) {
        add(&sums->dfb_bytes, size_bytes);
        raise_peak(&figures->peak_dfb_bytes, sums->dfb_bytes);
    } else {
        assert(type == TTS_NODE_SCRATCHPAD_ALLOCATE);
        add(&sums->scratchpad_bytes, size_bytes);
        raise_peak(&figures->peak_scratchpad_bytes, sums->scratchpad_bytes);
    }
    add(&sums->total_bytes, size_bytes);
    raise_peak(&figures->peak_total_bytes, sums->total_bytes);
}
