/* analyze_picture.c: from kept runs to a picture. */
#include "base/error.h"
#include "cli/analyze_parts.h"
#include "views/chart/chartparts.h"
#include "views/chart/drawing.h"
#include "views/chart/drawing_svg.h"

#include <inttypes.h>
#include <stdlib.h>

size_t tts_analyze_picture_max(enum tts_picture picture)
{
    return picture == TTS_PICTURE_PEAK ? TTS_CHART_RUNS_MAX : TTS_CHART_PHASE_RUNS_MAX;
}

static int compare_kept(const void *a, const void *b)
{
    const struct tts_analyze_kept *const *one = a, *const *other = b;
    return tts_analyze_is_worse(&(*one)->worth, &(*other)->worth) ? -1 : 1;
}

size_t tts_analyze_choose(const struct tts_analyze_gallery *gallery, enum tts_picture picture,
                          const struct tts_analyze_kept *out[TTS_CHART_RUNS_MAX])
{
    size_t max = tts_analyze_picture_max(picture);
    for (size_t i = 0; i < gallery->count; i++)
        out[i] = gallery->kept[i];
    if (gallery->all.runs > max)
        qsort(out, gallery->count, sizeof out[0], compare_kept);
    return gallery->count < max ? gallery->count : max;
}

bool tts_analyze_has_picture(const struct tts_analyze_gallery *gallery,
                             enum tts_picture picture)
{
    const struct tts_analyze_kept *kept[TTS_CHART_RUNS_MAX];
    size_t count = tts_analyze_choose(gallery, picture, kept);
    for (size_t i = 0; i < count; i++) {
        const struct tts_analyze_run *run = &kept[i]->run;
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

/* Says below the picture which runs it does not show. */
static enum tts_status draw_rest(struct tts_drawing *drawing,
                                 const struct tts_analyze_tally *all,
                                 const struct tts_analyze_tally *shown, struct tts_error *err)
{
    struct tts_analyze_tally rest = tts_analyze_tally_rest(all, shown);
    char words[TTS_ANALYZE_TALLY_MAX], text[TTS_ANALYZE_TALLY_MAX + 64];
    if (rest.runs == 0)
        return TTS_OK;
    snprintf(text, sizeof text, "worst first, and %" PRIu64 " more: %s", rest.runs,
             tts_analyze_tally_words(words, &rest));
    tts_chart_draw_foot(drawing, text);
    return drawing->is_short ? tts_error_set(err, TTS_E_NOMEM, "out of memory") : TTS_OK;
}

enum tts_status tts_analyze_draw(const struct tts_analyze_options *options,
                                 const struct tts_analyze_gallery *gallery,
                                 enum tts_picture picture, FILE *out, struct tts_error *err)
{
    const struct tts_analyze_kept *kept[TTS_CHART_RUNS_MAX];
    struct tts_chart_run runs[TTS_CHART_RUNS_MAX];
    struct tts_drawing drawing = {0};
    struct tts_analyze_tally shown = {0};
    size_t count = tts_analyze_choose(gallery, picture, kept);
    for (size_t i = 0; i < count; i++) {
        const struct tts_analyze_run *run = &kept[i]->run;
        runs[i] = (struct tts_chart_run){run->name, run->run, run->mem};
        tts_analyze_tally_add(&shown, kept[i]->worth.verdict);
    }
    enum tts_status status = picture == TTS_PICTURE_PEAK
                                 ? tts_peakchart(runs, count, options->title, NULL, &drawing)
                                 : tts_phasechart(runs, count, options->title, NULL, &drawing);
    if (status != TTS_OK)
        return tts_error_set(err, status, "%s", tts_status_text(status));
    status = draw_rest(&drawing, &gallery->all, &shown, err);
    if (status == TTS_OK)
        status = write_drawing(&drawing, options, gallery, out, err);
    tts_drawing_release(&drawing);
    return status;
}
