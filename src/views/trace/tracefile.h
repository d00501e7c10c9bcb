/* tracefile.h: what an export tells of the file it was made from. Plain value, borrowed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct tts_tracefile {
    const char *path;    /* as it was given */
    const char *program; /* that was recorded; NULL: not known */
    uint64_t pid;        /* 0: not known */
    bool is_recording;   /* else a graph trace */
    bool has_times;
    uint64_t start_ns, start_realtime_ns; /* of a recording */
};

/* What stands in the place of times where there are none. */
#define TTS_TRACEFILE_NO_TIMES "no times in the file: one microsecond for each event"
/* Where the times come from. */
static inline const char *tts_tracefile_times(const struct tts_tracefile *file)
{
    if (!file->has_times)
        return TTS_TRACEFILE_NO_TIMES;
    return file->is_recording ? "the recorder's monotonic clock"
                              : "durations of functions, one after the other: time between "
                                "functions is not known";
}

/* A number for the process that 31 bits hold and is not 0. */
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
