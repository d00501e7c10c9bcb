/* Runs the same history twice, as a sequence of the device language and as items. Addresses and
 * failures must be equal. */
#include "analysis/whatif.h"
#include "harness/devseq_rig.h"
#include "harness/t.h"

#include <inttypes.h>
#include <stdio.h>

enum { IDS = 40, STEPS = 600 };

struct story {
    struct rig *rig; /* runs the device language */
    struct tts_whatif *whatif;
    uint64_t seq, live_bytes[TTS_POOLS], most_bytes[TTS_POOLS];
    /* The ALLOC event of each live id; size 0: the id is not live. */
    struct tts_event made[IDS];
    uint64_t failures, addresses;
};

static void tell(struct story *story, const struct tts_event *event)
{
    struct tts_error err = {0};
    struct tts_item item = {.kind = TTS_ITEM_EVENT, .seq = ++story->seq, .event = *event};
    if (tts_whatif_item(story->whatif, &item, &err) != TTS_OK)
        fail_msg("event %" PRIu64 ": %s", story->seq, err.text);
}

static void count_bytes(struct story *story, const struct tts_event *event, bool taken)
{
    uint64_t *live = &story->live_bytes[event->pool], *most = &story->most_bytes[event->pool];
    *live += taken ? event->size_bytes : 0 - event->size_bytes;
    *most = *live > *most ? *live : *most;
}

/* Writes the first `cores` cores of a grid with `columns` columns, such as
 * "0-0..7-2+0-3..4-3". */
static void format_cores(char out[64], uint32_t cores, uint32_t columns)
{
    uint32_t rows = cores / columns, rest = cores % columns;
    int len = 0;
    if (rows > 0)
        len = snprintf(out, 64, "0-0..%u-%u", columns - 1, rows - 1);
    if (rest > 0)
        snprintf(out + len, (size_t)(64 - len), "%s0-%u..%u-%u", rows > 0 ? "+" : "", rows,
                 rest - 1, rows);
}

static void say(char out[256], const struct tts_event *event)
{
    static const char *const pools[] = {"dram", "l1", "l1_small", "trace"};
    static const char *const ends[] = {"", " from=bottom", " from=top"};
    char cores[64];
    const char *from = ends[event->placement];
    if (event->cores == 0) {
        snprintf(out, 256, "buffer %s interleaved %" PRIu64 " %" PRIu64 " as=b%" PRIu64 "%s",
                 pools[event->pool], event->size_bytes, event->page_bytes, event->id, from);
        return;
    }
    format_cores(cores, event->cores, event->pool == TTS_POOL_DRAM ? 12 : 8);
    uint64_t pages = event->bytes_per_bank / event->page_bytes;
    snprintf(out, 256,
             "shard %s classic %" PRIu64 " %" PRIu64 " shard=%" PRIu64
             "x1 cores=%s as=b%" PRIu64 "%s",
             pools[event->pool], event->size_bytes, event->page_bytes, pages, cores, event->id,
             from);
}

static struct tts_event draw(uint64_t *rng, uint64_t id)
{
    static const uint64_t pages[] = {1088, 2048, 4096, 576, 64};
    struct tts_event event = tts_event_of(TTS_EVENT_ALLOC, 0);
    uint64_t bits = t_random(rng);
    event.id = id;
    event.pool = bits % 8 < 4 ? TTS_POOL_DRAM : bits % 8 < 7 ? TTS_POOL_L1 : TTS_POOL_L1_SMALL;
    event.page_bytes = pages[bits / 8 % 5];
    event.placement = (enum tts_placement)(bits / 64 % 3);
    uint64_t count = 1 + bits / 256 % 2000;
    if (bits / 1024 % 3 == 0 || event.pool == TTS_POOL_L1_SMALL) {
        count = 1 + count % 20;
        event.cores = 1 + (uint32_t)(bits / 4096 % (event.pool == TTS_POOL_DRAM ? 12 : 64));
        uint64_t aligned = (event.page_bytes + 31) / 32 * 32;
        event.page_bytes = aligned; /* so that a bank holds exactly pages x page size */
        event.bytes_per_bank = count * aligned;
        event.size_bytes = count * event.page_bytes * event.cores;
    } else {
        event.size_bytes = count * event.page_bytes;
        /* An L1 event must have a value; it is not used here. */
        if (event.pool == TTS_POOL_L1)
            event.bytes_per_bank = event.page_bytes;
    }
    return event;
}

static void step(struct story *story, uint64_t *rng)
{
    char text[256];
    uint64_t id = t_random(rng) % IDS;
    struct tts_event *made = &story->made[id];
    struct tts_buffer buffer;
    if (made->size_bytes > 0) {
        snprintf(text, sizeof text, "free b%" PRIu64, id);
        made->kind = TTS_EVENT_FREE;
        count_bytes(story, made, false);
    } else {
        *made = draw(rng, id);
        say(text, made);
        count_bytes(story, made, true);
    }
    if (run_text(story->rig, text) != TTS_OK)
        fail_msg("'%s': %s", text, story->rig->err.text);
    tell(story, made);
    if (made->kind == TTS_EVENT_FREE) {
        made->size_bytes = 0;
        T_TRUE(!tts_whatif_find(story->whatif, 0, id, &buffer));
        return;
    }
    const struct tts_devseq_step *did = &story->rig->step;
    T_TRUE(tts_whatif_find(story->whatif, 0, id, &buffer));
    T_EQ(buffer.placed, !did->failed);
    if (did->failed)
        story->failures++;
    else
        T_EQ(buffer.address, did->buffer.address);
    story->addresses += buffer.placed;
}

static void check_failure(const struct story *story)
{
    char mine[TTS_FAILURE_TEXT_MAX], theirs[TTS_FAILURE_TEXT_MAX];
    const struct tts_failure *first = tts_device_first_failure(story->rig->device);
    T_EQ(tts_whatif_failures(story->whatif), story->failures);
    T_EQ(first != NULL, story->failures > 0);
    if (!first)
        return;
    T_STR_EQ(tts_whatif_failure_text(tts_whatif_first(story->whatif), mine),
             tts_failure_text(first, theirs));
    T_EQ(tts_whatif_first(story->whatif)->seq, story->rig->run.counts.first_failure_line);
}

T_TEST(the_same_sequence_gives_the_same_addresses_and_failures)
{
    uint64_t failures = 0, addresses = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct tts_chip chip = chip_of("n150");
        set(&chip, "l1_small", "65536");
        set(&chip, "dram_bank_size", seed % 2 ? "4M" : "1G");
        struct tts_whatif_config config = {.chip = &chip};
        struct story story = {.rig = rig_on(&chip, TTS_MODE_PLACE)};
        uint64_t rng = seed;
        T_EQ(tts_whatif_new(&config, NULL, &story.whatif, NULL), TTS_OK);
        for (int i = 0; i < STEPS; i++)
            step(&story, &rng);
        check_failure(&story);
        for (int pool = 0; pool < TTS_POOLS; pool++) {
            struct tts_whatif_pool figures;
            if (!tts_whatif_get_worst(story.whatif, (enum tts_pool)pool, &figures))
                continue;
            uint64_t banks = figures.layout.banks;
            T_TRUE(figures.stats.peak_bytes >= (story.most_bytes[pool] + banks - 1) / banks);
        }
        failures += story.failures;
        addresses += story.addresses;
        tts_whatif_free(story.whatif);
        rig_end(story.rig);
    }
    /* The history must have enough failures and addresses. */
    T_TRUE(failures > 100 && addresses > 1000);
}
