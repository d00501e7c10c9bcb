/* rows_rig.h: writes rows to memory and compares them with the expected text. */
#pragma once

#include "harness/t.h"
#include "views/rowout.h"

#include <stdlib.h>

struct rows_rig {
    struct tts_rowout rows;
    char *text;
    size_t len;
};

static inline void rows_begin(struct rows_rig *rig)
{
    tts_rowout_init(&rig->rows, open_memstream(&rig->text, &rig->len));
    T_TRUE(rig->rows.out != NULL);
}

static inline void rows_expect(struct rows_rig *rig, const char *wanted)
{
    tts_rowout_flush(&rig->rows);
    T_EQ(fclose(rig->rows.out), 0);
    T_STR_EQ(rig->text, wanted);
    free(rig->text);
}
