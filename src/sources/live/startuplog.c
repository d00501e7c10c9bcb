#include "sources/live/startuplog.h"

#include "sources/live/inspecttext.h"

#include <string.h>

void tts_startuplog_parse(const char *text, size_t len, struct tts_startuplog *out)
{
    unsigned known = 0;
    *out = (struct tts_startuplog){.is_known = false};
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t line_len = end ? (size_t)(end - text) - at : len - at;
        struct tts_inspectline line =
            tts_inspectline_parse((struct tts_span){text + at, line_len});
        at += line_len + 1;
        if (line.kind != TTS_INSPECTLINE_FIELD)
            continue;
        if (tts_span_is(line.name, "system_clock_ns") &&
            tts_inspectline_number(line.value, INT64_MAX, &out->system_ns))
            known |= 1;
        if (tts_span_is(line.name, "high_resolution_clock_ns") &&
            tts_inspectline_number(line.value, INT64_MAX, &out->clock_ns))
            known |= 2;
    }
    out->is_known = known == 3;
}
