/* recorder_hook.h: what a tracker, and the captures of it, tell its recorder. For the thread
 * that folds, while tracker->recorder is there. */
#pragma once

#include "model/fold.h"
#include "ttscope/recorder.h"

/* Like tts_recorder_begin(), for a program that tells its tracker of DRAM only. The file says
 * that what is in L1 is unknown. */
TTS_NODISCARD enum tts_status
tts_recorder_begin_dram_only(struct tts_tracker *tracker,
                             const struct tts_recorder_config *config,
                             struct tts_recorder **out, struct tts_error *err);

/* Before an event is folded: there is room for it. Returns the recorder; NULL: it has stopped,
 * and is gone from the tracker. */
struct tts_recorder *tts_recorder_ready(struct tts_recorder *recorder);

/* Behind the fold: writes the event by what became of it. `thread` is that of an operation's
 * event, 0 of others. */
void tts_recorder_event(struct tts_recorder *recorder, const struct tts_event *event,
                        uint64_t op_hash, uint32_t thread, enum tts_fold_outcome outcome);
/* The same for what tts_fold_alloc() and tts_fold_free_buffer() take, in no operation. */
void tts_recorder_alloc(struct tts_recorder *recorder, uint32_t device, enum tts_pool pool,
                        uint64_t id, uint64_t size_bytes, enum tts_fold_outcome outcome);
void tts_recorder_free(struct tts_recorder *recorder, uint32_t device, enum tts_pool pool,
                       uint64_t id, uint64_t size_bytes, enum tts_fold_outcome outcome);

/* Writes what is no event: CHIP, BEGIN, CUT, END, MISSED. BEGIN and END before the capture
 * changes. The recorder may stop here, and be gone from the tracker. */
void tts_recorder_mark(struct tts_recorder *recorder, const struct tts_item *item);

/* The tracker goes: the file of its recorder is finished. */
void tts_recorder_orphan(struct tts_recorder *recorder);
