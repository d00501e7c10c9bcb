#include "analysis/failure/faillog.h"

#include "base/error.h"
#include "base/heap.h"

#include <errno.h>
#include <string.h>

void tts_faillog_init(struct tts_faillog *log, const struct tts_alloc *alloc)
{
    *log = (struct tts_faillog){.alloc = alloc ? alloc : tts_alloc_libc()};
}

void tts_faillog_release(struct tts_faillog *log)
{
    const struct tts_alloc *alloc = log->alloc;
    if (log->entries)
        alloc->free(alloc->ctx, log->entries, log->capacity * sizeof *log->entries);
    if (log->hashes)
        alloc->free(alloc->ctx, log->hashes, log->capacity * sizeof *log->hashes);
    *log = (struct tts_faillog){.alloc = alloc};
}

static uint32_t hash_failmsg(const struct tts_failmsg *msg)
{
    uint64_t hash = (uint64_t)msg->family;
    for (size_t i = 0; i < TTS_FAILMSG_FIELDS; i++)
        hash = (hash ^ msg->value[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static struct tts_failentry *find_entry(struct tts_faillog *log, const struct tts_failmsg *msg,
                                        uint32_t hash)
{
    for (size_t i = 0; i < log->count; i++) {
        if (log->hashes[i] == hash && tts_failmsg_is_same(&log->entries[i].msg, msg))
            return &log->entries[i];
    }
    return NULL;
}

static bool grow_faillog(struct tts_faillog *log)
{
    const struct tts_alloc *alloc = log->alloc;
    size_t capacity = log->capacity > 0 ? log->capacity * 2 : 16;
    struct tts_failentry *entries = alloc->alloc(alloc->ctx, capacity * sizeof *entries);
    uint32_t *hashes = alloc->alloc(alloc->ctx, capacity * sizeof *hashes);
    if (!entries || !hashes) {
        if (entries)
            alloc->free(alloc->ctx, entries, capacity * sizeof *entries);
        if (hashes)
            alloc->free(alloc->ctx, hashes, capacity * sizeof *hashes);
        return false;
    }
    size_t count = log->count;
    if (count > 0) {
        memcpy(entries, log->entries, count * sizeof *entries);
        memcpy(hashes, log->hashes, count * sizeof *hashes);
        alloc->free(alloc->ctx, log->entries, log->capacity * sizeof *entries);
        alloc->free(alloc->ctx, log->hashes, log->capacity * sizeof *hashes);
    }
    log->entries = entries;
    log->hashes = hashes;
    log->capacity = capacity;
    return true;
}

static void count_family(struct tts_faillog *log, const struct tts_failmsg *msg)
{
    struct tts_failfamily *family = &log->families[msg->family];
    if (family->count++ == 0)
        family->first_line = msg->line;
    family->last_line = msg->line;
    log->messages++;
}

/* Takes the operation of a repeated message if it is known better. */
static void merge_entry(struct tts_failentry *entry, const struct tts_failmsg *msg)
{
    bool has_op = entry->msg.op[0] != '\0';
    entry->count++;
    entry->last_line = msg->line;
    if (msg->op[0] == '\0' || (has_op && (msg->op_is_near || !entry->msg.op_is_near)))
        return;
    memcpy(entry->msg.op, msg->op, sizeof entry->msg.op);
    entry->msg.op_line = msg->op_line;
    entry->msg.op_is_near = msg->op_is_near;
}

enum tts_status tts_faillog_add(struct tts_faillog *log, const struct tts_failmsg *msg,
                                struct tts_error *err)
{
    uint32_t hash = hash_failmsg(msg);
    struct tts_failentry *entry = find_entry(log, msg, hash);
    count_family(log, msg);
    if (entry) {
        merge_entry(entry, msg);
        return TTS_OK;
    }
    if (log->count == TTS_FAILLOG_MAX) {
        log->left_out++;
        return TTS_OK;
    }
    if (log->count == log->capacity && !grow_faillog(log))
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM,
                                   TTS_TEXT_NOMEM " for the list of failures");
    log->hashes[log->count] = hash;
    log->entries[log->count++] =
        (struct tts_failentry){.msg = *msg, .count = 1, .last_line = msg->line};
    log->families[msg->family].entries++;
    return TTS_OK;
}

static bool is_failure(const struct tts_failentry *entry)
{
    return entry->msg.family != TTS_FAILMSG_UNSAFE;
}

const struct tts_failentry *tts_faillog_first(const struct tts_faillog *log)
{
    for (size_t i = 0; i < log->count; i++) {
        if (is_failure(&log->entries[i]))
            return &log->entries[i];
    }
    return log->count > 0 ? &log->entries[0] : NULL;
}

bool tts_faillog_ending(const struct tts_faillog *log, uint64_t after,
                        struct tts_failending *out)
{
    const struct tts_failentry *found = NULL;
    uint64_t failures = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct tts_failentry *entry = &log->entries[i];
        failures += is_failure(entry);
        if (!found && is_failure(entry) && entry->last_line > after)
            found = entry;
    }
    if (!found)
        return false;
    *out = (struct tts_failending){
        .entry = found,
        .line = found->msg.line > after ? found->msg.line : found->last_line,
        .is_first = found == tts_faillog_first(log),
        .others = failures - 1,
    };
    return true;
}
