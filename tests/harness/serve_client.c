/* serve_client.c: clients of an allocation server in the published style: one blocking send()
 * for each event, without MSG_NOSIGNAL, so that SIGPIPE kills a client whose server closes the
 * connection. Written from the tables of docs/design/server-frames.md, without the project's
 * own code.
 *
 *     serve_client steady SOCKET BYTES EVENTS SEED [PAUSE_US]
 *     serve_client flood SOCKET BYTES EVENTS SEED
 *     serve_client herd SOCKET BYTES CLIENTS SEED
 *
 * BYTES is the size of the frames: 72, 112, 128 or 144. Events allocate and free random buffers
 * on 32 devices. All clients use the same addresses.
 *
 * steady   sends EVENTS events with pauses, then waits until stdin ends.
 * flood    sends EVENTS events back to back and measures each send(), then waits until stdin
 *          ends.
 * herd     runs CLIENTS clients, at most 16 at a time. Each sends events until it is killed
 * with SIGKILL after a random time of up to 10 ms. Then 4 clients send 1000 events each and
 *          live until stdin ends.
 *
 * Each mode prints one line of JSON before it waits: the events sent, and the bytes and buffers
 * that are live on each device, of all clients that live. flood adds the seconds, and of the
 * times of send() in ns the mean, the percentile 99.9 and the slowest. Exit codes: 0 done, 1
 * failed, 2 usage, 3 no connection. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
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
    DEVICES = 32,
    BUFFERS = 64, /* on each device */
    POOLS = 5,
    TOGETHER = 16,
    SURVIVORS = 4,
    SURVIVOR_EVENTS = 1000,
    LIFE_NS_MAX = 10000000,
    EXIT_USAGE = 2,
    EXIT_CONNECTION = 3,
};

struct totals {
    uint64_t events;
    uint64_t bytes[DEVICES][POOLS];
    uint64_t buffers[DEVICES];
};

struct client {
    int fd;
    size_t frame_bytes;
    uint64_t random;
    uint64_t sizes[DEVICES][BUFFERS]; /* 0: not live */
    uint8_t pools[DEVICES][BUFFERS];
    struct totals totals;
    uint64_t *send_ns; /* of each event; NULL: not wanted */
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_ns(uint64_t ns)
{
    struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
    while (ns > 0 && nanosleep(&pause, &pause) != 0 && errno == EINTR)
        continue;
}

static void end_client(int code, const char *what)
{
    fprintf(stderr, "serve_client: %s: %s\n", what, strerror(errno));
    exit(code);
}

static void connect_client(struct client *client, const char *path, size_t frame_bytes,
                           uint64_t seed)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int send_bytes = 1 << 20;
    memset(client, 0, sizeof *client);
    client->frame_bytes = frame_bytes;
    client->random = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    client->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (client->fd < 0 || connect(client->fd, (struct sockaddr *)&address, sizeof address) != 0)
        end_client(EXIT_CONNECTION, "cannot connect");
    setsockopt(client->fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
}

static void put_number(unsigned char *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

/* Sends an event. `bytes` is 0 in a FREE. */
static void send_event(struct client *client, uint32_t device, uint8_t pool, uint64_t bytes,
                       uint64_t id)
{
    unsigned char frame[144] = {0};
    frame[0] = bytes > 0 ? 1 : 2;
    put_number(frame + 4, device, 4);
    put_number(frame + 8, bytes, 8);
    frame[16] = bytes > 0 ? pool : 0;
    put_number(frame + 20, (uint64_t)getpid(), 4);
    put_number(frame + 24, id, 8);
    put_number(frame + 32, bytes > 0 ? now_ns(CLOCK_REALTIME) : 0, 8);
    uint64_t start = now_ns(CLOCK_MONOTONIC);
    for (size_t sent = 0; sent < client->frame_bytes;) {
        ssize_t count = send(client->fd, frame + sent, client->frame_bytes - sent, 0);
        if (count < 0 && errno != EINTR)
            end_client(EXIT_FAILURE, "cannot send");
        sent += count > 0 ? (size_t)count : 0;
    }
    if (client->send_ns)
        client->send_ns[client->totals.events] = now_ns(CLOCK_MONOTONIC) - start;
    client->totals.events++;
}

/* Allocates or frees a random buffer. */
static void send_random(struct client *client)
{
    static const uint8_t pools[] = {0, 1, 3, 4};
    uint64_t draw = next_random(&client->random);
    uint32_t device = (uint32_t)(draw >> 8) % DEVICES, slot = (uint32_t)(draw >> 24) % BUFFERS;
    uint64_t *size = &client->sizes[device][slot], id = UINT64_C(0x18b00) + 64 * slot;
    uint8_t *pool = &client->pools[device][slot];
    if (*size > 0) {
        send_event(client, device, *pool, 0, id);
        client->totals.bytes[device][*pool] -= *size;
        client->totals.buffers[device]--;
        *size = 0;
        return;
    }
    *pool = pools[draw >> 40 & 3];
    *size = 1 + (draw >> 42 & 0xfffff);
    send_event(client, device, *pool, *size, id);
    client->totals.bytes[device][*pool] += *size;
    client->totals.buffers[device]++;
}

static void print_totals(const struct totals *totals, const char *more)
{
    const char *separator = "";
    printf("{\"events\": %" PRIu64 "%s, \"live\": [", totals->events, more);
    for (int i = 0; i < DEVICES; i++) {
        const uint64_t *bytes = totals->bytes[i];
        if (totals->buffers[i] == 0)
            continue;
        printf("%s{\"device\": %d, \"buffers\": %" PRIu64 ", \"dram\": %" PRIu64
               ", \"l1\": %" PRIu64 ", \"l1_small\": %" PRIu64 ", \"trace\": %" PRIu64 "}",
               separator, i, totals->buffers[i], bytes[0], bytes[1], bytes[3], bytes[4]);
        separator = ", ";
    }
    printf("]}\n");
    fflush(stdout);
}

static void wait_for_end(void)
{
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
}

static int compare_times(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void run_single(struct client *client, uint64_t events, uint64_t pause_us, bool is_flood)
{
    char more[200] = "";
    if (is_flood && !(client->send_ns = calloc(events + 1, sizeof *client->send_ns)))
        end_client(EXIT_FAILURE, "no memory");
    uint64_t start = now_ns(CLOCK_MONOTONIC);
    for (uint64_t i = 0; i < events; i++) {
        send_random(client);
        pause_ns(pause_us * 1000);
    }
    double ns = (double)(now_ns(CLOCK_MONOTONIC) - start);
    if (is_flood && events > 0) {
        qsort(client->send_ns, events, sizeof *client->send_ns, compare_times);
        snprintf(more, sizeof more,
                 ", \"seconds\": %.6f, \"mean_ns\": %.0f, \"p999_ns\": %" PRIu64
                 ", \"slowest_ns\": %" PRIu64,
                 ns / 1e9, ns / (double)events, client->send_ns[events - 1 - events / 1000],
                 client->send_ns[events - 1]);
    }
    free(client->send_ns);
    print_totals(&client->totals, more);
    wait_for_end();
}

/* --- the herd --------------------------------------------------------------------------- */

struct herd {
    const char *path;
    size_t frame_bytes;
    uint64_t random;
};

/* Starts a client. It sends events until it is killed; or, if `report_fd` is not -1, sends
 * some, reports its totals and lives on. */
static pid_t start_client(struct herd *herd, int report_fd)
{
    uint64_t seed = next_random(&herd->random);
    pid_t pid = fork();
    if (pid < 0)
        end_client(EXIT_FAILURE, "cannot fork");
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct client client;
    connect_client(&client, herd->path, herd->frame_bytes, seed);
    while (report_fd < 0 || client.totals.events < SURVIVOR_EVENTS)
        send_random(&client);
    if (write(report_fd, &client.totals, sizeof client.totals) != (ssize_t)sizeof client.totals)
        _exit(EXIT_FAILURE);
    while (true)
        pause();
}

/* Ends a client. Returns false if it had ended by itself, as after SIGPIPE. */
static bool kill_client(pid_t pid)
{
    int status;
    kill(pid, SIGKILL);
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
           WTERMSIG(status) == SIGKILL;
}

static bool add_totals(struct totals *sum, int fd)
{
    struct totals totals;
    size_t have = 0;
    while (have < sizeof totals) {
        ssize_t count = read(fd, (char *)&totals + have, sizeof totals - have);
        if (count <= 0)
            return false;
        have += (size_t)count;
    }
    sum->events += totals.events;
    for (int i = 0; i < DEVICES; i++) {
        sum->buffers[i] += totals.buffers[i];
        for (int pool = 0; pool < POOLS; pool++)
            sum->bytes[i][pool] += totals.bytes[i][pool];
    }
    return true;
}

/* Starts a client that lives on, and adds its totals. */
static pid_t start_survivor(struct herd *herd, struct totals *sum)
{
    int report[2];
    if (pipe(report) != 0)
        end_client(EXIT_FAILURE, "cannot make a pipe");
    pid_t pid = start_client(herd, report[1]);
    close(report[1]);
    if (!add_totals(sum, report[0]))
        end_client(EXIT_FAILURE, "a client does not report");
    close(report[0]);
    return pid;
}

static int run_herd(struct herd *herd, uint64_t clients)
{
    pid_t pids[TOGETHER], survivors[SURVIVORS];
    struct totals sum = {0};
    bool is_whole = true;
    for (uint64_t done = 0; done < clients;) {
        size_t count = 0;
        for (; count < TOGETHER && done < clients; done++)
            pids[count++] = start_client(herd, -1);
        for (size_t i = 0; i < count; i++) {
            pause_ns(next_random(&herd->random) % LIFE_NS_MAX / count);
            is_whole = kill_client(pids[i]) && is_whole;
        }
    }
    for (int i = 0; i < SURVIVORS; i++)
        survivors[i] = start_survivor(herd, &sum);
    print_totals(&sum, "");
    wait_for_end();
    for (int i = 0; i < SURVIVORS; i++)
        is_whole = kill_client(survivors[i]) && is_whole;
    if (!is_whole)
        fprintf(stderr, "serve_client: a client ended before it was killed\n");
    return is_whole ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* --- the command line ------------------------------------------------------------------- */

static uint64_t read_number(const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0') {
        fprintf(stderr, "serve_client: invalid number '%s'\n", text);
        exit(EXIT_USAGE);
    }
    return value;
}

int main(int argc, char **argv)
{
    bool is_steady = argc > 1 && strcmp(argv[1], "steady") == 0;
    bool is_flood = argc > 1 && strcmp(argv[1], "flood") == 0;
    bool is_herd = argc > 1 && strcmp(argv[1], "herd") == 0;
    if ((!is_steady && !is_flood && !is_herd) || argc < 6 || argc > 6 + is_steady) {
        fprintf(stderr, "usage: serve_client steady|flood|herd SOCKET BYTES COUNT SEED "
                        "[PAUSE_US]\n");
        return EXIT_USAGE;
    }
    size_t frame_bytes = read_number(argv[3]);
    uint64_t count = read_number(argv[4]), seed = read_number(argv[5]);
    if (frame_bytes != 72 && frame_bytes != 112 && frame_bytes != 128 && frame_bytes != 144) {
        fprintf(stderr, "serve_client: no generation has %zu bytes\n", frame_bytes);
        return EXIT_USAGE;
    }
    if (is_herd) {
        struct herd herd = {argv[2], frame_bytes, seed * 2 + 1};
        return run_herd(&herd, count);
    }
    static struct client client;
    connect_client(&client, argv[2], frame_bytes, seed);
    run_single(&client, count, argc > 6 ? read_number(argv[6]) : 0, is_flood);
    return EXIT_SUCCESS;
}
