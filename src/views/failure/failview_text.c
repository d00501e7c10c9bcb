#include "base/number.h"
#include "views/failure/failview.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>
#include <stdarg.h>

enum { LABEL_COLUMNS = 13 };

TTS_PRINTF(3, 4)
static void say_row(FILE *out, const char *label, const char *format, ...)
{
    char text[TTS_FAILVIEW_LINE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tts_failview_glue(text);
    fprintf(out, "  %-*s", LABEL_COLUMNS - 2, label);
    tts_say_column(out, LABEL_COLUMNS, text);
}

static bool has_field(const struct tts_failview *view, enum tts_failmsg_field field)
{
    return tts_failmsg_has(view->msg, field);
}

/* ---- the numbers ---- */

/* Formats bytes twice, rounded for people and exact: "4.67 MiB (4894720 B)". Returns `out`. */
static const char *format_exact(char out[96], uint64_t bytes)
{
    char people[TTS_NUMBER_BYTES_MAX];
    tts_number_format_bytes(people, bytes);
    if (bytes < 1024)
        snprintf(out, 96, "%s", people);
    else
        snprintf(out, 96, "%s (%" PRIu64 TTS_SAY_GLUE "B)", people, bytes);
    return out;
}

static const char *field_text(char out[96], const struct tts_failview *view,
                              enum tts_failmsg_field field)
{
    if (!has_field(view, field))
        return "unknown";
    return format_exact(out, view->msg->value[field]);
}

static void say_place(const struct tts_failview *view, FILE *out)
{
    char name[TTS_SAFE_COLUMN_BYTES * 60 + 1];
    if (!view->path)
        return;
    tts_safe_text_end(name, sizeof name, tts_shown_path(view->path), 60);
    if (view->count > 1)
        say_row(out, "message",
                "%s, line %" PRIu64 ", and %" PRIu64 " more time%s, last in line %" PRIu64,
                name, view->msg->line, view->count - 1, tts_say_plural(view->count - 1),
                view->last_line);
    else
        say_row(out, "message", "%s, line %" PRIu64, name, view->msg->line);
}

static void say_bank(const struct tts_failview *view, FILE *out)
{
    char a[96], b[96], c[96], d[96];
    if (!view->msg->has_pool)
        return;
    say_row(out, "request", "%s of %s over %s%" PRIu64 " banks: %s of each bank",
            field_text(a, view, TTS_FAILMSG_REQUESTED), tts_pool_name(view->msg->pool),
            has_field(view, TTS_FAILMSG_BANKS) ? "" : "an unknown number, at least ",
            view->msg->value[TTS_FAILMSG_BANKS], field_text(b, view, TTS_FAILMSG_NEED));
    if (has_field(view, TTS_FAILMSG_BANK))
        say_row(
            out, "bank", "%s: allocated %s, free %s, largest free piece %s",
            field_text(a, view, TTS_FAILMSG_BANK), field_text(b, view, TTS_FAILMSG_ALLOCATED),
            field_text(c, view, TTS_FAILMSG_FREE), field_text(d, view, TTS_FAILMSG_LARGEST));
    if (view->verdict->is_sharded)
        say_row(out, "layout", "sharded: one shard in each of %" PRIu64 " banks",
                view->msg->value[TTS_FAILMSG_BANKS]);
}

static void say_pages(const struct tts_failview *view, FILE *out)
{
    const struct tts_failverdict *v = view->verdict;
    char text[256];
    size_t len = 0;
    if (v->page_count == 0)
        return;
    for (size_t i = 0; i < v->page_count; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%" PRIu64 " B (%s)",
                                i == 0                   ? ""
                                : i + 1 == v->page_count ? " or "
                                                         : ", ",
                                v->pages[i].bytes, v->pages[i].dtype);
    say_row(out, "tile", "%s%s", text,
            v->page_count > 2    ? ": all match the bytes of a bank"
            : v->page_count == 2 ? ": both match the bytes of a bank"
                                 : "");
}

static void say_cores(const struct tts_failview *view, FILE *out)
{
    char name[TTS_SAFE_COLUMN_BYTES * TTS_FAILMSG_RANGE_MAX + 1];
    if (view->msg->range[0] != '\0') {
        tts_safe_text(name, sizeof name, view->msg->range, TTS_FAILMSG_RANGE_MAX);
        if (has_field(view, TTS_FAILMSG_PROGRAM))
            say_row(out, "where", "program %" PRIu64 ", cores %s",
                    view->msg->value[TTS_FAILMSG_PROGRAM], name);
        else
            say_row(out, "where", "cores %s", name);
    }
    if (!has_field(view, TTS_FAILMSG_END))
        return;
    uint64_t end = view->msg->value[TTS_FAILMSG_END];
    if (has_field(view, TTS_FAILMSG_ADDRESS))
        say_row(out, "addresses",
                "the buffers of the program end at address %" PRIu64
                ", the lowest %s begins at address %" PRIu64,
                end, view->msg->family == TTS_FAILMSG_SVC ? "service allocation" : "L1 buffer",
                view->msg->value[TTS_FAILMSG_ADDRESS]);
    else if (has_field(view, TTS_FAILMSG_LIMIT))
        say_row(out, "addresses",
                "the buffers of the program end at address %" PRIu64
                ", the L1 of a core ends at %" PRIu64,
                end, view->msg->value[TTS_FAILMSG_LIMIT]);
    else
        say_row(out, "addresses", "the buffers of the program end at address %" PRIu64, end);
}

/* Says where a buffer or a trace lies that breaks a limit. */
static void say_address(const struct tts_failview *view, FILE *out)
{
    static const enum tts_failmsg_field marks[] = {TTS_FAILMSG_ALLOC_END, TTS_FAILMSG_FREE_END,
                                                   TTS_FAILMSG_LIVE_END};
    static const char *const users[] = {"allocated during the capture",
                                        "freed during the capture", "used by another trace"};
    static const char *const labels[] = {"allocated", "freed", "in use"};
    const uint64_t *value = view->msg->value;
    if (!has_field(view, TTS_FAILMSG_ADDRESS) || has_field(view, TTS_FAILMSG_END))
        return;
    if (view->msg->family == TTS_FAILMSG_ADDR)
        say_row(out, "addresses",
                "the buffer would begin at %" PRIu64 ", the lowest allowed address is %" PRIu64,
                value[TTS_FAILMSG_ADDRESS], value[TTS_FAILMSG_LIMIT]);
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (has_field(view, marks[i]))
            say_row(out, labels[i],
                    "the trace takes the addresses of each bank from %" PRIu64
                    " up, the DRAM %s reaches up to address %" PRIu64,
                    value[TTS_FAILMSG_ADDRESS], users[i], value[marks[i]]);
}

/* Says the numbers of a message about a rule. */
static void say_rule_numbers(const struct tts_failview *view, FILE *out)
{
    static const struct {
        enum tts_failmsg_field field;
        const char *name;
    } numbers[] = {{TTS_FAILMSG_INDEX, "index"},
                   {TTS_FAILMSG_COUNT, "number"},
                   {TTS_FAILMSG_SIZE, "size"},
                   {TTS_FAILMSG_LIMIT, "limit"}};
    char text[160] = "";
    size_t len = 0;
    bool is_page = view->msg->family == TTS_FAILMSG_CBSIZE;
    if (view->verdict->cause != TTS_FAILCAUSE_OTHER)
        return;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (has_field(view, numbers[i].field))
            len += (size_t)snprintf(
                text + len, sizeof text - len, "%s%s %" PRIu64, len > 0 ? ", " : "",
                is_page && numbers[i].field == TTS_FAILMSG_LIMIT ? "page size"
                                                                 : numbers[i].name,
                view->msg->value[numbers[i].field]);
    if (len > 0)
        say_row(out, "numbers", "%s", text);
}

/* Says how large the circular buffers are: from their base, which depends on the release. */
static void say_base(const struct tts_failview *view, FILE *out)
{
    const struct tts_failverdict *v = view->verdict;
    const struct tts_l1_base *base = v->bases;
    char a[96];
    if (!has_field(view, TTS_FAILMSG_END))
        return;
    uint64_t end = view->msg->value[TTS_FAILMSG_END];
    uint64_t bytes = end - v->l1_base, tiles = v->base_count > 0 ? bytes / base->tile_bytes : 0;
    if (v->has_base && view->msg->l1_base == v->l1_base)
        say_row(out, "size",
                "%s of circular buffers on each core, from address %" PRIu64
                " (stated in the log)",
                format_exact(a, bytes), v->l1_base);
    else if (v->has_base)
        say_row(out, "size",
                "%s of circular buffers on each core, if they begin at address %" PRIu64
                " as on %s in tt-metal %s: the size is then a whole number of tiles, %" PRIu64
                " tile%s of %" PRIu64 TTS_SAY_GLUE "B",
                format_exact(a, bytes), v->l1_base, tts_arch_name(base->arch), base->when,
                tiles, tts_say_plural(tiles), base->tile_bytes);
    else if (v->base_count > 0)
        say_row(out, "size",
                "unknown: the first address depends on the release of tt-metal, and the end "
                "address matches %zu releases",
                v->base_count);
    else
        say_row(out, "size",
                "unknown: the end address matches no known first address of such buffers");
}

static void say_op(const struct tts_failview *view, FILE *out)
{
    char name[TTS_SAFE_COLUMN_BYTES * TTS_FAILMSG_OP_MAX + 1];
    if (view->msg->op[0] == '\0')
        return;
    tts_safe_text(name, sizeof name, view->msg->op, TTS_FAILMSG_OP_MAX);
    say_row(out, "operation", "%s, line %" PRIu64 " (%s)", name, view->msg->op_line,
            view->msg->op_is_near ? "the last operation before the message"
                                  : "from the backtrace");
}

/* ---- the reason ---- */

static const char *why(const struct tts_failview *view)
{
    switch (view->verdict->cause) {
    case TTS_FAILCAUSE_NEVER_FITS:
        return "Even an empty device has no room for this buffer, because each bank holds one "
               "contiguous part of it.";
    case TTS_FAILCAUSE_CAPACITY:
        return "The live buffers leave too few bytes. Moving buffers cannot help: free some "
               "buffers, or make some buffers smaller.";
    case TTS_FAILCAUSE_FRAGMENTATION:
        return "A buffer needs one contiguous piece at the same address in every bank. Enough "
               "bytes are free, but live buffers lie between the free pieces.";
    case TTS_FAILCAUSE_CLASH:
        if (view->msg->family == TTS_FAILMSG_SVC)
            return "Circular buffers grow up from the bottom of L1. On service cores, the "
                   "memory of the service lies above them, and the two meet.";
        return "Circular and dataflow buffers grow up from the bottom of L1, L1 buffers grow "
               "down from the "
               "top, and the two meet. The L1 buffer may be on other cores: the allocator uses "
               "one address for all cores.";
    case TTS_FAILCAUSE_BEYOND_L1:
        return "These buffers alone are larger than L1. Freeing L1 buffers does not help.";
    case TTS_FAILCAUSE_BELOW_LIMIT:
        return "Interleaved L1 buffers must stay above a limit, because the memory below it "
               "belongs to circular buffers and sharded buffers.";
    case TTS_FAILCAUSE_TRACE_REGION:
        return "The region must hold all traces that are alive. A trace whose capture failed "
               "still counts.";
    case TTS_FAILCAUSE_TRACE_OVERLAP:
        return "A replay writes to the addresses that its capture used. Buffers that are at "
               "these addresses during the replay are overwritten.";
    case TTS_FAILCAUSE_CONFIG_RING:
        return "Kernel binaries, runtime arguments and semaphores of a program share the "
               "kernel-config ring of a core; circular buffers are not in it.";
    case TTS_FAILCAUSE_OTHER:
    case TTS_FAILCAUSE_UNKNOWN:
        break;
    }
    return NULL;
}

static void say_why(const struct tts_failview *view, FILE *out)
{
    const char *text = why(view);
    if (view->verdict->reason[0] != '\0')
        tts_say(out, 0, "why: %s.", view->verdict->reason);
    if (text)
        tts_say(out, 0, "%s%s", view->verdict->reason[0] != '\0' ? "" : "why: ", text);
}

static void say_advice(const struct tts_failview *view, FILE *out)
{
    char text[TTS_FAILVIEW_LINE_MAX], command[TTS_FAILVIEW_COMMAND_MAX];
    if (view->advice->count == 0)
        return;
    fprintf(out, "\n%s:\n",
            view->verdict->cause == TTS_FAILCAUSE_UNKNOWN ? "what to do"
                                                          : "what to change, cheapest first");
    for (size_t i = 0; i < view->advice->count; i++) {
        tts_failview_advice_text(text, view, i);
        tts_failview_glue(text);
        tts_say(out, 2, "%zu. %s", i + 1, text);
        if (tts_failview_advice_command(command, view, i))
            fprintf(out, "     $ %s\n", command);
    }
}

void tts_failview_text_headline(const struct tts_failview *view, FILE *out)
{
    char text[TTS_FAILVIEW_LINE_MAX];
    tts_failview_headline(text, view);
    tts_failview_glue(text);
    tts_say(out, 0, "%s", text);
}

void tts_failview_text_details(const struct tts_failview *view, FILE *out)
{
    say_place(view, out);
    say_op(view, out);
    say_bank(view, out);
    say_pages(view, out);
    say_cores(view, out);
    say_base(view, out);
    say_address(view, out);
    say_rule_numbers(view, out);
    say_why(view, out);
    tts_failview_holders_text(view, out);
    say_advice(view, out);
}

void tts_failview_text(const struct tts_failview *view, FILE *out)
{
    tts_failview_text_headline(view, out);
    tts_failview_text_details(view, out);
}
