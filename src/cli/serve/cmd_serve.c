/* cmd_serve.c: the command `serve`, the allocation server that published clients expect. */
#include "base/error.h"
#include "base/heap.h"
#include "base/number.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/livehost_arg.h"
#include "cli/message.h"
#include "serve/server.h"
#include "serve/serverrecord.h"
#include "views/safe_text.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { UIDS_MAX = 16 };
#define SOCKET_PATH "/tmp/tt_allocation_server.sock"
#define COUNTER_PERIOD_NS (UINT64_C(1000) * 1000 * 1000)

struct allowed_uids {
    uint32_t uids[UIDS_MAX];
    size_t count;
};

struct serve_options {
    const char *socket_path, *record_dir;
    bool is_quiet, is_json;
    struct allowed_uids allowed;
};

static enum tts_status take_uid(void *target, const char *text, struct tts_error *err)
{
    struct allowed_uids *allowed = target;
    uint64_t uid;
    if (tts_number_parse(text, strlen(text), &uid) != TTS_OK || uid >= UINT32_MAX)
        return tts_error_set(err, TTS_E_SYNTAX, "expected a user id, such as 1000");
    if (allowed->count == UIDS_MAX)
        return tts_error_set(err, TTS_E_FULL, "at most %d users can be allowed", UIDS_MAX);
    allowed->uids[allowed->count++] = (uint32_t)uid;
    return TTS_OK;
}

static const struct tts_option serve_table[] = {
    {"socket", 's', TTS_OPTION_TEXT, offsetof(struct serve_options, socket_path), "PATH",
     .help = "listen at this path (default: " SOCKET_PATH ")"},
    {"quiet", 'q', TTS_OPTION_FLAG, offsetof(struct serve_options, is_quiet),
     .help = "print no line for each event"},
    {"json", 'j', TTS_OPTION_FLAG, offsetof(struct serve_options, is_json),
     .help = "write one line of JSON for each event and for statistics"},
    {"record", 0, TTS_OPTION_TEXT, offsetof(struct serve_options, record_dir), "DIR",
     .help = "write a recording of each process to this directory"},
    {"allow-uid", 0, TTS_OPTION_OTHER, offsetof(struct serve_options, allowed), "UID",
     "also accept programs of this user; may be repeated", .take = take_uid},
    {0},
};

static const struct serve_options serve_defaults = {.socket_path = SOCKET_PATH};

static void print_note(void *ctx, const char *text)
{
    const struct tts_job *job = ctx;
    tts_message(job->command, "%s", text);
}

/* Each connection and each process takes a descriptor. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Becomes a process of its own, which keeps nothing of the terminal and of the server. */
static void become_keeper(void)
{
    sigset_t none;
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i <= STDERR_FILENO; i++)
        dup2(fd, i);
    setsid();
    /* Second signals of the terminal may be pending. If a signal is ignored, it is dropped. */
    signal(SIGHUP, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* If programs are still connected, leaves a process behind that keeps their connections open:
 * closing them would kill programs that send without MSG_NOSIGNAL. */
static void keep_connections(const struct tts_job *job, struct tts_server *server)
{
    uint64_t peers = tts_server_peers(server);
    if (peers == 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        become_keeper();
        tts_server_drain(server);
        _exit(0);
    }
    if (pid > 0)
        tts_message(job->command,
                    "%" PRIu64 " connected program%s would be killed if the connections were "
                    "closed: process %ld keeps them open until the programs end",
                    peers, peers == 1 ? "" : "s", (long)pid);
    else
        tts_message(job->command,
                    "cannot start a process that keeps the connections open: SIGPIPE may kill "
                    "%" PRIu64 " connected program%s",
                    peers, peers == 1 ? "" : "s");
}

static int serve_clients(struct tts_job *job, const struct tts_server_config *config)
{
    struct tts_error err = {0};
    struct tts_server *server = NULL;
    if (tts_server_open(config, NULL, &server, &err) != TTS_OK)
        return tts_job_fail(job, NULL, &err);
    enum tts_status status = tts_server_run(server, &err);
    keep_connections(job, server);
    tts_server_close(server);
    return status == TTS_OK ? TTS_EXIT_DONE : tts_job_fail(job, NULL, &err);
}

/* Says what could not be recorded. */
static int check_record(const struct tts_job *job, struct tts_serverrecord *record, int code)
{
    struct tts_serverrecord_counts counts;
    tts_serverrecord_counts(record, &counts);
    if (counts.dropped_events > 0)
        tts_message(job->command, "%" PRIu64 " events are missing in the recordings",
                    counts.dropped_events);
    if (counts.failed_files > 0 && code == TTS_EXIT_DONE)
        code = tts_job_fail(job, NULL, &counts.failure);
    return code;
}

static int run_serve(struct tts_job *job, void *values)
{
    const struct serve_options *options = values;
    struct tts_serverrecord *record = NULL;
    struct tts_error err = {0};
    struct tts_server_config config = {.socket_path = options->socket_path,
                                       .root = tts_livehost_root(),
                                       .uids = options->allowed.uids,
                                       .uid_count = options->allowed.count,
                                       .output_fd = STDOUT_FILENO,
                                       .is_quiet = options->is_quiet,
                                       .is_json = options->is_json,
                                       .is_utf8 = tts_charset_is_utf8(),
                                       .note = print_note,
                                       .ctx = job};
    raise_descriptor_limit();
    if (options->record_dir) {
        const struct tts_serverrecord_config recording = {
            .dir = options->record_dir, .counter_period_ns = COUNTER_PERIOD_NS};
        if (tts_serverrecord_open(&recording, tts_alloc_libc(), &record, &err) != TTS_OK)
            return tts_job_fail(job, NULL, &err);
        config.recorder = tts_serverrecord_sink(record);
    }
    int code = serve_clients(job, &config);
    if (record)
        code = check_record(job, record, code);
    tts_serverrecord_close(record);
    return code;
}

const struct tts_command tts_serve_command = {.name = "serve",
                                              .operands = "",
                                              .summary = "run the allocation server",
                                              .work = run_serve,
                                              .options = serve_table,
                                              .defaults = &serve_defaults,
                                              .values_bytes = sizeof(struct serve_options)};
