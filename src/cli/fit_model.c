/* fit_model.c: the model of a workload. What the files leave out is as the program of the
 * recipe has it; docs/design/fit-json.md lists it. */
#include "cli/command.h"
#include "cli/fit_parts.h"
#include "cli/message.h"

#include <assert.h>
#include <inttypes.h>

static const char command[] = TTS_FIT_COMMAND;

static int take_family(struct tts_fit_setup *setup)
{
    if (!setup->file.values[TTS_TRAINFILE_MODEL_TYPE].is_set && !tts_fit_is_python(setup))
        return tts_fit_missing(setup, TTS_TRAINFILE_MODEL, TTS_TRAINFILE_MODEL_TYPE,
                               "expected gpt2 or llama");
    return tts_fit_take_word(setup, TTS_FIT_FAMILY, TTS_TRAINFILE_MODEL_TYPE,
                             &tts_fit_families);
}

/* Options that the model has no use for. */
static int check_family_options(struct tts_fit_setup *setup)
{
    static const enum tts_fit_setting of_llama[] = {TTS_FIT_GROUPS, TTS_FIT_MLP};
    for (size_t i = 0; i < sizeof of_llama / sizeof of_llama[0]; i++) {
        if (tts_fit_is_llama(setup) || !setup->options->is_given[of_llama[i]])
            continue;
        tts_message(command, "option '%s' goes with llama only, the model is gpt2",
                    tts_fit_setting(of_llama[i])->option);
        return TTS_EXIT_USAGE;
    }
    return TTS_EXIT_DONE;
}

/* The C++ program has no default for those of GPT2. */
static int take_sizes(struct tts_fit_setup *setup)
{
    static const struct {
        enum tts_fit_setting setting;
        enum tts_trainfile_key key;
        uint64_t number;
    } sizes[] = {
        {TTS_FIT_BLOCKS, TTS_TRAINFILE_NUM_BLOCKS, 6},
        {TTS_FIT_WIDTH, TTS_TRAINFILE_EMBEDDING_DIM, 384},
        {TTS_FIT_HEADS, TTS_TRAINFILE_NUM_HEADS, 6},
        {TTS_FIT_SEQUENCE, TTS_TRAINFILE_MAX_SEQUENCE, 256},
        {TTS_FIT_DROPOUT, TTS_TRAINFILE_DROPOUT, 0},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        tts_fit_take_or(setup, sizes[i].setting, sizes[i].key, sizes[i].number);
        if (setup->values[sizes[i].setting].origin == TTS_FIT_DEFAULT &&
            !tts_fit_is_llama(setup) && !tts_fit_is_python(setup))
            return tts_fit_missing(setup, TTS_TRAINFILE_MODEL, sizes[i].key,
                                   "gpt2 has no default in the C++ program");
    }
    if (setup->values[TTS_FIT_DROPOUT].origin == TTS_FIT_DEFAULT)
        setup->values[TTS_FIT_DROPOUT].number = tts_fit_is_python(setup); /* 0.2 there */
    return TTS_EXIT_DONE;
}

/* The rule is for a key that is absent. */
static int take_mlp(struct tts_fit_setup *setup)
{
    const struct tts_fit_value *mlp = &setup->values[TTS_FIT_MLP];
    if (!tts_fit_take(setup, TTS_FIT_MLP, TTS_TRAINFILE_INTERMEDIATE_DIM))
        tts_fit_put_rule(setup, TTS_FIT_MLP, 0, "8/3 of the width, rounded up to 256");
    else if (mlp->number == 0) {
        tts_message(command, "%s:%" PRIu32 ": '%s' must be at least 1, and is 0",
                    tts_fit_path(setup, mlp->file), mlp->line,
                    tts_trainfile_key_name(TTS_TRAINFILE_INTERMEDIATE_DIM));
        return TTS_EXIT_INPUT;
    }
    return TTS_EXIT_DONE;
}

static int take_shape(struct tts_fit_setup *setup)
{
    if (tts_fit_is_llama(setup)) {
        tts_fit_take_or(setup, TTS_FIT_GROUPS, TTS_TRAINFILE_NUM_GROUPS, 3);
        return take_mlp(setup);
    }
    tts_fit_put_rule(setup, TTS_FIT_MLP, 0, "4 times the width");
    return tts_fit_take_word(setup, TTS_FIT_POSITIONS, TTS_TRAINFILE_POSITIONS,
                             &tts_fit_positions);
}

static int check_head_dim(struct tts_fit_setup *setup)
{
    const struct tts_trainfile_value *head_dim = &setup->file.values[TTS_TRAINFILE_HEAD_DIM];
    uint64_t width = setup->values[TTS_FIT_WIDTH].number;
    uint64_t heads = setup->values[TTS_FIT_HEADS].number;
    if (!head_dim->is_set || heads == 0 || head_dim->number == width / heads)
        return TTS_EXIT_DONE;
    tts_message(command,
                "%s:%" PRIu32 ": a head_dim of its own, %" PRIu64
                ", is not modelled; embedding_dim / num_heads is, %" PRIu64,
                tts_fit_path(setup, head_dim->file), head_dim->line, head_dim->number,
                width / heads);
    return TTS_EXIT_USAGE;
}

/* ---- the vocabulary ---- */

static int take_model_vocabulary(struct tts_fit_setup *setup, const char *why)
{
    const struct tts_trainfile_value *size = &setup->file.values[TTS_TRAINFILE_VOCAB_SIZE];
    if (!size->is_set)
        return tts_fit_missing(setup, TTS_TRAINFILE_MODEL, TTS_TRAINFILE_VOCAB_SIZE, why);
    bool is_taken = tts_fit_take(setup, TTS_FIT_VOCABULARY, TTS_TRAINFILE_VOCAB_SIZE);
    assert(is_taken);
    (void)is_taken;
    setup->values[TTS_FIT_VOCABULARY].why = "vocab_size of the model file";
    return TTS_EXIT_DONE;
}

/* The tokenizer decides; a char tokenizer has what is in its text. */
static int take_v1_vocabulary(struct tts_fit_setup *setup)
{
    static const char *const names[] = {"char", "bpe"};
    static const struct tts_fit_words words = {"tokenizer", names, 2};
    const struct tts_trainfile_value *type = &setup->file.values[TTS_TRAINFILE_TOKENIZER];
    char error[TTS_FIT_WORD_ERROR_MAX];
    uint64_t tokenizer = 0;
    if (type->is_set && !tts_fit_word_find_exact(&words, type->text, &tokenizer)) {
        tts_message(command, "%s:%" PRIu32 ": %s", tts_fit_path(setup, type->file), type->line,
                    tts_fit_word_error(&words, type->text, error));
        return TTS_EXIT_INPUT;
    }
    if (tts_fit_is_python(setup)) {
        tts_fit_put_rule(setup, TTS_FIT_VOCABULARY, TTS_FIT_CHARACTERS,
                         "the characters of the Shakespeare text, the only tokenizer there");
        return TTS_EXIT_DONE;
    }
    if (tokenizer == 1)
        return take_model_vocabulary(setup, "tokenizer_type bpe needs it, or '--vocab'");
    tts_fit_put_rule(setup, TTS_FIT_VOCABULARY, TTS_FIT_CHARACTERS,
                     type->is_set
                         ? "the characters of the Shakespeare text, tokenizer_type char"
                         : "the characters of the Shakespeare text, as without tokenizer_type");
    return TTS_EXIT_DONE;
}

/* The data decides: text has a char tokenizer, anything else is probably meant as tokens;
 * fit_stop.c says where the program disagrees. */
static int take_head_vocabulary(struct tts_fit_setup *setup)
{
    const struct tts_trainfile_value *data = &setup->file.values[TTS_TRAINFILE_DATA_PATH];
    const struct tts_trainfile_value *size = &setup->file.values[TTS_TRAINFILE_VOCAB_SIZE];
    bool is_text = data->is_set && tts_fit_ends_in(data->text, ".txt");
    if (!is_text && size->is_set && size->number > 0)
        return take_model_vocabulary(setup, "");
    tts_fit_put_rule(setup, TTS_FIT_VOCABULARY, TTS_FIT_CHARACTERS,
                     is_text ? "the characters of the Shakespeare text, data_path is text"
                             : "the characters of the Shakespeare text, as without vocab_size");
    return TTS_EXIT_DONE;
}

static int take_vocabulary(struct tts_fit_setup *setup)
{
    if (setup->options->is_given[TTS_FIT_VOCABULARY]) {
        tts_fit_take_or(setup, TTS_FIT_VOCABULARY, TTS_TRAINFILE_VOCAB_SIZE, 0);
        return TTS_EXIT_DONE;
    }
    return tts_fit_is_v1(setup) ? take_v1_vocabulary(setup) : take_head_vocabulary(setup);
}

/* ---- all of it ---- */

static int take_tying(struct tts_fit_setup *setup)
{
    return tts_fit_take_word(setup, TTS_FIT_TIED, TTS_TRAINFILE_WEIGHT_TYING, &tts_fit_tying);
}

int tts_fit_model(struct tts_fit_setup *setup)
{
    static int (*const steps[])(struct tts_fit_setup *) = {
        take_family, check_family_options, take_sizes, check_head_dim,
        take_shape,  take_vocabulary,      take_tying};
    int code = TTS_EXIT_DONE;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && code == TTS_EXIT_DONE; i++)
        code = steps[i](setup);
    return code;
}
