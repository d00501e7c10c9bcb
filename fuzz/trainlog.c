/* Reads bytes as the log of a training program. The reader must come to an end. Its runs have
 * lines of the text and terminated texts, and unknown figures are 0. After many empty lines,
 * when the log lies across two reads, it gives the same runs. */
#include "sources/trainlog/trainlog.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RUNS_MAX = 1000, FIRST_READ = (256 + 12) * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void stop(const char *what, const char *text)
{
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* The parts of a run that are compared. */
struct digest {
    uint64_t line, end_line, parameters, sum;
    size_t phases;
    bool is_cut;
    char title[TTS_RUN_TITLE_MAX], rank[TTS_RUN_TITLE_MAX];
};

struct reading {
    struct digest runs[RUNS_MAX];
    size_t count;
    enum tts_status status;
    struct tts_trainlog_facts facts;
};

static uint64_t check_amount(const struct tts_amount *amount)
{
    if (!amount->is_known && amount->bytes != 0)
        stop("an unknown figure that has a value", "");
    return (uint64_t)amount->bytes * 31 + amount->is_known;
}

static void check_text(const char *text, size_t capacity)
{
    if (memchr(text, 0, capacity) == NULL)
        stop("a text without an end", "");
}

static uint64_t check_phases(const struct tts_run *run)
{
    uint64_t sum = 0, line = run->line;
    for (size_t i = 0; i < run->phase_count; i++) {
        const struct tts_run_phase *phase = &run->phases[i];
        check_text(phase->name, sizeof phase->name);
        if (phase->line < line || phase->line > run->end_line)
            stop("a phase outside its block", phase->name);
        line = phase->line;
        for (int k = 0; k < TTS_RUN_FIGURES; k++)
            sum = sum * 31 + check_amount(&phase->figures[k]);
    }
    return sum;
}

static struct digest check_run(const struct tts_run *run)
{
    check_text(run->title, sizeof run->title);
    check_text(run->rank, sizeof run->rank);
    check_text(run->chip, sizeof run->chip);
    check_text(run->optimizer, sizeof run->optimizer);
    if (run->line == 0 || run->end_line < run->line)
        stop("a block from nowhere", run->title);
    if (run->parameters_line > run->line || run->device_memory_line > run->line)
        stop("a block that knows what follows", run->title);
    if (run->note_count > run->notes_in_all || (run->is_kahan && !run->has_kahan) ||
        (!run->has_parameters && run->parameters != 0))
        stop("a block that is not whole in itself", run->title);
    for (size_t i = 0; i < run->note_count; i++) {
        check_text(run->notes[i].text, sizeof run->notes[i].text);
        if (run->notes[i].text[0] == '\0' || run->notes[i].line == 0)
            stop("a note without words or place", run->title);
    }
    uint64_t sum = check_phases(run) + check_amount(&run->overall_peak) * 3 +
                   check_amount(&run->final) * 5 + check_amount(&run->device_memory) * 7;
    struct digest digest = {run->line,
                            run->end_line,
                            run->parameters,
                            sum + run->note_count,
                            run->phase_count,
                            run->is_cut,
                            "",
                            ""};
    memcpy(digest.title, run->title, strlen(run->title));
    memcpy(digest.rank, run->rank, strlen(run->rank));
    return digest;
}

static void read_log(int fd, struct reading *out)
{
    char path[64];
    struct tts_trainlog *log = NULL;
    const struct tts_run *run;
    struct tts_error err = {0};
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (tts_trainlog_open(path, NULL, &log, &err) != TTS_OK)
        stop("no log", err.text);
    out->count = 0;
    while ((out->status = tts_trainlog_next(log, &run, &err)) == TTS_OK) {
        struct digest digest = check_run(run);
        if (out->count < RUNS_MAX)
            out->runs[out->count] = digest;
        out->count++;
    }
    if (out->status != TTS_E_NOT_FOUND && (err.text[0] == '\0' || err.line == 0))
        stop("an error without words or place", err.text);
    tts_trainlog_facts(log, &out->facts);
    tts_trainlog_close(log);
}

static void put(int fd, const void *bytes, size_t len)
{
    if (write(fd, bytes, len) != (ssize_t)len)
        stop("no room", "");
}

static int new_file(void)
{
    int fd = memfd_create("trainlog", MFD_CLOEXEC);
    if (fd < 0)
        stop("no file", "");
    return fd;
}

/* Returns whether the log may be moved after other lines. Returns false for compressed bytes
 * and byte order marks, which only have a meaning at the beginning of a file. */
static bool may_move(const uint8_t *bytes, size_t len)
{
    return len > 0 && len < FIRST_READ && bytes[0] < 0x80 && bytes[0] != 0x1f &&
           bytes[0] != 0x28 && bytes[0] >> 4 != 5;
}

static void check_moved(const uint8_t *bytes, size_t len, const struct reading *once)
{
    static struct reading moved;
    static char blank[FIRST_READ];
    size_t lines = FIRST_READ - len / 2;
    memset(blank, '\n', sizeof blank);
    int fd = new_file();
    put(fd, blank, lines);
    put(fd, bytes, len);
    read_log(fd, &moved);
    close(fd);
    if (moved.count != once->count || moved.facts.lines != once->facts.lines + lines ||
        moved.facts.stray_lines != once->facts.stray_lines ||
        moved.facts.has_nul != once->facts.has_nul)
        stop("moved, it reads differently", "");
    for (size_t i = 0; i < moved.count && i < RUNS_MAX; i++) {
        moved.runs[i].line -= lines;
        moved.runs[i].end_line -= lines;
        if (memcmp(&moved.runs[i], &once->runs[i], sizeof moved.runs[i]) != 0)
            stop("moved, a run reads differently", once->runs[i].title);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct reading once;
    int fd = new_file();
    memset(&once, 0, sizeof once);
    put(fd, bytes, len);
    read_log(fd, &once);
    close(fd);
    if (once.status == TTS_E_NOT_FOUND && may_move(bytes, len))
        check_moved(bytes, len, &once);
    return 0;
}
