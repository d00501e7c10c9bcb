#include "cli/progress.h"

#include "base/number.h"
#include "base/ticks.h"
#include "cli/message.h"
#include "views/safe_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
enum { COLUMNS = 80, COLUMNS_MAX = 240, FIGURES_MAX = 160 };

/* Returns true if stderr is a terminal that can erase a line. */
static bool is_terminal(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && kind && strcmp(kind, "dumb") != 0;
}

void tts_progress_begin(struct tts_progress *progress, const char *verb, const char *path,
                        uint64_t total_bytes)
{
    uint64_t start_ns = tts_clock_ns();
    *progress = (struct tts_progress){.verb = verb,
                                      .path = tts_message_path(path),
                                      .total_bytes = total_bytes,
                                      .start_ns = start_ns,
                                      .next_ns = start_ns + SECOND_NS,
                                      .is_on = is_terminal()};
}

/* Returns the usable width. The last column stays free because some terminals move to the next
 * line after it. */
static size_t columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
        return COLUMNS - 1;
    return size.ws_col < COLUMNS_MAX ? size.ws_col - 1U : COLUMNS_MAX - 1;
}

/* Writes the figures, such as " 42 %, 1.20 GiB of 2.86 GiB, 412 MiB/s". */
static void format_figures(const struct tts_progress *progress, uint64_t done_bytes,
                           uint64_t now, char out[FIGURES_MAX])
{
    char done[TTS_NUMBER_BYTES_MAX], total[TTS_NUMBER_BYTES_MAX], speed[TTS_NUMBER_BYTES_MAX];
    uint64_t ms = (now - progress->start_ns) / (SECOND_NS / 1000);
    uint64_t per_second = done_bytes / (ms > 0 ? ms : 1) * 1000;
    tts_number_format_bytes(done, done_bytes);
    tts_number_format_bytes(total, progress->total_bytes);
    tts_number_format_bytes(speed, per_second);
    if (progress->total_bytes == 0) {
        snprintf(out, FIGURES_MAX, " %s, %s/s", done, speed);
        return;
    }
    uint64_t percent = 100; /* stays 100 if the file grows while it is read */
    if (done_bytes < progress->total_bytes)
        percent = done_bytes < UINT64_MAX / 100 ? done_bytes * 100 / progress->total_bytes
                                                : done_bytes / (progress->total_bytes / 100);
    snprintf(out, FIGURES_MAX, " %3u %%, %s of %s, %s/s", (unsigned)percent, done, total,
             speed);
}

void tts_progress_show(struct tts_progress *progress, uint64_t done_bytes)
{
    uint64_t now = tts_clock_ns();
    if (!progress->is_on || now < progress->next_ns)
        return;
    progress->next_ns = now + SECOND_NS / 10;
    char figures[FIGURES_MAX], text[COLUMNS_MAX * TTS_SAFE_COLUMN_BYTES + 1];
    format_figures(progress, done_bytes, now, figures);
    size_t width = columns(), taken = strlen(progress->verb) + 2 + strlen(figures);
    tts_safe_text(text, sizeof text, progress->path, width > taken ? width - taken : 0);
    fprintf(stderr, "\r%s %s:%s\033[K", progress->verb, text, figures);
    fflush(stderr);
    progress->is_shown = true;
}

void tts_progress_end(struct tts_progress *progress)
{
    if (progress->is_shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress->is_on = progress->is_shown = false;
}
