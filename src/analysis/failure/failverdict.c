#include "analysis/failure/failverdict.h"

#include "base/compiler.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

const char *tts_failcause_name(enum tts_failcause cause)
{
    static const char *const names[] = {
        [TTS_FAILCAUSE_UNKNOWN] = NULL,
        [TTS_FAILCAUSE_NEVER_FITS] = "never_fits",
        [TTS_FAILCAUSE_CAPACITY] = "capacity",
        [TTS_FAILCAUSE_FRAGMENTATION] = "fragmentation",
        [TTS_FAILCAUSE_CLASH] = "clash",
        [TTS_FAILCAUSE_BEYOND_L1] = "beyond_l1",
        [TTS_FAILCAUSE_BELOW_LIMIT] = "below_limit",
        [TTS_FAILCAUSE_TRACE_REGION] = "trace_region",
        [TTS_FAILCAUSE_TRACE_OVERLAP] = "trace_overlap",
        [TTS_FAILCAUSE_CONFIG_RING] = "config_ring",
        [TTS_FAILCAUSE_OTHER] = "other",
    };
    return names[cause];
}

static bool has(const struct tts_failmsg *msg, enum tts_failmsg_field field)
{
    return tts_failmsg_has(msg, field);
}

TTS_PRINTF(2, 3)
static void set_reason(struct tts_failverdict *v, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->reason, sizeof v->reason, format, args);
    va_end(args);
}

static void drop_deficit(struct tts_failverdict *v)
{
    v->has_deficit = false;
    v->deficit_bytes = 0;
}

static void set_cause(struct tts_failverdict *v, enum tts_failcause cause)
{
    v->cause = cause;
    v->reason[0] = '\0';
}

/* The cause is known. The deficit is `value` - `bound`. */
static void set_cause_of(struct tts_failverdict *v, enum tts_failcause cause, uint64_t value,
                         uint64_t bound)
{
    set_cause(v, cause);
    v->has_deficit = value > bound;
    v->deficit_bytes = value > bound ? value - bound : 0;
}

/* ---- out of memory ---- */

static const char decides_oom[] =
    "run with tt-metal of 2026-01 or later, whose message ends in '(allocated: ..., free: ..., "
    "largest free block: ...)', or record the run: 'ttscope show RECORDING' prints these "
    "figures";
static const char decides_others[] =
    "run once without TT_METAL_ALLOCATOR_MODE_HYBRID=1; if the buffer then fits, per-core "
    "buffers occupied the addresses";
static const char decides_figures[] =
    "record the run: 'ttscope show RECORDING' prints the live buffers when the request fails";

static const char decides_original[] = "give the message exactly as the program printed it: in "
                                       "this copy a number was changed or lost";

/* The two ways to read a figure of a bank: as given, or from the other two. They are equal
 * unless the message contradicts itself. */
struct both {
    uint64_t low, high;
};

static struct both make_both(uint64_t given, uint64_t derived)
{
    return given < derived ? (struct both){given, derived} : (struct both){derived, given};
}

/* Checks the figures of a bank. Sets the reason if they contradict each other. */
static void check_bank_figures(const struct tts_failmsg *msg, struct tts_failverdict *v)
{
    const uint64_t *value = msg->value;
    uint64_t sum;
    bool is_over =
        __builtin_add_overflow(value[TTS_FAILMSG_ALLOCATED], value[TTS_FAILMSG_FREE], &sum);
    if (is_over || sum != value[TTS_FAILMSG_BANK]) {
        v->is_contradictory = true;
        set_reason(v,
                   "the figures contradict each other: allocated %" PRIu64 " B + free %" PRIu64
                   " B is not the bank size, %" PRIu64 " B",
                   value[TTS_FAILMSG_ALLOCATED], value[TTS_FAILMSG_FREE],
                   value[TTS_FAILMSG_BANK]);
    } else if (value[TTS_FAILMSG_LARGEST] > value[TTS_FAILMSG_FREE]) {
        v->is_contradictory = true;
        set_reason(v,
                   "the figures contradict each other: the largest free block, %" PRIu64
                   " B, is larger than all free bytes, %" PRIu64 " B",
                   value[TTS_FAILMSG_LARGEST], value[TTS_FAILMSG_FREE]);
    }
}

/* The largest free block is large enough. */
static void judge_large_block(const struct tts_failmsg *msg, struct tts_failverdict *v)
{
    bool is_beside = msg->family == TTS_FAILMSG_D2;
    v->decides = is_beside ? decides_others : decides_figures;
    set_reason(v, "%s",
               is_beside ? "this allocator has a free block that is large enough, but buffers "
                           "of other allocators (per-core buffers in HYBRID mode) occupy the "
                           "addresses of this block; the log does not list these buffers"
                         : "the figures do not explain the failure: the largest free block is "
                           "large enough");
}

/* All figures of a bank are known. A contradiction leaves a cause only if it holds for both
 * ways to read the figures. */
static void judge_bank(const struct tts_failmsg *msg, struct tts_failverdict *v)
{
    const uint64_t *value = msg->value;
    uint64_t need = value[TTS_FAILMSG_NEED], largest = value[TTS_FAILMSG_LARGEST], sum;
    if (__builtin_add_overflow(value[TTS_FAILMSG_ALLOCATED], value[TTS_FAILMSG_FREE], &sum))
        sum = UINT64_MAX;
    uint64_t left = value[TTS_FAILMSG_BANK] > value[TTS_FAILMSG_ALLOCATED]
                        ? value[TTS_FAILMSG_BANK] - value[TTS_FAILMSG_ALLOCATED]
                        : 0;
    struct both bank = make_both(value[TTS_FAILMSG_BANK], sum);
    struct both rest = make_both(value[TTS_FAILMSG_FREE], left);
    char contradiction[TTS_FAILREASON_MAX];
    check_bank_figures(msg, v);
    memcpy(contradiction, v->reason, sizeof contradiction);
    if (need > bank.high)
        set_cause_of(v, TTS_FAILCAUSE_NEVER_FITS, need, value[TTS_FAILMSG_BANK]);
    else if (need > rest.high && need <= bank.low)
        set_cause_of(v, TTS_FAILCAUSE_CAPACITY, need, value[TTS_FAILMSG_FREE]);
    else if (need > largest && need <= rest.low)
        set_cause_of(v, TTS_FAILCAUSE_FRAGMENTATION, need, largest);
    else if (v->is_contradictory)
        v->decides = decides_original;
    else
        judge_large_block(msg, v);
    if (v->is_contradictory) {
        memcpy(v->reason, contradiction, sizeof contradiction);
        drop_deficit(v);
    }
}

static void judge_space(const struct tts_failmsg *msg, struct tts_failverdict *v)
{
    bool has_need = has(msg, TTS_FAILMSG_NEED), has_bank = has(msg, TTS_FAILMSG_BANK);
    v->scope = TTS_FAILSCOPE_BANK;
    if (has_need && has_bank && has(msg, TTS_FAILMSG_ALLOCATED) && has(msg, TTS_FAILMSG_FREE) &&
        has(msg, TTS_FAILMSG_LARGEST)) {
        judge_bank(msg, v);
        return;
    }
    v->decides = decides_oom;
    if (has_need && has_bank && msg->value[TTS_FAILMSG_NEED] > msg->value[TTS_FAILMSG_BANK])
        set_cause_of(v, TTS_FAILCAUSE_NEVER_FITS, msg->value[TTS_FAILMSG_NEED],
                     msg->value[TTS_FAILMSG_BANK]);
    else if (msg->is_cut)
        set_reason(v, "the message is cut off before %s",
                   has_need ? "the free bytes and the largest free block"
                            : "the bytes that each bank needs");
    else
        set_reason(v, "%s not in the message",
                   has_bank ? "free bytes and the largest free block are"
                            : "bank size, free bytes and the largest free block are");
}

/* Returns the number of L1 or DRAM banks of a preset; 0: unknown. */
static uint32_t count_banks(const struct tts_preset *preset, enum tts_pool pool)
{
    struct tts_chip chip;
    struct tts_pool_layout layout;
    struct tts_error err;
    if (tts_chip_preset(preset->name, &chip, &err) != TTS_OK ||
        tts_chip_pool(&chip, pool, &layout, &err) != TTS_OK)
        return 0;
    return layout.banks;
}

/* A buffer over fewer banks than the pool has is sharded. If the number is that of a whole
 * pool, the buffer may be either. */
static bool is_buffer_sharded(const struct tts_failmsg *msg)
{
    const struct tts_preset *preset;
    enum tts_pool pool = msg->pool == TTS_POOL_DRAM ? TTS_POOL_DRAM : TTS_POOL_L1;
    if (msg->pool == TTS_POOL_L1_SMALL)
        return true; /* only sharded buffers may be in L1_SMALL */
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        if (count_banks(preset, pool) == msg->value[TTS_FAILMSG_BANKS])
            return false;
    }
    return pool == TTS_POOL_L1;
}

uint64_t tts_failverdict_need(uint64_t size, uint64_t page, uint64_t banks, uint64_t align)
{
    assert(page > 0 && banks > 0 && align > 0);
    uint64_t pages = size / page + (size % page > 0), need;
    uint64_t in_bank = pages / banks + (pages % banks > 0);
    uint64_t aligned = (page + align - 1) / align * align;
    return __builtin_mul_overflow(in_bank, aligned, &need) ? UINT64_MAX : need;
}

static void try_pages(const struct tts_failmsg *msg, struct tts_failverdict *v,
                      const struct tts_failpage *pages, size_t count)
{
    uint64_t size = msg->value[TTS_FAILMSG_REQUESTED], banks = msg->value[TTS_FAILMSG_BANKS];
    uint64_t need = msg->value[TTS_FAILMSG_NEED];
    for (size_t i = 0; i < count; i++) {
        if (size % pages[i].bytes == 0 &&
            tts_failverdict_need(size, pages[i].bytes, banks, 32) == need)
            v->pages[v->page_count++] = pages[i];
    }
}

/* Finds the tiles that explain the bytes of a bank. Rare types count only if no common type
 * does. Tiles are multiples of every alignment. */
static void find_pages(const struct tts_failmsg *msg, struct tts_failverdict *v)
{
    static const struct tts_failpage common[] = {
        {4096, "fp32"}, {2048, "bf16"}, {1088, "bfp8"}, {576, "bfp4"}};
    static const struct tts_failpage rare[] = {{1024, "uint8"}, {320, "bfp2"}};
    static_assert(COUNT_OF(common) + COUNT_OF(rare) <= TTS_FAILPAGES_MAX, "there is room");
    if (!has(msg, TTS_FAILMSG_REQUESTED) || !has(msg, TTS_FAILMSG_NEED) ||
        !has(msg, TTS_FAILMSG_BANKS) || msg->value[TTS_FAILMSG_BANKS] == 0 ||
        msg->value[TTS_FAILMSG_REQUESTED] == 0)
        return;
    try_pages(msg, v, common, COUNT_OF(common));
    if (v->page_count == 0)
        try_pages(msg, v, rare, COUNT_OF(rare));
}

/* ---- circular buffers ---- */

/* Finds the architecture that has so much L1. Blackhole had the L1 size of Wormhole until April
 * 2025; such a message is read as Wormhole. */
static void find_arch(struct tts_failverdict *v, uint64_t l1_bytes)
{
    static const struct {
        uint64_t bytes;
        enum tts_arch arch;
    } sizes[] = {{1048576, TTS_ARCH_GRAYSKULL},
                 {1499136, TTS_ARCH_WORMHOLE},
                 {1572864, TTS_ARCH_BLACKHOLE},
                 {4194304, TTS_ARCH_QUASAR}};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        if (sizes[i].bytes == l1_bytes) {
            v->has_arch = true;
            v->arch = sizes[i].arch;
        }
    }
}

/* Returns the largest column in the text of a core range: "[(x=0,y=0) - (x=10,y=9)]" or
 * "[0-0 - 10-9]". A column is a number before "-" or ",". */
static unsigned last_column(const char *range)
{
    unsigned last = 0, value = 0;
    for (; *range != '\0'; range++) {
        bool is_digit = *range >= '0' && *range <= '9';
        if (is_digit && value < 1000)
            value = value * 10 + (unsigned)(*range - '0');
        else if (!is_digit && (*range == '-' || *range == ',') && value > last)
            last = value;
        if (!is_digit)
            value = 0;
    }
    return last;
}

/* Wormhole has eight columns of cores and less L1 than Blackhole. */
static void find_clash_arch(const struct tts_failmsg *msg, struct tts_failverdict *v)
{
    enum { WORMHOLE_COLUMNS = 8, WORMHOLE_L1 = 1499136 };
    bool is_dfb = msg->family == TTS_FAILMSG_DFB;
    if (!is_dfb && (last_column(msg->range) >= WORMHOLE_COLUMNS ||
                    msg->value[TTS_FAILMSG_ADDRESS] > WORMHOLE_L1)) {
        v->has_arch = true;
        v->arch = TTS_ARCH_BLACKHOLE;
    }
}

static void add_bases(struct tts_failverdict *v, enum tts_arch arch, uint64_t end)
{
    enum { OLD_BLACKHOLE = 98304 }; /* lower bases are from the time of 1499136 bytes of L1 */
    struct tts_l1_base found[TTS_FAILBASES_MAX * 2];
    size_t count = tts_l1_base_decode(arch, end, found, COUNT_OF(found));
    for (size_t i = 0; i < count && i < COUNT_OF(found); i++) {
        if (arch == TTS_ARCH_BLACKHOLE && v->has_arch && found[i].base < OLD_BLACKHOLE)
            continue;
        if (v->base_count == TTS_FAILBASES_MAX)
            break;
        size_t at = v->base_count++;
        for (; at > 0 && v->bases[at - 1].tile_bytes < found[i].tile_bytes; at--)
            v->bases[at] = v->bases[at - 1];
        v->bases[at] = found[i];
    }
}

/* Finds the base of the circular buffers. The log may state it. Otherwise one base must give
 * whole tiles of 2048 or 4096 bytes, and no other base tiles of that size. */
static void find_base(const struct tts_failmsg *msg, struct tts_failverdict *v)
{
    enum { SURE_TILE = 2048 };
    uint64_t end = msg->value[TTS_FAILMSG_END];
    if (!has(msg, TTS_FAILMSG_END))
        return;
    if (v->has_arch) {
        add_bases(v, v->arch, end);
    } else {
        add_bases(v, TTS_ARCH_WORMHOLE, end);
        add_bases(v, TTS_ARCH_BLACKHOLE, end);
        if (msg->family == TTS_FAILMSG_DFB)
            add_bases(v, TTS_ARCH_QUASAR, end);
    }
    if (msg->l1_base > 0 && msg->l1_base < end) {
        v->has_base = true;
        v->l1_base = msg->l1_base;
    } else if (v->base_count > 0 && v->bases[0].tile_bytes >= SURE_TILE &&
               (v->base_count == 1 || v->bases[1].tile_bytes < v->bases[0].tile_bytes)) {
        v->has_base = true;
        v->l1_base = v->bases[0].base;
    }
    if (v->has_base && !v->has_arch && v->base_count > 0 && v->bases[0].base == v->l1_base) {
        v->has_arch = true;
        v->arch = v->bases[0].arch;
    }
}

/* Judges a message of the form "`value` is more than `bound`". */
static void judge_excess(const struct tts_failmsg *msg, struct tts_failverdict *v,
                         enum tts_failcause cause, enum tts_failmsg_field value,
                         enum tts_failmsg_field bound)
{
    set_cause(v, cause);
    v->scope = TTS_FAILSCOPE_CORE;
    if (!has(msg, value) || !has(msg, bound)) {
        set_reason(v, "the message is cut off: the missing bytes are unknown");
        return;
    }
    set_cause_of(v, cause, msg->value[value], msg->value[bound]);
    if (!v->has_deficit) {
        v->is_contradictory = true;
        set_cause(v, TTS_FAILCAUSE_UNKNOWN);
        v->decides = decides_original;
        set_reason(v,
                   "the figures contradict each other: %" PRIu64
                   " does not exceed the limit of %" PRIu64,
                   msg->value[value], msg->value[bound]);
    }
}

/* ---- traces ---- */

static void judge_overlap(const struct tts_failmsg *msg, struct tts_failverdict *v)
{
    static const enum tts_failmsg_field marks[] = {TTS_FAILMSG_ALLOC_END, TTS_FAILMSG_FREE_END,
                                                   TTS_FAILMSG_LIVE_END};
    uint64_t highest = 0;
    bool has_mark = false;
    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        has_mark = has_mark || has(msg, marks[i]);
        highest = msg->value[marks[i]] > highest ? msg->value[marks[i]] : highest;
    }
    set_cause(v, TTS_FAILCAUSE_TRACE_OVERLAP);
    if (!has_mark || !has(msg, TTS_FAILMSG_ADDRESS))
        set_reason(v, "the failure message is cut off: the size of the overlap is unknown");
    else
        set_cause_of(v, TTS_FAILCAUSE_TRACE_OVERLAP, highest, msg->value[TTS_FAILMSG_ADDRESS]);
}

/* ---- all families ---- */

static void judge_message(const struct tts_failmsg *msg, struct tts_failverdict *v)
{
    switch (msg->family) {
    case TTS_FAILMSG_V1:
    case TTS_FAILMSG_V2:
    case TTS_FAILMSG_V3:
    case TTS_FAILMSG_D1:
    case TTS_FAILMSG_D2:
        judge_space(msg, v);
        v->is_sharded = has(msg, TTS_FAILMSG_BANKS) && is_buffer_sharded(msg);
        find_pages(msg, v);
        break;
    case TTS_FAILMSG_ADDR:
        judge_excess(msg, v, TTS_FAILCAUSE_BELOW_LIMIT, TTS_FAILMSG_LIMIT, TTS_FAILMSG_ADDRESS);
        if (!msg->is_cut && !has(msg, TTS_FAILMSG_ADDRESS))
            set_reason(v, "the address of the buffer is not in the message");
        break;
    case TTS_FAILMSG_CB:
    case TTS_FAILMSG_DFB:
    case TTS_FAILMSG_SVC:
        judge_excess(msg, v, TTS_FAILCAUSE_CLASH, TTS_FAILMSG_END, TTS_FAILMSG_ADDRESS);
        find_clash_arch(msg, v);
        find_base(msg, v);
        break;
    case TTS_FAILMSG_CBMAX:
    case TTS_FAILMSG_DFBMAX:
        judge_excess(msg, v, TTS_FAILCAUSE_BEYOND_L1, TTS_FAILMSG_END, TTS_FAILMSG_LIMIT);
        find_arch(v, msg->value[TTS_FAILMSG_LIMIT]);
        find_base(msg, v);
        break;
    case TTS_FAILMSG_DFBRING:
        judge_excess(msg, v, TTS_FAILCAUSE_BEYOND_L1, TTS_FAILMSG_SIZE, TTS_FAILMSG_LIMIT);
        v->has_arch = true;
        v->arch = TTS_ARCH_QUASAR;
        break;
    case TTS_FAILMSG_RING:
        judge_excess(msg, v, TTS_FAILCAUSE_CONFIG_RING, TTS_FAILMSG_SIZE, TTS_FAILMSG_LIMIT);
        break;
    case TTS_FAILMSG_TRACE:
        judge_excess(msg, v, TTS_FAILCAUSE_TRACE_REGION, TTS_FAILMSG_REQUESTED,
                     TTS_FAILMSG_LIMIT);
        v->scope = TTS_FAILSCOPE_CHIP;
        break;
    case TTS_FAILMSG_TOVER_BOTH:
    case TTS_FAILMSG_TOVER_FREED:
    case TTS_FAILMSG_TOVER_ALLOCATED:
    case TTS_FAILMSG_TOVER_LIVE:
        judge_overlap(msg, v);
        break;
    case TTS_FAILMSG_TRACKER:
        set_cause(v, TTS_FAILCAUSE_TRACE_OVERLAP);
        break;
    case TTS_FAILMSG_UNSAFE:
        v->is_warning = true;
        set_reason(v, "nothing has failed yet: the warning names neither a buffer nor an "
                      "overlap");
        v->decides =
            "run with TT_METAL_TRACE_ALLOC_TRACKING=1: the runtime then names the buffers";
        break;
    case TTS_FAILMSG_CBSIZE:
    case TTS_FAILMSG_CBINDEX:
    case TTS_FAILMSG_CBSLOTS:
    case TTS_FAILMSG_CBTWICE:
    case TTS_FAILMSG_CBPAGES:
    case TTS_FAILMSG_CBFORMAT:
    case TTS_FAILMSG_CBGLOBAL:
    case TTS_FAILMSG_CBGRID:
    case TTS_FAILMSG_DFBRULE:
    case TTS_FAILMSG_FAMILIES:
        set_cause(v, TTS_FAILCAUSE_OTHER);
        break;
    }
}

void tts_failverdict_make(const struct tts_failmsg *msg, struct tts_failverdict *out)
{
    *out = (struct tts_failverdict){0};
    judge_message(msg, out);
    if (msg->too_large != 0) {
        set_cause(out, TTS_FAILCAUSE_UNKNOWN);
        set_reason(out, "the message has a number that does not fit in 64 bits");
        drop_deficit(out);
        out->decides = decides_original;
    }
}
