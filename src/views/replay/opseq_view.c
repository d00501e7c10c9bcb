#include "views/replay/opseq_view.h"

#include "views/say.h"

#include <inttypes.h>

/* Counts of the operations that request memory (`a` and `x` together), for text and JSON. */
struct opseq_requests {
    uint64_t total, ok, below_limit, failed;
    uint64_t fragmentation, too_little_free, range_not_free; /* failed requests by reason */
};

static struct opseq_requests opseq_requests(const struct tts_opseq_counts *counts)
{
    struct opseq_requests requests = {
        .ok = counts->takes + counts->takes_at,
        .below_limit = counts->takes_below_limit,
        .failed = counts->takes_failed + counts->takes_at_failed,
        .fragmentation = counts->takes_fragmented,
        .too_little_free = counts->takes_failed - counts->takes_fragmented,
        .range_not_free = counts->takes_at_failed,
    };
    requests.total = requests.ok + requests.below_limit + requests.failed;
    return requests;
}

/* --- text ------------------------------------------------------------------------------- */

static void print_reasons(FILE *out, const struct opseq_requests *requests)
{
    const struct {
        uint64_t count;
        const char *what;
    } reasons[] = {{requests->fragmentation, "by fragmentation"},
                   {requests->too_little_free, "too little free"},
                   {requests->range_not_free, "range not free"}};
    char text[128] = "";
    size_t len = 0;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].count > 0)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%" PRIu64 " %s",
                                    len > 0 ? ", " : "", reasons[i].count, reasons[i].what);
    tts_replay_text_count(out, "failed", requests->failed, len > 0 ? "%s" : NULL, text);
}

static void print_counts(FILE *out, const struct tts_opseq_counts *counts)
{
    struct opseq_requests requests = opseq_requests(counts);
    tts_replay_text_count(out, "operations", counts->operations, NULL);
    tts_replay_text_count(out, "requests", requests.total,
                          "%" PRIu64 " ok, %" PRIu64 " failed, %" PRIu64 " below the limit",
                          requests.ok, requests.failed, requests.below_limit);
    print_reasons(out, &requests);
    tts_replay_text_count(out, "takes (a)",
                          counts->takes + counts->takes_failed + counts->takes_below_limit,
                          "%" PRIu64 " ok, %" PRIu64 " failed, %" PRIu64 " below the limit",
                          counts->takes, counts->takes_failed, counts->takes_below_limit);
    tts_replay_text_count(out, "exact takes (x)", counts->takes_at + counts->takes_at_failed,
                          "%" PRIu64 " ok, %" PRIu64 " failed", counts->takes_at,
                          counts->takes_at_failed);
    tts_replay_text_count(out, "frees (d)", counts->gives + counts->gives_ignored,
                          "%" PRIu64 " ok, %" PRIu64 " ignored", counts->gives,
                          counts->gives_ignored);
    tts_replay_text_count(out, "cuts (k)", counts->shrinks + counts->shrinks_refused,
                          "%" PRIu64 " ok, %" PRIu64 " refused", counts->shrinks,
                          counts->shrinks_refused);
    tts_replay_text_count(out, "undone cuts (r)", counts->unshrinks, NULL);
    tts_replay_text_count(out, "clears (c)", counts->clears, NULL);
    tts_replay_text_count(out, "queries", counts->queries, NULL);
}

void tts_opseq_text_stats(const struct tts_opseq_view *view, FILE *out)
{
    const struct tts_space_stats *stats = view->stats;
    const struct tts_opseq_counts *counts = view->counts;
    fputs("statistics, per bank\n", out);
    tts_replay_text_bytes(out, "total", stats->total_bytes, NULL);
    tts_replay_text_bytes(out, "allocated", stats->taken_bytes, "in %" PRIu64 " block%s",
                          stats->taken_blocks, tts_say_plural(stats->taken_blocks));
    tts_replay_text_bytes(out, "free", stats->free_bytes, "in %" PRIu64 " block%s",
                          stats->free_blocks, tts_say_plural(stats->free_blocks));
    tts_replay_text_largest(out, stats);
    tts_replay_text_bytes(out, "peak allocated", counts->peak_taken_bytes,
                          counts->peak_line > 0 ? "at line %" PRIu64 : NULL, counts->peak_line);
    print_counts(out, counts);
}

/* --- JSON ------------------------------------------------------------------------------- */

void tts_opseq_json_begin(struct tts_json *json, const struct tts_opseq_view *view)
{
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.replay");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", view->path);
    tts_json_text(json, "scope", "per_bank");
    tts_json_object(json, "pool");
    tts_json_number(json, "size_bytes", view->pool->size_bytes);
    tts_json_number(json, "offset_bytes", view->pool->offset_bytes);
    tts_json_number(json, "min_allocation_size_bytes", view->pool->min_bytes);
    tts_json_number(json, "alignment_bytes", view->pool->alignment_bytes);
    tts_json_text(json, "policy", view->policy);
    tts_json_object_end(json);
    if (view->with_results)
        tts_json_array(json, "results");
}

static void put_taken(struct tts_json *json, const struct tts_opseq_step *step)
{
    static const char *const outcomes[] = {[TTS_OPSEQ_DONE] = "ok",
                                           [TTS_OPSEQ_FAILED] = "failed",
                                           [TTS_OPSEQ_BELOW_LIMIT] = "below_limit"};
    const struct tts_opseq_result *result = &step->line.result;
    bool failed = result->outcome == TTS_OPSEQ_FAILED;
    tts_json_text(json, "result", outcomes[result->outcome]);
    tts_json_number_or_null(json, "address", !failed, result->value[0]);
    tts_json_number_or_null(json, "block_bytes", !failed, step->bytes);
}

static void put_sequence_hash(struct tts_json *json, const struct tts_opseq_step *step)
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
        tts_json_number_or_null(json, "block_bytes", step->bytes > 0, step->bytes);
        break;
    case TTS_OPSEQ_SHRINK:
        tts_json_number(json, "size_bytes", line->bytes);
        tts_json_text(json, "result",
                      line->result.outcome == TTS_OPSEQ_FAILED ? "refused" : "ok");
        break;
    case TTS_OPSEQ_STATS:
        tts_replay_json_stats(json, line->result.value);
        break;
    case TTS_OPSEQ_LOWEST:
    case TTS_OPSEQ_STALE:
        tts_json_number_or_null(json, "reported_address", !line->result.none[0],
                                line->result.value[0]);
        tts_json_number_or_null(json, "lowest_address", !line->result.none[1],
                                line->result.value[1]);
        break;
    case TTS_OPSEQ_AVAILABLE:
        tts_json_number(json, "size_bytes", line->bytes);
        put_sequence_hash(json, step);
        break;
    case TTS_OPSEQ_MAP:
    case TTS_OPSEQ_TABLE:
        put_sequence_hash(json, step);
        break;
    case TTS_OPSEQ_UNSHRINK:
    case TTS_OPSEQ_CLEAR:
    case TTS_OPSEQ_BLANK:
    case TTS_OPSEQ_POOL:
    case TTS_OPSEQ_KINDS:
        break; /* the result has only its letter */
    }
}

void tts_opseq_json_result(struct tts_json *json, const struct tts_opseq_step *step,
                           char letter, uint64_t line_no)
{
    const char op[] = {letter, '\0'};
    tts_json_object(json, NULL);
    tts_json_number(json, "line", line_no);
    tts_json_text(json, "op", op);
    put_operation(json, step);
    tts_json_object_end(json);
}

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
    struct opseq_requests requests = opseq_requests(counts);
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

void tts_opseq_json_end(struct tts_json *json, const struct tts_opseq_view *view)
{
    const struct tts_opseq_counts *counts = view->counts;
    if (view->with_results)
        tts_json_array_end(json);
    put_counts(json, counts);
    put_requests(json, counts);
    tts_json_object(json, "statistics");
    tts_replay_json_space(json, view->stats);
    tts_json_number(json, "allocated_blocks", view->stats->taken_blocks);
    tts_json_number(json, "free_blocks", view->stats->free_blocks);
    tts_json_number(json, "peak_allocated_bytes", counts->peak_taken_bytes);
    tts_json_number_or_null(json, "peak_line", counts->peak_line > 0, counts->peak_line);
    tts_json_object_end(json);
    tts_replay_json_check(json, view->check);
    if (view->with_blocks)
        tts_replay_json_blocks(json, view->space);
    tts_json_object_end(json);
}
