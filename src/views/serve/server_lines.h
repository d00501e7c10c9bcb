/* server_lines.h: writes the lines that the allocation server prints for events. The published
 * texts are verbatim, because scripts read them; events that the published server does not have
 * get lines in the same style. Names are escaped.
 *
 * Pure functions without printf(), allocation and locks. Threads: any. */
#pragma once

#include "model/live/serverevent.h"

enum { TTS_SERVERLINES_MAX = 512 };

/* Writes the lines of one event, each with its line end, and a terminator. The result is ASCII
 * if `is_utf8` is false, except for letters in names. Returns the number of bytes without the
 * terminator. Every event has at least one line; a process that ended with live buffers has
 * three. */
size_t tts_serverlines_write(char out[TTS_SERVERLINES_MAX], const struct tts_serverevent *event,
                             bool is_utf8);
