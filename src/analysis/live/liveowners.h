/* liveowners.h: decides which process owns which bytes of which device, from what the live
 * sources read. docs/design/live.md has the rules. The function is pure: it reads no file. */
#pragma once

#include "model/live/liveframe.h"

/* Makes a frame: the devices, their pools and their processes. *frame is reset first. The
 * devices are in the order of their nodes; devices without a node follow by id. Devices that
 * only programs name follow by program, those of one program by the numbers that the program
 * gives them. Returns TTS_OK, or TTS_E_NOMEM with an empty *frame. */
TTS_NODISCARD enum tts_status tts_liveowners_judge(const struct tts_hostview *view,
                                                   struct tts_liveframe *frame,
                                                   struct tts_error *err);
