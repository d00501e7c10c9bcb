/* show_moment.c: what lived at one moment, the largest and by operation; and the end of the
 * pass.
 */
#include "base/error.h"
#include "cli/show_parts.h"

void tts_show_moment_release(struct tts_show_moment *moment)
{
    tts_best_release(&moment->largest);
    tts_best_release(&moment->by_op);
}

static bool is_larger(const void *ctx, const void *a, const void *b)
{
    (void)ctx;
    const struct tts_live *x = a, *y = b;
    uint64_t bytes = tts_live_bytes(x), other = tts_live_bytes(y);
    if (bytes != other)
        return bytes > other;
    if (x->seq != y->seq)
        return x->seq < y->seq;
    return x->id != y->id ? x->id < y->id : x->device < y->device;
}

static bool had_more(const void *ctx, const void *a, const void *b)
{
    const struct tts_op_row *x = a, *y = b;
    return x->moment_bytes != y->moment_bytes ? x->moment_bytes > y->moment_bytes
                                              : tts_op_row_precedes(ctx, x, y);
}

static bool allocated_more(const void *ctx, const void *a, const void *b)
{
    const struct tts_op_row *x = a, *y = b;
    return x->allocated_bytes != y->allocated_bytes ? x->allocated_bytes > y->allocated_bytes
                                                    : tts_op_row_precedes(ctx, x, y);
}

struct filling {
    struct tts_show_moment *moment;
    struct tts_ops *ops;
    enum tts_status status;
};

static enum tts_status add_live(void *ctx, const struct tts_live *live)
{
    struct filling *filling = ctx;
    struct tts_show_moment *moment = filling->moment;
    enum tts_status status = tts_ops_moment(filling->ops, live);
    moment->buffers++;
    moment->bytes += tts_live_bytes(live);
    return status == TTS_OK ? tts_best_add(&moment->largest, live) : status;
}

static void begin_moment(struct tts_show_moment *moment, const struct tts_show *show,
                         enum tts_pool pool, struct tts_level level)
{
    size_t top = show->options.top;
    *moment = (struct tts_show_moment){.pool = pool, .level = level};
    tts_best_init(&moment->largest, top, sizeof(struct tts_live), is_larger, NULL, show->alloc);
    tts_best_init(&moment->by_op, top, sizeof(struct tts_op_row), had_more, show->follow,
                  show->alloc);
}

static enum tts_status end_moment(struct tts_show_moment *moment, const struct tts_ops *ops)
{
    const struct tts_op_row *row;
    enum tts_status status = TTS_OK;
    for (size_t i = 0; status == TTS_OK && (row = tts_ops_at(ops, i)) != NULL; i++) {
        if (row->moment_buffers == 0)
            continue;
        moment->op_count++;
        status = tts_best_add(&moment->by_op, row);
    }
    tts_best_sort(&moment->by_op);
    tts_best_sort(&moment->largest);
    return status;
}

static bool add_item(void *ctx, const struct tts_item *item)
{
    struct filling *filling = ctx;
    const struct tts_show_moment *moment = filling->moment;
    if (item->kind == TTS_ITEM_LIVE && item->live.pool == moment->pool &&
        tts_level_has(&moment->level, &item->live))
        filling->status = add_live(filling, &item->live);
    return filling->status == TTS_OK;
}

enum tts_status tts_show_moment_now(const struct tts_show *show, struct tts_show_moment *moment,
                                    struct tts_ops *ops, struct tts_level level)
{
    begin_moment(moment, show, tts_ops_pool(ops), level);
    struct filling filling = {.moment = moment, .ops = ops};
    tts_fold_tell(tts_follow_fold(show->follow), add_item, &filling);
    return filling.status == TTS_OK ? end_moment(moment, ops) : filling.status;
}

/* ---- the end ---- */

static enum tts_status finish_peak(struct tts_show *show)
{
    struct tts_show_moment *moment = &show->peak_moment;
    struct filling filling = {.moment = moment, .ops = show->ops};
    begin_moment(moment, show, show->options.pool, tts_peak_info(show->peak).level);
    enum tts_status status = tts_peak_each(show->peak, show->follow, add_live, &filling);
    return status == TTS_OK ? end_moment(moment, show->ops) : status;
}

static enum tts_status finish_ops(struct tts_show *show)
{
    const struct tts_op_row *row;
    enum tts_status status = TTS_OK;
    tts_best_init(&show->top_ops, show->options.top, sizeof *row, allocated_more, show->follow,
                  show->alloc);
    for (size_t i = 0; status == TTS_OK && (row = tts_ops_at(show->ops, i)) != NULL; i++)
        status = tts_best_add(&show->top_ops, row);
    tts_best_sort(&show->top_ops);
    return status;
}

enum tts_status tts_show_finish_pool(struct tts_show *show)
{
    show->peak_info = tts_peak_info(show->peak);
    show->op_count = tts_ops_count(show->ops);
    enum tts_status status = finish_peak(show);
    return status == TTS_OK ? finish_ops(show) : status;
}

/* A capture that begins and ends now has what is on the cores now as its peak. One too many is
 * refused: then it is not known. */
static enum tts_status ask_cores(struct tts_show *show, struct tts_error *err)
{
    struct tts_item item = {.kind = TTS_ITEM_BEGIN, .capture = TTS_SHOW_NOW};
    item.seq = show->item_seq;
    enum tts_status status = tts_follow_item(show->follow, &item, err);
    item.kind = TTS_ITEM_CUT;
    if (status == TTS_OK)
        status = tts_follow_item(show->follow, &item, err);
    item.kind = TTS_ITEM_END;
    if (status == TTS_OK)
        status = tts_follow_item(show->follow, &item, err);
    return status == TTS_E_NOMEM ? status : TTS_OK;
}

static enum tts_status finish_at(struct tts_show *show, struct tts_error *err)
{
    enum tts_pool pool = show->options.pool;
    enum tts_status status = ask_cores(show, err);
    if (status != TTS_OK)
        return status;
    return tts_show_moment_now(show, &show->at_moment, show->ops,
                               tts_level_listed(tts_levels_of(&show->levels, pool)));
}

enum tts_status tts_show_finish(struct tts_show *show, struct tts_error *err)
{
    enum tts_status status =
        show->options.at > 0 ? finish_at(show, err) : tts_show_finish_pool(show);
    if (status == TTS_OK)
        status = tts_follow_end(show->follow, &show->whole, err);
    tts_fold_health(tts_follow_fold(show->follow), &show->health);
    return status == TTS_OK && !show->is_out_of_memory
               ? TTS_OK
               : tts_error_set(err, TTS_E_NOMEM, "out of memory");
}
