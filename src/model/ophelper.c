#include "model/ophelper.h"

#include <string.h>

/* As graph captures name them; the namespace changed over time. "Device Operation" is what
 * every device operation was called in 2024, beside its own name. */
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
