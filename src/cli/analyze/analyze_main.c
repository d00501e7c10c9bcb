/* analyze_main.c: the program ttscope-analyze. It is the command `analyze` with cairo, which
 * draws PNG and PDF. */
#include "cli/analyze/analyze.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/program.h"
#include "views/chart/drawing_cairo.h"

static enum tts_status draw_by_cairo(const struct tts_drawing *drawing,
                                     enum tts_picture_format format, FILE *out,
                                     struct tts_error *err)
{
    return format == TTS_PICTURE_PDF ? tts_drawing_write_pdf(drawing, out, err)
                                     : tts_drawing_write_png(drawing, out, err);
}

int main(int argc, char **argv)
{
    static const struct tts_analyze_options defaults = {.draw = draw_by_cairo};
    struct tts_command command = tts_analyze_command;
    (void)argc;
    command.defaults = &defaults;
    tts_program_begin();
    return tts_program_end(tts_job_main(&command, argv), command.name);
}
