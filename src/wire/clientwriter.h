/* clientwriter.h: makes a client region (clientregion.h) and changes it by the rules of
 * docs/design/client-region.md. Knows nothing about events, trackers or sockets.
 *
 * Ownership: the caller owns the struct and closes it. Threads: one thread at a time writes;
 * other processes read at any time.
 * Cost: open reserves all space of the file; the other functions take constant time (a device
 * is searched linearly, with the last one first), allocate nothing and make no system call. */
#pragma once

#include "base/compiler.h"
#include "base/mapfile.h"
#include "ttscope/alloc.h"
#include "ttscope/status.h"
#include "wire/clientregion.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { TTS_CLIENTWRITER_PATH_MAX = 256 };

/* The process whose memory a region shows. */
struct tts_clientidentity {
    uint32_t pid, uid;
    uint64_t start_ticks, pid_namespace;
    char comm[TTS_CLIENTREGION_NAME_BYTES];
};

struct tts_clientwriter_config {
    const char *directory; /* "/dev/shm" */
    struct tts_clientidentity process;
    uint32_t writer; /* TTS_CLIENTREGION_BY_... */
    uint32_t writer_pid;
    uint64_t writer_start_ticks;
    uint32_t device_slots, op_slots, buffer_slots, event_slots;
};

struct tts_clientwriter {
    struct tts_mapped file; /* the whole file */
    struct tts_clientregion_header *header;
    struct tts_clientregion_device *devices;
    char (*ops)[TTS_CLIENTREGION_NAME_BYTES];
    struct tts_clientregion_buffer *buffers;
    struct tts_clientregion_event *events;
    /* Limits and counts of this process. The copies in the file are never read, because other
     * processes of the same user could change them. */
    uint32_t device_slots, op_slots, buffer_slots, event_slots;
    uint32_t device_count, op_count, buffer_high;
    uint64_t event_count;
    uint32_t last_device; /* index of the device that was found last */
    dev_t file_device;    /* identity of the file, so that only this file is removed */
    ino_t file_inode;
    char path[TTS_CLIENTWRITER_PATH_MAX];
};

/* Reads the identity of this process from /proc. Returns TTS_E_IO if /proc cannot be read. */
TTS_NODISCARD enum tts_status tts_clientidentity_own(struct tts_clientidentity *out,
                                                     struct tts_error *err);

/* Makes the file without a name (or with a temporary name), reserves and maps all of it, fills
 * the header and gives the file its name; a left-over of the same name is replaced. A server
 * (TTS_CLIENTREGION_BY_SERVER) does not replace a region that a process writes itself and has
 * not ended: then TTS_E_BUSY is returned. Returns TTS_E_IO if the file cannot be made or has no
 * room (`err` names the file and the reason), TTS_E_NOMEM if the file cannot be mapped,
 * TTS_E_RANGE if a number of slots is above its maximum or is no power of two for the ring.
 * After a failure no file is left. */
TTS_NODISCARD enum tts_status
tts_clientwriter_open(const struct tts_clientwriter_config *config,
                      struct tts_clientwriter *out, struct tts_error *err);
/* Marks the region as ended, unmaps it and, if `removes`, deletes the file. A struct of zeros
 * is allowed. In the child of a fork call with `is_child`: the file is only unmapped. */
void tts_clientwriter_close(struct tts_clientwriter *writer, bool removes, bool is_child);

/* Returns the device that was found last if it has this id, otherwise NULL. */
static TTS_FORCE_INLINE struct tts_clientregion_device *
tts_clientwriter_last(const struct tts_clientwriter *writer, uint32_t id)
{
    struct tts_clientregion_device *last = &writer->devices[writer->last_device];
    return TTS_LIKELY(writer->last_device < writer->device_count && last->id == id) ? last
                                                                                    : NULL;
}
/* Returns the device with this id, which is added if it is new, or NULL if there is no slot.
 * tts_clientwriter_device() first tries the device that was found last. */
struct tts_clientregion_device *tts_clientwriter_search(struct tts_clientwriter *writer,
                                                        uint32_t id);
static TTS_FORCE_INLINE struct tts_clientregion_device *
tts_clientwriter_device(struct tts_clientwriter *writer, uint32_t id)
{
    struct tts_clientregion_device *last = tts_clientwriter_last(writer, id);
    return TTS_LIKELY(last != NULL) ? last : tts_clientwriter_search(writer, id);
}

/* Adds to a number in the file, which only this thread changes. A plain addition may become an
 * operation on two numbers at a time, which waits for the stores of the last event. */
static TTS_FORCE_INLINE uint64_t tts_clientregion_add(uint64_t *number, uint64_t add)
{
    uint64_t sum = __atomic_load_n(number, __ATOMIC_RELAXED) + add;
    __atomic_store_n(number, sum, __ATOMIC_RELAXED);
    return sum;
}

/* Brackets around a change of the counters of a device. A reader that sees an odd number, or
 * another number after its copy than before, copies again. */
static inline void tts_clientdevice_lock(struct tts_clientregion_device *device)
{
    _Atomic uint32_t *lock = (_Atomic uint32_t *)(void *)&device->lock;
    atomic_store_explicit(lock, atomic_load_explicit(lock, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    TTS_STORE_FENCE();
}
static inline void tts_clientdevice_unlock(struct tts_clientregion_device *device)
{
    _Atomic uint32_t *lock = (_Atomic uint32_t *)(void *)&device->lock;
    atomic_store_explicit(lock, atomic_load_explicit(lock, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* Adds the name of an operation, shortened to its last bytes, and returns its index, or
 * UINT32_MAX if there is no slot. */
uint32_t tts_clientwriter_add_op(struct tts_clientwriter *writer, const char *name);

/* The next functions store the fields one by one. A copy of a whole struct would wait for the
 * stores that have just made the struct. */

/* Stores a buffer in a free slot, or frees a slot. `slot` is below buffer_slots. buffer->stamp
 * is the stamp of the slot. */
static TTS_FORCE_INLINE void
tts_clientwriter_put_buffer(struct tts_clientwriter *writer, uint32_t slot,
                            const struct tts_clientregion_buffer *buffer)
{
    assert(slot < writer->buffer_slots && buffer->stamp != 0);
    struct tts_clientregion_buffer *place = &writer->buffers[slot];
    if (TTS_UNLIKELY(slot >= writer->buffer_high)) {
        writer->buffer_high = slot + 1;
        __atomic_store_n(&writer->header->buffer_high, slot + 1, __ATOMIC_RELEASE);
    }
    /* The stamp of 0 of the last drop comes before the fields. */
    TTS_STORE_FENCE();
    place->id = buffer->id;
    place->address = buffer->address;
    place->size_bytes = buffer->size_bytes;
    place->bank_bytes = buffer->bank_bytes;
    place->time_ns = buffer->time_ns;
    place->device = buffer->device;
    place->op = buffer->op;
    place->pool = buffer->pool;
    place->flags = buffer->flags;
    __atomic_store_n(&place->stamp, buffer->stamp, __ATOMIC_RELEASE);
}

static TTS_FORCE_INLINE void tts_clientwriter_drop_buffer(struct tts_clientwriter *writer,
                                                          uint32_t slot)
{
    assert(slot < writer->buffer_slots);
    __atomic_store_n(&writer->buffers[slot].stamp, 0, __ATOMIC_RELEASE);
}

/* Sets or clears a flag of a buffer that is in the table. The stamp stays. */
static inline void tts_clientwriter_flag_buffer(struct tts_clientwriter *writer, uint32_t slot,
                                                uint8_t flag, bool is_set)
{
    assert(slot < writer->buffer_slots);
    uint8_t *flags = &writer->buffers[slot].flags;
    uint8_t others = (uint8_t)(__atomic_load_n(flags, __ATOMIC_RELAXED) & ~flag);
    __atomic_store_n(flags, is_set ? others | flag : others, __ATOMIC_RELAXED);
}

/* Appends an event to the ring (if there is one) and counts it. event->stamp is ignored. Call
 * this last, after the table and the counters were changed. */
static TTS_FORCE_INLINE void
tts_clientwriter_put_event(struct tts_clientwriter *writer,
                           const struct tts_clientregion_event *event)
{
    enum { AHEAD = 4 };
    uint64_t number = writer->event_count++;
    if (TTS_LIKELY(writer->event_slots > 0)) {
        const uint64_t mask = writer->event_slots - 1;
        struct tts_clientregion_event *place = &writer->events[number & mask];
        /* The ring is larger than the nearest caches. */
        __builtin_prefetch(&writer->events[(number + AHEAD) & mask], 1);
        __atomic_store_n(&place->stamp, 0, __ATOMIC_RELAXED);
        TTS_STORE_FENCE(); /* the 0 comes before the fields */
        place->time_ns = event->time_ns;
        place->id = event->id;
        place->address = event->address;
        place->size_bytes = event->size_bytes;
        place->bank_bytes = event->bank_bytes;
        place->live_bytes = event->live_bytes;
        place->device = event->device;
        place->op = event->op;
        place->kind = event->kind;
        place->pool = event->pool;
        __atomic_store_n(&place->stamp, number + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&writer->header->update_ns, event->time_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&writer->header->events, number + 1, __ATOMIC_RELEASE);
}
