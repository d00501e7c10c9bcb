#include "views/chart/drawing_svg.h"

#include <assert.h>
#include <inttypes.h>

static void put_svg_number(FILE *out, const char *name, int64_t length)
{
    fprintf(out, " %s=\"", name);
    tts_svg_length(out, length);
    fputc('"', out);
}

static void put_svg_paint(FILE *out, const char *name, struct tts_paint paint)
{
    if (paint.alpha == 0) {
        fprintf(out, " %s=\"none\"", name);
        return;
    }
    fprintf(out, " %s=\"#%06" PRIx32 "\"", name, paint.rgb & 0xffffff);
    if (paint.alpha < 255) {
        fprintf(out, " %s-opacity=\"", name);
        tts_svg_length(out, (paint.alpha * 100 + 127) / 255);
        fputc('"', out);
    }
}

static void put_svg_stroke(FILE *out, const struct tts_drawn *shape)
{
    if (shape->stroke_width == 0 || shape->stroke.alpha == 0)
        return;
    put_svg_paint(out, "stroke", shape->stroke);
    put_svg_number(out, "stroke-width", shape->stroke_width);
    if (shape->dash > 0)
        put_svg_number(out, "stroke-dasharray", shape->dash);
}

static void put_svg_class(FILE *out, const struct tts_drawn *shape)
{
    if (!shape->name)
        return;
    fputs(" class=\"", out);
    tts_svg_escape(out, shape->name);
    fputc('"', out);
}

static void write_svg_box(const struct tts_drawing *d, const struct tts_drawn *shape, FILE *out)
{
    tts_svg_rect_begin(out, shape->box);
    if (shape->radius > 0)
        put_svg_number(out, "rx", shape->radius);
    put_svg_paint(out, "fill", shape->fill);
    put_svg_stroke(out, shape);
    put_svg_class(out, shape);
    if (shape->hint == 0) {
        fputs("/>\n", out);
        return;
    }
    fputs("><title>", out);
    tts_svg_escape(out, tts_drawing_text(d, shape->hint));
    fputs("</title></rect>\n", out);
}

static void write_svg_line(const struct tts_drawn *shape, FILE *out)
{
    fputs("<line", out);
    put_svg_number(out, "x1", shape->box.x);
    put_svg_number(out, "y1", shape->box.y);
    put_svg_number(out, "x2", shape->to.x);
    put_svg_number(out, "y2", shape->to.y);
    put_svg_stroke(out, shape);
    fputs("/>\n", out);
}

static void write_svg_steps(const struct tts_drawing *d, const struct tts_drawn *shape,
                            FILE *out)
{
    assert(shape->points <= d->point_count &&
           shape->point_count <= d->point_count - shape->points);
    fputs("<polyline", out);
    put_svg_class(out, shape);
    put_svg_paint(out, "fill", shape->fill);
    put_svg_stroke(out, shape);
    fputs(" points=\"", out);
    for (size_t i = 0; i < shape->point_count; i++) {
        const struct tts_svg_point *point = &d->points[shape->points + i];
        if (i > 0)
            fputc(' ', out);
        tts_svg_length(out, point->x);
        fputc(',', out);
        tts_svg_length(out, point->y);
    }
    fputs("\"/>\n", out);
}

static void put_text_place(FILE *out, const struct tts_drawn *shape)
{
    if (shape->rotate == 0) {
        put_svg_number(out, "x", shape->box.x);
        put_svg_number(out, "y", shape->box.y);
        return;
    }
    fputs(" transform=\"translate(", out);
    tts_svg_length(out, shape->box.x);
    fputc(' ', out);
    tts_svg_length(out, shape->box.y);
    fprintf(out, ") rotate(%d)\"", shape->rotate);
}

static void write_svg_text(const struct tts_drawing *d, const struct tts_drawn *shape,
                           FILE *out)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    fputs("<text", out);
    put_text_place(out, shape);
    put_svg_number(out, "font-size", shape->font.size);
    if (shape->font.bold)
        fputs(" font-weight=\"bold\"", out);
    if (shape->anchor != TTS_ANCHOR_START)
        fprintf(out, " text-anchor=\"%s\"", anchors[shape->anchor]);
    put_svg_paint(out, "fill", shape->fill);
    fputc('>', out);
    tts_svg_escape(out, tts_drawing_text(d, shape->text));
    fputs("</text>\n", out);
}

static void write_svg_head(const struct tts_drawing *d, FILE *out)
{
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", out);
    put_svg_number(out, "width", d->width);
    put_svg_number(out, "height", d->height);
    fputs(" viewBox=\"0 0 ", out);
    tts_svg_length(out, d->width);
    fputc(' ', out);
    tts_svg_length(out, d->height);
    fputs("\" style=\"max-width:100%;height:auto\" role=\"img\" "
          "aria-labelledby=\"title description\" "
          "font-family=\"'DejaVu Sans',Verdana,sans-serif\">\n<title id=\"title\">",
          out);
    tts_svg_escape(out, tts_drawing_text(d, d->title));
    fputs("</title>\n<desc id=\"description\">", out);
    tts_svg_escape(out, tts_drawing_text(d, d->description));
    fputs("</desc>\n", out);
    tts_svg_rect(out, (struct tts_svg_box){0, 0, d->width, d->height}, "fill=\"#ffffff\"");
}

void tts_drawing_write_svg(const struct tts_drawing *d, FILE *out)
{
    write_svg_head(d, out);
    for (size_t i = 0; i < d->shape_count; i++) {
        const struct tts_drawn *shape = &d->shapes[i];
        switch (shape->kind) {
        case TTS_SHAPE_BOX:
            write_svg_box(d, shape, out);
            break;
        case TTS_SHAPE_LINE:
            write_svg_line(shape, out);
            break;
        case TTS_SHAPE_STEPS:
            write_svg_steps(d, shape, out);
            break;
        case TTS_SHAPE_TEXT:
            write_svg_text(d, shape, out);
            break;
        }
    }
    fputs("</svg>\n", out);
}
