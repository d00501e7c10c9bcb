/* analyze_finish.c: behind the last run: pictures, and all that was spooled. */
#include "cli/analyze_parts.h"
#include "cli/message.h"
#include "views/safe_text.h"

#include <inttypes.h>

static const char command[] = TTS_ANALYZE_COMMAND;

/* A failed output is said, and the others are written. */
static bool commit(struct tts_analyze_job *analyze, struct tts_outfile *file)
{
    struct tts_error err = {0};
    if (tts_outfile_commit(file, &err) == TTS_OK)
        return true;
    tts_message(command, "%s", err.text);
    analyze->is_failed = true;
    return false;
}

static void draw(struct tts_analyze_job *analyze, enum tts_picture picture)
{
    struct tts_outfile *file = &analyze->pictures[picture];
    size_t max = tts_analyze_picture_max(picture);
    struct tts_error err = {0};
    const char *path = analyze->options.picture_path[picture];
    if (!tts_analyze_has_picture(&analyze->gallery, picture)) {
        tts_message(command, "cannot draw '%s': no run says %s", path,
                    picture == TTS_PICTURE_PEAK ? "what its peak was made of"
                                                : "what its phases took");
        analyze->options.has_picture[picture] = false;
        analyze->is_partial = true;
        return;
    }
    enum tts_status status =
        tts_analyze_draw(&analyze->options, &analyze->gallery, picture, file->stream, &err);
    if (status == TTS_OK) {
        analyze->options.has_picture[picture] = commit(analyze, file);
        if (analyze->alike.runs > max)
            tts_message(command, "note: '%s' shows the worst %zu of %" PRIu64 " runs", path,
                        max, analyze->alike.runs);
        return;
    }
    tts_message(command, "cannot draw '%s': %s", path, err.text);
    analyze->options.has_picture[picture] = false;
    analyze->is_failed = true;
}

static void put_saved(const char *path, FILE *out)
{
    char text[TTS_PATH_MAX]; /* never longer than the path */
    tts_safe_text(text, sizeof text, path, TTS_PATH_MAX);
    fprintf(out, "\nVisualization saved to: %s\n", text);
}

static void write_end(struct tts_analyze_job *analyze)
{
    const struct tts_analyze_options *options = &analyze->options;
    FILE *out = analyze->out.stream;
    if (options->json) {
        bool is_only = analyze->alike.runs == 1;
        tts_analyze_json_end(&analyze->json, analyze->logs, options->log_count,
                             is_only ? &analyze->gallery.kept[0]->run : NULL);
        return;
    }
    if (options->csv) {
        tts_rowout_flush(&analyze->rows);
        return;
    }
    tts_analyze_text_end(&analyze->table, out);
    for (int i = 0; i < TTS_PICTURES; i++)
        if (options->has_picture[i])
            put_saved(options->picture_path[i], out);
}

/* How many runs there are is known only now, so these lines are not in the spool of the rest.
 */
static bool write_head(struct tts_analyze_job *analyze)
{
    struct tts_outfile head;
    struct tts_error err = {0};
    if (analyze->options.json || analyze->options.csv)
        return true;
    if (tts_outfile_open(&head, "-", &err) == TTS_OK) {
        tts_analyze_text_head(&analyze->alike, head.stream);
        return commit(analyze, &head);
    }
    tts_message(command, "%s", err.text);
    analyze->is_failed = true;
    return false;
}

/* Also of no run: a report of an earlier time would tell of that. */
static void write_report(struct tts_analyze_job *analyze)
{
    if (!analyze->options.junit_path)
        return;
    struct tts_error err = {0};
    if (tts_junit_end(&analyze->junit, &err) == TTS_OK) {
        commit(analyze, &analyze->junit_file);
        return;
    }
    tts_message(command, "%s", err.text);
    analyze->is_failed = true;
    tts_outfile_abandon(&analyze->junit_file);
}

void tts_analyze_finish(struct tts_analyze_job *analyze)
{
    bool has_runs = analyze->alike.runs > 0;
    for (int i = 0; i < TTS_PICTURES && has_runs; i++)
        if (analyze->options.has_picture[i])
            draw(analyze, (enum tts_picture)i);
    write_report(analyze);
    if (!has_runs)
        return;
    write_end(analyze);
    if (write_head(analyze))
        commit(analyze, &analyze->out);
}
