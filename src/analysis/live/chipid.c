#include "analysis/live/chipid.h"

/* The upper half of the ids of simulated chips. */
#define SIMULATED_ID UINT64_C(0x5aa50000)
enum { SIMULATED_SHIFT = 32 };

/* Bits of the location of a chip on its board, after the serial number: now, and in version 1
 * of the region. */
enum { LOCATION_BITS = 5, LEGACY_LOCATION_BITS = 8 };

/* Returns whether `id` is the serial number followed by `bits` bits of a location. The runtime
 * shifts in 64 bits, so the first bits of a long serial number are lost. */
static bool is_located(uint64_t serial, unsigned bits, uint64_t id)
{
    return serial << bits == id >> bits << bits;
}

/* Returns whether the runtime may name a region of this chip by `id`. The rules of the runtime
 * depend on the architecture and on the Ethernet links, which cannot be seen from here. */
static bool is_chip_id(const struct tts_seenchip *chip, uint64_t id)
{
    if (chip->asic_id_known && chip->asic_id == id)
        return true;
    if (!chip->serial_known || chip->serial == 0)
        return false;
    return chip->serial == id || is_located(chip->serial, LOCATION_BITS, id) ||
           is_located(chip->serial, LEGACY_LOCATION_BITS, id);
}

const struct tts_seenchip *tts_chipid_find(const struct tts_hostview *view, uint64_t id)
{
    const struct tts_seenchip *found = NULL;
    for (size_t i = 0; i < view->chip_count; i++) {
        const struct tts_seenchip *chip = &view->chips[i];
        if (chip->asic_id_known && chip->asic_id == id)
            return chip;
    }
    for (size_t i = 0; i < view->chip_count; i++) {
        if (!is_chip_id(&view->chips[i], id))
            continue;
        if (found)
            return NULL;
        found = &view->chips[i];
    }
    return found;
}

bool tts_chipid_is_simulated(uint64_t id)
{
    return id >> SIMULATED_SHIFT == SIMULATED_ID;
}
