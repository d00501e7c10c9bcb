/* selection.h: the devices and processes that the user wants to see.
 *
 * Plain data; a zeroed selection selects everything. Threads: any. */
#pragma once

#include "model/live/liveframe.h"

enum { TTS_SELECTION_MAX = 64 };

struct tts_selection {
    struct {
        uint64_t number;
        bool is_unique_id; /* else the place on the screen */
    } devices[TTS_SELECTION_MAX];
    size_t device_count;
    uint32_t pids[TTS_SELECTION_MAX];
    size_t pid_count;
};

/* Store the value of an option; see tts_option.take. `target` is a struct tts_selection. */
enum tts_status tts_selection_take_device(void *target, const char *text,
                                          struct tts_error *err);
enum tts_status tts_selection_take_pid(void *target, const char *text, struct tts_error *err);

/* Removes everything else from the frame. If processes are selected, devices without them are
 * removed too. The devices keep their numbers, and their pools keep the bytes of all
 * processes. The other processes of a device stay after its processes, in deselected_count. */
void tts_selection_apply(const struct tts_selection *selection, struct tts_liveframe *frame);
