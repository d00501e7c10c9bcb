/* Reads bytes as the log of a compiler's runtime. The reader comes to an end; the steps of each
 * rank are in order, and the replay never has a negative sum. */
#include "analysis/opsummary.h"
#include "fuzz/reuse.h"
#include "sources/runtimelog/opsteps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Returns the path of a file in memory with these bytes. */
static const char *write_bytes(const uint8_t *bytes, size_t len)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        fd = memfd_create("log", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, bytes, len, 0) != (ssize_t)len)
        abort();
    return path;
}

static uint64_t next_index[TTS_OPLOG_RANKS], next_block[TTS_OPLOG_RANKS];

static void check_step(const struct tts_opstep *step)
{
    if (step->rank >= TTS_OPLOG_RANKS)
        abort();
    if (!step->is_submit && step->index != next_index[step->rank]++)
        abort();
    if (step->has_block && step->block != next_block[step->rank]++)
        abort();
    if (step->has_op && !step->sig)
        abort();
    for (int i = 0; i < TTS_POOLS; i++)
        if (step->replay[i].used_bytes >> 60 || step->replay_after_bytes[i] >> 60)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tts_opsteps_config config = {0};
    struct tts_input *in;
    struct tts_opsteps *steps;
    const struct tts_opstep *step;
    struct tts_error err;
    struct tts_opsummary sum;
    struct tts_opfinal finals[TTS_POOLS];
    for (int i = 0; i < TTS_POOLS; i++)
        config.banks[i] = (struct tts_opbanks){12, 32, 32};
    memset(next_index, 0, sizeof next_index);
    memset(next_block, 0, sizeof next_block);
    config.alloc = &reuse_alloc;
    tts_opsummary_init(&sum, 10, &reuse_alloc);
    if (tts_input_open(write_bytes(bytes, len), &reuse_alloc, &in, &err) != TTS_OK)
        abort();
    if (tts_opsteps_open(in, &config, &steps, &err) != TTS_OK)
        abort();
    while (tts_opsteps_next(steps, &step, &err) == TTS_OK) {
        check_step(step);
        if (step->rank == 0 && tts_opsummary_add(&sum, step) != TTS_OK)
            abort();
    }
    tts_opsteps_finals(steps, 0, finals);
    tts_opsummary_finish(&sum, finals);
    tts_opsummary_release(&sum);
    tts_opsteps_close(steps);
    tts_input_close(in);
    return 0;
}
