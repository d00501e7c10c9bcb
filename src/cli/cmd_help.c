#include "cli/help.h"

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/external.h"
#include "cli/job.h"
#include "cli/message.h"
#include "cli/page.h"

#include <stddef.h>
#include <string.h>

/* The pages that do not describe a command. */
static const struct topic {
    const char *name, *summary;
} topics[] = {
    {"phases", "the phases and figures of a tracked program"},
};
enum { TOPICS = sizeof topics / sizeof *topics };

static bool is_topic(const char *word)
{
    for (size_t i = 0; i < TOPICS; i++)
        if (strcmp(topics[i].name, word) == 0)
            return true;
    return false;
}

void tts_help_list(FILE *out)
{
    fputs("usage: ttscope COMMAND [options] [operands]\n\ncommands:\n", out);
    for (size_t i = 0; tts_commands[i]; i++) {
        const struct tts_command *command = tts_commands[i];
        char usage[40];
        snprintf(usage, sizeof usage, "%s %s", command->name, command->operands);
        fprintf(out, "  %-18s %s\n", usage, command->summary);
    }
    fputc('\n', out);
    for (size_t i = 0; i < TOPICS; i++)
        fprintf(out, "%s%s (%s)", i == 0 ? "topics: " : ", ", topics[i].name,
                topics[i].summary);
    fputs("\n\n'ttscope help COMMAND' explains a command, 'ttscope help TOPIC' a topic,\n"
          "'ttscope help ttscope' the exit codes\n",
          out);
}

static void say_unknown(const char *what, const struct tts_nearest *nearest)
{
    const char *known = nearest->best;
    tts_message(NULL, "unknown %s '%s'%s%s%s (see 'ttscope help')", what, nearest->word,
                known ? ", did you mean '" : "", known ? known : "", known ? "'?" : "");
}

static void offer_commands(struct tts_nearest *nearest)
{
    for (size_t i = 0; tts_commands[i]; i++)
        tts_nearest_offer(nearest, tts_commands[i]->name);
}

void tts_help_unknown(const char *word)
{
    struct tts_nearest nearest = {.word = word};
    offer_commands(&nearest);
    if (is_topic(word))
        tts_message(NULL, "'%s' is a help topic, not a command (see 'ttscope help %s')", word,
                    word);
    else
        say_unknown("command", &nearest);
}

static void say_no_page(const char *word)
{
    struct tts_nearest nearest = {.word = word};
    offer_commands(&nearest);
    for (size_t i = 0; i < TOPICS; i++)
        tts_nearest_offer(&nearest, topics[i].name);
    say_unknown("command or topic", &nearest);
}

static int run_help(struct tts_job *job, void *values)
{
    (void)values;
    if (job->operand_count == 0) {
        tts_help_list(stdout);
        return TTS_EXIT_DONE;
    }
    char *word = job->operands[0];
    if (tts_help_page_print(word))
        return TTS_EXIT_DONE;
    char help[] = "--help";
    int code = tts_external_exec((char *[]){word, help, NULL});
    if (code >= 0)
        return code;
    say_no_page(word);
    return TTS_EXIT_USAGE;
}

static const struct tts_option options_table[] = {{0}};

const struct tts_command tts_help_command = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "show this list, or the page of a command or topic",
    .work = run_help,
    .options = options_table,
    .operands_max = 1,
};
