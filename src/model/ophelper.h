/* ophelper.h: functions that the runtime calls inside an operation to allocate its outputs.
 * What they allocate belongs to the operation around them. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns true for "create_device_tensor", in any namespace, and the others of the table. */
bool tts_op_is_helper(const char *name, size_t len);
