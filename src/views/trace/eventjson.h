/* eventjson.h: writes rows of a file as lines of JSON: a header, then one object per row
 * without its unknown fields. The caller owns the structs and checks the stream for errors. One
 * thread. */
#pragma once

#include "views/rowout.h"
#include "views/trace/eventrows.h"
#include "views/trace/tracefile.h"

enum { TTS_EVENTJSON_VERSION = 1 };

void tts_eventjson_begin(struct tts_rowout *rows, const struct tts_tracefile *file);
void tts_eventjson_row(struct tts_rowout *rows, const struct tts_eventrow *row);
