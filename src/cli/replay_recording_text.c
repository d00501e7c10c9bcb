#include "base/number.h"
#include "cli/replay_parts.h"
#include "cli/replay_recording.h"
#include "model/devicename.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>

enum { OP_COLUMNS = 26, COUNTS_COLUMN = 36 };

/* --- the first failure ------------------------------------------------------------------ */

static const char *safe(char out[OP_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1], const char *op)
{
    tts_safe_text(out, OP_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1, op ? op : "-", OP_COLUMNS);
    return out;
}

static void print_lived(const struct tts_whatif_failure *failure, FILE *out)
{
    char op[OP_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    fprintf(out, "  %" PRIu64 " buffer%s lived in %s then, %" PRIu64 " B of each bank%s\n",
            failure->live, tts_say_plural(failure->live), tts_pool_name(failure->pool),
            failure->live_bytes, failure->live > 0 ? "; the largest:" : "");
    if (failure->live > 0)
        fprintf(out, "  %14s %13s %10s %10s  %s\n", "bytes per bank", "size", "event", "id",
                "op");
    for (size_t i = 0; i < failure->top_count; i++) {
        const struct tts_whatif_live *live = &failure->top[i];
        fprintf(out, "  %14" PRIu64 " %13" PRIu64 " %10" PRIu64 " %10" PRIu64 "  %s%s\n",
                live->block_bytes, live->size_bytes, live->seq, live->id, safe(op, live->op),
                live->is_placed ? "" : " (not placed)");
    }
}

static void print_first(const struct tts_replay_answer *answer, FILE *out)
{
    const struct tts_whatif_failure *failure = tts_whatif_first(answer->whatif);
    uint64_t time_ns = tts_replay_recording_time(answer, failure);
    char text[TTS_FAILURE_TEXT_MAX], op[OP_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    char name[TTS_DEVICENAME_MAX];
    bool is_program = failure->kind == TTS_WHATIF_PROGRAM;
    bool is_refusal = is_program || failure->kind == TTS_WHATIF_REFUSED;
    fprintf(out, "\nfirst failure: event %" PRIu64, failure->seq);
    if (failure->has_time)
        fprintf(out, ", at %" PRIu64 ".%06" PRIu64 " s", time_ns / 1000000000,
                time_ns / 1000 % 1000000);
    fprintf(out, ", %s", tts_devicename(failure->device, name));
    if (failure->op)
        fprintf(out, ", in %s", safe(op, failure->op));
    if (is_program)
        fputs("\n  the circular buffers of a program\n", out);
    else if (failure->id == TTS_WHATIF_NO_ID)
        fprintf(out, "\n  a request of %" PRIu64 " B in %s, refused when it was recorded too\n",
                failure->size_bytes, tts_pool_name(failure->pool));
    else
        fprintf(out, "\n  buffer %" PRIu64 " of %" PRIu64 " B in %s\n", failure->id,
                failure->size_bytes, tts_pool_name(failure->pool));
    tts_say_sentence(out, "  ", tts_whatif_failure_text(failure, text));
    if (is_refusal && tts_failure_deficit_is_known(&failure->failure))
        fprintf(out, "  missing: %" PRIu64 " B%s\n", tts_failure_deficit(&failure->failure),
                failure->failure.kind == TTS_FAILURE_SPACE ? " of each bank" : "");
    print_lived(failure, out);
}

/* --- pools ------------------------------------------------------------------------------ */

/* "101.3 %": it may be more than there is. */
static void print_share(uint64_t part, uint64_t whole, FILE *out)
{
    if (whole == 0 || part > UINT64_MAX / 1000) {
        fprintf(out, " %8s", "-");
        return;
    }
    uint64_t tenths = part * 1000 / whole;
    fprintf(out, " %4" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

/* Before a figure that the missing end of the recording can only raise. */
static const char *at_least(const struct tts_replay_answer *answer)
{
    return answer->missing.is_beginning ? "at least " : "";
}

static void print_pool(const struct tts_replay_answer *answer, enum tts_pool kind,
                       const struct tts_whatif_pool *pool, FILE *out)
{
    const char *name = tts_pool_name(kind);
    const char *least = at_least(answer);
    if (tts_replay_recording_is_unknown(answer, kind)) {
        fprintf(out, "  %-9s %5" PRIu32 " %15" PRIu64 " %15s\n", name, pool->layout.banks,
                pool->layout.bank_bytes, "unknown");
        return;
    }
    int event_columns = answer->missing.is_beginning ? 8 : 12;
    fprintf(out, "  %-9s %5" PRIu32 " %*" PRIu64 " %s%*" PRIu64, name, pool->layout.banks,
            answer->missing.is_beginning ? 14 : 15, pool->layout.bank_bytes, least,
            answer->missing.is_beginning ? 11 : 15, pool->stats.peak_bytes);
    print_share(pool->stats.peak_bytes, pool->layout.bank_bytes, out);
    if (pool->peak_seq > 0)
        fprintf(out, " %*" PRIu64, event_columns, pool->peak_seq);
    else
        fprintf(out, " %*s", event_columns, "-");
    if (pool->failures == 0)
        fputs(answer->missing.is_beginning ? "  so far\n" : "  yes\n", out);
    else if (pool->deficit_bytes > 0)
        fprintf(out,
                "  no\n%12s%s%" PRIu64 " failed, %s%" PRIu64 " B missing at event %" PRIu64
                "\n",
                "", least, pool->failures, least, pool->deficit_bytes, pool->deficit_seq);
    else
        fprintf(out, "  no\n%12s%s%" PRIu64 " failed\n", "", least, pool->failures);
}

static void print_pools(const struct tts_replay_answer *answer, FILE *out)
{
    const struct tts_whatif *whatif = answer->whatif;
    size_t devices = tts_whatif_devices(whatif);
    struct tts_whatif_pool one;
    char name[TTS_DEVICENAME_MAX];
    if (answer->missing.is_beginning)
        fprintf(out, "\n  %-9s %5s %14s %20s %8s %8s  %s\n", "pool", "banks", "bytes per bank",
                "peak per bank", "", "at event", "fits");
    else
        fprintf(out, "\n  %-9s %5s %15s %15s %8s %12s  %s\n", "pool", "banks", "bytes per bank",
                "peak per bank", "", "at event", "fits");
    for (size_t i = 0; i < devices; i++) {
        if (devices > 1)
            fprintf(out, "%s\n", tts_devicename(tts_whatif_device_id(whatif, i), name));
        for (int pool = 0; pool < TTS_POOLS; pool++)
            if (tts_whatif_get_pool(whatif, i, (enum tts_pool)pool, &one))
                print_pool(answer, (enum tts_pool)pool, &one, out);
    }
}

static void print_smallest(const struct tts_replay_answer *answer, FILE *out)
{
    struct tts_whatif_pool dram;
    char of_all[TTS_NUMBER_BYTES_MAX], own[TTS_NUMBER_BYTES_MAX];
    const struct tts_whatif_found *found = &answer->found;
    const char *least = at_least(answer);
    if (!answer->has_search || !tts_whatif_get_worst(answer->whatif, TTS_POOL_DRAM, &dram))
        return;
    if (!found->found) {
        fputs("\nno size of DRAM banks passes\n", out);
        return;
    }
    uint64_t banks = dram.layout.banks;
    fprintf(out,
            "\nsmallest DRAM that passes: %s%" PRIu64 " B per bank,%s%s%s in %" PRIu64
            " banks\n  '%s' has %" PRIu64 " B per bank, %s\n",
            least, found->bank_bytes, *least ? "\n  " : " ", least,
            tts_number_format_bytes(of_all, found->bank_bytes * banks), banks,
            answer->chip->name, dram.layout.bank_bytes,
            tts_number_format_bytes(own, dram.layout.bank_bytes * banks));
    if (found->is_least)
        fputs("  it is the peak itself, less cannot do", out);
    else
        fprintf(out,
                "  found by bisection in %u runs, from the peak of %s%" PRIu64
                " B up;\n  a smaller one may pass by luck",
                found->runs, least, answer->low_bytes);
    fputc('\n', out);
    if (answer->region_count == 0)
        fprintf(out, "  as an option%s: --set dram_bank_size=%" PRIu64 "\n",
                *least ? ", at least" : "", answer->bank_size);
}

/* A region that the device was not given, or too little of it. */
static void print_regions(const struct tts_replay_answer *answer, FILE *out)
{
    const char *least = at_least(answer);
    uint64_t failures = answer->region_failures;
    if (answer->region_count == 0)
        return;
    fprintf(out, "\nas an option%s:", *least ? ", at least" : "");
    for (size_t i = 0; i < answer->region_count; i++)
        fprintf(out, " --set %s=%" PRIu64, answer->regions[i].key, answer->regions[i].bytes);
    fputc('\n', out);
    for (size_t i = 0; i < answer->region_count; i++) {
        static const char *const needs[TTS_POOLS] = {
            [TTS_POOL_DRAM] = "a bank of DRAM needs",
            [TTS_POOL_L1_SMALL] = "L1_SMALL of each core needs",
            [TTS_POOL_TRACE] = "the trace region needs"};
        const struct tts_replay_region *region = &answer->regions[i];
        fprintf(out, "  %s %s%" PRIu64 " B, '%s' has %" PRIu64 " B\n", needs[region->pool],
                least, region->bytes, answer->chip->name, region->own_bytes);
    }
    if (!answer->regions_are_run)
        fputs("  not tried: what comes through a pipe is read once\n", out);
    else if (failures > 0)
        fprintf(out, "  with it %" PRIu64 " allocation%s or program%s still fail%s\n", failures,
                tts_say_plural(failures), tts_say_plural(failures), failures == 1 ? "s" : "");
    else
        fputs(answer->missing.count > 0 ? "  with it all that was read fits\n"
                                        : "  with it everything fits\n",
              out);
}

/* --- what else there is to say ---------------------------------------------------------- */

static void note(FILE *out, uint64_t count, const char *one, const char *many)
{
    if (count > 0)
        fprintf(out, "note: %" PRIu64 " %s\n", count, count == 1 ? one : many);
}

static void print_notes(const struct tts_whatif_counts *counts, FILE *out)
{
    if (counts->unknown_pages > 0)
        fprintf(out,
                "note: the page size of %" PRIu64 " buffer%s is not known: taken as 2048\n",
                counts->unknown_pages, tts_say_plural(counts->unknown_pages));
    note(out, counts->padded, "buffer has a last page that is not full: it counts as full",
         "buffers have a last page that is not full: it counts as full");
    note(out, counts->failed_cores,
         "buffer needs more cores or banks than there are: not in the figures",
         "buffers need more cores or banks than there are: not in the figures");
    note(out, counts->failed_requests,
         "buffer cannot be asked for on this device: not in the figures",
         "buffers cannot be asked for on this device: not in the figures");
    note(out, counts->no_pool, "buffer was not run: its pool is not known of this device",
         "buffers were not run: their pool is not known of this device");
    note(out, counts->single_core, "buffer of single cores was not run",
         "buffers of single cores were not run");
    note(out, counts->unchecked,
         "program was not checked: its CBs cannot be laid out on this grid",
         "programs were not checked: their CBs cannot be laid out on this grid");
    note(out, counts->other_parts, "dataflow buffer or scratchpad was not checked",
         "dataflow buffers and scratchpads were not checked");
    note(out, counts->retried,
         "request was refused when it was recorded: tried, and given back at once",
         "requests were refused when it was recorded: tried, given back at once");
    note(out, counts->refused - counts->retried,
         "request was refused when it was recorded: it was not run",
         "requests were refused when it was recorded: they were not run");
    note(out, counts->earlier, "buffer lived before the first event: it was placed first",
         "buffers lived before the first event: placed first, the oldest first");
}

static void print_counts(const struct tts_whatif_counts *counts, FILE *out)
{
    fputc('\n', out);
    tts_replay_text_count(out, "events", counts->events);
    fputc('\n', out);
    tts_replay_text_count(out, "allocations", counts->allocations);
    fprintf(out,
            "    %" PRIu64 " refused (%" PRIu64 " by fragmentation),\n%*s%" PRIu64
            " need more cores, %" PRIu64 " cannot be\n",
            counts->failed_buffers, counts->fragmented, COUNTS_COLUMN, "", counts->failed_cores,
            counts->failed_requests);
    tts_replay_text_count(out, "frees", counts->frees);
    fprintf(out, "    %" PRIu64 " of buffers that are not known\n", counts->unknown_frees);
    tts_replay_text_count(out, "programs", counts->programs);
    fprintf(out, "    %" PRIu64 " failed, %" PRIu64 " not checked\n", counts->failed_programs,
            counts->unchecked);
}

static void print_end(const struct tts_replay_answer *answer, FILE *out)
{
    const struct tts_whatif *whatif = answer->whatif;
    struct tts_whatif_pool one;
    char name[TTS_DEVICENAME_MAX];
    for (size_t i = 0; i < tts_whatif_devices(whatif); i++)
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            if (!tts_whatif_get_pool(whatif, i, (enum tts_pool)pool, &one))
                continue;
            fprintf(out, "%s of %s at %s, per bank\n", tts_pool_name((enum tts_pool)pool),
                    tts_devicename(tts_whatif_device_id(whatif, i), name),
                    answer->missing.is_beginning ? "the last recorded event" : "the end");
            tts_replay_text_bytes(out, "allocated", one.stats.space.taken_bytes);
            fprintf(out, "  in %" PRIu64 " buffer%s\n",
                    one.stats.buffers - one.stats.unplaced_buffers,
                    tts_say_plural(one.stats.buffers - one.stats.unplaced_buffers));
            tts_replay_text_bytes(out, "not placed", one.stats.unplaced_bytes);
            fputc('\n', out);
            tts_replay_text_bytes(out, "free", one.stats.space.free_bytes);
            fputc('\n', out);
            tts_replay_text_bytes(out, "largest free", one.stats.space.largest_free_bytes);
            fputc('\n', out);
            tts_replay_text_fragmentation(out, &one.stats.space);
        }
}

static void print_verdict(const struct tts_replay_answer *answer,
                          const struct tts_whatif_counts *counts, FILE *out)
{
    const char *least = at_least(answer);
    uint64_t failures = tts_whatif_failures(answer->whatif);
    uint64_t buffers = failures - counts->failed_programs;
    bool is_stopped = answer->missing.is_stopped;
    if (failures > 0)
        fprintf(out,
                "does not fit: %s%" PRIu64 " allocation%s and %" PRIu64
                " program%s fail, %" PRIu64 " after the first\n",
                least, buffers, tts_say_plural(buffers), counts->failed_programs,
                tts_say_plural(counts->failed_programs), failures - 1);
    else if (is_stopped && tts_whatif_left_out(answer->whatif) == 0)
        fprintf(out, "the %" PRIu64 " recorded event%s; the program stopped there\n",
                counts->events, counts->events == 1 ? " fits" : "s fit");
    else if (is_stopped)
        fputs("all that could be run fits; the program stopped there\n", out);
    else if (counts->events == 0 && counts->earlier == 0)
        fputs("nothing to run: the file has no event\n", out);
    else if (answer->before > 0 && answer->missing.count == 0 &&
             tts_whatif_left_out(answer->whatif) == 0)
        fprintf(out, "the %" PRIu64 " recorded event%s; the %" PRIu64 " before %s unknown\n",
                counts->events, counts->events == 1 ? " fits" : "s fit", answer->before,
                answer->before == 1 ? "is" : "are");
    else if (tts_replay_recording_fits(answer))
        fputs("everything fits\n", out);
    else
        fputs("all that could be read and run fits\n", out);
}

void tts_replay_recording_text(const struct tts_replay_answer *answer, FILE *out)
{
    struct tts_whatif_counts counts;
    tts_whatif_get_counts(answer->whatif, &counts);
    fprintf(
        out, "on %s: %" PRIu64 " event%s, %" PRIu64 " allocation%s, %" PRIu64 " program%s\n",
        answer->chip->name, counts.events, tts_say_plural(counts.events), counts.allocations,
        tts_say_plural(counts.allocations), counts.programs, tts_say_plural(counts.programs));
    print_verdict(answer, &counts, out);
    if (tts_whatif_first(answer->whatif))
        print_first(answer, out);
    if (tts_whatif_devices(answer->whatif) > 0)
        print_pools(answer, out);
    print_smallest(answer, out);
    print_regions(answer, out);
    if (answer->options->stats) {
        print_counts(&counts, out);
        print_end(answer, out);
    }
    if (answer->is_dram_only)
        fputs("note: L1 is unknown: the recorded run models DRAM only\n", out);
    note(out, answer->before, "event was before the first of the file: it was not run",
         "events were before the first of the file: they were not run");
    print_notes(&counts, out);
}
