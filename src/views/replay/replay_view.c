#include "views/replay/replay_view.h"

#include "base/number.h"
#include "views/percent.h"

#include <inttypes.h>
#include <stdarg.h>

/* --- JSON ------------------------------------------------------------------------------- */

void tts_replay_json_check(struct tts_json *json, const struct tts_replay_check *check)
{
    if (!check) {
        tts_json_null(json, "check");
        return;
    }
    tts_json_object(json, "check");
    tts_json_number(json, "operations", check->operations);
    tts_json_number(json, "matched", check->matched);
    tts_json_number(json, "not_compared", check->not_compared);
    tts_json_number(json, "without_result", check->without_result);
    if (check->line > 0) {
        tts_json_object(json, "difference");
        tts_json_number(json, "line", check->line);
        tts_json_text(json, "expected", check->expected);
        tts_json_text(json, "got", check->got);
        tts_json_object_end(json);
    } else {
        tts_json_null(json, "difference");
    }
    tts_json_object_end(json);
}

void tts_replay_json_blocks(struct tts_json *json, const struct tts_space *space)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    tts_json_array(json, "blocks");
    while (tts_space_next(space, &cursor, &block)) {
        tts_json_object(json, NULL);
        tts_json_number(json, "id", block.id);
        tts_json_number(json, "address", block.address);
        tts_json_number(json, "size_bytes", block.size_bytes);
        tts_json_number_or_null(json, "prev_id", block.prev_id != TTS_BLOCK_NONE,
                                block.prev_id);
        tts_json_number_or_null(json, "next_id", block.next_id != TTS_BLOCK_NONE,
                                block.next_id);
        tts_json_bool(json, "allocated", block.taken);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

void tts_replay_json_stats(struct tts_json *json, const uint64_t value[4])
{
    tts_json_number(json, "total_allocatable_size_bytes", value[0]);
    tts_json_number(json, "total_allocated_bytes", value[1]);
    tts_json_number(json, "total_free_bytes", value[2]);
    tts_json_number(json, "largest_free_block_bytes", value[3]);
}

void tts_replay_json_space(struct tts_json *json, const struct tts_space_stats *stats)
{
    const uint64_t value[] = {stats->total_bytes, stats->taken_bytes, stats->free_bytes,
                              stats->largest_free_bytes};
    tts_replay_json_stats(json, value);
    tts_json_ratio(json, "fragmentation_ratio", stats->free_bytes - stats->largest_free_bytes,
                   stats->free_bytes);
}

/* --- text ------------------------------------------------------------------------------- */

static TTS_PRINTF(3, 0) void end_replay_row(FILE *out, const char *before, const char *remark,
                                            va_list args)
{
    if (remark) {
        fputs(before, out);
        vfprintf(out, remark, args);
    }
    fputc('\n', out);
}

void tts_replay_text_bytes(FILE *out, const char *name, uint64_t bytes, const char *remark, ...)
{
    char human[TTS_NUMBER_BYTES_MAX];
    va_list args;
    fprintf(out, "  %-15s %14" PRIu64 " B  %10s", name, bytes,
            tts_number_format_bytes(human, bytes));
    va_start(args, remark);
    end_replay_row(out, "  ", remark, args);
    va_end(args);
}

void tts_replay_text_count(FILE *out, const char *name, uint64_t count, const char *remark, ...)
{
    va_list args;
    fprintf(out, "  %-15s %14" PRIu64, name, count);
    va_start(args, remark);
    end_replay_row(out, "    ", remark, args);
    va_end(args);
}

void tts_replay_text_missing(FILE *out, const char *mark, const struct tts_failure *failure,
                             const char *where)
{
    if (!tts_failure_deficit_is_known(failure))
        return;
    fprintf(out, "%smissing: %" PRIu64 " B%s", mark, tts_failure_deficit(failure), where);
    if (failure->kind == TTS_FAILURE_SPACE && failure->block_bytes > failure->need_bytes)
        fprintf(out, " (the %" PRIu64 " B are rounded up to a block of %" PRIu64 " B)",
                failure->need_bytes, failure->block_bytes);
    fputc('\n', out);
}

void tts_replay_text_largest(FILE *out, const struct tts_space_stats *stats)
{
    char percent[TTS_PERCENT_MAX];
    bool known = stats->free_bytes > 0;
    tts_replay_text_bytes(out, "largest free", stats->largest_free_bytes, NULL);
    if (known)
        tts_percent_format(percent, stats->free_bytes - stats->largest_free_bytes,
                           stats->free_bytes);
    fprintf(out, "  %-14s %17s%14s%s\n", "fragmentation", known ? percent : "unknown", "",
            known ? "1 - largest free / free" : "nothing is free");
}
