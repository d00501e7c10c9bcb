#include "cli/same_file.h"

#include "base/beside.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool look(const char *path, int standard_fd, struct stat *out)
{
    return (strcmp(path, "-") == 0 ? fstat(standard_fd, out) : stat(path, out)) == 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool tts_same_file(const char *input, const char *output)
{
    struct stat in, out;
    return look(input, STDIN_FILENO, &in) && look(output, STDOUT_FILENO, &out) &&
           S_ISREG(in.st_mode) && is_same(&in, &out);
}

const char *tts_stdout_path(const char *output)
{
    struct stat named, standard;
    bool is_it = stat(output, &named) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
                 !S_ISREG(named.st_mode) && is_same(&named, &standard);
    return is_it ? "-" : output;
}

/* Returns the file name and stores the status of its directory in *out. Returns NULL if there
 * is no such directory. */
static const char *look_above(const char *path, struct stat *out)
{
    char directory[TTS_PATH_MAX];
    const char *slash = strrchr(path, '/');
    int len = snprintf(directory, sizeof directory, "%.*s.",
                       slash ? (int)(slash - path) + 1 : 0, path);
    if (len < 0 || (size_t)len >= sizeof directory || stat(directory, out) != 0)
        return NULL;
    return slash ? slash + 1 : path;
}

bool tts_same_output(const char *a, const char *b)
{
    struct stat of_a, of_b;
    bool has_a = look(a, STDOUT_FILENO, &of_a), has_b = look(b, STDOUT_FILENO, &of_b);
    if (has_a && has_b) /* Two outputs to one device, such as /dev/null, do no harm. */
        return (S_ISREG(of_a.st_mode) || S_ISFIFO(of_a.st_mode)) && is_same(&of_a, &of_b);
    if (has_a || has_b)
        return false;
    const char *name_a = look_above(a, &of_a), *name_b = look_above(b, &of_b);
    return name_a && name_b && is_same(&of_a, &of_b) && strcmp(name_a, name_b) == 0;
}

bool tts_path_ends_in(const char *path, const char *end)
{
    size_t len = strlen(path), end_len = strlen(end);
    return len > end_len && strcmp(path + len - end_len, end) == 0;
}
