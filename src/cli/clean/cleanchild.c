#include "cli/clean/cleanchild.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory that both processes see. */
struct shared_result {
    struct tts_regionclean clean;
    struct tts_error err;
    enum tts_status status;
};

/* The child. Does not flush the streams of the parent. */
static void run_clean_child(struct shared_result *shared, const char *root)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
    signal(SIGBUS, SIG_DFL);
    shared->status = tts_regionclean_run(&shared->clean, root, &shared->err);
    _exit(0);
}

/* Waits for the child. Returns false if a signal ended it. */
static bool wait_for_child(pid_t child)
{
    int how = 0;
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(how);
}

enum tts_status tts_cleanchild_run(struct tts_regionclean *clean, const char *root,
                                   struct tts_error *err)
{
    struct shared_result *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    /* Stays if the child ends without an answer. */
    *shared = (struct shared_result){.clean = *clean, .status = TTS_E_BUSY};
    (void)tts_error_set(&shared->err, TTS_E_BUSY,
                        "cannot clean region %" PRIu64
                        ": the helper process that cleans the region ended too early",
                        clean->region->id);
    enum tts_status status = TTS_OK;
    pid_t child = fork();
    if (child == 0)
        run_clean_child(shared, root);
    if (child < 0) {
        status = tts_error_set_errno(err, TTS_E_NOMEM, errno,
                                     "cannot start the helper process that cleans a region");
    } else if (wait_for_child(child)) {
        status = shared->status;
        *clean = shared->clean;
        *err = status == TTS_OK ? (struct tts_error){0} : shared->err;
    } else {
        status =
            tts_error_set(err, TTS_E_BUSY,
                          "cannot clean region %" PRIu64 ": another process truncated the file",
                          clean->region->id);
    }
    munmap(shared, sizeof *shared);
    return status;
}
