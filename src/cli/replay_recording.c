/* replay_recording.c: runs the allocations of a recording on another device. */
#include "cli/replay_recording.h"

#include "base/outfile.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/progress.h"
#include "cli/replay_parts.h"
#include "sources/eventpass.h"
#include "views/trace/itemcheck.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char command[] = "replay";

struct replay {
    const struct tts_replay_recording *options;
    struct tts_chip chip;
    struct tts_whatif *whatif;
    struct tts_replay_answer answer;
    struct tts_progress progress;
    uint64_t done_bytes; /* of all runs of the search */
};

/* Once through the file. */
struct run {
    struct tts_eventfile *file;
    struct tts_whatif *whatif;
    bool stops; /* at the first failure */
    struct tts_eventpass pass;
    struct tts_itemcheck check;
    struct tts_partial partial;
};

/* --- one run ---------------------------------------------------------------------------- */

static void on_read(void *ctx, uint64_t bytes)
{
    struct replay *replay = ctx;
    tts_progress_show(&replay->progress, replay->done_bytes + bytes);
}

static enum tts_status open_file(struct replay *replay, struct tts_eventfile **out,
                                 struct tts_error *err)
{
    struct tts_eventfile_watch watch = {on_read, replay};
    return tts_eventfile_open(replay->options->path, &watch, NULL, out, err);
}

/* One that cannot be is a damage like any other. */
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

/* Feeds items until there are no more, or to the first failure if it stops there. The status of
 * the file, or of an item of it. */
static enum tts_status feed(struct run *run, struct tts_error *err)
{
    run->pass = (struct tts_eventpass){.file = run->file, .take = run_item, .ctx = run};
    enum tts_status status = tts_eventpass_run(&run->pass, err);
    if (!run->pass.is_done)
        tts_whatif_end(run->whatif);
    return status;
}

/* --- the search ------------------------------------------------------------------------- */

/* Reads the file once more, for its DRAM alone, on banks of another size. */
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
        status = open_file(replay, &run.file, err);
    if (status == TTS_OK) {
        enum tts_status end = feed(&run, err);
        replay->done_bytes += tts_eventfile_tell(run.file);
        if (end == TTS_E_NOMEM)
            status = end;
        else /* the end, or damage that was there the first time */
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

/* --- regions that are too small --------------------------------------------------------- */

static enum tts_status try_dram(void *ctx, uint64_t bank_bytes, bool *passes,
                                struct tts_error *err)
{
    return tts_whatif_try(ctx, bank_bytes, passes, err);
}

struct region_try {
    struct replay *replay;
    enum tts_pool pool;
};

static enum tts_status try_region(void *ctx, uint64_t bytes, bool *passes,
                                  struct tts_error *err)
{
    struct region_try *try = ctx;
    return tts_whatif_try_region(try->replay->whatif, try->pool, bytes, passes, err);
}

/* Adds a region to the answer if a larger one serves the requests that failed. */
static enum tts_status find_region(struct replay *replay, enum tts_pool pool,
                                   struct tts_error *err)
{
    struct tts_replay_answer *answer = &replay->answer;
    struct region_try try = {replay, pool};
    struct tts_whatif_region region;
    if (!tts_whatif_get_region(replay->whatif, pool, &region))
        return TTS_OK;
    struct tts_whatif_search asked = {.low_bytes = region.low_bytes,
                                      .step_bytes = region.step_bytes,
                                      .run = try_region,
                                      .ctx = &try};
    struct tts_whatif_found found = {.found = true, .bank_bytes = region.low_bytes};
    enum tts_status status = TTS_OK;
    if (tts_whatif_has_steps(replay->whatif))
        status = tts_whatif_smallest(&asked, &found, err);
    if (status != TTS_OK || !found.found)
        return status;
    answer->regions[answer->region_count++] =
        (struct tts_replay_region){.pool = pool,
                                   .key = tts_fact_name(region.key),
                                   .bytes = found.bank_bytes,
                                   .own_bytes = replay->chip.fact[region.key].value};
    return TTS_OK;
}

static enum tts_status set_regions(const struct replay *replay, struct tts_chip *chip,
                                   struct tts_error *err)
{
    const struct tts_replay_answer *answer = &replay->answer;
    enum tts_status status = TTS_OK;
    char text[TTS_FACT_TEXT_MAX];
    *chip = replay->chip;
    for (size_t i = 0; i < answer->region_count && status == TTS_OK; i++) {
        snprintf(text, sizeof text, "%" PRIu64, answer->regions[i].bytes);
        status = tts_chip_set(chip, answer->regions[i].key, text, err);
    }
    return status;
}

/* Adds the DRAM that is missing once the regions have taken theirs. */
static enum tts_status add_dram(struct replay *replay, const struct tts_whatif *whatif,
                                const struct tts_chip *chip, struct tts_error *err)
{
    struct tts_replay_answer *answer = &replay->answer;
    struct tts_whatif_pool dram;
    struct tts_whatif_found found;
    struct tts_chip larger;
    if (!tts_whatif_has_steps(whatif) || !tts_whatif_get_worst(whatif, TTS_POOL_DRAM, &dram) ||
        dram.failures == 0)
        return TTS_OK;
    struct tts_whatif_search asked = {.low_bytes = dram.stats.peak_bytes,
                                      .step_bytes = dram.layout.block_alignment_bytes,
                                      .run = try_dram,
                                      .ctx = (void *)whatif};
    enum tts_status status = tts_whatif_smallest(&asked, &found, err);
    if (status != TTS_OK || !found.found)
        return status;
    status = tts_whatif_resize(chip, found.bank_bytes, &larger, err);
    if (status != TTS_OK)
        return status;
    const enum tts_fact_key key = TTS_FACT_DRAM_BANK_SIZE;
    answer->regions[answer->region_count++] =
        (struct tts_replay_region){.pool = TTS_POOL_DRAM,
                                   .key = tts_fact_name(key),
                                   .bytes = larger.fact[key].value,
                                   .own_bytes = chip->fact[key].value};
    answer->region_failures -= dram.failures;
    return TTS_OK;
}

/* A region takes room from L1 or DRAM: only a run says whether everything fits with it. */
static enum tts_status run_with_regions(struct replay *replay, struct tts_error *err)
{
    struct tts_chip chip;
    struct tts_whatif_config config = {.chip = &chip, .keeps_steps = true};
    struct run run = {0};
    enum tts_status status = set_regions(replay, &chip, err);
    if (status != TTS_OK || tts_chip_check(&chip, NULL) != TTS_OK)
        return status;
    status = tts_whatif_new(&config, NULL, &run.whatif, err);
    if (status == TTS_OK)
        status = open_file(replay, &run.file, err);
    if (status == TTS_OK) {
        tts_progress_begin(&replay->progress, "running", replay->options->path,
                           tts_eventfile_size(run.file));
        replay->done_bytes = 0;
        enum tts_status end = feed(&run, err);
        tts_progress_end(&replay->progress);
        if (end == TTS_E_NOMEM)
            status = end;
        replay->answer.regions_are_run = status == TTS_OK;
        replay->answer.region_failures = tts_whatif_failures(run.whatif);
    }
    if (status == TTS_OK)
        status = add_dram(replay, run.whatif, &chip, err);
    tts_eventfile_close(run.file);
    tts_whatif_free(run.whatif);
    return status;
}

static enum tts_status search_regions(struct replay *replay, struct tts_error *err)
{
    enum tts_status status = find_region(replay, TTS_POOL_L1_SMALL, err);
    if (status == TTS_OK)
        status = find_region(replay, TTS_POOL_TRACE, err);
    if (status == TTS_OK && replay->answer.region_count > 0 &&
        can_read_again(replay->options->path))
        status = run_with_regions(replay, err);
    return status;
}

/* --- the whole of it -------------------------------------------------------------------- */

bool tts_replay_recording_fits(const struct tts_replay_answer *answer)
{
    return tts_whatif_failures(answer->whatif) == 0 &&
           tts_whatif_left_out(answer->whatif) == 0 && answer->missing.count == 0 &&
           answer->before == 0;
}

bool tts_replay_recording_is_unknown(const struct tts_replay_answer *answer, enum tts_pool pool)
{
    return answer->is_dram_only && (pool == TTS_POOL_L1 || pool == TTS_POOL_L1_SMALL);
}

uint64_t tts_replay_recording_time(const struct tts_replay_answer *answer,
                                   const struct tts_whatif_failure *failure)
{
    return failure->time_ns > answer->start_ns ? failure->time_ns - answer->start_ns : 0;
}

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
    tts_message_error(command, replay->options->path, err);
    return TTS_EXIT_INPUT;
}

/* The whole file on the device itself. TTS_OK: there is something to tell. */
static enum tts_status run_file(struct replay *replay, struct run *run, struct tts_error *err)
{
    const char *path = replay->options->path;
    tts_progress_begin(&replay->progress, "reading", path, 0);
    enum tts_status status = open_file(replay, &run->file, err);
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
    int code = tts_partial_say(&replay->answer.missing, command, replay->options->path);
    status = search(replay, &err);
    if (status == TTS_OK)
        status = search_regions(replay, &err);
    if (status == TTS_OK)
        status = print(replay, &err);
    if (status != TTS_OK)
        return failed(replay, &err);
    uint64_t failures = tts_whatif_failures(replay->whatif);
    /* What does not fit stays so, whatever the program would have done after its stop. */
    const struct tts_partial_notes *missing = &replay->answer.missing;
    if (failures > 0 && missing->count == missing->is_stopped)
        return TTS_EXIT_BAD_NEWS;
    if (code != TTS_EXIT_DONE)
        return code;
    return tts_replay_recording_fits(&replay->answer) ? TTS_EXIT_DONE : TTS_EXIT_PARTIAL;
}

static bool check_options(const struct tts_replay_recording *options)
{
    const char *shown = tts_message_path(options->path);
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
    code = run_all(&replay);
    tts_whatif_free(replay.whatif);
    return code;
}
