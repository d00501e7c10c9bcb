#include "cli/replay_parts.h"

void tts_replay_json_begin(struct tts_json *json, const char *file,
                           const struct tts_space_config *pool, bool results)
{
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.replay");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", file);
    tts_json_text(json, "scope", "per_bank");
    tts_json_object(json, "pool");
    tts_json_number(json, "size_bytes", pool->size_bytes);
    tts_json_number(json, "offset_bytes", pool->offset_bytes);
    tts_json_number(json, "min_allocation_size_bytes", pool->min_bytes);
    tts_json_number(json, "alignment_bytes", pool->alignment_bytes);
    tts_json_text(json, "policy", tts_opseq_policy_name(pool->policy));
    tts_json_object_end(json);
    if (results)
        tts_json_array(json, "results");
}

/* --- results ---------------------------------------------------------------------------- */

static void put_address(struct tts_json *json, const char *key, bool none, uint64_t address)
{
    if (none)
        tts_json_null(json, key);
    else
        tts_json_number(json, key, address);
}

static void put_taken(struct tts_json *json, const struct tts_opseq_step *step)
{
    static const char *const outcomes[] = {[TTS_OPSEQ_DONE] = "ok",
                                           [TTS_OPSEQ_FAILED] = "failed",
                                           [TTS_OPSEQ_BELOW_LIMIT] = "below_limit"};
    const struct tts_opseq_result *result = &step->line.result;
    bool failed = result->outcome == TTS_OPSEQ_FAILED;
    tts_json_text(json, "result", outcomes[result->outcome]);
    put_address(json, "address", failed, result->value[0]);
    put_address(json, "block_bytes", failed, step->bytes);
}

static void put_stats(struct tts_json *json, const uint64_t value[TTS_OPSEQ_VALUES])
{
    tts_json_number(json, "total_allocatable_size_bytes", value[0]);
    tts_json_number(json, "total_allocated_bytes", value[1]);
    tts_json_number(json, "total_free_bytes", value[2]);
    tts_json_number(json, "largest_free_block_bytes", value[3]);
}

static void put_hash(struct tts_json *json, const struct tts_opseq_step *step)
{
    tts_json_number(json, "blocks", step->line.result.value[0]);
    tts_json_hex(json, "hash", step->line.result.value[1]);
}

static void put_operation(struct tts_json *json, const struct tts_opseq_step *step)
{
    const struct tts_opseq_line *line = &step->line;
    switch (line->kind) {
    case TTS_OPSEQ_TAKE:
        tts_json_number(json, "size_bytes", line->bytes);
        tts_json_bool(json, "bottom_up", line->direction == TTS_DIRECTION_UP);
        tts_json_number(json, "limit", line->limit);
        put_taken(json, step);
        break;
    case TTS_OPSEQ_TAKE_AT:
        tts_json_number(json, "requested_address", line->address);
        tts_json_number(json, "size_bytes", line->bytes);
        put_taken(json, step);
        break;
    case TTS_OPSEQ_GIVE:
        tts_json_number(json, "address", line->address);
        tts_json_text(json, "result", step->bytes > 0 ? "ok" : "ignored");
        put_address(json, "block_bytes", step->bytes == 0, step->bytes);
        break;
    case TTS_OPSEQ_SHRINK:
        tts_json_number(json, "size_bytes", line->bytes);
        tts_json_text(json, "result",
                      line->result.outcome == TTS_OPSEQ_FAILED ? "refused" : "ok");
        break;
    case TTS_OPSEQ_STATS:
        put_stats(json, line->result.value);
        break;
    case TTS_OPSEQ_LOWEST:
    case TTS_OPSEQ_STALE:
        put_address(json, "reported_address", line->result.none[0], line->result.value[0]);
        put_address(json, "lowest_address", line->result.none[1], line->result.value[1]);
        break;
    case TTS_OPSEQ_AVAILABLE:
        tts_json_number(json, "size_bytes", line->bytes);
        put_hash(json, step);
        break;
    case TTS_OPSEQ_MAP:
    case TTS_OPSEQ_TABLE:
        put_hash(json, step);
        break;
    case TTS_OPSEQ_UNSHRINK:
    case TTS_OPSEQ_CLEAR:
    case TTS_OPSEQ_BLANK:
    case TTS_OPSEQ_POOL:
    case TTS_OPSEQ_KINDS:
        break; /* nothing to say beside the letter */
    }
}

void tts_replay_json_result(struct tts_json *json, const struct tts_opseq_step *step,
                            uint64_t line_no)
{
    const char op[] = {tts_opseq_letter(step->line.kind), '\0'};
    tts_json_object(json, NULL);
    tts_json_number(json, "line", line_no);
    tts_json_text(json, "op", op);
    put_operation(json, step);
    tts_json_object_end(json);
}

/* --- the end ---------------------------------------------------------------------------- */

static void put_counts(struct tts_json *json, const struct tts_opseq_counts *counts)
{
    tts_json_object(json, "operations");
    tts_json_number(json, "total", counts->operations);
    tts_json_number(json, "takes_ok", counts->takes);
    tts_json_number(json, "takes_failed", counts->takes_failed);
    tts_json_number(json, "takes_below_limit", counts->takes_below_limit);
    tts_json_number(json, "takes_at_ok", counts->takes_at);
    tts_json_number(json, "takes_at_failed", counts->takes_at_failed);
    tts_json_number(json, "frees_ok", counts->gives);
    tts_json_number(json, "frees_ignored", counts->gives_ignored);
    tts_json_number(json, "shrinks_ok", counts->shrinks);
    tts_json_number(json, "shrinks_refused", counts->shrinks_refused);
    tts_json_number(json, "unshrinks", counts->unshrinks);
    tts_json_number(json, "clears", counts->clears);
    tts_json_number(json, "queries", counts->queries);
    tts_json_object_end(json);
}

static void put_requests(struct tts_json *json, const struct tts_opseq_counts *counts)
{
    struct tts_replay_requests requests = tts_replay_requests(counts);
    tts_json_object(json, "requests");
    tts_json_number(json, "total", requests.total);
    tts_json_number(json, "ok", requests.ok);
    tts_json_number(json, "below_limit", requests.below_limit);
    tts_json_number(json, "failed", requests.failed);
    tts_json_number(json, "fragmentation", requests.fragmentation);
    tts_json_number(json, "too_little_free", requests.too_little_free);
    tts_json_number(json, "range_not_free", requests.range_not_free);
    tts_json_object_end(json);
}

static void put_statistics(struct tts_json *json, const struct tts_opseq_run *run)
{
    const struct tts_space_stats *stats = &run->stats;
    const uint64_t value[TTS_OPSEQ_VALUES] = {stats->total_bytes, stats->taken_bytes,
                                              stats->free_bytes, stats->largest_free_bytes};
    tts_json_object(json, "statistics");
    put_stats(json, value);
    tts_json_ratio(json, "fragmentation_ratio", stats->free_bytes - stats->largest_free_bytes,
                   stats->free_bytes);
    tts_json_number(json, "allocated_blocks", stats->taken_blocks);
    tts_json_number(json, "free_blocks", stats->free_blocks);
    tts_json_number(json, "peak_allocated_bytes", run->counts.peak_taken_bytes);
    put_address(json, "peak_line", run->counts.peak_line == 0, run->counts.peak_line);
    tts_json_object_end(json);
}

void tts_replay_json_end(struct tts_json *json, const struct tts_opseq_run *run,
                         const struct tts_replay_check *check, bool results, bool blocks)
{
    if (results)
        tts_json_array_end(json);
    put_counts(json, &run->counts);
    put_requests(json, &run->counts);
    put_statistics(json, run);
    tts_replay_json_check(json, check);
    if (blocks)
        tts_replay_json_blocks(json, run->space);
    tts_json_object_end(json);
}
