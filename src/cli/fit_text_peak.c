/* fit_text_peak.c: what lives at the peak, for people. */
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "cli/fit_line.h"
#include "cli/fit_parts.h"
#include "views/say.h"

#include <inttypes.h>
#include <string.h>

enum { BAR = 30, OPS_MAX = 128, OPS_SHOWN = 8, RUNS_SHOWN = 8 };

struct sum {
    const char *op;
    uint64_t bytes, buffers;
};

/* The number of a later iteration, as text; NULL: it is another phase. */
static const char *later_of(const char *phase)
{
    const size_t len = sizeof TTS_PHASE_LATER_ITERATION - 1;
    return strncmp(phase, TTS_PHASE_LATER_ITERATION, len) == 0 ? phase + len : NULL;
}

void tts_fit_text_place(FILE *out, const char *phase, const char *op, int32_t layer)
{
    const char *later = later_of(phase);
    if (later)
        fprintf(out, "iteration %s", later);
    else
        fputs(phase, out);
    if (op)
        fprintf(out, ", in %s", op);
    if (layer != TTS_LAYER_NONE)
        fprintf(out, " of block %" PRId32, layer);
}

/* ---- parts ---- */

static void put_part(const struct tts_fit_peak *peak, enum tts_tensor_part part, FILE *out)
{
    uint64_t bytes = peak->part_bytes[part];
    char megabytes[TTS_NUMBER_MB_MAX], share[TTS_FIT_SHARE_MAX], bar[BAR + 1];
    if (bytes == 0)
        return;
    /* Rounded up: what is there is seen. */
    size_t len = (size_t)((double)bytes / (double)peak->bytes * BAR + 0.5);
    len = len < 1 ? 1 : len > BAR ? BAR : len;
    memset(bar, '#', len);
    bar[len] = '\0';
    char name[24];
    snprintf(name, sizeof name, "%s", tts_part_name(part));
    for (char *c = name; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    fprintf(out, "  %-16s %10s MB  %7s  %s\n", name, tts_fit_mb(megabytes, bytes),
            tts_fit_share(share, bytes, peak->bytes), bar);
}

/* The largest first. */
static void put_parts(const struct tts_fit_peak *peak, FILE *out)
{
    bool is_done[TTS_PARTS] = {false};
    for (int i = 0; i < TTS_PARTS; i++) {
        int best = -1;
        for (int part = 0; part < TTS_PARTS; part++)
            if (!is_done[part] && (best < 0 || peak->part_bytes[part] > peak->part_bytes[best]))
                best = part;
        is_done[best] = true;
        put_part(peak, (enum tts_tensor_part)best, out);
    }
}

/* ---- by operation ---- */

/* Sums over the layers; returns how many operations there are. */
static size_t sum_ops(const struct tts_fit_peak *peak, enum tts_tensor_part part,
                      struct sum sums[OPS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < peak->part_count; i++) {
        const struct tts_fit_part *one = &peak->parts[i];
        const char *op = one->op ? one->op : "(outside any operation)";
        size_t at = 0;
        if (one->part != part)
            continue;
        while (at < count && strcmp(sums[at].op, op) != 0)
            at++;
        if (at == OPS_MAX)
            op = sums[--at].op = "(others)";
        else if (at == count)
            sums[count++] = (struct sum){.op = op};
        sums[at].bytes += one->bytes;
        sums[at].buffers += one->buffers;
    }
    return count;
}

static void put_op(const struct sum *sum, FILE *out)
{
    char megabytes[TTS_NUMBER_MB_MAX];
    fprintf(out, "    %-30.30s %10s MB in %" PRIu64 " buffer%s\n", sum->op,
            tts_fit_mb(megabytes, sum->bytes), sum->buffers, sum->buffers == 1 ? "" : "s");
}

static void put_ops(const struct tts_fit_peak *peak, enum tts_tensor_part part, FILE *out)
{
    struct sum sums[OPS_MAX];
    char megabytes[TTS_NUMBER_MB_MAX];
    size_t count = sum_ops(peak, part, sums);
    if (count == 0)
        return;
    fprintf(out, "\n  %s by operation\n", tts_part_name(part));
    for (size_t shown = 0; shown < OPS_SHOWN && shown < count; shown++) {
        size_t best = shown;
        for (size_t i = shown + 1; i < count; i++)
            best = sums[i].bytes > sums[best].bytes ? i : best;
        struct sum largest = sums[best];
        sums[best] = sums[shown];
        sums[shown] = largest;
        put_op(&largest, out);
    }
    uint64_t rest = 0;
    for (size_t i = OPS_SHOWN; i < count; i++)
        rest += sums[i].bytes;
    if (count > OPS_SHOWN)
        fprintf(out, "    %-30s %10s MB\n", "others", tts_fit_mb(megabytes, rest));
}

/* ---- by block ---- */

static void put_run(uint64_t first, uint64_t last, uint64_t bytes, FILE *out)
{
    char name[64], megabytes[TTS_NUMBER_MB_MAX];
    if (first == last)
        snprintf(name, sizeof name, "block %" PRIu64, first);
    else
        snprintf(name, sizeof name, "blocks %" PRIu64 " to %" PRIu64, first, last);
    fprintf(out, "    %-30s %10s MB%s\n", name, tts_fit_mb(megabytes, bytes),
            first == last ? "" : " each");
}

/* Neighbours that keep the same are one line. */
static void put_runs(const uint64_t *bytes, uint64_t blocks, FILE *out)
{
    uint64_t first = 0, shown = 0;
    for (uint64_t i = 1; i <= blocks; i++) {
        if (i < blocks && bytes[i] == bytes[first])
            continue;
        if (bytes[first] > 0 && shown++ < RUNS_SHOWN)
            put_run(first, i - 1, bytes[first], out);
        first = i;
    }
    if (shown > RUNS_SHOWN)
        fprintf(out, "    %" PRIu64 " more lines, --json has them\n", shown - RUNS_SHOWN);
}

static void put_blocks(const struct tts_fit *fit, uint64_t *bytes, FILE *out)
{
    const struct tts_fit_peak *peak = &fit->peak;
    uint64_t blocks = fit->workload.model.blocks, outside = 0;
    char megabytes[TTS_NUMBER_MB_MAX];
    for (size_t i = 0; i < peak->part_count; i++) {
        const struct tts_fit_part *one = &peak->parts[i];
        if (one->part != TTS_PART_ACTIVATIONS)
            continue;
        if (one->layer >= 0 && (uint64_t)one->layer < blocks)
            bytes[one->layer] += one->bytes;
        else
            outside += one->bytes;
    }
    fputs("\n  activations by block\n", out);
    put_runs(bytes, blocks, out);
    if (outside > 0)
        fprintf(out, "    %-30s %10s MB\n", "outside the blocks",
                tts_fit_mb(megabytes, outside));
}

static enum tts_status put_layers(const struct tts_fit *fit, FILE *out, struct tts_error *err)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    uint64_t blocks = fit->workload.model.blocks, *bytes = NULL;
    if (fit->peak.part_bytes[TTS_PART_ACTIVATIONS] == 0)
        return TTS_OK;
    size_t size = (size_t)blocks * sizeof *bytes;
    if (blocks <= SIZE_MAX / sizeof *bytes)
        bytes = alloc->alloc(alloc->ctx, size);
    if (!bytes)
        return tts_error_set(err, TTS_E_NOMEM, "out of memory");
    memset(bytes, 0, size);
    put_blocks(fit, bytes, out);
    alloc->free(alloc->ctx, bytes, size);
    return TTS_OK;
}

/* ---- all of it ---- */

/* What the first iteration holds at its end and did not at its beginning. */
static uint64_t stayed_bytes(const struct tts_fit *fit)
{
    for (size_t i = 0; i < tts_capture_count(fit->capture); i++) {
        const struct tts_phase *phase = tts_capture_at(fit->capture, i);
        int64_t before = phase->usage.pools[TTS_POOL_DRAM].cumulative_current_bytes;
        if (strcmp(phase->name, "OPTIMIZER_CREATION") == 0)
            return before >= 0 && fit->final_bytes > (uint64_t)before
                       ? fit->final_bytes - (uint64_t)before
                       : 0;
    }
    return 0;
}

/* Higher than in the first: the summary has it not. */
static void put_second(const struct tts_fit *fit, FILE *out)
{
    char first[TTS_NUMBER_MB_MAX], stayed[TTS_NUMBER_MB_MAX];
    if (!later_of(fit->peak.phase))
        return;
    tts_say(out, 2,
            "not in the summary above: that is of the first iteration, whose peak is %s "
            "MB. %s MB that it made stay for the next%s",
            tts_fit_mb(first, fit->first_peak_bytes), tts_fit_mb(stayed, stayed_bytes(fit)),
            fit->peak.part_bytes[TTS_PART_GRADIENTS] > 0 ? ", gradients above all" : "");
}

enum tts_status tts_fit_text_peak(const struct tts_fit *fit, FILE *out, struct tts_error *err)
{
    const struct tts_fit_peak *peak = &fit->peak;
    char megabytes[TTS_NUMBER_MB_MAX];
    fprintf(out, "peak: %s MB in ", tts_fit_mb(megabytes, peak->bytes));
    tts_fit_text_place(out, peak->phase, peak->op, peak->layer);
    fputc('\n', out);
    put_second(fit, out);
    put_parts(peak, out);
    put_ops(peak, TTS_PART_ACTIVATIONS, out);
    enum tts_status status = put_layers(fit, out, err);
    if (status == TTS_OK)
        put_ops(peak, TTS_PART_TEMPORARIES, out);
    return status;
}
