/* eventcsv.h: writes rows of a file as CSV: a line of names, then one line per row, each ended
 * by a line feed. Unknown fields are empty. The caller owns the structs and checks the stream
 * for errors. One thread at a time. */
#pragma once

#include "views/rowout.h"
#include "views/trace/eventrows.h"

void tts_eventcsv_begin(struct tts_rowout *rows);
void tts_eventcsv_row(struct tts_rowout *rows, const struct tts_eventrow *row);
