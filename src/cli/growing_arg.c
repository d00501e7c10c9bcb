#include "cli/growing_arg.h"

#include "base/error.h"
#include "base/number.h"

#include <string.h>

enum { INTERVAL_MIN_MS = 100, INTERVAL_MAX_S = 86400, MICRO_NS = 1000 };

enum tts_status tts_growing_arg_take_interval(void *target, const char *text,
                                              struct tts_error *err)
{
    uint64_t micros;
    if (!tts_number_parse_millionths(text, strlen(text), INTERVAL_MAX_S, &micros) ||
        micros < INTERVAL_MIN_MS * 1000)
        return tts_error_set(err, TTS_E_SYNTAX, "expected seconds from 0.1 to %d",
                             INTERVAL_MAX_S);
    *(uint64_t *)target = micros * MICRO_NS;
    return TTS_OK;
}
