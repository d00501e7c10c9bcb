#include "views/run/run_names.h"

#include "base/hash.h"

/* Returns the index of a name, or `names->count` if it is new. */
static size_t find_run_name(const struct tts_run_names *names, const char *name, uint64_t *hash)
{
    size_t at = 0;
    *hash = tts_fnv1a64_text(TTS_FNV1A64_INIT, name, strlen(name));
    while (at < names->count && names->hashes[at] != *hash)
        at++;
    return at;
}

const char *tts_run_names_next(struct tts_run_names *names, const struct tts_run *run,
                               const char *label, uint64_t untitled,
                               char out[TTS_RUN_LABEL_MAX])
{
    uint64_t hash, unused;
    tts_run_name(out, run, label, 1);
    size_t at = find_run_name(names, out, &hash);
    if (at == TTS_RUN_NAMES_MAX)
        return run->title[0] == '\0' ? tts_run_name(out, run, label, untitled) : out;
    if (at == names->count) {
        names->hashes[at] = hash;
        names->seen[at] = 0;
        names->count++;
    }
    /* A title can look like a numbered name. If the name is taken, the next number is tried. */
    while (++names->seen[at] > 1) {
        tts_run_name(out, run, label, names->seen[at]);
        if (find_run_name(names, out, &unused) == names->count)
            break;
    }
    return out;
}
