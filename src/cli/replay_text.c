#include "cli/replay_parts.h"

#include <inttypes.h>

static void print_part(FILE *out, const char *before, uint64_t count, const char *what)
{
    fprintf(out, "%s%" PRIu64 " %s", before, count, what);
}

static void print_reasons(FILE *out, const struct tts_replay_requests *requests)
{
    const struct {
        uint64_t count;
        const char *what;
    } reasons[] = {{requests->fragmentation, "by fragmentation"},
                   {requests->too_little_free, "too little free"},
                   {requests->range_not_free, "range not free"}};
    const char *before = "    ";
    tts_replay_text_count(out, "failed", requests->failed);
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        if (reasons[i].count == 0)
            continue;
        print_part(out, before, reasons[i].count, reasons[i].what);
        before = ", ";
    }
    fputc('\n', out);
}

static void print_counts(FILE *out, const struct tts_opseq_counts *counts)
{
    struct tts_replay_requests requests = tts_replay_requests(counts);
    tts_replay_text_count(out, "operations", counts->operations);
    fputc('\n', out);
    tts_replay_text_count(out, "requests", requests.total);
    print_part(out, "    ", requests.ok, "ok");
    print_part(out, ", ", requests.failed, "failed");
    print_part(out, ", ", requests.below_limit, "below the limit\n");
    print_reasons(out, &requests);
    tts_replay_text_count(out, "takes",
                          counts->takes + counts->takes_failed + counts->takes_below_limit);
    print_part(out, "    ", counts->takes, "ok");
    print_part(out, ", ", counts->takes_failed, "failed");
    print_part(out, ", ", counts->takes_below_limit, "below the limit\n");
    tts_replay_text_count(out, "takes at", counts->takes_at + counts->takes_at_failed);
    print_part(out, "    ", counts->takes_at, "ok");
    print_part(out, ", ", counts->takes_at_failed, "failed\n");
    tts_replay_text_count(out, "frees", counts->gives + counts->gives_ignored);
    print_part(out, "    ", counts->gives, "ok");
    print_part(out, ", ", counts->gives_ignored, "ignored\n");
    tts_replay_text_count(out, "shrinks", counts->shrinks + counts->shrinks_refused);
    print_part(out, "    ", counts->shrinks, "ok");
    print_part(out, ", ", counts->shrinks_refused, "refused\n");
    tts_replay_text_count(out, "unshrinks", counts->unshrinks);
    fputc('\n', out);
    tts_replay_text_count(out, "clears", counts->clears);
    fputc('\n', out);
    tts_replay_text_count(out, "queries", counts->queries);
    fputc('\n', out);
}

void tts_replay_text_stats(const struct tts_opseq_run *run, FILE *out)
{
    const struct tts_space_stats *stats = &run->stats;
    fputs("statistics, per bank\n", out);
    tts_replay_text_bytes(out, "total", stats->total_bytes);
    fputc('\n', out);
    tts_replay_text_bytes(out, "allocated", stats->taken_bytes);
    fprintf(out, "  in %" PRIu64 " block%s\n", stats->taken_blocks,
            stats->taken_blocks == 1 ? "" : "s");
    tts_replay_text_bytes(out, "free", stats->free_bytes);
    fprintf(out, "  in %" PRIu64 " block%s\n", stats->free_blocks,
            stats->free_blocks == 1 ? "" : "s");
    tts_replay_text_bytes(out, "largest free", stats->largest_free_bytes);
    fputc('\n', out);
    tts_replay_text_fragmentation(out, stats);
    tts_replay_text_bytes(out, "peak allocated", run->counts.peak_taken_bytes);
    if (run->counts.peak_line > 0)
        fprintf(out, "  at line %" PRIu64, run->counts.peak_line);
    fputc('\n', out);
    print_counts(out, &run->counts);
}
