/* replay_recording.h: `ttscope replay RECORDING --device`: the allocations of a recording or a
 * graph trace on another device. For replay*.c only. */
#pragma once

#include "analysis/whatif.h"
#include "analysis/whatif_search.h"
#include "cli/device_arg.h"
#include "cli/partial.h"

#include <stdbool.h>
#include <stdio.h>

/* What was asked for; strings are borrowed from argv. */
struct tts_replay_recording {
    const char *path;
    const char *refused;          /* an option that only sequences have; NULL: none was given */
    struct tts_device_arg device; /* name NULL: none was given */
    bool stats, json;
};

/* Runs it all and returns the exit code. */
int tts_replay_recording(const struct tts_replay_recording *options);

/* A pool that has to be larger, as `--set` makes it. */
struct tts_replay_region {
    enum tts_pool pool; /* L1_SMALL of each core, TRACE of a chip, DRAM: of a bank */
    const char *key;
    uint64_t bytes, own_bytes; /* that would do; that the device has */
};

/* What text and JSON are made of. */
struct tts_replay_answer {
    const struct tts_replay_recording *options;
    const struct tts_chip *chip;
    const struct tts_whatif *whatif;
    struct tts_partial_notes missing;
    uint64_t start_ns; /* when it was begun, as times of its items are */
    uint64_t before;   /* events that were before its first: of a black box */
    bool is_dram_only; /* what is in L1 is unknown */
    bool has_search;   /* there was DRAM to look for: */
    uint64_t low_bytes;
    struct tts_whatif_found found;
    uint64_t bank_size; /* of the found one, as `--set dram_bank_size=` takes it */
    /* L1_SMALL and TRACE if requests failed there; then DRAM if these leave too little. */
    struct tts_replay_region regions[3];
    size_t region_count;
    bool regions_are_run;     /* all ran once more with these regions: */
    uint64_t region_failures; /* what still fails */
};

/* Nothing failed, and there is nothing that could have. */
bool tts_replay_recording_fits(const struct tts_replay_answer *answer);
/* Returns true if nothing is known of the pool: L1 of a run that models DRAM only. */
bool tts_replay_recording_is_unknown(const struct tts_replay_answer *answer,
                                     enum tts_pool pool);
/* Of its first failure, since it was begun. */
uint64_t tts_replay_recording_time(const struct tts_replay_answer *answer,
                                   const struct tts_whatif_failure *failure);
void tts_replay_recording_text(const struct tts_replay_answer *answer, FILE *out);
/* docs/design/whatif.md */
void tts_replay_recording_json(const struct tts_replay_answer *answer, struct tts_json *json);
