/* whatif_view.h: the answer to the question whether the allocations of a recording fit another
 * device, as text and as JSON (docs/design/whatif.md). The functions only read the answer. */
#pragma once

#include "analysis/whatif.h"
#include "analysis/whatif_search.h"
#include "model/partialnotes.h"
#include "views/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* An answer of the analysis. All pointers are borrowed. */
struct tts_whatif_answer {
    const char *path; /* the recording; "-": standard input */
    const struct tts_chip *chip;
    const struct tts_whatif *whatif;
    struct tts_partial_notes missing;
    uint64_t start_ns; /* start of the recording, on the clock of its items */
    uint64_t before;   /* events before the first item; only a black box has them */
    bool is_dram_only; /* the recording states nothing about L1 */
    bool has_search;   /* the smallest DRAM was searched: the next three fields are set */
    uint64_t low_bytes;
    struct tts_whatif_found found;
    uint64_t bank_size; /* the value of `--set dram_bank_size=` for `found` */
    struct tts_whatif_regions regions;
    bool with_counts; /* the text also has counts and the state of each pool at the end */
};

/* Returns true if nothing failed and no data is missing that could have failed. */
bool tts_whatif_answer_fits(const struct tts_whatif_answer *answer);

/* Writes the answer for people. */
void tts_whatif_text(const struct tts_whatif_answer *answer, FILE *out);
/* Writes the answer as one JSON object. */
void tts_whatif_json(const struct tts_whatif_answer *answer, struct tts_json *json);
