/* Tests of the figures that are stored in a packed recording: stored figures are read back
 * unchanged, and arbitrary bytes do no harm. */
#include "analysis/eventsummary.h"
#include "base/heap.h"
#include "cli/show/show.h"
#include "harness/item_rig.h"
#include "harness/t.h"
#include "model/recording/recpack.h"
#include "torture/heap.h"

#include <stdlib.h>
#include <string.h>

static uint64_t figures_room = UINT64_MAX;
static uint64_t file_seq; /* sequence number of the last event in the newest file */

/* Writes a small recording, followed by `figures`. */
static void make_file(const char *path, const unsigned char *figures, size_t len)
{
    struct item_rig rig = {.has_time = true, .time_ns = 5000};
    struct tts_rec_header header = {.unit_scale = UINT64_C(1) << 32, .start_ns = 1};
    struct tts_rec_state state = {.kind = TTS_REC_ENDED};
    struct tts_recpack *pack = NULL;
    FILE *out = fopen(path, "w+b");
    struct tts_item items[] = {
        item_capture(&rig, TTS_ITEM_BEGIN, 1, NULL),
        item_op(&rig, 1, "ttnn::linear"),
        item_op(&rig, 1, "matmul"),
        item_alloc(&rig, 0, TTS_POOL_DRAM, 1, 4096),
        item_alloc(&rig, 0, TTS_POOL_DRAM, 2, 8192),
        item_alloc(&rig, 0, TTS_POOL_L1, 3, 2048),
        item_free(&rig, 0, TTS_POOL_DRAM, 1),
        item_op(&rig, 1, NULL),
        item_op(&rig, 1, NULL),
        item_capture(&rig, TTS_ITEM_CUT, 1, "step"),
        item_capture(&rig, TTS_ITEM_END, 1, NULL),
    };
    for (size_t i = 3; i < 6; i++) {
        item_set_op(&items[i], "matmul");
        items[i].thread = 1;
    }
    items[5].event.bytes_per_bank = 2048;
    T_EQ(tts_recpack_new(out, &header, NULL, &pack, NULL), TTS_OK);
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
        T_EQ(tts_recpack_item(pack, &items[i], NULL), TTS_OK);
    state.events = file_seq = rig.seq;
    T_EQ(tts_recpack_end(pack, &state, NULL), TTS_OK);
    bool is_stored = len == 0;
    if (len > 0)
        T_EQ(tts_recpack_figures(pack, figures, len, figures_room, &is_stored, NULL), TTS_OK);
    T_EQ(is_stored, figures_room == UINT64_MAX || len == 0);
    tts_recpack_free(pack);
    fclose(out);
}

static struct tts_show *opened(const char *path, enum tts_pool pool)
{
    struct tts_show_options options = {.path = path, .top = 10, .pool = pool};
    struct tts_show *show = malloc(sizeof *show);
    struct tts_error err;
    T_EQ(tts_show_init(show, &options, &err), TTS_OK);
    T_EQ(tts_eventfile_open(path, NULL, show->alloc, &show->file, &err), TTS_OK);
    return show;
}

static void done(struct tts_show *show)
{
    tts_show_release(show);
    free(show);
}

/* Returns the text and the JSON of `show`. The caller frees the string. */
static char *shown(struct tts_show *show)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    struct tts_show_facts facts;
    struct tts_json json;
    show->partial.core = &show->sum.whole->usage.core;
    tts_partial_list(&show->partial, show->file, &show->missing);
    tts_show_facts(show, &facts);
    tts_show_text(&facts, out);
    tts_json_init(&json, out);
    tts_show_json(&facts, &json);
    fclose(out);
    return text;
}

/* Writes a recording and reads all of it. The result can be stored as figures. */
static struct tts_show *read_all(const char *path)
{
    static const struct tts_eventscan_config config = {.top = 10, .keeps_all = true};
    struct tts_error err;
    make_file(path, NULL, 0);
    struct tts_show *show = opened(path, TTS_POOL_DRAM);
    T_TRUE(!tts_show_load(show));
    tts_eventscan_release(&show->scan);
    T_EQ(tts_eventscan_init(&show->scan, &config, NULL, &show->sum, &err), TTS_OK);
    T_EQ(tts_show_read(show, &err), TTS_OK);
    show->sum.input.has_items = true;
    return show;
}

static unsigned char *stored(const char *path, size_t *len)
{
    unsigned char *bytes = NULL;
    struct tts_show *show = read_all(path);
    T_EQ(tts_eventsummary_store(&show->scan, &bytes, len, NULL), TTS_OK);
    T_TRUE(*len > 100);
    done(show);
    return bytes;
}

/* Checks for each pool that `show` prints the same text from the stored figures and from the
 * events. */
static void check_figures(const char *path, const char *op_path)
{
    struct tts_error err;
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_show *loaded = opened(path, (enum tts_pool)i);
        struct tts_show *read = opened(path, (enum tts_pool)i);
        T_TRUE(tts_show_load(loaded));
        T_EQ(tts_show_read(read, &err), TTS_OK);
        T_EQ(tts_eventscan_finish(&read->scan, &err), TTS_OK);
        char *a = shown(loaded), *b = shown(read);
        T_STR_EQ(a, b);
        T_TRUE(i != TTS_POOL_DRAM || strstr(a, op_path));
        free(a);
        free(b);
        done(loaded);
        done(read);
    }
}

T_TEST(what_is_loaded_is_what_would_be_read)
{
    const char *path = t_scratch("same.tts");
    size_t len = 0;
    unsigned char *bytes = stored(path, &len);
    make_file(path, bytes, len);
    check_figures(path, "ttnn::linear > matmul");
    free(bytes);
}

/* If this test fails, the stored data or its calculation has changed. Then raise VERSION and
 * pack the file again (tests/e2e/pack.sh has the story of such a file). */
T_TEST(figures_of_an_older_build_are_those_of_today_or_have_another_version)
{
    check_figures(TTS_GOLDEN_DIR "/show/figures.tts", "ttnn::linear > matmul_");
}

T_TEST(figures_that_have_no_room_are_left_out)
{
    const char *path = t_scratch("room.tts");
    size_t len = 0;
    unsigned char *bytes = stored(path, &len);
    figures_room = 100;
    make_file(path, bytes, len);
    figures_room = UINT64_MAX;
    struct tts_show *show = opened(path, TTS_POOL_DRAM);
    T_TRUE(!tts_show_load(show));
    done(show);
    free(bytes);
}

static bool load_bytes(struct tts_show *show, const unsigned char *bytes, size_t len)
{
    return tts_eventsummary_load(&show->sum, bytes, len, file_seq, &show->scan.config);
}

T_TEST(figures_of_another_version_or_of_other_events_are_not_taken)
{
    const char *path = t_scratch("version.tts");
    size_t len = 0;
    unsigned char *bytes = stored(path, &len);
    struct tts_show *show = opened(path, TTS_POOL_DRAM);
    for (size_t i = 0; i < 2; i++) {
        bytes[i]++;
        T_TRUE(!load_bytes(show, bytes, len) && show->sum.phase_count == 0 &&
               !show->sum.stored);
        bytes[i]--;
    }
    T_TRUE(load_bytes(show, bytes, len));
    done(show);
    free(bytes);
}

T_TEST(figures_of_time_that_runs_back_are_not_taken)
{
    const char *path = t_scratch("changed.tts");
    unsigned char *bytes = NULL;
    size_t len = 0;
    struct tts_show *show = read_all(path);
    show->sum.first_ns = show->sum.last_ns + 1;
    T_EQ(tts_eventsummary_store(&show->scan, &bytes, &len, NULL), TTS_OK);
    T_TRUE(!load_bytes(show, bytes, len));
    done(show);
    free(bytes);
}

T_TEST(whatever_the_bytes_are_they_are_taken_or_not)
{
    static const unsigned char others[] = {1, 0, 127, 128, 255};
    const char *path = t_scratch("hostile.tts");
    size_t len = 0, taken = 0;
    unsigned char *bytes = stored(path, &len);
    struct tts_show *show = opened(path, TTS_POOL_DRAM);
    for (size_t i = 2; i < len; i++) {
        unsigned char kept = bytes[i];
        bytes[i] = others[i % sizeof others] != kept ? others[i % sizeof others] : 77;
        /* Every fifth attempt cuts the bytes. */
        if (load_bytes(show, bytes, i % 5 == 0 ? i : len)) {
            char *text = shown(show);
            /* A count must not be below the length of its list. */
            T_TRUE(!strstr(text, "not_listed\": 18446744073709"));
            free(text);
            taken++;
        }
        tts_eventsummary_release(&show->sum);
        T_TRUE(show->sum.phase_count == 0 && show->sum.levels.device_count == 0);
        bytes[i] = kept;
    }
    T_TRUE(taken > 0 && taken < len);
    done(show);
    free(bytes);
}

T_TEST(without_memory_nothing_is_stored_and_all_is_given_back)
{
    const char *path = t_scratch("store.tts");
    bool was_done = false;
    for (uint64_t n = 1; !was_done; n++) {
        unsigned char *bytes = NULL;
        size_t len = 0;
        struct heap heap;
        struct tts_show *show = read_all(path);
        heap_init(&heap);
        heap.fail_at = n;
        show->scan.alloc = &heap.alloc;
        enum tts_status status = tts_eventsummary_store(&show->scan, &bytes, &len, NULL);
        was_done = heap.failed == 0;
        T_EQ(status, was_done ? TTS_OK : TTS_E_NOMEM);
        T_EQ(len > 0, was_done);
        T_EQ(bytes != NULL, was_done);
        if (bytes)
            heap.alloc.free(heap.alloc.ctx, bytes, len);
        done(show);
        T_TRUE(heap_is_settled(&heap));
    }
}

T_TEST(a_load_that_fails_changes_nothing)
{
    const char *path = t_scratch("load.tts");
    size_t len = 0;
    bool was_done = false;
    unsigned char *bytes = stored(path, &len);
    struct tts_eventscan_config dram = {.top = 10}, l1 = {.top = 10, .pool = TTS_POOL_L1};
    struct tts_eventsummary *before = malloc(sizeof *before), *sum = malloc(sizeof *sum);
    struct heap heap;
    heap_init(&heap);
    memset(sum, 0, sizeof *sum);
    sum->alloc = &heap.alloc;
    T_TRUE(tts_eventsummary_load(sum, bytes, len, file_seq, &dram));
    for (uint64_t n = 1; !was_done; n++) {
        uint64_t live_bytes = heap.live_bytes, failed = heap.failed;
        memcpy(before, sum, sizeof *sum);
        heap.fail_at = heap.calls + n;
        was_done = tts_eventsummary_load(sum, bytes, len, file_seq, &l1);
        T_EQ(was_done, heap.failed == failed);
        if (!was_done)
            T_TRUE(memcmp(before, sum, sizeof *sum) == 0 && heap.live_bytes == live_bytes);
    }
    T_EQ(sum->peak_info.pool, TTS_POOL_L1);
    T_TRUE(strcmp(tts_eventsummary_phase_name(sum, &sum->phases[0]), "step") == 0);
    tts_eventsummary_release(sum);
    T_TRUE(heap_is_settled(&heap));
    free(before);
    free(sum);
    free(bytes);
}
