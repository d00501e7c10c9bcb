#include "plan/settings.h"

#include "base/error.h"
#include "base/nearest.h"
#include "base/number.h"
#include "sources/config/trainfile.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- words ---- */

/* The words are in the order of their enumerators. */
#define WORDS(label, ...)                                                                      \
    {                                                                                          \
        label, (const char *const[]){__VA_ARGS__},                                             \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)                  \
    }

static const struct tts_words families = WORDS("model type", "gpt2", "llama");
static const struct tts_words tying = WORDS("weight tying", "disabled", "enabled");
static const struct tts_words positions = WORDS("positional embedding", "trainable", "fixed");
static const struct tts_words runners = WORDS("runner", "default", "memory_efficient");
static const struct tts_words optimizers = WORDS(
    "optimizer", "AdamW", "MorehAdamW", "AdamWComposite", "AdamWFullPrecision", "SGD", "NoOp");
const struct tts_words tts_words_recipes =
    WORDS("recipe", "v1", "v1-python", "head", "head-c++", "may", "may-c++");

enum { WORD_MAX = 32 };

/* Copies letters and digits in lower case. A word that is too long is cut. */
static void make_plain_setting_word(char out[WORD_MAX], const char *text)
{
    size_t len = 0;
    for (; *text && len + 1 < WORD_MAX; text++)
        if (*text != '-' && *text != '_')
            out[len++] = (char)tolower((unsigned char)*text);
    out[len] = '\0';
}

static bool is_same_setting_word(const char *text, const char *name)
{
    char plain_text[WORD_MAX], plain_name[WORD_MAX];
    make_plain_setting_word(plain_text, text);
    make_plain_setting_word(plain_name, name);
    return strlen(text) < WORD_MAX && strcmp(plain_text, plain_name) == 0;
}

static const char *nearest_setting_word(const struct tts_words *words, const char *text)
{
    char given[WORD_MAX], name[WORD_MAX];
    make_plain_setting_word(given, text);
    struct tts_nearest nearest = {.word = given};
    const char *best = NULL;
    for (size_t i = 0; i < words->count; i++) {
        unsigned distance = nearest.distance;
        bool had = nearest.best != NULL;
        make_plain_setting_word(name, words->names[i]);
        tts_nearest_offer(&nearest, name);
        if (nearest.best && (!had || nearest.distance < distance))
            best = words->names[i];
    }
    return best;
}

enum { CLAUSE_MAX = sizeof((struct tts_error *)NULL)->text };

/* Names the word that is nearest to `text`, if any, and all words. */
static void describe_words(const struct tts_words *words, const char *text,
                           char out[CLAUSE_MAX])
{
    const char *nearest = nearest_setting_word(words, text);
    size_t len = 0;
    if (nearest)
        len = (size_t)snprintf(out, CLAUSE_MAX, "did you mean '%s'? ", nearest);
    for (size_t i = 0; i < words->count && len < CLAUSE_MAX; i++)
        len += (size_t)snprintf(out + len, CLAUSE_MAX - len, "%s%s",
                                i == 0                  ? (nearest ? "allowed: " : "expected ")
                                : i + 1 == words->count ? " or "
                                                        : ", ",
                                words->names[i]);
}

enum tts_status tts_words_find(const struct tts_words *words, const char *text, uint64_t *out,
                               struct tts_error *err)
{
    char expected[CLAUSE_MAX];
    for (size_t i = 0; i < words->count; i++) {
        if (!is_same_setting_word(text, words->names[i]))
            continue;
        *out = i;
        return TTS_OK;
    }
    describe_words(words, text, expected);
    return tts_error_set(err, TTS_E_NOT_FOUND, "%s", expected);
}

enum tts_status tts_words_find_exact(const struct tts_words *words, const char *text,
                                     uint64_t *out, struct tts_error *err)
{
    char expected[CLAUSE_MAX];
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(text, words->names[i]) != 0)
            continue;
        *out = i;
        return TTS_OK;
    }
    describe_words(words, text, expected);
    return tts_error_set(err, TTS_E_NOT_FOUND, "unknown %s '%.40s', %s", words->what, text,
                         expected);
}

/* ---- the table ---- */

#define ROW(key, option, kind, words, file, workload)                                          \
    {                                                                                          \
        key, option, TTS_SETTING_##kind, words, offsetof(struct tts_trainfile, file),          \
            offsetof(struct tts_workload, workload),                                           \
            sizeof((struct tts_workload *)NULL)->workload                                      \
    }

/* tensor_parallel and data_parallel come from mesh_shape. The file fields of their rows are
 * the keys that turn them on. */
static const struct tts_setting settings[TTS_FIELD_NONE] = {
    [TTS_FIELD_FAMILY] = ROW("model_type", NULL, WORD, &families, model_type, model.family),
    [TTS_FIELD_BLOCKS] = ROW("num_blocks", "--blocks", NUMBER, NULL, num_blocks, model.blocks),
    [TTS_FIELD_WIDTH] =
        ROW("embedding_dim", "--width", NUMBER, NULL, embedding_dim, model.width),
    [TTS_FIELD_HEADS] = ROW("num_heads", "--heads", NUMBER, NULL, num_heads, model.heads),
    [TTS_FIELD_GROUPS] = ROW("num_groups", "--groups", NUMBER, NULL, num_groups, model.groups),
    [TTS_FIELD_MLP_WIDTH] =
        ROW("intermediate_dim", "--mlp", NUMBER, NULL, intermediate_dim, model.mlp_width),
    [TTS_FIELD_SEQUENCE] =
        ROW("max_sequence_length", "--seq", NUMBER, NULL, max_sequence, model.sequence),
    [TTS_FIELD_VOCABULARY] =
        ROW("vocab_size", "--vocab", NUMBER, NULL, vocab_size, model.vocabulary),
    [TTS_FIELD_TIED] =
        ROW("weight_tying", "--weight-tying", WORD, &tying, weight_tying, model.tied),
    [TTS_FIELD_DROPOUT] = ROW("dropout_prob", "--dropout", BOOL, NULL, dropout, model.dropout),
    [TTS_FIELD_POSITIONS] = ROW("positional_embedding_type", NULL, WORD, &positions, positions,
                                model.fixed_positions),
    [TTS_FIELD_RUNNER] = ROW("runner_type", "--runner", WORD, &runners, runner, runner),
    [TTS_FIELD_OPTIMIZER] =
        ROW("optimizer", "--optimizer", WORD, &optimizers, optimizer_type, optimizer.kind),
    [TTS_FIELD_MOMENTUM] =
        ROW("momentum", "--momentum", BOOL, NULL, momentum, optimizer.momentum),
    [TTS_FIELD_AMSGRAD] = ROW("amsgrad", NULL, BOOL, NULL, amsgrad, optimizer.amsgrad),
    [TTS_FIELD_KAHAN] =
        ROW("kahan_summation", NULL, BOOL, NULL, optimizer_kahan, optimizer.kahan),
    [TTS_FIELD_BATCH] = ROW("batch_size", "--batch", NUMBER, NULL, batch_size, batch),
    [TTS_FIELD_ACCUMULATE] = ROW("gradient_accumulation_steps", "--accumulate", NUMBER, NULL,
                                 accumulation, accumulate),
    [TTS_FIELD_CLIP] = ROW("use_clip_grad_norm", "--clip", BOOL, NULL, clip, clip),
    [TTS_FIELD_TENSOR_PARALLEL] =
        ROW("tensor_parallel", "--tensor-parallel", NUMBER, NULL, enable_tp, tensor_parallel),
    [TTS_FIELD_DATA_PARALLEL] =
        ROW("data_parallel", "--data-parallel", NUMBER, NULL, enable_ddp, data_parallel),
};

const struct tts_setting *tts_setting_of(enum tts_workload_field field)
{
    assert((unsigned)field < TTS_FIELD_NONE);
    return &settings[field];
}

const struct tts_trainfile_value *tts_setting_in_file(enum tts_workload_field field,
                                                      const struct tts_trainfile *file)
{
    return (const void *)((const char *)file + tts_setting_of(field)->file_field);
}

void tts_setting_store(enum tts_workload_field field, uint64_t number,
                       struct tts_workload *workload)
{
    const struct tts_setting *setting = tts_setting_of(field);
    char *at = (char *)workload + setting->workload_field;
    const unsigned word = (unsigned)number;
    const bool flag = number != 0;
    const void *from = setting->workload_size == sizeof flag   ? (const void *)&flag
                       : setting->workload_size == sizeof word ? (const void *)&word
                                                               : (const void *)&number;
    memcpy(at, from, setting->workload_size);
}

/* ---- overrides ---- */

const char *tts_optimizer_nearest(const char *name)
{
    static const char sgd[] =
        "to predict its memory, give '--optimizer SGD --momentum 0.9': the state of both "
        "optimizers has the same size";
    static const struct {
        const char *name, *nearest;
    } known[] = {{"Muon", sgd},
                 {"MuonComposite", sgd},
                 {"MuonWithAdamW",
                  "for an upper limit, give '--optimizer AdamW', whose state is larger"},
                 {"SGDComposite", sgd}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (is_same_setting_word(name, known[i].name))
            return known[i].nearest;
    return NULL;
}

void tts_overrides_give(struct tts_overrides *overrides, enum tts_workload_field field,
                        uint64_t number)
{
    assert((unsigned)field < TTS_FIELD_NONE);
    overrides->is_given[field] = true;
    overrides->given[field] = number;
}

/* Reads a decimal number of at least 0 and less than 1. Sets *out to 0 if the number is 0, else
 * to 1. */
static enum tts_status read_probability(const char *text, uint64_t *out)
{
    size_t digits = 0;
    bool is_fraction = false, is_zero = true, is_good = true;
    for (const char *c = text; *c; c++) {
        if (*c == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        is_good &= *c == '0' || (is_fraction && *c >= '1' && *c <= '9');
        is_zero &= *c == '0';
        digits++;
    }
    *out = !is_zero;
    return is_good && digits > 0 ? TTS_OK : TTS_E_SYNTAX;
}

static enum tts_status read_setting_option(const struct tts_setting *setting, const char *text,
                                           uint64_t *out, struct tts_error *err)
{
    const char *nearest = setting->words == &optimizers ? tts_optimizer_nearest(text) : NULL;
    switch (setting->kind) {
    case TTS_SETTING_NUMBER:
        if (tts_number_parse(text, strlen(text), out) == TTS_OK && *out > 0 &&
            *out <= UINT32_MAX)
            return TTS_OK;
        return tts_error_set(err, TTS_E_SYNTAX, "expected a whole number from 1 to %" PRIu32,
                             UINT32_MAX);
    case TTS_SETTING_BOOL:
        if (read_probability(text, out) == TTS_OK)
            return TTS_OK;
        return tts_error_set(err, TTS_E_SYNTAX,
                             "expected a number of at least 0 and less than 1, such as 0.1");
    case TTS_SETTING_WORD:
        break;
    }
    if (nearest)
        return tts_error_set(err, TTS_E_INVALID, "this optimizer is not modelled; %s", nearest);
    return tts_words_find(setting->words, text, out, err);
}

enum tts_status tts_overrides_set(struct tts_overrides *overrides,
                                  enum tts_workload_field field, const char *text,
                                  struct tts_error *err)
{
    uint64_t number = 0;
    enum tts_status status = read_setting_option(tts_setting_of(field), text, &number, err);
    if (status == TTS_OK)
        tts_overrides_give(overrides, field, number);
    return status;
}
