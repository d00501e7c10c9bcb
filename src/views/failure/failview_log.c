/* failview_log.c: the failures of a log for commands that report more than failures. */
#include "views/failure/failview.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS = 60 };

void tts_explained_make(struct tts_explained *out, const struct tts_failentry *entry,
                        const char *path)
{
    tts_failverdict_make(&entry->msg, &out->verdict);
    tts_failadvice_make(&entry->msg, &out->verdict, &out->advice);
    out->view = (struct tts_failview){.msg = &entry->msg,
                                      .verdict = &out->verdict,
                                      .advice = &out->advice,
                                      .count = entry->count,
                                      .last_line = entry->last_line,
                                      .path = path};
}

void tts_explained_add_holders(struct tts_explained *explained,
                               const struct tts_failholders *holders, const char *with_path)
{
    explained->view.msg = &holders->msg;
    explained->view.holders = holders;
    explained->view.with_path = with_path;
    tts_failverdict_make(&holders->msg, &explained->verdict);
    tts_failadvice_make(&holders->msg, &explained->verdict, &explained->advice);
    tts_failadvice_add_holders(&explained->advice, holders);
}

void tts_faillog_json(const struct tts_faillog *log, const char *path, struct tts_json *json)
{
    struct tts_explained explained;
    tts_json_array(json, "failures");
    for (size_t i = 0; i < log->count; i++) {
        tts_explained_make(&explained, &log->entries[i], path);
        explained.view.is_first = &log->entries[i] == tts_faillog_first(log);
        tts_failview_json(&explained.view, json);
    }
    tts_json_array_end(json);
}

bool tts_failview_path_is_plain(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_-+=./,:@%";
    return path[0] != '\0' && path[0] != '-' && path[strspn(path, plain)] == '\0';
}

const char *tts_failview_command(char out[TTS_FAILVIEW_COMMAND_MAX],
                                 const struct tts_failending *ending, const char *path)
{
    char option[40] = "";
    if (!tts_failview_path_is_plain(path))
        return NULL;
    if (!ending->is_first)
        snprintf(option, sizeof option, " --line %" PRIu64, ending->line);
    int need = snprintf(out, TTS_FAILVIEW_COMMAND_MAX, "ttscope explain %s%s", path, option);
    return need < TTS_FAILVIEW_COMMAND_MAX ? out : NULL;
}

void tts_failview_ending(const struct tts_failending *ending, const char *path, FILE *out)
{
    struct tts_explained explained;
    char headline[TTS_FAILVIEW_LINE_MAX], command[TTS_FAILVIEW_COMMAND_MAX];
    char name[TTS_SAFE_COLUMN_BYTES * NAME_COLUMNS + 1] = "the log", others[64] = "";
    tts_explained_make(&explained, ending->entry, path);
    if (strcmp(path, "-") != 0)
        tts_safe_text_end(name, sizeof name, path, NAME_COLUMNS);
    if (ending->others > 0)
        snprintf(others, sizeof others, "%" PRIu64 " other failure%s; ", ending->others,
                 tts_say_plural(ending->others));
    tts_failview_headline(headline, &explained.view);
    tts_failview_glue(headline);
    tts_say(out, 0, "failure in line %" PRIu64 " of %s: %s", ending->line, name, headline);
    if (tts_failview_command(command, ending, path))
        tts_say(out, 2, "%swhy, and what to change: %s", others, command);
    else
        tts_say(out, 2, "%swhy, and what to change: give the log to 'ttscope explain'", others);
}
