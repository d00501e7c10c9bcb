#include "live_server.h"

#include "churn.h"
#include "plain_server.h"
#include "wire/frame.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECTIONS = 4,
    ROUNDS = 5,
    GLUED = 454, /* frames in a send(): some 64 KiB of P4, pairs of ALLOC and FREE */
    GLUED_FRAMES = 2000000,
    SINGLE_FRAMES = 200000,
    RECEIVE_BYTES = 1 << 16,
    START_TRIES = 1000, /* of 10 ms */
    PROCESSES = 64,
    DEVICES = 32,
    BUFFERS = 8, /* of a process on a device */
    IDLE_SECONDS = 10,
};
#define BEYOND_AIM_NS 300.0
#define RATE_AIM 2.0
#define RSS_AIM_MIB 8.0
#define IDLE_AIM_PERCENT 0.3

/* A server in a process of its own. */
struct peer {
    pid_t pid;
    clockid_t clock; /* of its processor time */
    struct sockaddr_un address;
    bool replies; /* to QUERY; otherwise it closes after its client */
};

struct load {
    enum tts_framekind kind;
    uint32_t frames_in_send;
    uint64_t frames; /* about; of all connections */
};

struct load_cost {
    double cpu_ns;  /* of the server for each frame */
    double seconds; /* until the server is done with all frames */
    uint64_t frames;
};

static void print_aimed(const char *name, double value, const char *unit, bool is_reached)
{
    printf("%s\t%.2f\t%s%s\n", name, value, unit, is_reached ? "" : "  misses the aim");
    fflush(stdout);
}

/* --- servers ---------------------------------------------------------------------------- */

static double cpu_ns_of(const struct peer *peer)
{
    struct timespec time;
    if (clock_gettime(peer->clock, &time) != 0)
        churn_die("the server has ended");
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int connect_peer(const struct peer *peer)
{
    const int bytes = 1 << 20;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        churn_die("cannot make a socket");
    if (connect(fd, (const struct sockaddr *)&peer->address, sizeof peer->address) != 0) {
        close(fd);
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return fd;
}

/* Waits until the server accepts connections. */
static void wait_for_peer(struct peer *peer, const char *name)
{
    int fd = -1, status;
    for (int i = 0; i < START_TRIES && (fd = connect_peer(peer)) < 0; i++) {
        if (waitpid(peer->pid, &status, WNOHANG) == peer->pid)
            break;
        usleep(10000);
    }
    if (fd < 0 || clock_getcpuclockid(peer->pid, &peer->clock) != 0) {
        fprintf(stderr, "bench_live: cannot connect to %s\n", name);
        exit(EXIT_FAILURE);
    }
    close(fd);
}

static void stop_peer(struct peer *peer)
{
    kill(peer->pid, SIGTERM);
    waitpid(peer->pid, NULL, 0);
    unlink(peer->address.sun_path);
}

/* Starts a process that ends with the benchmark. Returns true in the new process. */
static bool fork_peer(struct peer *peer)
{
    static int number;
    *peer = (struct peer){.address.sun_family = AF_UNIX};
    snprintf(peer->address.sun_path, sizeof peer->address.sun_path,
             "/tmp/bench_live-%ld-%d.sock", (long)getpid(), ++number);
    fflush(NULL);
    peer->pid = fork();
    if (peer->pid < 0)
        churn_die("cannot fork");
    if (peer->pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return peer->pid == 0;
}

static void start_program(struct peer *peer, const char *program)
{
    if (fork_peer(peer)) {
        int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(fd, STDOUT_FILENO);
        execl(program, "ttscope", "serve", "--quiet", "--socket", peer->address.sun_path,
              (char *)NULL);
        _exit(127);
    }
    peer->replies = true;
    wait_for_peer(peer, "'ttscope serve'");
}

/* Receives all bytes of all connections, and closes a connection after its client. */
static void receive_only(const struct peer *peer)
{
    static unsigned char bytes[RECEIVE_BYTES];
    struct pollfd fds[1 + CONNECTIONS] = {
        {.fd = socket(AF_UNIX, SOCK_STREAM, 0), .events = POLLIN}};
    nfds_t count = 1;
    if (bind(fds[0].fd, (const struct sockaddr *)&peer->address, sizeof peer->address) != 0 ||
        listen(fds[0].fd, 128) != 0)
        _exit(EXIT_FAILURE);
    while (poll(fds, count, -1) >= 0) {
        for (nfds_t i = count; i-- > 1;) {
            if (fds[i].revents == 0 || recv(fds[i].fd, bytes, sizeof bytes, 0) > 0)
                continue;
            close(fds[i].fd);
            fds[i] = fds[--count];
        }
        if (fds[0].revents != 0 && count <= CONNECTIONS)
            fds[count++] =
                (struct pollfd){.fd = accept(fds[0].fd, NULL, NULL), .events = POLLIN};
    }
    _exit(EXIT_FAILURE);
}

static void start_bare(struct peer *peer)
{
    if (fork_peer(peer))
        receive_only(peer);
    wait_for_peer(peer, "the bare receiver");
}

static void start_plain(struct peer *peer)
{
    int ready[2];
    struct plain_server server;
    if (pipe(ready) != 0)
        churn_die("cannot make a pipe");
    if (fork_peer(peer)) {
        if (!plain_server_open(&server) ||
            write(ready[1], server.path, sizeof server.path) != (ssize_t)sizeof server.path)
            _exit(EXIT_FAILURE);
        while (true)
            pause();
    }
    close(ready[1]);
    if (read(ready[0], server.path, sizeof server.path) != (ssize_t)sizeof server.path)
        churn_die("cannot make a plain server");
    close(ready[0]);
    memcpy(peer->address.sun_path, server.path, sizeof server.path);
    wait_for_peer(peer, "the plain server");
}

/* --- frames ----------------------------------------------------------------------------- */

static void send_all(int fd, const unsigned char *bytes, size_t len)
{
    for (size_t sent = 0; sent < len;) {
        ssize_t count = send(fd, bytes + sent, len - sent, MSG_NOSIGNAL);
        if (count <= 0)
            churn_die("a server does not take frames");
        sent += (size_t)count;
    }
}

/* Writes pairs of ALLOC and FREE of the same buffer. */
static size_t put_pairs(unsigned char *bytes, enum tts_framekind kind, uint32_t frames)
{
    size_t len = 0;
    for (uint32_t i = 0; i < frames; i++) {
        bool is_free = i % 2;
        struct tts_frame frame = {.kind = kind,
                                  .type = is_free ? TTS_FRAMETYPE_FREE : TTS_FRAMETYPE_ALLOC,
                                  .device = (int32_t)(i / 2 % DEVICES),
                                  .pid = (int32_t)getpid(),
                                  .size_bytes = is_free ? 0 : 4096,
                                  .id = UINT64_C(0x100000) + 64 * (i / 2),
                                  .time_ns = is_free ? 0 : UINT64_C(1760000000000000000)};
        unsigned char one[TTS_FRAME_BYTES_MAX];
        size_t count = tts_frame_encode(&frame, one);
        memcpy(bytes + len, one, count);
        len += count;
    }
    return len;
}

/* Waits until the server is done with all frames of a connection. */
static void wait_for_done(const struct peer *peer, int fd, enum tts_framekind kind)
{
    unsigned char bytes[TTS_FRAME_BYTES_MAX];
    struct tts_frame query = {.kind = kind, .type = TTS_FRAMETYPE_QUERY};
    size_t wanted = peer->replies ? tts_frame_encode(&query, bytes) : 0;
    if (peer->replies)
        send_all(fd, bytes, wanted);
    else
        shutdown(fd, SHUT_WR);
    size_t len = tts_frame_bytes(kind);
    if (recv(fd, bytes, len, MSG_WAITALL) != (ssize_t)wanted)
        churn_die("a server does not reply");
}

static struct load_cost run_load(const struct peer *peer, const struct load *load)
{
    static unsigned char block[GLUED * TTS_FRAME_BYTES_MAX];
    int fds[CONNECTIONS];
    size_t len = put_pairs(block, load->kind, GLUED), frame_bytes = len / GLUED;
    size_t send_bytes = load->frames_in_send * frame_bytes;
    uint64_t blocks = load->frames / GLUED / CONNECTIONS;
    struct load_cost cost = {.frames = blocks * GLUED * CONNECTIONS};
    for (int i = 0; i < CONNECTIONS; i++)
        if ((fds[i] = connect_peer(peer)) < 0)
            churn_die("cannot connect to a server");
    usleep(50000); /* until the server has accepted */
    double cpu_ns = cpu_ns_of(peer), start_ns = churn_now_ns();
    for (uint64_t block_idx = 0; block_idx < blocks; block_idx++)
        for (int i = 0; i < CONNECTIONS; i++)
            for (size_t at = 0; at < len; at += send_bytes)
                send_all(fds[i], block + at, send_bytes);
    for (int i = 0; i < CONNECTIONS; i++)
        wait_for_done(peer, fds[i], load->kind);
    cost.seconds = (churn_now_ns() - start_ns) / 1e9;
    cost.cpu_ns = (cpu_ns_of(peer) - cpu_ns) / (double)cost.frames;
    for (int i = 0; i < CONNECTIONS; i++)
        close(fds[i]);
    return cost;
}

/* --- figures ---------------------------------------------------------------------------- */

static void keep_best_cost(struct load_cost *best, struct load_cost cost)
{
    double cpu_ns = best->frames > 0 && best->cpu_ns < cost.cpu_ns ? best->cpu_ns : cost.cpu_ns;
    double seconds =
        best->frames > 0 && best->seconds < cost.seconds ? best->seconds : cost.seconds;
    *best = (struct load_cost){cpu_ns, seconds, cost.frames};
}

static double rate_of(struct load_cost cost)
{
    return (double)cost.frames / cost.seconds / 1e6;
}

static void measure_load(const struct peer peers[3], const char *name, const struct load *load)
{
    enum { PROGRAM, BARE, PLAIN };
    struct load_cost best[3] = {{.frames = 0}};
    char row[64];
    /* The plain server reads frames of 112 bytes. */
    int count = load->kind == TTS_FRAMEKIND_P2 ? 3 : 2;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < count; i++)
            keep_best_cost(&best[i], run_load(&peers[i], load));
    double beyond_ns = best[PROGRAM].cpu_ns - best[BARE].cpu_ns;
    bool is_glued = load->frames_in_send > 1;
    snprintf(row, sizeof row, "server_%s_rate", name);
    print_aimed(row, rate_of(best[PROGRAM]), "M frames/s",
                !is_glued || rate_of(best[PROGRAM]) >= RATE_AIM);
    snprintf(row, sizeof row, "server_%s_cpu", name);
    print_aimed(row, best[PROGRAM].cpu_ns, "ns/frame", true);
    snprintf(row, sizeof row, "server_%s_bare_recv_cpu", name);
    print_aimed(row, best[BARE].cpu_ns, "ns/frame", true);
    snprintf(row, sizeof row, "server_%s_beyond_recv", name);
    print_aimed(row, beyond_ns, "ns/frame", beyond_ns <= BEYOND_AIM_NS);
    if (count < 3)
        return;
    snprintf(row, sizeof row, "plain_%s_rate", name);
    print_aimed(row, rate_of(best[PLAIN]), "M frames/s", true);
    snprintf(row, sizeof row, "plain_%s_cpu", name);
    print_aimed(row, best[PLAIN].cpu_ns, "ns/frame", true);
}

/* Allocates buffers on all devices from a process of its own. The process lives until it is
 * killed. */
static pid_t start_owner(const struct peer *peer)
{
    pid_t pid = fork();
    if (pid < 0)
        churn_die("cannot fork");
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int fd = connect_peer(peer);
    for (uint32_t i = 0; fd >= 0 && i < DEVICES * BUFFERS; i++) {
        struct tts_frame frame = {.kind = TTS_FRAMEKIND_P4,
                                  .type = TTS_FRAMETYPE_ALLOC,
                                  .device = (int32_t)(i % DEVICES),
                                  .pid = (int32_t)getpid(),
                                  .size_bytes = 4096,
                                  .id = UINT64_C(0x100000) + 64 * i,
                                  .time_ns = UINT64_C(1760000000000000000)};
        unsigned char bytes[TTS_FRAME_BYTES_MAX];
        send_all(fd, bytes, tts_frame_encode(&frame, bytes));
    }
    while (fd >= 0)
        pause();
    _exit(EXIT_FAILURE);
}

/* Returns the bytes of DRAM that the server reports for a device. */
static uint64_t query_dram(const struct peer *peer, int32_t device)
{
    unsigned char bytes[TTS_FRAME_BYTES_MAX];
    struct tts_frame frame = {
        .kind = TTS_FRAMEKIND_P4, .type = TTS_FRAMETYPE_QUERY, .device = device};
    int fd = connect_peer(peer);
    send_all(fd, bytes, tts_frame_encode(&frame, bytes));
    if (recv(fd, bytes, sizeof bytes, MSG_WAITALL) != (ssize_t)sizeof bytes)
        churn_die("a server does not reply");
    close(fd);
    tts_frame_decode(TTS_FRAMEKIND_P4, bytes, &frame);
    return frame.dram_bytes;
}

static double rss_anon_mib(const struct peer *peer)
{
    char path[64], line[256];
    unsigned long kib = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)peer->pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %lu kB", &kib) == 1)
            break;
    if (file)
        fclose(file);
    if (kib == 0)
        churn_die("cannot read the memory of the server");
    return (double)kib / 1024;
}

/* A fresh server with 64 processes on 32 devices, and nothing to do. */
static void measure_idle(const char *program)
{
    struct peer peer;
    pid_t owners[PROCESSES];
    start_program(&peer, program);
    for (int i = 0; i < PROCESSES; i++)
        owners[i] = start_owner(&peer);
    uint64_t wanted = (uint64_t)PROCESSES * BUFFERS * 4096;
    int tries = 0;
    while (query_dram(&peer, DEVICES - 1) != wanted && tries++ < START_TRIES)
        usleep(10000);
    if (tries > START_TRIES)
        churn_die("a server does not know all buffers");
    double mib = rss_anon_mib(&peer), cpu_ns = cpu_ns_of(&peer);
    sleep(IDLE_SECONDS);
    double percent = (cpu_ns_of(&peer) - cpu_ns) / IDLE_SECONDS / 1e7;
    print_aimed("server_rss_anon", mib, "MiB", mib <= RSS_AIM_MIB);
    print_aimed("server_idle_share", percent, "% of a core", percent <= IDLE_AIM_PERCENT);
    for (int i = 0; i < PROCESSES; i++) {
        kill(owners[i], SIGKILL);
        waitpid(owners[i], NULL, 0);
    }
    stop_peer(&peer);
}

void measure_live_server(const char *program)
{
    static const struct {
        const char *name;
        struct load load;
    } loads[] = {
        {"p4_glued", {TTS_FRAMEKIND_P4, GLUED, GLUED_FRAMES}},
        {"p2_glued", {TTS_FRAMEKIND_P2, GLUED, GLUED_FRAMES}},
        {"p2_single", {TTS_FRAMEKIND_P2, 1, SINGLE_FRAMES}},
    };
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        /* The plain server takes few connections in all. */
        struct peer peers[3];
        start_program(&peers[0], program);
        start_bare(&peers[1]);
        start_plain(&peers[2]);
        measure_load(peers, loads[i].name, &loads[i].load);
        for (int j = 0; j < 3; j++)
            stop_peer(&peers[j]);
    }
    measure_idle(program);
}
