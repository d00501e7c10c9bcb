#include "cli/same_file.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool look(const char *path, int standard_fd, struct stat *out)
{
    return (strcmp(path, "-") == 0 ? fstat(standard_fd, out) : stat(path, out)) == 0;
}

bool tts_same_file(const char *input, const char *output)
{
    struct stat in, out;
    return look(input, STDIN_FILENO, &in) && look(output, STDOUT_FILENO, &out) &&
           S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

const char *tts_stdout_path(const char *output)
{
    struct stat named, standard;
    bool is_it = stat(output, &named) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
                 !S_ISREG(named.st_mode) && named.st_dev == standard.st_dev &&
                 named.st_ino == standard.st_ino;
    return is_it ? "-" : output;
}
