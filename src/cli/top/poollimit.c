#include "cli/top/poollimit.h"

#include "base/error.h"
#include "base/number.h"
#include "views/live/live_view.h"
#include "views/live/live_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PERCENT_MAX = 100, WORD_BITS = 64 };

enum tts_status tts_poollimits_take(void *target, const char *text, struct tts_error *err)
{
    struct tts_poollimits *limits = target;
    size_t name_len = strcspn(text, "=");
    const char *percent = text[name_len] ? text + name_len + 1 : "";
    size_t len = strlen(percent);
    uint64_t value;
    int pool = 0;
    while (pool < TTS_POOLS &&
           (strlen(tts_pool_name((enum tts_pool)pool)) != name_len ||
            strncasecmp(tts_pool_name((enum tts_pool)pool), text, name_len) != 0))
        pool++;
    /* Without the sign, 0.95 could mean 95 %. */
    if (pool == TTS_POOLS || len == 0 || percent[len - 1] != '%' ||
        !tts_number_parse_millionths(percent, len - 1, PERCENT_MAX, &value))
        return tts_error_set(
            err, TTS_E_SYNTAX,
            "expected POOL=PERCENT%%, for example L1=80%%; the pools are DRAM, "
            "L1, L1_SMALL and TRACE");
    if (limits->count == TTS_POOLLIMITS_MAX)
        return tts_error_set(err, TTS_E_RANGE, "at most %d limits can be given",
                             TTS_POOLLIMITS_MAX);
    limits->limits[limits->count++] = (struct tts_poollimit){
        .pool = (enum tts_pool)pool, .millionths = (uint32_t)(value / 100)};
    return TTS_OK;
}

/* Returns the process with the most bytes in a pool, selected or not, or NULL. */
static const struct tts_liveprocess *find_main_holder(const struct tts_livedevice *device,
                                                      enum tts_pool pool)
{
    const struct tts_liveprocess *found = NULL;
    for (size_t i = 0; i < device->process_count + device->deselected_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        if (process->state == TTS_LIVEPROCESS_DEAD || !(process->counters.known >> pool & 1) ||
            process->counters.bytes[pool] == 0)
            continue;
        if (!found || process->counters.bytes[pool] > found->counters.bytes[pool])
            found = process;
    }
    return found;
}

/* `pool` has only the bytes that count. */
static void describe_passed(const struct tts_livedevice *device,
                            const struct tts_livepool *pool, const struct tts_poollimit *limit,
                            char out[TTS_POOLLIMIT_TEXT_MAX])
{
    uint32_t share = 0;
    tts_livepool_share(pool, &share);
    const struct tts_liveprocess *process = find_main_holder(device, limit->pool);
    char percent[TTS_LIVETEXT_PERCENT_MAX], above[TTS_LIVETEXT_PERCENT_MAX];
    char allocated[TTS_LIVETEXT_SIZE_MAX], total[TTS_LIVETEXT_SIZE_MAX];
    char held[TTS_LIVETEXT_SIZE_MAX], name[TTS_LIVENAME_MAX];
    int used = snprintf(
        out, TTS_POOLLIMIT_TEXT_MAX,
        "%s of device %" PRIu32 " is at %s (%s of %s%s), above the limit of %s: ",
        tts_pool_name(limit->pool), device->index, tts_livepercent_text(percent, share),
        tts_livesize_text(allocated, pool->allocated_bytes),
        pool->total_source == TTS_LIVETOTAL_NOMINAL ? "nominally " : "",
        tts_livesize_text(total, pool->total_bytes),
        tts_livepercent_text(above, limit->millionths));
    if (process)
        snprintf(out + used, TTS_POOLLIMIT_TEXT_MAX - (size_t)used, "process %s holds %s",
                 tts_liveprocess_name(name, process),
                 tts_livesize_text(held, process->counters.bytes[limit->pool]));
    else
        snprintf(out + used, TTS_POOLLIMIT_TEXT_MAX - (size_t)used,
                 "the process that holds the memory is unknown");
}

bool tts_poollimits_passed(const struct tts_poollimits *limits,
                           const struct tts_liveframe *frame, char out[TTS_POOLLIMIT_TEXT_MAX])
{
    for (size_t i = 0; i < frame->device_count; i++)
        for (size_t j = 0; j < limits->count; j++) {
            const struct tts_poollimit *limit = &limits->limits[j];
            struct tts_livepool pool = frame->devices[i].pools[limit->pool];
            uint32_t share;
            pool.allocated_bytes -= pool.left_over_bytes;
            /* The exact numbers are compared, because the share is rounded. */
            if (!tts_livepool_share(&pool, &share) ||
                (double)pool.allocated_bytes * 1e6 <=
                    (double)pool.total_bytes * limit->millionths)
                continue;
            describe_passed(&frame->devices[i], &pool, limit, out);
            return true;
        }
    return false;
}

static size_t watch_bit(const struct tts_livedevice *device)
{
    const size_t last = (size_t)TTS_LIMITWATCH_WORDS * WORD_BITS - 1;
    return device->index < last ? device->index : last;
}

static bool has_watch_bit(const uint64_t *words, size_t bit)
{
    return words[bit / WORD_BITS] >> bit % WORD_BITS & 1;
}

void tts_limitwatch_look(struct tts_limitwatch *watch, const struct tts_poollimits *limits,
                         const struct tts_liveframe *frame)
{
    for (size_t i = 0; i < frame->device_count; i++)
        for (size_t j = 0; j < limits->count; j++) {
            const struct tts_livedevice *device = &frame->devices[i];
            enum tts_pool pool = limits->limits[j].pool;
            size_t bit = watch_bit(device);
            uint64_t *word = &watch->open[pool][bit / WORD_BITS];
            uint32_t share;
            if (tts_livepool_share(&device->pools[pool], &share))
                *word &= ~(UINT64_C(1) << bit % WORD_BITS);
            else if (device->state != TTS_LIVE_IDLE && device->state != TTS_LIVE_PHANTOM)
                *word |= UINT64_C(1) << bit % WORD_BITS;
        }
}

bool tts_limitwatch_tell(struct tts_limitwatch *watch, const struct tts_liveframe *frame,
                         char out[TTS_POOLLIMIT_TEXT_MAX])
{
    for (size_t i = 0; i < frame->device_count; i++)
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            const struct tts_livedevice *device = &frame->devices[i];
            size_t bit = watch_bit(device);
            if (!has_watch_bit(watch->open[pool], bit) || has_watch_bit(watch->told[pool], bit))
                continue;
            watch->told[pool][bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
            snprintf(out, TTS_POOLLIMIT_TEXT_MAX,
                     "cannot check the limit of %s of device %" PRIu32
                     ": the %s of this pool is unknown",
                     tts_pool_name((enum tts_pool)pool), device->index,
                     device->pools[pool].allocated_known ? "size" : "use");
            return true;
        }
    return false;
}

void tts_limitwatch_forget(struct tts_limitwatch *watch)
{
    memset(watch->told, 0, sizeof watch->told);
}

bool tts_limitwatch_is_open(const struct tts_limitwatch *watch)
{
    for (size_t i = 0; i < (size_t)TTS_POOLS * TTS_LIMITWATCH_WORDS; i++)
        if (watch->open[i / TTS_LIMITWATCH_WORDS][i % TTS_LIMITWATCH_WORDS] != 0)
            return true;
    return false;
}
