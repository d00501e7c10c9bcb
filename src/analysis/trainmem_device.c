/* How much memory a device has, of which a log prints the sum over all devices of its host. */
#include "analysis/trainmem_inside.h"

#include "ttscope/chip.h"

#include <string.h>
#include <strings.h>

/* DRAM of one chip of a preset; 0 if that is not known. */
static uint64_t preset_bytes(const char *name)
{
    struct tts_chip chip;
    struct tts_pool_layout dram;
    if (tts_chip_preset(name, &chip, NULL) != TTS_OK ||
        tts_chip_pool(&chip, TTS_POOL_DRAM, &dram, NULL) != TTS_OK)
        return 0;
    return dram.bank_bytes * dram.banks;
}

/* Whether a log that names `word` can be about a chip of this architecture. */
static bool is_of_arch(const char *word, enum tts_arch arch)
{
    const char *name = tts_arch_name(arch);
    return word[0] == '\0' || strncasecmp(word, name, strlen(name)) == 0;
}

/* DRAM of the board that a log names ("n150", in any case); 0: the word is no board. An
 * architecture ("blackhole") is no board: its boards have different memory. */
static uint64_t board_bytes(const char *word)
{
    char name[TTS_RUN_WORD_MAX] = "";
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)); i++)
        if (is_of_arch(word, preset->arch))
            return 0;
    for (size_t i = 0; word[i] && i + 1 < sizeof name; i++)
        name[i] = word[i] >= 'A' && word[i] <= 'Z' ? (char)(word[i] - 'A' + 'a') : word[i];
    return preset_bytes(name);
}

enum { DEVICES_MAX = 64 };

/* How far `total` is from so many devices of `each`. */
static uint64_t distance(uint64_t total, uint64_t each, uint32_t devices)
{
    uint64_t all = each * devices;
    return all > total ? all - total : total - all;
}

struct found {
    uint32_t devices; /* 0: none */
    uint64_t each;    /* what the catalogue has for one of them */
};

/* Hosts have 1, 2, 4, 8, ... devices. */
static void try_chip(uint64_t total, uint64_t each, uint64_t *nearest, struct found *found)
{
    for (uint32_t devices = 1; each > 0 && devices <= DEVICES_MAX; devices *= 2) {
        uint64_t away = distance(total, each, devices);
        if (away >= *nearest)
            continue;
        *nearest = away;
        *found = (struct found){devices, each};
    }
}

/* The chip of which `total` is a multiple, to 1 %: a trace region takes a little of it. A board
 * that the log names is the only one that counts. */
static struct found find_chip(uint64_t total, const char *word)
{
    struct found found = {0};
    uint64_t nearest = total / 100, board = board_bytes(word);
    const struct tts_preset *preset;
    if (board > 0)
        try_chip(total, board, &nearest, &found);
    for (size_t i = 0; board == 0 && (preset = tts_preset_at(i)); i++)
        if (is_of_arch(word, preset->arch))
            try_chip(total, preset_bytes(preset->name), &nearest, &found);
    return found;
}

/* The catalogue's figure, if the log names the chip and does not print less: a trace region
 * takes some of it. Programs print whole MB, or what the banks have before anything is
 * reserved. */
static int64_t memory_of(const struct tts_run *run, uint64_t each, int64_t printed)
{
    enum { MB = 1 << 20 };
    bool is_it =
        run->chip[0] != '\0' && each > 0 && each <= INT64_MAX && printed > (int64_t)each - MB;
    return is_it ? (int64_t)each : printed;
}

bool tts_trainmem_log_device(const struct tts_run *run, struct tts_trainmem *mem)
{
    int64_t total = run->device_memory.bytes;
    uint64_t board = board_bytes(run->chip);
    struct found found = {.devices = 1};
    if (!run->device_memory.is_known || total <= 0) {
        if (board == 0 || board > INT64_MAX)
            return false;
        mem->device_memory = tts_amount_of((int64_t)board);
        mem->log_devices = 1;
        return true;
    }
    if (!run->device_memory_is_one)
        found = find_chip((uint64_t)total, run->chip);
    if (found.devices == 0)
        found.devices = run->mesh_devices > 0 ? run->mesh_devices : 1;
    mem->device_memory = tts_amount_of(memory_of(run, found.each, total / found.devices));
    mem->log_devices = found.devices;
    return true;
}
