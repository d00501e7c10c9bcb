/* fit_refuse.c: runs that the files may ask for and that are not modelled. Nothing is answered
 * for them; the nearest that is modelled is named. */
#include "cli/command.h"
#include "cli/fit_parts.h"
#include "cli/message.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_FIT_COMMAND;

struct refusal {
    const char *name, *nearest;
};

static const struct refusal model_types[] = {
    {"deepseek", "llama is nearest, for its dense blocks; latent attention and experts differ"},
    {"qwen3", "llama is nearest, without the norms of q and k and the head_dim of its own"},
    {"mlp", "gpt2 and llama are"},
    {"dit", "gpt2 and llama are"},
};

static const struct refusal optimizers[] = {
    {"Muon", "SGD with momentum is nearest: it has as much state"},
    {"MuonComposite", "SGD with momentum is nearest: it has as much state"},
    {"MuonWithAdamW", "AdamW is nearest, with more state"},
    {"SGDComposite", "SGD with momentum is nearest: it has as much state"},
};

static const struct refusal *find(const struct refusal *refusals, size_t count,
                                  const char *name)
{
    for (size_t i = 0; i < count; i++) {
        const char *const names[] = {refusals[i].name};
        const struct tts_fit_words words = {"", names, 1};
        uint64_t at;
        if (tts_fit_word_find(&words, name, &at))
            return &refusals[i];
    }
    return NULL;
}

bool tts_fit_refuse_optimizer(const char *name, const char **nearest)
{
    const struct refusal *refusal =
        find(optimizers, sizeof optimizers / sizeof optimizers[0], name);
    if (refusal)
        *nearest = refusal->nearest;
    return refusal != NULL;
}

/* "x.yaml:7: " and what is not modelled. */
static int refuse(const struct tts_fit_setup *setup, unsigned file, uint32_t line,
                  const char *what)
{
    tts_message(command, "%s:%" PRIu32 ": %s", tts_fit_path(setup, file), line, what);
    return TTS_EXIT_USAGE;
}

static int refuse_word(const struct tts_fit_setup *setup, enum tts_trainfile_key key,
                       const char *what, const char *nearest)
{
    const struct tts_trainfile_value *value = &setup->file.values[key];
    tts_message(command, "%s:%" PRIu32 ": the %s '%.40s' is not modelled, %s",
                tts_fit_path(setup, value->file), value->line, what, value->text, nearest);
    return TTS_EXIT_USAGE;
}

static int refuse_model_type(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile_value *type = &setup->file.values[TTS_TRAINFILE_MODEL_TYPE];
    uint64_t family;
    if (!type->is_set || tts_fit_word_find_exact(&tts_fit_families, type->text, &family))
        return TTS_EXIT_DONE;
    const struct refusal *refusal =
        find(model_types, sizeof model_types / sizeof model_types[0], type->text);
    return refuse_word(setup, TTS_TRAINFILE_MODEL_TYPE, "model type",
                       refusal ? refusal->nearest : "gpt2 and llama are");
}

static int refuse_file_optimizer(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile_value *type = &setup->file.values[TTS_TRAINFILE_OPTIMIZER_TYPE];
    const char *nearest;
    if (!type->is_set || setup->options->is_given[TTS_FIT_OPTIMIZER] ||
        !tts_fit_refuse_optimizer(type->text, &nearest))
        return TTS_EXIT_DONE;
    return refuse_word(setup, TTS_TRAINFILE_OPTIMIZER_TYPE, "optimizer", nearest);
}

static int refuse_mlp(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile *file = &setup->file;
    if (file->mlp_line > 0)
        return refuse(setup, file->mlp_file, file->mlp_line,
                      "the model type 'mlp' is not modelled, gpt2 and llama are");
    return TTS_EXIT_DONE;
}

static int refuse_experts(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile *file = &setup->file;
    if (file->moe_line > 0)
        return refuse(setup, file->moe_file, file->moe_line,
                      "mixtures of experts are not modelled, dense blocks are");
    return TTS_EXIT_DONE;
}

static int refuse_sections(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile *file = &setup->file;
    if (file->pipeline_line > 0)
        return refuse(setup, file->pipeline_file, file->pipeline_line,
                      "a pipeline is not modelled; one stage of it is nearest: its model file "
                      "alone, with '--blocks'");
    if (file->grpo_line > 0)
        return refuse(setup, file->grpo_file, file->grpo_line,
                      "GRPO is not modelled; training on text is nearest: leave this section "
                      "out");
    if (file->lora_line > 0)
        return refuse(setup, file->lora_file, file->lora_line,
                      "LoRA is not modelled; training of all parameters is nearest, which "
                      "takes more: leave it out");
    return TTS_EXIT_DONE;
}

/* Keys that may be there and false. */
static int refuse_flags(const struct tts_fit_setup *setup)
{
    static const struct {
        enum tts_trainfile_key key;
        const char *what;
    } flags[] = {
        {TTS_TRAINFILE_ENABLE_CP,
         "context parallel is not modelled, tensor and data parallel are"},
        {TTS_TRAINFILE_ENABLE_FSDP, "FSDP is not modelled, tensor and data parallel are"},
        {TTS_TRAINFILE_COMPOSITE_LAYERNORM,
         "the composite layernorm is not modelled, the fused one is: set it to false"},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        const struct tts_trainfile_value *value = &setup->file.values[flags[i].key];
        if (value->is_set && value->number != 0)
            return refuse(setup, value->file, value->line, flags[i].what);
    }
    return TTS_EXIT_DONE;
}

/* The C++ program does not read the key. */
static int refuse_biases(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile_value *bias = &setup->file.values[TTS_TRAINFILE_BIAS];
    const struct tts_trainfile_value *type = &setup->file.values[TTS_TRAINFILE_MODEL_TYPE];
    bool is_gpt2 = !type->is_set || strcmp(type->text, "gpt2") == 0;
    if (tts_fit_is_python(setup) && is_gpt2 && bias->is_set && bias->number == 0)
        return refuse(setup, bias->file, bias->line,
                      "gpt2 without biases is not modelled, with them it is");
    return TTS_EXIT_DONE;
}

static int refuse_placement(const struct tts_fit_setup *setup)
{
    const struct tts_trainfile_value *placement =
        &setup->file.values[TTS_TRAINFILE_EMBEDDING_PLACEMENT];
    if (!tts_fit_is_v1(setup) && placement->is_set &&
        strcmp(placement->text, "replicated") != 0)
        return refuse_word(setup, TTS_TRAINFILE_EMBEDDING_PLACEMENT, "embedding placement",
                           "replicated is");
    return TTS_EXIT_DONE;
}

int tts_fit_refuse_model(struct tts_fit_setup *setup)
{
    int code = refuse_mlp(setup);
    if (code == TTS_EXIT_DONE)
        code = refuse_model_type(setup);
    if (code == TTS_EXIT_DONE)
        code = refuse_experts(setup);
    return code == TTS_EXIT_DONE ? refuse_biases(setup) : code;
}

int tts_fit_refuse(struct tts_fit_setup *setup)
{
    static int (*const steps[])(const struct tts_fit_setup *) = {
        refuse_sections, refuse_flags, refuse_placement, refuse_file_optimizer};
    int code = tts_fit_refuse_model(setup);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == TTS_EXIT_DONE; i++)
        code = steps[i](setup);
    return code;
}
