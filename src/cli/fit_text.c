/* fit_text.c: the answer for people: the published summary, the peak, the verdict, and what
 * would change it. */
#include "base/number.h"
#include "cli/fit_line.h"
#include "cli/fit_parts.h"
#include "cli/message.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>
#include <string.h>

/* ---- what would change it ---- */

/* One line for each: "; " is between them. */
static void put_costs(const char *costs, FILE *out)
{
    fputs("    cost: ", out);
    for (const char *next; (next = strstr(costs, "; ")); costs = next + 2)
        fprintf(out, "%.*s;\n          ", (int)(next - costs), costs);
    fprintf(out, "%s\n", costs);
}

static void put_change(const struct tts_fit_change *change, FILE *out)
{
    char peak[TTS_NUMBER_MB_MAX], less[TTS_NUMBER_MB_MAX];
    fprintf(out, "  %s\n", change->options[0] ? change->options : "(in the file)");
    const char *fits = change->fits ? "fits" : "does not fit";
    if (change->saves_bytes > 0)
        tts_say(out, 4, "%s: the peak falls by %s MB, to %s MB", fits,
                tts_number_format_mb(less, change->saves_bytes, false),
                tts_fit_mb(peak, change->peak_bytes));
    else
        tts_say(out, 4, "%s: the peak is %s MB", fits, tts_fit_mb(peak, change->peak_bytes));
    if (change->saves_activation_bytes > 0)
        tts_say(out, 4, "a forward pass keeps %s MB less",
                tts_number_format_mb(less, change->saves_activation_bytes, false));
    put_costs(change->cost, out);
}

static void put_changes(const struct tts_fit_answer *answer, FILE *out)
{
    for (size_t i = 0; i < answer->change_count; i++) {
        const struct tts_fit_change *change = &answer->changes[i];
        if (i == 0 && change->fits)
            fputs("\nwhat would make it fit, the cheapest first:\n", out);
        if (!change->fits && (i == 0 || change[-1].fits))
            fputs(i == 0 ? "\nnone of these alone makes it fit:\n" : "\nnot enough alone:\n",
                  out);
        put_change(change, out);
    }
}

/* ---- the largest ---- */

/* Behind a peak that is below what the device has. */
#define ROOM_IN_PIECES ": pages are rounded up and free memory is in pieces"

static const char *what_of(const struct tts_fit_answer *answer)
{
    return answer->max == TTS_LARGEST_BATCH ? "batch" : "sequence";
}

static void put_none(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_fit *fit = answer->fit;
    uint64_t bytes = answer->largest.peak_bytes;
    char peak[TTS_NUMBER_MB_MAX], all[TTS_NUMBER_MB_MAX];
    if (!tts_fit_has_chips(&fit->workload, fit->chip)) {
        tts_say(out, 0, "no %s fits %s: it has too few chips", what_of(answer),
                fit->chip->name);
        return;
    }
    tts_say(out, 0, "no %s fits %s: the smallest takes %s MB of %s MB%s", what_of(answer),
            fit->chip->name, tts_fit_mb(peak, bytes), tts_fit_mb(all, fit->capacity_bytes),
            bytes <= fit->capacity_bytes ? ROOM_IN_PIECES : "");
    fputs("  the command without --max lists what would help\n", out);
}

static void put_next(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_largest *largest = &answer->largest;
    const char *what = what_of(answer);
    char peak[TTS_NUMBER_MB_MAX];
    if (largest->next == 0) {
        fprintf(out, "  more than %d were not tried\n", TTS_LARGEST_MAX);
        return;
    }
    if (largest->next_peak_bytes > INT64_MAX) {
        fprintf(out, "  %s %" PRIu64 " does not fit: it is past 2^63 bytes\n", what,
                largest->next);
        return;
    }
    fprintf(out, "  %s %" PRIu64 " does not fit: %s MB\n", what, largest->next,
            tts_fit_mb(peak, largest->next_peak_bytes));
    if (largest->next_peak_bytes <= answer->fit->capacity_bytes)
        tts_say(out, 2,
                "that is less than there is%s, so that near this limit a smaller one may "
                "not fit either",
                ROOM_IN_PIECES);
}

static void put_largest(const struct tts_fit_answer *answer, FILE *out)
{
    const struct tts_largest *largest = &answer->largest;
    char peak[TTS_NUMBER_MB_MAX];
    fputc('\n', out);
    if (largest->value == 0) {
        put_none(answer, out);
        return;
    }
    fprintf(out, "largest %s that fits %s: %" PRIu64 ", peak %s MB\n", what_of(answer),
            answer->fit->chip->name, largest->value, tts_fit_mb(peak, largest->peak_bytes));
    put_next(answer, out);
}

/* ---- a run that its program refuses ---- */

static void put_stops(const struct tts_trainconfig *setup, FILE *out)
{
    if (setup->stop_count == 0)
        return;
    fputs("does not run: the training program stops before it trains\n", out);
    for (size_t i = 0; i < setup->stop_count; i++) {
        const struct tts_train_stop *stop = &setup->stops[i];
        char path[TTS_TRAINFILE_TEXT_MAX * TTS_SAFE_COLUMN_BYTES + 1] = "", line[24] = "";
        if (stop->line > 0) {
            tts_safe_text(path, sizeof path,
                          tts_message_path(tts_trainconfig_path(setup, stop->file)),
                          TTS_TRAINFILE_TEXT_MAX);
            snprintf(line, sizeof line, ":%" PRIu32 ": ", stop->line);
        }
        tts_say(out, 2, "%s%s%s", path, line, stop->reason);
        tts_say(out, 2, "the figures below are for %s", stop->figures);
    }
    fputc('\n', out);
}

/* ---- all of it ---- */

enum tts_status tts_fit_text(const struct tts_fit_answer *answer, FILE *out,
                             struct tts_error *err)
{
    const struct tts_fit *fit = answer->fit;
    put_stops(answer->setup, out);
    tts_fit_text_head(answer, out);
    enum tts_status status = tts_capture_print(fit->capture, out, err);
    if (status != TTS_OK)
        return status;
    fputs("L1 is not known, its lines above stand for the form only:\n"
          "  " TTS_FIT_L1_REASON "\n\n",
          out);
    status = tts_fit_text_peak(fit, out, err);
    if (status != TTS_OK)
        return status;
    tts_fit_text_verdict(answer, out);
    if (answer->has_max)
        put_largest(answer, out);
    else
        put_changes(answer, out);
    return TTS_OK;
}
