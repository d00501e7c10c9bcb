/* optext.h: the text of one operation in a runtime log, as MLIR prints it:
 *
 *     %2 = "ttnn.add"(%0, %1) <{dtype = ...}> : (type, type) -> type loc("add.1")
 *
 * docs/design/runtime-log.md has the grammar.
 *
 * Ownership: the spans point into the text of the caller.
 * Threads: the functions share no state.
 * Cost: linear in the length of the text. Nothing is allocated.
 * Returns: see the functions. */
#pragma once

#include "model/opstep.h"

/* Reads an operation. Returns false if the text has no name and no operands; then *out is
 * undefined. Parts that are missing are empty. */
bool tts_optext_read(struct tts_span text, struct tts_optext *out);

/* Splits a signature into the list of input types and the output, which is a type or a list of
 * types. Both come without their outer parentheses. Returns false if there is no arrow. */
bool tts_optext_signature(struct tts_span signature, struct tts_span *inputs,
                          struct tts_span *outputs);

/* Removes the first element from *list and sets *item to it. Elements are separated by commas
 * outside of brackets and quotes. Returns false if the list is empty. */
bool tts_optext_next(struct tts_span *list, struct tts_span *item);

/* Returns the name in a location: the first text in quotes with the numbers after it
 * ("file.mlir":197:15 is file.mlir:197:15), all names of a fused location separated by a
 * comma and a blank, or the text as it is. Writes at most `capacity` - 1 bytes and terminates
 * them. `capacity` is at least 4. */
void tts_optext_loc_name(struct tts_span loc, char *out, size_t capacity);
