#include "base/number.h"
#include "cli/replay_parts.h"

#include <inttypes.h>

static void print_bytes(FILE *out, const char *name, uint64_t bytes)
{
    char human[TTS_NUMBER_BYTES_MAX];
    fprintf(out, "  %-14s %15" PRIu64 " B  %10s", name, bytes,
            tts_number_format_bytes(human, bytes));
}

static void print_fragmentation(FILE *out, const struct tts_space_stats *stats)
{
    uint64_t lost = stats->free_bytes - stats->largest_free_bytes;
    if (stats->free_bytes == 0) {
        fprintf(out, "  %-14s %15s\n", "fragmentation", "unknown: nothing is free");
        return;
    }
    uint64_t permille = lost * 1000 / stats->free_bytes; /* sizes are below 2^48 */
    fprintf(out, "  %-14s %13" PRIu64 ".%" PRIu64 " %%  1 - largest free / free\n",
            "fragmentation", permille / 10, permille % 10);
}

static void print_counts(FILE *out, const struct tts_opseq_counts *counts)
{
    fprintf(out,
            "  %-14s %" PRIu64 "\n"
            "  %-14s %" PRIu64 " ok, %" PRIu64 " failed, %" PRIu64 " below the limit\n"
            "  %-14s %" PRIu64 " ok, %" PRIu64 " failed\n"
            "  %-14s %" PRIu64 " ok, %" PRIu64 " ignored\n",
            "operations", counts->operations, "takes", counts->takes, counts->takes_failed,
            counts->takes_below_limit, "takes at", counts->takes_at, counts->takes_at_failed,
            "frees", counts->gives, counts->gives_ignored);
    fprintf(out,
            "  %-14s %" PRIu64 " ok, %" PRIu64 " refused; %" PRIu64 " undone\n"
            "  %-14s %" PRIu64 "\n"
            "  %-14s %" PRIu64 "\n",
            "cuts", counts->shrinks, counts->shrinks_refused, counts->unshrinks, "clears",
            counts->clears, "queries", counts->queries);
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
