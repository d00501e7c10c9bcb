#include "sources/trainfile_inside.h"

#include "base/error.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_name_char(char c, bool is_first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9' && !is_first);
}

/* The length of "$NAME" or "${NAME}" at `text`, and its name; 0: there is none. */
static size_t variable_at(const char *text, char name[TTS_TRAINFILE_TEXT_MAX])
{
    bool in_braces = text[0] == '$' && text[1] == '{';
    size_t begin = in_braces ? 2 : 1, len = 0;
    if (text[0] != '$')
        return 0;
    while (is_name_char(text[begin + len], len == 0))
        len++;
    if (len == 0 || (in_braces && text[begin + len] != '}'))
        return 0;
    assert(len < TTS_TRAINFILE_TEXT_MAX);
    memcpy(name, text + begin, len);
    name[len] = '\0';
    return begin + len + in_braces;
}

/* Appends; false: too long. */
static bool append(char out[TTS_TRAINFILE_TEXT_MAX], size_t *len, const char *text,
                   size_t text_len)
{
    if (text_len >= TTS_TRAINFILE_TEXT_MAX - *len)
        return false;
    memcpy(out + *len, text, text_len);
    *len += text_len;
    out[*len] = '\0';
    return true;
}

/* Variables that are not set stay as they stand. */
static bool expand(const char *text, char out[TTS_TRAINFILE_TEXT_MAX])
{
    size_t len = 0;
    out[0] = '\0';
    while (*text) {
        char name[TTS_TRAINFILE_TEXT_MAX];
        size_t taken = variable_at(text, name);
        const char *value = taken > 0 ? getenv(name) : NULL;
        taken = taken > 0 ? taken : 1;
        if (!append(out, &len, value ? value : text, value ? strlen(value) : taken))
            return false;
        text += taken;
    }
    return true;
}

/* Whether the parts, one behind the other, are a file; *out is then its path. Too long a path
 * is none that can be opened. */
static bool exists(const char *dir, const char *between, const char *path,
                   char out[TTS_TRAINFILE_TEXT_MAX])
{
    char whole[TTS_TRAINFILE_TEXT_MAX];
    int len = snprintf(whole, sizeof whole, "%s%s%s", dir, between, path);
    if (path[0] == '\0' || len < 0 || (size_t)len >= sizeof whole || access(whole, F_OK) != 0)
        return false;
    memcpy(out, whole, sizeof whole);
    return true;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What stands behind the last "model_configs/": model files have directories of their own. */
static const char *below_models(const char *path)
{
    static const char models[] = "model_configs/";
    const char *below = path, *at = path;
    while ((at = strstr(at, models)) != NULL)
        below = at += sizeof models - 1;
    return below == path ? base_name(path) : below;
}

/* The directory of a path with its slash; "" is the current one. */
static void directory_of(const char *path, char out[TTS_TRAINFILE_TEXT_MAX])
{
    size_t len = (size_t)(base_name(path) - path);
    assert(len < TTS_TRAINFILE_TEXT_MAX);
    memcpy(out, path, len);
    out[len] = '\0';
}

/* Users copy files out of the tree, so a path may only be right in its last part. */
static bool find(const char *path, const char *dir, char out[TTS_TRAINFILE_TEXT_MAX])
{
    static const char *const above[] = {"../", "../../"};
    bool is_relative = path[0] != '/';
    if (exists("", "", path, out) || (is_relative && exists(dir, "", path, out)) ||
        exists(dir, "", base_name(path), out))
        return true;
    for (size_t i = 0; i < sizeof above / sizeof above[0]; i++) {
        char models[sizeof "../../model_configs/"];
        snprintf(models, sizeof models, "%smodel_configs/", above[i]);
        if ((is_relative && exists(dir, above[i], path, out)) ||
            exists(dir, models, below_models(path), out) ||
            exists(dir, models, base_name(path), out))
            return true;
    }
    return false;
}

enum tts_status tts_train_find(const char *named, const char *beside,
                               char out[TTS_TRAINFILE_TEXT_MAX],
                               char missing[TTS_TRAINFILE_TEXT_MAX], struct tts_error *err)
{
    char path[TTS_TRAINFILE_TEXT_MAX], dir[TTS_TRAINFILE_TEXT_MAX];
    if (!expand(named, path))
        return tts_error_set(err, TTS_E_RANGE,
                             "the path of the model file is longer than %d bytes",
                             TTS_TRAINFILE_TEXT_MAX - 1);
    directory_of(beside, dir);
    if (find(path, dir, out))
        return TTS_OK;
    memcpy(missing, path, sizeof path);
    return tts_error_set(err, TTS_E_NOT_FOUND,
                         "the model file is nowhere: looked for it as it stands, beside this "
                         "file and in ../model_configs");
}
