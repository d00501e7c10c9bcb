/* Takes bytes as the numbers of a failure message, and the rest as the events of a recording.
 * The verdict, the advice and the buffers that held the memory follow from any numbers, their
 * sentences fit their buffers, and the picture can be drawn. A deficit is never larger than the
 * number that is too large. */
#include "analysis/failure/failadvice.h"
#include "analysis/failure/failholders.h"
#include "views/failure/failview.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Reads the fields and returns the number of bytes read. A field is one byte that chooses its
 * form, and then its bytes: near another field, or any number. */
static size_t fill_message(struct tts_failmsg *msg, const uint8_t *bytes, size_t len)
{
    size_t at = 3;
    msg->family = (enum tts_failmsg_family)(bytes[0] % TTS_FAILMSG_FAMILIES);
    msg->has_pool = (bytes[1] & 1) != 0;
    msg->pool = (enum tts_pool)(bytes[1] / 2 % TTS_POOLS);
    msg->is_cut = (bytes[2] & 1) != 0;
    msg->line = 1;
    for (int i = 0; i < TTS_FAILMSG_FIELDS && at < len; i++) {
        uint8_t form = bytes[at++];
        if (form % 8 == 0)
            continue;
        if (form % 8 == 1) {
            msg->too_large |= UINT32_C(1) << i;
            continue;
        }
        uint64_t value = i > 0 && form % 8 == 2 ? msg->value[form / 8 % i] + form % 3 - 1 : 0;
        if (form % 8 > 2) {
            size_t size = len - at < form % 8u ? len - at : form % 8u;
            memcpy(&value, bytes + at, size);
            at += size;
        }
        msg->known |= UINT32_C(1) << i;
        msg->value[i] = value;
    }
    if ((bytes[2] & 2) != 0)
        strcpy(msg->range, "[0-0 - 10-9]");
    if ((bytes[2] & 4) != 0)
        msg->l1_base = 105664;
    return at;
}

/* Makes an event of five bytes: kind and pool, id, size, and two bytes of the address. */
static struct tts_item make_event(const uint8_t *bytes, uint64_t seq,
                                  struct tts_failure *failure)
{
    static const enum tts_event_kind kinds[] = {TTS_EVENT_ALLOC, TTS_EVENT_ALLOC,
                                                TTS_EVENT_FREE, TTS_EVENT_FAILURE};
    unsigned shift = bytes[0] >> 4 & 3;
    struct tts_item item = {.kind = TTS_ITEM_EVENT,
                            .seq = seq,
                            .event = tts_event_of(kinds[bytes[0] & 3], bytes[1] & 1)};
    item.event.pool = bytes[0] & 4 ? TTS_POOL_DRAM : TTS_POOL_L1;
    item.event.id = bytes[1] >> 1;
    item.event.size_bytes = (uint64_t)(bytes[2] + 1) << (shift * 8);
    item.event.bytes_per_bank = item.event.pool == TTS_POOL_L1 ? bytes[2] + 1 : 0;
    item.event.page_bytes = bytes[0] & 8 ? 1 : 0;
    item.event.has_address = (bytes[0] & 64) == 0;
    item.event.address = (uint64_t)(bytes[3] | bytes[4] << 8) << (shift * 14);
    item.event.failure = failure;
    failure->kind = bytes[0] & 8 ? TTS_FAILURE_SPACE : TTS_FAILURE_CB_CLASH;
    failure->pool = item.event.pool;
    return item;
}

static void check_holders(const struct tts_failholders *h)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < h->count; i++) {
        sum += h->items[i].block_bytes;
        check(!h->items[i].is_enough || h->has_need, "enough for an unknown need");
        check(h->is_clash || !h->items[i].is_enough || h->items[i].room_bytes >= h->need_bytes,
              "a piece that is too small is enough");
        check(h->without_address > 0 || i == 0 ||
                  h->items[i - 1].address <= h->items[i].address,
              "buffers out of order");
    }
    check(sum == h->block_bytes, "a wrong sum");
    check(!h->has_hole || h->hole_above == h->count ||
              h->hole_address + h->hole_bytes == h->items[h->hole_above].address,
          "a wrong hole");
}

/* Finds the buffers of the message. Returns NULL if it has none. */
static struct tts_failholders *find_holders(const struct tts_failmsg *msg, const uint8_t *bytes,
                                            size_t len)
{
    enum { EVENT_BYTES = 5 };
    struct tts_failholders *holders = NULL;
    struct tts_failure failure = {0};
    if (len < EVENT_BYTES || tts_failholders_new(msg, NULL, &holders, NULL) != TTS_OK)
        return NULL;
    for (uint64_t seq = 1; seq * EVENT_BYTES <= len; seq++) {
        struct tts_item item = make_event(bytes + (seq - 1) * EVENT_BYTES, seq, &failure);
        if (tts_failholders_item(holders, &item, NULL) != TTS_OK)
            break;
    }
    check(tts_failholders_finish(holders, NULL) == TTS_OK, "no answer");
    check_holders(holders);
    return holders;
}

static uint64_t largest_value(const struct tts_failmsg *msg)
{
    uint64_t largest = 0;
    for (int i = 0; i < TTS_FAILMSG_FIELDS; i++)
        largest = msg->value[i] > largest ? msg->value[i] : largest;
    return largest;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tts_failmsg msg = {0};
    struct tts_failverdict verdict;
    struct tts_failadvice advice;
    struct tts_json json;
    static char sink[1 << 16];
    static FILE *out;
    if (len < 3)
        return 0;
    size_t used = fill_message(&msg, bytes, len);
    tts_failverdict_make(&msg, &verdict);
    tts_failadvice_make(&msg, &verdict, &advice);
    check(verdict.cause != TTS_FAILCAUSE_UNKNOWN || verdict.reason[0] != '\0',
          "no cause and no reason");
    check(!verdict.has_deficit ||
              (verdict.deficit_bytes > 0 && verdict.deficit_bytes <= largest_value(&msg)),
          "a wrong deficit");
    check(!verdict.has_base || verdict.l1_base < msg.value[TTS_FAILMSG_END], "a wrong base");
    struct tts_failholders *holders = find_holders(&msg, bytes + used, len - used);
    if (holders)
        tts_failadvice_add_holders(&advice, holders);
    out = out ? out : fmemopen(sink, sizeof sink, "w");
    struct tts_failview view = {.msg = &msg,
                                .verdict = &verdict,
                                .advice = &advice,
                                .count = 1,
                                .path = "log",
                                .holders = holders,
                                .with_path = "run.tts"};
    rewind(out);
    tts_failview_text(&view, out);
    tts_json_init(&json, out);
    tts_failview_json(&view, &json);
    tts_failview_svg(&view, out);
    check(!ferror(out), "too much text");
    tts_failholders_free(holders);
    return 0;
}
