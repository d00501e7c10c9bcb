/* analyze_text_verdict.c: what the peak was made of, whether it fits, and what helps if not. */
#include "base/share.h"
#include "cli/analyze_parts.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { BAR = 24, PRESETS_SHOWN = 6, HEADROOM_PERCENT = 5, PHASE_COLUMNS = 40 };

/* ---- the parts of the peak ---- */

/* None of them is a label of the blocks before, so that who looks for those finds one. */
static const char *const part_names[] = {
    [TTS_RUN_PART_OTHER] = "other",
    [TTS_RUN_PART_MODEL] = "model parameters",
    [TTS_RUN_PART_GRADIENTS] = "gradients overhead",
    [TTS_RUN_PART_OPTIMIZER] = "optimizer state",
    [TTS_RUN_PART_ACTIVATIONS] = "activations",
};

/* Names a part. A log without the parts of its peak has only what the forward pass kept; at a
 * peak in the backward pass some of those activations are freed, so the label is different. */
static const char *part_name(const struct tts_trainmem *mem, enum tts_run_part part,
                             bool is_backward)
{
    if (part == TTS_RUN_PART_GRADIENTS && mem->parts_are_stated)
        return "gradients";
    if (part == TTS_RUN_PART_ACTIVATIONS && !mem->parts_are_stated && is_backward)
        return "activations kept";
    return part_names[part];
}

static void put_part(const struct tts_trainmem *mem, enum tts_run_part part, const char *name,
                     FILE *out)
{
    char mb[TTS_ANALYZE_NUMBER_MAX], percent[TTS_ANALYZE_NUMBER_MAX], bar[BAR + 1];
    int64_t bytes = mem->parts[part], whole = mem->peak.bytes;
    assert(bytes >= 0 && bytes <= whole);
    double share = whole > 0 ? (double)bytes / (double)whole : 0;
    /* What is there is seen. */
    size_t len = (size_t)(share * BAR + 0.5);
    len = len < 1 && bytes > 0 ? 1 : len > BAR ? BAR : len;
    memset(bar, '#', len);
    bar[len] = '\0';
    snprintf(percent, sizeof percent, "%.1f", share * 100);
    fprintf(out, "  %-20s %12s MB  %5s %%%s%s\n", name, tts_analyze_mb(mb, bytes), percent,
            len > 0 ? "  " : "", bar);
}

/* Whose sizes those of model and optimizer are. */
static void say_sizes(const struct tts_trainmem *mem, FILE *out)
{
    static const char *const reasons[] = {
        [TTS_TRAIN_FORCE_UNKNOWN] = "what is expected is not known",
        [TTS_TRAIN_FORCE_MAKING] = "the peak lies in the phase that makes one of them",
        [TTS_TRAIN_FORCE_TOO_MUCH] = "what is expected is more than was there",
    };
    if (mem->parts_forced)
        tts_say(out, 2, "with model and optimizer as measured: %s", reasons[mem->parts_forced]);
    else
        tts_say(out, 2, "with model and optimizer as %s",
                mem->parts_are_actual ? "measured"
                                      : "expected; --use_actual_sizes takes those measured");
}

void tts_analyze_text_parts(const struct tts_analyze_run *run, FILE *out)
{
    const struct tts_trainmem *mem = run->mem;
    char phase[PHASE_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    fputs("\n--- Peak Breakdown ---\n", out);
    if (mem->has_peak_phase) {
        assert(mem->peak_phase < run->run->phase_count);
        const struct tts_run_phase *at = &run->run->phases[mem->peak_phase];
        tts_safe_text(phase, sizeof phase, at->name, PHASE_COLUMNS);
        if (at->line > 0)
            tts_say(out, 2, "reached in %s, line %" PRIu64 " of the log", phase, at->line);
        else
            tts_say(out, 2, "reached in %s", phase);
    }
    if (mem->peak_is_later) {
        tts_safe_text(phase, sizeof phase, run->run->whole.phase, PHASE_COLUMNS);
        tts_say(out, 2, "reached %s%s; the phases of the summary cover the first iteration",
                phase[0] == '(' ? "" : "in ", phase[0] ? phase : "a later iteration");
    }
    if (!mem->has_parts) {
        tts_say(out, 2, "not known: the summary does not say what was there at the peak");
        return;
    }
    enum tts_run_part of_peak = mem->has_peak_phase
                                    ? tts_train_part_of(run->run->phases[mem->peak_phase].name)
                                    : TTS_RUN_PART_OTHER;
    bool is_backward = of_peak == TTS_RUN_PART_GRADIENTS;
    for (int part = TTS_RUN_PARTS - 1; part >= 0; part--)
        put_part(mem, (enum tts_run_part)part,
                 part_name(mem, (enum tts_run_part)part, is_backward), out);
    if (mem->parts_are_stated) {
        tts_say(out, 2,
                "as 'ttscope fit' says; 'other' is temporary buffers, inputs, constants and "
                "kernel binaries");
        return;
    }
    tts_say(out, 2, "'%s' is everything that %s added, including temporary buffers%s",
            part_names[of_peak], phase,
            is_backward ? "; 'activations kept' is what the forward pass left, some of which "
                          "may have been freed before the peak"
                        : "");
    say_sizes(mem, out);
}

/* ---- remedies ---- */

struct larger {
    const char *name;
    uint64_t bytes;
};

/* Presets that have enough, the smallest first; of those alike the first. */
static size_t find_larger(uint64_t needed, struct larger out[PRESETS_SHOWN])
{
    size_t count = 0;
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)); i++) {
        struct tts_chip chip;
        if (tts_chip_preset(preset->name, &chip, NULL) != TTS_OK)
            continue;
        struct larger one = {preset->name, tts_analyze_capacity(&chip)};
        if (one.bytes < needed)
            continue;
        bool is_alike = false;
        for (size_t seen = 0; seen < count; seen++)
            is_alike |= out[seen].bytes == one.bytes;
        if (is_alike)
            continue;
        size_t at = count < PRESETS_SHOWN ? count++ : PRESETS_SHOWN;
        while (at > 0 && out[at - 1].bytes > one.bytes) {
            if (at < PRESETS_SHOWN)
                out[at] = out[at - 1];
            at--;
        }
        if (at < PRESETS_SHOWN)
            out[at] = one;
    }
    return count;
}

/* A preset that was changed may be large enough as it is. */
static const char *unchanged(const struct tts_analyze_options *options, const char *name)
{
    const struct tts_device_arg *device = &options->device;
    bool is_it = device->name && device->set_count > 0 && strcmp(device->name, name) == 0;
    return is_it ? " without --set" : "";
}

static void say_larger(const struct tts_analyze_options *options, int64_t needed, FILE *out)
{
    struct larger larger[PRESETS_SHOWN];
    char text[512] = "", mb[TTS_ANALYZE_NUMBER_MAX];
    size_t count = find_larger((uint64_t)needed, larger), used = 0;
    for (size_t i = 0; i < count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s%s%s (%s" TTS_SAY_GLUE "MB)", i > 0 ? ", " : "",
                                 larger[i].name, unchanged(options, larger[i].name),
                                 tts_analyze_mb(mb, (int64_t)larger[i].bytes));
    if (count == 0)
        tts_say(out, 2,
                "- a larger device: none that is known has so much in a chip; "
                "several chips may share the model (see 'ttscope devices')");
    else
        tts_say(out, 2, "- a larger device: %s", text);
}

/* The first preset that has what a log says of its one device, in whole MB as it prints them.
 */
static const char *find_preset(const struct tts_trainmem *mem)
{
    enum { MB = 1048576 };
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)); i++) {
        struct tts_chip chip;
        if (tts_chip_preset(preset->name, &chip, NULL) == TTS_OK &&
            (int64_t)tts_analyze_capacity(&chip) / MB == mem->device_memory.bytes / MB)
            return preset->name;
    }
    return NULL;
}

static const char *device_of(char out[TTS_ANALYZE_DEVICE_MAX],
                             const struct tts_analyze_options *options,
                             const struct tts_trainmem *mem)
{
    const char *preset = NULL;
    if (options->device.name)
        return tts_analyze_device_words(out, &options->device);
    if (mem->device_memory_source == TTS_TRAIN_FROM_LOG && mem->log_devices <= 1)
        preset = find_preset(mem);
    if (mem->device_memory_source == TTS_TRAIN_ASSUMED)
        preset = "n150"; /* 12 GiB are those of one */
    return preset ? preset : "NAME";
}

static void put_remedies(const struct tts_analyze_options *options,
                         const struct tts_trainmem *mem, FILE *out)
{
    char mb[TTS_ANALYZE_NUMBER_MAX] = "", words[TTS_ANALYZE_DEVICE_MAX];
    const char *device = device_of(words, options, mem);
    bool has_activations = mem->activations.is_known && mem->activations.bytes > 0;
    if (has_activations)
        tts_analyze_mb(mb, mem->activations.bytes);
    fputs("  what is known to help:\n", out);
    tts_say(out, 2,
            "- recompute activations (runner_type: memory_efficient): acts on what forward "
            "passes keep%s%s%s",
            has_activations ? ", here " : "", mb,
            has_activations ? TTS_SAY_GLUE "MB at once" : "");
    tts_say(out, 2, "- a smaller batch: acts on the activations, which grow with it");
    tts_say(out, 2,
            "- %sgradient accumulation: the same batch in smaller steps; acts on the "
            "activations, and keeps the gradients",
            mem->forward_passes > 1 ? "more " : "");
    say_larger(options, mem->peak.bytes, out);
    fputs("  what each of them is worth, with the run's training file as CONFIG:\n", out);
    fprintf(out, "    ttscope fit CONFIG --device %s\n", device);
    fprintf(out, "    ttscope fit CONFIG --device %s --runner memory_efficient\n", device);
}

/* ---- the verdict ---- */

/* Printed peak and what is missing are there at once: it is told if they are too much. */
static void put_overwritten(const struct tts_analyze_run *run, FILE *out)
{
    char peak[TTS_ANALYZE_NUMBER_MAX], missing[TTS_ANALYZE_NUMBER_MAX];
    const struct tts_trainmem *mem = run->mem;
    struct tts_amount all = tts_amount_add(mem->peak, run->run->missing);
    bool is_over = all.is_known && all.bytes > mem->device_memory.bytes;
    tts_analyze_mb(peak, mem->peak.bytes);
    if (all.is_known)
        tts_say(out, 2,
                "not known: at least %s" TTS_SAY_GLUE "MB, and at least %s" TTS_SAY_GLUE
                "MB that are missing%s",
                peak, tts_analyze_mb(missing, run->run->missing.bytes),
                is_over ? "; together they do not fit" : "");
    else
        tts_say(out, 2, "not known: at least %s" TTS_SAY_GLUE "MB, and gradients are missing",
                peak);
}

static void put_unknown(const struct tts_analyze_run *run, FILE *out)
{
    const struct tts_trainmem *mem = run->mem;
    char mb[TTS_ANALYZE_NUMBER_MAX];
    if (mem->peak.is_known && mem->device_memory.is_known && run->run->is_overwritten)
        put_overwritten(run, out);
    else if (!mem->peak.is_known)
        tts_say(out, 2, "not known, as the peak is not known");
    else if (!mem->device_memory.is_known)
        tts_say(out, 2,
                "not known: the memory of the device is not; give --device or "
                "--device_memory");
    else if (!mem->peak_at_least)
        tts_say(out, 2,
                "not known: the first iteration fits with %s" TTS_SAY_GLUE
                "MB, later iterations need more and may not fit",
                tts_analyze_mb(mb, mem->peak.bytes));
    else
        tts_say(out, 2,
                "not known, as not all of the run is: its peak is at least %s" TTS_SAY_GLUE
                "MB",
                tts_analyze_mb(mb, mem->peak.bytes));
}

static void put_fits(const struct tts_trainmem *mem, FILE *out)
{
    char peak[TTS_ANALYZE_NUMBER_MAX], all[TTS_ANALYZE_NUMBER_MAX],
        left[TTS_ANALYZE_NUMBER_MAX];
    int64_t free_bytes = mem->device_memory.bytes - mem->peak.bytes;
    tts_say(out, 2,
            "fits: %s" TTS_SAY_GLUE "MB of %s" TTS_SAY_GLUE "MB, %s" TTS_SAY_GLUE "MB free",
            tts_analyze_mb(peak, mem->peak.bytes),
            tts_analyze_mb(all, mem->device_memory.bytes), tts_analyze_mb(left, free_bytes));
    if (free_bytes < mem->device_memory.bytes / 100 * HEADROOM_PERCENT)
        tts_say(out, 2,
                "warning: less than %d" TTS_SAY_GLUE
                "%% is left; what lies in pieces, programs and traces "
                "need some",
                HEADROOM_PERCENT);
}

void tts_analyze_text_verdict(const struct tts_analyze_options *options,
                              const struct tts_analyze_run *run, FILE *out)
{
    const struct tts_trainmem *mem = run->mem;
    char peak[TTS_ANALYZE_NUMBER_MAX], all[TTS_ANALYZE_NUMBER_MAX],
        more[TTS_ANALYZE_NUMBER_MAX];
    fputs("\n--- Verdict ---\n", out);
    if (options->has_limit && tts_analyze_judge(options, mem) == TTS_ANALYZE_BAD)
        tts_say(out, 2, "above what --fail-above allows, %s%% of the device",
                tts_share_format(more, options->limit));
    if (!mem->has_verdict) {
        put_unknown(run, out);
        return;
    }
    if (mem->fits) {
        put_fits(mem, out);
        return;
    }
    tts_analyze_mb(peak, mem->peak.bytes);
    tts_analyze_mb(all, mem->device_memory.bytes);
    if (mem->is_refused) { /* not for lack of memory: no remedy is known here */
        tts_say(out, 2,
                "does not fit: the peak is %s" TTS_SAY_GLUE "MB of %s" TTS_SAY_GLUE
                "MB, but 'ttscope fit' says that the run does not fit; run it again for the "
                "reason (chips, pieces of memory, or a run that its program refuses)",
                peak, all);
        return;
    }
    tts_say(out, 2,
            "does not fit: %s%s" TTS_SAY_GLUE "MB of %s" TTS_SAY_GLUE "MB, %s" TTS_SAY_GLUE
            "MB too much",
            mem->peak_at_least ? "at least " : "", peak, all,
            tts_analyze_mb(more, mem->peak.bytes - mem->device_memory.bytes));
    put_remedies(options, mem, out);
}
