/* replay_recording.c: runs the allocations of a recording on another device. */
#include "base/error.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/replay/replay.h"
#include "sources/eventpass.h"
#include "sources/partial.h"
#include "views/replay/whatif_view.h"
#include "views/trace/itemcheck.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char command[] = "replay";

struct replay {
    const struct tts_replay_options *options;
    struct tts_chip chip;
    struct tts_whatif *whatif;
    struct tts_whatif_answer answer;
    struct tts_progress progress;
    uint64_t done_bytes; /* bytes read by all runs of the search */
};

/* One pass through the file. */
struct run {
    struct tts_eventfile *file;
    struct tts_whatif *whatif;
    bool stops; /* stops at the first failure */
    struct tts_eventpass pass;
    struct tts_itemcheck check;
    struct tts_partial partial;
};

/* --- one run ---------------------------------------------------------------------------- */

static void on_replay_progress(void *ctx, uint64_t bytes)
{
    struct replay *replay = ctx;
    tts_progress_show(&replay->progress, replay->done_bytes + bytes);
}

static enum tts_status open_replay_file(struct replay *replay, struct tts_eventfile **out,
                                        struct tts_error *err)
{
    struct tts_eventfile_watch watch = {on_replay_progress, replay};
    return tts_eventfile_open(replay->options->path, &watch, NULL, out, err);
}

/* Runs one item. An impossible item is reported as damage of the file. */
static enum tts_status run_item(void *ctx, const struct tts_item *item, struct tts_error *err)
{
    struct run *run = ctx;
    tts_partial_item(&run->partial, item);
    enum tts_status status = tts_itemcheck_pass(&run->check, item, err);
    if (status == TTS_OK)
        status = tts_whatif_item(run->whatif, item, err);
    run->pass.is_done = run->stops && tts_whatif_failures(run->whatif) > 0;
    return status;
}

/* Runs items up to the end of the file, or up to the first failure if `stops` is set. Returns
 * the status of the file or of the item that ended the pass. */
static enum tts_status feed(struct run *run, struct tts_error *err)
{
    run->pass = (struct tts_eventpass){.file = run->file, .take = run_item, .ctx = run};
    enum tts_status status = tts_eventpass_run(&run->pass, err);
    if (!run->pass.is_done)
        tts_whatif_end(run->whatif);
    return status;
}

/* --- the search for the smallest DRAM --------------------------------------------------- */

/* Reads the file again and models only its DRAM, on banks of another size. Sets *passes to
 * whether all requests fit. */
static enum tts_status read_again(struct replay *replay, uint64_t bank_bytes, bool *passes,
                                  struct tts_error *err)
{
    struct tts_chip chip;
    struct tts_whatif_config config = {.chip = &chip, .dram_only = true};
    struct run run = {.stops = true};
    enum tts_status status = tts_whatif_resize(&replay->chip, bank_bytes, &chip, err);
    if (status == TTS_OK)
        status = tts_whatif_new(&config, NULL, &run.whatif, err);
    if (status == TTS_OK)
        status = open_replay_file(replay, &run.file, err);
    if (status == TTS_OK) {
        enum tts_status end = feed(&run, err);
        replay->done_bytes += tts_eventfile_tell(run.file);
        if (end == TTS_E_NOMEM)
            status = end;
        else /* the pass reached the end, or the damage that the first pass found */
            *passes = tts_whatif_failures(run.whatif) == 0;
    }
    tts_eventfile_close(run.file);
    tts_whatif_free(run.whatif);
    return status;
}

static enum tts_status try_size(void *ctx, uint64_t bank_bytes, bool *passes,
                                struct tts_error *err)
{
    struct replay *replay = ctx;
    tts_progress_show(&replay->progress, replay->done_bytes);
    if (!tts_whatif_has_steps(replay->whatif))
        return read_again(replay, bank_bytes, passes, err);
    replay->done_bytes += bank_bytes; /* shows only that the search makes progress */
    return tts_whatif_try(replay->whatif, bank_bytes, passes, err);
}

static bool can_read_again(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static enum tts_status search_dram_size(struct replay *replay, struct tts_error *err)
{
    struct tts_whatif_pool dram;
    struct tts_chip chip;
    struct tts_whatif_answer *answer = &replay->answer;
    if (!tts_whatif_get_worst(replay->whatif, TTS_POOL_DRAM, &dram) ||
        dram.stats.peak_bytes == 0)
        return TTS_OK;
    if (!tts_whatif_has_steps(replay->whatif) && !can_read_again(replay->options->path)) {
        tts_message(command,
                    "too many allocations to find the smallest DRAM from a pipe: give a file");
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

/* --- regions that are too small --------------------------------------------------------- */

/* Runs the whole recording on a chip with larger regions. */
static enum tts_status run_on_chip(void *ctx, const struct tts_chip *chip,
                                   struct tts_whatif **out, struct tts_error *err)
{
    struct replay *replay = ctx;
    struct tts_whatif_config config = {.chip = chip, .keeps_steps = true};
    struct run run = {0};
    enum tts_status status = tts_whatif_new(&config, NULL, &run.whatif, err);
    if (status == TTS_OK)
        status = open_replay_file(replay, &run.file, err);
    if (status == TTS_OK) {
        tts_progress_begin(&replay->progress, "running", replay->options->path,
                           tts_eventfile_size(run.file));
        replay->done_bytes = 0;
        enum tts_status end = feed(&run, err);
        tts_progress_end(&replay->progress);
        if (end == TTS_E_NOMEM)
            status = end;
    }
    tts_eventfile_close(run.file);
    if (status == TTS_OK)
        *out = run.whatif;
    else
        tts_whatif_free(run.whatif);
    return status;
}

static enum tts_status search_regions(struct replay *replay, struct tts_error *err)
{
    struct tts_whatif_regions *regions = &replay->answer.regions;
    bool can_run = can_read_again(replay->options->path);
    enum tts_status status =
        tts_whatif_find_regions(replay->whatif, &replay->chip, regions, err);
    return status == TTS_OK ? tts_whatif_run_regions(regions, &replay->chip,
                                                     can_run ? run_on_chip : NULL, replay, err)
                            : status;
}

/* --- the command ------------------------------------------------------------------------ */

static enum tts_status print_replay_answer(struct replay *replay, struct tts_error *err)
{
    struct tts_outfile file = {0};
    struct tts_json json;
    if (!replay->options->json) {
        tts_whatif_text(&replay->answer, replay->options->stats, stdout);
        return TTS_OK;
    }
    enum tts_status status = tts_outfile_open(&file, "-", err);
    if (status != TTS_OK)
        return status;
    tts_json_init(&json, file.stream);
    tts_whatif_json(&replay->answer, &json);
    return tts_outfile_commit(&file, err);
}

static int failed(struct replay *replay, const struct tts_error *err)
{
    tts_message_error(command, replay->options->path, err);
    return TTS_EXIT_INPUT;
}

/* Says that samples are not replayed. Fails if the file has nothing else. */
static enum tts_status check_samples(const struct replay *replay, struct tts_error *err)
{
    struct tts_whatif_counts counts;
    tts_whatif_get_counts(replay->whatif, &counts);
    if (counts.samples == 0)
        return TTS_OK;
    if (counts.events == 0 && counts.earlier == 0)
        return tts_error_set(
            err, TTS_E_INVALID,
            "has samples only: samples cannot be replayed, because they do not "
            "name single buffers ('ttscope show' and 'ttscope export' read "
            "them)");
    tts_message(command,
                "note: %s: %" PRIu64 " sample%s not replayed: samples do not name "
                "single buffers",
                tts_message_path(replay->options->path), counts.samples,
                counts.samples == 1 ? " is" : "s are");
    return TTS_OK;
}

/* Runs the whole file on the chosen device, before any search for another size. Returns TTS_OK
 * if there is an answer to print. */
static enum tts_status run_file(struct replay *replay, struct run *run, struct tts_error *err)
{
    const char *path = replay->options->path;
    tts_progress_begin(&replay->progress, "reading", path, 0);
    enum tts_status status = open_replay_file(replay, &run->file, err);
    tts_progress_end(&replay->progress);
    if (status != TTS_OK)
        return status;
    tts_progress_begin(&replay->progress, "running", path, tts_eventfile_size(run->file));
    status = feed(run, err);
    tts_progress_end(&replay->progress);
    if (status == TTS_E_NOMEM || (status != TTS_OK && !run->partial.has_items))
        return status;
    if (status != TTS_OK)
        run->partial.damage = *err;
    if (check_samples(replay, err) != TTS_OK)
        return err->status;
    struct tts_recfile *recording = tts_eventfile_recording(run->file);
    if (recording) {
        replay->answer.before = tts_recfile_info(recording)->first_seq;
        replay->answer.start_ns = tts_recfile_info(recording)->header.start_ns;
        replay->answer.is_dram_only =
            tts_recfile_info(recording)->header.flags & TTS_REC_DRAM_ONLY;
    }
    run->partial.stop_seq = tts_whatif_stop(run->whatif);
    tts_partial_list(&run->partial, run->file, &replay->answer.missing);
    return TTS_OK;
}

static int run_all(struct replay *replay)
{
    struct tts_error err = {0};
    struct run run = {.whatif = replay->whatif};
    enum tts_status status = run_file(replay, &run, &err);
    tts_eventfile_close(run.file);
    if (status != TTS_OK)
        return failed(replay, &err);
    int code = tts_message_partial(&replay->answer.missing, command, replay->options->path);
    status = search_dram_size(replay, &err);
    if (status == TTS_OK)
        status = search_regions(replay, &err);
    if (status == TTS_OK)
        status = print_replay_answer(replay, &err);
    if (status != TTS_OK)
        return failed(replay, &err);
    uint64_t failures = tts_whatif_failures(replay->whatif);
    /* If the events before the stop do not fit, the whole recording does not fit. The missing
     * end does not change this answer. */
    const struct tts_partial_notes *missing = &replay->answer.missing;
    if (failures > 0 && missing->count == missing->is_stopped)
        return TTS_EXIT_BAD_NEWS;
    if (code != TTS_EXIT_DONE)
        return code;
    return tts_whatif_answer_fits(&replay->answer) ? TTS_EXIT_DONE : TTS_EXIT_PARTIAL;
}

int tts_replay_recording(const struct tts_replay_options *options)
{
    struct replay replay = {.options = options};
    struct tts_whatif_config config = {.chip = &replay.chip, .keeps_steps = true};
    struct tts_error err = {0};
    int code = tts_device_arg_resolve(&options->device, command, &replay.chip);
    if (code != TTS_EXIT_DONE)
        return code;
    if (tts_whatif_new(&config, NULL, &replay.whatif, &err) != TTS_OK) {
        bool ours = tts_device_arg_is_file(&options->device) || err.status == TTS_E_NOMEM;
        tts_message(command, "cannot run a recording on '%s': %s", replay.chip.name, err.text);
        return ours ? TTS_EXIT_INPUT : TTS_EXIT_USAGE;
    }
    replay.answer.path = options->path;
    replay.answer.chip = &replay.chip;
    replay.answer.whatif = replay.whatif;
    code = run_all(&replay);
    tts_whatif_free(replay.whatif);
    return code;
}
