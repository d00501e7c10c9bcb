/* inference_text.c: the memory that serving a model needs, for people. */
#include "base/number.h"
#include "views/fit/fit_view.h"
#include "views/fit/fit_words.h"
#include "views/fit/inference_view.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>

static void print_inference_head(const struct tts_inferconfig *ask,
                                 const struct tts_inference *plan, FILE *out)
{
    const struct tts_inference_config *config = &ask->config;
    const struct tts_inference_model *model = &config->model;
    char type[TTS_INFERCONFIG_TYPE_MAX * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text(type, sizeof type, ask->model_type, TTS_INFERCONFIG_TYPE_MAX);
    fprintf(out, "%s%s: %" PRIu64 " parameters\n", type,
            ask->type_is_assumed ? " (assumed, the file does not say)" : "", plan->parameters);
    tts_say(out, 0,
            "%" PRIu64 " layers of width %" PRIu64 ", %" PRIu64 " heads of width %" PRIu64
            ", %" PRIu64 " k/v heads; MLP width %" PRIu64 ", vocabulary %" PRIu64 "%s",
            model->layers, model->hidden, model->heads, model->head_dim, model->kv_heads,
            model->mlp_width, model->vocabulary, model->tied ? ", tied" : "");
    if (ask->vocabulary_why)
        tts_say(out, 0, "vocabulary: %s", ask->vocabulary_why);
    tts_say(out, 0,
            "batch %" PRIu64 ", context %" PRIu64 " tokens in blocks of %" PRIu64
            ", prefill in chunks of %" PRIu64 "%s",
            config->batch, config->length, config->block, tts_inference_prefill(config),
            config->prefill == 0 ? " (default)" : "");
    if (config->tensor_parallel > 1)
        fprintf(out, "tensor parallel on %" PRIu64 " chips; all figures below are per chip\n",
                config->tensor_parallel);
    fputc('\n', out);
}

static void print_inference_parts(const struct tts_inferconfig *ask,
                                  const struct tts_inference *plan, FILE *out)
{
    char mb[TTS_NUMBER_MB_MAX], share[TTS_FIT_SHARE_MAX];
    fprintf(out, "%-14s  %-5s  %12s  %8s\n", "part", "dtype", "MB", "share");
    for (int i = 0; i < TTS_INFERENCE_PARTS; i++) {
        enum tts_inference_part part = (enum tts_inference_part)i;
        const char *dtype = tts_inference_part_dtype(&ask->config, part);
        uint64_t bytes = plan->part_bytes[i];
        if (bytes == 0)
            continue;
        fprintf(out, "%-14s  %-5s  %12s  %8s%s\n", tts_inference_part_name(part),
                dtype ? dtype : "-", tts_fit_mb(mb, bytes),
                tts_fit_share(share, bytes, plan->total_bytes),
                part == TTS_INFERENCE_ACTIVATIONS ? "  estimated upper bound, one chunk"
                : tts_inference_part_is_estimated(&ask->config, part) ? "  estimated"
                                                                      : "");
    }
    fprintf(out, "%-14s  %-5s  %12s\n\n", "total", "", tts_fit_mb(mb, plan->total_bytes));
}

static void print_inference_failure(const struct tts_inference *plan, FILE *out)
{
    char text[TTS_FAILURE_TEXT_MAX];
    fprintf(out, "  first allocation that fails: %s",
            tts_inference_part_name(plan->failed_part));
    if (plan->failed_layer >= 0)
        fprintf(out, " of layer %" PRId32, plan->failed_layer);
    fputc('\n', out);
    tts_say_sentence(out, "    ", tts_failure_text(&plan->first_failure, text));
}

static struct tts_fit_banks inference_banks_of(const struct tts_inference *plan)
{
    return (struct tts_fit_banks){.count = plan->banks,
                                  .bank_bytes = plan->bank_bytes,
                                  .peak_bank_bytes = plan->peak_bank_bytes,
                                  .beside_bytes = plan->part_bytes[TTS_INFERENCE_TRACE]};
}

static struct tts_fit_too_few inference_too_few_of(const struct tts_inference_answer *answer)
{
    const struct tts_inference *plan = &answer->plan;
    return (struct tts_fit_too_few){.chip = answer->chip,
                                    .needed = answer->ask->config.tensor_parallel,
                                    .peak_bytes = plan->total_bytes,
                                    .capacity_bytes = plan->capacity_bytes,
                                    .is_estimated = true,
                                    .is_too_much = !plan->fits};
}

/* Formats the verdict, the first line of the answer. Returns `out`. */
static const char *format_inference_verdict(char out[TTS_FIT_VERDICT_MAX],
                                            const struct tts_inference_answer *answer)
{
    const struct tts_inference *plan = &answer->plan;
    const struct tts_fit_too_few few = inference_too_few_of(answer);
    char total[TTS_NUMBER_MB_MAX], capacity[TTS_NUMBER_MB_MAX];
    if (!tts_inference_has_chips(answer))
        return tts_fit_too_few_text(out, &few);
    snprintf(out, TTS_FIT_VERDICT_MAX, "%s %s%s: %s MB of %s MB",
             plan->fits ? "fits" : "does not fit", answer->chip->name,
             answer->ask->config.tensor_parallel > 1 ? " (estimated)" : "",
             tts_fit_mb(total, plan->total_bytes), tts_fit_mb(capacity, plan->capacity_bytes));
    return out;
}

static void print_inference_headline(const struct tts_inference_answer *answer, FILE *out)
{
    char verdict[TTS_FIT_VERDICT_MAX];
    struct tts_fit_headline line = {.verdict = format_inference_verdict(verdict, answer)};
    line.peak_bytes = answer->plan.total_bytes;
    line.capacity_bytes = answer->plan.capacity_bytes;
    if (tts_inference_has_chips(answer))
        line.banks = inference_banks_of(&answer->plan);
    if (answer->lighter_count > 0 && answer->lighter[0].fits)
        line.remedy = answer->lighter[0].options;
    tts_fit_say_headline(out, &line);
}

static void print_inference_verdict(const struct tts_inference_answer *answer, FILE *out)
{
    const struct tts_inference *plan = &answer->plan;
    const struct tts_fit_banks banks = inference_banks_of(plan);
    const struct tts_fit_too_few few = inference_too_few_of(answer);
    char verdict[TTS_FIT_VERDICT_MAX];
    if (!tts_inference_has_chips(answer))
        tts_fit_say_too_few(out, &few);
    else
        tts_say(out, 0, "%s", format_inference_verdict(verdict, answer));
    if (plan->peak_bank_bytes > plan->bank_bytes)
        tts_fit_say_missing(out, &banks);
    if (!plan->fits)
        print_inference_failure(plan, out);
    tts_fit_say_each_bank(out, &banks);
    if (plan->fits)
        tts_fit_say_headroom(out, &banks);
}

/* Says what the verdict counts, and an upper bound that the verdict does not count: a prefill
 * of the whole context at once. */
static void print_inference_bound(const struct tts_inference_answer *answer, FILE *out)
{
    const struct tts_inference_config *config = &answer->ask->config;
    const struct tts_inference_bound *bound = &answer->plan.bound;
    uint64_t chunk = tts_inference_prefill(config);
    char total[TTS_NUMBER_MB_MAX], activations[TTS_NUMBER_MB_MAX], one[TTS_NUMBER_MB_MAX];
    tts_say(out, 2,
            "counted: weights, KV cache and the prefill of one chunk of %" PRIu64
            " tokens (%s)",
            chunk,
            config->prefill > 0       ? "set by '--prefill'"
            : chunk == config->length ? "the whole context; by default a chunk has at most 2048"
                                      : "the default; '--prefill N' changes it");
    if (chunk == config->length)
        return;
    if (bound->is_known)
        tts_say(out, 2,
                "not counted: if all %" PRIu64
                " tokens were prefilled at once, the activations would need up to %s MB "
                "instead of %s MB; the total of up to %s MB %s",
                config->length, tts_fit_mb(activations, bound->activation_bytes),
                tts_fit_mb(one, answer->plan.part_bytes[TTS_INFERENCE_ACTIVATIONS]),
                tts_fit_mb(total, bound->total_bytes),
                bound->fits ? "would fit" : "may not fit");
}

static void print_inference_largest(const struct tts_inference_config *config,
                                    const struct tts_inference *plan, FILE *out)
{
    fprintf(out, "largest context at batch %" PRIu64 ": ", config->batch);
    if (plan->largest_length == 0)
        fputs("none", out);
    else
        fprintf(out, "%" PRIu64 " tokens", plan->largest_length);
    if (plan->largest_length == plan->length_limit)
        fputs(config->model.positions > 0 ? ", the limit of the model"
                                          : " (larger values were not tried)",
              out);
    fprintf(out, "\nlargest batch at a context of %" PRIu64 ": ", config->length);
    if (plan->largest_batch == 0)
        fputs("none", out);
    else
        fprintf(out, "%" PRIu64, plan->largest_batch);
    fputs(plan->largest_batch == plan->batch_limit ? " (larger values were not tried)\n" : "\n",
          out);
}

static void print_inference_unused(const struct tts_inferconfig *ask, FILE *out)
{
    char method[TTS_INFERCONFIG_TYPE_MAX * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text(method, sizeof method, ask->quantization, TTS_INFERCONFIG_TYPE_MAX);
    if (tts_inferconfig_has_window(ask))
        tts_say(out, 0, "not used: sliding_window %" PRIu64 "; " TTS_INFERENCE_WINDOW_REASON,
                ask->window);
    if (ask->is_quantized)
        tts_say(out, 0,
                "not used: quantization_config%s%s%s; " TTS_INFERENCE_QUANTIZATION_REASON,
                method[0] ? " (" : "", method, method[0] ? ")" : "");
}

static void print_inference_left_out(const struct tts_inferconfig *ask, FILE *out)
{
    const struct tts_inference_config *config = &ask->config;
    fputc('\n', out);
    print_inference_unused(ask, out);
    tts_say(out, 0, "not counted: kernel binaries, token ids, page tables, sampling%s",
            config->tensor_parallel > 1 ? ", buffers for the exchange between chips" : "");
    tts_say(out, 0, TTS_FIT_L1_UNKNOWN);
    if (config->model.tied && !config->separate_head)
        tts_say(out, 0,
                "tied: embedding and head share one table; if the program stores a separate "
                "table for the head, give '--separate-head' to count it");
}

static void print_inference_lighter(const struct tts_inference_answer *answer, FILE *out)
{
    char total[TTS_NUMBER_MB_MAX];
    const struct tts_inference_lighter *first = &answer->lighter[0];
    for (size_t i = 0; i < answer->lighter_count; i++) {
        const struct tts_inference_lighter *lighter = &answer->lighter[i];
        if (i == 0 || lighter[-1].fits != lighter->fits)
            fputs(lighter->fits ? "\nchanges that make it fit:\n"
                  : first->fits ? "\nthese changes are not enough:\n"
                                : "\nnone of these changes makes it fit:\n",
                  out);
        fprintf(out, "  %s\n    %s: %s MB\n", lighter->options,
                lighter->fits ? "fits" : "does not fit",
                tts_fit_mb(total, lighter->total_bytes));
    }
}

void tts_inference_text(const struct tts_inference_answer *answer, FILE *out)
{
    print_inference_headline(answer, out);
    print_inference_head(answer->ask, &answer->plan, out);
    print_inference_parts(answer->ask, &answer->plan, out);
    print_inference_verdict(answer, out);
    print_inference_bound(answer, out);
    if (tts_inference_has_chips(answer))
        print_inference_largest(&answer->ask->config, &answer->plan, out);
    print_inference_lighter(answer, out);
    print_inference_left_out(answer->ask, out);
}
