/* Programs from January to August 2026 kept one phase for each name. With gradient accumulation
 * every micro-step is then printed with the figures of the last: each backward pass frees what
 * its forward pass kept, and the gradients of the first micro-step are in no phase. */
#include "sources/trainlog_inside.h"

#include "base/number.h"

#define TOLERANCE_BYTES INT64_C(20972) /* 0.02 MB: two figures, each rounded to 0.01 */

bool tts_trainlog_is_warned(const struct tts_trainlog *log, struct tts_span raw)
{
    struct tts_span before = tts_logtext_before(&log->text, raw.at, TTS_TRAINLOG_LOOK_BACK);
    /* The lines of an earlier block are not about this one. */
    for (const char *at; (at = tts_span_find(before, "Overall DRAM Peak"));)
        before = (struct tts_span){at + 1, before.len - (size_t)(at + 1 - before.at)};
    return tts_span_find(before, "' already exists, overwriting") != NULL;
}

/* The phases of one name: how many, the first, and whether all have the same figures. */
struct repeated {
    size_t count;
    const struct tts_run_phase *first;
    bool is_same;
};

static bool is_same(const struct tts_run_phase *a, const struct tts_run_phase *b)
{
    for (int i = TTS_RUN_SEGMENT_PEAK; i <= TTS_RUN_CHANGE; i++)
        if (!a->figures[i].is_known || !b->figures[i].is_known ||
            a->figures[i].bytes != b->figures[i].bytes)
            return false;
    return true;
}

static struct repeated find_repeated(const struct tts_trainlog_rank *rank, const char *name)
{
    struct repeated found = {.is_same = true};
    for (size_t i = 0; i < rank->run.phase_count; i++) {
        const struct tts_run_phase *phase = &rank->phases[i];
        if (strcmp(phase->name, name) != 0)
            continue;
        if (found.count++ == 0)
            found.first = phase;
        found.is_same &= is_same(found.first, phase);
    }
    return found;
}

static bool cancels(const struct repeated *forward, const struct repeated *backward)
{
    struct tts_amount kept = forward->first->figures[TTS_RUN_CHANGE];
    struct tts_amount left = tts_amount_add(kept, backward->first->figures[TTS_RUN_CHANGE]);
    return kept.bytes > 0 && left.is_known && left.bytes <= TOLERANCE_BYTES &&
           left.bytes >= -TOLERANCE_BYTES;
}

/* One set of gradients, as large as the model: what making it left, or 2 bytes for each
 * parameter if that is less (a log counts all parameters, also those of other chips). With
 * LoRA only a few parameters have gradients. */
static struct tts_amount missing_of(const struct tts_trainlog_rank *rank)
{
    const struct repeated model = find_repeated(rank, "MODEL_CREATION");
    for (size_t i = 0; i < rank->run.phase_count; i++)
        if (strstr(rank->phases[i].name, "LORA"))
            return (struct tts_amount){0};
    if (model.count != 1 || model.first->figures[TTS_RUN_CHANGE].bytes <= 0)
        return (struct tts_amount){0};
    int64_t bytes = model.first->figures[TTS_RUN_CHANGE].bytes;
    if (rank->run.has_parameters && rank->run.parameters > 0 &&
        rank->run.parameters < (uint64_t)bytes / 2)
        bytes = (int64_t)rank->run.parameters * 2;
    return tts_amount_of(bytes);
}

static void note_overwritten(struct tts_run *run, uint64_t line)
{
    char mb[TTS_NUMBER_MB_MAX];
    if (run->missing.is_known)
        tts_trainlog_note(run, line,
                          "the program overwrote earlier micro-steps: at least %s MB are "
                          "missing, one set of gradients",
                          tts_number_format_mb(mb, run->missing.bytes, false));
    else
        tts_trainlog_note(run, line,
                          "the program overwrote earlier micro-steps: their gradients are "
                          "missing");
}

/* In a log with all micro-steps the first backward pass leaves its gradients, so that its
 * figures differ from those of later ones. */
void tts_trainlog_find_overwritten(struct tts_trainlog_rank *rank)
{
    const struct repeated forward = find_repeated(rank, "FORWARD_PASS"),
                          backward = find_repeated(rank, "BACKWARD_PASS");
    if (forward.count < 2 || backward.count < 2 || !forward.is_same || !backward.is_same)
        return;
    if (!rank->is_warned &&
        (find_repeated(rank, "MODEL_CREATION").count == 0 || !cancels(&forward, &backward)))
        return;
    struct tts_run *run = &rank->run;
    run->is_overwritten = run->is_at_least = true;
    run->missing = missing_of(rank);
    note_overwritten(run, forward.first->line);
}
