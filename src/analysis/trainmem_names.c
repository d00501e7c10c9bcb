#include "analysis/trainmem.h"

#include <assert.h>
#include <string.h>

const char *tts_train_dtype_name(enum tts_train_dtype dtype)
{
    static const char *const names[] = {
#define X(name, text, bytes) text,
        TTS_TRAIN_DTYPE_MAP(X)
#undef X
    };
    assert(dtype < TTS_TRAIN_DTYPES);
    return names[dtype];
}

static const char *const optimizer_names[] = {
    [TTS_TRAIN_ADAMW] = "AdamW",
    [TTS_TRAIN_MOREH_ADAMW] = "MorehAdamW",
    [TTS_TRAIN_ADAMW_COMPOSITE] = "AdamWComposite",
    [TTS_TRAIN_ADAMW_KAHAN] = "AdamWKahan",
    [TTS_TRAIN_ADAMW_FULL_PRECISION] = "AdamWFullPrecision",
    [TTS_TRAIN_SGD] = "SGD",
    [TTS_TRAIN_SGD_MOMENTUM] = "SGDMomentum",
    [TTS_TRAIN_SGD_COMPOSITE] = "SGDComposite",
    [TTS_TRAIN_MUON] = "MuonComposite",
    [TTS_TRAIN_NO_OP] = "NoOp",
};

const char *tts_train_optimizer_name(enum tts_train_optimizer optimizer)
{
    assert(optimizer < TTS_TRAIN_OPTIMIZERS);
    return optimizer_names[optimizer];
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters alone, whatever their case. */
static bool is_same_word(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '-' || *a == '_')
            a++;
        while (*b == '-' || *b == '_')
            b++;
        if (lower(*a) != lower(*b))
            return false;
        if (*a == '\0')
            return true;
    }
}

bool tts_train_optimizer_find(const char *text, enum tts_train_optimizer *out)
{
    for (int i = 0; i < TTS_TRAIN_OPTIMIZERS; i++) {
        if (!is_same_word(text, optimizer_names[i]))
            continue;
        *out = (enum tts_train_optimizer)i;
        return true;
    }
    return false;
}

/* How long it is without `mark` and the digits that follow at its end. */
static size_t without_suffix(const char *name, size_t len, const char *mark)
{
    size_t digits = 0, mark_len = strlen(mark);
    while (digits < len && is_digit(name[len - digits - 1]))
        digits++;
    size_t rest = len - digits;
    if (digits == 0 || rest <= mark_len || memcmp(name + rest - mark_len, mark, mark_len) != 0)
        return len;
    return rest - mark_len;
}

enum tts_run_part tts_train_part_of(const char *phase_name)
{
    static const struct {
        const char *name;
        enum tts_run_part part;
    } parts[] = {
        {"MODEL_CREATION", TTS_RUN_PART_MODEL},
        {"OPTIMIZER_CREATION", TTS_RUN_PART_OPTIMIZER},
        {"FORWARD_PASS", TTS_RUN_PART_ACTIVATIONS},
        {"BACKWARD_PASS", TTS_RUN_PART_GRADIENTS},
    };
    size_t len = strlen(phase_name), before;
    do {
        before = len;
        len = without_suffix(phase_name, len, "__");
        len = without_suffix(phase_name, len, "_micro_");
    } while (len < before);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strlen(parts[i].name) == len && memcmp(parts[i].name, phase_name, len) == 0)
            return parts[i].part;
    return TTS_RUN_PART_OTHER;
}
