#include "model/failmsg.h"

#include <string.h>

static const struct {
    const char *name, *title;
} families[] = {
#define FAMILY_ROW(name, text, title) [TTS_FAILMSG_##name] = {text, title},
    TTS_FAILMSG_MAP(FAMILY_ROW)
#undef FAMILY_ROW
};

const char *tts_failmsg_name(enum tts_failmsg_family family)
{
    return families[family].name;
}

const char *tts_failmsg_title(enum tts_failmsg_family family)
{
    return families[family].title;
}

bool tts_failmsg_is_same(const struct tts_failmsg *a, const struct tts_failmsg *b)
{
    return a->family == b->family && a->known == b->known && a->too_large == b->too_large &&
           a->has_pool == b->has_pool && a->pool == b->pool && a->is_cut == b->is_cut &&
           memcmp(a->value, b->value, sizeof a->value) == 0 && strcmp(a->range, b->range) == 0;
}
