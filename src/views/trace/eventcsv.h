/* eventcsv.h: rows of a file as CSV: a line of names, then a line a row, ended by a line feed;
 * what is not known is empty. Caller's memory, one thread; the caller asks the stream for
 * errors. */
#pragma once

#include "views/rowout.h"
#include "views/trace/eventrows.h"

void tts_eventcsv_begin(struct tts_rowout *rows);
void tts_eventcsv_row(struct tts_rowout *rows, const struct tts_eventrow *row);
