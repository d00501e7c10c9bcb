/* show_text.c: all that was read, for people: phases, the peak, operations. */
#include "base/number.h"
#include "cli/show_parts.h"
#include "model/devicename.h"
#include "views/safe_text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { PHASES_WHOLE = 40, PHASES_EACH = 20, NAME_BYTES = 320 };

void tts_show_text_name(FILE *out, const char *name, int columns, bool pad)
{
    char text[TTS_SHOW_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    assert(columns > 0 && columns <= TTS_SHOW_COLUMNS);
    int taken = (int)tts_safe_text(text, sizeof text, name, (size_t)columns);
    fprintf(out, "%s%*s", text, pad ? columns - taken : 0, "");
}

void tts_show_text_op(const struct tts_show *show, FILE *out, const char *op, int columns)
{
    char path[TTS_SUMMARY_PATH_BYTES], text[TTS_SHOW_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    assert(columns > 0 && columns <= TTS_SHOW_COLUMNS);
    tts_safe_text_end(text, sizeof text,
                      op ? tts_eventsummary_path(&show->sum, op, path)
                         : "(outside any operation)",
                      (size_t)columns);
    fputs(text, out);
}

void tts_show_text_when(const struct tts_show *show, bool has_time, uint64_t time_ns,
                        const char *op, FILE *out)
{
    uint64_t ns = tts_show_since_start(show, time_ns);
    if (has_time)
        fprintf(out, ", %" PRIu64 ".%06" PRIu64 " s", ns / 1000000000, ns / 1000 % 1000000);
    if (op && op[0]) {
        fputs(", in ", out);
        tts_show_text_op(show, out, op, TTS_OP_NAME_MAX);
    }
}

/* ---- phases ---- */

static void put_phase_name(const struct tts_show *show, const struct tts_summary_phase *phase,
                           int columns, FILE *out)
{
    char name[NAME_BYTES];
    const char *own = tts_eventsummary_phase_name(&show->sum, phase);
    if (show->sum.has_captures)
        snprintf(name, sizeof name, "%" PRIu32 ": %s", phase->capture, own);
    else
        snprintf(name, sizeof name, "%s", own);
    fputs(phase->is_partial ? "*" : " ", out);
    tts_show_text_name(out, name, columns - 1, true);
}

static void put_mb(FILE *out, int64_t bytes, bool plus)
{
    char text[TTS_NUMBER_MB_MAX];
    fprintf(out, " %9s", tts_number_format_mb(text, bytes, plus));
}

static void put_dram(const struct tts_show *show, const struct tts_summary_phase *phase,
                     FILE *out)
{
    const struct tts_pool_usage *dram = &phase->dram;
    uint64_t change = (uint64_t)dram->allocated_bytes - (uint64_t)dram->freed_bytes;
    put_phase_name(show, phase, 20, out);
    put_mb(out, dram->peak_bytes, false);
    put_mb(out, dram->allocated_bytes, false);
    put_mb(out, dram->freed_bytes, false);
    put_mb(out, (int64_t)change, true);
    put_mb(out, dram->cumulative_peak_bytes, false);
    put_mb(out, dram->cumulative_current_bytes, false);
    fputc('\n', out);
}

static void put_l1(const struct tts_show *show, const struct tts_summary_phase *phase,
                   FILE *out)
{
    put_phase_name(show, phase, 36, out);
    fprintf(out, " %10" PRId64 " %10" PRId64 " %10" PRId64, phase->peak_cb_bytes,
            phase->peak_buffer_bytes, phase->peak_total_bytes);
    if (phase->core_is_known)
        fprintf(out, " %10" PRIu64 "%s\n", phase->core_bytes,
                phase->core_is_at_least ? "+" : "");
    else
        fprintf(out, " %10s\n", "-");
}

typedef void (*phase_fn)(const struct tts_show *show, const struct tts_summary_phase *phase,
                         FILE *out);

static void put_rows(const struct tts_show *show, phase_fn put, FILE *out)
{
    size_t count = show->sum.phase_count;
    bool is_long = count > PHASES_WHOLE && !show->options.all;
    for (size_t i = 0; i < count; i++) {
        if (is_long && i == PHASES_EACH) {
            i = count - PHASES_EACH;
            fprintf(out, " ... %zu more, --all shows them\n", count - 2 * PHASES_EACH);
        }
        put(show, &show->sum.phases[i], out);
    }
}

static void put_l1_rows(const struct tts_show *show, FILE *out)
{
    if (tts_show_is_unknown(show, TTS_POOL_L1)) {
        fputs("\nphases: L1 of a core: unknown (" TTS_SHOW_L1_REASON ")\n", out);
        return;
    }
    fprintf(out, "\n%-36s %10s %10s %10s %10s\n", "phases: L1 of a core, bytes", "peak CB",
            "buffer", "total", "true core");
    put_rows(show, put_l1, out);
}

static void put_marks(const struct tts_show *show, FILE *out)
{
    bool has_partial = false, has_least = false;
    for (size_t i = 0; i < show->sum.phase_count; i++) {
        has_partial |= show->sum.phases[i].is_partial;
        has_least |= show->sum.phases[i].core_is_at_least;
    }
    if (has_partial)
        fputs("* not all of it is in the file: it began before, or did not end\n", out);
    if (has_least)
        fputs("+ at least: something could not be followed\n", out);
    if (show->sum.phases_unlisted > 0)
        fprintf(out, "%" PRIu64 " more phases than %d are not listed\n",
                show->sum.phases_unlisted, TTS_SUMMARY_PHASES_MAX);
}

static void put_phases(const struct tts_show *show, FILE *out)
{
    char mb[TTS_NUMBER_MB_MAX];
    int64_t peak_bytes = tts_eventsummary_dram_peak(&show->sum),
            final_bytes = tts_eventsummary_dram_final(&show->sum);
    if (show->sum.phase_count > 0) {
        fprintf(out, "%-20s %9s %9s %9s %9s %9s %9s\n", "phases: DRAM, MB", "peak", "allocated",
                "freed", "change", "cum. peak", "current");
        put_rows(show, put_dram, out);
        put_l1_rows(show, out);
        put_marks(show, out);
        fputc('\n', out);
    }
    const char *least = tts_show_is_at_least(show) ? "at least " : "";
    fprintf(out, "DRAM of the whole file: peak %s%s MB (%" PRId64 " B),\n", least,
            tts_number_format_mb(mb, peak_bytes, false), peak_bytes);
    fprintf(out, "  at the end %s%s MB (%" PRId64 " B)\n\n", least,
            tts_number_format_mb(mb, final_bytes, false), final_bytes);
}

/* ---- the peak ---- */

/* The pool that was asked for had nothing; others may. */
static void put_other_peaks(const struct tts_show *show, FILE *out)
{
    fputs("  nothing was in use above what was there when the file began\n", out);
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        int64_t bytes = show->sum.whole->usage.pools[pool].peak_bytes;
        if (bytes > 0)
            fprintf(out, "  %s had %" PRId64 " B, see --pool\n",
                    tts_pool_name((enum tts_pool)pool), bytes);
    }
    fputc('\n', out);
}

static void put_peak_when(const struct tts_show *show, const struct tts_peak_info *info,
                          FILE *out)
{
    const struct tts_summary_phase *phase = tts_eventsummary_phase_of(&show->sum, info->seq);
    if (info->is_start) {
        fputs("  before the first event of the file\n", out);
        return;
    }
    fprintf(out, "  at event %" PRIu64 " of %" PRIu64, info->seq, show->sum.event.seq);
    tts_show_text_when(show, info->has_time, info->time_ns, info->op, out);
    if (phase) {
        fputs("\n  in phase ", out);
        tts_show_text_name(out, tts_eventsummary_phase_name(&show->sum, phase), 60, false);
    }
    fputc('\n', out);
}

static void put_peak(const struct tts_show *show, FILE *out)
{
    struct tts_peak_info info = show->sum.peak_info;
    const struct tts_summary_moment *moment = &show->sum.peak_moment;
    char mb[TTS_NUMBER_MB_MAX], name[TTS_DEVICENAME_MAX];
    if (tts_show_is_unknown(show, info.pool)) {
        fprintf(out, "peak of %s: unknown (" TTS_SHOW_L1_REASON ")\n\n",
                tts_pool_name(info.pool));
        return;
    }
    fprintf(out, "peak of %s: %s%" PRId64 " B, %s MB", tts_pool_name(info.pool),
            tts_show_is_at_least(show) ? "at least " : "", info.level.bytes,
            tts_number_format_mb(mb, info.level.bytes, false));
    if (info.level.has_device)
        fprintf(out, ", of a core of %s", tts_devicename(info.level.device, name));
    fputc('\n', out);
    if (info.level.bytes == 0) {
        put_other_peaks(show, out);
        return;
    }
    put_peak_when(show, &info, out);
    fprintf(out, "  %" PRIu64 " buffer%s lived then\n", moment->buffers,
            moment->buffers == 1 ? "" : "s");
    tts_show_text_moment(show, moment, out);
    fputc('\n', out);
}

/* ---- operations ---- */

static void put_op_row(const struct tts_show *show, const struct tts_op_row *row, FILE *out)
{
    fprintf(out, "  %9" PRIu64 " %13" PRIu64 " %13" PRIu64 " %13" PRIu64 "  ", row->allocations,
            row->allocated_bytes, row->live_bytes, row->moment_bytes);
    tts_show_text_op(show, out, row->op, 25);
    fputc('\n', out);
}

static void put_ops(const struct tts_show *show, FILE *out)
{
    const struct tts_op_row *rows = show->sum.top_ops.items;
    size_t count = show->sum.top_ops.count, all = show->sum.op_count;
    if (count == 0)
        return;
    fprintf(out, "operations by bytes allocated in %s\n", tts_pool_name(show->options.pool));
    fprintf(out, "  %9s %13s %13s %13s  operation\n", "buffers", "allocated", "at the end",
            "at the peak");
    for (size_t i = 0; i < count; i++)
        put_op_row(show, &rows[i], out);
    if (all > count)
        fprintf(out, "  %zu more, --top 0 shows them\n", all - count);
    fputc('\n', out);
}

/* ---- one moment ---- */

static void put_level(const struct tts_show *show, enum tts_pool pool, FILE *out)
{
    char mb[TTS_NUMBER_MB_MAX], name[TTS_DEVICENAME_MAX];
    struct tts_level level = tts_level_listed(tts_levels_of(&show->sum.levels, pool));
    if (tts_show_is_unknown(show, pool)) {
        fprintf(out, "  %-9s %14s\n", tts_pool_name(pool), "unknown");
        return;
    }
    fprintf(out, "  %-9s %14" PRId64 " %11s %9" PRIu64, tts_pool_name(pool), level.bytes,
            tts_number_format_mb(mb, level.bytes, false), level.buffers);
    if (level.has_device && level.buffers > 0)
        fprintf(out, "  of a core of %s", tts_devicename(level.device, name));
    fputc('\n', out);
}

static void put_at(const struct tts_show *show, FILE *out)
{
    const struct tts_summary_event *event = &show->sum.event;
    fprintf(out, "behind event %" PRIu64 " (%s)", event->seq, tts_event_kind_name(event->kind));
    tts_show_text_when(show, event->has_time, event->time_ns, tts_summary_op_name(&event->op),
                       out);
    fprintf(out, "\n  %-9s %14s %11s %9s\n", "pool", "bytes", "MB", "buffers");
    for (int pool = 0; pool < TTS_POOLS; pool++)
        put_level(show, (enum tts_pool)pool, out);
    if (tts_show_is_unknown(show, show->options.pool)) {
        fprintf(out, "\n%s: unknown (" TTS_SHOW_L1_REASON ")\n",
                tts_pool_name(show->options.pool));
    } else {
        fprintf(out, "\n%s, bytes%s\n", tts_pool_name(show->options.pool),
                show->sum.at_moment.level.has_device ? " of a core" : "");
        tts_show_text_moment(show, &show->sum.at_moment, out);
    }
    fputc('\n', out);
    tts_show_text_core(show, &show->sum.at_core, out);
}

void tts_show_text(const struct tts_show *show, FILE *out)
{
    tts_show_text_file(show, out);
    if (show->options.at > 0) {
        put_at(show, out);
        return;
    }
    put_phases(show, out);
    put_peak(show, out);
    put_ops(show, out);
    tts_show_text_core(show, &show->sum.whole->usage.core, out);
    tts_show_text_failures(show, out);
    tts_show_text_figures(show, out);
    tts_show_text_health(show, out);
}
