#include "sources/hostchips_card.h"

#include "base/number.h"

#include <string.h>

enum { SERIAL_DIGITS = 16, CODE_SHIFT = 36, CODE_MASK = 0xffff };

static const struct tts_hostcard cards[] = {
    {0x14, TTS_ARCH_WORMHOLE, "n300", "n300"},
    {0x18, TTS_ARCH_WORMHOLE, "n150", "n150"},
    {0x35, TTS_ARCH_WORMHOLE, "galaxy-wormhole", "galaxy"},
    {0x36, TTS_ARCH_BLACKHOLE, "p100", "p100"},
    {0x40, TTS_ARCH_BLACKHOLE, "p150a", "p150"},
    {0x41, TTS_ARCH_BLACKHOLE, "p150b", "p150"},
    {0x42, TTS_ARCH_BLACKHOLE, "p150c", "p150"},
    {0x43, TTS_ARCH_BLACKHOLE, "p100a", "p100"},
    {0x44, TTS_ARCH_BLACKHOLE, "p300b", "p300"},
    {0x45, TTS_ARCH_BLACKHOLE, "p300a", "p300"},
    {0x46, TTS_ARCH_BLACKHOLE, "p300c", "p300"},
    {0x47, TTS_ARCH_BLACKHOLE, "galaxy-blackhole", "galaxy-blackhole"},
};

static const struct pci_id {
    uint64_t device;
    enum tts_arch arch;
} pci_ids[] = {
    {0x401e, TTS_ARCH_WORMHOLE},
    {0xb140, TTS_ARCH_BLACKHOLE},
    {0xfaca, TTS_ARCH_GRAYSKULL},
};

enum { CARDS = sizeof cards / sizeof cards[0], PCI_IDS = sizeof pci_ids / sizeof pci_ids[0] };

const struct tts_hostcard *tts_hostcard_of_serial(const char *serial)
{
    uint64_t board;
    if (strlen(serial) != SERIAL_DIGITS ||
        tts_number_parse_hex(serial, SERIAL_DIGITS, &board) != TTS_OK)
        return NULL;
    for (size_t i = 0; i < CARDS; i++)
        if (cards[i].code == (board >> CODE_SHIFT & CODE_MASK))
            return &cards[i];
    return NULL;
}

const struct tts_hostcard *tts_hostcard_of_type(const char *type)
{
    for (size_t i = 0; i < CARDS; i++)
        if (strcmp(cards[i].type, type) == 0)
            return &cards[i];
    return NULL;
}

bool tts_hostcard_arch(const char *pci_device, enum tts_arch *out)
{
    uint64_t device;
    if (strncmp(pci_device, "0x", 2) != 0 ||
        tts_number_parse_hex(pci_device + 2, strlen(pci_device + 2), &device) != TTS_OK)
        return false;
    for (size_t i = 0; i < PCI_IDS; i++) {
        if (pci_ids[i].device == device) {
            *out = pci_ids[i].arch;
            return true;
        }
    }
    return false;
}
