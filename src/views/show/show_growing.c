#include "views/show/show_growing.h"

#include "model/devicename.h"
#include "views/live/answers_view.h"
#include "views/say.h"

#include <inttypes.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
enum { ROW_BYTES = TTS_LIVEANSWER_MAX + 2 * TTS_DEVICENAME_MAX };

/* Returns the size of the pool, or 0 if it is unknown. */
static uint64_t growing_capacity(const struct tts_show_facts *show,
                                 const struct tts_growfound *found)
{
    uint64_t given = show->device_bytes[found->pool];
    if (given > 0)
        return given;
    return found->total_known ? found->total_bytes : 0;
}

static struct tts_livegrowing growing_answer(const struct tts_show_facts *show,
                                             const struct tts_growfound *found)
{
    const struct tts_growth *growth = &found->growth;
    uint64_t capacity = growing_capacity(show, found);
    struct tts_livegrowing answer = {.pool = found->pool,
                                     .since_ns = growth->from_ns,
                                     .grown_bytes = growth->last_bytes - growth->from_bytes,
                                     .bytes_per_second = tts_growth_slope(growth)};
    if (capacity >= growth->last_bytes && !found->is_withdrawn)
        answer.full_known =
            tts_growth_full(growth, capacity - growth->last_bytes, &answer.full_seconds);
    if (show->recording) {
        answer.owner.pid = (uint32_t)show->recording->header.pid;
        answer.owner.pid_known = answer.owner.pid > 0;
        memccpy(answer.owner.name, show->recording->header.program, '\0',
                sizeof answer.owner.name - 1);
    }
    return answer;
}

static size_t count_present_growths(const struct tts_growfounds *growing)
{
    size_t count = 0;
    for (size_t i = 0; i < growing->count; i++)
        count += !growing->list[i].is_withdrawn;
    return count;
}

/* Writes "3 devices were not judged". */
static void put_growing_left_out(const struct tts_growfounds *growing, FILE *out)
{
    size_t count = growing->devices_left_out;
    fprintf(out, "%s%zu device%s not judged",
            count == TTS_GROWSCAN_LEFT_OUT_MAX ? "at least " : "", count,
            count == 1 ? " was" : "s were");
}

void tts_showgrowing_headline(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_growfounds *growing = &show->sum->growing;
    size_t now = count_present_growths(growing);
    uint64_t past = growing->count - now;
    if (!growing->has_times) {
        fputs("growing pools: unknown (the file has no times)", out);
        return;
    }
    if (now > 0)
        fprintf(out, "%zu pool%s still growing at the end", now, now == 1 ? " was" : "s were");
    else if (past > 0)
        fprintf(out,
                "no pool was growing at the end; one grew, then levelled off or shrank, "
                "%" PRIu64 " time%s",
                past, tts_say_plural(past));
    else if (growing->devices_left_out > 0)
        fprintf(out, "no pool of the first %d devices was growing", TTS_GROWSCAN_DEVICES);
    else
        fputs("no pool was growing", out);
    if (growing->devices_left_out > 0) {
        fputs("; ", out);
        put_growing_left_out(growing, out);
    }
}

static void put_growing_row(const struct tts_show_facts *show,
                            const struct tts_growfound *found, FILE *out)
{
    char sentence[TTS_LIVEANSWER_MAX], row[ROW_BYTES], name[TTS_DEVICENAME_MAX];
    struct tts_livegrowing answer = growing_answer(show, found);
    uint64_t from = tts_show_since_start(show, found->growth.from_ns);
    uint64_t end = tts_show_since_start(show, found->withdrawn_ns);
    tts_liveanswers_growing(sentence, &answer, found->growth.last_ns, found->is_withdrawn);
    int len = snprintf(row, sizeof row, "%s: %s, from %" PRIu64 ".%06" PRIu64 " s on",
                       tts_devicename(found->device, name), sentence, from / SECOND_NS,
                       from % SECOND_NS / 1000);
    if (found->is_withdrawn && len > 0 && (size_t)len < sizeof row)
        snprintf(row + len, sizeof row - (size_t)len,
                 "; no longer growing at %" PRIu64 ".%06" PRIu64 " s", end / SECOND_NS,
                 end % SECOND_NS / 1000);
    tts_say_text(out, 2, row);
}

void tts_showgrowing_text(const struct tts_show_facts *show, FILE *out)
{
    const struct tts_growfounds *growing = &show->sum->growing;
    if (growing->count == 0 && growing->devices_left_out == 0)
        return;
    fputs("growing pools\n", out);
    for (size_t i = 0; i < growing->count; i++)
        put_growing_row(show, &growing->list[i], out);
    if (growing->unlisted > 0)
        fprintf(out, "  and %" PRIu64 " more\n", growing->unlisted);
    if (growing->devices_left_out > 0) {
        fputs("  ", out);
        put_growing_left_out(growing, out);
        fprintf(out, ", because the limit is %d devices\n", TTS_GROWSCAN_DEVICES);
    }
    fputc('\n', out);
}

static void put_json_growfound(const struct tts_show_facts *show,
                               const struct tts_growfound *found, struct tts_json *json)
{
    struct tts_livegrowing answer = growing_answer(show, found);
    tts_json_object(json, NULL);
    tts_json_text(json, "pool", tts_pool_name(found->pool));
    tts_json_number(json, "device", found->device);
    tts_json_number_or_null(json, "pid", answer.owner.pid_known, answer.owner.pid);
    tts_json_text_or_null(json, "name", answer.owner.name[0] ? answer.owner.name : NULL);
    tts_json_ratio(json, "since_seconds", tts_show_since_start(show, answer.since_ns),
                   SECOND_NS);
    tts_json_ratio(json, "until_seconds", tts_show_since_start(show, found->growth.last_ns),
                   SECOND_NS);
    tts_json_number(json, "grown_bytes", answer.grown_bytes);
    tts_json_number(json, "bytes_per_second", answer.bytes_per_second);
    tts_json_number_or_null(json, "full_seconds", answer.full_known, answer.full_seconds);
    if (found->is_withdrawn)
        tts_json_ratio(json, "withdrawn_seconds",
                       tts_show_since_start(show, found->withdrawn_ns), SECOND_NS);
    else
        tts_json_null(json, "withdrawn_seconds");
    tts_json_object_end(json);
}

void tts_showgrowing_json(const struct tts_show_facts *show, struct tts_json *json)
{
    const struct tts_growfounds *growing = &show->sum->growing;
    if (!show->has_growing || !growing->has_times) {
        tts_json_null(json, "growing");
        tts_json_null(json, "growing_not_listed");
        tts_json_null(json, "growing_devices_not_judged");
        return;
    }
    tts_json_array(json, "growing");
    for (size_t i = 0; i < growing->count; i++)
        put_json_growfound(show, &growing->list[i], json);
    tts_json_array_end(json);
    tts_json_number(json, "growing_not_listed", growing->unlisted);
    tts_json_number(json, "growing_devices_not_judged", growing->devices_left_out);
}
