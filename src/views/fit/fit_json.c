/* fit_json.c: the answer for programs (docs/design/fit-json.md). */
#include "views/fit/fit_view.h"
#include "views/phase_json.h"

#include <string.h>

static void put_fit_layer(struct tts_json *json, int32_t layer)
{
    tts_json_number_or_null(json, "layer", layer != TTS_LAYER_NONE, (uint64_t)layer);
}

/* ---- the configuration ---- */

static void put_fit_value(const struct tts_trainconfig *setup, enum tts_workload_field setting,
                          struct tts_json *json)
{
    static const char *const origins[] = {[TTS_ORIGIN_OPTION] = "option",
                                          [TTS_ORIGIN_FILE] = "file",
                                          [TTS_ORIGIN_DEFAULT] = "default",
                                          [TTS_ORIGIN_RULE] = "rule"};
    const struct tts_setting *info = tts_setting_of(setting);
    const struct tts_setting_value *value = &setup->values[setting];
    tts_json_object(json, info->key);
    if (info->kind == TTS_SETTING_WORD)
        tts_json_text(json, "value", tts_trainconfig_word(setup, setting));
    else if (info->kind == TTS_SETTING_BOOL)
        tts_json_bool(json, "value", value->number != 0);
    else
        tts_json_number(json, "value", value->number);
    tts_json_text(json, "source", origins[value->origin]);
    if (value->origin == TTS_ORIGIN_FILE) {
        tts_json_text(json, "file", setup->file.paths[value->file]);
        tts_json_number(json, "line", value->line);
    }
    if (value->origin == TTS_ORIGIN_OPTION)
        tts_json_text(json, "option", info->option);
    if (value->why)
        tts_json_text(json, "reason", value->why);
    tts_json_object_end(json);
}

static void put_fit_config(const struct tts_fit_answer *answer, struct tts_json *json)
{
    const struct tts_trainconfig *setup = answer->setup;
    tts_json_text(json, "recipe", tts_recipe_name(setup->workload.recipe));
    tts_json_text(json, "file", answer->path);
    tts_json_text_or_null(json, "training_file", setup->file.paths[TTS_TRAINFILE_TRAINING]);
    tts_json_text_or_null(json, "model_file", setup->file.paths[TTS_TRAINFILE_MODEL]);
    tts_json_number(json, "unknown_keys", setup->file.unknown_keys);
    tts_json_object(json, "config");
    for (int i = 0; i < TTS_FIELD_NONE; i++)
        if (setup->values[i].origin != TTS_ORIGIN_UNUSED)
            put_fit_value(setup, (enum tts_workload_field)i, json);
    tts_json_object_end(json);
    tts_json_number(json, "padded_vocabulary", tts_workload_vocabulary(&setup->workload));
    tts_json_number(json, "parameters", answer->fit->parameters);
    tts_json_number(json, "parameter_bytes", answer->fit->parameter_bytes);
    tts_json_bool(json, "kernel_binaries", setup->workload.kernel_binaries);
    tts_json_bool(json, "estimated", answer->fit->is_estimated);
}

/* ---- phases ---- */

static void put_fit_phases(const struct tts_fit *fit, struct tts_json *json)
{
    size_t count = tts_capture_count(fit->capture);
    tts_json_array(json, "phases");
    for (size_t i = 0; i < count; i++) {
        const struct tts_phase *phase = tts_capture_at(fit->capture, i);
        tts_json_object(json, NULL);
        tts_json_text(json, "name", phase->name);
        tts_phase_json_dram(json, &phase->usage.pools[TTS_POOL_DRAM]);
        tts_json_null(json, "l1");
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_text(json, "l1_reason", TTS_FIT_L1_REASON);
    tts_json_number(json, "overall_dram_peak_bytes", fit->first_peak_bytes);
    tts_json_number(json, "final_dram_bytes", fit->final_bytes);
    tts_json_number(json, "later_iterations_peak_bytes", fit->later_peak_bytes);
    tts_json_number(json, "iterations", fit->iterations);
    tts_json_bool(json, "settled", fit->is_settled);
    tts_json_number(json, "kept_activation_bytes", fit->kept_bytes);
}

/* ---- the peak ---- */

static void put_peak_entry(const struct tts_fit_part *one, struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_json_text(json, "part", tts_part_name(one->part));
    put_fit_layer(json, one->layer);
    tts_json_text_or_null(json, "op", one->op);
    tts_json_number(json, "bytes", one->bytes);
    tts_json_number(json, "buffers", one->buffers);
    tts_json_object_end(json);
}

/* Writes the activations at the peak, or all other parts. */
static void put_peak_entries(const struct tts_fit_peak *peak, const char *key,
                             bool is_activations, struct tts_json *json)
{
    tts_json_array(json, key);
    for (size_t i = 0; i < peak->part_count; i++)
        if ((peak->parts[i].part == TTS_PART_ACTIVATIONS) == is_activations)
            put_peak_entry(&peak->parts[i], json);
    tts_json_array_end(json);
}

static void put_fit_peak(const struct tts_fit *fit, struct tts_json *json)
{
    const struct tts_fit_peak *peak = &fit->peak;
    tts_json_object(json, "peak");
    tts_json_number(json, "bytes", peak->bytes);
    tts_json_text(json, "phase", peak->phase);
    tts_json_text_or_null(json, "op", peak->op);
    put_fit_layer(json, peak->layer);
    tts_json_number(json, "allocation", peak->allocation);
    tts_json_array(json, "parts");
    for (int part = 0; part < TTS_PARTS; part++) {
        tts_json_object(json, NULL);
        tts_json_text(json, "name", tts_part_name((enum tts_tensor_part)part));
        tts_json_number(json, "bytes", peak->part_bytes[part]);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    put_peak_entries(peak, "activations", true, json);
    put_peak_entries(peak, "others", false, json);
    tts_json_object_end(json);
}

/* ---- placement ---- */

static void put_fit_failure(const struct tts_fit_placement *placement, struct tts_json *json)
{
    const struct tts_fit_failure *first = &placement->first;
    const struct tts_failure *failure = &first->failure;
    char text[TTS_FAILURE_TEXT_MAX];
    if (placement->failures == 0) {
        tts_json_null(json, "first_failure");
        return;
    }
    tts_json_object(json, "first_failure");
    tts_json_text(json, "text", tts_failure_text(failure, text));
    tts_json_text(json, "kind", tts_failure_kind_name(failure->kind));
    tts_json_text(json, "pool", tts_pool_name(failure->pool));
    tts_json_text(json, "phase", first->phase);
    tts_json_text_or_null(json, "op", first->op);
    put_fit_layer(json, first->layer);
    tts_json_number(json, "requested_bytes", failure->requested_bytes);
    tts_json_number_or_null(json, "deficit_bytes", tts_failure_deficit_is_known(failure),
                            tts_failure_deficit(failure));
    tts_json_object_end(json);
}

/* Returns the bytes that each bank lacks; 0 if every buffer found a place. */
static uint64_t missing_bank_bytes(const struct tts_fit_placement *placement)
{
    if (placement->failures == 0)
        return 0;
    return placement->peak_bank_bytes > placement->bank_bytes
               ? placement->peak_bank_bytes - placement->bank_bytes
               : tts_failure_deficit(&placement->first.failure);
}

static void put_fit_stops(const struct tts_trainconfig *setup, struct tts_json *json)
{
    if (setup->stop_count == 0) {
        tts_json_null(json, "refused_by_program");
        return;
    }
    tts_json_array(json, "refused_by_program");
    for (size_t i = 0; i < setup->stop_count; i++) {
        const struct tts_train_stop *stop = &setup->stops[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "reason", stop->reason);
        tts_json_text(json, "figures_for", stop->figures);
        tts_json_text_or_null(json, "file",
                              stop->line > 0 ? setup->file.paths[stop->file] : NULL);
        tts_json_number_or_null(json, "line", stop->line > 0, stop->line);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_fit_placement(const struct tts_fit_answer *answer, struct tts_json *json)
{
    const struct tts_fit *fit = answer->fit;
    const struct tts_fit_placement *placement = &fit->placement;
    tts_json_text(json, "device", fit->chip->name);
    tts_json_number(json, "capacity_bytes", fit->capacity_bytes);
    tts_json_number(json, "peak_bytes", fit->peak_bytes);
    tts_json_bool(json, "fits", !tts_fit_reason(answer));
    tts_json_text_or_null(json, "fits_reason", tts_fit_reason(answer));
    put_fit_stops(answer->setup, json);
    tts_json_number(json, "chips_needed", tts_fit_chips(&fit->workload));
    tts_json_number(json, "device_chips", fit->chip->fact[TTS_FACT_CHIPS].value);
    tts_json_object(json, "placement");
    tts_json_bool(json, "ok", placement->failures == 0);
    tts_json_number(json, "failures", placement->failures);
    put_fit_failure(placement, json);
    tts_json_number(json, "banks", placement->banks);
    tts_json_number(json, "bank_bytes", placement->bank_bytes);
    tts_json_number(json, "peak_bytes_per_bank", placement->peak_bank_bytes);
    tts_json_number(json, "missing_bytes_per_bank", missing_bank_bytes(placement));
    tts_json_number(json, "free_bytes_per_bank", placement->free_bytes);
    tts_json_number(json, "largest_free_bytes_per_bank", placement->largest_free_bytes);
    tts_json_ratio(json, "fragmentation_ratio",
                   placement->free_bytes - placement->largest_free_bytes,
                   placement->free_bytes);
    tts_json_object_end(json);
}

/* ---- changes and the largest that fits ---- */

static void put_fit_changes(const struct tts_fit_answer *answer, struct tts_json *json)
{
    tts_json_array(json, "suggestions");
    for (size_t i = 0; i < answer->change_count; i++) {
        const struct tts_fit_change *change = &answer->changes[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "change", tts_fit_change_name(change->kind));
        tts_json_text_or_null(json, "options", change->options);
        tts_json_number(json, "peak_bytes", change->peak_bytes);
        tts_json_signed(json, "saves_bytes", change->saves_bytes);
        tts_json_signed(json, "saves_activation_bytes", change->saves_activation_bytes);
        tts_json_text(json, "cost", change->cost);
        tts_json_bool(json, "fits", change->fits);
        tts_json_text_or_null(json, "device", change->device);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_fit_max(const struct tts_fit_answer *answer, struct tts_json *json)
{
    const struct tts_largest *largest = &answer->largest;
    if (!answer->has_max) {
        tts_json_null(json, "max");
        return;
    }
    tts_json_object(json, "max");
    tts_json_text(json, "of", answer->max == TTS_LARGEST_BATCH ? "batch" : "seq");
    tts_json_number(json, "value", largest->value);
    tts_json_number_or_null(json, "peak_bytes", largest->peak_bytes > 0, largest->peak_bytes);
    tts_json_number_or_null(json, "next", largest->next > 0, largest->next);
    tts_json_number_or_null(json, "next_peak_bytes",
                            largest->next > 0 && largest->next_peak_bytes <= INT64_MAX,
                            largest->next_peak_bytes);
    tts_json_object_end(json);
}

void tts_fit_json(const struct tts_fit_answer *answer, struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.fit");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    put_fit_config(answer, json);
    put_fit_phases(answer->fit, json);
    put_fit_peak(answer->fit, json);
    put_fit_placement(answer, json);
    put_fit_changes(answer, json);
    put_fit_max(answer, json);
    tts_json_object_end(json);
}
