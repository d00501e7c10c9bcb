/* cores_text.c: a table for people: the contents of the fullest core of each phase. */
#include "base/number.h"
#include "capture/summary.h"

static const char *part_name(const struct tts_core_part *part)
{
    switch (part->kind) {
    case TTS_EVENT_CB:
        return "circular buffer";
    case TTS_EVENT_DFB:
        return "dataflow buffer";
    case TTS_EVENT_SCRATCHPAD:
        return "scratchpad";
    case TTS_EVENT_ALLOC:
        return part->pool == TTS_POOL_L1_SMALL ? "L1_SMALL buffer" : "L1 buffer";
    case TTS_EVENT_FREE:
    case TTS_EVENT_PROGRAM:
    case TTS_EVENT_OP_BEGIN:
    case TTS_EVENT_OP_END:
    case TTS_EVENT_TRACE_BEGIN:
    case TTS_EVENT_TRACE_END:
    case TTS_EVENT_FAILURE:
        break;
    }
    return "unknown";
}

static void put_bytes(struct tts_text *text, uint64_t bytes)
{
    char words[TTS_NUMBER_BYTES_MAX];
    tts_text_put(text, tts_number_format_bytes(words, bytes));
}

static void put_op(struct tts_text *text, const char *before, const char *op)
{
    if (!op)
        return;
    tts_text_put(text, before);
    tts_text_put_name(text, op);
}

static void put_part(struct tts_text *text, const struct tts_core_part *part)
{
    tts_text_put(text, "  ");
    tts_text_number(text, part->bytes, 10);
    tts_text_put(text, " B  ");
    tts_text_put(text, part_name(part));
    if (part->kind == TTS_EVENT_ALLOC) {
        tts_text_put(text, " ");
        tts_text_number(text, part->id, 0);
    }
    put_op(text, " of ", part->op);
    tts_text_put(text, "\n");
}

static void put_peak(struct tts_text *text, const struct tts_core_peak *peak)
{
    if (!peak->known) {
        tts_text_put(text, "  nothing was on a core\n");
        return;
    }
    tts_text_put(text, peak->at_least ? "  at least " : "  ");
    tts_text_number(text, peak->bytes, 0);
    tts_text_put(text, " B (");
    put_bytes(text, peak->bytes);
    tts_text_put(text, ") in use on core (");
    tts_text_number(text, peak->core.x, 0);
    tts_text_put(text, ", ");
    tts_text_number(text, peak->core.y, 0);
    tts_text_put(text, ") of device ");
    tts_text_number(text, peak->device, 0);
    put_op(text, ", during ", peak->op);
    tts_text_put(text, "\n");
    for (size_t i = 0; i < peak->part_count; i++)
        put_part(text, &peak->parts[i]);
    if (peak->unlisted > 0) {
        tts_text_put(text, "  ");
        tts_text_number(text, peak->unlisted_bytes, 10);
        tts_text_put(text, " B  in ");
        tts_text_number(text, peak->unlisted, 0);
        tts_text_put(text, " more\n");
    }
}

size_t tts_capture_cores_text(const struct tts_capture *capture, char *out, size_t capacity)
{
    struct tts_text text = {.out = out, .capacity = capacity};
    size_t count = tts_capture_count(capture);
    tts_text_put(&text, "=== Core Peaks ===\n\n");
    for (size_t i = 0; i < count; i++) {
        const struct tts_phase *phase = tts_capture_at(capture, i);
        tts_text_put(&text, "--- ");
        tts_text_put_name(&text, phase->name);
        tts_text_put(&text, " ---\n");
        put_peak(&text, &phase->usage.core);
    }
    return tts_text_end(&text);
}
