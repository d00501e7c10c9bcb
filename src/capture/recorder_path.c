#include "capture/recorder_path.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_MAX = 24 };

/* Environment variables with the rank, the most reliable first. RANK comes before SLURM_PROCID,
 * because all programs that a launcher starts inside one Slurm task inherit the number of that
 * task. TT_MESH_HOST_RANK comes last, because it counts only the hosts of one mesh. */
static const char *const rank_names[] = {
    "OMPI_COMM_WORLD_RANK", "PMIX_RANK",        "PMI_RANK", "RANK",
    "SLURM_PROCID",         "TT_MESH_HOST_RANK"};

static bool is_number(const char *text)
{
    size_t len = strspn(text, "0123456789");
    return len > 0 && len < NUMBER_MAX && text[len] == '\0';
}

static enum tts_status rank_text(char out[NUMBER_MAX], struct tts_error *err)
{
    for (size_t i = 0; i < sizeof rank_names / sizeof rank_names[0]; i++) {
        const char *value = getenv(rank_names[i]);
        if (!value || !is_number(value))
            continue;
        snprintf(out, NUMBER_MAX, "%s", value);
        return TTS_OK;
    }
    return tts_error_set(err, TTS_E_INVALID,
                         "the rank for '%%r' in the path is unknown: set RANK, or leave out "
                         "'%%r'");
}

/* Writes the text that replaces "%" and this letter. */
static enum tts_status value_text(char letter, char out[NUMBER_MAX], struct tts_error *err)
{
    if (letter == 'r')
        return rank_text(out, err);
    if (letter == 'p')
        snprintf(out, NUMBER_MAX, "%ld", (long)getpid());
    else if (letter == '%')
        snprintf(out, NUMBER_MAX, "%%");
    else
        return tts_error_set(err, TTS_E_INVALID,
                             "unknown '%%%.1s' in the path: expected %%p (process id), %%r "
                             "(rank) or %%%% (a percent sign)",
                             (const char[]){letter, '\0'});
    return TTS_OK;
}

enum tts_status tts_recorder_path_expand(const char *path, char out[TTS_PATH_MAX],
                                         struct tts_error *err)
{
    size_t len = 0;
    for (const char *at = path; *at; at++) {
        char value[NUMBER_MAX] = {*at};
        if (*at == '%') {
            enum tts_status status = value_text(at[1], value, err);
            if (status != TTS_OK)
                return status;
            at++;
        }
        size_t value_len = strlen(value);
        if (value_len >= TTS_PATH_MAX - len)
            return tts_error_set(
                err, TTS_E_RANGE,
                "the path of the recording is too long: the maximum is %d bytes",
                TTS_PATH_MAX - 1);
        memcpy(out + len, value, value_len);
        len += value_len;
    }
    out[len] = '\0';
    return TTS_OK;
}
