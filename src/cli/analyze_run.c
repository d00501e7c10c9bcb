/* analyze_run.c: a run's name, its judgement, its numbers, and a copy of it. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/number.h"
#include "cli/analyze_parts.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- names ---- */

enum { LABEL_MAX = 255 }; /* bytes of a name: those of a title, and of a file name */

/* The last `parts` of a path; the whole where it has no more. */
static const char *tail_of(const char *path, size_t parts)
{
    const char *at = path + strlen(path);
    while (at > path && at[-1] == '/')
        at--;
    while (at > path && (at[-1] != '/' || --parts > 0))
        at--;
    return at;
}

/* Is there another log that ends in this? */
static bool is_shared(const struct tts_analyze_options *options, const char *path,
                      const char *tail)
{
    size_t len = strlen(tail);
    for (size_t i = 0; i < options->log_count; i++) {
        size_t other = strlen(options->logs[i]);
        const char *end = options->logs[i] + other;
        if (other < len || memcmp(end - len, tail, len) != 0)
            continue;
        bool is_whole_part = other == len || end[-(ptrdiff_t)len - 1] == '/';
        if (is_whole_part && strcmp(options->logs[i], path) != 0)
            return true;
    }
    return false;
}

const char *tts_analyze_label(const struct tts_analyze_options *options, size_t log)
{
    const char *path = options->logs[log], *tail = path;
    if (strcmp(path, "-") == 0)
        return "stdin";
    for (size_t parts = 1; parts == 1 || tail > path; parts++) {
        tail = tail_of(path, parts);
        if (!is_shared(options, path, tail))
            break;
    }
    size_t len = strlen(tail);
    return len > LABEL_MAX ? tail + len - LABEL_MAX : tail;
}

void tts_analyze_name(char out[TTS_ANALYZE_NAME_MAX], const struct tts_trainrun *run,
                      const char *label, uint64_t number)
{
    char behind[TTS_ANALYZE_NUMBER_MAX] = "";
    size_t rank = strlen(run->rank);
    while (rank > 0 && strchr(": |", run->rank[rank - 1]))
        rank--; /* what parts it from the line */
    bool has_title = run->title[0] != '\0', has_rank = rank > 0;
    if (number > 1)
        snprintf(behind, sizeof behind, " (%" PRIu64 ")", number);
    snprintf(out, TTS_ANALYZE_NAME_MAX, "%.*s%s%s%.*s%s", LABEL_MAX,
             has_title ? run->title : label, behind, has_rank ? " [" : "", (int)rank, run->rank,
             has_rank ? "]" : "");
}

/* Where a name is, or would be. */
static size_t find_name(const struct tts_analyze_names *names, const char *name, uint64_t *hash)
{
    size_t at = 0;
    *hash = TTS_FNV1A64_INIT;
    for (; *name; name++)
        *hash = tts_fnv1a64_u64(*hash, (unsigned char)*name);
    while (at < names->count && names->hashes[at] != *hash)
        at++;
    return at;
}

void tts_analyze_name_once(struct tts_analyze_names *names, const struct tts_trainrun *run,
                           const char *label, uint64_t untitled, char out[TTS_ANALYZE_NAME_MAX])
{
    uint64_t hash, unused;
    tts_analyze_name(out, run, label, 1);
    size_t at = find_name(names, out, &hash);
    if (at == TTS_ANALYZE_NAMES_MAX) {
        if (run->title[0] == '\0')
            tts_analyze_name(out, run, label, untitled);
        return;
    }
    if (at == names->count) {
        names->hashes[at] = hash;
        names->seen[at] = 0;
        names->count++;
    }
    /* A title may be as one with a number. */
    while (++names->seen[at] > 1) {
        tts_analyze_name(out, run, label, names->seen[at]);
        if (find_name(names, out, &unused) == names->count)
            break;
    }
}

/* ---- the judgement ---- */

/* The share of the memory that a limit is, rounded down: whole bytes above it are above the
 * limit itself. */
static int64_t share_of(int64_t bytes, uint32_t limit)
{
    int64_t share, rest = bytes % 10000 * limit / 10000;
    if (__builtin_mul_overflow(bytes / 10000, limit, &share) ||
        __builtin_add_overflow(share, rest, &share))
        return INT64_MAX;
    return share;
}

enum tts_analyze_answer tts_analyze_judge(const struct tts_analyze_options *options,
                                          const struct tts_trainmem *mem)
{
    if (!options->has_limit) {
        if (!mem->has_verdict)
            return TTS_ANALYZE_UNKNOWN;
        return mem->fits ? TTS_ANALYZE_GOOD : TTS_ANALYZE_BAD;
    }
    if (!mem->peak.is_known || !mem->device_memory.is_known)
        return TTS_ANALYZE_UNKNOWN;
    if (mem->peak.bytes > share_of(mem->device_memory.bytes, options->limit))
        return TTS_ANALYZE_BAD;
    return mem->peak_at_least ? TTS_ANALYZE_UNKNOWN : TTS_ANALYZE_GOOD;
}

bool tts_analyze_has_usage(const struct tts_trainmem *mem)
{
    return mem->peak.is_known && mem->device_memory.is_known && mem->device_memory.bytes > 0 &&
           (uint64_t)mem->device_memory.bytes <= UINT64_MAX / 10; /* more is no ratio of six */
}

/* ---- numbers ---- */

/* Of "[-]1234567[.89]": a comma between thousands. */
static const char *put_commas(char out[TTS_ANALYZE_NUMBER_MAX], const char *number)
{
    size_t to = 0, digits;
    if (*number == '-')
        out[to++] = *number++;
    digits = strspn(number, "0123456789");
    for (size_t i = 0; number[i]; i++) {
        assert(to + 2 < TTS_ANALYZE_NUMBER_MAX);
        if (i > 0 && i < digits && (digits - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = number[i];
    }
    out[to] = '\0';
    return out;
}

const char *tts_analyze_mb(char out[TTS_ANALYZE_NUMBER_MAX], int64_t bytes)
{
    char number[TTS_NUMBER_MB_MAX];
    return put_commas(out, tts_number_format_mb(number, bytes, false));
}

const char *tts_analyze_count(char out[TTS_ANALYZE_NUMBER_MAX], uint64_t count)
{
    char number[TTS_NUMBER_MAX + 1];
    number[tts_number_format(number, count)] = '\0';
    return put_commas(out, number);
}

const char *tts_analyze_percent(char out[TTS_ANALYZE_NUMBER_MAX], int64_t part, int64_t whole)
{
    assert(whole > 0);
    snprintf(out, TTS_ANALYZE_NUMBER_MAX, "%.2f", (double)part / (double)whole * 100);
    return out;
}

/* ---- copies ---- */

struct tts_analyze_kept *tts_analyze_keep(const struct tts_analyze_run *run)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    size_t bytes;
    if (__builtin_mul_overflow(run->run->phase_count, sizeof(struct tts_train_phase), &bytes) ||
        __builtin_add_overflow(bytes, sizeof(struct tts_analyze_kept), &bytes))
        return NULL;
    struct tts_analyze_kept *kept = alloc->alloc(alloc->ctx, bytes);
    if (!kept)
        return NULL;
    kept->bytes = bytes;
    kept->copy = *run->run;
    kept->copy.phases = kept->phases;
    kept->mem = *run->mem;
    if (run->run->phase_count > 0)
        memcpy(kept->phases, run->run->phases,
               run->run->phase_count * sizeof(struct tts_train_phase));
    snprintf(kept->name, sizeof kept->name, "%s", run->name);
    kept->run = (struct tts_analyze_run){kept->name, run->log, &kept->copy, &kept->mem};
    return kept;
}

void tts_analyze_kept_free(struct tts_analyze_kept *kept)
{
    const struct tts_alloc *alloc = tts_alloc_libc();
    if (kept)
        alloc->free(alloc->ctx, kept, kept->bytes);
}

const char *tts_analyze_limit(char out[TTS_ANALYZE_NUMBER_MAX], uint32_t limit)
{
    int len = snprintf(out, TTS_ANALYZE_NUMBER_MAX, "%" PRIu32 ".%02" PRIu32, limit / 100,
                       limit % 100);
    while (out[len - 1] == '0')
        out[--len] = '\0';
    if (out[len - 1] == '.')
        out[--len] = '\0';
    return out;
}
