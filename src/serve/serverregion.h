/* serverregion.h: the region that the server writes for a process that sends frames
 * (wire/clientregion.h, TTS_CLIENTREGION_BY_SERVER), so that `ttscope top` and other monitors
 * have one source. A region has the counters of each device, and neither a table nor a ring.
 *
 * Ownership: the caller owns the struct. Threads: one thread at a time. */
#pragma once

#include "serve/serverpeer.h"
#include "serve/serverregistry.h"

enum { TTS_SERVERREGION_DEVICES = 64 };

/* Makes the region of a process. Returns TTS_E_BUSY if the process publishes itself, otherwise
 * like tts_clientwriter_open(). */
TTS_NODISCARD enum tts_status tts_serverregion_open(const char *directory,
                                                    const struct tts_clientidentity *process,
                                                    const struct tts_clientidentity *server,
                                                    struct tts_clientwriter *out,
                                                    struct tts_error *err);
/* Publishes a row. A device beyond TTS_SERVERREGION_DEVICES is counted as dropped. */
void tts_serverregion_show(struct tts_clientwriter *region, const struct tts_serverrow *row,
                           uint64_t now_ns);

/* Removes the regions of servers that have ended, if their process and this one are in the same
 * pid namespace. Returns their number. */
size_t tts_serverregion_clean(const char *directory, const struct tts_clientidentity *server);
