#include "base/cpu.h"
#include "device/blocks.h"
#include "device/sizeclass.h"
#include "device/space.h"

/* Indexed by policy: TTS_POLICY_FIRST, TTS_POLICY_BEST. */
extern const struct tts_blocks_ops tts_blocks16_plain[2], tts_blocks16_avx2[2];
extern const struct tts_blocks_ops tts_blocks32_plain[2], tts_blocks32_avx2[2];

static bool portable_only;

void tts_blocks_set_portable(bool portable)
{
    portable_only = portable;
}

/* Returns the code for the narrowest word. A word must stay below TTS_WORD_NONE, which has all
 * bits set. */
static const struct tts_blocks_ops *ops_for(uint64_t units, enum tts_policy policy)
{
    static const struct tts_blocks_ops *const by_width[][2] = {
        {tts_blocks16_plain, tts_blocks16_avx2}, {tts_blocks32_plain, tts_blocks32_avx2}};
    int width = units >= UINT16_MAX;
    bool avx2 = !portable_only && tts_cpu_has_avx2();
    return &by_width[width][avx2][policy];
}

struct tts_blocks *tts_blocks_new(const struct tts_space_config *config, uint32_t unit_shift,
                                  const struct tts_alloc *alloc)
{
    uint64_t units = config->size_bytes >> unit_shift;
    const struct tts_blocks_ops *ops = ops_for(units, config->policy);
    struct tts_blocks *b = alloc->alloc(alloc->ctx, ops->bytes);
    if (!b)
        return NULL;
    *b = (struct tts_blocks){.ops = ops,
                             .alloc = alloc,
                             .units = units,
                             .unit_shift = unit_shift,
                             .classes = tts_sizeclass_count(config->size_bytes)};
    if (ops->init(b, config->policy) != TTS_OK) {
        tts_blocks_free(b);
        return NULL;
    }
    return b;
}

void tts_blocks_free(struct tts_blocks *b)
{
    if (!b)
        return;
    b->ops->release(b);
    b->alloc->free(b->alloc->ctx, b, b->ops->bytes);
}
