/* How much memory a device has, of which a log prints the sum over all devices of its host. */
#include "analysis/trainmem_inside.h"

#include "ttscope/chip.h"

#include <string.h>
#include <strings.h>

/* A chip whose DRAM is not known, or that is not one of those the log names, has none here. */
static uint64_t dram_bytes(const struct tts_preset *preset, const char *chip_word)
{
    const char *arch = tts_arch_name(preset->arch);
    struct tts_chip chip;
    struct tts_pool_layout dram;
    if (chip_word[0] != '\0' && strncasecmp(chip_word, arch, strlen(arch)) != 0)
        return 0;
    if (tts_chip_preset(preset->name, &chip, NULL) != TTS_OK ||
        tts_chip_pool(&chip, TTS_POOL_DRAM, &dram, NULL) != TTS_OK)
        return 0;
    return dram.bank_bytes * dram.banks;
}

enum { DEVICES_MAX = 64 };

/* How far `total` is from so many devices of `each`. */
static uint64_t distance(uint64_t total, uint64_t each, uint32_t devices)
{
    uint64_t all = each * devices;
    return all > total ? all - total : total - all;
}

/* Hosts have 1, 2, 4, 8, ... devices. A trace region takes a little of what a chip has. 0: it
 * is a multiple of no chip. */
static uint32_t devices_of(uint64_t total, const char *chip_word)
{
    uint64_t nearest = total / 100;
    uint32_t found = 0;
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)); i++) {
        uint64_t each = dram_bytes(preset, chip_word);
        for (uint32_t devices = 1; each > 0 && devices <= DEVICES_MAX; devices *= 2) {
            uint64_t away = distance(total, each, devices);
            if (away >= nearest)
                continue;
            nearest = away;
            found = devices;
        }
    }
    return found;
}

uint32_t tts_trainmem_log_devices(const struct tts_trainrun *run)
{
    if (run->device_memory_is_one)
        return 1;
    uint32_t devices = devices_of((uint64_t)run->device_memory.bytes, run->chip);
    if (devices > 0)
        return devices;
    return run->mesh_devices > 0 ? run->mesh_devices : 1;
}
