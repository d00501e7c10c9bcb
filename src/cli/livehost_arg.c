#include "cli/livehost_arg.h"

#include "cli/command.h"
#include "cli/message.h"

#include <stdlib.h>

const char *tts_livehost_root(void)
{
    const char *root = getenv("TTSCOPE_ROOT");
    return root ? root : "";
}

int tts_livehost_arg_open(const char *command, struct tts_livehost **out)
{
    struct tts_error err;
    enum tts_status status = tts_livehost_open(tts_livehost_root(), NULL, out, &err);
    if (status == TTS_OK)
        return TTS_EXIT_DONE;
    tts_message(command, "%s", err.text);
    return status == TTS_E_IO ? TTS_EXIT_DEVICE : TTS_EXIT_INPUT;
}
