#include "cli/external.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/message.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Returns true if the word contains only characters that are safe in a path. */
static bool is_command_word(const char *word)
{
    return word[0] != '\0' &&
           word[strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* Writes the path of a command's program. Returns false if the path is too long or /proc is
 * missing. */
static bool program_path(const char *word, char path[PATH_MAX])
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len < 0)
        return false;
    self[len] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return false;
    *slash = '\0';
    int need = snprintf(path, PATH_MAX, "%s/" TTS_LIBEXEC "/ttscope-%s", self, word);
    return need > 0 && need < PATH_MAX;
}

int tts_external_exec(char **argv)
{
    char path[PATH_MAX];
    if (!is_command_word(argv[0]) || !program_path(argv[0], path) || access(path, F_OK) != 0)
        return -1;
    execv(path, argv);
    struct tts_error err;
    tts_error_set_errno(&err, TTS_E_IO, errno, "cannot run '%s'", path);
    tts_message(NULL, "%s", err.text);
    return TTS_EXIT_INPUT;
}
