#include "analysis/phasepairs.h"
#include "analysis/rundiff_inside.h"

#include <assert.h>

/* Of both runs: which phase of the other each is. */
struct links {
    uint32_t *of_a, *of_b;
    size_t a, b;
};

static void add(struct tts_rundiff *out, enum tts_rundiff_where where, size_t a, size_t b)
{
    out->phases[out->phase_count++] =
        (struct tts_rundiff_phase){.where = where, .a = a, .b = b};
    out->only_a += where == TTS_ONLY_A;
    out->only_b += where == TTS_ONLY_B;
}

/* Up to phase `end` of B, those that A does not have. */
static void add_only_b(const struct links *links, size_t *next, size_t end,
                       struct tts_rundiff *out)
{
    for (; *next < end; ++*next)
        if (links->of_b[*next] == TTS_PHASEPAIR_NONE)
            add(out, TTS_ONLY_B, 0, *next);
}

static void line_up(const struct links *links, struct tts_rundiff *out)
{
    size_t next = 0;
    for (size_t i = 0; i < links->a; i++) {
        uint32_t other = links->of_a[i];
        if (other == TTS_PHASEPAIR_NONE) {
            add(out, TTS_ONLY_A, i, 0);
            continue;
        }
        add_only_b(links, &next, other, out);
        add(out, TTS_IN_BOTH, i, other);
    }
    add_only_b(links, &next, links->b, out);
}

enum tts_status tts_rundiff_match(const struct tts_run *a, const struct tts_run *b,
                                  const struct tts_alloc *alloc, struct tts_rundiff *out)
{
    size_t both = a->phase_count + b->phase_count;
    struct links links = {.a = a->phase_count, .b = b->phase_count};
    if (both == 0)
        return TTS_OK;
    enum tts_status status = tts_phasepairs_new(a, b, alloc, &links.of_a);
    if (status == TTS_OK)
        status = tts_phasepairs_new(b, a, alloc, &links.of_b);
    if (status == TTS_OK)
        out->phases = alloc->alloc(alloc->ctx, both * sizeof *out->phases);
    if (out->phases) {
        line_up(&links, out);
        assert(out->phase_count <= both);
    }
    tts_phasepairs_free(links.of_a, a, alloc);
    tts_phasepairs_free(links.of_b, b, alloc);
    return out->phases ? TTS_OK : TTS_E_NOMEM;
}
