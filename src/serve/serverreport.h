/* serverreport.h: what the allocation server says: the state for statistics and reports, and
 * the replies to requests. Joins the registry (processes that send frames) and the host (all
 * others, and the chips).
 *
 * Ownership: heap object of the caller; registry and host are borrowed. Threads: one thread at
 * a time. */
#pragma once

#include "serve/serverclient.h"
#include "serve/serverhost.h"
#include "serve/serverregistry.h"

struct tts_serverreport;

/* A report lists at most so many buffers or kernels; those of small groups come first. The
 * sums are always complete. */
enum { TTS_SERVERREPORT_LIST_MAX = 4096 };

enum tts_serverreport_list {
    TTS_SERVERREPORT_SUMS,
    TTS_SERVERREPORT_BUFFERS,
    TTS_SERVERREPORT_KERNELS,
};

TTS_NODISCARD enum tts_status tts_serverreport_new(const struct tts_serverregistry *registry,
                                                   const struct tts_serverhost *host,
                                                   const struct tts_alloc *alloc,
                                                   struct tts_serverreport **out,
                                                   struct tts_error *err);
void tts_serverreport_free(struct tts_serverreport *report); /* NULL is allowed */

/* Fills the rows and counts of *out that follow from registry and host; the other fields are
 * unchanged. The rows are valid until the next call. */
void tts_serverreport_fill(struct tts_serverreport *report, enum tts_serverreport_list list,
                           struct tts_serverstate *out);

/* Replies to QUERY, INFO_QUERY and the request of 24 bytes. Returns false for other frames. */
bool tts_serverreport_reply(struct tts_serverreport *report, struct tts_serverclient *client,
                            const struct tts_frame *request);
