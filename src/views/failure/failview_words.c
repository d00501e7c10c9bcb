#include "base/number.h"
#include "views/failure/failview.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* ---- numbers ---- */

enum { AMOUNT_MAX = TTS_NUMBER_BYTES_MAX };

static const char *format_amount(char out[AMOUNT_MAX], uint64_t bytes)
{
    return tts_number_format_bytes(out, bytes);
}

static const char *format_field(char out[AMOUNT_MAX], const struct tts_failview *view,
                                enum tts_failmsg_field field)
{
    return format_amount(out, view->msg->value[field]);
}

static const char *format_or_unknown(char out[AMOUNT_MAX], const struct tts_failview *view,
                                     enum tts_failmsg_field field)
{
    return tts_failmsg_has(view->msg, field) ? format_field(out, view, field)
                                             : "an unknown number of bytes";
}

static const char *pool_of(const struct tts_failview *view)
{
    return view->msg->has_pool ? tts_pool_name(view->msg->pool) : "memory";
}

static const char *buffers_of(const struct tts_failview *view)
{
    bool is_dfb = view->msg->family == TTS_FAILMSG_DFB ||
                  view->msg->family == TTS_FAILMSG_DFBMAX ||
                  view->msg->family == TTS_FAILMSG_DFBRING;
    return is_dfb ? "dataflow buffers" : "circular buffers";
}

void tts_failview_glue(char *text)
{
    for (char *at = text; (at = strchr(at, ' ')) != NULL; at++) {
        bool is_amount = at > text && at[-1] >= '0' && at[-1] <= '9';
        bool is_unit = at[1] == 'B' || (at[1] != '\0' && strchr("KMGTPE", at[1]) &&
                                        at[2] == 'i' && at[3] == 'B');
        if (is_amount && is_unit)
            *at = *TTS_SAY_GLUE;
    }
}

/* ---- the headline ---- */

/* Appends the missing bytes, if they are known: ": 4.69 MiB short". */
static void append_deficit(char *out, const struct tts_failview *view, const char *word)
{
    char amount[AMOUNT_MAX];
    size_t len = strlen(out);
    if (view->verdict->has_deficit)
        snprintf(out + len, TTS_FAILVIEW_LINE_MAX - len, ": %s %s",
                 format_amount(amount, view->verdict->deficit_bytes), word);
}

static void put_space_headline(char *out, const struct tts_failview *view)
{
    char need[AMOUNT_MAX], room[AMOUNT_MAX], piece[AMOUNT_MAX];
    const struct tts_failverdict *v = view->verdict;
    format_field(need, view, TTS_FAILMSG_NEED);
    if (v->cause == TTS_FAILCAUSE_NEVER_FITS && view->msg->pool == TTS_POOL_L1_SMALL &&
        view->msg->value[TTS_FAILMSG_BANK] == 0) {
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "L1_SMALL has no memory: the device was opened with l1_small_size=0, and the "
                 "buffer needs %s of each bank",
                 need);
        return;
    }
    if (v->cause == TTS_FAILCAUSE_NEVER_FITS)
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "the buffer can never fit: it needs %s of each %s bank, and an empty bank has "
                 "%s",
                 need, pool_of(view), format_field(room, view, TTS_FAILMSG_BANK));
    else if (v->cause == TTS_FAILCAUSE_CAPACITY)
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "%s is full: the buffer needs %s of each bank, and %s is free", pool_of(view),
                 need, format_field(room, view, TTS_FAILMSG_FREE));
    else
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "%s is fragmented: the buffer needs %s of each bank in one piece; %s is free, "
                 "but the largest piece is %s",
                 pool_of(view), need, format_field(room, view, TTS_FAILMSG_FREE),
                 format_field(piece, view, TTS_FAILMSG_LARGEST));
    append_deficit(out, view, "short");
}

static void put_core_headline(char *out, const struct tts_failview *view)
{
    char missing[AMOUNT_MAX];
    const struct tts_failverdict *v = view->verdict;
    const char *by = v->has_deficit ? format_amount(missing, v->deficit_bytes)
                                    : "an unknown number of bytes";
    if (v->cause == TTS_FAILCAUSE_CLASH)
        snprintf(out, TTS_FAILVIEW_LINE_MAX, "the %s of a program reach into %s: %s too far",
                 buffers_of(view),
                 view->msg->family == TTS_FAILMSG_SVC ? "the memory of a service core"
                                                      : "an L1 buffer",
                 by);
    else if (view->msg->family == TTS_FAILMSG_DFBRING)
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "the ring of one dataflow buffer does not fit into the L1 of a core: %s too "
                 "large",
                 by);
    else
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "the %s of a program do not fit into the L1 of a core: %s too large",
                 buffers_of(view), by);
}

static void put_trace_headline(char *out, const struct tts_failview *view)
{
    char a[AMOUNT_MAX], b[AMOUNT_MAX];
    const struct tts_failverdict *v = view->verdict;
    if (v->cause == TTS_FAILCAUSE_TRACE_REGION) {
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "the trace region is too small: the traces need %s, and the region has %s",
                 format_or_unknown(a, view, TTS_FAILMSG_REQUESTED),
                 format_or_unknown(b, view, TTS_FAILMSG_LIMIT));
        append_deficit(out, view, "short");
    } else if (view->msg->family == TTS_FAILMSG_TRACKER)
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "%" PRIu64 " buffer%s would be overwritten by the replay of a trace",
                 view->msg->value[TTS_FAILMSG_COUNT],
                 tts_say_plural(view->msg->value[TTS_FAILMSG_COUNT]));
    else
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "a trace would overlap DRAM that %s used: %s of each bank",
                 view->msg->family == TTS_FAILMSG_TOVER_LIVE ? "another trace" : "its capture",
                 v->has_deficit ? format_amount(a, v->deficit_bytes)
                                : "an unknown number of bytes");
}

const char *tts_failview_headline(char out[TTS_FAILVIEW_LINE_MAX],
                                  const struct tts_failview *view)
{
    char a[AMOUNT_MAX], b[AMOUNT_MAX];
    const struct tts_failverdict *v = view->verdict;
    switch (v->cause) {
    case TTS_FAILCAUSE_NEVER_FITS:
    case TTS_FAILCAUSE_CAPACITY:
    case TTS_FAILCAUSE_FRAGMENTATION:
        put_space_headline(out, view);
        break;
    case TTS_FAILCAUSE_CLASH:
    case TTS_FAILCAUSE_BEYOND_L1:
        put_core_headline(out, view);
        break;
    case TTS_FAILCAUSE_TRACE_REGION:
    case TTS_FAILCAUSE_TRACE_OVERLAP:
        put_trace_headline(out, view);
        break;
    case TTS_FAILCAUSE_BELOW_LIMIT:
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "an L1 buffer does not fit: the buffer would begin %s%sbelow the lowest "
                 "allowed address of each bank",
                 v->has_deficit ? format_amount(a, v->deficit_bytes) : "",
                 v->has_deficit ? " " : "");
        break;
    case TTS_FAILCAUSE_CONFIG_RING:
        snprintf(out, TTS_FAILVIEW_LINE_MAX,
                 "the kernels of a program are too large: they need %s, and the kernel-config "
                 "ring has %s",
                 format_or_unknown(a, view, TTS_FAILMSG_SIZE),
                 format_or_unknown(b, view, TTS_FAILMSG_LIMIT));
        append_deficit(out, view, "too much");
        break;
    case TTS_FAILCAUSE_OTHER:
        snprintf(out, TTS_FAILVIEW_LINE_MAX, "%s: this is not a lack of memory",
                 tts_failmsg_title(view->msg->family));
        break;
    case TTS_FAILCAUSE_UNKNOWN:
        if (v->is_warning)
            snprintf(
                out, TTS_FAILVIEW_LINE_MAX,
                "a warning, not a failure: a buffer was allocated while a trace is active");
        else
            snprintf(out, TTS_FAILVIEW_LINE_MAX,
                     "out of memory in %s; the message does not contain the cause",
                     pool_of(view));
        break;
    }
    return out;
}

/* ---- advice: one function for each kind ---- */

/* The advice that a sentence explains, and the failure it is about. */
struct advice {
    const struct tts_failview *view;
    const struct tts_failadvice_item *item;
};

TTS_PRINTF(2, 3)
static void put_text(char *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(out, TTS_FAILVIEW_LINE_MAX, format, args);
    va_end(args);
}

static uint64_t value_of(const struct advice *a, enum tts_failmsg_field field)
{
    return a->view->msg->value[field];
}

static const char *say_enough(const struct advice *a)
{
    if (!a->item->has_enough)
        return "the message does not tell whether that is enough";
    return a->item->is_enough ? "that is enough" : "that alone is not enough";
}

static void say_decide(char *out, const struct advice *a)
{
    put_text(out, "to find the cause: %s", a->view->verdict->decides);
}

static void say_others(char *out, const struct advice *a)
{
    char need[AMOUNT_MAX], piece[AMOUNT_MAX];
    put_text(out,
             "free or move buffers of other allocators (per-core buffers), or allocate this "
             "buffer before them: this buffer needs %s at one address that is free in all "
             "allocators; this allocator has a free piece of %s",
             format_field(need, a->view, TTS_FAILMSG_NEED),
             format_field(piece, a->view, TTS_FAILMSG_LARGEST));
}

static void say_l1_small(char *out, const struct advice *a)
{
    char need[AMOUNT_MAX];
    uint64_t used = value_of(a, TTS_FAILMSG_ALLOCATED);
    put_text(out,
             "open the device with l1_small_size=%" PRIu64 " or more (now %" PRIu64
             "): %s %s, rounded up to a multiple of 64 B, because the runtime rounds the size "
             "up to the DRAM alignment (64 B on Blackhole, 32 B on Wormhole); the rest of L1 "
             "shrinks by as many bytes",
             a->item->bytes, value_of(a, TTS_FAILMSG_BANK),
             format_amount(need, used + value_of(a, TTS_FAILMSG_NEED)),
             used > 0 ? "in use and needed" : "needed");
}

static void say_trace_size(char *out, const struct advice *a)
{
    if (a->item->bytes > 0)
        put_text(out, "open the device with trace_region_size=%" PRIu64 " or more",
                 a->item->bytes);
    else
        put_text(out, "open the device with a trace_region_size of at least the size of the "
                      "trace, which is not in this message: the trace then has DRAM of its "
                      "own");
}

static void say_trace_dram(char *out, const struct advice *a)
{
    (void)a;
    put_text(out, "open the device with trace_region_size=0: traces are then placed in "
                  "DRAM, beside the other buffers (tt-metal of 2026-02 or later)");
}

static void say_trace_order(char *out, const struct advice *a)
{
    if (a->view->msg->family == TTS_FAILMSG_TOVER_FREED)
        put_text(out, "free DRAM buffers after the end of the capture, not during it");
    else
        put_text(out, "allocate DRAM buffers before the capture begins: run the model once "
                      "before the capture, so that programs are compiled and buffers exist");
}

static void say_trace_release(char *out, const struct advice *a)
{
    (void)a;
    put_text(out, "release the older trace before this capture");
}

static void say_trace_tracker(char *out, const struct advice *a)
{
    (void)a;
    put_text(
        out,
        "run once with TT_METAL_TRACE_ALLOC_TRACKING=1 and TT_METAL_TRACE_ALLOC_TRACEBACKS=1: "
        "the runtime then names the buffers and the code that allocated the buffers");
}

static void say_trace_free(char *out, const struct advice *a)
{
    (void)a;
    put_text(out, "free these buffers before the trace is executed, or mark buffers that may "
                  "be overwritten with ttnn.mark_corruptible(); if the context is "
                  "'program_cache:', run the model once before the capture");
}

static void say_free(char *out, const struct advice *a)
{
    static const char adjoin[] = "; the freed and the free bytes must then be contiguous";
    char one[AMOUNT_MAX], all[AMOUNT_MAX];
    uint64_t banks = value_of(a, TTS_FAILMSG_BANKS), sum;
    format_amount(one, a->item->bytes);
    if (__builtin_mul_overflow(a->item->bytes, banks, &sum))
        sum = UINT64_MAX;
    if (banks > 0)
        put_text(out,
                 "free %s of each bank (%s in all %" PRIu64 " banks) before this allocation%s",
                 one, format_amount(all, sum), banks, adjoin);
    else
        put_text(out,
                 "free %s of each L1 bank (of the L1 of each core) before this allocation%s",
                 one, adjoin);
}

enum { OP_MAX = TTS_SAFE_COLUMN_BYTES * TTS_OP_NAME_MAX + 1 };

static const char *format_op(char out[OP_MAX], const char *op)
{
    tts_safe_text(out, OP_MAX, op ? op : "no operation", TTS_OP_NAME_MAX);
    return out;
}

static void say_holder(char *out, const struct advice *a)
{
    char one[AMOUNT_MAX], name[OP_MAX];
    const struct tts_failholder *holder = a->item->holder;
    put_text(out,
             "free buffer %" PRIu64 " of %s, %s of each bank, allocated by event %" PRIu64
             ", before this request; that is enough",
             holder->id, format_op(name, holder->op), format_amount(one, holder->block_bytes),
             holder->seq);
}

static void say_holder_op(char *out, const struct advice *a)
{
    char one[AMOUNT_MAX], name[OP_MAX];
    const struct tts_failholder_op *row = a->item->holder_op;
    put_text(out,
             "free the %" PRIu64 " buffers of %s, %s of each bank, before this request; that "
             "is enough, and freeing a single buffer is not",
             row->buffers, format_op(name, row->op), format_amount(one, row->block_bytes));
}

static void say_holder_lowest(char *out, const struct advice *a)
{
    char one[AMOUNT_MAX];
    put_text(out,
             "free the %" PRIu64 " lowest L1 buffer%s (%s of each bank) before this program "
             "runs, or place %s in DRAM; that is enough",
             a->item->count, tts_say_plural(a->item->count),
             format_amount(one, a->item->saves_bytes), a->item->count == 1 ? "it" : "them");
}

static void say_neighbour(char *out, const struct advice *a)
{
    char one[AMOUNT_MAX];
    put_text(
        out,
        "free or move the buffers beside the largest free piece: this piece is %s too small",
        format_amount(one, a->item->bytes));
}

static void say_earlier(char *out, const struct advice *a)
{
    char one[AMOUNT_MAX];
    put_text(out,
             "allocate this buffer earlier, before the small buffers that cut the free %s of "
             "each bank into pieces",
             format_field(one, a->view, TTS_FAILMSG_FREE));
}

static void say_move_l1(char *out, const struct advice *a)
{
    if (a->view->msg->family == TTS_FAILMSG_SVC)
        put_text(out,
                 "run the program on cores outside the service cores %s, or free the service "
                 "allocation at address %" PRIu64 " before the program runs",
                 a->view->msg->range, value_of(a, TTS_FAILMSG_ADDRESS));
    else
        put_text(out,
                 "free the L1 buffer at address %" PRIu64
                 " before this program runs, or place it in DRAM, or shard it over other cores",
                 value_of(a, TTS_FAILMSG_ADDRESS));
}

static uint64_t count_tiles(const struct advice *a, uint64_t tile_bytes)
{
    uint64_t missing = a->view->verdict->deficit_bytes;
    return missing / tile_bytes + (missing % tile_bytes > 0);
}

static void say_cb_tiles(char *out, const struct advice *a)
{
    char one[AMOUNT_MAX];
    const char *range = a->view->msg->range;
    if (a->view->msg->family == TTS_FAILMSG_DFBRING)
        put_text(out,
                 "make the ring of dataflow buffer %" PRIu64
                 " smaller by %s: reduce its capacity, stride or entry size (ring = entry size "
                 "x (stride x (capacity - 1) + 1))",
                 value_of(a, TTS_FAILMSG_INDEX),
                 format_amount(one, a->view->verdict->deficit_bytes));
    else
        put_text(out,
                 "make the %s smaller by %s on each core%s%s: %" PRIu64 " bf16 tiles, %" PRIu64
                 " fp32 tiles or %" PRIu64
                 " bfp8 tiles fewer (smaller blocks, fewer pages, or more cores)",
                 buffers_of(a->view), format_amount(one, a->view->verdict->deficit_bytes),
                 range[0] != '\0' ? " of " : "", range, count_tiles(a, 2048),
                 count_tiles(a, 4096), count_tiles(a, 1088));
}

static void say_split(char *out, const struct advice *a)
{
    char one[AMOUNT_MAX], rest[AMOUNT_MAX], other[AMOUNT_MAX], all[AMOUNT_MAX + 16] = "";
    uint64_t need = value_of(a, TTS_FAILMSG_NEED), free_bytes = value_of(a, TTS_FAILMSG_FREE);
    uint64_t largest = value_of(a, TTS_FAILMSG_LARGEST);
    if (!a->view->verdict->is_contradictory && free_bytes > largest)
        snprintf(all, sizeof all, ", %s in all", format_amount(other, free_bytes - largest));
    put_text(out,
             "allocate at least %" PRIu64
             " smaller buffers instead of one: the largest free piece has room for %s of each "
             "bank; that is enough if the other %s fits into the other free pieces%s",
             a->item->count, format_amount(one, largest),
             format_amount(rest, need > largest ? need - largest : 0), all);
}

static void say_dtype(char *out, const struct advice *a)
{
    char then[AMOUNT_MAX], now[AMOUNT_MAX];
    put_text(
        out,
        "%s%s%sstore the buffer as %s instead of %s: it then needs %s of each bank instead "
        "of %s; %s",
        a->item->count > 1 ? "if it is " : "", a->item->count > 1 ? a->item->from_dtype : "",
        a->item->count > 1 ? ", " : "", a->item->dtype, a->item->from_dtype,
        format_amount(then, a->item->bytes), format_field(now, a->view, TTS_FAILMSG_NEED),
        say_enough(a));
}

static void say_to_dram(char *out, const struct advice *a)
{
    (void)a;
    put_text(out, "place the buffer in DRAM instead of L1 (slower, but DRAM is larger)");
}

static void say_more_cores(char *out, const struct advice *a)
{
    put_text(out, "shard the buffer over at least %" PRIu64 " cores instead of %" PRIu64,
             a->item->count, value_of(a, TTS_FAILMSG_BANKS));
}

static void say_half(char *out, const struct advice *a)
{
    char then[AMOUNT_MAX], less[AMOUNT_MAX];
    put_text(out,
             "halve the batch or the sequence: if the buffer halves with it, the buffer needs "
             "about %s of each bank, %s less; %s",
             format_amount(then, a->item->bytes), format_amount(less, a->item->saves_bytes),
             say_enough(a));
}

static void say_ring(char *out, const struct advice *a)
{
    char one[AMOUNT_MAX];
    put_text(out,
             "make the kernels %s smaller (fewer kernels, arguments or semaphores in one "
             "program), or enlarge the ring: lower worker_l1_size by at least %" PRIu64
             " B when you open the device",
             format_amount(one, a->item->bytes), a->item->bytes);
}

static void say_device(char *out, const struct advice *a)
{
    char has[AMOUNT_MAX], needs[AMOUNT_MAX];
    put_text(out,
             "use a device with more DRAM: %s has %s, and this run needs %s (the allocated "
             "bytes and this buffer)",
             a->item->preset->name, format_amount(has, a->item->bytes),
             format_amount(needs,
                           value_of(a, TTS_FAILMSG_BANKS) * value_of(a, TTS_FAILMSG_ALLOCATED) +
                               value_of(a, TTS_FAILMSG_REQUESTED)));
}

static void say_chips(char *out, const struct advice *a)
{
    char each[AMOUNT_MAX], bank[AMOUNT_MAX];
    put_text(out,
             "split the buffer over %" PRIu64
             " chips: each chip then needs about %s of each bank, and an empty bank has %s",
             a->item->count,
             format_amount(each, value_of(a, TTS_FAILMSG_NEED) / a->item->count),
             format_field(bank, a->view, TTS_FAILMSG_BANK));
}

static void say_rule(char *out, const struct advice *a)
{
    static const char *const rules[TTS_FAILMSG_FAMILIES] = {
        [TTS_FAILMSG_CBSIZE] =
            "make the total size of the circular buffer a multiple of its page size",
        [TTS_FAILMSG_CBINDEX] = "use a smaller index for the circular buffer",
        [TTS_FAILMSG_CBSLOTS] = "use fewer circular buffers on a core, or let several indices "
                                "share one circular buffer",
        [TTS_FAILMSG_CBTWICE] = "use each index of a circular buffer once on a core",
        [TTS_FAILMSG_CBPAGES] = "use larger pages or a smaller circular buffer: the hardware "
                                "counts at most 65535 pages",
        [TTS_FAILMSG_CBFORMAT] =
            "set both the data format and the page size of the circular buffer",
        [TTS_FAILMSG_CBGLOBAL] =
            "make the circular buffer at most as large as the L1 buffer that it lies on",
        [TTS_FAILMSG_CBGRID] =
            "use only cores of the compute grid; 'ttscope devices NAME' prints the grid",
    };
    const char *rule = rules[a->view->msg->family];
    put_text(out, "%s", rule ? rule : "change the dataflow buffer as the message says");
}

typedef void say_advice_kind(char *out, const struct advice *a);

static say_advice_kind *const advice_writers[] = {
    [TTS_FAILADVICE_DECIDE] = say_decide,
    [TTS_FAILADVICE_OTHERS] = say_others,
    [TTS_FAILADVICE_L1_SMALL] = say_l1_small,
    [TTS_FAILADVICE_TRACE_SIZE] = say_trace_size,
    [TTS_FAILADVICE_TRACE_DRAM] = say_trace_dram,
    [TTS_FAILADVICE_TRACE_ORDER] = say_trace_order,
    [TTS_FAILADVICE_TRACE_RELEASE] = say_trace_release,
    [TTS_FAILADVICE_TRACE_TRACKER] = say_trace_tracker,
    [TTS_FAILADVICE_TRACE_FREE] = say_trace_free,
    [TTS_FAILADVICE_FREE] = say_free,
    [TTS_FAILADVICE_HOLDER] = say_holder,
    [TTS_FAILADVICE_HOLDER_OP] = say_holder_op,
    [TTS_FAILADVICE_HOLDER_LOWEST] = say_holder_lowest,
    [TTS_FAILADVICE_NEIGHBOUR] = say_neighbour,
    [TTS_FAILADVICE_EARLIER] = say_earlier,
    [TTS_FAILADVICE_MOVE_L1] = say_move_l1,
    [TTS_FAILADVICE_CB_TILES] = say_cb_tiles,
    [TTS_FAILADVICE_SPLIT] = say_split,
    [TTS_FAILADVICE_DTYPE] = say_dtype,
    [TTS_FAILADVICE_TO_DRAM] = say_to_dram,
    [TTS_FAILADVICE_MORE_CORES] = say_more_cores,
    [TTS_FAILADVICE_HALF] = say_half,
    [TTS_FAILADVICE_RING] = say_ring,
    [TTS_FAILADVICE_DEVICE] = say_device,
    [TTS_FAILADVICE_CHIPS] = say_chips,
    [TTS_FAILADVICE_RULE] = say_rule,
};

/* Writes the command that lists the buffers in memory, so that the user sees which to free.
 * Returns NULL if a file would not help, if one was given already, or if the text is no file.
 */
static const char *put_with_command(char out[TTS_FAILVIEW_COMMAND_MAX],
                                    const struct tts_failview *view)
{
    char option[40] = "";
    if (view->holders || !view->path || !tts_failview_path_is_plain(view->path) ||
        !tts_failholders_fits(view->msg))
        return NULL;
    if (!view->is_first)
        snprintf(option, sizeof option, " --line %" PRIu64, view->msg->line);
    int need = snprintf(out, TTS_FAILVIEW_COMMAND_MAX, "ttscope explain %s%s --with RECORDING",
                        view->path, option);
    return need < TTS_FAILVIEW_COMMAND_MAX ? out : NULL;
}

/* Returns whether the advice is to free buffers that the message does not name. */
static bool is_about_buffers(enum tts_failadvice_kind kind)
{
    return kind == TTS_FAILADVICE_FREE || kind == TTS_FAILADVICE_NEIGHBOUR ||
           kind == TTS_FAILADVICE_MOVE_L1;
}

const char *tts_failview_advice_text(char out[TTS_FAILVIEW_LINE_MAX],
                                     const struct tts_failview *view, size_t idx)
{
    struct advice advice = {view, &view->advice->items[idx]};
    char command[TTS_FAILVIEW_COMMAND_MAX];
    advice_writers[advice.item->kind](out, &advice);
    size_t len = strlen(out);
    if (is_about_buffers(advice.item->kind) && put_with_command(command, view))
        snprintf(out + len, TTS_FAILVIEW_LINE_MAX - len,
                 "; a recording or a graph trace of the run names the buffers");
    return out;
}

/* Returns the preset whose architecture the message names, for commands that need a device. */
static const char *device_of(const struct tts_failview *view)
{
    bool is_blackhole = view->verdict->has_arch && view->verdict->arch == TTS_ARCH_BLACKHOLE;
    return is_blackhole ? "p150" : "n150";
}

const char *tts_failview_advice_command(char out[TTS_FAILVIEW_COMMAND_MAX],
                                        const struct tts_failview *view, size_t idx)
{
    const struct tts_failadvice_item *item = &view->advice->items[idx];
    if (is_about_buffers(item->kind))
        return put_with_command(out, view);
    if (item->kind == TTS_FAILADVICE_DEVICE)
        snprintf(out, TTS_FAILVIEW_COMMAND_MAX, "ttscope devices %s", item->preset->name);
    else if (item->kind == TTS_FAILADVICE_L1_SMALL)
        snprintf(out, TTS_FAILVIEW_COMMAND_MAX,
                 "ttscope devices %s --set l1_small=%" PRIu64 " --layout", device_of(view),
                 item->bytes);
    else if (item->kind == TTS_FAILADVICE_TRACE_SIZE && item->bytes > 0)
        snprintf(out, TTS_FAILVIEW_COMMAND_MAX,
                 "ttscope devices %s --set trace_region=%" PRIu64, device_of(view),
                 item->bytes);
    else
        return NULL;
    return out;
}
