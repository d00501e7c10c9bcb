/* progress.h: the progress of a long command: one line on stderr. The line appears only on a
 * terminal and only after the first second, and it is erased at the end.
 *
 *     struct tts_progress progress;
 *     tts_progress_begin(&progress, "reading", path, bytes_in_all);
 *     while (...) // now and then
 *         tts_progress_show(&progress, bytes_so_far);
 *     tts_progress_end(&progress);
 *
 * End the progress before printing anything else on stderr or stdout. The caller owns the
 * struct. One thread at a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tts_progress {
    const char *verb, *path;
    uint64_t total_bytes;
    uint64_t start_ns, next_ns;
    bool is_on, is_shown;
};

/* Starts the progress. Both texts are borrowed until the end. The path "-" is standard input. A
 * `total_bytes` of 0 means unknown. */
void tts_progress_begin(struct tts_progress *progress, const char *verb, const char *path,
                        uint64_t total_bytes);

/* Updates the line, at most 10 times a second. */
void tts_progress_show(struct tts_progress *progress, uint64_t done_bytes);

/* Erases the line. May be called again. */
void tts_progress_end(struct tts_progress *progress);
