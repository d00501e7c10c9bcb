/* Bytes as the figures that a packed recording stores (docs/design/recording.md). They are
 * taken or refused; what is taken can be printed in both forms. The recording around them is
 * always the same, and empty. */
#include "cli/show_parts.h"
#include "fuzz/reuse.h"
#include "model/recpack.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void stop(const char *what)
{
    fprintf(stderr, "figures: %s\n", what);
    abort();
}

/* A recording without events, in a file that is gone at the end. */
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
    show->alloc = &reuse_alloc;
    return show;
}

static void print_show(struct tts_show *show, FILE *out)
{
    struct tts_json json;
    show->partial.core = &show->whole->usage.core;
    tts_partial_list(&show->partial, show->file, &show->missing);
    tts_show_text(show, out);
    tts_json_init(&json, out);
    tts_show_json(show, &json);
}

/* A count that is below the length of its list would be printed as some 2^64. */
static void check_lists(const struct tts_show *show)
{
    const struct tts_show_moment *moment = &show->peak_moment;
    const struct tts_live *largest = moment->largest.items;
    if (moment->largest.count > moment->buffers || moment->by_op.count > moment->op_count ||
        show->top_ops.count > show->op_count)
        stop("a list is longer than its count");
    if (show->first_ns > show->last_ns)
        stop("time runs back");
    for (size_t i = 0; i < moment->largest.count; i++)
        if (largest[i].pool != show->options.pool)
            stop("a buffer is in the list of another pool");
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
    show->options.pool = (enum tts_pool)(bytes[len - 1] % TTS_POOLS);
    if (tts_show_load_bytes(show, bytes, len)) {
        check_lists(show);
        print_show(show, nowhere);
    }
    tts_show_unload(show);
    if (show->phase_count != 0 || show->stored)
        stop("something stays of what was loaded");
    return 0;
}
