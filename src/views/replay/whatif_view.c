#include "views/replay/whatif_view.h"

#include "base/number.h"
#include "model/devicename.h"
#include "views/partial_json.h"
#include "views/replay/replay_view.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>

enum { OP_COLUMNS = 26, COUNTS_COLUMN = 36 };

/* Returns true if the use of the pool is unknown: L1 in a run that models only DRAM. */
static bool pool_is_unknown(const struct tts_whatif_answer *answer, enum tts_pool pool)
{
    return answer->is_dram_only && (pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL);
}

/* Returns the time of the failure, from the start of the recording. */
static uint64_t failure_time(const struct tts_whatif_answer *answer,
                             const struct tts_whatif_failure *failure)
{
    return failure->time_ns > answer->start_ns ? failure->time_ns - answer->start_ns : 0;
}
/* --- text: the first failure ------------------------------------------------------------ */

static const char *safe(char out[OP_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1], const char *op)
{
    tts_safe_text(out, OP_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1, op ? op : "-", OP_COLUMNS);
    return out;
}

static void print_lived(const struct tts_whatif_failure *failure, FILE *out)
{
    char op[OP_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    fprintf(out,
            "  %" PRIu64 " live buffer%s in %s at that time, %" PRIu64 " B in each bank%s\n",
            failure->live, tts_say_plural(failure->live), tts_pool_name(failure->pool),
            failure->live_bytes, failure->live > 0 ? "; the largest:" : "");
    if (failure->live > 0)
        fprintf(out, "  %14s %13s %10s %10s  %s\n", "bytes per bank", "size", "event", "id",
                "operation");
    for (size_t i = 0; i < failure->top_count; i++) {
        const struct tts_whatif_live *live = &failure->top[i];
        fprintf(out, "  %14" PRIu64 " %13" PRIu64 " %10" PRIu64 " %10" PRIu64 "  %s%s\n",
                live->block_bytes, live->size_bytes, live->seq, live->id, safe(op, live->op),
                live->is_placed ? "" : " (not placed)");
    }
}

static void print_first(const struct tts_whatif_answer *answer, FILE *out)
{
    const struct tts_whatif_failure *failure = tts_whatif_first(answer->whatif);
    uint64_t time_ns = failure_time(answer, failure);
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
        fprintf(out,
                "\n  a request of %" PRIu64 " B in %s, which failed in the original run too\n",
                failure->size_bytes, tts_pool_name(failure->pool));
    else
        fprintf(out, "\n  buffer %" PRIu64 " of %" PRIu64 " B in %s\n", failure->id,
                failure->size_bytes, tts_pool_name(failure->pool));
    tts_say_sentence(out, "  ", tts_whatif_failure_text(failure, text));
    if (is_refusal)
        tts_replay_text_missing(out, "  ", &failure->failure,
                                failure->failure.kind == TTS_FAILURE_SPACE ? " in each bank"
                                                                           : "");
    print_lived(failure, out);
}

/* --- text: pools ------------------------------------------------------------------------ */

/* Prints a percentage, such as "101.3 %", rounded. It can be more than 100 %. */
static void print_share(uint64_t part, uint64_t whole, FILE *out)
{
    if (whole == 0 || part > UINT64_MAX / 1000) {
        fprintf(out, " %8s", "-");
        return;
    }
    uint64_t tenths = part * 1000 / whole, rest = part * 1000 % whole;
    tenths += rest >= whole - rest;
    /* Only a full pool is 100.0 %: rounding must not make a pool look full or just enough. */
    if (tenths == 1000 && part != whole)
        tenths = part < whole ? 999 : 1001;
    fprintf(out, " %4" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

/* Returns the words before a figure that the missing rest of a recording could increase. */
static const char *at_least(const struct tts_whatif_answer *answer)
{
    return answer->missing.is_beginning ? "at least " : "";
}

static void print_recording_pool(const struct tts_whatif_answer *answer, enum tts_pool kind,
                                 const struct tts_whatif_pool *pool, FILE *out)
{
    const char *name = tts_pool_name(kind);
    const char *least = at_least(answer);
    if (pool_is_unknown(answer, kind)) {
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
    else
        fputs("  no\n", out);
    if (pool->deficit_bytes > 0)
        tts_say(out, 4,
                "%s%" PRIu64 " request%s failed; the largest shortage is %s%" PRIu64
                " B, at event %" PRIu64,
                least, pool->failures, tts_say_plural(pool->failures), least,
                pool->deficit_bytes, pool->deficit_seq);
    else if (pool->failures > 0)
        tts_say(out, 4, "%s%" PRIu64 " request%s failed", least, pool->failures,
                tts_say_plural(pool->failures));
}

static void print_recording_pools(const struct tts_whatif_answer *answer, FILE *out)
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
                print_recording_pool(answer, (enum tts_pool)pool, &one, out);
    }
}

/* Says why no size of the DRAM banks is enough. */
static void print_no_size(const struct tts_whatif_answer *answer, FILE *out)
{
    struct tts_whatif_region trace;
    bool by_trace = answer->chip->fact[TTS_FACT_TRACE_REGION].value == 0 &&
                    tts_whatif_get_region(answer->whatif, TTS_POOL_TRACE, &trace);
    fputc('\n', out);
    if (by_trace)
        tts_say(out, 0,
                "no DRAM bank size up to 32" TTS_SAY_GLUE "GiB is enough: '%s' has no trace "
                "region, so traces are placed in DRAM, where they overlap other buffers",
                answer->chip->name);
    else
        tts_say(out, 0,
                "no DRAM bank size up to 32" TTS_SAY_GLUE "GiB, the largest size that is "
                "tried, is enough");
}

static void print_smallest(const struct tts_whatif_answer *answer, FILE *out)
{
    struct tts_whatif_pool dram;
    char of_all[TTS_NUMBER_BYTES_MAX], own[TTS_NUMBER_BYTES_MAX];
    const struct tts_whatif_found *found = &answer->found;
    const char *least = at_least(answer);
    if (!answer->has_search || !tts_whatif_get_worst(answer->whatif, TTS_POOL_DRAM, &dram))
        return;
    if (!found->found) {
        print_no_size(answer, out);
        return;
    }
    uint64_t banks = dram.layout.banks;
    fprintf(out,
            "\nsmallest DRAM that is enough: %s%" PRIu64 " B per bank,%s%s%s in %" PRIu64
            " banks\n  '%s' has %" PRIu64 " B per bank, %s\n",
            least, found->bank_bytes, *least ? "\n  " : " ", least,
            tts_number_format_bytes(of_all, found->bank_bytes * banks), banks,
            answer->chip->name, dram.layout.bank_bytes,
            tts_number_format_bytes(own, dram.layout.bank_bytes * banks));
    if (found->is_least)
        fputs("  this is the peak per bank, so no smaller size is enough\n", out);
    else
        fprintf(out,
                "  found by bisection in %u runs, starting at the peak of %s%" PRIu64
                " B;\n  a smaller size may be enough too\n",
                found->runs, least, answer->low_bytes);
    if (answer->regions.count == 0)
        tts_say(out, 2,
                "a device with this DRAM: --set" TTS_SAY_GLUE "dram_bank_size=%" PRIu64
                "%s (the value includes the reserved part of a bank)",
                answer->bank_size, *least ? " or more" : "");
}

/* Prints the regions that the device lacks or that are too small. */
static void print_regions(const struct tts_whatif_answer *answer, FILE *out)
{
    const char *least = at_least(answer);
    uint64_t failures = answer->regions.failures;
    if (answer->regions.count == 0)
        return;
    fputs(*least ? "\nsizes to set, at least:" : "\nsizes to set:", out);
    for (size_t i = 0; i < answer->regions.count; i++)
        fprintf(out, " --set %s=%" PRIu64, answer->regions.need[i].key,
                answer->regions.need[i].bytes);
    fputc('\n', out);
    for (size_t i = 0; i < answer->regions.count; i++) {
        static const char *const needs[TTS_POOLS] = {
            [TTS_POOL_DRAM] = "a DRAM bank needs",
            [TTS_POOL_L1_SMALL] = "L1_SMALL of each core needs",
            [TTS_POOL_TRACE] = "the trace region needs"};
        const struct tts_whatif_need *region = &answer->regions.need[i];
        bool is_dram = region->pool == TTS_POOL_DRAM;
        tts_say(out, 2, "%s %s%" PRIu64 " B; '%s' has %" PRIu64 " B%s", needs[region->pool],
                least, region->bytes, answer->chip->name, region->own_bytes,
                is_dram ? " (both values include the reserved part of a bank)" : "");
    }
    if (answer->regions.impossible[0])
        tts_say(out, 2, "not run with these sizes, because no device can have them: %s",
                answer->regions.impossible);
    else if (!answer->regions.are_run)
        fputs("  not run with these sizes, because a pipe can be read only once\n", out);
    else if (failures > 0)
        fprintf(out, "  with these sizes %" PRIu64 " allocation%s or program%s still fail%s\n",
                failures, tts_say_plural(failures), tts_say_plural(failures),
                failures == 1 ? "s" : "");
    else
        fputs(answer->missing.count > 0 ? "  with these sizes all events that were read fit\n"
                                        : "  with these sizes everything fits\n",
              out);
}

/* --- text: counts and notes ------------------------------------------------------------- */

static void print_count_note(FILE *out, uint64_t count, const char *one, const char *many)
{
    if (count > 0)
        tts_say(out, 0, "note: %" PRIu64 " %s", count, count == 1 ? one : many);
}

static void print_notes(const struct tts_whatif_counts *counts, FILE *out)
{
    if (counts->unknown_pages > 0)
        fprintf(out,
                "note: the page size of %" PRIu64 " buffer%s is unknown; 2048 B is assumed\n",
                counts->unknown_pages, tts_say_plural(counts->unknown_pages));
    print_count_note(out, counts->padded,
                     "buffer has a partly filled last page, which counts as a full page",
                     "buffers have a partly filled last page, which counts as a full page");
    print_count_note(out, counts->failed_cores,
                     "buffer needs more cores or banks than the device has: the allocation "
                     "fails, and the figures of the pools do not include the buffer",
                     "buffers need more cores or banks than the device has: these allocations "
                     "fail, and the figures of the pools do not include the buffers");
    print_count_note(out, counts->failed_requests,
                     "request is not possible on this device: the allocation fails, and the "
                     "figures of the pools do not include the request",
                     "requests are not possible on this device: these allocations fail, and "
                     "the figures of the pools do not include the requests");
    print_count_note(out, counts->no_pool,
                     "buffer was skipped: the size of its pool is unknown on this device",
                     "buffers were skipped: the size of their pool is unknown on this device");
    print_count_note(
        out, counts->single_core,
        "buffer was skipped: it was allocated on single cores, which is not modelled",
        "buffers were skipped: they were allocated on single cores, which is not modelled");
    print_count_note(out, counts->unchecked,
                     "program was not checked: it has circular buffers on cores that this "
                     "device does not have",
                     "programs were not checked: they have circular buffers on cores that this "
                     "device does not have");
    print_count_note(
        out, counts->other_parts,
        "dataflow buffer or scratchpad was not checked: ttscope does not model its place in L1",
        "dataflow buffers and scratchpads were not checked: ttscope does not model their "
        "places in L1");
    print_count_note(
        out, counts->retried,
        "request failed in the original run; it was retried here and freed at once",
        "requests failed in the original run; they were retried here and freed at once");
    print_count_note(out, counts->refused - counts->retried,
                     "request failed in the original run and was skipped here",
                     "requests failed in the original run and were skipped here");
    print_count_note(
        out, counts->earlier, "buffer was live before the first event and was placed first",
        "buffers were live before the first event and were placed first, oldest first");
}

static void print_recording_counts(const struct tts_whatif_counts *counts, FILE *out)
{
    fputc('\n', out);
    tts_replay_text_count(out, "events", counts->events, NULL);
    tts_replay_text_count(out, "allocations", counts->allocations,
                          "%" PRIu64 " refused (%" PRIu64 " by fragmentation),\n%*s%" PRIu64
                          " need more cores or banks, %" PRIu64 " not possible",
                          counts->failed_buffers, counts->fragmented, COUNTS_COLUMN, "",
                          counts->failed_cores, counts->failed_requests);
    tts_replay_text_count(out, "frees", counts->frees, "%" PRIu64 " of unknown buffers",
                          counts->unknown_frees);
    tts_replay_text_count(out, "programs", counts->programs,
                          "%" PRIu64 " failed, %" PRIu64 " not checked",
                          counts->failed_programs, counts->unchecked);
}

static void print_recording_end(const struct tts_whatif_answer *answer, FILE *out)
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
            uint64_t placed = one.stats.buffers - one.stats.unplaced_buffers;
            tts_replay_text_bytes(out, "allocated", one.stats.space.taken_bytes,
                                  "in %" PRIu64 " buffer%s", placed, tts_say_plural(placed));
            tts_replay_text_bytes(out, "not placed", one.stats.unplaced_bytes, NULL);
            tts_replay_text_bytes(out, "free", one.stats.space.free_bytes, NULL);
            tts_replay_text_largest(out, &one.stats.space);
        }
}

static void print_recording_verdict(const struct tts_whatif_answer *answer,
                                    const struct tts_whatif_counts *counts, FILE *out)
{
    const char *least = at_least(answer);
    uint64_t failures = tts_whatif_failures(answer->whatif);
    uint64_t buffers = failures - counts->failed_programs;
    bool is_stopped = answer->missing.is_stopped;
    if (failures > 0)
        fprintf(out,
                "does not fit: %s%" PRIu64 " allocation%s and %" PRIu64 " program%s fail\n",
                least, buffers, tts_say_plural(buffers), counts->failed_programs,
                tts_say_plural(counts->failed_programs));
    else if (is_stopped && tts_whatif_left_out(answer->whatif) == 0)
        fprintf(out,
                "the %" PRIu64 " recorded event%s; the program stopped after the last event\n",
                counts->events, counts->events == 1 ? " fits" : "s fit");
    else if (is_stopped)
        fputs("everything that could be run fits; the program stopped after the last event\n",
              out);
    else if (counts->events == 0 && counts->earlier == 0)
        fputs("nothing to run: the file has no event\n", out);
    else if (answer->before > 0 && answer->missing.count == 0 &&
             tts_whatif_left_out(answer->whatif) == 0)
        fprintf(out,
                "the %" PRIu64 " recorded event%s; the %" PRIu64 " earlier event%s unknown\n",
                counts->events, counts->events == 1 ? " fits" : "s fit", answer->before,
                answer->before == 1 ? " is" : "s are");
    else if (tts_whatif_answer_fits(answer))
        fputs("everything fits\n", out);
    else
        fputs("everything that could be read and run fits\n", out);
}

void tts_whatif_text(const struct tts_whatif_answer *answer, bool with_counts, FILE *out)
{
    struct tts_whatif_counts counts;
    tts_whatif_get_counts(answer->whatif, &counts);
    fprintf(
        out, "on %s: %" PRIu64 " event%s, %" PRIu64 " allocation%s, %" PRIu64 " program%s\n",
        answer->chip->name, counts.events, tts_say_plural(counts.events), counts.allocations,
        tts_say_plural(counts.allocations), counts.programs, tts_say_plural(counts.programs));
    print_recording_verdict(answer, &counts, out);
    if (tts_whatif_first(answer->whatif))
        print_first(answer, out);
    if (tts_whatif_devices(answer->whatif) > 0)
        print_recording_pools(answer, out);
    print_smallest(answer, out);
    print_regions(answer, out);
    if (with_counts) {
        print_recording_counts(&counts, out);
        print_recording_end(answer, out);
    }
    if (answer->is_dram_only)
        fputs("note: L1: unknown (the recorded run models DRAM only)\n", out);
    print_count_note(out, answer->before, "event before the start of the file was not run",
                     "events before the start of the file were not run");
    print_notes(&counts, out);
}

/* --- JSON ------------------------------------------------------------------------------- */

static void put_recording_device(struct tts_json *json, uint32_t device)
{
    char name[TTS_DEVICENAME_MAX];
    tts_json_number(json, "device", device);
    tts_json_text(json, "device_name", tts_devicename(device, name));
}

static void put_recording_op(struct tts_json *json, const char *op)
{
    if (op)
        tts_json_text(json, "op", op);
    else
        tts_json_null(json, "op");
}

static void put_recording_counts(struct tts_json *json, const struct tts_whatif_counts *counts)
{
    tts_json_object(json, "counts");
    tts_json_number(json, "events", counts->events);
    tts_json_number(json, "allocations", counts->allocations);
    tts_json_number(json, "frees", counts->frees);
    tts_json_number(json, "programs", counts->programs);
    tts_json_number(json, "failed_buffers", counts->failed_buffers);
    tts_json_number(json, "failed_by_fragmentation", counts->fragmented);
    tts_json_number(json, "failed_cores", counts->failed_cores);
    tts_json_number(json, "failed_requests", counts->failed_requests);
    tts_json_number(json, "failed_programs", counts->failed_programs);
    tts_json_number(json, "unchecked_programs", counts->unchecked);
    tts_json_number(json, "unchecked_parts", counts->other_parts);
    tts_json_number(json, "unknown_pages", counts->unknown_pages);
    tts_json_number(json, "padded", counts->padded);
    tts_json_number(json, "unknown_frees", counts->unknown_frees);
    tts_json_number(json, "no_pool", counts->no_pool);
    tts_json_number(json, "single_core", counts->single_core);
    tts_json_number(json, "refused_when_recorded", counts->refused);
    tts_json_number(json, "refused_and_run", counts->retried);
    tts_json_number(json, "earlier", counts->earlier);
    tts_json_number(json, "missed", counts->missed);
    tts_json_object_end(json);
}

static void put_recording_live(struct tts_json *json, const struct tts_whatif_live *live)
{
    tts_json_object(json, NULL);
    tts_json_number(json, "id", live->id);
    tts_json_number(json, "event", live->seq);
    put_recording_op(json, live->op);
    tts_json_number(json, "size_bytes", live->size_bytes);
    tts_json_number(json, "block_bytes", live->block_bytes);
    tts_json_bool(json, "placed", live->is_placed);
    tts_json_object_end(json);
}

static const char *kind_name(const struct tts_whatif_failure *failure)
{
    static const char *const names[] = {[TTS_WHATIF_REFUSED] = "refused",
                                        [TTS_WHATIF_CORES] = "cores",
                                        [TTS_WHATIF_REQUEST] = "request",
                                        [TTS_WHATIF_PROGRAM] = "program"};
    return names[failure->kind];
}

static void put_first(struct tts_json *json, const struct tts_whatif_answer *answer)
{
    const struct tts_whatif_failure *failure = tts_whatif_first(answer->whatif);
    char text[TTS_FAILURE_TEXT_MAX];
    if (!failure) {
        tts_json_null(json, "first_failure");
        return;
    }
    bool is_program = failure->kind == TTS_WHATIF_PROGRAM;
    bool is_refusal = is_program || failure->kind == TTS_WHATIF_REFUSED;
    tts_json_object(json, "first_failure");
    tts_json_text(json, "kind", kind_name(failure));
    tts_json_number(json, "event", failure->seq);
    tts_json_number_or_null(json, "time_ns", failure->has_time, failure_time(answer, failure));
    put_recording_device(json, failure->device);
    put_recording_op(json, failure->op);
    tts_json_text(json, "pool", tts_pool_name(failure->pool));
    tts_json_number_or_null(json, "id", !is_program && failure->id != TTS_WHATIF_NO_ID,
                            failure->id);
    tts_json_number_or_null(json, "size_bytes", !is_program, failure->size_bytes);
    tts_json_text(json, "text", tts_whatif_failure_text(failure, text));
    tts_json_number_or_null(json, "deficit_bytes",
                            is_refusal && tts_failure_deficit_is_known(&failure->failure),
                            tts_failure_deficit(&failure->failure));
    tts_json_number(json, "live_buffers", failure->live);
    tts_json_number(json, "live_bytes", failure->live_bytes);
    tts_json_array(json, "live_largest");
    for (size_t i = 0; i < failure->top_count; i++)
        put_recording_live(json, &failure->top[i]);
    tts_json_array_end(json);
    tts_json_object_end(json);
}

static void put_recording_pool(struct tts_json *json, const struct tts_whatif_answer *answer,
                               enum tts_pool kind, const struct tts_whatif_pool *pool)
{
    bool is_unknown = pool_is_unknown(answer, kind);
    tts_json_object(json, NULL);
    tts_json_text(json, "pool", tts_pool_name(kind));
    tts_json_number(json, "banks", pool->layout.banks);
    tts_json_number(json, "bank_bytes", pool->layout.bank_bytes);
    tts_json_number_or_null(json, "peak_bytes", !is_unknown, pool->stats.peak_bytes);
    tts_json_number_or_null(json, "peak_event", pool->peak_seq > 0, pool->peak_seq);
    if (pool->failures == 0 && (is_unknown || answer->missing.is_beginning))
        tts_json_null(json, "fits"); /* fits so far, but some data is missing */
    else
        tts_json_bool(json, "fits", pool->failures == 0);
    tts_json_number(json, "failures", pool->failures);
    tts_json_number_or_null(json, "deficit_bytes",
                            pool->failures == 0 || pool->deficit_bytes > 0,
                            pool->deficit_bytes);
    tts_json_number_or_null(json, "deficit_event", pool->deficit_seq > 0, pool->deficit_seq);
    tts_json_number(json, "allocated_bytes", pool->stats.space.taken_bytes);
    tts_json_number(json, "free_bytes", pool->stats.space.free_bytes);
    tts_json_number(json, "largest_free_bytes", pool->stats.space.largest_free_bytes);
    tts_json_number(json, "not_placed_bytes", pool->stats.unplaced_bytes);
    tts_json_object_end(json);
}

static void put_devices(struct tts_json *json, const struct tts_whatif_answer *answer)
{
    const struct tts_whatif *whatif = answer->whatif;
    struct tts_whatif_pool one;
    tts_json_array(json, "devices");
    for (size_t i = 0; i < tts_whatif_devices(whatif); i++) {
        tts_json_object(json, NULL);
        put_recording_device(json, tts_whatif_device_id(whatif, i));
        tts_json_array(json, "pools");
        for (int pool = 0; pool < TTS_POOLS; pool++)
            if (tts_whatif_get_pool(whatif, i, (enum tts_pool)pool, &one))
                put_recording_pool(json, answer, (enum tts_pool)pool, &one);
        tts_json_array_end(json);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_smallest(struct tts_json *json, const struct tts_whatif_answer *answer)
{
    struct tts_whatif_pool dram;
    const struct tts_whatif_found *found = &answer->found;
    if (!answer->has_search || !tts_whatif_get_worst(answer->whatif, TTS_POOL_DRAM, &dram)) {
        tts_json_null(json, "smallest_dram");
        return;
    }
    uint64_t banks = dram.layout.banks;
    tts_json_object(json, "smallest_dram");
    tts_json_number_or_null(json, "bank_bytes", found->found, found->bank_bytes);
    tts_json_number_or_null(json, "device_bytes", found->found, found->bank_bytes * banks);
    tts_json_number_or_null(json, "dram_bank_size", found->found && answer->regions.count == 0,
                            answer->bank_size);
    tts_json_number(json, "own_bank_bytes", dram.layout.bank_bytes);
    tts_json_number(json, "own_device_bytes", dram.layout.bank_bytes * banks);
    tts_json_number(json, "lower_bound_bytes", answer->low_bytes);
    tts_json_bool(json, "is_lower_bound", found->is_least);
    tts_json_text(json, "method", "bisection");
    tts_json_number(json, "runs", found->runs);
    tts_json_object_end(json);
}

/* Writes the change that would make the recording fit: a list of regions, or nothing. */
static void put_suggestions(struct tts_json *json, const struct tts_whatif_answer *answer)
{
    char change[160] = "";
    size_t length = 0;
    tts_json_array(json, "suggestions");
    if (answer->regions.count > 0) {
        tts_json_object(json, NULL);
        for (size_t i = 0; i < answer->regions.count; i++)
            length += (size_t)snprintf(
                change + length, sizeof change - length, "%s--set %s=%" PRIu64,
                i > 0 ? " " : "", answer->regions.need[i].key, answer->regions.need[i].bytes);
        tts_json_text(json, "change", change);
        if (!answer->regions.are_run ||
            (answer->regions.failures == 0 && answer->missing.count))
            tts_json_null(json, "fits");
        else
            tts_json_bool(json, "fits", answer->regions.failures == 0);
        tts_json_number_or_null(json, "failures", answer->regions.are_run,
                                answer->regions.failures);
        tts_json_array(json, "regions");
        for (size_t i = 0; i < answer->regions.count; i++) {
            const struct tts_whatif_need *region = &answer->regions.need[i];
            tts_json_object(json, NULL);
            tts_json_text(json, "pool", tts_pool_name(region->pool));
            tts_json_text(json, "key", region->key);
            tts_json_number(json, "bytes", region->bytes);
            tts_json_number(json, "own_bytes", region->own_bytes);
            tts_json_object_end(json);
        }
        tts_json_array_end(json);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

/* Writes the answer as JSON (docs/design/whatif.md). */
void tts_whatif_json(const struct tts_whatif_answer *answer, struct tts_json *json)
{
    struct tts_whatif_counts counts;
    uint64_t failures = tts_whatif_failures(answer->whatif);
    tts_whatif_get_counts(answer->whatif, &counts);
    tts_json_object(json, NULL);
    tts_json_object(json, "schema");
    tts_json_text(json, "name", "ttscope.whatif");
    tts_json_number(json, "version", 1);
    tts_json_object_end(json);
    tts_json_text(json, "file", answer->path);
    tts_json_text(json, "device", answer->chip->name);
    tts_json_text(json, "arch", tts_arch_name(answer->chip->arch));
    tts_json_number(json, "chips", answer->chip->fact[TTS_FACT_CHIPS].value);
    tts_json_text(json, "scope", "per_bank");
    if (failures == 0 && !tts_whatif_answer_fits(answer))
        tts_json_null(json, "fits"); /* fits so far, but some data is missing */
    else
        tts_json_bool(json, "fits", failures == 0);
    tts_partial_json(&answer->missing, json);
    tts_json_bool(json, "at_least", answer->missing.is_beginning);
    tts_json_number(json, "failures", failures);
    tts_json_number(json, "events_before_first", answer->before);
    put_first(json, answer);
    put_devices(json, answer);
    put_smallest(json, answer);
    put_suggestions(json, answer);
    put_recording_counts(json, &counts);
    tts_json_object_end(json);
}
