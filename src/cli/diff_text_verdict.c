/* diff_text_verdict.c: the answer: by how much the peak changed, and why. */
#include "base/number.h"
#include "cli/diff_parts.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { NAME_COLUMNS = 60, CHANGE_MAX = 160 };

struct name {
    char text[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
};

static const char *phase_name(struct name *out, const struct tts_diff_job *job,
                              const struct tts_diff_pair *pair, size_t phase)
{
    tts_safe_text(out->text, sizeof out->text, tts_diff_phase_name(job, pair, phase),
                  NAME_COLUMNS);
    return out->text;
}

struct size {
    char text[TTS_NUMBER_MB_MAX + 4];
};

/* Without its sign: "7388.00 MB"; "1024 B" where that would be nothing. */
static const char *size_of(struct size *out, int64_t bytes)
{
    char mb[TTS_NUMBER_MB_MAX];
    if (bytes < 0)
        bytes = bytes == INT64_MIN ? INT64_MAX : -bytes;
    if (tts_diff_is_small(bytes))
        snprintf(out->text, sizeof out->text, "%" PRId64 " B", bytes);
    else
        snprintf(out->text, sizeof out->text, "%s MB", tts_number_format_mb(mb, bytes, false));
    return out->text;
}

/* "192.95 to 9636.02 MB", in bytes where these would be the same. */
static void describe_way(char out[CHANGE_MAX], int64_t from, int64_t to)
{
    char a[TTS_NUMBER_MB_MAX], b[TTS_NUMBER_MB_MAX];
    tts_number_format_mb(a, from, false);
    tts_number_format_mb(b, to, false);
    if (strcmp(a, b) == 0)
        snprintf(out, CHANGE_MAX, "%" PRId64 " to %" PRId64 " B", from, to);
    else
        snprintf(out, CHANGE_MAX, "%s to %s MB", a, b);
}

/* "peak grew by 7388.00 MB (+89.24 %)" */
static void describe_change(const struct tts_delta *peak, char out[CHANGE_MAX])
{
    struct size size;
    char share[TTS_DIFF_PERCENT_MAX];
    int len =
        snprintf(out, CHANGE_MAX, "peak %s by %s", peak->change.bytes > 0 ? "grew" : "shrank",
                 size_of(&size, peak->change.bytes));
    assert(len > 0 && len < CHANGE_MAX);
    if (tts_diff_percent(share, peak)[0] != '\0')
        snprintf(out + len, CHANGE_MAX - (size_t)len, " (%s)", share);
}

/* ---- the phase ---- */

static void describe_cause(const struct tts_rundiff *diff, char out[CHANGE_MAX])
{
    const struct tts_rundiff_cause *cause = &diff->cause;
    const struct tts_rundiff_phase *phase = &diff->phases[cause->phase];
    const struct tts_delta *figure =
        &phase->figures[cause->is_peak ? TTS_RUN_SEGMENT_PEAK : TTS_RUN_CHANGE];
    const char *name = cause->is_peak ? "Peak" : "Change";
    char way[CHANGE_MAX], mb[TTS_NUMBER_MB_MAX];
    if (phase->where == TTS_IN_BOTH) {
        describe_way(way, figure->a.bytes, figure->b.bytes);
        snprintf(out, CHANGE_MAX, "its Segment %s %s from %.80s", name,
                 figure->change.bytes > 0 ? "rose" : "fell", way);
        return;
    }
    bool of_a = phase->where == TTS_ONLY_A;
    snprintf(
        out, CHANGE_MAX, "only %c has it, with a Segment %s of %s MB", of_a ? 'A' : 'B', name,
        tts_number_format_mb(mb, of_a ? figure->a.bytes : figure->b.bytes, !cause->is_peak));
}

/* What goes against it: what else changed, and that the peak was elsewhere before. */
static void describe_against(const struct tts_diff_job *job, const struct tts_diff_pair *pair,
                             char *out, size_t capacity)
{
    const struct tts_rundiff *diff = &pair->diff;
    const struct tts_rundiff_cause *cause = &diff->cause;
    bool grew = diff->peak.change.bytes > 0;
    struct tts_amount rest =
        tts_amount_subtract(diff->peak.change, diff->phases[cause->phase].contribution);
    rest = tts_amount_subtract(rest, tts_amount_of(cause->not_peak));
    rest = tts_amount_subtract(rest, tts_amount_of(cause->rounding));
    struct size size;
    struct name other, top;
    int len = 0;
    out[0] = '\0';
    if (grew ? rest.bytes < 0 : rest.bytes > 0)
        len = snprintf(out, capacity, "; what else changed %s %s", grew ? "saves" : "adds",
                       size_of(&size, rest.bytes));
    if (cause->not_peak == 0 || !cause->has_other || cause->other_phase == cause->peak_phase)
        return;
    assert(len >= 0 && (size_t)len < capacity);
    snprintf(out + len, capacity - (size_t)len,
             "; %c %s its peak in %s, %s higher than it %s %s", grew ? 'A' : 'B',
             grew ? "had" : "has", phase_name(&other, job, pair, cause->other_phase),
             size_of(&size, cause->not_peak), grew ? "was in" : "is in",
             phase_name(&top, job, pair, cause->peak_phase));
}

/* Less than 0.1 % of the peak. */
static bool is_slight(const struct tts_delta *peak)
{
    int64_t bytes = peak->change.bytes;
    return bytes > -(peak->a.bytes / 1000) && bytes < peak->a.bytes / 1000;
}

static void say_cause(const struct tts_diff_job *job, const struct tts_diff_pair *pair,
                      const char *change, FILE *out)
{
    const struct tts_rundiff *diff = &pair->diff;
    int64_t part = diff->phases[diff->cause.phase].contribution.bytes;
    int64_t whole = diff->peak.change.bytes;
    bool is_more = whole > 0 ? part > whole : part < whole;
    char how[CHANGE_MAX], against[sizeof(struct name) * 2 + CHANGE_MAX] = "";
    struct size size;
    struct name name;
    phase_name(&name, job, pair, diff->cause.phase);
    describe_cause(diff, how);
    if (is_more && is_slight(&diff->peak)) {
        tts_say(out, 0, "%s, as larger changes cancel out: %s by %s, %s", change,
                size_of(&size, part), name.text, how);
        return;
    }
    if (is_more)
        describe_against(job, pair, against, sizeof against);
    if (part == whole)
        tts_say(out, 0, "%s, all of it in %s: %s", change, name.text, how);
    else
        tts_say(out, 0, is_more ? "%s, %s by %s alone: %s%s" : "%s, %s of it in %s: %s%s",
                change, size_of(&size, part), name.text, how, against);
}

/* ---- the part, where no phase can be named ---- */

static void describe_part(const struct tts_rundiff *diff, char out[CHANGE_MAX])
{
    const struct tts_delta *part = &diff->parts[diff->cause.part];
    int64_t whole = diff->peak.change.bytes, bytes = part->change.bytes;
    const char *label = tts_diff_part_label(diff->cause.part);
    struct size size;
    char way[CHANGE_MAX];
    bool is_more = whole > 0 ? bytes > whole : bytes < whole;
    bool is_most = whole > 0 ? bytes >= whole / 2 : bytes <= whole / 2;
    describe_way(way, part->a.bytes, part->b.bytes);
    if (is_more)
        snprintf(out, CHANGE_MAX, ", %s by %s alone: %.60s", size_of(&size, bytes), label, way);
    else if (is_most)
        snprintf(out, CHANGE_MAX, ", most of it %s: %.60s", label, way);
    else
        snprintf(out, CHANGE_MAX, ", %s of it %s: %.60s", size_of(&size, bytes), label, way);
}

static void say_unexplained(const struct tts_diff_job *job, const struct tts_diff_pair *pair,
                            const char *change, FILE *out)
{
    const struct tts_rundiff_cause *cause = &pair->diff.cause;
    static const char *const why[] = {
        [TTS_RUNDIFF_NO_PEAK] = "the phase of the peak is not known",
        [TTS_RUNDIFF_LATER] = "a peak is in a later iteration, and the phases cover the first",
        [TTS_RUNDIFF_CUT] = "something of a run is missing, its peak may be more",
        [TTS_RUNDIFF_UNKNOWN] = "a figure of a phase before it is not known",
        [TTS_RUNDIFF_CONTRADICTION] = "the figures of the phases do not add up to it",
    };
    char part[CHANGE_MAX] = "";
    struct name name;
    if (cause->has_part)
        describe_part(&pair->diff, part);
    if (cause->reason == TTS_RUNDIFF_NO_PHASE)
        tts_say(out, 0,
                "%s%s; which phase explains it cannot be told: it is in %s, which "
                "only %c has",
                change, part, phase_name(&name, job, pair, cause->peak_phase),
                pair->diff.phases[cause->peak_phase].where == TTS_ONLY_A ? 'A' : 'B');
    else
        tts_say(out, 0, "%s%s; which phase explains it cannot be told: %s", change, part,
                why[cause->reason]);
}

static void say_same(const struct tts_rundiff *diff, FILE *out)
{
    if (diff->compared == 0) {
        tts_say(out, 0, "nothing can be compared: no figure is known of both");
        return;
    }
    tts_say(out, 0, "no difference%s",
            diff->is_rounded && !diff->is_equal ? " above 0.01 MB, to which logs are printed"
                                                : "");
}

void tts_diff_text_verdict(const struct tts_diff_job *job, const struct tts_diff_pair *pair,
                           FILE *out)
{
    const struct tts_rundiff *diff = &pair->diff;
    char change[CHANGE_MAX];
    if (!diff->differs) {
        say_same(diff, out);
        return;
    }
    if (!diff->peak.change.is_known) {
        tts_say(out, 0, "how the peak changed is not known, as the peak of %s is not",
                diff->peak.a.is_known   ? "B"
                : diff->peak.b.is_known ? "A"
                                        : "both");
        return;
    }
    if (!diff->peak.differs) {
        tts_say(out, 0, "the peak did not change");
        return;
    }
    describe_change(&diff->peak, change);
    if (diff->cause.reason == TTS_RUNDIFF_TOLD)
        say_cause(job, pair, change, out);
    else
        say_unexplained(job, pair, change, out);
}
