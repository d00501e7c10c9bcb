/* analyze_main.c: the program ttscope-analyze: the command `analyze`, with cairo at hand. */
#include "cli/analyze.h"
#include "cli/program.h"
#include "views/chart/drawing_cairo.h"

static enum tts_status draw(const struct tts_drawing *drawing, enum tts_picture_format format,
                            FILE *out, struct tts_error *err)
{
    return format == TTS_PICTURE_PDF ? tts_drawing_write_pdf(drawing, out, err)
                                     : tts_drawing_write_png(drawing, out, err);
}

int main(int argc, char **argv)
{
    static const struct tts_analyze_drawer drawer = {draw};
    tts_program_begin();
    return tts_program_end(tts_analyze(argc, argv, &drawer), "analyze");
}
