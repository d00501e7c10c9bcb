/* analyze_picture.c: from kept runs to a picture. */
#include "base/error.h"
#include "cli/analyze_parts.h"
#include "views/drawing.h"
#include "views/drawing_svg.h"

size_t tts_analyze_picture_max(enum tts_picture picture)
{
    return picture == TTS_PICTURE_PEAK ? TTS_CHART_RUNS_MAX : TTS_CHART_PHASE_RUNS_MAX;
}

bool tts_analyze_has_picture(const struct tts_analyze_gallery *gallery,
                             enum tts_picture picture)
{
    size_t max = tts_analyze_picture_max(picture);
    for (size_t i = 0; i < gallery->count && i < max; i++) {
        const struct tts_analyze_run *run = &gallery->kept[i]->run;
        if (picture == TTS_PICTURE_PEAK ? run->mem->has_parts : run->run->phase_count > 0)
            return true;
    }
    return false;
}

static enum tts_status write_drawing(const struct tts_drawing *drawing,
                                     const struct tts_analyze_options *options,
                                     const struct tts_analyze_gallery *gallery, FILE *out,
                                     struct tts_error *err)
{
    if (options->format != TTS_PICTURE_SVG)
        return gallery->drawer->write(drawing, options->format, out, err);
    tts_drawing_write_svg(drawing, out);
    return TTS_OK;
}

enum tts_status tts_analyze_draw(const struct tts_analyze_options *options,
                                 const struct tts_analyze_gallery *gallery,
                                 enum tts_picture picture, FILE *out, struct tts_error *err)
{
    struct tts_chart_run runs[TTS_CHART_RUNS_MAX];
    struct tts_drawing drawing = {0};
    size_t count = 0, max = tts_analyze_picture_max(picture);
    for (; count < gallery->count && count < max; count++) {
        const struct tts_analyze_run *run = &gallery->kept[count]->run;
        runs[count] = (struct tts_chart_run){run->name, run->run, run->mem};
    }
    enum tts_status status = picture == TTS_PICTURE_PEAK
                                 ? tts_peakchart(runs, count, options->title, NULL, &drawing)
                                 : tts_phasechart(runs, count, options->title, NULL, &drawing);
    if (status != TTS_OK)
        return tts_error_set(err, status, "%s", tts_status_text(status));
    status = write_drawing(&drawing, options, gallery, out, err);
    tts_drawing_release(&drawing);
    return status;
}
