/* analyze_run.c: a run's name, its judgement, its numbers, and a copy of it. */
#include "base/hash.h"
#include "base/heap.h"
#include "base/number.h"
#include "base/share.h"
#include "cli/analyze_parts.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- names ---- */

/* Where a name is, or would be. */
static size_t find_name(const struct tts_analyze_names *names, const char *name, uint64_t *hash)
{
    size_t at = 0;
    *hash = tts_fnv1a64_text(TTS_FNV1A64_INIT, name, strlen(name));
    while (at < names->count && names->hashes[at] != *hash)
        at++;
    return at;
}

void tts_analyze_name_once(struct tts_analyze_names *names, const struct tts_run *run,
                           const char *label, uint64_t untitled, char out[TTS_RUN_LABEL_MAX])
{
    uint64_t hash, unused;
    tts_run_name(out, run, label, 1);
    size_t at = find_name(names, out, &hash);
    if (at == TTS_ANALYZE_NAMES_MAX) {
        if (run->title[0] == '\0')
            tts_run_name(out, run, label, untitled);
        return;
    }
    if (at == names->count) {
        names->hashes[at] = hash;
        names->seen[at] = 0;
        names->count++;
    }
    /* A title may be as one with a number. */
    while (++names->seen[at] > 1) {
        tts_run_name(out, run, label, names->seen[at]);
        if (find_name(names, out, &unused) == names->count)
            break;
    }
}

/* ---- the judgement ---- */

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
    int64_t limit = tts_share_of(mem->device_memory.bytes, options->limit, false);
    if (mem->is_refused || mem->peak.bytes > limit)
        return TTS_ANALYZE_BAD;
    return mem->peak_at_least || tts_trainmem_may_exceed(mem, limit) ? TTS_ANALYZE_UNKNOWN
                                                                     : TTS_ANALYZE_GOOD;
}

bool tts_analyze_has_usage(const struct tts_trainmem *mem)
{
    return mem->peak.is_known && mem->device_memory.is_known && mem->device_memory.bytes > 0 &&
           (uint64_t)mem->device_memory.bytes <= UINT64_MAX / 10; /* more is no ratio of six */
}

const char *tts_analyze_peak_phase(const struct tts_analyze_run *run)
{
    const struct tts_trainmem *mem = run->mem;
    if (mem->peak_is_later)
        return run->run->whole.phase;
    return mem->has_peak_phase ? run->run->phases[mem->peak_phase].name : NULL;
}

const char *tts_analyze_sizes_name(const struct tts_trainmem *mem)
{
    if (mem->parts_are_stated)
        return "predicted";
    return mem->parts_are_actual ? "actual" : "expected";
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
    if (__builtin_mul_overflow(run->run->phase_count, sizeof(struct tts_run_phase), &bytes) ||
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
               run->run->phase_count * sizeof(struct tts_run_phase));
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
