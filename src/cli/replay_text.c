#include "base/number.h"
#include "cli/replay_parts.h"
#include "views/percent.h"

#include <inttypes.h>

/* Names, numbers, and what there is to say about them each begin in one column. */

static void print_bytes(FILE *out, const char *name, uint64_t bytes)
{
    char human[TTS_NUMBER_BYTES_MAX];
    fprintf(out, "  %-14s %15" PRIu64 " B  %10s", name, bytes,
            tts_number_format_bytes(human, bytes));
}

static void print_fragmentation(FILE *out, const struct tts_space_stats *stats)
{
    char percent[TTS_PERCENT_MAX];
    bool known = stats->free_bytes > 0;
    if (known)
        tts_percent_format(percent, stats->free_bytes - stats->largest_free_bytes,
                           stats->free_bytes);
    fprintf(out, "  %-14s %17s%14s%s\n", "fragmentation", known ? percent : "unknown", "",
            known ? "1 - largest free / free" : "nothing is free");
}

static void print_count(FILE *out, const char *name, uint64_t count)
{
    fprintf(out, "  %-14s %15" PRIu64, name, count);
}

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
    print_count(out, "failed", requests->failed);
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
    print_count(out, "operations", counts->operations);
    fputc('\n', out);
    print_count(out, "requests", requests.total);
    print_part(out, "    ", requests.ok, "ok");
    print_part(out, ", ", requests.failed, "failed");
    print_part(out, ", ", requests.below_limit, "below the limit\n");
    print_reasons(out, &requests);
    print_count(out, "takes", counts->takes + counts->takes_failed + counts->takes_below_limit);
    print_part(out, "    ", counts->takes, "ok");
    print_part(out, ", ", counts->takes_failed, "failed");
    print_part(out, ", ", counts->takes_below_limit, "below the limit\n");
    print_count(out, "takes at", counts->takes_at + counts->takes_at_failed);
    print_part(out, "    ", counts->takes_at, "ok");
    print_part(out, ", ", counts->takes_at_failed, "failed\n");
    print_count(out, "frees", counts->gives + counts->gives_ignored);
    print_part(out, "    ", counts->gives, "ok");
    print_part(out, ", ", counts->gives_ignored, "ignored\n");
    print_count(out, "shrinks", counts->shrinks + counts->shrinks_refused);
    print_part(out, "    ", counts->shrinks, "ok");
    print_part(out, ", ", counts->shrinks_refused, "refused\n");
    print_count(out, "unshrinks", counts->unshrinks);
    fputc('\n', out);
    print_count(out, "clears", counts->clears);
    fputc('\n', out);
    print_count(out, "queries", counts->queries);
    fputc('\n', out);
}

void tts_replay_text_stats(const struct tts_opseq_run *run, FILE *out)
{
    const struct tts_space_stats *stats = &run->stats;
    fputs("statistics, per bank\n", out);
    print_bytes(out, "total", stats->total_bytes);
    fputc('\n', out);
    print_bytes(out, "allocated", stats->taken_bytes);
    fprintf(out, "  in %" PRIu64 " block%s\n", stats->taken_blocks,
            stats->taken_blocks == 1 ? "" : "s");
    print_bytes(out, "free", stats->free_bytes);
    fprintf(out, "  in %" PRIu64 " block%s\n", stats->free_blocks,
            stats->free_blocks == 1 ? "" : "s");
    print_bytes(out, "largest free", stats->largest_free_bytes);
    fputc('\n', out);
    print_fragmentation(out, stats);
    print_bytes(out, "peak allocated", run->counts.peak_taken_bytes);
    if (run->counts.peak_line > 0)
        fprintf(out, "  at line %" PRIu64, run->counts.peak_line);
    fputc('\n', out);
    print_counts(out, &run->counts);
}
