#include "cli/replay/replay_sequence.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/message.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = "replay";

enum tts_status tts_replay_next_line(struct tts_lines *lines, const char *path,
                                     const char **text, size_t *len, struct tts_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t mark_len = sizeof mark - 1;
    enum tts_status status = tts_lines_next(lines, text, len, err);
    if (status == TTS_E_IO && strcmp(path, "-") == 0)
        return tts_error_set_errno(err, status, err->sys_errno, "cannot read standard input");
    if (status == TTS_E_IO)
        return tts_error_set_errno(err, status, err->sys_errno, "cannot read '%s'", path);
    if (status == TTS_OK && lines->line == 1 && *len >= mark_len &&
        memcmp(*text, mark, mark_len) == 0) {
        *text += mark_len;
        *len -= mark_len;
    }
    return status;
}

void tts_replay_locate(const struct tts_lines *lines, struct tts_error *err)
{
    uint64_t line = lines->line > 0 ? lines->line : 1;
    if (err->line == 0 && err->status != TTS_E_IO)
        err->line = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
}

/* --- comparison ------------------------------------------------------------------------- */

bool tts_replay_check_step(struct tts_replay_check *check, bool can, bool stated, bool same,
                           uint64_t line_no)
{
    if (!can)
        check->without_result++;
    else if (!stated)
        check->not_compared++;
    else if (same)
        check->matched++;
    else
        check->line = line_no;
    return check->line == 0;
}

int tts_replay_check_end(const struct tts_replay_check *check, const char *path, bool json)
{
    bool one = check->not_compared == 1;
    if (check->line > 0)
        tts_message(command,
                    "%s:%" PRIu64 ": expected '%s', got '%s'; the comparison stopped there",
                    tts_message_path(path), check->line, check->expected, check->got);
    if (check->not_compared > 0)
        tts_message(command,
                    "note: %" PRIu64 " operation%s no expected result and %s not compared",
                    check->not_compared, one ? " states" : "s state", one ? "was" : "were");
    if (!json) {
        printf("%" PRIu64 " operations, %" PRIu64 " match", check->operations, check->matched);
        if (check->without_result > 0)
            printf(", %" PRIu64 " ha%s no result", check->without_result,
                   check->without_result == 1 ? "s" : "ve");
        putchar('\n');
    }
    return check->line > 0 ? TTS_EXIT_BAD_NEWS : TTS_EXIT_DONE;
}
