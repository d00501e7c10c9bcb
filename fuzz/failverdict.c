/* Takes bytes as the numbers of a failure message. The verdict and the advice follow from any
 * numbers, and their sentences fit their buffers. A deficit is never larger than the number
 * that is too large. */
#include "analysis/failadvice.h"
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

/* Reads the fields. A field is one byte that chooses its form, and then its bytes: near another
 * field, or any number. */
static void fill_message(struct tts_failmsg *msg, const uint8_t *bytes, size_t len)
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
    fill_message(&msg, bytes, len);
    tts_failverdict_make(&msg, &verdict);
    tts_failadvice_make(&msg, &verdict, &advice);
    check(verdict.cause != TTS_FAILCAUSE_UNKNOWN || verdict.reason[0] != '\0',
          "no cause and no reason");
    check(!verdict.has_deficit ||
              (verdict.deficit_bytes > 0 && verdict.deficit_bytes <= largest_value(&msg)),
          "a wrong deficit");
    check(!verdict.has_base || verdict.l1_base < msg.value[TTS_FAILMSG_END], "a wrong base");
    out = out ? out : fmemopen(sink, sizeof sink, "w");
    struct tts_failview view = {
        .msg = &msg, .verdict = &verdict, .advice = &advice, .count = 1, .path = "log"};
    rewind(out);
    tts_failview_text(&view, out);
    tts_json_init(&json, out);
    tts_failview_json(&view, &json);
    check(!ferror(out), "too much text");
    return 0;
}
