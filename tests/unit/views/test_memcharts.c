#include "harness/chart_rig.h"
#include "harness/t.h"
#include "views/chart/drawing_svg.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum tts_status layout(const struct tts_named_run *, size_t, const char *,
                               const struct tts_alloc *, struct tts_drawing *);

static struct chart_run store[2];

static char *svg_of(layout *draw, const char *first, const char *second, const char *title)
{
    chart_tinyllama(&store[0], true);
    chart_tinyllama(&store[1], false);
    const struct tts_named_run runs[] = {{first, NULL, &store[0].run, &store[0].mem},
                                         {second, NULL, &store[1].run, &store[1].mem}};
    struct tts_drawing d;
    T_EQ(draw(runs, 2, title, NULL, &d), TTS_OK);
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    T_TRUE(out != NULL);
    tts_drawing_write_svg(&d, out);
    T_EQ(fclose(out), 0);
    tts_drawing_release(&d);
    return text;
}

/* Returns the content of a file, terminated. Fails the test if the file does not exist. */
static char *read_golden(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, TTS_GOLDEN_DIR "/charts/%s", name);
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("cannot read %s", path);
    char *text = NULL;
    size_t capacity = 0;
    ssize_t len = getdelim(&text, &capacity, '\0', in);
    T_TRUE(len > 0);
    fclose(in);
    return text;
}

static void is_golden(layout *draw, const char *title, const char *name)
{
    char *svg = svg_of(draw, "TinyLlama memory efficient", "TinyLlama default", title);
    char *golden = read_golden(name);
    T_STR_EQ(svg, golden);
    free(svg);
    free(golden);
}

T_TEST(the_published_runs_are_drawn_as_ever)
{
    is_golden(tts_peakchart, "TinyLlama: where the peak went", "peak_tinyllama.svg");
    is_golden(tts_phasechart, "TinyLlama: memory over the phases", "phase_tinyllama.svg");
}

enum { NOT_FOUND = 127 };

/* Checks the drawing with a program. Skips the test if the program is not installed. */
static void is_well_formed(const char *svg)
{
    const char *path = t_scratch("chart.svg");
    FILE *out = fopen(path, "w");
    T_TRUE(out != NULL && fputs(svg, out) >= 0 && fclose(out) == 0);
    pid_t child = fork();
    if (child == 0) {
        execlp("xmllint", "xmllint", "--noout", path, (char *)NULL);
        _exit(NOT_FOUND);
    }
    int status = -1;
    T_TRUE(child > 0 && waitpid(child, &status, 0) == child);
    T_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_FOUND) {
        print_message("skipped: xmllint is not installed\n");
        skip();
    }
    T_EQ(WEXITSTATUS(status), 0);
}

T_TEST(any_name_makes_xml)
{
    static const char *const names[] = {
        "plain", "<&>\"' ]]> <!-- &amp;", "\x01\x08\x0b\x1f\x7f\xc2\x85\xff\xc0\x80",
        "\xef\xbf\xbe\xef\xbf\xbf\xed\xa0\x80\xf4\x90\x80\x80",
        "\xe2\x80\xae right to left \xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *peak = svg_of(tts_peakchart, names[i], names[0], names[i]);
        char *phase = svg_of(tts_phasechart, names[0], names[i], names[i]);
        is_well_formed(peak);
        is_well_formed(phase);
        free(peak);
        free(phase);
    }
}
