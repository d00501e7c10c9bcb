/* startuplog.h: when a runtime started, from startup.yaml of its inspector, and how the clock
 * of its logs relates to the time since 1970. Plain data; any thread. Allocates nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tts_startuplog {
    bool is_known;      /* both times are known */
    uint64_t system_ns; /* when the runtime started, since 1970 */
    uint64_t clock_ns;  /* the same moment on the clock of the logs */
};

/* Reads the text of the file. *out is not known if a time is missing or malformed. */
void tts_startuplog_parse(const char *text, size_t len, struct tts_startuplog *out);
