#include "cli/commands.h"
#include "cli/job.h"

#include <stdio.h>

static int run_version(struct tts_job *job, void *values)
{
    (void)job;
    (void)values;
    printf("ttscope %s\n", tts_version());
    return TTS_EXIT_DONE;
}

static const struct tts_option options_table[] = {{0}};

const struct tts_command tts_version_command = {.name = "version",
                                                .operands = "",
                                                .summary = "print the version",
                                                .work = run_version,
                                                .options = options_table};
