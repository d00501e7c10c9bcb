/* Reads bytes as a log of meshes and as startup.yaml. The first byte chooses: if it is even,
 * the log of meshes is read at once and in pieces, and a simple reader of the lines that the
 * runtime writes must find the same live meshes if no line is bad. If it is odd, the bytes are
 * startup.yaml: lines after the text that mean nothing change nothing, and the times are those
 * of the last good line of each name. */
#include "sources/live/meshlog.h"
#include "fuzz/reuse.h"
#include "sources/live/startuplog.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { INPUT_MAX = 4096, LINE_BYTES = 200 };

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* --- meshes ----------------------------------------------------------------------------- */

static void check_filled(const struct tts_seenbuffers *seen)
{
    check(seen->device_count <= TTS_HOSTVIEW_MESH_DEVICES_MAX, "too many devices");
    check(seen->devices_known == (seen->device_count > 0), "known devices without a number");
}

/* Counts the live meshes by the ids of the whole text. Returns false if the text has a line
 * that the runtime does not write, or an id twice. */
static bool count_simple(const char *text, size_t len, size_t *live, bool *had_several)
{
    uint64_t ids[INPUT_MAX / 8];
    size_t count = 0;
    int kind = 0; /* 1: created, 2: destroyed */
    *had_several = false;
    for (size_t at = 0; at < len;) {
        char line[LINE_BYTES];
        const char *end = memchr(text + at, '\n', len - at);
        size_t line_len = end ? (size_t)(end - text) - at : len - at;
        uint64_t id;
        int used = 0;
        if (!end || line_len >= sizeof line || memchr(text + at, 0, line_len))
            return false;
        memcpy(line, text + at, line_len);
        line[line_len] = '\0';
        at += line_len + 1;
        if (kind == 0 && strcmp(line, "- mesh_device_created:") == 0) {
            kind = 1;
        } else if (kind == 0 && strcmp(line, "- mesh_device_destroyed:") == 0) {
            kind = 2;
        } else if (kind && sscanf(line, "    mesh_id: %8" SCNu64 "%n", &id, &used) == 1 &&
                   line[used] == '\0' && line[13] >= '0' && line[13] <= '9') {
            size_t found = 0;
            while (found < count && ids[found] != id)
                found++;
            if (kind == 1 && found < count)
                return false;
            if (kind == 1)
                ids[count++] = id;
            else if (found < count)
                ids[found] = ids[--count];
            *had_several = *had_several || count > 1;
            kind = 0;
        } else {
            return false;
        }
        if (count > TTS_MESHLOG_LIVE_MAX)
            return false;
    }
    *live = count;
    return kind == 0;
}

static void read_meshes(const char *text, size_t len, size_t piece)
{
    static struct tts_meshlog whole, parts;
    struct tts_seenbuffers from_whole = {.is_complete = true};
    struct tts_seenbuffers from_parts = {.is_complete = true};
    size_t live;
    bool had_several;
    memset(&whole, 0, sizeof whole);
    memset(&parts, 0, sizeof parts);
    tts_meshlog_feed(&whole, text, len);
    for (size_t at = 0; at < len; at += piece)
        tts_meshlog_feed(&parts, text + at, len - at < piece ? len - at : piece);
    tts_meshlog_fill(&whole, &from_whole);
    tts_meshlog_fill(&parts, &from_parts);
    check_filled(&from_whole);
    check(memcmp(&from_whole, &from_parts, sizeof from_whole) == 0, "other devices in pieces");
    check(whole.count <= TTS_MESHLOG_LIVE_MAX && whole.count == parts.count, "other meshes");
    if (count_simple(text, len, &live, &had_several))
        check(!whole.is_damaged && whole.count == live && whole.had_several == had_several &&
                  from_whole.is_complete == !had_several,
              "other live meshes than the simple reader");
}

/* --- startup.yaml ----------------------------------------------------------------------- */

static void read_startup(const char *text, size_t len)
{
    static char longer[INPUT_MAX + 200];
    struct tts_startuplog first, second;
    tts_startuplog_parse(text, len, &first);
    check(!first.is_known || (first.system_ns <= INT64_MAX && first.clock_ns <= INT64_MAX),
          "a time that is no time");
    memcpy(longer, text, len);
    int more = snprintf(longer + len, sizeof longer - len, "\n- other:\n    name: 7\n# end\n");
    tts_startuplog_parse(longer, len + (size_t)more, &second);
    check(first.is_known == second.is_known &&
              (!first.is_known ||
               (first.system_ns == second.system_ns && first.clock_ns == second.clock_ns)),
          "lines without a meaning change the times");
    more = snprintf(longer + len, sizeof longer - len,
                    "\n  system_clock_ns: 17\n  high_resolution_clock_ns: 18");
    tts_startuplog_parse(longer, len + (size_t)more, &second);
    check(second.is_known && second.system_ns == 17 && second.clock_ns == 18,
          "the last times are not taken");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 1 || len > INPUT_MAX)
        return 0;
    if (bytes[0] & 1)
        read_startup((const char *)bytes + 1, len - 1);
    else
        read_meshes((const char *)bytes + 1, len - 1, 1 + bytes[0] / 2);
    return 0;
}
