#include "sources/runtimelog/oplog.h"

#include "base/error.h"
#include "base/heap.h"
#include "sources/log/logkey.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    PREFIXES = 64,    /* prefixes that are recognised without a look at their fields */
    PREFIX_MAX = 192, /* bytes of such a prefix */
    HEAD_MAX = 512,   /* bytes of a line in which its prefix is searched */
    VIEW_MAX = 320,   /* bytes of a memory view that is recognised by comparison */
};

/* ---- messages ---- */

static const struct message_row {
    const char *begin;
    enum tts_oprecord_kind kind;
} message_rows[] = {
    {"Executing operation: ", TTS_OPRECORD_OP},
    {"Device memory state before operation ", TTS_OPRECORD_BLOCK},
    {"Device memory state before submit", TTS_OPRECORD_SUBMIT},
    {"Device memory state after submit", TTS_OPRECORD_SUBMIT},
    {"Starting execution of program: ", TTS_OPRECORD_PROGRAM_BEGIN},
    {"Finished execution of program: ", TTS_OPRECORD_PROGRAM_END},
    {"Running LoadCachedOp for function ", TTS_OPRECORD_CACHE_LOOKUP},
    {"Cache hit for function: ", TTS_OPRECORD_CACHE_HIT},
    {"Cache miss or invalid cache for function: ", TTS_OPRECORD_CACHE_MISS},
    {"executed sub-func: ", TTS_OPRECORD_CACHE_DONE},
    {"Tensor is retained thus not deallocating", TTS_OPRECORD_RETAINED},
    {"Trace cache miss", TTS_OPRECORD_TRACE_CAPTURE},
    {"Trace cache hit", TTS_OPRECORD_TRACE_REPLAY},
    {"Trace is stale", TTS_OPRECORD_TRACE_STALE},
    {"Device grid size = ", TTS_OPRECORD_GRID},
};

static const struct {
    const char *begin;
    enum tts_pool pool;
} view_rows[] = {
    {"Device DRAM memory state: ", TTS_POOL_DRAM},
    {"Device L1 memory state: ", TTS_POOL_L1},
    {"Device L1_SMALL memory state: ", TTS_POOL_L1_SMALL},
    {"Device L1 SMALL memory state: ", TTS_POOL_L1_SMALL},
    {"Device TRACE memory state: ", TTS_POOL_TRACE},
};

enum { NO_MESSAGE = -1, VIEW_MESSAGE = 100 }; /* VIEW_MESSAGE + pool: a memory view */

/* Returns what the message is: a kind of record, VIEW_MESSAGE + pool, or NO_MESSAGE. Sets *text
 * to what follows the words of the message. */
static int match_message(struct tts_span message, struct tts_span *text)
{
    if (message.len < 12 || !strchr("EDSFRCeT", message.at[0]))
        return NO_MESSAGE;
    if (tts_span_begins(message, "Device ")) {
        for (size_t i = 0; i < sizeof view_rows / sizeof view_rows[0]; i++)
            if (tts_span_begins(message, view_rows[i].begin)) {
                size_t len = strlen(view_rows[i].begin);
                *text = (struct tts_span){message.at + len, message.len - len};
                return VIEW_MESSAGE + (int)view_rows[i].pool;
            }
    }
    for (size_t i = 0; i < sizeof message_rows / sizeof message_rows[0]; i++)
        if (tts_span_begins(message, message_rows[i].begin)) {
            size_t len = strlen(message_rows[i].begin);
            *text = tts_span_trim((struct tts_span){message.at + len, message.len - len});
            return (int)message_rows[i].kind;
        }
    return NO_MESSAGE;
}

/* ---- memory views ---- */

/* Reads "1021.169 MB" after `label` and removes it. *bytes is the nearest number of bytes. */
static bool take_megabytes(struct tts_span *text, const char *label, uint64_t *bytes)
{
    const char *at = tts_span_find(*text, label);
    uint64_t whole = 0, part = 0, scale = 1;
    if (!at)
        return false;
    const char *begin = at + strlen(label), *end = text->at + text->len, *p = begin;
    for (; p < end && tts_is_digit(*p) && whole < UINT64_C(1) << 36; p++)
        whole = whole * 10 + (uint64_t)(*p - '0');
    if (p == begin)
        return false;
    if (p < end && *p == '.')
        for (p++; p < end && tts_is_digit(*p); p++)
            if (scale < 1000000) {
                part = part * 10 + (uint64_t)(*p - '0');
                scale *= 10;
            }
    struct tts_span rest = {p, (size_t)(end - p)};
    if (!tts_span_begins(rest, " MB") || whole >= UINT64_C(1) << 36)
        return false;
    *bytes = (whole << 20) + ((part << 20) + scale / 2) / scale;
    *text = (struct tts_span){rest.at + 3, rest.len - 3};
    return true;
}

static bool read_view(struct tts_span text, struct tts_opview *out)
{
    static const char banks_label[] = "MemoryView{numBanks: ";
    struct tts_opview view = {0};
    size_t at = sizeof banks_label - 1;
    if (!tts_span_begins(text, banks_label))
        return false;
    for (; at < text.len && tts_is_digit(text.at[at]) && view.banks < 1000000; at++)
        view.banks = view.banks * 10 + (uint64_t)(text.at[at] - '0');
    text = (struct tts_span){text.at + at, text.len - at};
    if (!take_megabytes(&text, ", totalBytesPerBank: ", &view.total_bytes) ||
        !take_megabytes(&text, ", totalBytesAllocatedPerBank: ", &view.allocated_bytes) ||
        !take_megabytes(&text, ", totalBytesFreePerBank: ", &view.free_bytes) ||
        !take_megabytes(&text, ", largestContiguousBytesFreePerBank: ", &view.largest_bytes))
        return false;
    *out = view;
    return true;
}

/* ---- ranks ---- */

/* A memory view that a rank stated last. Most views are the same as the one before. */
struct last_view {
    size_t len;
    char text[VIEW_MAX];
    struct tts_opview view;
};

struct oplog_rank {
    char name[TTS_OPRANK_MAX];
    bool has_block; /* a block has begun and is not returned yet */
    struct tts_oprecord block;
    char block_type[64];
    struct last_view views[TTS_POOLS];
};

struct oplog_prefix {
    size_t len;
    char text[PREFIX_MAX];
    uint32_t rank;
};

struct tts_oplog {
    const struct tts_alloc *alloc;
    struct tts_logtext text;
    struct oplog_rank *ranks[TTS_OPLOG_RANKS];
    uint32_t rank_count;
    struct oplog_prefix prefixes[PREFIXES];
    uint32_t prefix_count, prefix_next; /* number of prefixes; the one to replace next */
    uint32_t prefix_last;               /* the prefix of the last line */
    struct tts_oprecord next;           /* a record that a finished block delays */
    bool has_next;
    uint32_t end_rank; /* at the end: the next rank whose block is returned */
    bool in_module;
    uint32_t module_rank;
    struct tts_oplog_facts facts;
    struct tts_logkey key;
    char head[HEAD_MAX];             /* the beginning of a line without escape sequences */
    uint16_t head_raw[HEAD_MAX + 1]; /* the offset in the line of each byte of `head` */
    char clean[TTS_OPLINE_MAX];      /* a message without escape sequences */
};

enum tts_status tts_oplog_open(struct tts_input *in, const struct tts_alloc *alloc,
                               struct tts_oplog **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_oplog *log = alloc->alloc(alloc->ctx, sizeof *log);
    if (!log)
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM, "cannot read '%s'",
                                   tts_input_path(in));
    memset(log, 0, offsetof(struct tts_oplog, key));
    log->alloc = alloc;
    enum tts_status status = tts_logtext_open_long(&log->text, in, TTS_OPLINE_MAX, alloc, err);
    if (status != TTS_OK) {
        alloc->free(alloc->ctx, log, sizeof *log);
        return status;
    }
    *out = log;
    return TTS_OK;
}

void tts_oplog_close(struct tts_oplog *log)
{
    if (!log)
        return;
    for (uint32_t i = 0; i < log->rank_count; i++)
        log->alloc->free(log->alloc->ctx, log->ranks[i], sizeof *log->ranks[i]);
    tts_logtext_close(&log->text);
    log->alloc->free(log->alloc->ctx, log, sizeof *log);
}

/* Returns the place of the rank with this name, and adds it if it is new. Returns
 * TTS_OPLOG_RANKS if there are too many ranks, or no memory for one. */
static uint32_t find_oplog_rank(struct tts_oplog *log, const char *name)
{
    uint32_t rank = 0;
    while (rank < log->rank_count && strcmp(log->ranks[rank]->name, name) != 0)
        rank++;
    if (rank < log->rank_count || rank == TTS_OPLOG_RANKS)
        return rank;
    struct oplog_rank *fresh = log->alloc->alloc(log->alloc->ctx, sizeof *fresh);
    if (!fresh)
        return TTS_OPLOG_RANKS;
    memset(fresh, 0, sizeof *fresh);
    memcpy(fresh->name, name, strlen(name) + 1);
    log->ranks[log->rank_count++] = fresh;
    return rank;
}

/* ---- prefixes ---- */

/* Copies the beginning of a line to log->head without escape sequences. */
static struct tts_span clean_line_head(struct tts_oplog *log, struct tts_span raw)
{
    size_t len = 0, at = 0;
    while (at < raw.len && len < HEAD_MAX && at < UINT16_MAX - 256) {
        if (raw.at[at] == 0x1b) {
            at += tts_logline_escape_len((struct tts_span){raw.at + at, raw.len - at});
            continue;
        }
        log->head_raw[len] = (uint16_t)at;
        log->head[len++] = raw.at[at++];
    }
    log->head_raw[len] = (uint16_t)at;
    return (struct tts_span){log->head, len};
}

/* Returns the offset of the message in the head of a line, or `head.len` if there is none. */
static size_t find_head_message(struct tts_span head)
{
    struct tts_span prefix, rank, rest, text;
    if (match_message(head, &text) != NO_MESSAGE)
        return 0;
    tts_logkey_split(head, &prefix, &rank, &rest);
    if (match_message(tts_span_trim(rest), &text) != NO_MESSAGE)
        return (size_t)(tts_span_trim(rest).at - head.at);
    for (size_t at = 0; at + 2 < head.len; at++) {
        struct tts_span message = {head.at + at + 2, head.len - at - 2};
        if (head.at[at] == '|' && head.at[at + 1] == ' ' &&
            match_message(message, &text) != NO_MESSAGE)
            return at + 2;
    }
    return head.len;
}

static void keep_oplog_prefix(struct tts_oplog *log, struct tts_span raw, uint32_t rank)
{
    if (raw.len == 0 || raw.len > PREFIX_MAX)
        return;
    uint32_t place = log->prefix_next;
    log->prefix_next = (place + 1) % PREFIXES;
    if (log->prefix_count < PREFIXES)
        log->prefix_count++;
    struct oplog_prefix *prefix = &log->prefixes[place];
    prefix->len = raw.len;
    prefix->rank = rank;
    memcpy(prefix->text, raw.at, raw.len);
    log->prefix_last = place;
}

/* Returns the prefix without the two fields of the runtime's logger at its end. */
static struct tts_span without_logger(struct tts_span prefix)
{
    size_t end = prefix.len;
    int bars = 0;
    while (end > 0 && bars < 2)
        bars += prefix.at[--end] == '|';
    if (bars < 2)
        return prefix;
    end = tts_span_trim((struct tts_span){prefix.at, end}).len +
          (size_t)(tts_span_trim((struct tts_span){prefix.at, end}).at - prefix.at);
    while (end > 0 && (tts_is_letter(prefix.at[end - 1]) || tts_is_digit(prefix.at[end - 1])))
        end--;
    return (struct tts_span){prefix.at, end};
}

/* Splits a line whose prefix is not known yet. Returns false if it has no message. */
static bool split_new_prefix(struct tts_oplog *log, struct tts_span raw, uint32_t *rank,
                             struct tts_span *message)
{
    char name[TTS_OPRANK_MAX] = "";
    struct tts_span head = clean_line_head(log, raw);
    size_t at = find_head_message(head);
    if (at == head.len)
        return false;
    bool has_time = false;
    if (at > 0) {
        tts_logkey_make(&log->key, without_logger((struct tts_span){head.at, at}));
        tts_logkey_show(&log->key, false, name, sizeof name);
        has_time = log->key.has_time;
    }
    *rank = find_oplog_rank(log, name);
    *message = (struct tts_span){raw.at + log->head_raw[at], raw.len - log->head_raw[at]};
    if (!has_time && *rank < TTS_OPLOG_RANKS)
        keep_oplog_prefix(log, (struct tts_span){raw.at, log->head_raw[at]}, *rank);
    return true;
}

static bool has_oplog_prefix(const struct tts_oplog *log, uint32_t place, struct tts_span raw)
{
    const struct oplog_prefix *prefix = &log->prefixes[place];
    return raw.len >= prefix->len && memcmp(raw.at, prefix->text, prefix->len) == 0;
}

/* Splits a line into its rank and its message. Returns false if the line cannot have one. */
static bool split_oplog_line(struct tts_oplog *log, struct tts_span raw, uint32_t *rank,
                             struct tts_span *message)
{
    uint32_t place = log->prefix_last;
    if (log->prefix_count == 0 || !has_oplog_prefix(log, place, raw))
        for (place = 0; place < log->prefix_count; place++)
            if (has_oplog_prefix(log, place, raw))
                break;
    if (place < log->prefix_count) {
        size_t len = log->prefixes[place].len;
        log->prefix_last = place;
        *rank = log->prefixes[place].rank;
        *message = (struct tts_span){raw.at + len, raw.len - len};
        return true;
    }
    size_t searched = raw.len < HEAD_MAX ? raw.len : HEAD_MAX;
    if (searched == 0 || (!memchr(raw.at, '|', searched) && !strchr("EDSFRCeT", raw.at[0])))
        return false;
    return split_new_prefix(log, raw, rank, message);
}

/* Returns the message without escape sequences. */
static struct tts_span clean_message(struct tts_oplog *log, struct tts_span message)
{
    size_t len = 0;
    if (!memchr(message.at, 0x1b, message.len))
        return message;
    for (size_t at = 0; at < message.len;) {
        struct tts_span rest = {message.at + at, message.len - at};
        if (rest.at[0] == 0x1b)
            at += tts_logline_escape_len(rest);
        else
            log->clean[len++] = message.at[at++];
    }
    return (struct tts_span){log->clean, len};
}

/* ---- records ---- */

static void take_view(struct tts_oplog *log, struct oplog_rank *rank, enum tts_pool pool,
                      struct tts_span text)
{
    struct last_view *last = &rank->views[pool];
    struct tts_opstate *state = &rank->block.state;
    if (!rank->has_block || (state->known >> pool & 1))
        return;
    if (text.len != last->len || memcmp(text.at, last->text, text.len) != 0) {
        struct tts_opview view;
        if (!read_view(text, &view)) {
            log->facts.bad_views++;
            return;
        }
        last->view = view;
        last->len = text.len <= VIEW_MAX ? text.len : 0;
        memcpy(last->text, text.at, last->len);
    }
    state->pools[pool] = last->view;
    state->known |= 1u << pool;
}

/* Moves the block of a rank to *out. Returns false if the rank has none. */
static bool give_block(struct tts_oplog *log, uint32_t rank, struct tts_oprecord *out)
{
    struct oplog_rank *from = log->ranks[rank];
    if (!from->has_block)
        return false;
    from->has_block = false;
    if (from->block.state.known != (1u << TTS_POOLS) - 1)
        log->facts.part_blocks++;
    *out = from->block;
    out->text = (struct tts_span){from->block_type, strlen(from->block_type)};
    return true;
}

static void begin_block(struct oplog_rank *rank, const struct tts_oprecord *record)
{
    rank->block = *record;
    rank->has_block = true;
    rank->block_type[0] = '\0';
    if (record->kind == TTS_OPRECORD_BLOCK)
        tts_span_copy(rank->block_type, sizeof rank->block_type, record->text);
}

/* "F with hash: H" */
static void split_hash(struct tts_oprecord *record)
{
    const char *at = tts_span_find(record->text, " with hash: ");
    if (!at)
        return;
    const char *end = record->text.at + record->text.len, *hash = at + strlen(" with hash: ");
    record->text.len = (size_t)(at - record->text.at);
    record->hash = (struct tts_span){hash, (size_t)(end - hash)};
}

/* Takes a line with a message of a kind of record. Returns whether *out was filled. */
static bool take_record(struct tts_oplog *log, struct tts_oprecord *record,
                        struct tts_oprecord *out)
{
    struct oplog_rank *rank = log->ranks[record->rank];
    if (record->kind == TTS_OPRECORD_CACHE_LOOKUP)
        split_hash(record);
    log->facts.cut_lines += record->is_cut;
    bool has_block = give_block(log, record->rank, out);
    if (record->kind == TTS_OPRECORD_BLOCK || record->kind == TTS_OPRECORD_SUBMIT) {
        begin_block(rank, record);
        return has_block;
    }
    if (has_block) {
        log->next = *record;
        log->has_next = true;
        return true;
    }
    *out = *record;
    return true;
}

/* Finds the rank of a line that is not of the runtime's logger. */
static uint32_t find_line_rank(struct tts_oplog *log, struct tts_span raw)
{
    char name[TTS_OPRANK_MAX];
    struct tts_span prefix, rank, rest;
    tts_logkey_split(clean_line_head(log, raw), &prefix, &rank, &rest);
    tts_logkey_make(&log->key, rank);
    tts_logkey_show(&log->key, false, name, sizeof name);
    return find_oplog_rank(log, name);
}

/* Takes a line without a message of the runtime: the marks of modules. */
static bool take_other_line(struct tts_oplog *log, struct tts_span raw,
                            struct tts_oprecord *out)
{
    static const char module[] = "MLIR Module ", main_begin[] = "func.func @main(";
    struct tts_oprecord record = {.line = tts_logtext_line(&log->text, raw.at)};
    size_t searched = raw.len < HEAD_MAX ? raw.len : HEAD_MAX;
    const char *at;
    record.last_line = record.line;
    if ((at = tts_span_find((struct tts_span){raw.at, searched}, module)) != NULL) {
        const char *end = raw.at + raw.len;
        while (end > at && (end[-1] == ':' || end[-1] == ' '))
            end--;
        record.kind = TTS_OPRECORD_MODULE;
        at += sizeof module - 1;
        record.text = (struct tts_span){at, at < end ? (size_t)(end - at) : 0};
        log->in_module = true;
    } else if (log->in_module &&
               (at = tts_span_find((struct tts_span){raw.at, searched}, main_begin)) != NULL) {
        at += sizeof main_begin - 1;
        record.kind = TTS_OPRECORD_ARGUMENTS;
        record.text = (struct tts_span){at, raw.len - (size_t)(at - raw.at)};
        record.is_cut = tts_logtext_is_cut(&log->text);
        log->in_module = false;
    } else {
        return false;
    }
    record.rank = find_line_rank(log, raw);
    *out = record;
    return record.rank < TTS_OPLOG_RANKS;
}

/* Takes one line. Returns whether *out was filled. */
static bool take_oplog_line(struct tts_oplog *log, struct tts_span raw,
                            struct tts_oprecord *out)
{
    uint32_t place;
    struct tts_span message, text;
    struct tts_oprecord record = {.is_cut = tts_logtext_is_cut(&log->text)};
    if (!split_oplog_line(log, raw, &place, &message))
        return take_other_line(log, raw, out);
    message = clean_message(log, message);
    int kind = match_message(message, &text);
    if (kind == NO_MESSAGE)
        return take_other_line(log, raw, out);
    if (place == TTS_OPLOG_RANKS) {
        log->facts.left_out++;
        return false;
    }
    record.rank = place;
    if (kind >= VIEW_MESSAGE) {
        struct oplog_rank *rank = log->ranks[place];
        enum tts_pool pool = (enum tts_pool)(kind - VIEW_MESSAGE);
        take_view(log, rank, pool, text);
        if (rank->has_block)
            rank->block.last_line = tts_logtext_line(&log->text, raw.at);
        return rank->block.state.known == (1u << TTS_POOLS) - 1 && give_block(log, place, out);
    }
    record.kind = (enum tts_oprecord_kind)kind;
    record.line = record.last_line = tts_logtext_line(&log->text, raw.at);
    record.text = text;
    record.is_after =
        kind == TTS_OPRECORD_SUBMIT && tts_span_begins(message, "Device memory state after");
    return take_record(log, &record, out);
}

/* Returns the blocks that the text ends in, one for each call. */
static bool give_last_blocks(struct tts_oplog *log, struct tts_oprecord *out)
{
    while (log->end_rank < log->rank_count)
        if (give_block(log, log->end_rank++, out))
            return true;
    return false;
}

enum tts_status tts_oplog_next(struct tts_oplog *log, struct tts_oprecord *out,
                               struct tts_error *err)
{
    struct tts_span raw;
    if (log->has_next) {
        log->has_next = false;
        *out = log->next;
        return TTS_OK;
    }
    while (tts_logtext_raw(&log->text, &raw))
        if (take_oplog_line(log, raw, out))
            return TTS_OK;
    if (give_last_blocks(log, out))
        return TTS_OK;
    enum tts_status status = tts_logtext_finish(&log->text, err);
    return status == TTS_OK ? TTS_E_NOT_FOUND : status;
}

struct tts_oplog_facts tts_oplog_facts(const struct tts_oplog *log)
{
    struct tts_oplog_facts facts = log->facts;
    facts.text = tts_logtext_facts(&log->text);
    facts.ranks = log->rank_count;
    return facts;
}

const char *tts_oplog_rank_name(const struct tts_oplog *log, uint32_t rank)
{
    assert(rank < log->rank_count);
    return log->ranks[rank]->name;
}

void tts_oplog_on_read(struct tts_oplog *log,
                       void (*tap)(void *ctx, const struct tts_logpiece *piece), void *ctx)
{
    tts_logtext_on_read(&log->text, tap, ctx);
}

void tts_oplog_on_tick(struct tts_oplog *log, void (*tick)(void *ctx, uint64_t taken),
                       void *ctx)
{
    tts_logtext_on_tick(&log->text, tick, ctx);
}

bool tts_oplog_is_head(struct tts_span head)
{
    return tts_span_find(head, " memory state: MemoryView{numBanks: ") != NULL;
}
