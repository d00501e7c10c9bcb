/* show_growing.h: writes the pools of a recording that grow, or grew for a time, for `ttscope
 * show --growing`. The functions only read the facts and may run at the same time for
 * different streams. */
#pragma once

#include "views/show/show_view.h"

/* Writes the answer in one line, without a line end. */
void tts_showgrowing_headline(const struct tts_show_facts *show, FILE *out);
/* Writes a sentence for each growth and for devices that were not judged, and an empty line.
 * Writes nothing if there is none. */
void tts_showgrowing_text(const struct tts_show_facts *show, FILE *out);
/* Writes the fields "growing", "growing_not_listed" and "growing_devices_not_judged": null if
 * the question was not asked or the file has no times (docs/design/show-json.md). */
void tts_showgrowing_json(const struct tts_show_facts *show, struct tts_json *json);
