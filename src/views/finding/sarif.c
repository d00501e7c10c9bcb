#include "views/finding/sarif.h"

#include "base/hash.h"
#include "base/number.h"
#include "ttscope/status.h"

#include <assert.h>
#include <string.h>

enum { MESSAGE_MAX = 4096 };

static const char schema[] = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/"
                             "schemas/sarif-schema-2.1.0.json";

uint64_t tts_sarif_mix(uint64_t hash, const char *text)
{
    return tts_fnv1a64_text(hash, text, strlen(text) + 1);
}

/* ---- paths ---- */

static bool is_unreserved_in_uri(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-._~/", c);
}

const char *tts_sarif_uri(char out[TTS_SARIF_URI_MAX], const char *path)
{
    static const char digits[] = "0123456789ABCDEF", root[] = "file://";
    size_t at = 0;
    if (path[0] == '/') {
        memcpy(out, root, sizeof root - 1);
        at = sizeof root - 1;
    }
    while (path[0] == '.' && path[1] == '/' && path[2] != '\0') { /* "./x" becomes "x" */
        path += 2;
        while (path[0] == '/' && path[1] != '\0')
            path++;
    }
    for (; *path && at + 4 <= TTS_SARIF_URI_MAX; path++) {
        unsigned char byte = (unsigned char)*path;
        if (is_unreserved_in_uri(*path)) {
            out[at++] = *path;
            continue;
        }
        out[at++] = '%';
        out[at++] = digits[byte >> 4];
        out[at++] = digits[byte & 15];
    }
    out[at] = '\0';
    return out;
}

/* ---- pieces ---- */

static void put_sarif_message(struct tts_json *json, const char *key, const char *text)
{
    tts_json_object(json, key);
    tts_json_text(json, "text", text);
    tts_json_object_end(json);
}

static const char *sarif_level_name(enum tts_severity severity)
{
    static const char *const names[] = {[TTS_SEVERITY_NONE] = "none",
                                        [TTS_SEVERITY_NOTE] = "note",
                                        [TTS_SEVERITY_WARNING] = "warning",
                                        [TTS_SEVERITY_ERROR] = "error"};
    return names[severity];
}

/* Writes the field "locations" with one element or none. */
static void put_sarif_location(struct tts_json *json, const char *path, uint64_t line,
                               const char *logical)
{
    char uri[TTS_SARIF_URI_MAX];
    tts_json_array(json, "locations");
    if (path || logical)
        tts_json_object(json, NULL);
    if (path) {
        tts_json_object(json, "physicalLocation");
        tts_json_object(json, "artifactLocation");
        tts_json_text(json, "uri", tts_sarif_uri(uri, path));
        tts_json_object_end(json);
        if (line > 0) {
            tts_json_object(json, "region");
            tts_json_number(json, "startLine", line);
            tts_json_object_end(json);
        }
        tts_json_object_end(json);
    }
    if (logical) {
        tts_json_array(json, "logicalLocations");
        tts_json_object(json, NULL);
        tts_json_text(json, "name", logical);
        tts_json_object_end(json);
        tts_json_array_end(json);
    }
    if (path || logical)
        tts_json_object_end(json);
    tts_json_array_end(json);
}

static void put_sarif_rule(struct tts_json *json, const struct tts_rule *rule)
{
    tts_json_object(json, NULL);
    tts_json_text(json, "id", rule->id);
    put_sarif_message(json, "shortDescription", rule->title);
    put_sarif_message(json, "fullDescription", rule->help);
    put_sarif_message(json, "help", rule->help);
    tts_json_object(json, "defaultConfiguration");
    tts_json_text(json, "level", sarif_level_name(TTS_SEVERITY_ERROR));
    tts_json_object_end(json);
    tts_json_object_end(json);
}

/* ---- the document ---- */

void tts_sarif_begin(struct tts_sarif *sarif, FILE *out, const struct tts_rule *rules,
                     size_t rule_count)
{
    struct tts_json *json = &sarif->json;
    sarif->rules = rules;
    sarif->rule_count = rule_count;
    tts_json_init(json, out);
    tts_json_object(json, NULL);
    tts_json_text(json, "$schema", schema);
    tts_json_text(json, "version", "2.1.0");
    tts_json_array(json, "runs");
    tts_json_object(json, NULL);
    tts_json_object(json, "tool");
    tts_json_object(json, "driver");
    tts_json_text(json, "name", "ttscope");
    tts_json_text(json, "version", tts_version());
    tts_json_array(json, "rules");
    for (size_t i = 0; i < rule_count; i++)
        put_sarif_rule(json, &rules[i]);
    tts_json_array_end(json);
    tts_json_object_end(json);
    tts_json_object_end(json);
    tts_json_array(json, "results");
}

static size_t sarif_rule_index(const struct tts_sarif *sarif, const char *id)
{
    for (size_t i = 0; i < sarif->rule_count; i++)
        if (strcmp(sarif->rules[i].id, id) == 0)
            return i;
    assert(!"a finding of one of the rules");
    return 0;
}

void tts_sarif_result(struct tts_sarif *sarif, const struct tts_finding *finding)
{
    struct tts_json *json = &sarif->json;
    char print[16 + sizeof ":1"], message[MESSAGE_MAX];
    if (finding->severity == TTS_SEVERITY_NONE)
        return;
    snprintf(message, sizeof message, "%s%s%s%s%s", finding->subject ? finding->subject : "",
             finding->subject ? ": " : "", finding->label ? finding->label : "",
             finding->label ? ": " : "", finding->message);
    tts_json_object(json, NULL);
    tts_json_text(json, "ruleId", finding->rule);
    tts_json_number(json, "ruleIndex", sarif_rule_index(sarif, finding->rule));
    tts_json_text(json, "level", sarif_level_name(finding->severity));
    put_sarif_message(json, "message", message);
    put_sarif_location(json, finding->path, finding->line, finding->part);
    tts_number_format_hex(print, finding->fingerprint, 16);
    memcpy(print + 16, ":1", sizeof ":1");
    tts_json_object(json, "partialFingerprints");
    tts_json_text(json, "primaryLocationLineHash", print);
    tts_json_object_end(json);
    tts_json_object_end(json);
}

void tts_sarif_notices(struct tts_sarif *sarif, bool is_done)
{
    struct tts_json *json = &sarif->json;
    tts_json_array_end(json);
    tts_json_array(json, "invocations");
    tts_json_object(json, NULL);
    tts_json_bool(json, "executionSuccessful", is_done);
    tts_json_array(json, "toolExecutionNotifications");
}

void tts_sarif_notice(struct tts_sarif *sarif, const struct tts_finding *finding)
{
    struct tts_json *json = &sarif->json;
    tts_json_object(json, NULL);
    tts_json_text(json, "level", sarif_level_name(finding->severity));
    put_sarif_message(json, "message", finding->message);
    put_sarif_location(json, finding->path, finding->line, NULL);
    tts_json_object_end(json);
}

void tts_sarif_end(struct tts_sarif *sarif)
{
    struct tts_json *json = &sarif->json;
    tts_json_array_end(json);
    tts_json_object_end(json);
    tts_json_array_end(json);
    tts_json_object_end(json);
    tts_json_array_end(json);
    tts_json_object_end(json);
}
