#include "cli/top/screen.h"

#include "base/error.h"
#include "base/heap.h"
#include "views/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COLUMNS = 80, ROWS = 24, ROWS_MIN = 2 };
enum { LAST_WAIT_MS = 2000 }; /* for a reader, after a signal that ends the process */

/* Wrapping is off while a frame is drawn, because the width of a character is a guess. */
#define BEGIN_FRAME "\033[?25l\033[?7l\033[H"
#define END_FRAME "\033[?7h"
#define SHOW_CURSOR "\033[?7h\033[0m\033[?25h"
#define HIDE_CURSOR "\033[?25l"

/* ---- signals ---- */

/* These functions run in signal handlers. They use no memory of the process, so that no
 * global variable is needed. */

static void write_text(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t done = write(STDOUT_FILENO, text, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        text += done;
        len -= (size_t)done;
    }
}

static void end_process(int number)
{
    (void)number;
    _exit(0);
}

static void end_in_place(int number)
{
    static const char text[] = SHOW_CURSOR "\n";
    (void)number;
    write_text(text, sizeof text - 1);
    _exit(0);
}

/* Raises a signal with its default effect, inside its own handler. */
static void raise_default(int number, struct sigaction *mine)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    sigaction(number, &standard, mine);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
}

static void hang_up_in_place(int number)
{
    struct sigaction mine;
    write_text(SHOW_CURSOR, sizeof SHOW_CURSOR - 1);
    raise_default(number, &mine);
}

static void stop_in_place(int number)
{
    int kept_errno = errno;
    struct sigaction mine;
    write_text(SHOW_CURSOR, sizeof SHOW_CURSOR - 1);
    raise_default(number, &mine); /* returns when the process goes on */
    sigaction(number, &mine, NULL);
    write_text(HIDE_CURSOR, sizeof HIDE_CURSOR - 1);
    errno = kept_errno;
}

static void interrupt_sleep(int number)
{
    (void)number;
}

/* Sets a handler, unless the parent process made this process ignore the signal. */
static void set_handler(int number, void (*handler)(int))
{
    struct sigaction now, old;
    memset(&now, 0, sizeof now);
    now.sa_handler = handler;
    now.sa_flags = SA_RESTART; /* a sleep is interrupted nevertheless */
    sigemptyset(&now.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &now, NULL);
}

/* ---- the terminal ---- */

void tts_screen_measure(struct tts_screen *screen)
{
    struct winsize size = {0};
    bool is_known =
        screen->is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    screen->columns = is_known ? size.ws_col : COLUMNS;
    screen->rows = is_known && size.ws_row > 0 ? size.ws_row : ROWS;
}

void tts_screen_open(struct tts_screen *screen, bool wants_in_place,
                     const struct tts_alloc *alloc)
{
    const char *kind = getenv("TERM");
    bool is_terminal = isatty(STDOUT_FILENO);
    bool can_move = is_terminal && kind && kind[0] && strcmp(kind, "dumb") != 0;
    *screen = (struct tts_screen){.is_terminal = is_terminal,
                                  .is_in_place = wants_in_place && can_move,
                                  .alloc = alloc ? alloc : tts_alloc_libc()};
    tts_screen_measure(screen);
    set_handler(SIGINT, screen->is_in_place ? end_in_place : end_process);
    set_handler(SIGTERM, screen->is_in_place ? end_in_place : end_process);
    if (!screen->is_in_place)
        return;
    set_handler(SIGHUP, hang_up_in_place);
    set_handler(SIGQUIT, hang_up_in_place);
    set_handler(SIGTSTP, stop_in_place);
    set_handler(SIGCONT, interrupt_sleep);
    set_handler(SIGWINCH, interrupt_sleep);
}

void tts_screen_close(struct tts_screen *screen)
{
    if (screen->is_in_place && screen->drawn)
        write_text(SHOW_CURSOR "\n", sizeof SHOW_CURSOR - (screen->is_full ? 0 : 1));
    if (screen->drawn)
        screen->alloc->free(screen->alloc->ctx, screen->drawn, screen->capacity);
    screen->drawn = NULL;
    screen->capacity = 0;
    screen->is_in_place = false;
}

bool tts_screen_wait(const struct tts_screen *screen, uint64_t deadline_ns)
{
    struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000),
                             .tv_nsec = (long)(deadline_ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        if (screen->is_in_place)
            return false;
    return true;
}

/* ---- drawing in place ---- */

static enum tts_status draw_bytes(struct tts_screen *screen, const char *bytes, size_t len)
{
    size_t needed = screen->used + len;
    if (needed > screen->capacity) {
        char *grown =
            tts_alloc_grow(screen->alloc, screen->drawn, &screen->capacity, needed, 1);
        if (!grown)
            return TTS_E_NOMEM;
        screen->drawn = grown;
    }
    memcpy(screen->drawn + screen->used, bytes, len);
    screen->used = needed;
    return TTS_OK;
}

static enum tts_status draw_text(struct tts_screen *screen, const char *text)
{
    return draw_bytes(screen, text, strlen(text));
}

/* Returns the columns of a character. Most scripts of East Asia and pictures take two. */
static unsigned code_columns(uint32_t code)
{
    bool is_wide = (code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xa4d0) ||
                   (code >= 0xac00 && code < 0xd7a4) || (code >= 0xf900 && code < 0xfb00) ||
                   (code >= 0xfe30 && code < 0xfe70) || (code >= 0xff00 && code < 0xff61) ||
                   (code >= 0x1f300 && code < 0x1fb00) || (code >= 0x20000 && code < 0x40000);
    return is_wide ? 2 : 1;
}

/* Returns the length of a colour sequence at the start of `text`, or 0. Views write no other
 * sequences. */
static size_t color_length(const char *text, size_t len)
{
    if (len < 3 || text[0] != '\033' || text[1] != '[')
        return 0;
    for (size_t i = 2; i < len; i++)
        if (text[i] == 'm')
            return i + 1;
    return 0;
}

/* The place after the last blank of a line, where the line can be cut. */
struct cut_place {
    size_t used; /* of `drawn` */
    unsigned column;
};

/* Draws a line of a frame, cut to the columns of the screen before a word: half a number would
 * be another number. A line without blanks is cut at the last column. Codes of colours after
 * the cut are kept, because such a code may end a colour that began before the cut. */
static enum tts_status draw_line(struct tts_screen *screen, const char *line, size_t len)
{
    struct cut_place cut = {screen->used, 0};
    unsigned column = 0;
    bool is_cut = false;
    for (size_t at = 0, used; at < len; at += used) {
        uint32_t code = 0;
        used = color_length(line + at, len - at);
        bool is_color = used > 0;
        if (!is_color) {
            used = tts_utf8_next(line + at, len - at, &code);
            bool is_over = column + code_columns(code) > screen->columns;
            if (!is_cut && is_over && code != ' ' && cut.column > 0) {
                screen->used = cut.used;
                column = cut.column;
            }
            is_cut = is_cut || is_over;
            column += is_cut ? 0 : code_columns(code);
        }
        if ((is_color || !is_cut) && draw_bytes(screen, line + at, used) != TTS_OK)
            return TTS_E_NOMEM;
        if (!is_cut && (code == ' ' || (is_color && cut.column > 0)))
            cut = (struct cut_place){screen->used, column};
    }
    /* In the last column, clearing would take the character that was just drawn. */
    return column < screen->columns ? draw_text(screen, "\033[K") : TTS_OK;
}

size_t tts_screen_lines(const char *frame, size_t len)
{
    size_t lines = 0;
    for (size_t i = 0; i < len; i++)
        lines += frame[i] == '\n';
    return lines + (len > 0 && frame[len - 1] != '\n');
}

/* Returns whether a character is part of a word or a number: rules and bars are not. */
static bool is_word_code(uint32_t code)
{
    return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') ||
           (code >= 'a' && code <= 'z');
}

/* Returns how many columns the terminal needs more, so that no word of the frame is cut. */
static unsigned find_lost_columns(const struct tts_screen *screen, const char *frame,
                                  size_t len)
{
    unsigned column = 0, widest = 0;
    for (size_t at = 0, used; at < len; at += used) {
        uint32_t code;
        used = color_length(frame + at, len - at);
        if (used > 0)
            continue;
        used = tts_utf8_next(frame + at, len - at, &code);
        column = code == '\n' ? 0 : column + code_columns(code);
        if (is_word_code(code) && column > widest)
            widest = column;
    }
    return widest > screen->columns ? widest - screen->columns : 0;
}

/* Draws the last line of a frame that does not fit, on the given row. */
static enum tts_status draw_left_out(struct tts_screen *screen, size_t lines, unsigned columns,
                                     size_t row)
{
    char text[128];
    if (columns == 0)
        snprintf(text, sizeof text,
                 "... %zu more lines: enlarge the terminal, or choose with --device and --view",
                 lines);
    else if (lines == 0)
        snprintf(text, sizeof text, "... %u more column%s: widen the terminal", columns,
                 columns == 1 ? "" : "s");
    else
        snprintf(text, sizeof text,
                 "... %zu more line%s, %u more column%s: enlarge the terminal", lines,
                 lines == 1 ? "" : "s", columns, columns == 1 ? "" : "s");
    enum tts_status status = draw_line(screen, text, strlen(text));
    bool is_last = row + 1 >= (screen->rows < ROWS_MIN ? ROWS_MIN : screen->rows);
    return status == TTS_OK && !is_last ? draw_text(screen, "\n\033[J") : status;
}

enum tts_status tts_screen_draw(struct tts_screen *screen, const char *frame, size_t len)
{
    size_t lines = tts_screen_lines(frame, len), at = 0;
    size_t rows = screen->rows < ROWS_MIN ? ROWS_MIN : screen->rows;
    unsigned lost = find_lost_columns(screen, frame, len);
    size_t wanted = lines + (lost > 0), shown = wanted > rows ? rows - 1 : lines;
    screen->used = 0;
    screen->is_full = wanted >= rows;
    enum tts_status status = draw_text(screen, BEGIN_FRAME);
    for (size_t row = 0; row < shown && status == TTS_OK; row++) {
        const char *end = memchr(frame + at, '\n', len - at);
        size_t line_len = end ? (size_t)(end - frame) - at : len - at;
        status = draw_line(screen, frame + at, line_len);
        at += line_len + 1;
        if (status == TTS_OK && row + 1 < rows)
            status = draw_text(screen, "\n");
    }
    if (status == TTS_OK && (lines > shown || lost > 0))
        status = draw_left_out(screen, lines - shown, lost, shown);
    else if (status == TTS_OK && shown < rows)
        status = draw_text(screen, "\033[J");
    return status == TTS_OK ? draw_text(screen, END_FRAME) : status;
}

/* ---- output ---- */

/* Signals that wait until a frame is written. */
struct held_signals {
    sigset_t held, before;
    int fd;     /* signals can be read here; -1: none are held */
    int number; /* of the first signal that came; 0: none */
};

/* Holds the signals that end the process. An ignored signal stays ignored. */
static void hold_signals(struct held_signals *signals)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;
    *signals = (struct held_signals){.fd = -1};
    sigemptyset(&signals->held);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&signals->held, numbers[i]);
    sigprocmask(SIG_BLOCK, &signals->held, &signals->before);
    signals->fd = signalfd(-1, &signals->held, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals->fd < 0)
        sigprocmask(SIG_SETMASK, &signals->before, NULL);
}

/* Lets the signals go. Those that came have their effect now, and can end the process. */
static void release_signals(struct held_signals *signals)
{
    if (signals->fd < 0)
        return;
    close(signals->fd);
    sigprocmask(SIG_SETMASK, &signals->before, NULL);
    if (signals->number != 0)
        raise(signals->number);
}

/* Waits until the reader takes bytes. Returns false if the process must end in the middle of
 * the frame: a second signal came, or after a signal the reader takes nothing for a while. */
static bool wait_for_frame_reader(struct held_signals *signals)
{
    struct signalfd_siginfo info;
    struct pollfd files[] = {{.fd = STDOUT_FILENO, .events = POLLOUT},
                             {.fd = signals->fd, .events = POLLIN}};
    for (;;) {
        int ready = poll(files, 2, signals->number != 0 ? LAST_WAIT_MS : -1);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return ready < 0;
        if (files[1].revents && read(signals->fd, &info, sizeof info) == sizeof info) {
            if (signals->number != 0)
                return false;
            signals->number = (int)info.ssi_signo;
        }
        if (files[0].revents)
            return true;
    }
}

/* Returns whether one write can take so many bytes without waiting for a reader. */
static bool has_frame_room(size_t len)
{
    struct stat info;
    int used, size = fcntl(STDOUT_FILENO, F_GETPIPE_SZ);
    if (size < 0)
        return fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode);
    return ioctl(STDOUT_FILENO, FIONREAD, &used) == 0 && used == 0 && len <= (size_t)size;
}

/* Writes a part of a frame. Sets *done to the length of the part, which is 0 if a terminal that
 * does not block is full: then waits for room, or for a signal. */
static enum tts_status write_frame_part(struct tts_screen *screen, const char *bytes,
                                        size_t len, size_t *done, struct tts_error *err)
{
    struct pollfd room = {.fd = STDOUT_FILENO, .events = POLLOUT};
    ssize_t written = write(STDOUT_FILENO, bytes, len);
    *done = written > 0 ? (size_t)written : 0;
    if (written < 0 && errno == EPIPE)
        screen->is_closed = true;
    else if (written < 0 && errno == EAGAIN && screen->is_terminal)
        poll(&room, 1, -1);
    else if (written < 0 && errno != EINTR && errno != EAGAIN)
        return tts_error_set_errno(err, TTS_E_IO, errno, "cannot write to standard output");
    return TTS_OK;
}

static enum tts_status write_frame(struct tts_screen *screen, const char *bytes, size_t len,
                                   struct tts_error *err)
{
    struct held_signals signals = {.fd = -1};
    enum tts_status status = TTS_OK;
    /* A terminal needs no whole frames, and its user wants an answer to Ctrl-C. */
    if (!screen->is_terminal)
        hold_signals(&signals);
    while (len > 0 && !screen->is_closed && status == TTS_OK) {
        size_t done, part = len;
        if (signals.fd >= 0 && !has_frame_room(len)) {
            /* When a pipe is ready, it has room for PIPE_BUF bytes at least. */
            part = len < PIPE_BUF ? len : PIPE_BUF;
            if (!wait_for_frame_reader(&signals))
                break;
        }
        status = write_frame_part(screen, bytes, part, &done, err);
        bytes += done;
        len -= done;
    }
    release_signals(&signals);
    return status;
}

enum tts_status tts_screen_show(struct tts_screen *screen, const char *frame, size_t len,
                                struct tts_error *err)
{
    if (!screen->is_in_place)
        return write_frame(screen, frame, len, err);
    if (tts_screen_draw(screen, frame, len) != TTS_OK)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    return write_frame(screen, screen->drawn, screen->used, err);
}
