/* publish_rig.h: begins to publish, and reads client regions as another program would: with
 * pread(), from the layout alone. */
#pragma once

#include "harness/capture_rig.h"
#include "ttscope/publish.h"
#include "wire/clientregion.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns a directory of this test, for regions. Valid until the next call. */
static inline const char *publish_directory(void)
{
    static char path[200];
    snprintf(path, sizeof path, "%s", t_scratch("regions"));
    T_TRUE(mkdir(path, 0700) == 0 || errno == EEXIST);
    return path;
}

static inline void publish(struct tts_tracker *tracker, uint32_t buffers, uint32_t events)
{
    struct tts_error err = {0};
    struct tts_publish_config config = {
        .directory = publish_directory(), .buffers_max = buffers, .events_max = events};
    if (tts_publish_begin(tracker, &config, &err) != TTS_OK)
        fail_msg("%s", err.text);
}

struct seen_region {
    int fd;
    struct tts_clientregion_header header;
};

static inline bool read_part(int fd, void *out, size_t bytes, uint64_t off)
{
    return pread(fd, out, bytes, (off_t)off) == (ssize_t)bytes;
}

static inline bool see_header(struct seen_region *seen)
{
    return read_part(seen->fd, &seen->header, sizeof seen->header, 0);
}

static inline bool see_region(const char *path, struct seen_region *seen)
{
    seen->fd = open(path, O_RDONLY | O_CLOEXEC);
    return seen->fd >= 0 && see_header(seen) &&
           memcmp(seen->header.magic, "TTSCLNT\n", 8) == 0 && seen->header.version == 1;
}

/* Opens the region of a tracker that publishes. */
static inline struct seen_region see_tracker(struct tts_tracker *tracker)
{
    struct tts_publish_state state;
    struct seen_region seen;
    tts_publish_get_state(tracker, &state);
    T_TRUE(see_region(state.path, &seen));
    return seen;
}

/* Copies a device between two reads of the same even number. Copies two parts, so that a writer
 * without the lock is noticed. Returns false if the writer was faster each time. */
static inline bool see_device(const struct seen_region *seen, uint32_t idx,
                              struct tts_clientregion_device *out)
{
    enum { FIRST_PART = 192 };
    uint64_t off = seen->header.devices_off + idx * sizeof *out;
    for (int i = 0; i < 100; i++) {
        uint32_t before, after;
        if (!read_part(seen->fd, &before, sizeof before, off) ||
            !read_part(seen->fd, out, FIRST_PART, off) ||
            !read_part(seen->fd, (char *)out + FIRST_PART, sizeof *out - FIRST_PART,
                       off + FIRST_PART) ||
            !read_part(seen->fd, &after, sizeof after, off))
            return false;
        if (before == after && before % 2 == 0)
            return true;
    }
    return false;
}

/* Copies a slot of the table between two reads of the same stamp. Returns false if the slot is
 * free, or changed meanwhile. */
static inline bool see_buffer(const struct seen_region *seen, uint32_t slot,
                              struct tts_clientregion_buffer *out)
{
    uint64_t stamp, off = seen->header.buffers_off + slot * sizeof *out;
    return read_part(seen->fd, &stamp, sizeof stamp, off) && stamp != 0 &&
           read_part(seen->fd, out, sizeof *out, off) &&
           read_part(seen->fd, &out->stamp, sizeof out->stamp, off) && out->stamp == stamp;
}

/* Copies the event with this number from the ring. Returns false if the writer has replaced
 * it. */
static inline bool see_event(const struct seen_region *seen, uint64_t number,
                             struct tts_clientregion_event *out)
{
    uint64_t stamp, slot = number % seen->header.event_slots;
    uint64_t off = seen->header.events_off + slot * sizeof *out;
    return read_part(seen->fd, &stamp, sizeof stamp, off) && stamp == number + 1 &&
           read_part(seen->fd, out, sizeof *out, off) &&
           read_part(seen->fd, &out->stamp, sizeof out->stamp, off) && out->stamp == stamp;
}

/* Returns the device with this id. The test fails if there is none. */
static inline struct tts_clientregion_device device_in(struct tts_tracker *tracker, uint32_t id)
{
    struct seen_region seen = see_tracker(tracker);
    struct tts_clientregion_device device;
    uint32_t i = 0;
    do {
        T_TRUE(i < seen.header.device_count);
        T_TRUE(see_device(&seen, i++, &device));
    } while (device.id != id);
    close(seen.fd);
    return device;
}

static inline struct tts_clientregion_pool pool_in(struct tts_tracker *tracker, uint32_t id,
                                                   enum tts_pool pool)
{
    return device_in(tracker, id).pools[pool];
}

static inline struct tts_clientregion_header header_in(struct tts_tracker *tracker)
{
    struct seen_region seen = see_tracker(tracker);
    close(seen.fd);
    return seen.header;
}

/* Returns the last event but `back`. */
static inline struct tts_clientregion_event event_in(struct tts_tracker *tracker, uint64_t back)
{
    struct seen_region seen = see_tracker(tracker);
    struct tts_clientregion_event event;
    T_TRUE(see_event(&seen, seen.header.events - 1 - back, &event));
    close(seen.fd);
    return event;
}

/* Returns the buffer of device 0 with this id. The test fails if the table does not have it. */
static inline struct tts_clientregion_buffer buffer_of(struct tts_tracker *tracker, uint64_t id)
{
    struct seen_region seen = see_tracker(tracker);
    struct tts_clientregion_buffer buffer = {0};
    bool is_found = false;
    for (uint32_t i = 0; i < seen.header.buffer_high && !is_found; i++)
        is_found = see_buffer(&seen, i, &buffer) && buffer.id == id && buffer.device == 0;
    T_TRUE(is_found);
    close(seen.fd);
    return buffer;
}
