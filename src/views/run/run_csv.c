#include "views/run/run_csv.h"

#include "views/json.h"

#include <string.h>

static void put_csv_comma(struct tts_rowout *rows)
{
    tts_rowout_put(rows, ",", 1);
}

static void put_csv_foreign(struct tts_rowout *rows, const char *text)
{
    tts_rowout_csv(rows, text, strlen(text));
}

/* Writes a number of ours. Its minus sign does not begin a formula, so it needs no apostrophe.
 */
static void put_csv_signed(struct tts_rowout *rows, int64_t value)
{
    if (value < 0)
        tts_rowout_put(rows, "-", 1);
    tts_rowout_number(rows, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void put_csv_amount(struct tts_rowout *rows, struct tts_amount amount)
{
    put_csv_comma(rows);
    if (amount.is_known)
        put_csv_signed(rows, amount.bytes);
}

static void put_csv_word(struct tts_rowout *rows, const char *word)
{
    put_csv_comma(rows);
    tts_rowout_text(rows, word ? word : "");
}

static void put_csv_size(struct tts_rowout *rows, const struct tts_train_size *size)
{
    put_csv_amount(rows, size->actual);
    put_csv_amount(rows, size->expected);
    put_csv_word(rows, tts_train_source_name(size->source));
}

void tts_run_csv_begin(struct tts_rowout *rows)
{
    tts_rowout_text(
        rows, "name,title,rank,log,line,parameters,"
              "model_actual_bytes,model_expected_bytes,model_expected_source,"
              "optimizer_actual_bytes,optimizer_expected_bytes,optimizer_expected_source,"
              "gradients_actual_bytes,gradients_expected_bytes,gradients_expected_source,"
              "activations_bytes,activations_at_once_bytes,forward_passes,backward_passes,"
              "peak_bytes,peak_at_least,peak_phase,final_dram_bytes,"
              "device_memory_bytes,device_memory_source,usage_ratio,fits,"
              "other_bytes,model_bytes,gradients_overhead_bytes,optimizer_bytes,"
              "activations_part_bytes,breakdown_sizes,cut,notes,activations_sum_bytes\n");
}

static void put_csv_head(struct tts_rowout *rows, const struct tts_named_run *run)
{
    const struct tts_run *what = run->run;
    put_csv_foreign(rows, run->name);
    put_csv_comma(rows);
    put_csv_foreign(rows, what->title);
    put_csv_comma(rows);
    put_csv_foreign(rows, what->rank);
    put_csv_comma(rows);
    put_csv_foreign(rows, run->path);
    put_csv_comma(rows);
    tts_rowout_number(rows, what->line);
    put_csv_comma(rows);
    if (what->has_parameters)
        tts_rowout_number(rows, what->parameters);
}

static void put_csv_peak(struct tts_rowout *rows, const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    char ratio[TTS_JSON_RATIO_MAX] = "";
    put_csv_amount(rows, mem->peak);
    put_csv_word(rows, mem->peak_at_least ? "true" : "false");
    put_csv_comma(rows);
    const char *phase = tts_named_run_peak_phase(run);
    if (phase)
        put_csv_foreign(rows, phase);
    put_csv_amount(rows, run->run->final);
    put_csv_amount(rows, mem->device_memory);
    put_csv_word(rows, tts_train_source_name(mem->device_memory_source));
    if (tts_named_run_has_usage(run))
        tts_json_ratio_text(ratio, mem->peak.bytes, (uint64_t)mem->device_memory.bytes);
    put_csv_word(rows, ratio);
    put_csv_word(rows, !mem->has_verdict ? "" : mem->fits ? "true" : "false");
}

void tts_run_csv_row(struct tts_rowout *rows, const struct tts_named_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    put_csv_head(rows, run);
    put_csv_size(rows, &mem->model);
    put_csv_size(rows, &mem->optimizer);
    put_csv_size(rows, &mem->gradients);
    put_csv_amount(rows, mem->activations);
    put_csv_amount(rows, mem->activations);
    put_csv_comma(rows);
    tts_rowout_number(rows, mem->forward_passes);
    put_csv_comma(rows);
    tts_rowout_number(rows, mem->backward_passes);
    put_csv_peak(rows, run);
    for (int i = 0; i < TTS_RUN_PARTS; i++)
        put_csv_amount(rows, (struct tts_amount){mem->has_parts, mem->parts[i]});
    put_csv_word(rows, mem->has_parts ? tts_train_sizes_name(mem) : "");
    put_csv_word(rows, run->run->is_cut ? "true" : "false");
    put_csv_comma(rows);
    tts_rowout_number(rows, run->run->notes_in_all);
    put_csv_amount(rows, mem->activations_sum);
    tts_rowout_put(rows, "\n", 1);
}
