#include "harness/t.h"
#include "harness/whatif_rig.h"
#include "views/replay/whatif_view.h"

#include <stdlib.h>
#include <string.h>

/* Returns the text of a run on an n150. The caller frees the text. */
static char *text_of(const struct rig *rig)
{
    struct tts_chip chip = chip_of("n150");
    struct tts_whatif_answer answer = {.path = "-", .chip = &chip, .whatif = rig->whatif};
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    T_TRUE(out);
    tts_whatif_text(&answer, true, out);
    T_EQ(fclose(out), 0);
    return text;
}

static void text_says(const struct rig *rig, const char *part)
{
    char *text = text_of(rig);
    if (!strstr(text, part))
        print_error("lacks '%s':\n%s\n", part, text);
    T_TRUE(strstr(text, part));
    free(text);
}

T_TEST(requests_that_no_device_can_serve_are_said_to_fail)
{
    struct rig rig = rig_on("n150");
    const uint64_t huge = UINT64_C(1) << 52;
    for (uint64_t i = 1; i <= 2049; i++)
        alloc_in(&rig, TTS_POOL_DRAM, i, huge, huge);
    tts_whatif_get_counts(rig.whatif, &rig.counts);
    T_TRUE(rig.counts.failed_buffers + rig.counts.failed_requests == 2049);
    T_EQ(rig.counts.failed_requests, 2);
    text_says(&rig, "does not fit: 2049 allocations and 0 programs fail\n");
    text_says(&rig, "0 need more cores or banks, 2 not possible\n");
    text_says(&rig,
              "note: 2 requests are not possible on this device: these allocations fail, and\n"
              "  the figures of the pools do not include the requests\n");
    tts_whatif_free(rig.whatif);
}

T_TEST(a_buffer_on_too_many_cores_is_said_to_fail)
{
    struct rig rig = rig_on("n150");
    alloc_event(&rig, TTS_POOL_L1, 1, 65 * 2048, 2048)->cores = 65;
    feed(&rig);
    text_says(&rig, "does not fit: 1 allocation and 0 programs fail\n");
    text_says(&rig,
              "note: 1 buffer needs more cores or banks than the device has: the allocation\n"
              "  fails, and the figures of the pools do not include the buffer\n");
    tts_whatif_free(rig.whatif);
}
