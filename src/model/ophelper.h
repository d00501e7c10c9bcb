/* ophelper.h: helpers, which are functions that the runtime calls inside an operation to
 * allocate its outputs. The runtime reports a helper as an operation, but its buffers belong to
 * the operation around it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns whether an operation with this name is a helper: "create_device_tensor" in any
 * namespace, or another name of the table in ophelper.c. */
bool tts_op_is_helper(const char *name, size_t len);
