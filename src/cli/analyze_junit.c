/* analyze_junit.c: one test a run, for those who run builds. */
#include "base/share.h"
#include "cli/analyze_parts.h"
#include "views/junit.h"

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
    static const enum tts_junit_outcome outcomes[] = {[TTS_ANALYZE_GOOD] = TTS_JUNIT_PASSED,
                                                      [TTS_ANALYZE_BAD] = TTS_JUNIT_FAILED,
                                                      [TTS_ANALYZE_UNKNOWN] = TTS_JUNIT_ERROR};
    char question[TEXT_MAX], figures[TEXT_MAX];
    say_question(question, options);
    say_figures(figures, run->mem);
    tts_junit_case(junit, &(struct tts_junit_case){
                              .class_name = run->name,
                              .name = question,
                              .file = run->log,
                              .line = run->run->line,
                              .outcome = outcomes[tts_analyze_judge(options, run->mem)],
                              .text = figures});
}

void tts_analyze_junit_log(struct tts_junit *junit, const struct tts_analyze_options *options,
                           const struct tts_analyze_log *log, const char *label)
{
    char question[TEXT_MAX];
    say_question(question, options);
    tts_junit_case(junit, &(struct tts_junit_case){.class_name = label,
                                                   .name = question,
                                                   .file = log->path,
                                                   .outcome = TTS_JUNIT_ERROR,
                                                   .text = log->problem});
}
