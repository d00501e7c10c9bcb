/* recorder_hook.h: the calls from a tracker and its captures to the recorder. Only the thread
 * that folds makes these calls, while tracker->recorder is set. */
#pragma once

#include "model/fold.h"
#include "ttscope/recorder.h"

/* Like tts_recorder_begin(), for a program that only posts DRAM events. The file says that the
 * contents of L1 are unknown. */
TTS_NODISCARD enum tts_status
tts_recorder_begin_dram_only(struct tts_tracker *tracker,
                             const struct tts_recorder_config *config,
                             struct tts_recorder **out, struct tts_error *err);

/* Makes room for an event before the event is folded. Returns the recorder, or NULL if the
 * recorder has stopped and left the tracker. */
struct tts_recorder *tts_recorder_ready(struct tts_recorder *recorder);

/* Writes an event after the event was folded, with the outcome of the fold. `thread` is the
 * number of the thread for an OP_BEGIN or OP_END, 0 for other events. */
void tts_recorder_event(struct tts_recorder *recorder, const struct tts_event *event,
                        uint64_t op_hash, uint32_t thread, enum tts_fold_outcome outcome);
/* tts_recorder_alloc() and tts_recorder_free() are like tts_recorder_event(), but take the
 * arguments of tts_fold_alloc() and tts_fold_free_buffer(). They are for events outside any
 * operation. */
void tts_recorder_alloc(struct tts_recorder *recorder, uint32_t device, enum tts_pool pool,
                        uint64_t id, uint64_t size_bytes, enum tts_fold_outcome outcome);
void tts_recorder_free(struct tts_recorder *recorder, uint32_t device, enum tts_pool pool,
                       uint64_t id, uint64_t size_bytes, enum tts_fold_outcome outcome);

/* Writes an item that is not an event: CHIP, BEGIN, CUT, END, MISSED. Write BEGIN and END
 * before the capture changes. The recorder may stop in this call and leave the tracker. */
void tts_recorder_mark(struct tts_recorder *recorder, const struct tts_item *item);

/* Finishes the file of the recorder before its tracker is freed. */
void tts_recorder_orphan(struct tts_recorder *recorder);
