/* ttscope.h: the whole C interface of ttscope.
 * It includes every other header of this folder and declares nothing itself. The thread, fork
 * and signal rules are in each header.
 *
 * Example:
 *     struct tts_tracker *tracker = tts_tracker_process();
 *     struct tts_capture *capture;
 *     struct tts_error err;
 *     if (tts_capture_new(tracker, &capture, &err) != TTS_OK ||
 *         tts_capture_begin(capture, TTS_CAPTURE_NORMAL, &err) != TTS_OK)
 *         return 1; // err.text says why
 *     tts_track_alloc(tracker, 0, TTS_POOL_DRAM, 1, 8192, 0, NULL);
 *     if (tts_capture_end(capture, "FORWARD_PASS", &err) == TTS_OK)
 *         printf("%zu phase\n", tts_capture_count(capture));
 *     tts_capture_free(capture); */
#pragma once

#include "ttscope/alloc.h"
#include "ttscope/buffer.h"
#include "ttscope/capture.h"
#include "ttscope/cb.h"
#include "ttscope/chip.h"
#include "ttscope/device.h"
#include "ttscope/event.h"
#include "ttscope/failure.h"
#include "ttscope/publish.h"
#include "ttscope/recorder.h"
#include "ttscope/status.h"
#include "ttscope/usage.h"
