/* show_text_live.c: what lived at a moment, the fullest core, refused requests; for people. */
#include "base/number.h"
#include "cli/show_parts.h"
#include "model/devicename.h"
#include "views/percent.h"
#include "views/say.h"

#include <inttypes.h>

/* ---- buffers ---- */

static void put_amount(FILE *out, int64_t bytes)
{
    char mb[TTS_NUMBER_MB_MAX];
    fprintf(out, "  %14" PRId64 " %11s", bytes, tts_number_format_mb(mb, bytes, false));
}

/* Sums of foreign sizes may be more than a share can be made of. */
static void put_share(FILE *out, uint64_t part, uint64_t whole)
{
    char text[TTS_PERCENT_MAX];
    bool can = part <= whole && whole < UINT64_C(1) << 53;
    fprintf(out, " %8s", can ? tts_percent_format(text, part, whole) : "-");
}

static void put_by_op(const struct tts_show *show, const struct tts_summary_moment *moment,
                      FILE *out)
{
    const struct tts_op_row *rows = moment->by_op.items;
    uint64_t bytes = moment->bytes, buffers = moment->buffers;
    fprintf(out, "  %14s %11s %8s %9s  operation\n", "bytes", "MB", "share", "buffers");
    for (size_t i = 0; i < moment->by_op.count; i++) {
        put_amount(out, (int64_t)rows[i].moment_bytes);
        put_share(out, rows[i].moment_bytes, moment->bytes);
        fprintf(out, " %9" PRIu64 "  ", rows[i].moment_buffers);
        tts_show_text_op(show, out, rows[i].op, 30);
        fputc('\n', out);
        bytes -= rows[i].moment_bytes;
        buffers -= rows[i].moment_buffers;
    }
    if (moment->op_count > moment->by_op.count) {
        put_amount(out, (int64_t)bytes);
        put_share(out, bytes, moment->bytes);
        fprintf(out, " %9" PRIu64 "  (%zu more)\n", buffers,
                moment->op_count - moment->by_op.count);
    }
    if (moment->level.loose_bytes != 0) {
        put_amount(out, moment->level.loose_bytes);
        fprintf(out, "%20s(%s)\n", "",
                moment->level.loose_bytes < 0 ? "freed, from before the file" : "not listed");
    }
}

static void put_largest(const struct tts_show *show, const struct tts_summary_moment *moment,
                        FILE *out)
{
    const struct tts_live *live = moment->largest.items;
    uint64_t bytes = moment->bytes;
    fprintf(out, "  %14s %18s %6s %10s  allocated by\n", "largest, bytes", "buffer", "device",
            "at event");
    for (size_t i = 0; i < moment->largest.count; i++) {
        char name[TTS_DEVICENAME_MAX];
        fprintf(out, "  %14" PRIu64 " %18" PRIu64 " %6s %10" PRIu64 "  ",
                tts_live_bytes(&live[i]), live[i].id,
                tts_devicename_short(live[i].device, name), live[i].seq);
        tts_show_text_op(show, out, live[i].op, 25);
        fputc('\n', out);
        bytes -= tts_live_bytes(&live[i]);
    }
    if (moment->buffers > moment->largest.count)
        fprintf(out, "  %14" PRIu64 " %18s (%" PRIu64 " more, --top 0 shows them)\n", bytes, "",
                moment->buffers - moment->largest.count);
}

void tts_show_text_moment(const struct tts_show *show, const struct tts_summary_moment *moment,
                          FILE *out)
{
    if (moment->buffers > 0 || moment->level.loose_bytes != 0)
        put_by_op(show, moment, out);
    if (moment->buffers > 0)
        put_largest(show, moment, out);
}

/* ---- the fullest core ---- */

static const char *part_name(const struct tts_core_part *part)
{
    switch ((int)part->kind) {
    case TTS_EVENT_CB:
        return "circular buffer";
    case TTS_EVENT_DFB:
        return "dataflow buffer";
    case TTS_EVENT_SCRATCHPAD:
        return "scratchpad";
    default:
        return part->pool == TTS_POOL_L1_SMALL ? "L1_SMALL buffer" : "L1 buffer";
    }
}

static void put_part(const struct tts_show *show, const struct tts_core_part *part, FILE *out)
{
    fprintf(out, "  %14" PRIu64 "  %s", part->bytes, part_name(part));
    if (part->kind == TTS_EVENT_ALLOC)
        fprintf(out, " %" PRIu64, part->id);
    if (part->op) {
        fputs(" of ", out);
        tts_show_text_op(show, out, part->op, 30);
    }
    fputc('\n', out);
}

void tts_show_text_core(const struct tts_show *show, const struct tts_core_peak *core,
                        FILE *out)
{
    if (tts_show_is_unknown(show, TTS_POOL_L1)) {
        fputs("fullest core: unknown (" TTS_SHOW_L1_REASON ")\n\n", out);
        return;
    }
    if (!core->known) {
        fputs("fullest core: nothing was on a core\n\n", out);
        return;
    }
    char name[TTS_DEVICENAME_MAX];
    fprintf(out, "fullest core: %s%" PRIu64 " B on core (%u, %u) of %s\n",
            core->at_least ? "at least " : "", core->bytes, core->core.x, core->core.y,
            tts_devicename(core->device, name));
    fprintf(out, "  at event %" PRIu64, core->seq);
    if (core->op) {
        fputs(", in ", out);
        tts_show_text_op(show, out, core->op, TTS_OP_NAME_MAX);
    }
    fprintf(out,
            "\n  circular buffers %" PRIu64 ", dataflow buffers %" PRIu64
            ", scratchpads %" PRIu64 ",\n  L1 buffers %" PRIu64 ", L1_SMALL buffers %" PRIu64
            "\n",
            core->cb_bytes, core->dfb_bytes, core->scratchpad_bytes, core->l1_bytes,
            core->l1_small_bytes);
    for (size_t i = 0; i < core->part_count; i++)
        put_part(show, &core->parts[i], out);
    if (core->unlisted > 0)
        fprintf(out, "  %14" PRIu64 "  in %" PRIu64 " more\n", core->unlisted_bytes,
                core->unlisted);
    fputc('\n', out);
}

/* ---- failures ---- */

static void put_failure(const struct tts_show *show, const struct tts_summary_failure *failure,
                        FILE *out)
{
    char text[TTS_FAILURE_TEXT_MAX], bytes[TTS_NUMBER_BYTES_MAX];
    uint64_t live = (uint64_t)failure->level.bytes;
    fprintf(out, "  event %" PRIu64, failure->seq);
    tts_show_text_when(show, failure->has_time, failure->time_ns,
                       tts_summary_op_name(&failure->op), out);
    char name[TTS_DEVICENAME_MAX];
    fprintf(out, ", %s\n", tts_devicename(failure->device, name));
    tts_say_sentence(out, "    ", tts_failure_text(&failure->failure, text));
    if (tts_failure_deficit_is_known(&failure->failure))
        fprintf(out, "    missing: %" PRIu64 " B%s\n", tts_failure_deficit(&failure->failure),
                failure->failure.kind == TTS_FAILURE_SPACE ? " of each bank" : "");
    fprintf(out, "    %s of the device then: %" PRIu64 " buffer%s, %" PRIu64 " B (%s)\n",
            tts_pool_name(failure->failure.pool), failure->level.buffers,
            failure->level.buffers == 1 ? "" : "s", live, tts_number_format_bytes(bytes, live));
}

void tts_show_text_failures(const struct tts_show *show, FILE *out)
{
    uint64_t count = show->sum.failure_count + show->sum.failures_unlisted;
    size_t shown = show->sum.failure_count;
    if (count == 0)
        return;
    if (show->options.top > 0 && shown > show->options.top)
        shown = show->options.top;
    fprintf(out, "requests that were refused: %" PRIu64 "\n", count);
    for (size_t i = 0; i < shown; i++) {
        put_failure(show, &show->sum.failures[i], out);
        if (i == 0)
            tts_show_text_moment(show, &show->sum.failure_moment, out);
    }
    if (count > shown)
        fprintf(out, "  %" PRIu64 " more\n", count - shown);
    fputc('\n', out);
}
