/* replay_recording.c: runs the allocations of a recording on another device. */
#include "cli/replay_recording.h"

#include "base/error.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/replay_parts.h"
#include "sources/eventfile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char command[] = "replay";
enum { HEAD_BYTES = 4096 };

struct replay {
    const struct tts_replay_recording *options;
    struct tts_chip chip;
    struct tts_whatif *whatif;
    struct tts_replay_answer answer;
    struct tts_progress progress;
    uint64_t done_bytes; /* of all runs of the search */
};

/* --- what is it? ------------------------------------------------------------------------ */

/* The first bytes of a pipe, which stay in it. */
static ssize_t peek_pipe(int fd, unsigned char *out, size_t len)
{
    int ends[2];
    ssize_t got = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    if (tee(fd, ends[1], len, 0) > 0)
        got = read(ends[0], out, len);
    close(ends[0]);
    close(ends[1]);
    return got;
}

static bool is_one(const unsigned char *bytes, size_t len)
{
    const size_t magic_len = sizeof TTS_REC_MAGIC - 1;
    size_t some = len < magic_len ? len : magic_len; /* of a pipe that comes by the byte */
    return len > 0 && (memcmp(bytes, TTS_REC_MAGIC, some) == 0 || tts_graph_may_be(bytes, len));
}

/* A named pipe is opened but once: behind its writer a second open would wait for another. */
static bool make_stdin(int fd, const char **path)
{
    if (dup2(fd, STDIN_FILENO) < 0)
        return false;
    *path = "-";
    return true;
}

bool tts_replay_is_recording(const char **path, bool stdin_is_free)
{
    unsigned char bytes[HEAD_BYTES];
    struct stat st;
    bool is_stdin = strcmp(*path, "-") == 0;
    if (!is_stdin && (stat(*path, &st) != 0 || (S_ISFIFO(st.st_mode) && !stdin_is_free)))
        return false;
    int fd = is_stdin ? STDIN_FILENO : open(*path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_pipe = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode), is_there = true;
    if (is_pipe && !is_stdin)
        is_there = make_stdin(fd, path);
    ssize_t len = -1;
    if (is_pipe && is_there)
        len = peek_pipe(STDIN_FILENO, bytes, sizeof bytes);
    else if (!is_pipe)
        len = pread(fd, bytes, sizeof bytes, is_stdin ? lseek(fd, 0, SEEK_CUR) : 0);
    if (!is_stdin)
        close(fd);
    return len > 0 && is_one(bytes, (size_t)len);
}

/* --- one run ---------------------------------------------------------------------------- */

static enum tts_status open_file(const char *path, struct tts_eventfile **out,
                                 struct tts_error *err)
{
    enum tts_status status = tts_eventfile_open(path, NULL, out, err);
    if (status != TTS_OK && status != TTS_E_IO) {
        struct tts_error why = *err;
        tts_error_set(err, status, "'%.60s' %.90s", tts_replay_shown(path), why.text);
    }
    return status;
}

/* Feeds items until there are no more. TTS_E_NOT_FOUND: all were read; any other status is that
 * of the file, or TTS_OK: the run itself could not go on, or `stops` and something failed. */
static enum tts_status feed(struct replay *replay, struct tts_eventfile *file,
                            struct tts_whatif *whatif, bool stops, struct tts_error *err)
{
    struct tts_item item;
    enum tts_status status;
    while ((status = tts_eventfile_next(file, &item, err)) == TTS_OK) {
        if (tts_whatif_item(whatif, &item, err) != TTS_OK ||
            (stops && tts_whatif_failures(whatif) > 0))
            return TTS_OK;
        if (tts_progress_is_due(&replay->progress))
            tts_progress_show(&replay->progress, replay->done_bytes + tts_eventfile_tell(file));
    }
    tts_whatif_end(whatif);
    return status;
}

/* --- what is missing -------------------------------------------------------------------- */

static void say_recording(struct replay *replay, struct tts_recfile *file)
{
    const struct tts_recfile_info *info = tts_recfile_info(file);
    const char *path = tts_replay_shown(replay->options->path);
    if (info->state_is_known && info->state.kind == TTS_REC_STOPPED) {
        replay->answer.is_partial = true;
        tts_message(command,
                    "'%.200s': the recording stopped before the program did, %" PRIu64
                    " events are missing",
                    path, info->state.dropped);
    }
    if (!info->state_is_known || info->state_is_damaged) {
        replay->answer.is_partial = true;
        tts_message(command, "'%.200s': the state of the recording is damaged", path);
    }
}

static void say_graph(struct replay *replay, const struct tts_graph *graph)
{
    for (int kind = 0; kind < TTS_GRAPH_NOTES; kind++) {
        const struct tts_graph_note *note =
            tts_graph_note(graph, (enum tts_graph_note_kind)kind);
        if (note->count == 0 || !tts_graph_note_is_bad((enum tts_graph_note_kind)kind))
            continue;
        replay->answer.is_partial = true;
        tts_message(command, "%s:%" PRIu64 ": %s (%" PRIu64 " such)",
                    tts_replay_shown(replay->options->path), note->line, note->text,
                    note->count);
    }
}

/* What the answer leaves out is said once, before it. */
static void say_missing(struct replay *replay, struct tts_eventfile *file)
{
    struct tts_whatif_counts counts;
    const char *path = tts_replay_shown(replay->options->path);
    tts_whatif_get_counts(replay->whatif, &counts);
    replay->answer.is_partial |= counts.is_partial;
    if (tts_eventfile_recording(file))
        say_recording(replay, tts_eventfile_recording(file));
    else
        say_graph(replay, tts_eventfile_graph(file));
    if (counts.missed > 0)
        tts_message(command, "'%.200s': %" PRIu64 " events were lost when it was recorded",
                    path, counts.missed);
    else if (counts.is_partial)
        tts_message(command, "'%.200s': the beginning is not there", path);
}

/* --- the search ------------------------------------------------------------------------- */

/* Reads the file once more, for its DRAM alone, on banks of another size. */
static enum tts_status read_again(struct replay *replay, uint64_t bank_bytes, bool *passes,
                                  struct tts_error *err)
{
    struct tts_chip chip;
    struct tts_whatif_config config = {.chip = &chip, .dram_only = true};
    struct tts_eventfile *file = NULL;
    struct tts_whatif *whatif = NULL;
    enum tts_status status = tts_whatif_resize(&replay->chip, bank_bytes, &chip, err);
    if (status == TTS_OK)
        status = tts_whatif_new(&config, NULL, &whatif, err);
    if (status == TTS_OK)
        status = open_file(replay->options->path, &file, err);
    if (status == TTS_OK) {
        enum tts_status end = feed(replay, file, whatif, true, err);
        replay->done_bytes += tts_eventfile_tell(file);
        bool has_failed = tts_whatif_failures(whatif) > 0;
        if (end == TTS_OK && !has_failed)
            status = err->status;
        else
            *passes = !has_failed; /* a damaged end is where it was the first time */
    }
    tts_eventfile_close(file);
    tts_whatif_free(whatif);
    return status;
}

static enum tts_status try_size(void *ctx, uint64_t bank_bytes, bool *passes,
                                struct tts_error *err)
{
    struct replay *replay = ctx;
    tts_progress_show(&replay->progress, replay->done_bytes);
    if (!tts_whatif_has_steps(replay->whatif))
        return read_again(replay, bank_bytes, passes, err);
    replay->done_bytes += bank_bytes; /* that it moves is all that matters */
    return tts_whatif_try(replay->whatif, bank_bytes, passes, err);
}

static bool can_read_again(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static enum tts_status search(struct replay *replay, struct tts_error *err)
{
    struct tts_whatif_pool dram;
    struct tts_chip chip;
    struct tts_replay_answer *answer = &replay->answer;
    if (!tts_whatif_get_worst(replay->whatif, TTS_POOL_DRAM, &dram) ||
        dram.stats.peak_bytes == 0)
        return TTS_OK;
    if (!tts_whatif_has_steps(replay->whatif) && !can_read_again(replay->options->path)) {
        tts_message(command, "too many allocations to look for the smallest DRAM in what comes "
                             "through a pipe, give a file");
        return TTS_OK;
    }
    answer->has_search = true;
    answer->low_bytes = dram.stats.peak_bytes;
    struct tts_whatif_search asked = {
        .low_bytes = dram.stats.peak_bytes,
        .high_bytes = dram.failures == 0 ? dram.layout.bank_bytes : 0,
        .step_bytes = dram.layout.block_alignment_bytes,
        .run = try_size,
        .ctx = replay,
    };
    tts_progress_begin(&replay->progress, "looking for the smallest DRAM of",
                       replay->options->path, 0);
    enum tts_status status = tts_whatif_smallest(&asked, &answer->found, err);
    tts_progress_end(&replay->progress);
    if (status == TTS_OK && answer->found.found)
        status = tts_whatif_resize(&replay->chip, answer->found.bank_bytes, &chip, err);
    if (status == TTS_OK && answer->found.found)
        answer->bank_size = chip.fact[TTS_FACT_DRAM_BANK_SIZE].value;
    return status;
}

/* --- the whole of it -------------------------------------------------------------------- */

static enum tts_status print(struct replay *replay, struct tts_error *err)
{
    struct tts_outfile file = {0};
    struct tts_json json;
    if (!replay->options->json) {
        tts_replay_recording_text(&replay->answer, stdout);
        return TTS_OK;
    }
    enum tts_status status = tts_outfile_open(&file, "-", err);
    if (status != TTS_OK)
        return status;
    tts_json_init(&json, file.stream);
    tts_replay_recording_json(&replay->answer, &json);
    return tts_outfile_commit(&file, err);
}

static int failed(struct replay *replay, const struct tts_error *err)
{
    tts_message_error(command, tts_replay_shown(replay->options->path), err);
    return TTS_EXIT_INPUT;
}

/* What can still be told where the file ends too early. */
static bool tells_something(struct replay *replay, const struct tts_error *err)
{
    struct tts_whatif_counts counts;
    tts_whatif_get_counts(replay->whatif, &counts);
    if (counts.events + counts.earlier == 0)
        return false;
    replay->answer.is_partial = true;
    tts_message_error(command, tts_replay_shown(replay->options->path), err);
    tts_message(command, "what follows is of the %" PRIu64 " event%s before", counts.events,
                counts.events == 1 ? "" : "s");
    return true;
}

static int run(struct replay *replay)
{
    struct tts_error err = {0};
    struct tts_eventfile *file = NULL;
    if (open_file(replay->options->path, &file, &err) != TTS_OK)
        return failed(replay, &err);
    tts_progress_begin(&replay->progress, "running", replay->options->path,
                       tts_eventfile_size(file));
    enum tts_status status = feed(replay, file, replay->whatif, false, &err);
    tts_progress_end(&replay->progress);
    bool can_tell = status == TTS_E_NOT_FOUND || (status != TTS_OK && status != TTS_E_NOMEM &&
                                                  tells_something(replay, &err));
    if (can_tell)
        say_missing(replay, file);
    tts_eventfile_close(file);
    if (!can_tell)
        return failed(replay, &err);
    status = search(replay, &err);
    if (status == TTS_OK)
        status = print(replay, &err);
    if (status != TTS_OK)
        return failed(replay, &err);
    if (replay->answer.is_partial)
        return TTS_EXIT_PARTIAL;
    return tts_whatif_failures(replay->whatif) > 0 ? TTS_EXIT_BAD_NEWS : TTS_EXIT_DONE;
}

static bool check_options(const struct tts_replay_recording *options)
{
    const char *shown = tts_replay_shown(options->path);
    if (options->refused)
        tts_message(command,
                    "'%s' is for sequences, and '%.200s' is a recording or a graph trace",
                    options->refused, shown);
    else if (!options->device.name)
        tts_message(command,
                    "'%.200s' is a recording or a graph trace, '--device NAME' says on which "
                    "device it is to run",
                    shown);
    return !options->refused && options->device.name;
}

int tts_replay_recording(const struct tts_replay_recording *options)
{
    struct replay replay = {.options = options};
    if (!check_options(options))
        return TTS_EXIT_USAGE;
    struct tts_whatif_config config = {.chip = &replay.chip, .keeps_steps = true};
    struct tts_error err = {0};
    int code = tts_device_arg_resolve(&options->device, command, &replay.chip);
    if (code != TTS_EXIT_DONE)
        return code;
    if (tts_whatif_new(&config, NULL, &replay.whatif, &err) != TTS_OK) {
        bool ours = tts_device_arg_is_file(&options->device) || err.status == TTS_E_NOMEM;
        tts_message(command, "no recording can run on '%s': %s", replay.chip.name, err.text);
        return ours ? TTS_EXIT_INPUT : TTS_EXIT_USAGE;
    }
    replay.answer.options = options;
    replay.answer.chip = &replay.chip;
    replay.answer.whatif = replay.whatif;
    code = run(&replay);
    tts_whatif_free(replay.whatif);
    return code;
}
