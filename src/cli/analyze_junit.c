/* analyze_junit.c: one test a run, for those who run builds. */
#include "base/share.h"
#include "cli/analyze_parts.h"
#include "views/finding/junit.h"

enum { TEXT_MAX = 160 };

static void say_question(char out[TEXT_MAX], const struct tts_analyze_options *options)
{
    char limit[TTS_ANALYZE_NUMBER_MAX];
    if (options->has_limit)
        snprintf(out, TEXT_MAX, "peak at most %s%% of device memory",
                 tts_share_format(limit, options->limit));
    else
        snprintf(out, TEXT_MAX, "peak fits device memory");
}

/* "peak 15,666.65 MB of 12,288.00 MB, 127.50%" */
static void say_figures(char out[TEXT_MAX], const struct tts_trainmem *mem)
{
    char peak[TTS_ANALYZE_NUMBER_MAX], all[TTS_ANALYZE_NUMBER_MAX],
        share[TTS_ANALYZE_NUMBER_MAX];
    if (!mem->peak.is_known)
        snprintf(out, TEXT_MAX, "the peak is not known");
    else
        snprintf(out, TEXT_MAX, "peak %s MB%s of %s MB, %s%%",
                 tts_analyze_mb(peak, mem->peak.bytes), mem->peak_at_least ? " or more" : "",
                 tts_analyze_mb(all, mem->device_memory.bytes),
                 tts_analyze_percent(share, mem->peak.bytes, mem->device_memory.bytes));
}

void tts_analyze_junit_run(struct tts_junit *junit, const struct tts_analyze_options *options,
                           const struct tts_analyze_run *run)
{
    static const enum tts_severity severities[] = {[TTS_ANALYZE_GOOD] = TTS_SEVERITY_NONE,
                                                   [TTS_ANALYZE_BAD] = TTS_SEVERITY_ERROR,
                                                   [TTS_ANALYZE_UNKNOWN] =
                                                       TTS_SEVERITY_WARNING};
    char question[TEXT_MAX], figures[TEXT_MAX];
    say_question(question, options);
    say_figures(figures, run->mem);
    const struct tts_finding finding = {.severity =
                                            severities[tts_analyze_judge(options, run->mem)],
                                        .path = run->log,
                                        .line = run->run->line,
                                        .message = figures};
    tts_junit_case(junit, run->name, question, &finding);
}

void tts_analyze_junit_log(struct tts_junit *junit, const struct tts_analyze_options *options,
                           const struct tts_analyze_log *log, const char *label)
{
    char question[TEXT_MAX];
    say_question(question, options);
    const struct tts_finding finding = {
        .severity = TTS_SEVERITY_WARNING, .path = log->path, .message = log->problem};
    tts_junit_case(junit, label, question, &finding);
}
