#include "views/live/hostcheck_view.h"

#include "views/safe_text.h"
#include "views/say.h"

enum { WORD_COLUMNS = 8, ID_COLUMNS = 12, TEXT_COLUMN = WORD_COLUMNS + ID_COLUMNS + 1 };
enum { ANSWER_MAX = 200, COUNT_MAX = 40 };

static const char *severity_word(enum tts_severity severity)
{
    static const char *const words[] = {
        [TTS_SEVERITY_NONE] = "ok",
        [TTS_SEVERITY_NOTE] = "note",
        [TTS_SEVERITY_WARNING] = "warning",
        [TTS_SEVERITY_ERROR] = "problem",
    };
    return words[severity];
}

static void put_check_line(const char *word, const char *id, const char *text, FILE *out)
{
    char safe[TTS_HOSTCHECK_TEXT_MAX * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text(safe, sizeof safe, text, TTS_HOSTCHECK_TEXT_MAX);
    fprintf(out, "%-*s%-*s ", WORD_COLUMNS, word, ID_COLUMNS, id);
    tts_say_column(out, TEXT_COLUMN, safe);
}

static void put_check_part(const char *label, const char *text, FILE *out)
{
    char line[2 * TTS_HOSTCHECK_TEXT_MAX];
    snprintf(line, sizeof line, "%s%s", label, text);
    put_check_line("", "", line, out);
}

static size_t count_checks(const struct tts_hostchecks *checks, enum tts_severity severity)
{
    size_t count = 0;
    for (size_t i = 0; i < checks->count; i++)
        count += checks->checks[i].severity == severity;
    return count;
}

static const char *answer_of_checks(const struct tts_hostchecks *checks, char out[ANSWER_MAX])
{
    size_t seen = checks->seen_devices;
    if (!checks->has_source)
        return checks->has_device
                   ? "ttscope finds a device, but no program reports its memory"
                   : "this host has no device, and no program reports its memory";
    if (seen == 0)
        return "ttscope can see the memory of processes, but not their device";
    snprintf(out, ANSWER_MAX, "ttscope can see the memory of %zu device%s%s%s%s", seen,
             tts_say_plural(seen),
             checks->is_used ? ""
             : seen == 1     ? "; no process uses it"
                             : "; no process uses them",
             checks->has_left_over && !checks->is_used ? "," : "",
             checks->has_left_over
                 ? (checks->is_used ? "; some bytes are left over from killed "
                                      "processes"
                                    : " and some bytes are left over from "
                                      "killed processes")
                 : "");
    return out;
}

static void put_checks_answer(const struct tts_hostchecks *checks, FILE *out)
{
    size_t problems = count_checks(checks, TTS_SEVERITY_ERROR);
    size_t warnings = count_checks(checks, TTS_SEVERITY_WARNING);
    char answer[ANSWER_MAX], counts[2][COUNT_MAX] = {"", ""};
    if (problems > 0)
        snprintf(counts[0], COUNT_MAX, ", %zu problem%s", problems, tts_say_plural(problems));
    if (warnings > 0)
        snprintf(counts[1], COUNT_MAX, ", %zu warning%s", warnings, tts_say_plural(warnings));
    tts_say(out, 0, "%s%s%s", answer_of_checks(checks, answer), counts[0], counts[1]);
    fputc('\n', out);
}

void tts_hostcheck_text(const struct tts_hostchecks *checks, FILE *out)
{
    put_checks_answer(checks, out);
    for (size_t i = 0; i < checks->count; i++) {
        const struct tts_hostcheck *check = &checks->checks[i];
        put_check_line(severity_word(check->severity), check->id, check->answer, out);
        if (check->action[0])
            put_check_part("> ", check->action, out);
        if (check->sees)
            put_check_part("shows ", check->sees, out);
        if (check->sees_not)
            put_check_part("does not show ", check->sees_not, out);
    }
}

void tts_hostcheck_json(const struct tts_hostchecks *checks, struct tts_json *json)
{
    tts_json_bool(json, "devices_found", checks->has_device);
    tts_json_bool(json, "memory_visible", checks->has_source);
    tts_json_array(json, "checks");
    for (size_t i = 0; i < checks->count; i++) {
        const struct tts_hostcheck *check = &checks->checks[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "id", check->id);
        tts_json_text(json, "severity", severity_word(check->severity));
        tts_json_text(json, "answer", check->answer);
        tts_json_text_or_null(json, "action", check->action);
        tts_json_text_or_null(json, "shows", check->sees);
        tts_json_text_or_null(json, "does_not_show", check->sees_not);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}
