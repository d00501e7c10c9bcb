/* Tests a pass over a recording in which every block begins with a keyframe. */
#include "sources/eventpass.h"

#include "harness/item_rig.h"
#include "harness/recfile_rig.h"

enum { PLACE = 4096, EVENTS = 3000, LIVE = 20 };

/* ---- a recording ---- */

struct maker {
    struct image image;
    struct item_rig rig;
    struct tts_follow *follow;
};

static bool put_keyframe_item(void *ctx, const struct tts_item *item)
{
    struct maker *m = ctx;
    struct tts_item told = *item;
    told.time_ns = m->rig.time_ns;
    T_TRUE(image_fits(&m->image, &told));
    return true;
}

static void put_keyframe(struct maker *m)
{
    m->rig.time_ns += 1000;
    image_block(&m->image, m->rig.time_ns, true, false);
    tts_fold_tell(tts_follow_fold(m->follow), put_keyframe_item, m);
}

static void put_event(struct maker *m, struct tts_item item)
{
    m->rig.time_ns += 1000;
    item.time_ns = m->rig.time_ns;
    if (m->image.enc.at > m->image.enc.end)
        put_keyframe(m);
    T_EQ(tts_follow_item(m->follow, &item, NULL), TTS_OK);
    T_TRUE(image_fits(&m->image, &item));
}

/* Makes a recording whose last item is the end of a keyframe. */
static void make_file(struct maker *m)
{
    memset(m, 0, sizeof *m);
    m->rig.time_ns = 2000000;
    m->rig.has_time = true;
    T_EQ(tts_follow_new(NULL, &thrift, &m->follow, NULL), TTS_OK);
    image_begin(&m->image, PLACE, 0, 64);
    put_keyframe(m);
    for (uint64_t id = 1; m->rig.seq < EVENTS; id++) {
        if (id > LIVE)
            put_event(m, item_free(&m->rig, 0, TTS_POOL_DRAM, id - LIVE));
        put_event(m, item_alloc(&m->rig, 0, TTS_POOL_DRAM, id, 64 + id));
    }
    put_keyframe(m);
    image_end(&m->image);
    T_TRUE(m->image.state.blocks > 4);
}

static void free_file(struct maker *m)
{
    tts_follow_free(m->follow);
    image_done(&m->image);
}

/* ---- a reader ---- */

struct reader {
    struct tts_eventpass pass;
    struct tts_follow *follow;
    uint64_t stop_at; /* item at which the reader stops; 0: never */
    enum tts_status refusal;
    uint64_t events, keyframes, lives, reports, bytes;
    uint64_t last_seq, last_ns;
};

static enum tts_status take_item(void *ctx, const struct tts_item *item, struct tts_error *err)
{
    struct reader *r = ctx;
    r->events += item->kind == TTS_ITEM_EVENT;
    r->keyframes += item->kind == TTS_ITEM_KEYFRAME;
    r->lives += item->kind == TTS_ITEM_LIVE;
    r->last_seq = item->seq;
    r->last_ns = item->time_ns;
    if (r->stop_at > 0 && item->seq == r->stop_at) {
        r->pass.is_done = r->refusal == TTS_OK;
        return r->refusal;
    }
    return r->follow ? tts_follow_item(r->follow, item, err) : TTS_OK;
}

static void on_read(void *ctx, uint64_t bytes)
{
    struct reader *r = ctx;
    r->reports++;
    T_TRUE(bytes >= r->bytes);
    r->bytes = bytes;
}

static enum tts_status read_path(struct reader *r, const char *path)
{
    struct tts_eventfile_watch watch = {on_read, r};
    struct tts_eventfile *file = NULL;
    struct tts_error err = {0};
    T_EQ(tts_eventfile_open(path, &watch, &thrift, &file, &err), TTS_OK);
    r->pass = (struct tts_eventpass){
        .file = file, .follow = r->follow, .take = take_item, .ctx = r, .alloc = &thrift};
    enum tts_status status = tts_eventpass_run(&r->pass, &err);
    T_TRUE(status == TTS_OK || err.text[0] != '\0');
    tts_eventpass_release(&r->pass);
    tts_eventfile_close(file);
    return status;
}

/* ---- tests ---- */

T_TEST(each_event_is_told_once_and_only_the_keyframe_at_the_start)
{
    static struct maker m;
    struct reader r = {0};
    const char *path = t_scratch("whole.tts");
    make_file(&m);
    image_write(&m.image, path);
    T_EQ(read_path(&r, path), TTS_OK);
    T_TRUE(r.events == m.rig.seq && r.pass.events == m.rig.seq && r.last_seq == m.rig.seq);
    T_TRUE(r.keyframes == 1 && r.lives == 0 && !r.pass.is_done);
    T_TRUE(r.pass.passed_ns > r.last_ns && r.pass.gap_seq == 0);
    T_TRUE(r.reports >= 2 && r.bytes > PLACE);
    free_file(&m);
}

T_TEST(a_pass_ends_where_its_reader_is_done_or_refuses)
{
    static struct maker m;
    struct reader done = {.stop_at = 1500};
    struct reader refuses = {.stop_at = 1500, .refusal = TTS_E_NOT_FOUND};
    const char *path = t_scratch("stops.tts");
    make_file(&m);
    image_write(&m.image, path);
    T_EQ(read_path(&done, path), TTS_OK);
    T_TRUE(done.events == 1500 && done.pass.events == 1500);
    struct tts_eventfile *file = NULL;
    struct tts_error err = {0};
    T_EQ(tts_eventfile_open(path, NULL, &thrift, &file, &err), TTS_OK);
    refuses.pass = (struct tts_eventpass){.file = file, .take = take_item, .ctx = &refuses};
    T_EQ(tts_eventpass_run(&refuses.pass, &err),
         TTS_E_NOT_FOUND); /* this is the status of the reader, not the end of the file */
    T_TRUE(refuses.events == 1500 && refuses.pass.events == 1499);
    tts_eventfile_close(file);
    free_file(&m);
}

T_TEST(damage_is_the_end_without_a_follower_and_a_gap_with_one)
{
    static struct maker m;
    struct reader alone = {0}, followed = {0};
    const char *path = t_scratch("damaged.tts");
    make_file(&m);
    m.image.bytes[image_off(&m.image, 2) + 200] ^= 1;
    image_write(&m.image, path);
    T_EQ(read_path(&alone, path), TTS_E_SYNTAX);
    T_TRUE(alone.events > 0 && alone.events < m.rig.seq && alone.pass.gap_seq == 0);
    T_EQ(tts_follow_new(NULL, &thrift, &followed.follow, NULL), TTS_OK);
    T_EQ(read_path(&followed, path), TTS_OK);
    T_TRUE(followed.pass.gap_seq > alone.last_seq && followed.last_seq == m.rig.seq);
    T_TRUE(followed.pass.events > alone.events && followed.pass.events < m.rig.seq);
    T_EQ(followed.keyframes, 1);
    T_EQ(tts_fold_seq(tts_follow_fold(followed.follow)), m.rig.seq);
    T_EQ(tts_fold_collect(tts_follow_fold(followed.follow), NULL, 0),
         tts_fold_collect(tts_follow_fold(m.follow), NULL, 0));
    tts_follow_free(followed.follow);
    free_file(&m);
}

T_TEST(a_file_that_starts_in_the_middle_tells_what_lived_then)
{
    static struct maker m;
    struct reader r = {0};
    const char *path = t_scratch("late.tts");
    make_file(&m);
    m.image.bytes[image_off(&m.image, 0) + 100] ^= 1;
    image_write(&m.image, path);
    T_EQ(read_path(&r, path), TTS_OK);
    T_TRUE(r.keyframes == 1 && r.lives == LIVE && r.events < m.rig.seq);
    free_file(&m);
}

T_TEST(a_recording_alone_refuses_other_files)
{
    static struct maker m;
    struct tts_eventfile_watch watch = {0};
    struct tts_eventfile *file = NULL;
    struct tts_error err = {0};
    const char *path = t_scratch("other.json");
    write_file(path, "[]", 2);
    T_EQ(tts_eventfile_open_recording(path, &watch, &thrift, &file, &err), TTS_E_SYNTAX);
    make_file(&m);
    image_write(&m.image, path);
    T_EQ(tts_eventfile_open_recording(path, &watch, &thrift, &file, &err), TTS_OK);
    T_TRUE(tts_eventfile_recording(file) && tts_eventfile_size(file) > PLACE);
    tts_eventfile_close(file);
    free_file(&m);
}
