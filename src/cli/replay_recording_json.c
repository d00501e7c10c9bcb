#include "cli/replay_recording.h"
#include "model/devicename.h"

#include <inttypes.h>
#include <stdio.h>

static void put_known(struct tts_json *json, const char *key, bool known, uint64_t value)
{
    if (known)
        tts_json_number(json, key, value);
    else
        tts_json_null(json, key);
}

static void put_device(struct tts_json *json, uint32_t device)
{
    char name[TTS_DEVICENAME_MAX];
    tts_json_number(json, "device", device);
    tts_json_text(json, "device_name", tts_devicename(device, name));
}

static void put_op(struct tts_json *json, const char *op)
{
    if (op)
        tts_json_text(json, "op", op);
    else
        tts_json_null(json, "op");
}

static void put_counts(struct tts_json *json, const struct tts_whatif_counts *counts)
{
    tts_json_object(json, "counts");
    tts_json_number(json, "events", counts->events);
    tts_json_number(json, "allocations", counts->allocations);
    tts_json_number(json, "frees", counts->frees);
    tts_json_number(json, "programs", counts->programs);
    tts_json_number(json, "failed_buffers", counts->failed_buffers);
    tts_json_number(json, "failed_by_fragmentation", counts->fragmented);
    tts_json_number(json, "failed_cores", counts->failed_cores);
    tts_json_number(json, "failed_requests", counts->failed_requests);
    tts_json_number(json, "failed_programs", counts->failed_programs);
    tts_json_number(json, "unchecked_programs", counts->unchecked);
    tts_json_number(json, "unchecked_parts", counts->other_parts);
    tts_json_number(json, "unknown_pages", counts->unknown_pages);
    tts_json_number(json, "padded", counts->padded);
    tts_json_number(json, "unknown_frees", counts->unknown_frees);
    tts_json_number(json, "no_pool", counts->no_pool);
    tts_json_number(json, "single_core", counts->single_core);
    tts_json_number(json, "refused_when_recorded", counts->refused);
    tts_json_number(json, "refused_and_run", counts->retried);
    tts_json_number(json, "earlier", counts->earlier);
    tts_json_number(json, "missed", counts->missed);
    tts_json_object_end(json);
}

static void put_live(struct tts_json *json, const struct tts_whatif_live *live)
{
    tts_json_object(json, NULL);
    tts_json_number(json, "id", live->id);
    tts_json_number(json, "event", live->seq);
    put_op(json, live->op);
    tts_json_number(json, "size_bytes", live->size_bytes);
    tts_json_number(json, "block_bytes", live->block_bytes);
    tts_json_bool(json, "placed", live->is_placed);
    tts_json_object_end(json);
}

static const char *kind_name(const struct tts_whatif_failure *failure)
{
    static const char *const names[] = {[TTS_WHATIF_REFUSED] = "refused",
                                        [TTS_WHATIF_CORES] = "cores",
                                        [TTS_WHATIF_REQUEST] = "request",
                                        [TTS_WHATIF_PROGRAM] = "program"};
    return names[failure->kind];
}

static void put_first(struct tts_json *json, const struct tts_replay_answer *answer)
{
    const struct tts_whatif_failure *failure = tts_whatif_first(answer->whatif);
    char text[TTS_FAILURE_TEXT_MAX];
    if (!failure) {
        tts_json_null(json, "first_failure");
        return;
    }
    bool is_program = failure->kind == TTS_WHATIF_PROGRAM;
    bool is_refusal = is_program || failure->kind == TTS_WHATIF_REFUSED;
    tts_json_object(json, "first_failure");
    tts_json_text(json, "kind", kind_name(failure));
    tts_json_number(json, "event", failure->seq);
    put_known(json, "time_ns", failure->has_time, tts_replay_recording_time(answer, failure));
    put_device(json, failure->device);
    put_op(json, failure->op);
    tts_json_text(json, "pool", tts_pool_name(failure->pool));
    put_known(json, "id", !is_program && failure->id != TTS_WHATIF_NO_ID, failure->id);
    put_known(json, "size_bytes", !is_program, failure->size_bytes);
    tts_json_text(json, "text", tts_whatif_failure_text(failure, text));
    put_known(json, "deficit_bytes",
              is_refusal && tts_failure_deficit_is_known(&failure->failure),
              tts_failure_deficit(&failure->failure));
    tts_json_number(json, "live_buffers", failure->live);
    tts_json_number(json, "live_bytes", failure->live_bytes);
    tts_json_array(json, "live_largest");
    for (size_t i = 0; i < failure->top_count; i++)
        put_live(json, &failure->top[i]);
    tts_json_array_end(json);
    tts_json_object_end(json);
}

static void put_pool(struct tts_json *json, const struct tts_replay_answer *answer,
                     enum tts_pool kind, const struct tts_whatif_pool *pool)
{
    bool is_unknown = tts_replay_recording_is_unknown(answer, kind);
    tts_json_object(json, NULL);
    tts_json_text(json, "pool", tts_pool_name(kind));
    tts_json_number(json, "banks", pool->layout.banks);
    tts_json_number(json, "bank_bytes", pool->layout.bank_bytes);
    put_known(json, "peak_bytes", !is_unknown, pool->stats.peak_bytes);
    put_known(json, "peak_event", pool->peak_seq > 0, pool->peak_seq);
    if (pool->failures == 0 && (is_unknown || answer->missing.is_beginning))
        tts_json_null(json, "fits"); /* so far, or as far as is known, it does */
    else
        tts_json_bool(json, "fits", pool->failures == 0);
    tts_json_number(json, "failures", pool->failures);
    tts_json_number(json, "deficit_bytes", pool->deficit_bytes);
    put_known(json, "deficit_event", pool->deficit_seq > 0, pool->deficit_seq);
    tts_json_number(json, "allocated_bytes", pool->stats.space.taken_bytes);
    tts_json_number(json, "free_bytes", pool->stats.space.free_bytes);
    tts_json_number(json, "largest_free_bytes", pool->stats.space.largest_free_bytes);
    tts_json_number(json, "not_placed_bytes", pool->stats.unplaced_bytes);
    tts_json_object_end(json);
}

static void put_devices(struct tts_json *json, const struct tts_replay_answer *answer)
{
    const struct tts_whatif *whatif = answer->whatif;
    struct tts_whatif_pool one;
    tts_json_array(json, "devices");
    for (size_t i = 0; i < tts_whatif_devices(whatif); i++) {
        tts_json_object(json, NULL);
        put_device(json, tts_whatif_device_id(whatif, i));
        tts_json_array(json, "pools");
        for (int pool = 0; pool < TTS_POOLS; pool++)
            if (tts_whatif_get_pool(whatif, i, (enum tts_pool)pool, &one))
                put_pool(json, answer, (enum tts_pool)pool, &one);
        tts_json_array_end(json);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_smallest(struct tts_json *json, const struct tts_replay_answer *answer)
{
    struct tts_whatif_pool dram;
    const struct tts_whatif_found *found = &answer->found;
    if (!answer->has_search || !tts_whatif_get_worst(answer->whatif, TTS_POOL_DRAM, &dram)) {
        tts_json_null(json, "smallest_dram");
        return;
    }
    uint64_t banks = dram.layout.banks;
    tts_json_object(json, "smallest_dram");
    put_known(json, "bank_bytes", found->found, found->bank_bytes);
    put_known(json, "device_bytes", found->found, found->bank_bytes * banks);
    put_known(json, "dram_bank_size", found->found && answer->region_count == 0,
              answer->bank_size);
    tts_json_number(json, "own_bank_bytes", dram.layout.bank_bytes);
    tts_json_number(json, "own_device_bytes", dram.layout.bank_bytes * banks);
    tts_json_number(json, "lower_bound_bytes", answer->low_bytes);
    tts_json_bool(json, "is_lower_bound", found->is_least);
    tts_json_text(json, "method", "bisection");
    tts_json_number(json, "runs", found->runs);
    tts_json_object_end(json);
}

/* What would make it fit: one change of the regions, or none. */
static void put_suggestions(struct tts_json *json, const struct tts_replay_answer *answer)
{
    char change[160] = "";
    size_t length = 0;
    tts_json_array(json, "suggestions");
    if (answer->region_count > 0) {
        tts_json_object(json, NULL);
        for (size_t i = 0; i < answer->region_count; i++)
            length += (size_t)snprintf(change + length, sizeof change - length,
                                       "%s--set %s=%" PRIu64, i > 0 ? " " : "",
                                       answer->regions[i].key, answer->regions[i].bytes);
        tts_json_text(json, "change", change);
        if (!answer->regions_are_run || (answer->region_failures == 0 && answer->missing.count))
            tts_json_null(json, "fits");
        else
            tts_json_bool(json, "fits", answer->region_failures == 0);
        put_known(json, "failures", answer->regions_are_run, answer->region_failures);
        tts_json_array(json, "regions");
        for (size_t i = 0; i < answer->region_count; i++) {
            const struct tts_replay_region *region = &answer->regions[i];
            tts_json_object(json, NULL);
            tts_json_text(json, "pool", tts_pool_name(region->pool));
            tts_json_text(json, "key", region->key);
            tts_json_number(json, "bytes", region->bytes);
            tts_json_number(json, "own_bytes", region->own_bytes);
            tts_json_object_end(json);
        }
        tts_json_array_end(json);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

void tts_replay_recording_json(const struct tts_replay_answer *answer, struct tts_json *json)
{
    struct tts_whatif_counts counts;
    uint64_t failures = tts_whatif_failures(answer->whatif);
    tts_whatif_get_counts(answer->whatif, &counts);
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.whatif");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", answer->options->path);
    tts_json_text(json, "device", answer->chip->name);
    tts_json_text(json, "arch", tts_arch_name(answer->chip->arch));
    tts_json_number(json, "chips", answer->chip->fact[TTS_FACT_CHIPS].value);
    tts_json_text(json, "scope", "per_bank");
    if (failures == 0 && !tts_replay_recording_fits(answer))
        tts_json_null(json, "fits"); /* as far as is known it does */
    else
        tts_json_bool(json, "fits", failures == 0);
    tts_partial_json(&answer->missing, json);
    tts_json_bool(json, "at_least", answer->missing.is_beginning);
    tts_json_number(json, "failures", failures);
    tts_json_number(json, "events_before_first", answer->before);
    put_first(json, answer);
    put_devices(json, answer);
    put_smallest(json, answer);
    put_suggestions(json, answer);
    put_counts(json, &counts);
    tts_json_object_end(json);
}
