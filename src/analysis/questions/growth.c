#include "analysis/questions/growth.h"

#include <assert.h>

#define SECOND_NS UINT64_C(1000000000)
enum { FLATS_MAX = 2, EARLY_SHARE = 32 };
__extension__ typedef unsigned __int128 growth_product;

static void begin_growth(struct tts_growth *growth, const struct tts_growth_rule *rule,
                         uint64_t time_ns, uint64_t bytes)
{
    *growth = (struct tts_growth){.has_sample = true,
                                  .due_ns = time_ns + rule->interval_ns,
                                  .last_ns = time_ns,
                                  .last_bytes = bytes,
                                  .from_ns = time_ns,
                                  .from_bytes = bytes};
}

/* Begins to count rises at this sample. */
static void restart_rises(struct tts_growth *growth, uint64_t time_ns, uint64_t bytes)
{
    growth->rises = growth->flats = 0;
    growth->is_growing = false;
    growth->from_ns = time_ns;
    growth->from_bytes = bytes;
}

static void take_growth_sample(struct tts_growth *growth, const struct tts_growth_rule *rule,
                               uint64_t time_ns, uint64_t bytes)
{
    if (bytes > growth->last_bytes) {
        growth->rises++;
        growth->flats = 0;
    } else if (bytes < growth->last_bytes || growth->rises == 0 ||
               ++growth->flats == FLATS_MAX) {
        restart_rises(growth, time_ns, bytes);
    }
    growth->is_growing |= growth->rises >= rule->rises;
    growth->last_ns = time_ns;
    growth->last_bytes = bytes;
}

bool tts_growth_feed(struct tts_growth *growth, const struct tts_growth_rule *rule,
                     uint64_t time_ns, uint64_t bytes)
{
    assert(rule->interval_ns > 0 && rule->rises > 0);
    if (!growth->has_sample || time_ns < growth->last_ns) {
        begin_growth(growth, rule, time_ns, bytes);
        return false;
    }
    if (growth->due_ns > time_ns && growth->due_ns - time_ns > rule->interval_ns / EARLY_SHARE)
        return growth->is_growing;
    take_growth_sample(growth, rule, time_ns, bytes);
    /* Samples that were missed are left out; later samples keep their times. */
    if (growth->due_ns <= time_ns)
        growth->due_ns += (time_ns - growth->due_ns) / rule->interval_ns * rule->interval_ns;
    growth->due_ns += rule->interval_ns;
    return growth->is_growing;
}

/* Multiplies and divides without a sum that wraps. A result that does not fit is the largest
 * number. */
static uint64_t scale_growth(uint64_t value, uint64_t times, uint64_t divisor)
{
    growth_product product = (growth_product)value * times / divisor;
    return product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
}

uint64_t tts_growth_slope(const struct tts_growth *growth)
{
    uint64_t ns = growth->last_ns - growth->from_ns;
    if (!growth->is_growing || ns == 0)
        return 0;
    return scale_growth(growth->last_bytes - growth->from_bytes, SECOND_NS, ns);
}

bool tts_growth_full(const struct tts_growth *growth, uint64_t free_bytes, uint64_t *seconds)
{
    uint64_t grown = growth->last_bytes - growth->from_bytes;
    uint64_t ns = growth->last_ns - growth->from_ns;
    if (!growth->is_growing || grown == 0)
        return false;
    *seconds = scale_growth(free_bytes, ns, grown) / SECOND_NS;
    return true;
}
