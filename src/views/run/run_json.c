#include "views/run/run_json.h"

#include "views/phase_json.h"

#define L1_REASON                                                                              \
    "L1 is unknown: all L1 figures of the log are 0, as in the output of ttscope fit, which "  \
    "does not model L1"

/* ---- sizes ---- */

static void put_size_json(struct tts_json *json, const char *key,
                          const struct tts_train_size *size)
{
    int64_t difference;
    tts_json_object(json, key);
    tts_json_amount(json, "actual_bytes", size->actual);
    tts_json_amount(json, "expected_bytes", size->expected);
    tts_json_text_or_null(json, "expected_source", tts_train_source_name(size->source));
    if (size->actual.is_known && size->expected.is_known && size->expected.bytes > 0 &&
        (uint64_t)size->expected.bytes <= UINT64_MAX / 10 &&
        !__builtin_sub_overflow(size->actual.bytes, size->expected.bytes, &difference))
        tts_json_signed_ratio(json, "difference_ratio", difference,
                              (uint64_t)size->expected.bytes);
    else
        tts_json_null(json, "difference_ratio");
    tts_json_object_end(json);
}

static void put_sizes_json(struct tts_json *json, const struct tts_trainmem *mem)
{
    put_size_json(json, "model", &mem->model);
    put_size_json(json, "optimizer", &mem->optimizer);
    put_size_json(json, "gradients", &mem->gradients);
    tts_json_text(json, "dtype", tts_train_dtype_name(mem->dtype));
    tts_json_text_or_null(json, "dtype_source", tts_train_source_name(mem->dtype_source));
    tts_json_text(json, "optimizer_name", tts_train_optimizer_name(mem->optimizer_kind));
    tts_json_text_or_null(json, "optimizer_source",
                          tts_train_source_name(mem->optimizer_source));
    tts_json_amount(json, "activations_bytes", mem->activations);
    tts_json_amount(json, "activations_at_once_bytes", mem->activations);
    tts_json_amount(json, "activations_sum_bytes", mem->activations_sum);
    tts_json_number(json, "forward_passes", mem->forward_passes);
    tts_json_number(json, "backward_passes", mem->backward_passes);
}

/* ---- the peak ---- */

static void put_usage_json(struct tts_json *json, const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    const struct tts_amount *peak = &mem->peak, *device = &mem->device_memory;
    tts_json_amount(json, "device_memory_bytes", *device);
    tts_json_text_or_null(json, "device_memory_source",
                          tts_train_source_name(mem->device_memory_source));
    tts_json_number_or_null(json, "device_memory_devices", mem->log_devices > 0,
                            mem->log_devices);
    if (tts_named_run_has_usage(run))
        tts_json_signed_ratio(json, "usage_ratio", peak->bytes, (uint64_t)device->bytes);
    else
        tts_json_null(json, "usage_ratio");
    if (mem->has_verdict)
        tts_json_bool(json, "fits", mem->fits);
    else
        tts_json_null(json, "fits");
}

static void put_breakdown_json(struct tts_json *json, const struct tts_trainmem *mem)
{
    static const char *const names[] = {
        [TTS_RUN_PART_OTHER] = "other",
        [TTS_RUN_PART_MODEL] = "model",
        [TTS_RUN_PART_GRADIENTS] = "gradients_overhead",
        [TTS_RUN_PART_OPTIMIZER] = "optimizer",
        [TTS_RUN_PART_ACTIVATIONS] = "activations",
    };
    if (!mem->has_parts) {
        tts_json_null(json, "breakdown");
        tts_json_null(json, "breakdown_sizes");
        return;
    }
    tts_json_object(json, "breakdown");
    for (int i = 0; i < TTS_RUN_PARTS; i++)
        tts_json_signed(json, names[i], mem->parts[i]);
    tts_json_object_end(json);
    tts_json_text(json, "breakdown_sizes", tts_train_sizes_name(mem));
}

/* ---- a run ---- */

static void put_notes_json(struct tts_json *json, const struct tts_run *run)
{
    tts_json_bool(json, "overwritten", run->is_overwritten);
    tts_json_amount(json, "missing_bytes", run->missing);
    tts_json_bool(json, "cut", run->is_cut);
    tts_json_array(json, "notes");
    for (size_t i = 0; i < run->note_count; i++) {
        tts_json_object(json, NULL);
        tts_json_number(json, "line", run->notes[i].line);
        tts_json_text(json, "text", run->notes[i].text);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_number(json, "notes_in_all", run->notes_in_all);
}

void tts_run_json(struct tts_json *json, const struct tts_named_run *run)
{
    const struct tts_run *what = run->run;
    const struct tts_trainmem *mem = run->mem;
    bool tracks_l1 = tts_run_tracks_l1(what);
    tts_json_text(json, "name", run->name);
    tts_json_text_or_null(json, "title", what->title);
    tts_json_text_or_null(json, "rank", what->rank);
    tts_json_text(json, "log", run->path);
    tts_json_number_or_null(json, "line", what->line > 0, what->line);
    tts_json_array(json, "phases");
    for (size_t i = 0; i < what->phase_count; i++)
        tts_phase_json(json, &what->phases[i], tracks_l1);
    tts_json_array_end(json);
    tts_json_text_or_null(json, "l1_reason", tracks_l1 ? NULL : L1_REASON);
    tts_json_amount(json, "overall_dram_peak_bytes", what->overall_peak);
    tts_json_amount(json, "final_dram_bytes", what->final);
    tts_json_number_or_null(json, "parameters", what->has_parameters, what->parameters);
    put_sizes_json(json, mem);
    tts_json_amount(json, "peak_bytes", mem->peak);
    tts_json_bool(json, "peak_at_least", mem->peak_at_least);
    tts_json_bool(json, "peak_of_all_iterations", mem->peak_is_whole);
    tts_json_bool(json, "covers_first_iteration", mem->covers_first);
    tts_json_amount(json, "later_iterations_more_bytes", mem->later_more);
    tts_json_text_or_null(json, "peak_phase", tts_named_run_peak_phase(run));
    put_usage_json(json, run);
    put_breakdown_json(json, mem);
    put_notes_json(json, what);
}
