#include "recordings.h"

#include "base/ticks.h"
#include "churn.h"
#include "model/recording/recenc.h"
#include "ttscope/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PLACE_BYTES = 4 << 20, UNIT_SHIFT = 8 }; /* the same values as in a recorder */

static void ok(enum tts_status status, const struct tts_error *err)
{
    if (status != TTS_OK)
        churn_die(err->text);
}

uint64_t recording_bytes(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        churn_die("cannot look at a recording");
    return (uint64_t)st.st_size;
}

struct tts_rec_header recording_header(enum tts_rec_kind kind)
{
    bool live = kind == TTS_REC_LIVE;
    return (struct tts_rec_header){.kind = kind,
                                   .place_bytes = live ? PLACE_BYTES : 0,
                                   .start_ns = 1,
                                   .unit_scale = tts_ticks_scale() << UNIT_SHIFT,
                                   .program = "bench_record",
                                   .writer = "bench"};
}

/* --- with times of the clock ------------------------------------------------------------ */

void recording_by_clock(const struct story *story, const char *path)
{
    struct tts_tracker *tracker;
    struct tts_recorder *recorder;
    struct tts_recorder_config config = {.path = path};
    struct tts_error err = {0};
    ok(tts_tracker_new(NULL, NULL, &tracker, &err), &err);
    ok(tts_recorder_begin(tracker, &config, &recorder, &err), &err);
    for (size_t i = 0; i < story->count; i++)
        ok(tts_tracker_post(tracker, &story->told[i].event, &err), &err);
    ok(tts_recorder_end(recorder, NULL, &err), &err);
    tts_tracker_free(tracker);
}

/* --- with drawn times ------------------------------------------------------------------- */

struct drawn {
    FILE *file;
    const struct story *story;
    size_t at; /* index of the event that is being written */
    struct tts_recenc enc;
    unsigned char *place;
    uint64_t blocks, seq, time_ns, scale;
    bool is_open;
};

static uint64_t tick_of(const struct drawn *d)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(((wide)d->time_ns << 32) / d->scale);
}

static const char *name_of(void *ctx, uint64_t hash)
{
    const struct drawn *d = ctx;
    const struct told *told = &d->story->told[d->at];
    (void)hash; /* The encoder asks only for the name of the event's own operation. */
    return told->op ? told->op : "";
}

/* Writes the block. Every block is padded with zeros to the size of its place, except the last
 * one, which ends with its payload. */
static void end_block(struct drawn *d, bool is_last)
{
    size_t used = TTS_REC_BLOCK_HEADER_BYTES + tts_recenc_used(&d->enc);
    size_t bytes = is_last ? used : PLACE_BYTES;
    memset(d->place + used, 0, PLACE_BYTES - used);
    if (fwrite(d->place, 1, bytes, d->file) != bytes)
        churn_die("cannot write a recording");
    d->is_open = false;
}

static void write_item(struct drawn *d, const struct tts_item *item)
{
    if (d->is_open && tts_recenc_item(&d->enc, item, false, tick_of(d)))
        return;
    if (d->is_open)
        end_block(d, false);
    struct tts_rec_block block = {.kind = TTS_REC_ITEMS,
                                  .has_keyframe = d->blocks == 0,
                                  .number = d->blocks,
                                  .seq = d->seq,
                                  .tick = tick_of(d),
                                  .time_ns = d->time_ns,
                                  .place_bytes = PLACE_BYTES};
    memset(d->place, 0, TTS_REC_BLOCK_HEADER_BYTES);
    tts_rec_block_put(&block, d->place);
    tts_recenc_begin(&d->enc, d->place + TTS_REC_BLOCK_HEADER_BYTES,
                     PLACE_BYTES - TTS_REC_BLOCK_HEADER_BYTES,
                     (uint64_t *)(void *)(d->place + TTS_REC_COMMIT_OFF), d->blocks++,
                     block.tick);
    d->is_open = true;
    if (!tts_recenc_item(&d->enc, item, false, block.tick))
        churn_die("an item does not fit a block");
}

static void write_header(struct drawn *d)
{
    unsigned char bytes[TTS_REC_HEADER_BYTES] = {0};
    struct tts_rec_header header = recording_header(TTS_REC_LIVE);
    struct tts_rec_state state = {
        .generation = 1, .kind = TTS_REC_ENDED, .blocks = d->blocks, .events = d->seq};
    tts_rec_header_put(&header, bytes);
    tts_rec_state_put(&state, bytes);
    if (fseek(d->file, 0, SEEK_SET) != 0 ||
        fwrite(bytes, 1, sizeof bytes, d->file) != sizeof bytes)
        churn_die("cannot write a recording");
}

void recording_drawn(const struct story *story, const char *path)
{
    static struct drawn drawn;
    struct drawn *d = &drawn;
    *d = (struct drawn){.file = fopen(path, "wb"),
                        .story = story,
                        .time_ns = 1,
                        .scale = recording_header(TTS_REC_LIVE).unit_scale};
    d->place = aligned_alloc(64, PLACE_BYTES);
    if (!d->file || !d->place)
        churn_die("cannot make a recording");
    d->enc.op = name_of;
    d->enc.ctx = d;
    write_header(d);
    struct tts_item item = {.kind = TTS_ITEM_KEYFRAME};
    write_item(d, &item);
    item.kind = TTS_ITEM_KEYFRAME_END;
    write_item(d, &item);
    item.kind = TTS_ITEM_EVENT;
    item.thread = 1;
    for (d->at = 0; d->at < story->count; d->at++) {
        const struct told *told = &story->told[d->at];
        d->time_ns += told->gap_ns;
        item.event = told->event;
        item.op =
            (struct tts_item_op){told->op_hash, told->op, told->op ? strlen(told->op) : 0};
        item.seq = d->seq + 1;
        write_item(d, &item);
        d->seq++;
    }
    end_block(d, true);
    write_header(d);
    if (fclose(d->file) != 0)
        churn_die("cannot write a recording");
    free(d->place);
}

/* --- packing and reading ---------------------------------------------------------------- */

static struct tts_recfile *open_recording(const char *path)
{
    struct tts_recfile *file;
    struct tts_error err = {0};
    ok(tts_recfile_open(path, NULL, &file, &err), &err);
    return file;
}

double recording_pack(const char *from, const char *to)
{
    struct tts_recfile *file = open_recording(from);
    struct tts_recpack *pack;
    struct tts_item item;
    struct tts_error err = {0};
    FILE *out = fopen(to, "wb+");
    if (!out)
        churn_die("cannot make a packed recording");
    double start = churn_now_ns();
    ok(tts_recpack_new(out, &tts_recfile_info(file)->header, NULL, &pack, &err), &err);
    enum tts_status status;
    while ((status = tts_recfile_next(file, &item, &err)) == TTS_OK)
        ok(tts_recpack_item(pack, &item, &err), &err);
    if (status != TTS_E_NOT_FOUND)
        churn_die(err.text);
    ok(tts_recpack_end(pack, &tts_recfile_info(file)->state, &err), &err);
    if (fflush(out) != 0)
        churn_die("cannot write a packed recording");
    double ns = churn_now_ns() - start;
    tts_recpack_free(pack);
    tts_recfile_close(file);
    fclose(out);
    return ns;
}

double recording_read(const char *path, uint64_t *events)
{
    struct tts_recfile *file = open_recording(path);
    struct tts_item item;
    struct tts_error err = {0};
    enum tts_status status;
    *events = 0;
    double start = churn_now_ns();
    while ((status = tts_recfile_next(file, &item, &err)) == TTS_OK)
        *events += item.kind == TTS_ITEM_EVENT;
    double ns = churn_now_ns() - start;
    if (status != TTS_E_NOT_FOUND)
        churn_die(err.text);
    tts_recfile_close(file);
    return ns;
}

struct tts_follow *recording_follow(const char *path, const struct tts_phase **whole)
{
    struct tts_recfile *file = open_recording(path);
    struct tts_follow_config config = {0};
    struct tts_follow *follow;
    struct tts_item item;
    struct tts_error err = {0};
    enum tts_status status;
    ok(tts_follow_new(&config, NULL, &follow, &err), &err);
    while ((status = tts_recfile_next(file, &item, &err)) == TTS_OK)
        ok(tts_follow_item(follow, &item, &err), &err);
    if (status != TTS_E_NOT_FOUND)
        churn_die(err.text);
    ok(tts_follow_end(follow, whole, &err), &err);
    tts_recfile_close(file);
    return follow;
}
