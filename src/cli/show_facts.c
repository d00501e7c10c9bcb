/* show_facts.c: what the two forms both ask about what was read. */
#include "cli/show_parts.h"

const char *tts_show_phase_name(const struct tts_show *show, const struct tts_show_phase *phase)
{
    return show->names + phase->name_at;
}

const struct tts_show_phase *tts_show_phase_of(const struct tts_show *show, uint64_t seq)
{
    const struct tts_show_phase *best = NULL;
    for (size_t i = 0; i < show->phase_count; i++) {
        const struct tts_show_phase *at = &show->phases[i];
        if (seq <= at->first_seq || seq > at->last_seq)
            continue;
        if (!best || at->last_seq - at->first_seq < best->last_seq - best->first_seq)
            best = at;
    }
    return best;
}

uint64_t tts_show_since_start(const struct tts_show *show, uint64_t time_ns)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    uint64_t start = recording ? tts_recfile_info(recording)->header.start_ns : 0;
    return time_ns > start ? time_ns - start : 0;
}

int64_t tts_show_dram_peak(const struct tts_show *show)
{
    uint64_t peak = (uint64_t)show->whole->usage.pools[TTS_POOL_DRAM].peak_bytes;
    return (int64_t)(peak + show->restored_dram);
}

int64_t tts_show_dram_final(const struct tts_show *show)
{
    uint64_t current =
        (uint64_t)show->whole->usage.pools[TTS_POOL_DRAM].cumulative_current_bytes;
    return (int64_t)(current + show->restored_dram);
}

bool tts_show_is_at_least(const struct tts_show *show)
{
    return show->partial.left_buffers > 0 || tts_eventfile_gaps(show->file)->count > 0;
}

bool tts_show_is_unknown(const struct tts_show *show, enum tts_pool pool)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    return (pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL) && recording &&
           tts_recfile_info(recording)->header.flags & TTS_REC_DRAM_ONLY;
}

const char *tts_show_path(const struct tts_show *show, const char *op,
                          char out[TTS_SHOW_PATH_BYTES])
{
    if (!show->stored)
        tts_follow_path(show->follow, op, out, TTS_SHOW_PATH_BYTES);
    else
        tts_show_stored_path(show, op, out);
    return out;
}

const char *tts_show_op_name(const struct tts_show_op *op)
{
    return op->copy[0] != '\0' ? op->copy : op->known;
}

bool tts_show_mesh_of(const struct tts_show *show, uint32_t device, uint32_t *mesh)
{
    const struct tts_levels *levels = &show->levels;
    for (uint32_t i = 0; i < levels->device_count; i++) {
        const struct tts_device_level *at = &levels->devices[i];
        if (at->id != device || at->mesh == 0)
            continue;
        *mesh = levels->devices[at->mesh - 1].id;
        return true;
    }
    return false;
}

enum tts_show_state tts_show_state(const struct tts_show *show)
{
    const struct tts_recfile *recording = tts_eventfile_recording(show->file);
    if (!recording)
        return TTS_SHOW_COMPLETE;
    const struct tts_recfile_info *info = tts_recfile_info(recording);
    if (!info->state_is_known)
        return TTS_SHOW_STATE_UNKNOWN;
    if (info->state.kind == TTS_REC_STOPPED)
        return TTS_SHOW_STOPPED;
    return info->state.kind == TTS_REC_ENDED ? TTS_SHOW_COMPLETE : TTS_SHOW_NOT_ENDED;
}

bool tts_show_is_damaged(const struct tts_show *show)
{
    return show->partial.damage.status != TTS_OK || tts_eventfile_gaps(show->file)->count > 0;
}

const char *tts_show_damage(const struct tts_show *show)
{
    if (show->partial.damage.status != TTS_OK)
        return show->partial.damage.text;
    const struct tts_eventfile_gaps *gaps = tts_eventfile_gaps(show->file);
    return gaps->count > 0 ? gaps->first.text : NULL;
}
