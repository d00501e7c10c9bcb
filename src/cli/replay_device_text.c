#include "cli/replay_device.h"

#include "views/say.h"

#include <inttypes.h>

static void print_pool(const struct tts_devseq_run *run, enum tts_pool pool, FILE *out)
{
    struct tts_pool_stats stats;
    const struct tts_pool_layout *layout = tts_device_layout(run->device, pool);
    if (!layout || !tts_device_stats(run->device, pool, &stats))
        return;
    fprintf(out, "%s, %" PRIu32 " banks; per bank\n", tts_pool_name(pool), layout->banks);
    tts_replay_text_bytes(out, "total", stats.space.total_bytes);
    fputc('\n', out);
    tts_replay_text_bytes(out, "allocated", stats.space.taken_bytes);
    fprintf(out, "  in %" PRIu64 " buffer%s\n", stats.buffers - stats.unplaced_buffers,
            stats.buffers - stats.unplaced_buffers == 1 ? "" : "s");
    tts_replay_text_bytes(out, "of all banks", stats.space.taken_bytes * layout->banks);
    fputs("  allocated\n", out);
    if (stats.unplaced_buffers > 0) {
        tts_replay_text_bytes(out, "not placed", stats.unplaced_bytes);
        fprintf(out, "  in %" PRIu64 " buffer%s, counted only\n", stats.unplaced_buffers,
                stats.unplaced_buffers == 1 ? "" : "s");
    }
    tts_replay_text_bytes(out, "free", stats.space.free_bytes);
    fputc('\n', out);
    tts_replay_text_bytes(out, "largest free", stats.space.largest_free_bytes);
    fputc('\n', out);
    tts_replay_text_fragmentation(out, &stats.space);
    tts_replay_text_bytes(out, "peak", stats.peak_bytes);
    if (run->counts.peak_line[pool] > 0)
        fprintf(out, "  at line %" PRIu64, run->counts.peak_line[pool]);
    fputc('\n', out);
}

/* Where circular buffers and L1 buffers came nearest to each other. */
static void print_tight(const struct tts_devseq_tight *tight, FILE *out)
{
    if (tight->line == 0)
        return;
    fprintf(out,
            "least room of a core at a run: line %" PRIu64 ", program %" PRIu64
            ", core %u-%u\n",
            tight->line, tight->program_id, tight->core.x, tight->core.y);
    tts_replay_text_bytes(out, "in use", tight->room.cb_bytes);
    fputs("  circular buffers\n", out);
    tts_replay_text_bytes(out, "region end", tight->room.region_end);
    fputs("  address in L1\n", out);
    tts_replay_text_bytes(out, "ceiling", tight->room.ceiling);
    fputs("  lowest L1 buffer, L1_SMALL or end of L1\n", out);
    if (tight->room.excess_bytes > 0)
        tts_replay_text_bytes(out, "missing", tight->room.excess_bytes);
    else
        tts_replay_text_bytes(out, "free between", tight->room.free_bytes);
    fputc('\n', out);
}

static void print_counts(const struct tts_devseq_counts *counts, FILE *out)
{
    uint64_t failed = counts->buffers_failed;
    tts_replay_text_count(out, "statements", counts->operations);
    fputs("\n", out);
    tts_replay_text_count(out, "buffers",
                          counts->buffers_ok + counts->buffers_not_placed +
                              counts->buffers_below_limit + failed);
    fprintf(out,
            "    %" PRIu64 " ok, %" PRIu64 " failed (%" PRIu64 " by fragmentation), %" PRIu64
            " below the limit, %" PRIu64 " not placed\n",
            counts->buffers_ok, failed, counts->fragmented, counts->buffers_below_limit,
            counts->buffers_not_placed);
    tts_replay_text_count(out, "frees", counts->frees_ok + counts->frees_ignored);
    fprintf(out, "    %" PRIu64 " ok, %" PRIu64 " ignored\n", counts->frees_ok,
            counts->frees_ignored);
    tts_replay_text_count(out, "programs", counts->programs);
    fprintf(out, "    %" PRIu64 " circular buffers; run: %" PRIu64 " ok, %" PRIu64 " failed\n",
            counts->cbs, counts->runs_ok, counts->runs_failed);
    tts_replay_text_count(out, "queries", counts->queries);
    fputs("\n", out);
}

void tts_replay_device_stats(const struct tts_devseq_run *run, FILE *out)
{
    char text[TTS_FAILURE_TEXT_MAX];
    const struct tts_failure *first = tts_device_first_failure(run->device);
    for (int pool = 0; pool < TTS_POOLS; pool++)
        print_pool(run, (enum tts_pool)pool, out);
    print_tight(&run->tight, out);
    fprintf(out, "run on %s\n", tts_device_chip(run->device)->name);
    print_counts(&run->counts, out);
    if (first) {
        fprintf(out, "first failure, at line %" PRIu64 "\n", run->counts.first_failure_line);
        tts_say_sentence(out, "  ", tts_failure_text(first, text));
    }
    if (first && tts_failure_deficit_is_known(first))
        fprintf(out, "  missing: %" PRIu64 " B\n", tts_failure_deficit(first));
}
