/* hostchips_card.h: which card a serial, a type or a PCI device id tells. Constant tables and
 * pure functions, for hostchips.c only. */
#pragma once

#include "ttscope/chip.h"

#include <stdbool.h>
#include <stdint.h>

struct tts_hostcard {
    uint32_t code; /* in the serial */
    enum tts_arch arch;
    const char *type;   /* the driver's word for it */
    const char *preset; /* of tts_chip_preset() */
};

/* NULL: none that is known. A serial is 16 hex digits. */
const struct tts_hostcard *tts_hostcard_of_serial(const char *serial);
const struct tts_hostcard *tts_hostcard_of_type(const char *type);

/* Of a PCI device id as sysfs writes it, "0x401e". False: none that is known. */
bool tts_hostcard_arch(const char *pci_device, enum tts_arch *out);
