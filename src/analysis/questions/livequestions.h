/* livequestions.h: asks the questions about live frames, one after the other: which pools grow
 * (growth.h), which buffers leak (leak.h), which pools are nearly full (pressure.h), and in
 * which phase of a trace each program is (tracephase.h). The answers go into the frames.
 * docs/design/live-questions.md has the rules.
 *
 * All memory is allocated at the begin. At most TTS_LIVEQUESTIONS_SUBJECTS pairs of a process
 * and a device are followed, and TTS_LIVEQUESTIONS_HISTORIES of them for leaks; the others have
 * no answers about growth and leaks. A process that ends is forgotten.
 *
 * Ownership: the caller owns the pointer and the frames. One thread at a time. No clock is
 * read: the time of a frame counts. */
#pragma once

#include "analysis/questions/growth.h"
#include "analysis/questions/pressure.h"
#include "model/live/liveframe.h"

enum {
    TTS_LIVEQUESTIONS_SUBJECTS = 1024,
    TTS_LIVEQUESTIONS_HISTORIES = 128,
    TTS_LIVEQUESTIONS_DEVICES = 256,
};

struct tts_livequestions;

/* Begins without a history. If `alloc` is NULL, the C library allocates. Returns TTS_OK or
 * TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_livequestions_new(const struct tts_growth_rule *rule,
                                                    const struct tts_alloc *alloc,
                                                    struct tts_livequestions **out);
void tts_livequestions_free(struct tts_livequestions *questions); /* NULL is allowed */

/* Takes the next frame and fills its answers. `table` gives the live buffers, for what could
 * move from L1 to DRAM; it may be NULL. Cost: linear in the processes of the frame. Allocates
 * nothing. */
void tts_livequestions_feed(struct tts_livequestions *questions, struct tts_liveframe *frame,
                            const struct tts_pressuretable *table);
