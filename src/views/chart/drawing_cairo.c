#include "views/chart/drawing_cairo.h"

#include "base/error.h"

#include <assert.h>
#include <cairo-pdf.h>
#include <cairo.h>
#include <fontconfig/fontconfig.h>
#include <pango/pangocairo.h>

enum { PNG_SCALE = 2, PNG_SIDE_MAX = 32000 };

/* Tools for drawing. Fonts are looked up once per picture and released with it. */
struct pen {
    const struct tts_drawing *drawing;
    cairo_t *cr;
    PangoFontMap *fonts;
    PangoContext *context;
    PangoLayout *layout;
};

static double pen_length(int64_t length)
{
    return (double)length / TTS_SVG_PX;
}

static void pen_set_paint(cairo_t *cr, struct tts_paint paint)
{
    cairo_set_source_rgba(cr, (double)(paint.rgb >> 16 & 0xff) / 255,
                          (double)(paint.rgb >> 8 & 0xff) / 255,
                          (double)(paint.rgb & 0xff) / 255, (double)paint.alpha / 255);
}

/* Fills and strokes the current path. */
static void pen_finish_path(cairo_t *cr, const struct tts_drawn *shape)
{
    if (shape->fill.alpha > 0 && shape->kind != TTS_SHAPE_LINE) {
        pen_set_paint(cr, shape->fill);
        cairo_fill_preserve(cr);
    }
    if (shape->stroke.alpha > 0 && shape->stroke_width > 0) {
        double dash = pen_length(shape->dash);
        pen_set_paint(cr, shape->stroke);
        cairo_set_line_width(cr, pen_length(shape->stroke_width));
        cairo_set_dash(cr, &dash, shape->dash > 0, 0);
        cairo_stroke_preserve(cr);
    }
    cairo_new_path(cr);
}

static void pen_draw_box(cairo_t *cr, const struct tts_drawn *shape)
{
    static const double quarter = 1.5707963267948966;
    double x = pen_length(shape->box.x), y = pen_length(shape->box.y);
    double w = pen_length(shape->box.width), h = pen_length(shape->box.height),
           r = pen_length(shape->radius);
    r = r > w / 2 ? w / 2 : r;
    r = r > h / 2 ? h / 2 : r;
    if (r > 0) {
        cairo_new_sub_path(cr);
        cairo_arc(cr, x + w - r, y + r, r, -quarter, 0);
        cairo_arc(cr, x + w - r, y + h - r, r, 0, quarter);
        cairo_arc(cr, x + r, y + h - r, r, quarter, 2 * quarter);
        cairo_arc(cr, x + r, y + r, r, 2 * quarter, 3 * quarter);
        cairo_close_path(cr);
    } else {
        cairo_rectangle(cr, x, y, w, h);
    }
    pen_finish_path(cr, shape);
}

static void pen_draw_steps(const struct pen *pen, const struct tts_drawn *shape)
{
    const struct tts_svg_point *points = pen->drawing->points + shape->points;
    for (size_t i = 0; i < shape->point_count; i++)
        cairo_line_to(pen->cr, pen_length(points[i].x), pen_length(points[i].y));
    pen_finish_path(pen->cr, shape);
}

static void pen_set_font(const struct pen *pen, struct tts_font font)
{
    PangoFontDescription *wanted = pango_font_description_new();
    pango_font_description_set_family_static(wanted, "DejaVu Sans,Verdana,sans-serif");
    pango_font_description_set_absolute_size(wanted, pen_length(font.size) * PANGO_SCALE);
    pango_font_description_set_weight(wanted,
                                      font.bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
    pango_layout_set_font_description(pen->layout, wanted);
    pango_font_description_free(wanted);
}

static void pen_draw_text(const struct pen *pen, const struct tts_drawn *shape)
{
    cairo_t *cr = pen->cr;
    pen_set_font(pen, shape->font);
    pango_layout_set_text(pen->layout, tts_drawing_text(pen->drawing, shape->text), -1);
    PangoRectangle logical;
    pango_layout_get_extents(pen->layout, NULL, &logical);
    double width = (double)logical.width / PANGO_SCALE, room = pen_length(shape->box.width);
    double baseline = (double)pango_layout_get_baseline(pen->layout) / PANGO_SCALE;
    cairo_save(cr);
    cairo_translate(cr, pen_length(shape->box.x), pen_length(shape->box.y));
    cairo_rotate(cr, shape->rotate * 3.1415926535897931 / 180);
    if (width > room && width > 0)
        cairo_scale(cr, room / width, room / width);
    double shift = shape->anchor == TTS_ANCHOR_START    ? 0
                   : shape->anchor == TTS_ANCHOR_MIDDLE ? width / 2
                                                        : width;
    cairo_move_to(cr, -shift - (double)logical.x / PANGO_SCALE, -baseline);
    pen_set_paint(cr, shape->fill);
    pango_cairo_show_layout(cr, pen->layout);
    cairo_new_path(cr);
    cairo_restore(cr);
}

static void pen_draw_shape(const struct pen *pen, const struct tts_drawn *shape)
{
    switch (shape->kind) {
    case TTS_SHAPE_BOX:
        pen_draw_box(pen->cr, shape);
        break;
    case TTS_SHAPE_LINE:
        cairo_move_to(pen->cr, pen_length(shape->box.x), pen_length(shape->box.y));
        cairo_line_to(pen->cr, pen_length(shape->to.x), pen_length(shape->to.y));
        pen_finish_path(pen->cr, shape);
        break;
    case TTS_SHAPE_STEPS:
        pen_draw_steps(pen, shape);
        break;
    case TTS_SHAPE_TEXT:
        pen_draw_text(pen, shape);
        break;
    }
}

/* ---- a page ---- */

/* Returns true if a font is installed. Without one, pango would draw a picture without text. */
static bool has_any_font(void)
{
    if (!FcInit())
        return false;
    const FcFontSet *fonts = FcConfigGetFonts(NULL, FcSetSystem);
    return fonts && fonts->nfont > 0;
}

/* Makes a context without hinting, so that letters have the same positions in PNG and PDF. */
static PangoContext *new_cairo_context(PangoFontMap *fonts)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    PangoContext *context = pango_font_map_create_context(fonts);
    pango_cairo_context_set_font_options(context, options);
    pango_context_set_round_glyph_positions(context, FALSE);
    cairo_font_options_destroy(options);
    return context;
}

static enum tts_status pen_open(struct pen *pen, const struct tts_drawing *d,
                                struct tts_error *err)
{
    if (!has_any_font())
        return tts_error_set(err, TTS_E_NOT_FOUND,
                             "cannot draw letters: no font is installed; install a font, such "
                             "as fonts-dejavu-core, or choose the format svg");
    *pen = (struct pen){.drawing = d, .fonts = pango_cairo_font_map_new()};
    pen->context = new_cairo_context(pen->fonts);
    pen->layout = pango_layout_new(pen->context);
    pango_layout_set_single_paragraph_mode(pen->layout, TRUE);
    return TTS_OK;
}

static void pen_close(struct pen *pen)
{
    g_object_unref(pen->layout);
    g_object_unref(pen->context);
    g_object_unref(pen->fonts);
}

static void draw_all_shapes(struct pen *pen, cairo_surface_t *surface, double scale)
{
    pen->cr = cairo_create(surface);
    cairo_scale(pen->cr, scale, scale);
    cairo_set_source_rgb(pen->cr, 1, 1, 1);
    cairo_paint(pen->cr);
    for (size_t i = 0; i < pen->drawing->shape_count; i++)
        pen_draw_shape(pen, &pen->drawing->shapes[i]);
    cairo_show_page(pen->cr);
    cairo_destroy(pen->cr);
}

static cairo_status_t write_cairo_bytes(void *out, const unsigned char *bytes, unsigned len)
{
    return fwrite(bytes, 1, len, out) == len ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static enum tts_status judge_cairo_status(cairo_status_t status, struct tts_error *err)
{
    switch ((int)status) {
    case CAIRO_STATUS_SUCCESS:
        return TTS_OK;
    case CAIRO_STATUS_NO_MEMORY:
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    case CAIRO_STATUS_WRITE_ERROR:
        return tts_error_set(err, TTS_E_IO, "cannot write the picture");
    default:
        return tts_error_set(err, TTS_E_INVALID, "cannot draw the picture: %s",
                             cairo_status_to_string(status));
    }
}

static double png_scale(const struct tts_drawing *d)
{
    double side = pen_length(d->width > d->height ? d->width : d->height);
    return side * PNG_SCALE > PNG_SIDE_MAX ? PNG_SIDE_MAX / side : PNG_SCALE;
}

enum tts_status tts_drawing_write_png(const struct tts_drawing *d, FILE *out,
                                      struct tts_error *err)
{
    assert(d->width > 0 && d->height > 0);
    struct pen pen;
    enum tts_status status = pen_open(&pen, d, err);
    if (status)
        return status;
    double scale = png_scale(d);
    cairo_surface_t *surface = cairo_image_surface_create(
        CAIRO_FORMAT_RGB24, (int)(pen_length(d->width) * scale + 0.5),
        (int)(pen_length(d->height) * scale + 0.5));
    draw_all_shapes(&pen, surface, scale);
    status = judge_cairo_status(cairo_surface_status(surface), err);
    if (!status)
        status = judge_cairo_status(
            cairo_surface_write_to_png_stream(surface, write_cairo_bytes, out), err);
    cairo_surface_destroy(surface);
    pen_close(&pen);
    return status;
}

enum tts_status tts_drawing_write_pdf(const struct tts_drawing *d, FILE *out,
                                      struct tts_error *err)
{
    assert(d->width > 0 && d->height > 0);
    const double points_a_px = 72.0 / 96;
    struct pen pen;
    enum tts_status status = pen_open(&pen, d, err);
    if (status)
        return status;
    cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(
        write_cairo_bytes, out, pen_length(d->width) * points_a_px,
        pen_length(d->height) * points_a_px);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE,
                                   tts_drawing_text(d, d->title));
    /* Write no date instead of the current one. */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    draw_all_shapes(&pen, surface, points_a_px);
    cairo_surface_finish(surface);
    status = judge_cairo_status(cairo_surface_status(surface), err);
    cairo_surface_destroy(surface);
    pen_close(&pen);
    return status;
}
