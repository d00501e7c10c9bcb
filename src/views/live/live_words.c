#include "views/live/live_words.h"

#include "base/number.h"
#include "views/safe_text.h"
#include "views/textroom.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* ---- words for programs ---- */

const char *tts_livestate_word(enum tts_livestate state)
{
    static const char *const words[] = {
        [TTS_LIVE_IDLE] = "idle",
        [TTS_LIVE_LIVE] = "live",
        [TTS_LIVE_PHANTOM] = "phantom",
        [TTS_LIVE_UNREADABLE] = "unreadable",
    };
    assert(state < sizeof words / sizeof words[0]);
    return words[state];
}

const char *tts_livesource_word(enum tts_livesource source)
{
    static const char *const words[] = {
        [TTS_LIVESOURCE_NONE] = NULL,
        [TTS_LIVESOURCE_REGION] = "region",
        [TTS_LIVESOURCE_INSPECTOR] = "inspector",
        [TTS_LIVESOURCE_CLIENT] = "client",
    };
    assert(source < sizeof words / sizeof words[0]);
    return words[source];
}

const char *tts_livetotal_word(enum tts_livetotal total)
{
    static const char *const words[] = {
        [TTS_LIVETOTAL_UNKNOWN] = NULL,
        [TTS_LIVETOTAL_NOMINAL] = "nominal",
        [TTS_LIVETOTAL_REPORTED] = "reported",
    };
    assert(total < sizeof words / sizeof words[0]);
    return words[total];
}

const char *tts_liveprocess_word(enum tts_liveprocess_state state)
{
    static const char *const words[] = {
        [TTS_LIVEPROCESS_LIVE] = "live",
        [TTS_LIVEPROCESS_DEAD] = "dead",
        [TTS_LIVEPROCESS_NOT_VISIBLE] = "not_visible",
    };
    assert(state < sizeof words / sizeof words[0]);
    return words[state];
}

const char *tts_livereason_word(enum tts_livereason reason)
{
    static const char *const words[] = {
        [TTS_LIVEREASON_NONE] = NULL,           [TTS_LIVEREASON_NAMESPACE] = "namespace",
        [TTS_LIVEREASON_HIDDEN] = "hidden",     [TTS_LIVEREASON_NO_LIST] = "no_list",
        [TTS_LIVEREASON_NO_BOARD] = "no_board", [TTS_LIVEREASON_OTHER_USER] = "other_user",
        [TTS_LIVEREASON_TOO_MANY] = "too_many", [TTS_LIVEREASON_ENDED] = "ended_holder",
        [TTS_LIVEREASON_UNREAD] = "unread",     [TTS_LIVEREASON_UNSURE] = "unsure",
        [TTS_LIVEREASON_NO_CHIPS] = "no_chips",
    };
    assert(reason < sizeof words / sizeof words[0]);
    return words[reason];
}

struct caveat_words {
    const char *word, *text;
};

static const struct caveat_words *find_caveat(enum tts_livecaveat caveat)
{
    /* In the order of the bits. */
    static const struct caveat_words table[TTS_CAVEATS] = {
        {"one_thread", "only the thread that opened the device is counted: buffers of other "
                       "threads are missing, and buffers that other threads freed are still "
                       "counted"},
        {"logical", "bytes are the sizes that programs requested, without the padding of the "
                    "banks"},
        {"nominal", "capacities are those of the board: the program can use less, so free "
                    "memory is an upper bound"},
        {"no_board",
         "the memory region matches no board of this host: the chip is remote or unknown"},
        {"cb_cached", "circular buffers are those of all cached programs, not only of the "
                      "running ones"},
        {"sum_differs", "the bytes of the processes do not add up to the total"},
        {"left_over", "the total contains bytes of processes that have ended: 'ttscope clean' "
                      "removes them"},
        {"not_tracked", "a process has the chip open, but its buffers are not counted"},
        {"sampled", "the numbers are samples: peaks between two samples are missed"},
        {"shared_slot", "processes of two containers share one entry of the memory region: "
                        "only the sum of their bytes is known"},
        {"clock",
         "the memory region stores no time of day, so the time of its last change is unknown"},
        {"private",
         "a process keeps its memory region in a private /dev/shm, as in a container"},
        {"over_nominal", "more bytes are allocated than the nominal capacity of the board: the "
                         "counters or the capacity are wrong"},
        {"part_log", "a buffer log could be read only in part, or is that of several meshes, "
                     "so the numbers "
                     "of this log are not used"},
        {"unsure_log", "a buffer log may belong to a process of the device or to another "
                       "process, so the numbers of this log are not used"},
        {"by_owner", "the id of the memory region names no board; ttscope chose this board "
                     "because one process uses the region and the board"},
        {"older_id", "the board has a newer memory region with another id: the bytes of this "
                     "region are left over"},
        {"shm_hidden", "ttscope may not read the /dev/shm of a process: if this directory is "
                       "private, the memory regions in it are missing (run ttscope as root)"},
        {"id_differs", "the memory region and its file name state different chips: the region "
                       "may be a copy, or not yet initialised"},
        {"part_region", "another memory region of the device cannot be read, so the bytes of "
                        "that region are missing"},
        {"dropped", "a program did not count all of its events: its numbers can be too low or "
                    "too high"},
        {"unlisted",
         "a program has more live buffers than its table can list: all are counted, "
         "but lists of its buffers are incomplete"},
        {"unknown_frees",
         "a program freed buffers whose allocations it did not count: the program "
         "may hold more memory than is shown"},
        {"of_program", "only a program names this device, and no board of this host is known "
                       "to be this device: for example, the device is modelled"},
    };
    size_t idx = 0;
    while (idx < TTS_CAVEATS && 1u << idx != (uint32_t)caveat)
        idx++;
    assert(idx < TTS_CAVEATS);
    return &table[idx];
}

const char *tts_livecaveat_word(enum tts_livecaveat caveat)
{
    return find_caveat(caveat)->word;
}

/* ---- sentences ---- */

const char *tts_livecaveat_text(enum tts_livecaveat caveat)
{
    return find_caveat(caveat)->text;
}

const char *tts_livestate_text(enum tts_livestate state)
{
    static const char *const texts[] = {
        [TTS_LIVE_IDLE] = "idle",
        [TTS_LIVE_LIVE] = "live",
        [TTS_LIVE_PHANTOM] = "phantom",
        [TTS_LIVE_UNREADABLE] = "unreadable",
    };
    assert(state < sizeof texts / sizeof texts[0]);
    return texts[state];
}

const char *tts_livesource_text(enum tts_livesource source)
{
    static const char *const texts[] = {
        [TTS_LIVESOURCE_NONE] = "none, nothing reports the memory of this chip",
        [TTS_LIVESOURCE_REGION] = "memory region of the runtime",
        [TTS_LIVESOURCE_INSPECTOR] = "buffer log of the inspector",
        [TTS_LIVESOURCE_CLIENT] = "the program, which publishes its memory",
    };
    assert(source < sizeof texts / sizeof texts[0]);
    return texts[source];
}

const char *tts_livereason_text(enum tts_livereason reason)
{
    static const char *const texts[] = {
        [TTS_LIVEREASON_NONE] = "",
        [TTS_LIVEREASON_NAMESPACE] = "a process that has the chip open runs in a container",
        [TTS_LIVEREASON_HIDDEN] = ("a process outside this container has the chip open; "
                                   "ttscope cannot see this process from inside the container"),
        [TTS_LIVEREASON_NO_LIST] =
            "the driver does not list the processes that have the chip open",
        [TTS_LIVEREASON_NO_BOARD] = "the memory region matches no board of this host",
        [TTS_LIVEREASON_OTHER_USER] = "the memory region belongs to another user than the "
                                      "process with this number",
        [TTS_LIVEREASON_TOO_MANY] = "more processes have the chip open than ttscope looks at",
        [TTS_LIVEREASON_ENDED] = ("a process that opened the chip has ended, and its children "
                                  "may have the chip open"),
        [TTS_LIVEREASON_UNREAD] =
            "the pid namespace of a process that has the chip open cannot be read",
        [TTS_LIVEREASON_NO_CHIPS] = "the chips of this host cannot be listed",
        [TTS_LIVEREASON_UNSURE] = ("a process with this number runs, but ttscope cannot read "
                                   "whether this process uses the chip"),
    };
    assert(reason < sizeof texts / sizeof texts[0]);
    return texts[reason];
}

const char *tts_livezero_text(void)
{
    return "All memory shows 0% used. This is normal while no program runs, just after a "
           "program opened the device, and after everything was freed. Start a program in "
           "another terminal; the numbers follow.";
}

bool tts_livezero_is(const struct tts_liveframe *frame)
{
    for (size_t i = 0; i < frame->device_count * TTS_POOLS; i++) {
        const struct tts_livepool *pool = &frame->devices[i / TTS_POOLS].pools[i % TTS_POOLS];
        if (!pool->allocated_known || pool->allocated_bytes > 0)
            return false;
    }
    return frame->device_count > 0;
}

/* ---- numbers ---- */

/* Returns the number of powers of 1024 to divide by. */
static unsigned size_power(uint64_t bytes)
{
    unsigned power = 0;
    while (power < 4 && bytes >> (10 * power) >= 1024)
        power++;
    return power;
}

const char *tts_livesize_text(char out[TTS_LIVETEXT_SIZE_MAX], uint64_t bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    char number[TTS_NUMBER_BYTES_MAX];
    unsigned power = size_power(bytes);
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVETEXT_SIZE_MAX);
    if (power == 0) {
        tts_textroom_number(&room, bytes);
        tts_textroom_put(&room, ".00");
    } else {
        tts_textroom_put(&room, tts_number_format_shifted(number, bytes, 10 * power));
    }
    tts_textroom_put(&room, " ");
    tts_textroom_put(&room, units[power]);
    return out;
}

const char *tts_livemb_text(char out[TTS_LIVETEXT_SIZE_MAX], uint64_t bytes)
{
    char number[TTS_NUMBER_BYTES_MAX];
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVETEXT_SIZE_MAX);
    tts_number_format_shifted(number, bytes, 20);
    /* The published numbers are whole. The footprint of such a buffer may be some bytes more.
     */
    char *zeros = strstr(number, ".00");
    if (zeros && (bytes == 0 || bytes >> 20 > 0))
        *zeros = '\0';
    tts_textroom_put(&room, number);
    tts_textroom_put(&room, " MB");
    return out;
}

const char *tts_livesize_short(char out[TTS_LIVETEXT_SIZE_MAX], uint64_t bytes)
{
    unsigned power = size_power(bytes), shift = 10 * power;
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVETEXT_SIZE_MAX);
    const char unit = "BKMGT"[power];
    if (power == 0) {
        tts_textroom_number(&room, bytes);
        tts_textroom_bytes(&room, &unit, bytes > 0);
        return out;
    }
    uint64_t whole = bytes >> shift, rest = bytes - (whole << shift);
    uint64_t half = UINT64_C(1) << (shift - 1);
    uint64_t hundredths = whole * 100 + ((rest * 100 + half) >> shift);
    uint64_t tenths = whole * 10 + ((rest * 10 + half) >> shift);
    if (hundredths < 1000) {
        tts_textroom_number(&room, hundredths / 100);
        tts_textroom_put(&room, ".");
        tts_textroom_two(&room, (unsigned)(hundredths % 100));
    } else if (tenths < 1000) {
        tts_textroom_number(&room, tenths / 10);
        tts_textroom_put(&room, ".");
        tts_textroom_number(&room, tenths % 10);
    } else {
        tts_textroom_number(&room, whole + (rest >= half));
    }
    tts_textroom_bytes(&room, &unit, 1);
    return out;
}

static uint32_t percent_tenths(uint32_t millionths)
{
    return (uint32_t)(((uint64_t)millionths + 500) / 1000);
}

uint32_t tts_livepercent_whole(uint32_t millionths)
{
    return percent_tenths(millionths) / 10;
}

const char *tts_livepercent_text(char out[TTS_LIVETEXT_PERCENT_MAX], uint32_t millionths)
{
    uint32_t tenths = percent_tenths(millionths);
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVETEXT_PERCENT_MAX);
    tts_textroom_number(&room, tenths / 10);
    tts_textroom_put(&room, ".");
    tts_textroom_number(&room, tenths % 10);
    tts_textroom_put(&room, "%");
    return out;
}

const char *tts_livetime_text(char out[TTS_LIVETEXT_TIME_MAX], uint64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / 1000000000);
    struct tm parts;
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVETEXT_TIME_MAX);
    if (!localtime_r(&seconds, &parts)) {
        tts_textroom_put(&room, "unknown");
        return out;
    }
    /* 64 bits of nanoseconds end in the year 2554. */
    tts_textroom_number(&room, (unsigned)parts.tm_year + 1900);
    const int numbers[] = {parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
                           parts.tm_sec};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        tts_textroom_bytes(&room, &"-- ::"[i], 1);
        tts_textroom_two(&room, (unsigned)numbers[i]);
    }
    return out;
}

const char *tts_liveage_text(char out[TTS_LIVETEXT_AGE_MAX], uint64_t age_ns)
{
    uint64_t seconds = age_ns / 1000000000, minutes = seconds / 60, hours = minutes / 60;
    const uint64_t days = hours / 24;
    struct tts_textroom room = tts_textroom_of(out, TTS_LIVETEXT_AGE_MAX);
    if (minutes == 0) {
        tts_textroom_number(&room, seconds);
        tts_textroom_put(&room, "s");
        return out;
    }
    tts_textroom_number(&room, days ? days : hours ? hours : minutes);
    tts_textroom_put(&room, days ? "d" : hours ? "h" : "m");
    tts_textroom_two(&room, (unsigned)(days    ? hours % 24
                                       : hours ? minutes % 60
                                               : seconds % 60));
    tts_textroom_put(&room, days ? "h" : hours ? "m" : "s");
    return out;
}

const char *tts_livedevice_text(char out[TTS_LIVETEXT_MAX], const struct tts_livedevice *device)
{
    enum { REASON_COLUMNS = 200 };
    char reason[REASON_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text(reason, sizeof reason, device->reason, REASON_COLUMNS);
    snprintf(out, TTS_LIVETEXT_MAX, "%s%s%s", tts_livestate_text(device->state),
             reason[0] ? ": " : "", reason);
    return out;
}
