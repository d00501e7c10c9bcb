/* alloc.h: the functions that an object uses to get and free memory.
 *
 * A long-lived object takes a tts_alloc when it is made and gets all its memory from there. The
 * struct and its context must outlive the object. The memory must be aligned for any type.
 *
 * Threads, signals and forks: an object calls these functions only inside calls to the object,
 * on the thread of the caller.
 *
 * Example:
 *     static void *get(void *ctx, size_t bytes) { ++*(int *)ctx; return malloc(bytes); }
 *     static void put(void *ctx, void *p, size_t bytes) {
 *         (void)bytes; --*(int *)ctx; free(p); }
 *     static void *more(void *ctx, void *p, size_t old, size_t bytes) {
 *         (void)ctx; (void)old; return realloc(p, bytes); }
 *     int main(void) {
 *         int blocks = 0;
 *         struct tts_alloc counted = {get, more, put, &blocks};
 *         struct tts_chip chip;
 *         struct tts_device *device;
 *         if (tts_chip_preset("n150", &chip, NULL) != TTS_OK ||
 *             tts_device_new(&chip, NULL, &counted, &device, NULL) != TTS_OK) return 1;
 *         tts_device_free(device);
 *         return blocks; } // 0: everything was given back */
#pragma once

#include <stddef.h>

struct tts_alloc {
    /* `bytes` is above 0; returns NULL if there is no memory. */
    void *(*alloc)(void *ctx, size_t bytes);
    void *(*resize)(void *ctx, void *memory, size_t old_bytes, size_t bytes);
    void (*free)(void *ctx, void *memory, size_t bytes); /* `bytes` is the size of the memory */
    void *ctx;
};
