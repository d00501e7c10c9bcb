/* fit_text_verdict.c: does it fit, for people. */
#include "base/number.h"
#include "cli/fit_line.h"
#include "cli/fit_parts.h"
#include "views/percent.h"
#include "views/say.h"

#include <inttypes.h>
#include <string.h>

/* More than the banks have; else what does not fit fails as memory is in pieces. */
static bool is_too_much(const struct tts_fit_placement *placement)
{
    return placement->peak_bank_bytes > placement->bank_bytes;
}

uint64_t tts_fit_missing_bank_bytes(const struct tts_fit *fit)
{
    const struct tts_fit_placement *placement = &fit->placement;
    if (placement->failures == 0)
        return 0;
    return is_too_much(placement) ? placement->peak_bank_bytes - placement->bank_bytes
                                  : tts_failure_deficit(&placement->first.failure);
}

const char *tts_fit_reason(const struct tts_fit_answer *answer)
{
    const struct tts_fit *fit = answer->fit;
    if (answer->setup->stop_count > 0)
        return "refused";
    if (!tts_fit_has_chips(&fit->workload, fit->chip))
        return "chips";
    if (fit->placement.failures == 0)
        return NULL;
    return is_too_much(&fit->placement) ? "memory" : "fragmentation";
}

static void put_banks(const struct tts_fit_placement *placement, FILE *out)
{
    char peak[TTS_NUMBER_MB_MAX], bank[TTS_NUMBER_MB_MAX], free_mb[TTS_NUMBER_MB_MAX],
        largest[TTS_NUMBER_MB_MAX], share[TTS_PERCENT_MAX];
    tts_say(out, 2, "every one of %" PRIu32 " banks %s %s MB of its %s MB", placement->banks,
            is_too_much(placement) ? "would have to give" : "gives",
            tts_fit_mb(peak, placement->peak_bank_bytes),
            tts_fit_mb(bank, placement->bank_bytes));
    const char *when = placement->failures > 0 ? "at the first failure" : "at the peak";
    if (placement->free_bytes == 0) {
        fprintf(out, "  fragmentation %s: nothing is free\n", when);
        return;
    }
    tts_say(out, 2, "fragmentation %s: %s, %s MB free in a bank, the largest piece %s MB", when,
            tts_percent_format(share, placement->free_bytes - placement->largest_free_bytes,
                               placement->free_bytes),
            tts_fit_mb(free_mb, placement->free_bytes),
            tts_fit_mb(largest, placement->largest_free_bytes));
}

static void put_failure(const struct tts_fit_placement *placement, FILE *out)
{
    const struct tts_fit_failure *first = &placement->first;
    char text[TTS_FAILURE_TEXT_MAX];
    fputs("  first allocation that fails: in ", out);
    tts_fit_text_place(out, first->phase, first->op, first->layer);
    fputc('\n', out);
    tts_say_sentence(out, "    ", tts_failure_text(&first->failure, text));
    if (tts_failure_deficit_is_known(&first->failure))
        fprintf(out, "    missing: %" PRIu64 " B of each bank\n",
                tts_failure_deficit(&first->failure));
    if (placement->failures > 1)
        fprintf(out, "  %" PRIu64 " more %s\n", placement->failures - 1,
                placement->failures == 2 ? "fails" : "fail");
}

/* There would be room for all of it, but not at one piece. */
static void put_pieces(const struct tts_fit *fit, const char *mark, FILE *out)
{
    const struct tts_fit_placement *placement = &fit->placement;
    char peak[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX], asked[TTS_NUMBER_MB_MAX],
        free_mb[TTS_NUMBER_MB_MAX], largest[TTS_NUMBER_MB_MAX];
    const char *op = placement->first.op;
    fprintf(out, "does not fit %s%s, though %s MB of %s MB would:\n", fit->chip->name, mark,
            tts_fit_mb(peak, fit->peak_bytes), tts_fit_mb(all, fit->capacity_bytes));
    tts_say(out, 2,
            "when %s asks for %s MB of each bank, %s MB are free there, but in pieces, the "
            "largest of %s MB",
            op ? op : "the program", tts_fit_mb(asked, placement->first.failure.block_bytes),
            tts_fit_mb(free_mb, placement->free_bytes),
            tts_fit_mb(largest, placement->largest_free_bytes));
}

static struct tts_fit_banks banks_of(const struct tts_fit_placement *placement)
{
    return (struct tts_fit_banks){.count = placement->banks,
                                  .bank_bytes = placement->bank_bytes,
                                  .peak_bank_bytes = placement->peak_bank_bytes};
}

static void put_too_few(const struct tts_fit *fit, FILE *out)
{
    const struct tts_fit_too_few few = {.chip = fit->chip,
                                        .needed = tts_fit_chips(&fit->workload),
                                        .peak_bytes = fit->peak_bytes,
                                        .capacity_bytes = fit->capacity_bytes,
                                        .is_estimated = fit->is_estimated,
                                        .is_too_much = fit->placement.failures > 0};
    tts_fit_say_too_few(out, &few);
}

static void put_no(const struct tts_fit *fit, const char *mark, FILE *out)
{
    const struct tts_fit_placement *placement = &fit->placement;
    const struct tts_fit_banks banks = banks_of(placement);
    char peak[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX];
    if (!tts_fit_has_chips(&fit->workload, fit->chip)) {
        put_too_few(fit, out);
    } else if (is_too_much(placement)) {
        fprintf(out, "does not fit %s%s: %s MB of %s MB\n", fit->chip->name, mark,
                tts_fit_mb(peak, fit->peak_bytes), tts_fit_mb(all, fit->capacity_bytes));
        tts_fit_say_missing(out, &banks);
    } else {
        put_pieces(fit, mark, out);
    }
    if (placement->failures > 0)
        put_failure(placement, out);
    put_banks(placement, out);
}

static void put_yes(const struct tts_fit *fit, const char *mark, FILE *out)
{
    const struct tts_fit_placement *placement = &fit->placement;
    char peak[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX], share[TTS_PERCENT_MAX];
    uint64_t left = fit->capacity_bytes - fit->peak_bytes;
    fprintf(out, "fits %s%s: %s MB of %s MB, %s free\n", fit->chip->name, mark,
            tts_fit_mb(peak, fit->peak_bytes), tts_fit_mb(all, fit->capacity_bytes),
            tts_percent_format(share, left, fit->capacity_bytes));
    put_banks(placement, out);
    if (!fit->is_settled)
        tts_say(out, 2,
                "in the first %" PRIu64 " iterations: %s replaces its buffers, so that holes "
                "wander, and later ones may be refused",
                fit->iterations, tts_optimizer_name(fit->workload.optimizer.kind));
    const struct tts_fit_banks banks = banks_of(placement);
    tts_fit_say_headroom(out, &banks);
}

void tts_fit_text_verdict(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_fit *fit = answer->fit;
    const char *mark = fit->is_estimated ? " (estimated)" : "";
    fputc('\n', out);
    if (answer->setup->stop_count > 0)
        fputs("with the changes above: ", out);
    if (tts_fit_fits(fit))
        put_yes(fit, mark, out);
    else
        put_no(fit, mark, out);
}
