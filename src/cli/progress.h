/* progress.h: how far a long command is: one line on stderr, only on a terminal and only past
 * the first second, gone when it ends.
 *
 *     struct tts_progress progress;
 *     tts_progress_begin(&progress, "reading", path, bytes_in_all);
 *     while (...) // now and then
 *         tts_progress_show(&progress, bytes_so_far);
 *     tts_progress_end(&progress);
 *
 * It must be ended before anything else is said on stderr or stdout. Caller's memory; one
 * thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tts_progress {
    const char *verb, *path;
    uint64_t total_bytes;
    uint64_t start_ns, next_ns;
    bool is_on, is_shown;
};

/* Both texts are borrowed until the end; "-" is standard input. `total_bytes` 0: not known. */
void tts_progress_begin(struct tts_progress *progress, const char *verb, const char *path,
                        uint64_t total_bytes);

/* Shows the line anew if it is time; 10 times a second at most. */
void tts_progress_show(struct tts_progress *progress, uint64_t done_bytes);

/* Takes the line away. Harmless when called again. */
void tts_progress_end(struct tts_progress *progress);
