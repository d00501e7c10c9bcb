/* alloc.h: where an object's memory comes from.
 * A long-lived object takes one of these at birth and uses nothing else. The struct and its
 * context must outlive the object. Memory must be aligned for any type. */
#pragma once

#include <stddef.h>

struct tts_alloc {
    void *(*alloc)(void *ctx, size_t bytes); /* NULL when there is none; bytes > 0 */
    void *(*resize)(void *ctx, void *memory, size_t old_bytes, size_t bytes);
    void (*free)(void *ctx, void *memory, size_t bytes); /* bytes as given at birth */
    void *ctx;
};
