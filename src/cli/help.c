#include "cli/help.h"

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/external.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/page.h"

void tts_help_list(FILE *out)
{
    fputs("usage: ttscope COMMAND [options] [operands]\n\ncommands:\n", out);
    for (const struct tts_command *command = tts_commands; command->name; command++) {
        char usage[40];
        snprintf(usage, sizeof usage, "%s %s", command->name, command->operands);
        fprintf(out, "  %-18s %s\n", usage, command->summary);
    }
    fputs(
        "\n'ttscope help COMMAND' explains a command, 'ttscope help ttscope' the exit codes\n",
        out);
}

void tts_help_unknown(const char *word)
{
    struct tts_nearest nearest = {.word = word};
    for (const struct tts_command *command = tts_commands; command->name; command++)
        tts_nearest_offer(&nearest, command->name);
    const char *known = nearest.best;
    tts_message(NULL, "unknown command '%s'%s%s%s (see 'ttscope help')", word,
                known ? ", did you mean '" : "", known ? known : "", known ? "'?" : "");
}

int tts_cmd_help(int argc, char **argv)
{
    (void)argc;
    static const struct tts_option table[] = {{0}};
    struct tts_options options = tts_options_begin("help", table, argv);
    if (tts_options_next(&options) == TTS_OPTIONS_STOP)
        return options.exit_code;
    if (options.operand_count > 1)
        return tts_options_bad_operands(&options, NULL);
    if (options.operand_count == 0) {
        tts_help_list(stdout);
        return TTS_EXIT_DONE;
    }
    char *word = options.operands[0];
    if (tts_page_print(word))
        return TTS_EXIT_DONE;
    char help[] = "--help";
    int code = tts_external_exec((char *[]){word, help, NULL});
    if (code >= 0)
        return code;
    tts_help_unknown(word);
    return TTS_EXIT_USAGE;
}
