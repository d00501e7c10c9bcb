#include "harness/region_image.h"

#include <string.h>

void region_image_put32(struct region_image *image, size_t off, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        image->bytes[off + (size_t)i] = (unsigned char)(value >> 8 * i);
}

void region_image_put64(struct region_image *image, size_t off, uint64_t value)
{
    region_image_put32(image, off, (uint32_t)value);
    region_image_put32(image, off + 4, (uint32_t)(value >> 32));
}

bool region_image_init(struct region_image *image, const char *kind, uint64_t id)
{
    memset(image, 0, sizeof *image);
    if (kind[0] != 'v' || kind[1] < '1' || kind[1] > '4')
        return false;
    image->version = (unsigned)(kind[1] - '0');
    image->has_kernels = strcmp(kind, "v1k") == 0;
    if (kind[2] != '\0' && !image->has_kernels)
        return false;
    image->len = image->has_kernels ? 9280 : 8576;
    region_image_put32(image, REGION_IMAGE_VERSION, image->version);
    region_image_put64(image, REGION_IMAGE_TIME, UINT64_C(1760000000000000000));
    if (image->version == 1) {
        region_image_put64(image, REGION_IMAGE_BOARD, id >> 8);
        region_image_put64(image, REGION_IMAGE_ASIC, id & 0xff);
        return true;
    }
    region_image_put64(image, REGION_IMAGE_ASIC, id);
    for (size_t chip = 1; chip < 16; chip++) /* chip 0 is the logical device 0 */
        region_image_put32(image, 88 + 48 * chip, 0xffffffff);
    if (image->version == 4)
        region_image_put32(image, REGION_IMAGE_INIT_STATE, 0x52454459);
    return true;
}

size_t region_image_slot_off(const struct region_image *image, size_t index)
{
    return image->has_kernels ? 992 + 128 * index : 856 + 120 * index;
}

static void put_counters(struct region_image *image, size_t off,
                         const uint64_t bytes[REGION_IMAGE_COUNTERS])
{
    for (size_t i = 0; i < (image->has_kernels ? 6u : 5u); i++)
        region_image_put64(image, off + 8 * i, bytes[i]);
}

void region_image_put_slot(struct region_image *image, size_t index,
                           const struct region_image_slot *slot)
{
    size_t off = region_image_slot_off(image, index);
    size_t time_off = image->has_kernels ? 56 : 48, name_off = time_off + 8;
    const char *name = slot->name ? slot->name : "";
    size_t len = strlen(name) < 64 ? strlen(name) : 64;
    region_image_put32(image, off, (uint32_t)slot->pid);
    put_counters(image, off + 8, slot->bytes);
    region_image_put64(image, off + time_off, slot->time_ns);
    memset(image->bytes + off + name_off, 0, 64);
    memcpy(image->bytes + off + name_off, name, len);
}

void region_image_put_totals(struct region_image *image,
                             const uint64_t bytes[REGION_IMAGE_COUNTERS])
{
    put_counters(image, REGION_IMAGE_TOTALS, bytes);
}
