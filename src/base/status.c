#include "ttscope/status.h"

const char *tts_status_text(enum tts_status status)
{
#define TTS_STATUS_CASE(name, value, text)                                                     \
    case TTS_##name:                                                                           \
        return text;
    switch (status) {
        TTS_STATUS_MAP(TTS_STATUS_CASE)
    }
#undef TTS_STATUS_CASE
    return "unknown status";
}

const char *tts_version(void)
{
    return TTS_VERSION;
}
