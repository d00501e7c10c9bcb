#include "cli/command.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "ttscope/status.h"

#include <stdio.h>

int tts_cmd_version(int argc, char **argv)
{
    (void)argc;
    static const struct tts_option table[] = {{0}};
    struct tts_options options = tts_options_begin("version", table, argv);
    if (tts_options_next(&options) == TTS_OPTIONS_STOP)
        return options.exit_code;
    if (options.operand_count > 0)
        return tts_options_bad_operands(&options, NULL);
    printf("ttscope %s\n", tts_version());
    return TTS_EXIT_DONE;
}
