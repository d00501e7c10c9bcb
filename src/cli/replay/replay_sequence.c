#include "cli/replay/replay_sequence.h"

#include "base/error.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/message.h"
#include "device/space.h"
#include "views/percent.h"

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
    if (can && !stated)
        check->not_compared++;
    else if (!can || same)
        check->matched++;
    else
        check->line = line_no;
    return check->line == 0;
}

int tts_replay_check_end(const struct tts_replay_check *check, const char *path, bool json)
{
    bool one = check->not_compared == 1;
    if (check->line > 0)
        tts_message(command, "%s:%" PRIu64 ": expected '%s', got '%s'; stopped there",
                    tts_message_path(path), check->line, check->expected, check->got);
    if (check->not_compared > 0)
        tts_message(command,
                    "note: %" PRIu64 " operation%s no expected result and %s not compared",
                    check->not_compared, one ? " states" : "s state", one ? "was" : "were");
    if (!json)
        printf("%" PRIu64 " operations, %" PRIu64 " match\n", check->operations,
               check->matched);
    return check->line > 0 ? TTS_EXIT_BAD_NEWS : TTS_EXIT_DONE;
}

void tts_replay_json_check(struct tts_json *json, const struct tts_replay_check *check)
{
    if (!check) {
        tts_json_null(json, "check");
        return;
    }
    tts_json_object(json, "check");
    tts_json_number(json, "operations", check->operations);
    tts_json_number(json, "matched", check->matched);
    tts_json_number(json, "not_compared", check->not_compared);
    if (check->line > 0) {
        tts_json_object(json, "difference");
        tts_json_number(json, "line", check->line);
        tts_json_text(json, "expected", check->expected);
        tts_json_text(json, "got", check->got);
        tts_json_object_end(json);
    } else {
        tts_json_null(json, "difference");
    }
    tts_json_object_end(json);
}

/* --- blocks ----------------------------------------------------------------------------- */

static void put_id(struct tts_json *json, const char *key, uint32_t id)
{
    if (id == TTS_BLOCK_NONE)
        tts_json_null(json, key);
    else
        tts_json_number(json, key, id);
}

void tts_replay_json_blocks(struct tts_json *json, const struct tts_space *space)
{
    struct tts_space_cursor cursor = {0};
    struct tts_block block;
    tts_json_array(json, "blocks");
    while (tts_space_next(space, &cursor, &block)) {
        tts_json_object(json, NULL);
        tts_json_number(json, "id", block.id);
        tts_json_number(json, "address", block.address);
        tts_json_number(json, "size_bytes", block.size_bytes);
        put_id(json, "prev_id", block.prev_id);
        put_id(json, "next_id", block.next_id);
        tts_json_bool(json, "allocated", block.taken);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

/* --- text ------------------------------------------------------------------------------- */

void tts_replay_text_bytes(FILE *out, const char *name, uint64_t bytes)
{
    char human[TTS_NUMBER_BYTES_MAX];
    fprintf(out, "  %-14s %15" PRIu64 " B  %10s", name, bytes,
            tts_number_format_bytes(human, bytes));
}

void tts_replay_text_fragmentation(FILE *out, const struct tts_space_stats *stats)
{
    char percent[TTS_PERCENT_MAX];
    bool known = stats->free_bytes > 0;
    if (known)
        tts_percent_format(percent, stats->free_bytes - stats->largest_free_bytes,
                           stats->free_bytes);
    fprintf(out, "  %-14s %17s%14s%s\n", "fragmentation", known ? percent : "unknown", "",
            known ? "1 - largest free / free" : "nothing is free");
}

void tts_replay_text_count(FILE *out, const char *name, uint64_t count)
{
    fprintf(out, "  %-14s %15" PRIu64, name, count);
}
