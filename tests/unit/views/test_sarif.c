#include "base/hash.h"
#include "harness/t.h"
#include "ttscope/status.h"
#include "views/finding/sarif.h"

#include <string.h>

static char text[16384];

static const struct tts_rule rules[] = {
    {"dram-peak", "Peak", "Helps."},
    {"cb", "Buffers", "Helps too."},
};

static const char *written(const struct tts_finding *results, size_t count, bool is_done,
                           const struct tts_finding *notice)
{
    static struct tts_sarif sarif;
    FILE *out = tmpfile();
    T_TRUE(out != NULL);
    tts_sarif_begin(&sarif, out, rules, 2);
    for (size_t i = 0; i < count; i++)
        tts_sarif_result(&sarif, &results[i]);
    tts_sarif_notices(&sarif, is_done);
    if (notice)
        tts_sarif_notice(&sarif, notice);
    tts_sarif_end(&sarif);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    return text;
}

T_TEST(a_document_has_the_schema_the_tool_its_rules_and_the_results)
{
    const struct tts_finding results[] = {
        {.rule = "cb",
         .severity = TTS_SEVERITY_ERROR,
         .subject = "run",
         .label = "cb A",
         .message = "too much",
         .path = "logs/run 1.log",
         .line = 12,
         .part = "FORWARD_PASS",
         .fingerprint = 0x123},
        {.rule = "cb", .severity = TTS_SEVERITY_NONE, .message = "good"},
        {.rule = "dram-peak", .severity = TTS_SEVERITY_WARNING, .message = "not known"},
    };
    char wanted[4096];
    snprintf(
        wanted, sizeof wanted,
        "{\n"
        "  \"$schema\": "
        "\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
        "sarif-schema-2.1.0.json\",\n"
        "  \"version\": \"2.1.0\",\n"
        "  \"runs\": [\n"
        "    {\"tool\": {\"driver\": {\"name\": \"ttscope\", \"version\": \"%s\", \"rules\": ["
        "{\"id\": \"dram-peak\", \"shortDescription\": {\"text\": \"Peak\"}, "
        "\"fullDescription\": {\"text\": \"Helps.\"}, \"help\": {\"text\": \"Helps.\"}, "
        "\"defaultConfiguration\": {\"level\": \"error\"}}, "
        "{\"id\": \"cb\", \"shortDescription\": {\"text\": \"Buffers\"}, "
        "\"fullDescription\": {\"text\": \"Helps too.\"}, \"help\": {\"text\": \"Helps "
        "too.\"}, "
        "\"defaultConfiguration\": {\"level\": \"error\"}}]}}, "
        "\"results\": ["
        "{\"ruleId\": \"cb\", \"ruleIndex\": 1, \"level\": \"error\", "
        "\"message\": {\"text\": \"run: cb A: too much\"}, \"locations\": "
        "[{\"physicalLocation\": "
        "{\"artifactLocation\": {\"uri\": \"logs/run%%201.log\"}, \"region\": "
        "{\"startLine\": 12}}, \"logicalLocations\": [{\"name\": \"FORWARD_PASS\"}]}], "
        "\"partialFingerprints\": {\"primaryLocationLineHash\": \"0000000000000123:1\"}}, "
        "{\"ruleId\": \"dram-peak\", \"ruleIndex\": 0, \"level\": \"warning\", "
        "\"message\": {\"text\": \"not known\"}, \"locations\": [], "
        "\"partialFingerprints\": {\"primaryLocationLineHash\": \"0000000000000000:1\"}}], "
        "\"invocations\": [{\"executionSuccessful\": true, "
        "\"toolExecutionNotifications\": []}]}\n"
        "  ]\n"
        "}\n",
        tts_version());
    T_STR_EQ(written(results, 3, true, NULL), wanted);
}

T_TEST(what_went_wrong_with_the_work_is_a_notification)
{
    const struct tts_finding notice = {.severity = TTS_SEVERITY_ERROR,
                                       .message = "cannot read it",
                                       .path = "a.log",
                                       .line = 3};
    written(NULL, 0, false, &notice);
    T_TRUE(strstr(text,
                  "\"results\": [], \"invocations\": [{\"executionSuccessful\": false, "
                  "\"toolExecutionNotifications\": [{\"level\": \"error\", \"message\": "
                  "{\"text\": \"cannot read it\"}, \"locations\": [{\"physicalLocation\": "
                  "{\"artifactLocation\": {\"uri\": \"a.log\"}, \"region\": "
                  "{\"startLine\": 3}}}]}]}]") != NULL);
}

static void expect_uri(const char *path, const char *wanted)
{
    char out[TTS_SARIF_URI_MAX];
    T_STR_EQ(tts_sarif_uri(out, path), wanted);
}

T_TEST(paths_become_references)
{
    expect_uri("run.log", "run.log");
    expect_uri("./logs/run.log", "logs/run.log");
    expect_uri(".//././run.log", "run.log");
    expect_uri("../run.log", "../run.log");
    expect_uri("/tmp/run.log", "file:///tmp/run.log");
    expect_uri("a b%c#d?e:f", "a%20b%25c%23d%3Fe%3Af");
    expect_uri("\xc3\xa4\xff\n", "%C3%A4%FF%0A");
    expect_uri("[x]&\"<", "%5Bx%5D%26%22%3C");
    expect_uri("", "");
    expect_uri("./", "./");
}

T_TEST(a_path_that_is_too_long_is_cut_between_its_characters)
{
    static char path[3 * TTS_SARIF_URI_MAX], out[TTS_SARIF_URI_MAX];
    for (size_t letters = 0; letters < 3; letters++) {
        memset(path, 'a', letters);
        memset(path + letters, ' ', sizeof path - 1 - letters);
        tts_sarif_uri(out, path);
        T_TRUE(strlen(out) < TTS_SARIF_URI_MAX && strlen(out) > TTS_SARIF_URI_MAX - 5);
        T_EQ(strlen(out) % 3, letters);
    }
    memset(path, 'a', sizeof path - 1);
    tts_sarif_uri(out, path);
    T_TRUE(strlen(out) < TTS_SARIF_URI_MAX);
}

T_TEST(texts_that_run_together_have_another_fingerprint)
{
    uint64_t init = TTS_FNV1A64_INIT;
    T_TRUE(tts_sarif_mix(tts_sarif_mix(init, "ab"), "c") !=
           tts_sarif_mix(tts_sarif_mix(init, "a"), "bc"));
    T_TRUE(tts_sarif_mix(init, "") != init);
    T_TRUE(tts_sarif_mix(init, "a") == tts_sarif_mix(init, "a"));
    /* The expected value is FNV-1a of a single zero byte. */
    T_TRUE(tts_sarif_mix(init, "") == UINT64_C(0xaf63bd4c8601b7df));
}
