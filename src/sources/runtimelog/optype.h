/* optype.h: one type in the text of an operation, such as "tensor<1x64xbf16, #ttnn.ttnn_layout<
 * ...>>", and the memory that a tensor of this type takes. docs/design/runtime-log.md has the
 * grammar.
 *
 * Ownership: the spans of a type point into the text of the caller.
 * Threads: the functions share no state.
 * Cost: linear in the length of the text. Nothing is allocated.
 * Returns: a text that is not understood is not a tensor, or has unknown bytes; no function
 * fails. */
#pragma once

#include "model/opstep.h"

/* Reads a type. */
void tts_optype_read(struct tts_span text, struct tts_optype *out);

/* Returns the number of bytes of `count` elements of a data type, or false if the data type is
 * unknown or the number is too large. Block floats have one more byte for each 16 elements. */
bool tts_optype_element_bytes(struct tts_span dtype, uint64_t count, uint64_t *bytes);

/* The pool in which banks have a tensor. */
struct tts_opbanks {
    uint64_t banks;
    uint64_t page_alignment;  /* of a page */
    uint64_t block_alignment; /* of an allocation; also its minimum */
};
/* Sets *bytes to the number of bytes that a tensor takes in each bank. Returns false if the
 * number is unknown. */
bool tts_optype_bytes_per_bank(const struct tts_optype *type, const struct tts_opbanks *pool,
                               uint64_t *bytes);
