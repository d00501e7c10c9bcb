/* check_text.c: the answer for people: a sentence a limit, in lines of 80 columns, and a
 * verdict. */
#include "cli/check_parts.h"
#include "cli/message.h"
#include "views/safe_text.h"
#include "views/say.h"

#include <inttypes.h>

enum { NAME_COLUMNS = 100 };

void tts_check_text_run(FILE *out, const struct tts_check_run *run)
{
    char text[TTS_CHECK_TEXT_MAX], name[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text_build(name, sizeof name, run->name, NAME_COLUMNS);
    tts_say(out, 0, "run: %s", name);
    if (tts_check_needs_device(&run->plan->budget))
        tts_say(out, 2, "device memory: %s", tts_check_device(text, run));
    if (!run->plan->needs_baseline)
        return;
    if (!run->baseline) {
        tts_say(out, 2, "baseline: none for this run");
        return;
    }
    bool is_guess = run->baseline_count > 1 && !tts_runpair_is_named(run->run, run->baseline);
    tts_say(out, 2, "baseline: %s (by %s%s)",
            tts_check_base_name(text, run->plan->baseline, run->baseline, run->pair.b),
            tts_check_by_name(run), is_guess ? ": the names do not match" : "");
}

void tts_check_text_finding(FILE *out, const struct tts_check_run *run,
                            const struct tts_budget_finding *finding)
{
    static const char *const words[] = {
        [TTS_BUDGET_PASS] = "ok", [TTS_BUDGET_UNKNOWN] = "unknown", [TTS_BUDGET_OVER] = "OVER"};
    char label[TTS_CHECK_LABEL_MAX], text[TTS_CHECK_TEXT_MAX];
    char path[NAME_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    char where[sizeof path + 32] = "";
    uint64_t line = tts_check_line(run, finding);
    if (finding->status != TTS_BUDGET_PASS && finding->has_phase && line > 0) {
        tts_safe_text_build(path, sizeof path, tts_message_path(run->file->path), NAME_COLUMNS);
        snprintf(where, sizeof where, " (%s:%" PRIu64 ")", path, line);
    }
    tts_say(out, 2, "%-8s %s: %s%s", words[finding->status],
            tts_check_label(label, run, finding), tts_check_text(text, run, finding), where);
}

void tts_check_text_verdict(FILE *out, const struct tts_check_counts *counts)
{
    uint64_t all = counts->over + counts->unknown + counts->passed;
    const char *limits = all == 1 ? "limit" : "limits";
    if (counts->runs == 0)
        fputs("not known: nothing could be checked", out);
    else if (counts->over > 0)
        fprintf(out, "over budget: %" PRIu64 " of %" PRIu64 " %s", counts->over, all, limits);
    else if (counts->unknown > 0)
        fprintf(out, "not known: %" PRIu64 " of %" PRIu64 " %s could not be checked",
                counts->unknown, all, limits);
    else
        fprintf(out, "%s: %" PRIu64 " %s",
                counts->is_partial ? "within budget as far as known" : "within budget", all,
                limits);
    if (counts->over > 0 && counts->unknown > 0)
        fprintf(out, ", %" PRIu64 " more could not be checked", counts->unknown);
    if (counts->runs > 1)
        fprintf(out, ", %" PRIu64 " runs", counts->runs);
    fputc('\n', out);
}

void tts_check_text_end(FILE *out, const struct tts_check_job *job)
{
    const struct tts_runs *bases = &job->baseline.runs;
    for (size_t i = 0; i < bases->count && job->counts.runs > 0; i++) {
        char name[TTS_CHECK_TEXT_MAX];
        if (!job->is_paired[i])
            tts_say(out, 0, "baseline: %s goes with no run here",
                    tts_check_base_name(name, job->baseline.path, &bases->runs[i], i));
    }
    tts_check_text_verdict(out, &job->counts);
}
