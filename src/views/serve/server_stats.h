/* server_stats.h: writes what the allocation server prints besides events: the start-up lines,
 * the statistics, the live buffers and the live kernels. The published texts are verbatim.
 * Lines that the published server does not have follow the published lines.
 *
 * The caller owns everything and checks the stream for errors. The output is ASCII if `is_utf8`
 * is false, except for letters in names. Threads: any. */
#pragma once

#include "model/live/serverstate.h"

#include <stdio.h>

/* Writes the lines at the start of the server. `state` has the devices that are known then. */
void tts_serverstats_start(const struct tts_serverstate *state, const char *socket_path,
                           bool is_utf8, FILE *out);
/* Writes the statistics of the devices in use, the number of live buffers, and the losses if
 * there are any. Needs no buffers and kernels in `state`. */
void tts_serverstats_now(const struct tts_serverstate *state, bool is_utf8, FILE *out);
/* Write the reports that clients ask for: all live buffers, all live kernels. The sums of the
 * buffers are those of the devices; `buffers` needs the rows of groups of at most ten only. */
void tts_serverstats_buffers(const struct tts_serverstate *state, bool is_utf8, FILE *out);
void tts_serverstats_kernels(const struct tts_serverstate *state, bool is_utf8, FILE *out);
