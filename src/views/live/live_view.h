/* live_view.h: writes live frames: the published monitor block, the published table, the
 * processes, and JSON. Each function writes one frame that ends with a line end.
 *
 * The caller owns everything and checks the stream for errors. Threads: any. */
#pragma once

#include "model/live/liveframe.h"

#include <stdio.h>

/* The most processes that a block shows; further ones are counted. */
enum { TTS_LIVEVIEW_BLOCK_PROCESSES = 8 };

struct tts_liveview {
    const struct tts_liveframe *frame;
    /* The frame before; NULL: this is the first, and no change is known. */
    const struct tts_liveframe *before;
    uint64_t update; /* number of the frame, from 0 */
    uint64_t period_ms;
    unsigned columns; /* of the output; 80 without a terminal */
    bool is_utf8;     /* else the output is ASCII, except for names */
    bool has_color;
    bool has_delta; /* table: write the row of changes */
    bool has_tips;  /* table: write the tips; all: explain zeros and approximate numbers */
    /* Blocks: not 0 if the frame, which has so many lines, is too tall. Only the lines with the
     * bytes, the state and the processes are written. */
    size_t whole_lines;
    size_t spare_lines; /* with whole_lines: lines for caveats, the most important first */
};

/* Writes the published block of each device. After its published lines, a device has one line
 * per pool in the form "L1 Allocated: 64.31 MB (84.6%) 84%", which the published filters find,
 * and the facts that the document does not have. */
void tts_liveview_blocks(const struct tts_liveview *view, FILE *out);
/* Writes the published table. If `columns` is less than 100, its columns are narrower. */
void tts_liveview_table(const struct tts_liveview *view, FILE *out);
/* Writes a row for each process of each device. Returns TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_liveview_processes(const struct tts_liveview *view,
                                                     FILE *out);
/* Writes the published table of the phases of a trace for each device. Returns TTS_E_NOMEM. */
TTS_NODISCARD enum tts_status tts_liveview_phases(const struct tts_liveview *view, FILE *out);
/* Writes one line of JSON. docs/design/top-json.md describes the document. */
void tts_liveview_json(const struct tts_liveview *view, FILE *out);

/* What tts_livenotes_put() writes besides the notes that belong to no device. Bits. */
enum {
    TTS_LIVENOTES_DEVICES = 1, /* states and caveats, for views without lines of a device */
    TTS_LIVENOTES_STRAYS = 2,  /* processes whose device is unknown */
    TTS_LIVENOTES_FIRST = 4,   /* as many caveats as spare_lines allows */
    TTS_LIVENOTES_ANSWERS = 8, /* growth, leaks, pressure and phase of each device */
};

/* Writes notes after a frame: what `parts` says, the devices that are left out, and with
 * has_tips an explanation of zeros. States are written in every frame, caveats with has_tips
 * only. If there is a note, begins with an empty line and a heading. */
void tts_livenotes_put(const struct tts_liveview *view, unsigned parts, FILE *out);

enum { TTS_LIVENAME_MAX = 256, TTS_LIVEBYTES_MAX = 256 };

/* Returns whether the only number of a process is that of its entry, and no process of a
 * container may own the entry. The number is the one of the process before it ended. */
bool tts_liveprocess_is_ended(const struct tts_liveprocess *process);
/* Writes "5675 (4 in its container) python3, alice" or "5675 (ended) python3". Returns `out`.
 */
const char *tts_liveprocess_name(char out[TTS_LIVENAME_MAX],
                                 const struct tts_liveprocess *process);
/* Writes "DRAM 1.45 GB, L1 52.31 MB": the known numbers above 0. Returns `out`. */
const char *tts_liveprocess_bytes(char out[TTS_LIVEBYTES_MAX],
                                  const struct tts_liveprocess *process);
