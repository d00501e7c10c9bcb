#include "views/finding/junit.h"

#include "base/error.h"
#include "views/svg.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

enum { SUITE_MAX = 160, COPY_BYTES = 4096 };

/* Writes the head of the suite. The head has the same length for any counts, because it is
 * written again at the end with the final counts. */
static void put_junit_suite(const struct tts_junit *junit)
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

enum tts_status tts_junit_begin(struct tts_junit *junit, FILE *out, const char *suite,
                                struct tts_error *err)
{
    *junit = (struct tts_junit){.out = out, .suite = suite, .cases = tmpfile()};
    if (!junit->cases)
        return tts_error_set_errno(err, TTS_E_IO, errno,
                                   "cannot make a temporary file in /tmp for the JUnit report");
    put_junit_suite(junit);
    /* A schema requires at least one property. */
    fprintf(out, "  <properties>\n    <property name=\"ttscope\" value=\"%s\"/>\n",
            tts_version());
    return TTS_OK;
}

void tts_junit_release(struct tts_junit *junit)
{
    if (junit->cases)
        fclose(junit->cases);
    junit->cases = NULL;
}

static void put_xml_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    tts_svg_escape(out, value);
    fputc('"', out);
}

/* Writes the place of a test as a property, such as "run: dram-peak" with the value
 * "a.log:7". */
static void put_junit_place(FILE *out, const char *class_name, const char *name,
                            const struct tts_finding *finding)
{
    fputs("    <property name=\"", out);
    tts_svg_escape(out, class_name);
    fputs(": ", out);
    tts_svg_escape(out, name);
    fputs("\" value=\"", out);
    tts_svg_escape(out, finding->path);
    if (finding->line > 0)
        fprintf(out, ":%" PRIu64, finding->line);
    fputs("\"/>\n", out);
}

static void put_junit_message(FILE *out, const struct tts_finding *finding)
{
    if (finding->label) {
        tts_svg_escape(out, finding->label);
        fputs(": ", out);
    }
    tts_svg_escape(out, finding->message);
}

static void put_junit_outcome(FILE *out, const struct tts_finding *finding)
{
    if (finding->severity < TTS_SEVERITY_WARNING) {
        fputs("    <system-out>", out);
        put_junit_message(out, finding);
        fputs("</system-out>\n", out);
        return;
    }
    fprintf(out, "    <%s message=\"",
            finding->severity == TTS_SEVERITY_ERROR ? "failure" : "error");
    put_junit_message(out, finding);
    fputc('"', out);
    if (finding->rule)
        put_xml_attribute(out, "type", finding->rule);
    fputs("/>\n", out);
}

void tts_junit_case(struct tts_junit *junit, const char *class_name, const char *name,
                    const struct tts_finding *finding)
{
    FILE *out = junit->cases;
    junit->tests++;
    junit->failures += finding->severity == TTS_SEVERITY_ERROR;
    junit->errors += finding->severity == TTS_SEVERITY_WARNING;
    fputs("  <testcase", out);
    put_xml_attribute(out, "classname", class_name);
    put_xml_attribute(out, "name", name);
    fputs(">\n", out);
    put_junit_outcome(out, finding);
    fputs("  </testcase>\n", out);
    if (finding->path)
        put_junit_place(junit->out, class_name, name, finding);
}

enum tts_status tts_junit_end(struct tts_junit *junit, struct tts_error *err)
{
    char bytes[COPY_BYTES];
    size_t len;
    bool is_whole = fflush(junit->cases) == 0 && !ferror(junit->cases);
    fputs("  </properties>\n", junit->out);
    rewind(junit->cases);
    while ((len = fread(bytes, 1, sizeof bytes, junit->cases)) > 0)
        fwrite(bytes, 1, len, junit->out);
    is_whole = is_whole && !ferror(junit->cases);
    tts_junit_release(junit);
    fputs("</testsuite>\n", junit->out);
    rewind(junit->out);
    put_junit_suite(junit);
    return is_whole ? TTS_OK : tts_error_set(err, TTS_E_IO, "cannot write to a temporary file");
}
