#include "views/run/run_name.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_MAX = 255 }; /* maximum of a name, enough for titles and file names */

/* Returns the last `parts` components of a path, or the whole path. */
static const char *path_tail(const char *path, size_t parts)
{
    const char *at = path + strlen(path);
    while (at > path && at[-1] == '/')
        at--;
    while (at > path && (at[-1] != '/' || --parts > 0))
        at--;
    return at;
}

/* Returns true if another path ends with the same components. */
static bool is_tail_shared(const char *const *paths, size_t count, const char *path,
                           const char *tail)
{
    size_t len = strlen(tail);
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(paths[i]);
        const char *end = paths[i] + other;
        if (other < len || memcmp(end - len, tail, len) != 0)
            continue;
        bool is_whole_part = other == len || end[-(ptrdiff_t)len - 1] == '/';
        if (is_whole_part && strcmp(paths[i], path) != 0)
            return true;
    }
    return false;
}

const char *tts_run_label(const char *const *paths, size_t count, size_t idx)
{
    const char *path = paths[idx], *tail = path;
    if (strcmp(path, "-") == 0)
        return "stdin";
    for (size_t parts = 1; parts == 1 || tail > path; parts++) {
        tail = path_tail(path, parts);
        if (!is_tail_shared(paths, count, path, tail))
            break;
    }
    size_t len = strlen(tail);
    return len > LABEL_MAX ? tail + len - LABEL_MAX : tail;
}

const char *tts_run_name(char out[TTS_RUN_LABEL_MAX], const struct tts_run *run,
                         const char *label, uint64_t number)
{
    char behind[32] = "";
    size_t rank = strlen(run->rank);
    while (rank > 0 && strchr(": |", run->rank[rank - 1]))
        rank--; /* drop the separator between the rank and the line */
    bool has_title = run->title[0] != '\0', has_rank = rank > 0;
    if (number > 1)
        snprintf(behind, sizeof behind, " (%" PRIu64 ")", number);
    snprintf(out, TTS_RUN_LABEL_MAX, "%.*s%s%s%.*s%s", LABEL_MAX,
             has_title ? run->title : label, behind, has_rank ? " [" : "", (int)rank, run->rank,
             has_rank ? "]" : "");
    return out;
}
