#include "harness/chart_check.h"
#include "harness/chart_rig.h"
#include "views/chart/drawing_cairo.h"

#include <cairo.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef enum tts_status writer(const struct tts_drawing *, FILE *, struct tts_error *);

struct bytes {
    char *at;
    size_t len;
};

static struct chart_run store[2];

static void two_runs(struct tts_drawing *d, bool phases)
{
    chart_tinyllama(&store[0], true);
    chart_tinyllama(&store[1], false);
    const struct tts_named_run runs[] = {
        {"\xe6\xbc\xa2\xe5\xad\x97 \x1b \xff", NULL, &store[0].run, &store[0].mem},
        {"TinyLlama default", NULL, &store[1].run, &store[1].mem}};
    T_EQ((phases ? tts_phasechart : tts_peakchart)(runs, 2, "Title", NULL, d), TTS_OK);
}

static struct bytes write_with(writer *write, const struct tts_drawing *d)
{
    struct bytes bytes = {0};
    struct tts_error err = {0};
    FILE *out = open_memstream(&bytes.at, &bytes.len);
    T_TRUE(out != NULL);
    enum tts_status status = write(d, out, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    T_EQ(fclose(out), 0);
    return bytes;
}

struct reader {
    struct bytes bytes;
    size_t at;
};

static cairo_status_t read_bytes(void *ctx, unsigned char *out, unsigned len)
{
    struct reader *reader = ctx;
    if (len > reader->bytes.len - reader->at)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(out, reader->bytes.at + reader->at, len);
    reader->at += len;
    return CAIRO_STATUS_SUCCESS;
}

/* ---- without fonts ---- */

static bool is_refused(writer *write, const struct tts_drawing *d)
{
    struct tts_error err = {0};
    char *bytes = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&bytes, &len);
    bool refused = write(d, out, &err) == TTS_E_NOT_FOUND &&
                   strstr(err.text, "no font is installed") != NULL;
    return fclose(out) == 0 && refused && len == 0;
}

/* This must be the first test, because a process searches for its fonts only once. */
T_TEST(without_a_font_nothing_is_written_and_why_is_said)
{
    struct tts_drawing d;
    two_runs(&d, false);
    const char *path = t_scratch("fonts.conf");
    FILE *file = fopen(path, "w");
    T_TRUE(file != NULL && fputs("<fontconfig></fontconfig>\n", file) >= 0);
    T_EQ(fclose(file), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("FONTCONFIG_FILE", path, 1);
        _exit(is_refused(tts_drawing_write_png, &d) && is_refused(tts_drawing_write_pdf, &d)
                  ? 0
                  : 1);
    }
    int status = -1;
    T_TRUE(child > 0 && waitpid(child, &status, 0) == child);
    T_TRUE(WIFEXITED(status));
    T_EQ(WEXITSTATUS(status), 0);
    tts_drawing_release(&d);
}

/* ---- pixels ---- */

/* Returns true if the pixel is far from every line, letter and edge, so that only boxes
 * determine its colour. */
static bool is_calm(const struct tts_drawing *d, int64_t x, int64_t y)
{
    struct chart_quad here = chart_box_quad((struct tts_svg_box){x - 150, y - 150, 300, 300});
    for (size_t i = 0; i < d->shape_count; i++) {
        const struct tts_drawn *shape = &d->shapes[i];
        struct chart_quad place = {0};
        struct tts_svg_box box = shape->box,
                           in = {box.x + 150, box.y + 150, box.width - 300, box.height - 300};
        switch (shape->kind) {
        case TTS_SHAPE_STEPS:
            return false;
        case TTS_SHAPE_TEXT:
            place = chart_text_quad(shape);
            break;
        case TTS_SHAPE_LINE:
            box.width = llabs(shape->to.x - box.x) + 200;
            box.height = llabs(shape->to.y - box.y) + 200;
            box.x = (shape->to.x < box.x ? shape->to.x : box.x) - 100;
            box.y = (shape->to.y < box.y ? shape->to.y : box.y) - 100;
            place = chart_box_quad(box);
            break;
        case TTS_SHAPE_BOX:
            if (x > in.x && x < in.x + in.width && y > in.y && y < in.y + in.height)
                continue;
            place = chart_box_quad(box);
            break;
        }
        if (chart_overlap(&here, &place))
            return false;
    }
    return true;
}

/* Returns the colour that a pixel gets from all boxes, drawn one over another. */
static uint32_t expected_at(const struct tts_drawing *d, int64_t x, int64_t y)
{
    double rgb[3] = {255, 255, 255};
    for (size_t i = 0; i < d->shape_count; i++) {
        const struct tts_drawn *shape = &d->shapes[i];
        struct tts_svg_box box = shape->box;
        if (shape->kind != TTS_SHAPE_BOX || x < box.x || x >= box.x + box.width || y < box.y ||
            y >= box.y + box.height)
            continue;
        double alpha = (double)shape->fill.alpha / 255;
        for (int k = 0; k < 3; k++)
            rgb[k] += alpha * ((double)(shape->fill.rgb >> (16 - 8 * k) & 0xff) - rgb[k]);
    }
    return (uint32_t)(rgb[0] + 0.5) << 16 | (uint32_t)(rgb[1] + 0.5) << 8 |
           (uint32_t)(rgb[2] + 0.5);
}

static void check_pixel(cairo_surface_t *image, uint32_t expected, int64_t x, int64_t y)
{
    const unsigned char *row = cairo_image_surface_get_data(image) +
                               (y * 2 / 100) * cairo_image_surface_get_stride(image);
    uint32_t pixel;
    memcpy(&pixel, row + x * 2 / 100 * 4, sizeof pixel);
    for (int shift = 0; shift < 24; shift += 8)
        if (abs((int)(pixel >> shift & 0xff) - (int)(expected >> shift & 0xff)) > 2)
            fail_msg("at %d,%d: %06x instead of %06x", (int)x, (int)y,
                     (unsigned)(pixel & 0xffffff), (unsigned)expected);
}

/* Checks the colour of a pixel in the middle of the box. If something else is there, checks a
 * pixel near it. */
static bool check_box(const struct tts_drawing *d, cairo_surface_t *image,
                      const struct tts_svg_box *box)
{
    static const int eighths[] = {4, 5, 3, 6, 2, 7, 1};
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 7; k++) {
            int64_t x = box->x + box->width * eighths[k] / 8;
            int64_t y = box->y + box->height * eighths[i] / 8;
            if (is_calm(d, x, y)) {
                check_pixel(image, expected_at(d, x, y), x, y);
                return true;
            }
        }
    return false;
}

T_TEST(the_png_shows_the_bars_of_the_drawing)
{
    struct tts_drawing d;
    two_runs(&d, false);
    struct reader reader = {.bytes = write_with(tts_drawing_write_png, &d)};
    cairo_surface_t *image = cairo_image_surface_create_from_png_stream(read_bytes, &reader);
    T_EQ(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
    T_EQ(cairo_image_surface_get_width(image), d.width * 2 / 100);
    T_EQ(cairo_image_surface_get_height(image), d.height * 2 / 100);
    cairo_surface_flush(image);
    size_t parts = 0;
    for (size_t i = 0; i < d.shape_count; i++)
        if (chart_is_solid(&d.shapes[i]) && d.shapes[i].box.height >= 400)
            parts += check_box(&d, image, &d.shapes[i].box);
    T_EQ(parts, 8); /* all parts except the two of 25 MB */
    check_pixel(image, 0xffffff, 100, 100);
    cairo_surface_destroy(image);
    free(reader.bytes.at);
    tts_drawing_release(&d);
}

/* Counts the pixels around a text that are not white. */
static size_t count_ink(cairo_surface_t *image, const struct tts_drawn *text)
{
    size_t ink = 0;
    for (int64_t y = text->box.y - text->font.size; y < text->box.y; y += 50)
        for (int64_t x = text->box.x; x < text->box.x + text->box.width; x += 50) {
            uint32_t pixel;
            memcpy(&pixel,
                   cairo_image_surface_get_data(image) +
                       y * 2 / 100 * cairo_image_surface_get_stride(image) + x * 2 / 100 * 4,
                   sizeof pixel);
            ink += (pixel & 0xff) < 128;
        }
    return ink;
}

/* If the font of the machine is wider than assumed, the letters shrink, so that nothing is
 * drawn to the right of the text's room. */
T_TEST(a_text_is_never_wider_than_its_room)
{
    struct tts_drawing d;
    tts_drawing_init(&d, NULL);
    d.width = 30000;
    d.height = 6000;
    struct tts_text_at at = {.x = 1000, .y = 4000, .font = {2000, true}, .paint = {0, 255}};
    tts_drawing_put(&d, &at, "WWWWWWWWWWWW");
    d.shapes[0].box.width = 10000;
    struct reader reader = {.bytes = write_with(tts_drawing_write_png, &d)};
    cairo_surface_t *image = cairo_image_surface_create_from_png_stream(read_bytes, &reader);
    T_EQ(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
    struct tts_drawn beyond = d.shapes[0];
    beyond.box.x += 10100;
    T_TRUE(count_ink(image, &d.shapes[0]) > 100);
    T_EQ(count_ink(image, &beyond), 0);
    cairo_surface_destroy(image);
    free(reader.bytes.at);
    tts_drawing_release(&d);
}

/* ---- files ---- */

T_TEST(the_pdf_has_one_page_of_the_right_size_and_no_date)
{
    struct tts_drawing d;
    two_runs(&d, true);
    struct bytes pdf = write_with(tts_drawing_write_pdf, &d);
    T_TRUE(pdf.len > 1000 && memcmp(pdf.at, "%PDF-", 5) == 0);
    char box[64];
    snprintf(box, sizeof box, "/MediaBox [ 0 0 %g %g ]", (double)d.width / 100 * 0.75,
             (double)d.height / 100 * 0.75);
    if (!memmem(pdf.at, pdf.len, box, strlen(box)))
        fail_msg("no %s", box);
    T_TRUE(memmem(pdf.at, pdf.len, "/Count 1", 8) != NULL);
    T_TRUE(memmem(pdf.at, pdf.len, "/Title (Title)", 14) != NULL);
    T_TRUE(memmem(pdf.at, pdf.len, "CreationDate", 12) == NULL);
    free(pdf.at);
    tts_drawing_release(&d);
}

T_TEST(the_same_drawing_gives_the_same_bytes)
{
    static writer *const writers[] = {tts_drawing_write_png, tts_drawing_write_pdf};
    for (int phases = 0; phases < 2; phases++)
        for (int i = 0; i < 2; i++) {
            struct tts_drawing d;
            two_runs(&d, phases);
            struct bytes first = write_with(writers[i], &d);
            struct bytes second = write_with(writers[i], &d);
            T_EQ(first.len, second.len);
            T_MEM_EQ(first.at, second.at, first.len);
            free(first.at);
            free(second.at);
            tts_drawing_release(&d);
        }
}

T_TEST(a_stream_that_refuses_is_an_error)
{
    static writer *const writers[] = {tts_drawing_write_png, tts_drawing_write_pdf};
    struct tts_drawing d;
    two_runs(&d, false);
    for (int i = 0; i < 2; i++) {
        struct tts_error err = {0};
        char room[100];
        FILE *out = fmemopen(room, sizeof room, "w");
        T_TRUE(out != NULL);
        setbuf(out, NULL);
        T_EQ(writers[i](&d, out, &err), TTS_E_IO);
        T_STR_EQ(err.text, "cannot write the picture");
        fclose(out);
    }
    tts_drawing_release(&d);
}
