#include "harness/t.h"
#include "views/finding/junit.h"

#include <stdlib.h>
#include <string.h>

static char text[8192];

struct test {
    const char *class_name, *name;
    struct tts_finding finding;
};

static const char *written(const struct test *tests, size_t count)
{
    struct tts_junit junit;
    FILE *out = tmpfile();
    T_TRUE(out != NULL);
    T_EQ(tts_junit_begin(&junit, out, "ttscope check", NULL), TTS_OK);
    for (size_t i = 0; i < count; i++)
        tts_junit_case(&junit, tests[i].class_name, tests[i].name, &tests[i].finding);
    T_EQ(tts_junit_end(&junit, NULL), TTS_OK);
    tts_junit_release(&junit); /* a second release is allowed */
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    T_TRUE(!ferror(out));
    fclose(out);
    return text;
}

/* Compares the report with `wanted`. Ignores the padding in the line of the suite. */
static void expect(const char *wanted)
{
    char *padding = strstr(text, "\"  ") + 1, *rest = strstr(text, " >\n") + 1;
    T_EQ(strspn(padding, " "), (size_t)(rest - padding));
    memmove(padding, rest, strlen(rest) + 1);
    T_STR_EQ(text, wanted);
}

T_TEST(counts_stand_at_the_top_and_each_outcome_has_its_element)
{
    const struct test tests[] = {
        {"run", "dram-peak", {.path = "a.log", .line = 7, .message = "fine"}},
        {"run",
         "cb",
         {.rule = "cb",
          .severity = TTS_SEVERITY_ERROR,
          .label = "cb A",
          .path = "b.log",
          .message = "too much"}},
        {"run", "x", {.severity = TTS_SEVERITY_WARNING, .message = "not known"}},
    };
    written(tests, 3);
    char wanted[2048];
    snprintf(wanted, sizeof wanted,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<testsuite name=\"ttscope check\" tests=\"3\" failures=\"1\" errors=\"1\">\n"
             "  <properties>\n"
             "    <property name=\"ttscope\" value=\"%s\"/>\n"
             "    <property name=\"run: dram-peak\" value=\"a.log:7\"/>\n"
             "    <property name=\"run: cb\" value=\"b.log\"/>\n"
             "  </properties>\n"
             "  <testcase classname=\"run\" name=\"dram-peak\">\n"
             "    <system-out>fine</system-out>\n"
             "  </testcase>\n"
             "  <testcase classname=\"run\" name=\"cb\">\n"
             "    <failure message=\"cb A: too much\" type=\"cb\"/>\n"
             "  </testcase>\n"
             "  <testcase classname=\"run\" name=\"x\">\n"
             "    <error message=\"not known\"/>\n"
             "  </testcase>\n"
             "</testsuite>\n",
             tts_version());
    expect(wanted);
}

T_TEST(foreign_text_stays_text)
{
    const struct test test = {"<a & \"b\">",
                              "n\n\x1b[2J",
                              {.rule = "'t'",
                               .severity = TTS_SEVERITY_ERROR,
                               .path = "d/\"x\".log",
                               .message = "]]> \xff"}};
    written(&test, 1);
    T_TRUE(strstr(text, "classname=\"&lt;a &amp; &quot;b&quot;&gt;\"") != NULL);
    T_TRUE(strstr(text, "name=\"n\xef\xbf\xbd\xef\xbf\xbd[2J\"") != NULL);
    T_TRUE(strstr(text,
                  "<property name=\"&lt;a &amp; &quot;b&quot;&gt;: n\xef\xbf\xbd\xef\xbf\xbd"
                  "[2J\" value=\"d/&quot;x&quot;.log\"/>") != NULL);
    T_TRUE(strstr(text, "message=\"]]&gt; \xef\xbf\xbd\"") != NULL);
    T_TRUE(strstr(text, "type=\"'t'\"") != NULL);
}

T_TEST(the_line_of_the_suite_has_one_length_whatever_the_counts)
{
    const struct test test = {"a", "b", {.message = ""}};
    struct test many[20];
    for (int i = 0; i < 20; i++)
        many[i] = test;
    size_t one = strcspn(strchr(written(&test, 0), '\n') + 1, "\n");
    T_EQ(strcspn(strchr(written(many, 20), '\n') + 1, "\n"), one);
    T_TRUE(strstr(text, "tests=\"20\" failures=\"0\" errors=\"0\"") != NULL);
}
