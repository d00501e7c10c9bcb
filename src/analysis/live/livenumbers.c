#include "analysis/live/livenumbers.h"

#include "base/heap.h"

#include <stdlib.h>

/* What is known about a device in the last frame that had the device. */
struct tts_numbereddevice {
    bool unique_id_known, node_known, logical_id_known, instance_known, pid_known;
    bool is_seen; /* in the present frame */
    uint64_t unique_id;
    uint32_t node, logical_id, pid, number;
    struct tts_liveinstance instance;
};

/* Devices beyond this number of old ones are forgotten. */
enum { OLD_DEVICES_MAX = 4096 };

/* By what a device is known again, the surest first. */
enum number_match { MATCH_ID, MATCH_NODE, MATCH_PROGRAM, NUMBER_MATCHES };

void tts_livenumbers_init(struct tts_livenumbers *numbers, const struct tts_alloc *alloc)
{
    *numbers = (struct tts_livenumbers){.alloc = alloc ? alloc : tts_alloc_libc()};
}

void tts_livenumbers_release(struct tts_livenumbers *numbers)
{
    if (numbers->devices)
        numbers->alloc->free(numbers->alloc->ctx, numbers->devices,
                             numbers->capacity * sizeof *numbers->devices);
    tts_livenumbers_init(numbers, numbers->alloc);
}

static void describe_numbered(const struct tts_livedevice *device,
                              struct tts_numbereddevice *out)
{
    uint32_t number = out->number;
    *out = (struct tts_numbereddevice){.unique_id_known = device->unique_id_known,
                                       .node_known = device->node_known,
                                       .logical_id_known = device->logical_id_known,
                                       .unique_id = device->unique_id,
                                       .node = device->node,
                                       .logical_id = device->logical_id,
                                       .number = number,
                                       .is_seen = true};
    if (device->process_count == 0)
        return;
    const struct tts_liveprocess *process = &device->processes[0];
    out->instance_known = process->instance_known;
    out->instance = process->instance;
    out->pid_known = process->pid_known;
    out->pid = process->pid;
}

static bool is_numbered_program(const struct tts_numbereddevice *numbered,
                                const struct tts_livedevice *device)
{
    const struct tts_liveprocess program = {.instance_known = numbered->instance_known,
                                            .instance = numbered->instance,
                                            .pid_known = numbered->pid_known,
                                            .pid = numbered->pid};
    for (size_t i = 0; i < device->process_count; i++)
        if (tts_liveprocess_is_same(&program, &device->processes[i]))
            return true;
    return false;
}

static bool is_numbered_device(const struct tts_numbereddevice *numbered,
                               const struct tts_livedevice *device, enum number_match match)
{
    bool has_ids = numbered->unique_id_known && device->unique_id_known;
    if (match == MATCH_ID)
        return has_ids && numbered->unique_id == device->unique_id;
    /* The id of a board changes when a program makes the first region of the board. */
    if (match == MATCH_NODE)
        return numbered->node_known && device->node_known && numbered->node == device->node;
    return !has_ids && numbered->logical_id_known && device->logical_id_known &&
           numbered->logical_id == device->logical_id && is_numbered_program(numbered, device);
}

/* Returns the place of a device that is not seen yet, or the number of devices. Begins at
 * `from`, because frames have their devices in nearly the same order. */
static size_t find_numbered(const struct tts_livenumbers *numbers,
                            const struct tts_livedevice *device, enum number_match match,
                            size_t from)
{
    for (size_t i = 0; i < numbers->count; i++) {
        size_t place = from + i < numbers->count ? from + i : from + i - numbers->count;
        if (!numbers->devices[place].is_seen &&
            is_numbered_device(&numbers->devices[place], device, match))
            return place;
    }
    return numbers->count;
}

/* `index` of a device whose number is not found yet. */
#define NO_NUMBER UINT32_MAX

static void find_all_numbered(struct tts_livenumbers *numbers, struct tts_liveframe *frame,
                              enum number_match match)
{
    size_t from = 0;
    for (size_t i = 0; i < frame->device_count; i++) {
        struct tts_livedevice *device = &frame->devices[i];
        if (device->index != NO_NUMBER)
            continue;
        size_t place = find_numbered(numbers, device, match, from);
        if (place == numbers->count)
            continue;
        describe_numbered(device, &numbers->devices[place]);
        device->index = numbers->devices[place].number;
        from = place + 1 < numbers->count ? place + 1 : 0;
    }
}

/* Makes room for the devices of the frame. */
static enum tts_status reserve_numbered(struct tts_livenumbers *numbers,
                                        const struct tts_liveframe *frame)
{
    size_t needed = numbers->count + frame->device_count;
    struct tts_numbereddevice *grown =
        tts_alloc_grow(numbers->alloc, numbers->devices, &numbers->capacity, needed + 1,
                       sizeof *numbers->devices);
    if (!grown)
        return TTS_E_NOMEM;
    numbers->devices = grown;
    return TTS_OK;
}

/* Forgets the devices that the frame does not have, if there are many. */
static void forget_old_numbered(struct tts_livenumbers *numbers,
                                const struct tts_liveframe *frame)
{
    size_t kept = 0;
    if (numbers->count < frame->device_count + OLD_DEVICES_MAX)
        return;
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->devices[i].is_seen)
            numbers->devices[kept++] = numbers->devices[i];
    numbers->count = kept;
}

static int compare_live_numbers(const void *a, const void *b)
{
    uint32_t x = ((const struct tts_livedevice *)a)->index;
    uint32_t y = ((const struct tts_livedevice *)b)->index;
    return x < y ? -1 : x > y;
}

static void sort_by_number(struct tts_liveframe *frame)
{
    bool is_sorted = true;
    for (size_t i = 1; i < frame->device_count && is_sorted; i++)
        is_sorted = frame->devices[i - 1].index < frame->devices[i].index;
    if (!is_sorted)
        qsort(frame->devices, frame->device_count, sizeof *frame->devices,
              compare_live_numbers);
}

enum tts_status tts_livenumbers_assign(struct tts_livenumbers *numbers,
                                       struct tts_liveframe *frame)
{
    if (reserve_numbered(numbers, frame) != TTS_OK)
        return TTS_E_NOMEM;
    for (size_t i = 0; i < numbers->count; i++)
        numbers->devices[i].is_seen = false;
    for (size_t i = 0; i < frame->device_count; i++)
        frame->devices[i].index = NO_NUMBER;
    for (int match = MATCH_ID; match < NUMBER_MATCHES; match++)
        find_all_numbered(numbers, frame, (enum number_match)match);
    for (size_t i = 0; i < frame->device_count; i++) {
        if (frame->devices[i].index != NO_NUMBER)
            continue;
        struct tts_numbereddevice *numbered = &numbers->devices[numbers->count++];
        numbered->number = frame->devices[i].index = numbers->next++;
        describe_numbered(&frame->devices[i], numbered);
    }
    forget_old_numbered(numbers, frame);
    sort_by_number(frame);
    return TTS_OK;
}
