#include "model/ophelper.h"

#include <string.h>

/* The names of helpers in graph captures. Their namespace changed over time. "Device Operation"
 * is here because in 2024 each device operation was reported twice: with this name and with its
 * own. */
static const struct {
    const char *name;
    size_t len;
} helpers[] = {
#define HELPER(name)                                                                           \
    {                                                                                          \
        name, sizeof name - 1                                                                  \
    }
    HELPER("create_device_tensor"),
    HELPER("allocate_tensor_on_device"),
    HELPER("Device Operation"),
#undef HELPER
};

bool tts_op_is_helper(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof helpers / sizeof helpers[0]; i++) {
        size_t own = helpers[i].len;
        if (len < own || name[len - 1] != helpers[i].name[own - 1] ||
            memcmp(name + len - own, helpers[i].name, own) != 0)
            continue;
        char before = len > own ? name[len - own - 1] : ':';
        if (before == ':' || before == '.')
            return true;
    }
    return false;
}
