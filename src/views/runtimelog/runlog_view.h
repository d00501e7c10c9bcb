/* runlog_view.h: the answer of `ttscope show` about a runtime log, as text and as JSON
 * (docs/design/show-json.md).
 *
 * The functions only read the facts and keep nothing. One thread for each stream. */
#pragma once

#include "analysis/failure/faillog.h"
#include "analysis/opsummary.h"
#include "views/json.h"

#include <stdio.h>

/* One process of the log. All pointers are borrowed. */
struct tts_runlog_rank {
    const char *name; /* "" if the log has no ranks */
    const struct tts_opsummary *sum;
};

struct tts_runlog_facts {
    const char *path; /* as on the command line */
    const struct tts_runlog_rank *ranks;
    size_t rank_count;
    size_t shown; /* the rank that is shown */
    enum tts_pool pool;
    size_t top; /* rows of a list */
    const struct tts_faillog *failures;
    bool is_damaged; /* the rest of the log cannot be read */
    /* The banks of the device for which the figures of a log without memory blocks are
     * computed, and its name. */
    const char *device;
    bool is_device_assumed;
    uint64_t lines, bytes;
    uint64_t cut_lines, part_blocks, bad_views, left_out; /* see struct tts_oplog_facts */
};

/* Write the answer. */
void tts_runlog_text(const struct tts_runlog_facts *facts, FILE *out);
void tts_runlog_json(const struct tts_runlog_facts *facts, struct tts_json *json);

/* Writes the fields of one rank into the current object. */
void tts_runlog_rank_json(const struct tts_runlog_facts *facts, size_t rank,
                          struct tts_json *json);
