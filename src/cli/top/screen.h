/* screen.h: shows frames on standard output, one after the other, or each in place of the
 * previous frame.
 *
 * If standard output is not a terminal, a signal that ends the process waits until the frame is
 * written, so that the last frame is whole. A second signal ends the process at once, and so
 * does a reader that takes nothing for two seconds after the first. A frame that fits into the
 * pipe is one write.
 *
 * In place, a frame is drawn over the last one and cut to the terminal. The terminal is never
 * cleared as a whole, and no other mode of the terminal changes, except that the cursor is
 * hidden.
 *
 * From open on, SIGINT and SIGTERM end the process with exit code 0, after the cursor is shown
 * again. SIGHUP, and stopping the process with Ctrl-Z, show the cursor too.
 *
 * Ownership: the caller owns the struct: open, any number of frames, close. Threads: the main
 * thread only. */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_screen {
    bool is_terminal;
    bool is_in_place;       /* each frame replaces the previous frame */
    bool is_closed;         /* the reader of the pipe has gone */
    unsigned columns, rows; /* size of the terminal; 80 and 24 without a terminal */
    const struct tts_alloc *alloc;
    char *drawn; /* the bytes of a frame in place */
    size_t capacity, used;
    bool is_full; /* the drawn frame ends in the last row, and not with a line end */
};

/* `wants_in_place` is ignored if standard output is not a terminal that can move the cursor. */
void tts_screen_open(struct tts_screen *screen, bool wants_in_place,
                     const struct tts_alloc *alloc);
/* Shows the cursor again. Later signals have the effects of open still. */
void tts_screen_close(struct tts_screen *screen);

/* Asks the terminal for its size. */
void tts_screen_measure(struct tts_screen *screen);

/* Returns the number of lines of a frame. */
size_t tts_screen_lines(const char *frame, size_t len);

/* Shows a frame. Returns TTS_E_IO if standard output cannot be written, TTS_E_NOMEM. If the
 * reader of a pipe has gone, sets is_closed and returns TTS_OK. */
TTS_NODISCARD enum tts_status tts_screen_show(struct tts_screen *screen, const char *frame,
                                              size_t len, struct tts_error *err);

/* Sleeps until `deadline_ns` of the monotonic clock and returns true. Returns false earlier if
 * the frame must be drawn again: the terminal has a new size, or the process goes on after a
 * stop. */
bool tts_screen_wait(const struct tts_screen *screen, uint64_t deadline_ns);

/* Writes a frame as tts_screen_show() draws it in place: cut to columns and rows, with a last
 * line that says how many lines are left out. Returns TTS_OK or TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_screen_draw(struct tts_screen *screen, const char *frame,
                                              size_t len);
