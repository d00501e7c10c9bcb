/* Compares a space with the slow model over long random histories: every result and the whole
 * state.
 *
 *   test_space_oracle [--seed N] [--ops N] [--trace]
 *
 * History i depends only on seed N + i, so that a failed history can be repeated alone with its
 * own seed. Half of the histories do not use the processor's vector instructions. On a
 * difference, the operations of that space are reduced as far as the difference still shows,
 * and printed in the language of `ttscope replay`. --trace prints each seed and each operation
 * before it runs, which helps if a difference is a crash. */
#include "base/heap.h"
#include "base/number.h"
#include "device/blocks.h"
#include "device/space.h"
#include "oracle/history.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SIDES = 2, /* the current space, and a copy that continues independently */
    MAX_OPS = HISTORY_MAX_OPS,
    PROGRESS_OPS = 1000000,
    TRIAL_SECONDS = 10, /* time for one attempt at a shorter history */
    MINIMISE_SECONDS = 60,
};

struct options {
    uint64_t seed, ops;
    bool trace;
};

/* The operations on one space since its creation, including those before it was copied. */
struct log {
    size_t count;
    struct twin_op ops[MAX_OPS];
};

/* The state of a run. It is too large for the stack. */
struct rig {
    struct model models[SIDES];
    struct log logs[SIDES];
    struct twin_scratch scratch;
    struct twin_note note;
    struct twin sides[SIDES]; /* a side without a space is unused */
    struct history history;
    unsigned at; /* the side of the next operation */
};

static bool fail(struct rig *rig, const char *text)
{
    snprintf(rig->note.text, sizeof rig->note.text, "%s", text);
    return false;
}

static void drop_side(struct rig *rig, unsigned side)
{
    tts_space_free(rig->sides[side].space);
    rig->sides[side].space = NULL;
}

static bool new_side(struct rig *rig, unsigned side)
{
    struct twin *twin = &rig->sides[side];
    const struct tts_space_config *config = &rig->history.config;
    drop_side(rig, side);
    rig->logs[side].count = 0;
    twin->model = &rig->models[side];
    model_init(twin->model, config);
    struct tts_error err;
    if (tts_space_new(config, NULL, &twin->space, &err) != TTS_OK)
        return fail(rig, err.text);
    return true;
}

/* --- reducing a failed history ---------------------------------------------------------- */

/* Runs the log of side 0 on a new space. Returns whether the space differs from the model. A
 * short log is checked after each operation, a long log only sometimes. */
static bool log_differs(struct rig *rig)
{
    struct log *log = &rig->logs[0];
    size_t count = log->count, every = 1 + count / 256;
    bool born = new_side(rig, 0);
    log->count = count;
    for (size_t i = 0; born && i < count; i++) {
        bool checked = i % every == 0 || i + 1 == count;
        if (!twin_step(&rig->sides[0], &log->ops[i], &rig->note) ||
            (checked &&
             !twin_same(&rig->sides[0], log->ops[i].bytes, &rig->scratch, &rig->note)))
            return true;
    }
    return !born;
}

/* Like log_differs(), but in a child process, because a reduced history may crash. A crash
 * counts as a difference. */
static bool child_differs(struct rig *rig)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_WRONLY);
        if (nothing >= 0)
            dup2(nothing, STDERR_FILENO);
        alarm(TRIAL_SECONDS);
        _exit(log_differs(rig));
    }
    int how = 0;
    bool ended = child > 0 && waitpid(child, &how, 0) == child;
    bool too_slow = WIFSIGNALED(how) && WTERMSIG(how) == SIGALRM;
    return ended && !too_slow && how != 0;
}

/* Removes ever smaller runs of operations as long as the rest still differs and time is left.
 * Log 1 holds the current attempt. */
static void minimise(struct rig *rig)
{
    struct log *log = &rig->logs[0], *backup = &rig->logs[1];
    time_t end = time(NULL) + MINIMISE_SECONDS;
    for (size_t chunk = log->count / 2; chunk > 0; chunk /= 2) {
        for (size_t at = 0; at + chunk <= log->count && time(NULL) < end;) {
            *backup = *log;
            size_t after = log->count - at - chunk;
            memmove(&log->ops[at], &log->ops[at + chunk], after * sizeof log->ops[0]);
            log->count -= chunk;
            if (!child_differs(rig)) {
                *log = *backup;
                at += chunk;
            }
        }
    }
}

static void print_pool(FILE *out, const struct tts_space_config *config)
{
    fprintf(out,
            "P size=%" PRIu64 " offset=%" PRIu64 " min_allocation_size=%" PRIu64
            " alignment=%" PRIu64 " policy=%s\n",
            config->size_bytes, config->offset_bytes, config->min_bytes,
            config->alignment_bytes, config->policy == TTS_POLICY_BEST ? "BEST" : "FIRST");
}

/* Prints the difference. Always returns false, which the caller returns. */
static bool report(struct rig *rig, uint64_t seed, uint64_t op_idx, const struct twin_op *op)
{
    fprintf(stderr, "difference: %s\nseed %" PRIu64 ", operation %" PRIu64 " of %" PRIu64 ": ",
            rig->note.text, seed, op_idx, rig->history.length_ops);
    twin_op_print(stderr, op);
    fprintf(stderr, "\nrepeat with: --seed %" PRIu64 " --ops 1\n", seed);
    if (rig->at != 0)
        rig->logs[0] = rig->logs[rig->at];
    if (!child_differs(rig)) {
        fputs("a fresh space does not differ: look at the copy\n", stderr);
        return false;
    }
    minimise(rig);
    print_pool(stderr, &rig->history.config);
    for (size_t i = 0; i < rig->logs[0].count; i++) {
        twin_op_print(stderr, &rig->logs[0].ops[i]);
        fputs("\n", stderr);
    }
    if (log_differs(rig)) /* comes last because it may crash */
        fprintf(stderr, "# %s\n", rig->note.text);
    return false;
}

/* --- one history ------------------------------------------------------------------------ */

/* Replaces the other side by a copy of the current side. */
static bool fork_side(struct rig *rig)
{
    struct twin *from = &rig->sides[rig->at], *to = &rig->sides[!rig->at];
    const struct log *log = &rig->logs[rig->at];
    drop_side(rig, !rig->at);
    to->model = &rig->models[!rig->at];
    if (tts_space_copy(from->space, &to->space) != TTS_OK)
        return fail(rig, "the copy was refused");
    model_copy(to->model, from->model);
    memcpy(rig->logs[!rig->at].ops, log->ops, log->count * sizeof log->ops[0]);
    rig->logs[!rig->at].count = log->count;
    if (!tts_space_equal(from->space, to->space) || !tts_space_equal(to->space, from->space))
        return fail(rig, "the copy is not equal");
    return true;
}

/* Compares both sides completely. An operation on one side must not affect the other. */
static bool check(struct rig *rig)
{
    for (unsigned side = 0; side < SIDES; side++) {
        const struct twin *twin = &rig->sides[side];
        if (twin->space == NULL)
            continue;
        uint64_t request = history_request(&rig->history, twin->model);
        if (!twin_same(twin, request, &rig->scratch, &rig->note)) {
            rig->at = side;
            return false;
        }
    }
    const struct twin *a = &rig->sides[0], *b = &rig->sides[1];
    if (a->space != NULL && b->space != NULL &&
        tts_space_equal(a->space, b->space) != model_equal(a->model, b->model))
        return fail(rig, "equality with the copy");
    return true;
}

/* Sometimes copies or changes the side; less often if there is more to copy. */
static bool maybe_change_side(struct rig *rig, bool trace)
{
    struct history *history = &rig->history;
    size_t blocks = rig->sides[rig->at].model->count;
    if (history_below(history, 100 + blocks) == 0 && !fork_side(rig))
        return false;
    if (history_below(history, 20) == 0 && rig->sides[!rig->at].space != NULL) {
        rig->at = !rig->at;
        if (trace)
            printf("# side %u\n", rig->at);
    }
    return true;
}

static void note_op(struct rig *rig, const struct twin_op *op, bool trace)
{
    struct log *log = &rig->logs[rig->at];
    log->ops[log->count++] = *op;
    if (trace) {
        twin_op_print(stdout, op);
        fputs("\n", stdout);
        fflush(stdout);
    }
}

static bool run_history(struct rig *rig, uint64_t seed, bool trace)
{
    struct history *history = &rig->history;
    struct twin_op op = {0};
    history_init(history, seed);
    tts_blocks_set_portable((seed / 64 + seed) % 2);
    rig->at = 0;
    drop_side(rig, 1);
    if (trace) {
        printf("# seed %" PRIu64 "\n", seed);
        print_pool(stdout, &history->config);
    }
    if (!new_side(rig, 0))
        return report(rig, seed, 0, &op);
    uint64_t until_check = 1;
    for (uint64_t i = 0; i < history->length_ops; i++) {
        struct twin *twin = &rig->sides[rig->at];
        history_next(history, twin->model, &op);
        note_op(rig, &op, trace);
        bool same = twin_step(twin, &op, &rig->note);
        if (same && --until_check == 0) {
            until_check = 1 + history_below(history, 10 + twin->model->count / 2);
            same = check(rig);
        }
        if (!same || !maybe_change_side(rig, trace))
            return report(rig, seed, i, &op);
    }
    return check(rig) || report(rig, seed, history->length_ops, &op);
}

/* --- the run ---------------------------------------------------------------------------- */

static bool run(struct rig *rig, const struct options *options)
{
    uint64_t done = 0, next_progress = PROGRESS_OPS, seed = options->seed;
    for (; done < options->ops; seed++) {
        if (!run_history(rig, seed, options->trace))
            return false;
        done += rig->history.length_ops;
        if (done >= next_progress) {
            printf("%" PRIu64 " operations, at seed %" PRIu64 "\n", done, seed);
            fflush(stdout);
            next_progress += PROGRESS_OPS;
        }
    }
    printf("%" PRIu64 " operations in %" PRIu64 " histories, no difference; last seed %" PRIu64
           "\n",
           done, seed - options->seed, seed - 1);
    return true;
}

static bool parse_number(const char *text, uint64_t *out)
{
    return tts_number_parse(text, strlen(text), out) == TTS_OK;
}

static bool parse_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--trace") == 0)
            options->trace = true;
        else if (strcmp(argv[i], "--seed") == 0 && more &&
                 parse_number(argv[i + 1], &options->seed))
            i++;
        else if (strcmp(argv[i], "--ops") == 0 && more &&
                 parse_number(argv[i + 1], &options->ops))
            i++;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options = {.seed = 1, .ops = 300000};
    if (!parse_options(argc, argv, &options)) {
        fputs("usage: test_space_oracle [--seed N] [--ops N] [--trace]\n", stderr);
        return 3;
    }
    const struct tts_alloc *memory = tts_alloc_libc();
    struct rig *rig = memory->alloc(memory->ctx, sizeof *rig);
    if (rig == NULL) {
        fputs("out of memory\n", stderr);
        return 1;
    }
    for (unsigned side = 0; side < SIDES; side++)
        rig->sides[side] = (struct twin){0};
    bool same = run(rig, &options);
    drop_side(rig, 0);
    drop_side(rig, 1);
    memory->free(memory->ctx, rig, sizeof *rig);
    return same ? 0 : 1;
}
