#include "views/peakchart_inside.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const struct tts_peakchart_part tts_peakchart_parts[TTS_RUN_PARTS] = {
    [TTS_RUN_PART_OTHER] = {"Other", "other", 0xcccccc},
    [TTS_RUN_PART_MODEL] = {"Model Parameters", "model", 0x4da6b8},
    [TTS_RUN_PART_GRADIENTS] = {"Gradients Overhead", "gradients", 0xe789ab},
    [TTS_RUN_PART_OPTIMIZER] = {"Optimizer State", "optimizer", 0xcec0fa},
    [TTS_RUN_PART_ACTIVATIONS] = {"Activations", "activations", 0xe38a42},
};

const char *tts_peakchart_total(char out[TTS_CHART_USAGE_MAX], const struct tts_trainmem *mem)
{
    char size[TTS_CHART_MB_MAX];
    snprintf(out, TTS_CHART_USAGE_MAX, "Total: %s%s", mem->peak_at_least ? "\xe2\x89\xa5 " : "",
             tts_chart_own_mb(size, mem->peak.bytes));
    return out;
}

const char *tts_peakchart_size(char out[TTS_CHART_MB_MAX], const struct tts_trainmem *mem,
                               enum tts_run_part part)
{
    return tts_chart_mb(out, tts_chart_is_small(mem->peak.bytes), mem->parts[part]);
}

const char *tts_peakchart_limit(char out[TTS_CHART_USAGE_MAX], const struct tts_trainmem *mem)
{
    char size[TTS_CHART_MB_MAX];
    snprintf(out, TTS_CHART_USAGE_MAX, "limit %s",
             tts_chart_own_mb(size, mem->device_memory.bytes));
    return out;
}

bool tts_peakchart_has_limit(const struct tts_trainmem *mem)
{
    return mem->device_memory.is_known && mem->device_memory.bytes > 0;
}

static void say(struct tts_peakchart_info *info, struct tts_paint paint, bool bold,
                const char *text)
{
    *info = (struct tts_peakchart_info){.paint = paint, .bold = bold};
    snprintf(info->text, sizeof info->text, "%s", text);
}

/* In one line, or in two where slots are narrow. Returns the number of lines. */
static size_t say_phase(const struct tts_peakchart *chart, const struct tts_named_run *run,
                        struct tts_peakchart_info *out)
{
    enum { ROOMY = 4 };
    const struct tts_trainmem *mem = run->mem;
    char name[TTS_TEXT_SQUEEZED_MAX];
    if (!mem->has_peak_phase || mem->peak_phase >= run->run->phase_count) {
        say(&out[0], TTS_INK_SOFT, false, "peak phase not known");
        return 1;
    }
    tts_text_squeeze(name, run->run->phases[mem->peak_phase].name, chart->info,
                     TTS_CHART_PHASE_EMS * chart->info.size);
    if (chart->per_row > ROOMY) {
        say(&out[0], TTS_INK_SOFT, false, "peak in");
        say(&out[1], TTS_INK_SOFT, false, name);
        return 2;
    }
    *out = (struct tts_peakchart_info){.paint = TTS_INK_SOFT};
    snprintf(out->text, sizeof out->text, "peak in %.*s", TTS_RUN_NAME_MAX, name);
    return 1;
}

size_t tts_peakchart_info(const struct tts_peakchart *chart, const struct tts_named_run *run,
                          struct tts_peakchart_info out[TTS_PEAKCHART_INFO_LINES])
{
    const struct tts_trainmem *mem = run->mem;
    size_t count = 0;
    char usage[TTS_CHART_USAGE_MAX];
    if (!tts_peakchart_has_limit(mem)) {
        say(&out[count++], TTS_INK_SOFT, false, "device not known");
    } else if (mem->peak.is_known) {
        tts_chart_usage(usage, mem->peak.bytes, mem->device_memory.bytes);
        say(&out[count++], TTS_INK_SOFT, false, usage);
    }
    if (mem->has_verdict)
        say(&out[count++], mem->fits ? TTS_INK_GOOD : TTS_INK_WARNING, true,
            mem->fits ? "fits" : "does not fit");
    else if (tts_peakchart_has_limit(mem) && mem->peak.is_known)
        say(&out[count++], TTS_INK_SOFT, false, "verdict not known");
    if (mem->peak.is_known)
        count += say_phase(chart, run, &out[count]);
    if (mem->has_parts)
        say(&out[count++], TTS_INK_SOFT, false,
            mem->parts_are_stated   ? "sizes: predicted"
            : mem->parts_are_actual ? "sizes: measured"
                                    : "sizes: theory");
    else if (mem->peak.is_known)
        say(&out[count++], TTS_INK_SOFT, false, "parts not known");
    assert(count <= TTS_PEAKCHART_INFO_LINES);
    return count;
}

void tts_peakchart_describe(struct tts_drawing *d, const struct tts_peakchart *chart,
                            const char *title)
{
    const char *name = title && title[0] ? title : "Peak memory of training runs";
    d->title = tts_drawing_keep(d, name, strlen(name));
    d->description =
        tts_drawing_keep_format(d, "One stacked bar for each of %zu runs.", chart->count);
    for (size_t i = 0; i < chart->count; i++) {
        const struct tts_trainmem *mem = chart->runs[i].mem;
        char text[TTS_CHART_USAGE_MAX];
        struct tts_peakchart_info info[TTS_PEAKCHART_INFO_LINES];
        size_t lines = tts_peakchart_info(chart, &chart->runs[i], info);
        tts_drawing_extend(d, " ", 1);
        tts_drawing_extend(d, chart->runs[i].name, strlen(chart->runs[i].name));
        tts_drawing_extend_format(
            d, ". %s", mem->peak.is_known ? tts_peakchart_total(text, mem) : "peak not known");
        for (int part = 0; mem->has_parts && part < TTS_RUN_PARTS; part++)
            tts_drawing_extend_format(d, ", %s %s", tts_peakchart_parts[part].label,
                                      tts_peakchart_size(text, mem, (enum tts_run_part)part));
        for (size_t line = 0; line < lines; line++)
            tts_drawing_extend_format(d, ", %s", info[line].text);
        tts_drawing_extend(d, ".", 1);
    }
}
