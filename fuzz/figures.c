/* Reads bytes as the figures that a packed recording stores (docs/design/recording.md). They
 * are accepted or refused. Accepted figures can be printed as text and as JSON. The recording
 * around them is always the same and has no events. */
#include "analysis/eventsummary.h"
#include "cli/show/show.h"
#include "fuzz/reuse.h"
#include "model/recording/recpack.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void stop(const char *what)
{
    fprintf(stderr, "figures: %s\n", what);
    abort();
}

/* Writes a recording without events to a temporary file. */
static void make_empty(FILE *out)
{
    struct tts_rec_header header = {.unit_scale = UINT64_C(1) << 32, .start_ns = 1};
    struct tts_rec_state state = {.kind = TTS_REC_ENDED};
    struct tts_recpack *pack = NULL;
    if (!out || tts_recpack_new(out, &header, NULL, &pack, NULL) != TTS_OK ||
        tts_recpack_end(pack, &state, NULL) != TTS_OK)
        stop("no recording");
    tts_recpack_free(pack);
}

static struct tts_show *make_show(void)
{
    static char path[64];
    struct tts_show_options options = {.path = path, .top = 10};
    struct tts_show *show = malloc(sizeof *show);
    FILE *file = tmpfile();
    make_empty(file);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    if (!show || tts_show_init(show, &options, NULL) != TTS_OK ||
        tts_eventfile_open(path, NULL, show->alloc, &show->file, NULL) != TTS_OK)
        stop("no show");
    fclose(file);
    show->sum.alloc = &reuse_alloc;
    return show;
}

static void print_show(struct tts_show *show, FILE *out)
{
    struct tts_show_facts facts;
    struct tts_json json;
    show->partial.core = &show->sum.whole->usage.core;
    tts_partial_list(&show->partial, show->file, &show->missing);
    tts_show_facts(show, &facts);
    tts_show_text(&facts, out);
    tts_json_init(&json, out);
    tts_show_json(&facts, &json);
}

/* Checks the counts. A count below the length of its list would be printed as a number near
 * 2^64. */
static void check_lists(const struct tts_eventsummary *sum, enum tts_pool pool)
{
    const struct tts_summary_moment *moment = &sum->peak_moment;
    const struct tts_live *largest = moment->largest.items;
    if (moment->largest.count > moment->buffers || moment->by_op.count > moment->op_count ||
        sum->top_ops.count > sum->op_count)
        stop("a list is longer than its count");
    if (sum->first_ns > sum->last_ns)
        stop("time runs back");
    for (size_t i = 0; i < moment->largest.count; i++)
        if (largest[i].pool != pool)
            stop("a buffer is in the list of another pool");
}

/* Returns the sequence number of the last event, which is the varint after the version. The
 * test file claims to end with this event. */
static uint64_t seq_of(const uint8_t *bytes, size_t len)
{
    uint64_t seq = 0;
    unsigned shift = 0;
    for (size_t i = 1; i < len && shift < 64; i++, shift += 7) {
        seq |= (uint64_t)(bytes[i] & 127) << shift;
        if (bytes[i] < 128)
            break;
    }
    return seq;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct tts_show *show;
    static FILE *nowhere;
    if (!show)
        show = make_show();
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    if (len == 0)
        return 0;
    enum tts_pool pool = (enum tts_pool)(bytes[len - 1] % TTS_POOLS);
    show->options.pool = show->scan.config.pool = pool;
    if (tts_eventsummary_load(&show->sum, bytes, len, seq_of(bytes, len), &show->scan.config)) {
        if (show->sum.event.seq != seq_of(bytes, len))
            stop("the last event is another");
        check_lists(&show->sum, pool);
        print_show(show, nowhere);
    }
    tts_eventsummary_release(&show->sum);
    return 0;
}
