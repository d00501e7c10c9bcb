#include "views/junit.h"

#include "views/svg.h"

#include <assert.h>
#include <inttypes.h>

enum { SUITE_MAX = 160 };

/* Of one length whatever the counts are. */
static void put_suite(const struct tts_junit *junit)
{
    char text[SUITE_MAX];
    int need = snprintf(text, sizeof text,
                        "<testsuite name=\"%s\" tests=\"%" PRIu64 "\" failures=\"%" PRIu64
                        "\" errors=\"%" PRIu64 "\"",
                        junit->suite, junit->tests, junit->failures, junit->errors);
    assert(need > 0 && need < SUITE_MAX);
    (void)need;
    fprintf(junit->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n%-*s>\n", SUITE_MAX, text);
}

void tts_junit_begin(struct tts_junit *junit, FILE *out, const char *suite)
{
    *junit = (struct tts_junit){.out = out, .suite = suite};
    put_suite(junit);
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    tts_svg_escape(out, value);
    fputc('"', out);
}

static void put_outcome(FILE *out, const struct tts_junit_case *test)
{
    if (test->outcome == TTS_JUNIT_PASSED) {
        fputs("    <system-out>", out);
        tts_svg_escape(out, test->text);
        fputs("</system-out>\n", out);
        return;
    }
    fprintf(out, "    <%s", test->outcome == TTS_JUNIT_FAILED ? "failure" : "error");
    put_attribute(out, "message", test->text);
    if (test->type)
        put_attribute(out, "type", test->type);
    fputs("/>\n", out);
}

void tts_junit_case(struct tts_junit *junit, const struct tts_junit_case *test)
{
    FILE *out = junit->out;
    junit->tests++;
    junit->failures += test->outcome == TTS_JUNIT_FAILED;
    junit->errors += test->outcome == TTS_JUNIT_ERROR;
    fputs("  <testcase", out);
    put_attribute(out, "classname", test->class_name);
    put_attribute(out, "name", test->name);
    if (test->file)
        put_attribute(out, "file", test->file);
    if (test->line > 0)
        fprintf(out, " line=\"%" PRIu64 "\"", test->line);
    fputs(">\n", out);
    put_outcome(out, test);
    fputs("  </testcase>\n", out);
}

void tts_junit_end(struct tts_junit *junit)
{
    fputs("</testsuite>\n", junit->out);
    rewind(junit->out);
    put_suite(junit);
}
