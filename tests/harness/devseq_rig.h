/* devseq_rig.h: runs device sequences in tests. */
#pragma once

#include "device/devicepools.h"
#include "harness/chip_tools.h"
#include "sources/seq/devseq_run.h"

struct rig {
    struct tts_device *device;
    struct tts_devseq_run run;
    struct tts_devseq_step step;
    struct tts_error err;
    uint64_t line_no;
};

static inline struct rig *rig_on(const struct tts_chip *chip, enum tts_mode mode)
{
    static struct rig rig;
    memset(&rig, 0, sizeof rig);
    struct tts_device_config config = {.mode = mode};
    T_EQ(tts_device_new(chip, &config, NULL, &rig.device, &rig.err), TTS_OK);
    tts_devseq_run_init(&rig.run, rig.device, NULL);
    return &rig;
}

static inline struct rig *rig_of(const char *preset)
{
    struct tts_chip chip = chip_of(preset);
    return rig_on(&chip, TTS_MODE_PLACE);
}

/* Returns an n150 that also has L1_SMALL and TRACE. */
static inline struct rig *rig_with_regions(enum tts_mode mode)
{
    struct tts_chip chip = chip_of("n150");
    set(&chip, "l1_small", "32768");
    set(&chip, "trace_region", "1048576");
    return rig_on(&chip, mode);
}

static inline void rig_end(struct rig *rig)
{
    for (int pool = 0; pool < TTS_POOLS; pool++) {
        const struct tts_banks *banks = tts_device_pool(rig->device, (enum tts_pool)pool);
        T_TRUE(!banks || tts_banks_is_valid(banks));
    }
    tts_devseq_run_release(&rig->run);
    tts_device_free(rig->device);
}

static inline enum tts_status run_text(struct rig *rig, const char *text)
{
    struct tts_devseq_line line;
    if (tts_devseq_parse(text, strlen(text), &line, &rig->err) != TTS_OK)
        fail_msg("'%s': %s", text, rig->err.text);
    return tts_devseq_run_line(&rig->run, &line, ++rig->line_no, &rig->step, &rig->err);
}

/* Runs the line `text`, without its result, and checks that the answer is `text`. */
static inline void expect(struct rig *rig, const char *text)
{
    char got[TTS_DEVSEQ_TEXT_MAX];
    if (run_text(rig, text) != TTS_OK)
        fail_msg("'%s': %s", text, rig->err.text);
    tts_devseq_format(&rig->step.line, got);
    T_STR_EQ(got, text);
}

static inline void expect_all(struct rig *rig, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(rig, lines[i]);
}

/* Checks that a line is refused with this status and message, and that it changes nothing. */
static inline void expect_refusal(struct rig *rig, const char *text, enum tts_status status,
                                  const char *message)
{
    T_EQ(run_text(rig, text), status);
    T_EQ(rig->err.status, status);
    T_STR_EQ(rig->err.text, message);
}

#define EXPECT_ALL(rig, lines) expect_all(rig, lines, sizeof(lines) / sizeof((lines)[0]))
