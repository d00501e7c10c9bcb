#include "cli/fit_parts.h"

#include "base/nearest.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

static const struct tts_fit_setting_info settings[] = {
#define TTS_FIT_ROW(name, text, option, kind, field)                                           \
    {text, option, TTS_FIT_##kind, TTS_FIELD_##field},
    TTS_FIT_SETTINGS(TTS_FIT_ROW)
#undef TTS_FIT_ROW
};

const struct tts_fit_setting_info *tts_fit_setting(enum tts_fit_setting setting)
{
    assert((unsigned)setting < TTS_FIT_SETTING_COUNT);
    return &settings[setting];
}

enum tts_fit_setting tts_fit_setting_of(enum tts_workload_field field)
{
    for (unsigned i = 0; i < TTS_FIT_SETTING_COUNT; i++)
        if (settings[i].field == field)
            return (enum tts_fit_setting)i;
    return TTS_FIT_FAMILY;
}

/* ---- words ---- */

#define WORDS(list) list, sizeof(list) / sizeof((list)[0])

/* In the order of the enums they stand for. */
static const char *const families[] = {"gpt2", "llama"};
static const char *const tying[] = {"disabled", "enabled"};
static const char *const positions[] = {"trainable", "fixed"};
static const char *const runners[] = {"default", "memory_efficient"};
static const char *const optimizers[] = {
    "AdamW", "MorehAdamW", "AdamWComposite", "AdamWFullPrecision", "SGD", "NoOp"};
static const char *const recipes[] = {"v1", "v1-python", "head", "head-c++", "may", "may-c++"};

const struct tts_fit_words tts_fit_families = {"model type", WORDS(families)};
const struct tts_fit_words tts_fit_tying = {"weight tying", WORDS(tying)};
const struct tts_fit_words tts_fit_positions = {"positional embedding", WORDS(positions)};
const struct tts_fit_words tts_fit_runners = {"runner", WORDS(runners)};
const struct tts_fit_words tts_fit_optimizers = {"optimizer", WORDS(optimizers)};
const struct tts_fit_words tts_fit_recipes = {"recipe", WORDS(recipes)};

enum { WORD_MAX = 32 };

/* Letters and digits, in lower case; what is too long is cut. */
static void plain(char out[WORD_MAX], const char *text)
{
    size_t len = 0;
    for (; *text && len + 1 < WORD_MAX; text++)
        if (*text != '-' && *text != '_')
            out[len++] = (char)tolower((unsigned char)*text);
    out[len] = '\0';
}

bool tts_fit_word_find(const struct tts_fit_words *words, const char *text, uint64_t *out)
{
    char given[WORD_MAX], name[WORD_MAX];
    if (strlen(text) >= WORD_MAX)
        return false;
    plain(given, text);
    for (size_t i = 0; i < words->count; i++) {
        plain(name, words->names[i]);
        if (strcmp(given, name) != 0)
            continue;
        *out = i;
        return true;
    }
    return false;
}

bool tts_fit_word_find_exact(const struct tts_fit_words *words, const char *text, uint64_t *out)
{
    uint64_t number;
    if (!tts_fit_word_find(words, text, &number) || strcmp(words->names[number], text) != 0)
        return false;
    *out = number;
    return true;
}

static const char *nearest_of(const struct tts_fit_words *words, const char *text)
{
    char given[WORD_MAX], name[WORD_MAX];
    plain(given, text);
    struct tts_nearest nearest = {.word = given};
    const char *best = NULL;
    for (size_t i = 0; i < words->count; i++) {
        unsigned distance = nearest.distance;
        bool had = nearest.best != NULL;
        plain(name, words->names[i]);
        tts_nearest_offer(&nearest, name);
        if (nearest.best && (!had || nearest.distance < distance))
            best = words->names[i];
    }
    return best;
}

const char *tts_fit_word_error(const struct tts_fit_words *words, const char *text,
                               char out[TTS_FIT_WORD_ERROR_MAX])
{
    const char *nearest = nearest_of(words, text);
    int len = snprintf(out, TTS_FIT_WORD_ERROR_MAX, "unknown %s '%.40s', %s", words->what, text,
                       nearest ? "did you mean '" : "expected ");
    if (nearest) {
        snprintf(out + len, TTS_FIT_WORD_ERROR_MAX - (size_t)len, "%s'?", nearest);
        return out;
    }
    for (size_t i = 0; i < words->count; i++) {
        const char *between = i == 0 ? "" : i + 1 == words->count ? " or " : ", ";
        len += snprintf(out + len, TTS_FIT_WORD_ERROR_MAX - (size_t)len, "%s%s", between,
                        words->names[i]);
        assert(len < TTS_FIT_WORD_ERROR_MAX);
    }
    return out;
}
