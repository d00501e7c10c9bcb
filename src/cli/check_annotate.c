/* check_annotate.c: the answer as annotations of a build server. */
#include "base/number.h"
#include "cli/check_parts.h"
#include "cli/message.h"
#include "views/safe_text.h"

#include <inttypes.h>
#include <string.h>

static bool is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

enum { FOREIGN_COLUMNS = 1024 };

/* Of a workflow command; `is_property`: of its part before the second "::". */
static void put_escaped(FILE *out, const char *text, bool is_property)
{
    char safe[FOREIGN_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    tts_check_safe(safe, sizeof safe, text, FOREIGN_COLUMNS);
    for (const char *at = safe; *at; at++) {
        bool is_special = *at == '%' || *at == '\r' || *at == '\n' ||
                          (is_property && (*at == ':' || *at == ','));
        if (is_special)
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*at);
        else
            fputc(*at, out);
    }
}

/* "::error file=run.log,line=12,title=dram-peak::" */
static void begin_annotation(FILE *out, const char *level, const char *path, uint64_t line,
                             const char *title)
{
    fprintf(out, "::%s ", level);
    if (!is_standard(path)) {
        fputs("file=", out);
        put_escaped(out, path, true);
        if (line > 0)
            fprintf(out, ",line=%" PRIu64, line);
        fputc(',', out);
    }
    fputs("title=", out);
    put_escaped(out, title, true);
    fputs("::", out);
}

void tts_check_github_finding(FILE *out, const struct tts_check_run *run,
                              const struct tts_budget_finding *finding, const char *budget_path)
{
    char label[TTS_CHECK_LABEL_MAX], what[TTS_CHECK_TEXT_MAX];
    const struct tts_budget_limit *limit = &run->plan->budget.limits[finding->limit_idx];
    if (finding->status == TTS_BUDGET_PASS)
        return;
    begin_annotation(out, finding->status == TTS_BUDGET_OVER ? "error" : "warning",
                     run->file->path, tts_check_line(run, finding),
                     tts_check_label(label, run, finding));
    put_escaped(out, run->name, false);
    fputs(": ", out);
    put_escaped(out, tts_check_text(what, run, finding), false);
    fputs(" (", out);
    put_escaped(out, tts_message_path(budget_path), false);
    fprintf(out, ":%" PRIu32 ")\n", limit->line);
}

void tts_check_github_run(FILE *out, const struct tts_check_run *run)
{
    char text[TTS_CHECK_NOTE_MAX];
    uint64_t line = tts_check_first_note(text, run->run);
    begin_annotation(out, "warning", run->file->path, line, "read");
    put_escaped(out, run->name, false);
    fputs(": ", out);
    put_escaped(out, text, false);
    fputc('\n', out);
}

static void put_baseline(FILE *out, const struct tts_check_job *job)
{
    const struct tts_runs *bases = &job->baseline.runs;
    for (size_t i = 0; i < bases->count; i++) {
        const struct tts_run *base = &bases->runs[i];
        char text[TTS_CHECK_NOTE_MAX], name[TTS_CHECK_TEXT_MAX];
        tts_check_base_name(name, job->baseline.path, base, i);
        if (tts_check_is_partial(base)) {
            uint64_t line = tts_check_first_note(text, base);
            begin_annotation(out, "warning", job->baseline.path, line, "read");
            put_escaped(out, text, false);
            fputc('\n', out);
        }
        if (!job->is_paired[i]) {
            fputs("::warning title=pair::", out);
            put_escaped(out, name, false);
            fputs(" goes with no run here\n", out);
        }
    }
}

void tts_check_github_end(FILE *out, const struct tts_check_job *job)
{
    const struct tts_check_file *file;
    char mb[TTS_NUMBER_MB_MAX];
    put_baseline(out, job);
    for (size_t i = 0; (file = tts_check_problem(job, i)); i++) {
        begin_annotation(out, "error", file->path, file->problem_line, "read");
        put_escaped(out, file->problem, false);
        fputc('\n', out);
    }
    if (job->assumed.is_known)
        fprintf(out,
                "::notice title=device memory::%s MB are assumed, name a device in the "
                "budget\n",
                tts_number_format_mb(mb, job->assumed.bytes, false));
    if (tts_check_status_of(&job->counts) != TTS_BUDGET_PASS)
        return;
    fputs("::notice title=ttscope check::", out);
    tts_check_text_verdict(out, &job->counts);
}
