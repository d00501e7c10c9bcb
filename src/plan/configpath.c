#include "plan/configpath.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SHOWN = 6,
    NAME_BYTES = 256,
    ENTRIES_MAX = 4096, /* entries of a folder that are read */
    LIST_BYTES = SHOWN * (NAME_BYTES + 4) + TTS_CONFIG_PATH_MAX + 64,
};

bool tts_ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* ---- the files of a folder ---- */

/* The alphabetically first names of a folder. */
struct names {
    char name[SHOWN][NAME_BYTES];
    size_t kept, count;
};

static bool is_config_name(const char *name)
{
    return name[0] != '.' && (tts_ends_in(name, ".yaml") || tts_ends_in(name, ".yml") ||
                              tts_ends_in(name, ".json"));
}

static void add_file_name(struct names *names, const char *name)
{
    size_t at = names->kept, len = strlen(name);
    names->count++;
    while (at > 0 && strcmp(names->name[at - 1], name) > 0)
        at--;
    if (at == SHOWN || len >= NAME_BYTES)
        return;
    size_t last = names->kept < SHOWN ? names->kept++ : SHOWN - 1;
    memmove(names->name[at + 1], names->name[at], (last - at) * NAME_BYTES);
    memcpy(names->name[at], name, len + 1);
}

/* Writes "; in 'folder' there are a.yaml, b.yaml and 3 more" to `out`, or "" if the folder has
 * no configuration or cannot be read. Leaves out the name `but`. Returns `out`. */
static const char *list_config_files(const char *folder, const char *but, char out[LIST_BYTES])
{
    struct names names = {.kept = 0};
    const char *shown = folder[0] ? folder : ".";
    DIR *dir = opendir(shown);
    const struct dirent *entry;
    out[0] = '\0';
    if (!dir)
        return out;
    for (size_t i = 0; i < ENTRIES_MAX && (entry = readdir(dir)) != NULL; i++)
        if (is_config_name(entry->d_name) && strcmp(entry->d_name, but) != 0)
            add_file_name(&names, entry->d_name);
    closedir(dir);
    if (names.count == 0)
        return out;
    size_t len = (size_t)snprintf(out, LIST_BYTES, "; in '%s' there %s ", shown,
                                  names.count == 1 ? "is" : "are");
    /* The path of the folder is so long that no room is left for names. */
    if (len >= LIST_BYTES / 2) {
        out[0] = '\0';
        return out;
    }
    for (size_t i = 0; i < names.kept && len < LIST_BYTES; i++) {
        bool is_last = i > 0 && i + 1 == names.count;
        len += (size_t)snprintf(out + len, LIST_BYTES - len, "%s%s",
                                i == 0    ? ""
                                : is_last ? " and "
                                          : ", ",
                                names.name[i]);
    }
    if (names.count > names.kept && len < LIST_BYTES)
        snprintf(out + len, LIST_BYTES - len, " and %zu more", names.count - names.kept);
    return out;
}

static const char *path_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Writes `before`, the folder of `path` and `after` to `out`. A result that is too long is cut;
 * no folder has the cut name, so nothing is listed. */
static const char *path_folder(const char *before, const char *path, const char *after,
                               char out[TTS_CONFIG_PATH_MAX])
{
    snprintf(out, TTS_CONFIG_PATH_MAX, "%s%.*s%s", before, (int)(path_base_name(path) - path),
             path, after);
    return out;
}

/* ---- errors ---- */

enum tts_status tts_configpath_fail_file(struct tts_notes *notes, const char *path)
{
    char folder[TTS_CONFIG_PATH_MAX], files[LIST_BYTES];
    return tts_notes_fail(notes, TTS_E_IO, NULL, 0,
                          "cannot read '%s': no such file or directory%s", path,
                          list_config_files(path_folder("", path, "", folder), "", files));
}

enum tts_status tts_configpath_fail_model(struct tts_notes *notes, const char *path,
                                          uint32_t line, const char *named)
{
    char folders[4][TTS_CONFIG_PATH_MAX], files[LIST_BYTES] = "";
    bool has_folder = strchr(named, '/') != NULL;
    size_t count = 0;
    if (has_folder)
        path_folder("", named, "", folders[count++]);
    if (has_folder && named[0] != '/') {
        char beside[TTS_CONFIG_PATH_MAX];
        path_folder(path_folder("", path, "", beside), named, "", folders[count++]);
    }
    path_folder("", path, "../model_configs/", folders[count++]);
    path_folder("", path, "", folders[count++]);
    for (size_t i = 0; i < count && files[0] == '\0'; i++)
        list_config_files(folders[i], path_base_name(path), files);
    return tts_notes_fail(notes, TTS_E_NOT_FOUND, path, line,
                          "no model file '%s': searched the given path, the folder of this "
                          "file and ../model_configs%s",
                          named, files);
}

/* ---- a folder ---- */

enum tts_status tts_configpath_resolve(const char **path, char out[TTS_CONFIG_PATH_MAX],
                                       struct tts_notes *notes)
{
    static const char name[] = "config.json";
    struct stat info;
    char files[LIST_BYTES];
    size_t len = strlen(*path);
    if (strcmp(*path, "-") == 0 || stat(*path, &info) != 0 || !S_ISDIR(info.st_mode))
        return TTS_OK;
    bool has_slash = len > 0 && (*path)[len - 1] == '/';
    int written =
        snprintf(out, TTS_CONFIG_PATH_MAX, "%s%s%s", *path, has_slash ? "" : "/", name);
    if (written >= TTS_CONFIG_PATH_MAX || access(out, F_OK) != 0)
        return tts_notes_fail(notes, TTS_E_NOT_FOUND, NULL, 0,
                              "'%s' is a folder without a %s%s", *path, name,
                              list_config_files(*path, "", files));
    *path = out;
    return TTS_OK;
}
