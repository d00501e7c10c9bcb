/* samplewords.h: the words for the values of samples (model/sample.h). Constant texts; any
 * thread. */
#pragma once

#include "model/sample.h"

/* Returns the name of a value for programs, without its pool: "allocated_bytes", "buffers",
 * "cb_bytes", ... A name that ends in "_bytes" is a number of bytes. */
const char *tts_sampleword_name(unsigned number);
/* Returns what a value is, for people, without its pool: "allocated", "circular buffers". */
const char *tts_sampleword_text(unsigned number);
/* Returns the name of the pool of a value, or NULL if the value belongs to the device. */
const char *tts_sampleword_pool(unsigned number);
