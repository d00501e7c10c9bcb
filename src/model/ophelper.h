/* ophelper.h: functions that the runtime calls inside an operation to allocate its outputs.
 * Their buffers belong to the operation around them. Pure function. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns true for "create_device_tensor", in any namespace, and for the other names in the
 * table. */
bool tts_op_is_helper(const char *name, size_t len);
