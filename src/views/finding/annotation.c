#include "views/finding/annotation.h"

#include "views/safe_text.h"

#include <inttypes.h>
#include <stdbool.h>

enum { FOREIGN_COLUMNS = 1024 };

/* Writes a text with escapes. `is_property` means that the text stands before the second "::",
 * where more characters are special. */
static void put_annotation_text(FILE *out, const char *text, bool is_property)
{
    char safe[FOREIGN_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1];
    tts_safe_text_build(safe, sizeof safe, text, FOREIGN_COLUMNS);
    for (const char *at = safe; *at; at++) {
        bool is_special = *at == '%' || *at == '\r' || *at == '\n' ||
                          (is_property && (*at == ':' || *at == ','));
        if (is_special)
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*at);
        else
            fputc(*at, out);
    }
}

void tts_annotation_put(FILE *out, const struct tts_finding *finding)
{
    static const char *const levels[] = {[TTS_SEVERITY_NOTE] = "notice",
                                         [TTS_SEVERITY_WARNING] = "warning",
                                         [TTS_SEVERITY_ERROR] = "error"};
    if (finding->severity == TTS_SEVERITY_NONE)
        return;
    fprintf(out, "::%s ", levels[finding->severity]);
    if (finding->path) {
        fputs("file=", out);
        put_annotation_text(out, finding->path, true);
        if (finding->line > 0)
            fprintf(out, ",line=%" PRIu64, finding->line);
        fputc(',', out);
    }
    fputs("title=", out);
    put_annotation_text(out, finding->label ? finding->label : finding->rule, true);
    fputs("::", out);
    if (finding->subject) {
        put_annotation_text(out, finding->subject, false);
        fputs(": ", out);
    }
    put_annotation_text(out, finding->message, false);
    if (finding->evidence) {
        fputs(" (", out);
        put_annotation_text(out, finding->evidence, false);
        fputc(')', out);
    }
    fputc('\n', out);
}
