/* Reads bytes as the file of a memory region. The first byte selects the size of the file: the
 * rest of the input is all of the file, or is followed by zeros up to the size of a layout.
 * Accepted numbers are within the limits and are those of the bytes, which are found a second
 * time at offsets that are written out here. A refused region has no slots. */
#include "sources/live/regions.h"

#include "base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { SMALL = 8576, LARGE = 9280, FILE_MAX = 10000, ID = 7 };

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void check_counters(const struct tts_counters *counters, const uint8_t *at,
                           uint32_t count)
{
    check(counters->known == (1U << count) - 1, "other counters are known");
    for (uint32_t i = 0; i < TTS_COUNTERS; i++) {
        check(counters->bytes[i] == (i < count ? tts_get64(at + 8 * i) : 0), "another number");
        check(counters->bytes[i] <= TTS_REGIONS_BYTES_MAX, "a number beyond the limit");
    }
}

static void check_slot(const struct tts_seenslot *slot, const uint8_t *file, bool is_large)
{
    uint32_t count = is_large ? 6 : 5;
    const uint8_t *at = file + (is_large ? 992 + 128 * slot->index : 856 + 120 * slot->index);
    check(slot->pid > 0 && (uint32_t)slot->pid == tts_get32(at), "another process");
    check(slot->last_update_ns == tts_get64(at + 8 + 8 * count), "another time");
    check_counters(&slot->counters, at + 8, count);
    const char *name = (const char *)at + 16 + 8 * count;
    size_t len = strnlen(slot->name, sizeof slot->name);
    check(len < sizeof slot->name && memcmp(slot->name, name, len) == 0, "another name");
    check(len == 63 || name[len] == '\0', "a name that is cut off");
}

static void check_read(const struct tts_seenregion *region, const uint8_t *file)
{
    bool is_large = region->file_bytes == LARGE;
    size_t first = is_large ? 992 : 856, stride = is_large ? 128 : 120, count = 0;
    check(is_large || region->file_bytes == SMALL, "another size");
    check(region->version >= 1 && region->version <= 4, "another version");
    check(!is_large || region->version == 1, "another version of the large layout");
    check(region->version != 4 || tts_get32(file + 8536) == 0x52454459, "not ready");
    check(region->is_unix_time == (region->version > 1), "another clock");
    check(region->asic_id == tts_get64(file + 32), "another chip");
    check(region->logical_id == tts_get32(file + 40), "another device");
    check(region->reference_count == tts_get32(file + 16), "another reference count");
    check(region->last_update_ns == tts_get64(file + 8), "another time");
    check_counters(&region->total, file + 48, is_large ? 6 : 5);
    for (uint32_t i = 0; i < 64; i++) {
        if ((int32_t)tts_get32(file + first + i * stride) <= 0)
            continue;
        check(count < region->slot_count && region->slots[count].index == i, "a lost slot");
        check_slot(&region->slots[count++], file, is_large);
    }
    check(region->slot_count == count, "a slot from nowhere");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct tts_seenregion region;
    if (len < 1 || len - 1 > FILE_MAX)
        return 0;
    size_t size = bytes[0] % 4 == 1 ? SMALL : bytes[0] % 4 == 2 ? LARGE : len - 1;
    size_t given = len - 1 < size ? len - 1 : size, copied = size < LARGE ? size : LARGE;
    /* The memory ends where the copy ends, so that the sanitizer sees a read after it. */
    uint8_t *file = calloc(1, size > 0 ? size : 1);
    uint8_t *copy = malloc(copied > 0 ? copied : 1);
    check(file && copy, "no memory");
    memcpy(file, bytes + 1, given);
    memcpy(copy, file, copied);
    memset(&region, 0x5a, sizeof region);
    region.id = ID;
    region.file_bytes = size;
    enum tts_seenregion_state state = tts_regions_decode(copy, copied, &region);
    check(state == region.state, "two states");
    check(state != TTS_SEENREGION_CHANGING && state != TTS_SEENREGION_FAILED &&
              state != TTS_SEENREGION_NO_ACCESS,
          "a state that bytes cannot have");
    check(state == TTS_SEENREGION_READ || region.slot_count == 0, "slots of a refused region");
    check((state == TTS_SEENREGION_EMPTY || state == TTS_SEENREGION_UNKNOWN_VERSION) ==
              (region.layout == NULL),
          "a layout without a version");
    if (state == TTS_SEENREGION_READ)
        check_read(&region, file);
    free(copy);
    free(file);
    return 0;
}
