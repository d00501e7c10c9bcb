/* tracefile.h: facts about a file, which its export repeats. Plain value; the texts are
 * borrowed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tts_tracefile {
    const char *path;    /* as on the command line */
    const char *program; /* recorded program; NULL: unknown */
    uint64_t pid;        /* 0: unknown */
    bool is_recording;   /* false: a graph trace */
    bool has_times;
    bool l1_is_requested; /* bytes of L1 are requested bytes of the device, not of a core */
    uint64_t start_ns, start_realtime_ns; /* start of a recording */
};

/* Says how time is shown for a file without times. */
#define TTS_TRACEFILE_NO_TIMES "the file has no times: every event takes one microsecond"
/* Returns the source of the times as a text. */
static inline const char *tts_tracefile_times(const struct tts_tracefile *file)
{
    if (!file->has_times)
        return TTS_TRACEFILE_NO_TIMES;
    return file->is_recording ? "the recorder's monotonic clock"
                              : "durations of functions, one after the other: time between "
                                "functions is not known";
}

/* Returns a process number that is not 0 and fits into 31 bits. */
static inline uint32_t tts_tracefile_pid(const struct tts_tracefile *file)
{
    return file->pid > 0 && file->pid <= INT32_MAX ? (uint32_t)file->pid : 1;
}
static inline const char *tts_tracefile_program(const struct tts_tracefile *file)
{
    if (file->program && file->program[0])
        return file->program;
    return file->is_recording ? "(recording)" : "(graph trace)";
}
