#include "views/failure/failview.h"
#include "views/runtimelog/runlog_view.h"

#include <string.h>

static void put_place(struct tts_json *json, const char *key,
                      const struct tts_opplace_in_log *place)
{
    tts_json_object(json, key);
    tts_json_number(json, "op_index", place->index);
    tts_json_number_or_null(json, "block", place->block_known, place->block);
    tts_json_number(json, "line", place->line);
    tts_json_text_or_null(json, "op", place->op);
    tts_json_text_or_null(json, "loc", place->loc);
    tts_json_object_end(json);
}

static void put_adds(struct tts_json *json, const struct tts_oppoolsum *pool, size_t top)
{
    tts_json_array(json, "added");
    for (size_t i = 0; i < pool->top_count && i < top; i++) {
        const struct tts_opadd *add = &pool->top[i];
        if (add->bytes == 0)
            continue;
        tts_json_object(json, NULL);
        tts_json_number(json, "bytes_per_bank", add->bytes);
        tts_json_text(json, "cause",
                      add->is_upload       ? "input_upload"
                      : add->may_be_upload ? "operation_or_input_upload"
                                           : "operation");
        put_place(json, "at", &add->place);
        tts_json_text_or_null(json, "function", add->function);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_drift(struct tts_json *json, const struct tts_opsummary *sum,
                      const struct tts_oppoolsum *pool)
{
    if (!sum->has_ops || !sum->has_blocks) {
        tts_json_null(json, "drift");
        return;
    }
    tts_json_object(json, "drift");
    tts_json_number(json, "blocks", pool->final.compared);
    tts_json_number(json, "differing", pool->final.differing);
    tts_json_number(json, "max_bytes_per_bank", pool->final.drift_max_bytes);
    tts_json_number_or_null(json, "first_line", pool->final.drift_line > 0,
                            pool->final.drift_line);
    tts_json_number(json, "unattributed_bytes_per_bank", pool->final.unnamed_bytes);
    tts_json_object_end(json);
}

static void put_pool(struct tts_json *json, const struct tts_opsummary *sum,
                     enum tts_pool number, size_t top)
{
    const struct tts_oppoolsum *pool = &sum->pools[number];
    const struct tts_opuse *peak = &pool->peak;
    if (!pool->is_known) {
        tts_json_null(json, tts_pool_name(number));
        return;
    }
    tts_json_object(json, tts_pool_name(number));
    tts_json_number_or_null(json, "banks", pool->has_views, pool->banks);
    tts_json_number_or_null(json, "capacity_bytes_per_bank", pool->has_views,
                            pool->capacity_bytes);
    tts_json_text(json, "source",
                  !sum->has_blocks ? "computed"
                  : sum->has_ops   ? "replayed"
                                   : "printed");
    tts_json_number(json, "first_bytes_per_bank", pool->first.bytes);
    tts_json_number(json, "last_bytes_per_bank", pool->last.bytes);
    tts_json_number(json, "peak_bytes_per_bank", peak->bytes);
    tts_json_number_or_null(json, "peak_block", peak->place.block_known, peak->place.block);
    put_place(json, "peak_at", &peak->place);
    tts_json_number_or_null(json, "peak_free_bytes_per_bank", pool->has_views,
                            pool->peak_free_bytes);
    tts_json_number_or_null(json, "peak_largest_free_bytes_per_bank", pool->has_views,
                            pool->peak_largest_bytes);
    tts_json_number_or_null(json, "least_largest_free_bytes_per_bank", pool->has_views,
                            pool->least_largest.bytes);
    if (pool->has_views)
        put_place(json, "least_largest_free_at", &pool->least_largest.place);
    else
        tts_json_null(json, "least_largest_free_at");
    tts_json_number(json, "input_upload_bytes_per_bank", pool->upload_bytes);
    put_drift(json, sum, pool);
    put_adds(json, pool, top);
    tts_json_object_end(json);
}

static void put_programs(struct tts_json *json, const struct tts_opsummary *sum)
{
    tts_json_array(json, "programs");
    for (size_t i = 0; i < sum->program_names.count; i++) {
        const struct tts_opprogram *program = &sum->programs[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "name", program->name);
        tts_json_text(json, "kind", program->is_function ? "const_eval" : "program");
        tts_json_number(json, "runs", program->runs);
        tts_json_number(json, "ops", program->ops);
        tts_json_number(json, "first_op_index", program->first_index);
        tts_json_number(json, "last_op_index", program->last_index);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_json_number(json, "programs_not_listed", sum->programs_left_out);
}

/* Writes the kinds of operations with their counts. Their names are from the log: a character
 * that no such name has becomes '?'. */
static void put_kinds(struct tts_json *json, const struct tts_opsummary *sum)
{
    tts_json_object(json, sum->has_blocks ? "block_kinds" : "op_kinds");
    for (size_t i = 0; i < sum->kind_names.count; i++) {
        char key[TTS_OPNAME_MAX];
        memcpy(key, sum->kinds[i].name, sizeof key);
        for (char *p = key; *p; p++)
            if (!tts_is_letter(*p) && !tts_is_digit(*p) && *p != '_' && *p != '.')
                *p = '?';
        tts_json_number(json, key, sum->kinds[i].count);
    }
    tts_json_object_end(json);
}

void tts_runlog_rank_json(const struct tts_runlog_facts *facts, size_t rank,
                          struct tts_json *json)
{
    const struct tts_opsummary *sum = facts->ranks[rank].sum;
    tts_json_text_or_null(json, "rank", facts->ranks[rank].name);
    tts_json_number(json, "ops", sum->ops);
    tts_json_number(json, "deallocations", sum->deallocations);
    tts_json_number(json, "op_lines", sum->op_lines);
    tts_json_number(json, "const_eval_ops", sum->const_eval_ops);
    tts_json_number(json, "blocks", sum->blocks);
    put_kinds(json, sum);
    tts_json_object(json, "pools");
    for (int i = 0; i < TTS_POOLS; i++)
        put_pool(json, sum, (enum tts_pool)i, facts->top);
    tts_json_object_end(json);
    put_programs(json, sum);
}

void tts_runlog_json(const struct tts_runlog_facts *facts, struct tts_json *json)
{
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.show.runtime_log");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", facts->path);
    tts_json_object(json, "source");
    tts_json_text(json, "kind", "runtime_log");
    tts_json_text(json, "state", facts->is_damaged ? "damaged" : "complete");
    tts_json_number(json, "lines", facts->lines);
    tts_json_number(json, "bytes", facts->bytes);
    tts_json_number(json, "blocks_in_part", facts->part_blocks);
    tts_json_number(json, "unreadable_lines", facts->bad_views);
    tts_json_number(json, "cut_lines", facts->cut_lines);
    tts_json_object_end(json);
    tts_runlog_rank_json(facts, facts->shown, json);
    tts_json_array(json, "ranks");
    for (size_t i = 0; facts->rank_count > 1 && i < facts->rank_count; i++) {
        tts_json_object(json, NULL);
        tts_runlog_rank_json(facts, i, json);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
    tts_faillog_json(facts->failures, facts->path, json);
    tts_json_object_end(json);
}
