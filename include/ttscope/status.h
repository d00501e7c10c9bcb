/* status.h: how every function of ttscope reports its result.
 * A function that can fail returns a status. If it has details, it fills an optional error that
 * the caller owns. Nothing here is global and nothing has to be freed.
 *
 * Threads: any thread may call any function here at any time, also in a signal handler and in
 * the child of a fork.
 *
 * Example:
 *     struct tts_error err = {TTS_OK, 0, 0, 0, ""};
 *     struct tts_chip chip;
 *     enum tts_status status = tts_chip_preset("n15", &chip, &err);
 *     if (status == TTS_E_NOT_FOUND)
 *         fprintf(stderr, "%s: %s\n", tts_status_text(status), err.text); */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
#define TTS_API extern "C" __attribute__((visibility("default")))
#else
#define TTS_API __attribute__((visibility("default")))
#endif
#define TTS_NODISCARD __attribute__((warn_unused_result))

/* The values are part of the binary interface. Add new ones at the end and never renumber. */
#define TTS_STATUS_MAP(X)                                                                      \
    X(OK, 0, "success")                                                                        \
    X(E_NOMEM, -1, "out of memory")                                                            \
    X(E_INVALID, -2, "invalid argument")                                                       \
    X(E_RANGE, -3, "value out of range")                                                       \
    X(E_FULL, -4, "no free block is large enough")                                             \
    X(E_BELOW_LIMIT, -5, "address is below the limit")                                         \
    X(E_NOT_FOUND, -6, "not found")                                                            \
    X(E_BUSY, -7, "in use")                                                                    \
    X(E_SYNTAX, -8, "malformed input")                                                         \
    X(E_IO, -9, "input or output failed")                                                      \
    X(E_AMBIGUOUS, -10, "more than one has this name")

#define TTS_STATUS_ENUM(name, value, text) TTS_##name = value,
enum tts_status { TTS_STATUS_MAP(TTS_STATUS_ENUM) };
#undef TTS_STATUS_ENUM

/* The details of an error. `line` and `offset` are 0 if they do not apply. Lines count from
 * 1. */
struct tts_error {
    enum tts_status status;
    int sys_errno;   /* errno of a failed system call, otherwise 0 */
    uint64_t offset; /* byte offset in the input */
    uint32_t line;   /* line of the input; UINT32_MAX if the number is higher */
    char text[160];  /* lower case, no full stop, always NUL-terminated */
};

/* Returns the constant text of a status, "unknown status" if the value is not in the list. */
TTS_API const char *tts_status_text(enum tts_status status);

/* Returns the version of the loaded library, for example "0.1.0". Constant text. */
TTS_API const char *tts_version(void);
