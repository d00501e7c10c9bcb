#include "base/number.h"
#include "cli/replay_device.h"
#include "views/percent.h"

#include <inttypes.h>

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

static void print_pool(const struct tts_devseq_run *run, enum tts_pool pool, FILE *out)
{
    struct tts_pool_stats stats;
    const struct tts_pool_layout *layout = tts_device_layout(run->device, pool);
    if (!layout || !tts_device_stats(run->device, pool, &stats))
        return;
    fprintf(out, "%s, %" PRIu32 " banks; per bank\n", tts_pool_name(pool), layout->banks);
    print_bytes(out, "total", stats.space.total_bytes);
    fputc('\n', out);
    print_bytes(out, "allocated", stats.space.taken_bytes);
    fprintf(out, "  in %" PRIu64 " buffer%s\n", stats.buffers - stats.unplaced_buffers,
            stats.buffers - stats.unplaced_buffers == 1 ? "" : "s");
    if (stats.unplaced_buffers > 0) {
        print_bytes(out, "not placed", stats.unplaced_bytes);
        fprintf(out, "  in %" PRIu64 " buffer%s, counted only\n", stats.unplaced_buffers,
                stats.unplaced_buffers == 1 ? "" : "s");
    }
    print_bytes(out, "free", stats.space.free_bytes);
    fputc('\n', out);
    print_bytes(out, "largest free", stats.space.largest_free_bytes);
    fputc('\n', out);
    print_fragmentation(out, &stats.space);
    print_bytes(out, "peak", stats.peak_bytes);
    if (run->counts.peak_line[pool] > 0)
        fprintf(out, "  at line %" PRIu64, run->counts.peak_line[pool]);
    fputc('\n', out);
}

/* The program that is laid out last. */
static void print_cores(const struct tts_devseq_run *run, FILE *out)
{
    struct tts_core_room room;
    const struct tts_cbs *cbs = tts_device_cbs(run->device);
    if (!cbs)
        return;
    struct tts_cbs_floor floor = tts_device_floor(run->device);
    struct tts_core core = tts_cbs_tightest(cbs, &floor, &room);
    fprintf(out,
            "circular buffers of program %" PRIu64 " on the core with the least room, %u-%u\n",
            tts_cbs_program(cbs), core.x, core.y);
    print_bytes(out, "in use", room.cb_bytes);
    fputc('\n', out);
    print_bytes(out, "region end", room.region_end);
    fputs("  address in L1\n", out);
    print_bytes(out, "ceiling", room.ceiling);
    fprintf(out, "  %s\n",
            floor.known ? "lowest L1 buffer" : "no L1 buffer below the end of L1");
    if (room.excess_bytes > 0)
        print_bytes(out, "missing", room.excess_bytes);
    else
        print_bytes(out, "really free", room.free_bytes);
    fputc('\n', out);
}

static void print_count(FILE *out, const char *name, uint64_t count, const char *rest)
{
    fprintf(out, "  %-14s %15" PRIu64 "%s", name, count, rest);
}

static void print_counts(const struct tts_devseq_counts *counts, FILE *out)
{
    uint64_t failed = counts->buffers_failed;
    print_count(out, "statements", counts->operations, "\n");
    print_count(out, "buffers",
                counts->buffers_ok + counts->buffers_not_placed + counts->buffers_below_limit +
                    failed,
                "    ");
    fprintf(out,
            "%" PRIu64 " ok, %" PRIu64 " failed (%" PRIu64 " by fragmentation), %" PRIu64
            " below the limit, %" PRIu64 " not placed\n",
            counts->buffers_ok, failed, counts->fragmented, counts->buffers_below_limit,
            counts->buffers_not_placed);
    print_count(out, "frees", counts->frees_ok + counts->frees_ignored, "    ");
    fprintf(out, "%" PRIu64 " ok, %" PRIu64 " ignored\n", counts->frees_ok,
            counts->frees_ignored);
    print_count(out, "programs", counts->programs, "    ");
    fprintf(out, "%" PRIu64 " circular buffers; run: %" PRIu64 " ok, %" PRIu64 " failed\n",
            counts->cbs, counts->runs_ok, counts->runs_failed);
    print_count(out, "queries", counts->queries, "\n");
}

void tts_replay_device_stats(const struct tts_devseq_run *run, FILE *out)
{
    char text[TTS_FAILURE_TEXT_MAX];
    const struct tts_failure *first = tts_device_first_failure(run->device);
    for (int pool = 0; pool < TTS_POOLS; pool++)
        print_pool(run, (enum tts_pool)pool, out);
    print_cores(run, out);
    fputs("run\n", out);
    print_counts(&run->counts, out);
    if (first)
        fprintf(out, "first failure, at line %" PRIu64 "\n  %s\n  missing: %" PRIu64 " B\n",
                run->counts.first_failure_line, tts_failure_text(first, text),
                tts_failure_deficit(first));
}
