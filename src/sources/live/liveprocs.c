#include "sources/live/liveprocs.h"

#include "base/error.h"
#include "base/hashtable.h"
#include "base/heap.h"
#include "base/number.h"
#include "base/seed.h"
#include "base/span.h"
#include "base/ticks.h"
#include "sources/hostfile.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum {
    STAT_BYTES = 2048,        /* the kernel writes less than 1 KiB */
    STATUS_BYTES = 16 * 1024, /* the line of groups can be long */
    USER_BYTES = 4096,        /* for the strings of a user's entry */
    BTIME_BYTES = 1 << 20,    /* /proc/stat has a line for each processor and all interrupts */
    USERS_MAX = 256,
    FDS_MAX = 4096, /* descriptors of a process that are looked at */
    STATE_FIELD = 3,
    THREADS_FIELD = 20,
    START_FIELD = 22,
    NODE_BITS = 64,
};

#define SECOND_NS (UINT64_C(1000) * 1000 * 1000)
#define CLOCK_STEP_NS SECOND_NS         /* a smaller difference is inaccuracy */
#define CLOCK_READ_NS (SECOND_NS / 100) /* a longer read of the clocks is repeated later */
#define FACTS_PERIOD_NS (10 * SECOND_NS)
#define NODES_PERIOD_NS (5 * SECOND_NS)

/* A process. `seen` holds its facts. */
struct liveproc {
    struct tts_seenprocess seen;
    uint64_t refresh;  /* number of the last refresh that added the process */
    int dir_fd;        /* /proc/N; -1: not kept open */
    int stat_fd;       /* /proc/N/stat; -1: not kept open */
    uint64_t facts_ns; /* time of the last complete read; 0: never */
    uint64_t nodes_ns; /* time of the last read of the nodes; 0: never */
    /* The /dev/shm that the process sees. */
    bool is_shm_read; /* since the last read of the facts */
    int shm_errno;
    uint64_t shm_device, shm_inode;
};

/* The name of a user; "" if the user has no name. */
struct liveuser {
    uint32_t uid;
    char name[TTS_HOSTVIEW_NAME_MAX];
};

struct tts_liveprocs {
    const struct tts_alloc *alloc;
    struct liveproc *list;
    size_t count, capacity;
    struct tts_hashtable by_pid;
    struct liveuser users[USERS_MAX];
    size_t user_count;
    size_t open_count; /* processes that keep files open */
    uint64_t refresh, now_ns;
    bool wants_nodes;
    bool defers_users;
    bool has_unasked; /* a process of this refresh has a user that was never looked up */
    uint64_t seed;    /* of the hashes */
    bool is_procfs;   /* else a directory of plain files */
    bool boot_known;
    uint64_t boot_ns;  /* start of the kernel since 1970, by the present clock */
    uint64_t clock_ns; /* see clock_since_ns of a host view */
    uint64_t tick_ns;  /* unit of the start time of a process */
    int proc_fd;       /* -1: there is no /proc */
    size_t root_len;
    char root[];
};

static bool is_proc_file_system(int fd)
{
    struct statfs info;
    return fd >= 0 && fstatfs(fd, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
}

enum tts_status tts_liveprocs_new(const char *root, const struct tts_alloc *alloc,
                                  struct tts_liveprocs **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    size_t root_len = strlen(root);
    struct tts_liveprocs *procs = alloc->alloc(alloc->ctx, sizeof *procs + root_len + 1);
    if (!procs)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the list of processes");
    long ticks = sysconf(_SC_CLK_TCK);
    *procs = (struct tts_liveprocs){.alloc = alloc,
                                    .by_pid = {.alloc = alloc},
                                    .tick_ns = SECOND_NS / (uint64_t)(ticks > 0 ? ticks : 100),
                                    .proc_fd = tts_hostfile_open_root(root, "/proc"),
                                    .seed = tts_seed(),
                                    .root_len = root_len};
    procs->is_procfs = is_proc_file_system(procs->proc_fd);
    memcpy(procs->root, root, root_len + 1);
    *out = procs;
    return TTS_OK;
}

static void close_live_proc(struct tts_liveprocs *procs, struct liveproc *proc)
{
    if (proc->dir_fd < 0)
        return;
    close(proc->dir_fd);
    if (proc->stat_fd >= 0)
        close(proc->stat_fd);
    proc->dir_fd = -1;
    proc->stat_fd = -1;
    procs->open_count--;
}

void tts_liveprocs_free(struct tts_liveprocs *procs)
{
    if (!procs)
        return;
    const struct tts_alloc *alloc = procs->alloc;
    for (size_t i = 0; i < procs->count; i++)
        close_live_proc(procs, &procs->list[i]);
    if (procs->list)
        alloc->free(alloc->ctx, procs->list, procs->capacity * sizeof *procs->list);
    if (procs->proc_fd >= 0)
        close(procs->proc_fd);
    tts_hashtable_release(&procs->by_pid);
    alloc->free(alloc->ctx, procs, sizeof *procs + procs->root_len + 1);
}

/* --- the list --------------------------------------------------------------------------- */

static uint32_t hash_live_pid(const struct tts_liveprocs *procs, uint32_t pid)
{
    return tts_hashtable_mix(procs->seed, pid, 0);
}

static bool is_live_pid(const void *ctx, uint32_t place, const void *key)
{
    const struct tts_liveprocs *procs = ctx;
    return procs->list[place].seen.pid == *(const uint32_t *)key;
}

static struct liveproc *find_live_proc(const struct tts_liveprocs *procs, uint32_t pid)
{
    uint32_t place =
        tts_hashtable_find(&procs->by_pid, hash_live_pid(procs, pid), is_live_pid, procs, &pid);
    return place == TTS_HASHTABLE_NONE ? NULL : &procs->list[place];
}

static struct liveproc *append_live_proc(struct tts_liveprocs *procs, uint32_t pid)
{
    struct liveproc *list = tts_alloc_grow(procs->alloc, procs->list, &procs->capacity,
                                           procs->count + 1, sizeof *list);
    if (!list)
        return NULL;
    procs->list = list;
    if (tts_hashtable_add(&procs->by_pid, hash_live_pid(procs, pid), (uint32_t)procs->count) !=
        TTS_OK)
        return NULL;
    struct liveproc *proc = &list[procs->count++];
    *proc = (struct liveproc){.seen = {.pid = pid}, .dir_fd = -1, .stat_fd = -1};
    return proc;
}

/* Removes an entry. The last entry takes its place. */
static void remove_live_proc(struct tts_liveprocs *procs, size_t place)
{
    struct liveproc *proc = &procs->list[place];
    close_live_proc(procs, proc);
    tts_hashtable_remove(&procs->by_pid, hash_live_pid(procs, proc->seen.pid), (uint32_t)place);
    size_t last = --procs->count;
    if (place == last)
        return;
    *proc = procs->list[last];
    tts_hashtable_move(&procs->by_pid, hash_live_pid(procs, proc->seen.pid), (uint32_t)last,
                       (uint32_t)place);
}

/* --- lines and fields ------------------------------------------------------------------- */

/* Takes the next word of *text: characters up to a blank. Returns false if there is none. */
static bool next_proc_word(struct tts_span *text, struct tts_span *out)
{
    while (text->len > 0 && tts_is_blank(*text->at))
        *text = (struct tts_span){text->at + 1, text->len - 1};
    size_t len = 0;
    while (len < text->len && !tts_is_blank(text->at[len]) && text->at[len] != '\n')
        len++;
    *out = (struct tts_span){text->at, len};
    *text = (struct tts_span){text->at + len, text->len - len};
    return len > 0;
}

/* Finds the line that begins with `key` and returns the rest of the line. Returns an empty span
 * if there is no such line, or if the end of the line was cut off. */
static struct tts_span find_proc_line(struct tts_span text, const char *key)
{
    while (text.len > 0) {
        const char *end = memchr(text.at, '\n', text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        struct tts_span line = {text.at, len};
        if (tts_span_begins(line, key) && end)
            return (struct tts_span){line.at + strlen(key), len - strlen(key)};
        size_t taken = end ? len + 1 : len;
        text = (struct tts_span){text.at + taken, text.len - taken};
    }
    return (struct tts_span){"", 0};
}

static bool parse_proc_number(struct tts_span word, uint64_t max, uint64_t *out)
{
    return tts_number_parse(word.at, word.len, out) == TTS_OK && *out <= max;
}

/* --- the boot --------------------------------------------------------------------------- */

/* Reads the start of the kernel from /proc/stat. Returns false if the start is not known. */
static bool read_boot_file(const struct tts_liveprocs *procs, uint64_t *boot_ns)
{
    const struct tts_alloc *alloc = procs->alloc;
    char *text = alloc->alloc(alloc->ctx, BTIME_BYTES);
    if (!text)
        return false; /* the start times stay unknown */
    ssize_t len = tts_hostfile_read(procs->proc_fd, "stat", text, BTIME_BYTES);
    struct tts_span file = {text, len > 0 ? (size_t)len : 0};
    struct tts_span line = tts_span_trim(find_proc_line(file, "btime "));
    uint64_t seconds;
    bool is_known = parse_proc_number(line, UINT32_MAX, &seconds);
    if (is_known)
        *boot_ns = seconds * SECOND_NS;
    alloc->free(alloc->ctx, text, BTIME_BYTES);
    return is_known;
}

static uint64_t read_uptime_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* Computes the start of this kernel from its clocks, as the kernel does for /proc/stat. Returns
 * false if this process was stopped between the reads. */
static bool read_boot_clock(uint64_t *boot_ns)
{
    uint64_t before = read_uptime_ns();
    uint64_t now = tts_clock_realtime_ns();
    *boot_ns = now > before ? now - before : 0;
    return read_uptime_ns() - before < CLOCK_READ_NS;
}

/* Reads the start of the kernel again, because the start changes when the clock is set. */
static void refresh_boot(struct tts_liveprocs *procs)
{
    uint64_t boot_ns;
    bool is_known = procs->is_procfs ? read_boot_clock(&boot_ns) || !procs->boot_known
                                     : procs->proc_fd >= 0 && read_boot_file(procs, &boot_ns);
    if (!is_known) {
        procs->boot_known = procs->boot_known && procs->is_procfs;
        return;
    }
    uint64_t was = procs->boot_ns;
    bool is_step = (boot_ns > was ? boot_ns - was : was - boot_ns) >= CLOCK_STEP_NS;
    if (procs->boot_known && !is_step)
        return;
    procs->clock_ns = procs->boot_known ? procs->now_ns : boot_ns;
    procs->boot_known = true;
    procs->boot_ns = boot_ns;
}

bool tts_liveprocs_clock(const struct tts_liveprocs *procs, uint64_t *since_ns)
{
    *since_ns = procs->clock_ns;
    return procs->boot_known;
}

/* --- facts of one process --------------------------------------------------------------- */

/* Reads /proc/N/stat: "N (name) state ...". The name can hold blanks and parentheses. Returns
 * false if the process has ended and only waits for its parent. Sets *is_renamed if the process
 * has another name than before. */
static bool parse_proc_stat(const struct tts_liveprocs *procs, struct tts_span text,
                            struct tts_seenprocess *seen, bool *is_renamed)
{
    const char *open = memchr(text.at, '(', text.len);
    const char *close = memrchr(text.at, ')', text.len);
    char comm[TTS_HOSTVIEW_NAME_MAX] = "";
    *is_renamed = false;
    if (!open || !close || close < open)
        return true;
    tts_span_copy(comm, sizeof comm, (struct tts_span){open + 1, (size_t)(close - open) - 1});
    *is_renamed = strcmp(comm, seen->comm) != 0;
    memcpy(seen->comm, comm, sizeof comm);
    struct tts_span rest = {close + 1, text.len - (size_t)(close + 1 - text.at)}, word;
    bool has_ended = false;
    uint64_t number;
    for (int field = STATE_FIELD; field <= START_FIELD && next_proc_word(&rest, &word);
         field++) {
        if (field == STATE_FIELD)
            has_ended = tts_span_is(word, "Z") || tts_span_is(word, "X");
        /* A process lives on if its first thread ends before its other threads. */
        else if (field == THREADS_FIELD && parse_proc_number(word, UINT32_MAX, &number))
            has_ended = has_ended && number <= 1;
        else if (field == START_FIELD &&
                 parse_proc_number(word, UINT64_MAX / procs->tick_ns / 2, &number)) {
            seen->ticks_known = true;
            seen->start_ticks = number;
            seen->start_known = procs->boot_known;
            seen->start_ns = procs->boot_known ? procs->boot_ns + number * procs->tick_ns : 0;
        }
    }
    return !has_ended;
}

/* Reads the numbers of a process in all pid namespaces from ours to that of the process. */
static void parse_proc_levels(struct tts_span line, struct tts_seenprocess *seen)
{
    struct tts_span word;
    uint64_t number = 0;
    uint32_t levels = 0;
    while (next_proc_word(&line, &word)) {
        if (!parse_proc_number(word, INT32_MAX, &number) || number == 0)
            return;
        levels++;
    }
    seen->pid_inside = (uint32_t)number;
    seen->pid_levels = levels;
}

/* Reads /proc/N/status. Returns false if N is the number of a thread, not of a process. */
static bool read_proc_status(int dir_fd, struct tts_seenprocess *seen)
{
    char text[STATUS_BYTES];
    ssize_t len = tts_hostfile_read(dir_fd, "status", text, sizeof text);
    struct tts_span file = {text, len > 0 ? (size_t)len : 0}, word;
    struct stat info;
    uint64_t number;
    parse_proc_levels(find_proc_line(file, "NSpid:"), seen);
    /* The second number is the user that files are opened as. */
    struct tts_span uids = find_proc_line(file, "Uid:");
    if (next_proc_word(&uids, &word) && next_proc_word(&uids, &word) &&
        parse_proc_number(word, UINT32_MAX, &number)) {
        seen->uid_known = true;
        seen->uid = (uint32_t)number;
    } else if (fstat(dir_fd, &info) == 0) {
        seen->uid_known = true;
        seen->uid = info.st_uid;
    }
    struct tts_span leader = find_proc_line(file, "Tgid:");
    return !next_proc_word(&leader, &word) || !parse_proc_number(word, UINT32_MAX, &number) ||
           number == seen->pid;
}

/* Reads the arguments. Each ends with a NUL byte. */
static void read_proc_command(int dir_fd, struct tts_seenprocess *seen)
{
    char text[TTS_HOSTVIEW_COMMAND_MAX + 1]; /* one more, to see that something is left out */
    ssize_t got = tts_hostfile_read(dir_fd, "cmdline", text, sizeof text);
    size_t len = got > 0 ? (size_t)got : 0;
    while (len > 0 && len < sizeof text && text[len - 1] == '\0')
        len--;
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    tts_span_copy(seen->command, sizeof seen->command, (struct tts_span){text, len});
}

/* Reads the inode from the link "pid:[4026531836]". Only the same user and root may read it. */
static void read_proc_namespace(int dir_fd, struct tts_seenprocess *seen)
{
    char text[64];
    ssize_t len = readlinkat(dir_fd, "ns/pid", text, sizeof text);
    struct tts_span link = {text, len > 0 ? (size_t)len : 0};
    if (!tts_span_begins(link, "pid:[") || !tts_span_ends(link, "]"))
        return;
    const size_t begin = strlen("pid:[");
    struct tts_span digits = {link.at + begin, link.len - begin - 1};
    seen->namespace_known = parse_proc_number(digits, UINT64_MAX, &seen->namespace_id);
}

void tts_liveprocs_defer_users(struct tts_liveprocs *procs)
{
    procs->defers_users = true;
}

bool tts_liveprocs_has_unasked(const struct tts_liveprocs *procs)
{
    return procs->has_unasked;
}

/* Returns the name of a user that was looked up before, or NULL. */
static const char *find_known_user(const struct tts_liveprocs *procs, uint32_t uid)
{
    for (size_t i = 0; i < procs->user_count; i++)
        if (procs->users[i].uid == uid)
            return procs->users[i].name;
    return NULL;
}

const char *tts_liveprocs_user(struct tts_liveprocs *procs, uint32_t uid)
{
    char memory[USER_BYTES];
    struct passwd entry, *found = NULL;
    const char *known = find_known_user(procs, uid);
    if (known)
        return known;
    if (procs->user_count == USERS_MAX)
        return "";
    struct liveuser *user = &procs->users[procs->user_count++];
    *user = (struct liveuser){.uid = uid};
    if (getpwuid_r(uid, &entry, memory, sizeof memory, &found) == 0 && found)
        tts_span_copy(user->name, sizeof user->name,
                      (struct tts_span){entry.pw_name, strlen(entry.pw_name)});
    return user->name;
}

/* --- nodes ------------------------------------------------------------------------------ */

/* Returns N of "/dev/tenstorrent/N", or NODE_BITS. */
static uint64_t find_open_node(int fds, const char *name)
{
    static const char dir[] = "/dev/tenstorrent/";
    char target[sizeof dir + TTS_NUMBER_MAX];
    ssize_t len = readlinkat(fds, name, target, sizeof target);
    struct tts_span link = {target, len > 0 ? (size_t)len : 0};
    const size_t begin = sizeof dir - 1;
    uint64_t node;
    if (!tts_span_begins(link, dir) ||
        !parse_proc_number((struct tts_span){link.at + begin, link.len - begin}, NODE_BITS - 1,
                           &node))
        return NODE_BITS;
    return node;
}

/* Reads the nodes that the process has open. A process with too many descriptors, or of another
 * user, has no known nodes. */
static void read_proc_nodes(int dir_fd, struct tts_seenprocess *seen)
{
    seen->nodes_known = false;
    seen->nodes = 0;
    int fd = openat(dir_fd, "fd", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *fds = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    int count = 0;
    if (!fds) {
        if (fd >= 0)
            close(fd);
        return;
    }
    errno = 0;
    while (count <= FDS_MAX && (entry = readdir(fds))) {
        uint64_t node = find_open_node(fd, entry->d_name);
        if (node < NODE_BITS)
            seen->nodes |= UINT64_C(1) << node;
        count++;
        errno = 0;
    }
    seen->nodes_known = errno == 0 && count <= FDS_MAX;
    closedir(fds);
}

/* --- refreshes -------------------------------------------------------------------------- */

void tts_liveprocs_begin(struct tts_liveprocs *procs, uint64_t now_ns, bool wants_nodes)
{
    for (size_t i = procs->count; i-- > 0;)
        if (procs->list[i].refresh != procs->refresh)
            remove_live_proc(procs, i);
    procs->refresh++;
    procs->has_unasked = false;
    procs->now_ns = now_ns;
    procs->wants_nodes = wants_nodes;
    if (procs->proc_fd < 0)
        procs->proc_fd = tts_hostfile_open_root(procs->root, "/proc");
    procs->is_procfs = procs->is_procfs || is_proc_file_system(procs->proc_fd);
    refresh_boot(procs);
}

void tts_liveprocs_want_nodes(struct tts_liveprocs *procs)
{
    procs->wants_nodes = true;
}

/* Reads /proc/N/stat of a process whose files are open. Returns false if the process has ended
 * or its files have gone. */
static bool recheck_live_proc(const struct tts_liveprocs *procs, struct liveproc *proc,
                              bool *is_renamed)
{
    char text[STAT_BYTES];
    struct stat info;
    /* The read of an ended process fails in /proc. Elsewhere the file is removed. */
    if (!procs->is_procfs && (fstat(proc->stat_fd, &info) != 0 || info.st_nlink == 0))
        return false;
    ssize_t len = pread(proc->stat_fd, text, sizeof text, 0);
    if (len < 0)
        return errno != ESRCH && errno != ENOENT;
    return parse_proc_stat(procs, (struct tts_span){text, (size_t)len}, &proc->seen,
                           is_renamed);
}

/* Sets the name of the user. If names are deferred, sets only a name that is known already. */
static void set_proc_user(struct tts_liveprocs *procs, struct tts_seenprocess *seen)
{
    const char *name = procs->defers_users ? find_known_user(procs, seen->uid)
                                           : tts_liveprocs_user(procs, seen->uid);
    snprintf(seen->user, sizeof seen->user, "%s", name ? name : "");
}

/* Reads the facts that change rarely. Returns false if the number belongs to a thread. */
static bool read_proc_facts(struct tts_liveprocs *procs, struct liveproc *proc, int dir_fd)
{
    proc->facts_ns = procs->now_ns;
    proc->is_shm_read = false;
    if (!read_proc_status(dir_fd, &proc->seen))
        return false;
    read_proc_command(dir_fd, &proc->seen);
    read_proc_namespace(dir_fd, &proc->seen);
    if (proc->seen.uid_known)
        set_proc_user(procs, &proc->seen);
    return true;
}

/* Returns whether a process without a visible directory exists nevertheless: an option of the
 * file system of processes hides the processes of other users. */
static bool is_hidden_proc(const struct tts_liveprocs *procs, uint32_t pid)
{
    return procs->root_len == 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

/* Opens and reads a process that is not known yet. Keeps its files open if there is room. */
static void read_new_proc(struct tts_liveprocs *procs, struct liveproc *proc)
{
    char name[TTS_NUMBER_MAX + 1];
    bool is_renamed;
    proc->seen = (struct tts_seenprocess){.pid = proc->seen.pid};
    proc->nodes_ns = 0;
    snprintf(name, sizeof name, "%" PRIu32, proc->seen.pid);
    int dir_fd = procs->proc_fd >= 0 ? tts_hostfile_open_dir(procs->proc_fd, name) : -1;
    if (dir_fd < 0) {
        bool is_gone = procs->proc_fd < 0 || errno == ENOENT || errno == ESRCH ||
                       errno == ENOTDIR || errno == ELOOP;
        proc->seen.is_alive = !is_gone || is_hidden_proc(procs, proc->seen.pid);
        return;
    }
    procs->open_count++;
    proc->dir_fd = dir_fd;
    proc->stat_fd = tts_hostfile_open(dir_fd, "stat");
    proc->seen.is_alive = proc->stat_fd < 0 || recheck_live_proc(procs, proc, &is_renamed);
    if (proc->seen.is_alive)
        proc->seen.is_alive = read_proc_facts(procs, proc, dir_fd);
    if (!proc->seen.is_alive)
        proc->seen = (struct tts_seenprocess){.pid = proc->seen.pid};
}

static void refresh_live_proc(struct tts_liveprocs *procs, struct liveproc *proc)
{
    bool is_renamed = false;
    bool is_kept = proc->stat_fd >= 0 && recheck_live_proc(procs, proc, &is_renamed);
    if (is_kept && (is_renamed || procs->now_ns - proc->facts_ns >= FACTS_PERIOD_NS))
        is_kept = read_proc_facts(procs, proc, proc->dir_fd);
    if (!is_kept) {
        close_live_proc(procs, proc);
        read_new_proc(procs, proc);
    }
    if (proc->seen.is_alive && proc->dir_fd >= 0 && procs->wants_nodes &&
        (proc->nodes_ns == 0 || procs->now_ns - proc->nodes_ns >= NODES_PERIOD_NS)) {
        read_proc_nodes(proc->dir_fd, &proc->seen);
        proc->nodes_ns = procs->now_ns;
    }
    if (!proc->seen.is_alive || procs->open_count > TTS_LIVEPROCS_OPEN_MAX)
        close_live_proc(procs, proc);
}

enum tts_status tts_liveprocs_add(struct tts_liveprocs *procs, uint32_t pid,
                                  struct tts_hostview *view, struct tts_error *err)
{
    struct liveproc *proc = find_live_proc(procs, pid);
    if (pid == 0 || (proc && proc->refresh == procs->refresh))
        return TTS_OK;
    if (view->process_count >= TTS_HOSTVIEW_PROCESSES_MAX) {
        view->processes_left_out++;
        return TTS_OK;
    }
    proc = proc ? proc : append_live_proc(procs, pid);
    struct tts_seenprocess *seen = proc ? tts_hostview_add_process(view) : NULL;
    if (!seen)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the list of processes");
    proc->refresh = procs->refresh;
    refresh_live_proc(procs, proc);
    /* The name may have been looked up after the last refresh. */
    if (procs->defers_users && proc->seen.uid_known && !proc->seen.user[0]) {
        set_proc_user(procs, &proc->seen);
        procs->has_unasked |= !find_known_user(procs, proc->seen.uid);
    }
    *seen = proc->seen;
    return TTS_OK;
}

/* --- search ----------------------------------------------------------------------------- */

/* Compares a process with the wanted processes, and notes the number of the process for each
 * that fits. Most processes differ in their start time, so only one file is read. */
static void match_inside(struct tts_liveprocs *procs, uint32_t pid,
                         struct tts_insideproc *wanted, size_t count)
{
    char name[TTS_NUMBER_MAX + 1], text[STAT_BYTES];
    bool is_renamed, is_read = false;
    struct tts_seenprocess seen = {.pid = pid};
    snprintf(name, sizeof name, "%" PRIu32, pid);
    int dir_fd = tts_hostfile_open_dir(procs->proc_fd, name);
    ssize_t len = dir_fd < 0 ? -1 : tts_hostfile_read(dir_fd, "stat", text, sizeof text);
    bool is_alive = len > 0 && parse_proc_stat(procs, (struct tts_span){text, (size_t)len},
                                               &seen, &is_renamed);
    for (size_t i = 0; is_alive && seen.ticks_known && i < count; i++) {
        if (wanted[i].start_ticks != seen.start_ticks)
            continue;
        if (!is_read) {
            is_alive = read_proc_status(dir_fd, &seen);
            read_proc_namespace(dir_fd, &seen);
            is_read = true;
        }
        if (is_alive && tts_insideproc_is(&wanted[i], &seen))
            wanted[i].pid = pid;
    }
    if (dir_fd >= 0)
        close(dir_fd);
}

bool tts_insideproc_is(const struct tts_insideproc *wanted, const struct tts_seenprocess *seen)
{
    return seen->pid_levels > 1 && seen->pid_inside == wanted->pid_inside &&
           seen->ticks_known && seen->start_ticks == wanted->start_ticks &&
           (!seen->namespace_known || seen->namespace_id == wanted->namespace_id);
}

bool tts_liveprocs_search(struct tts_liveprocs *procs, struct tts_insideproc *wanted,
                          size_t count)
{
    int fd = procs->proc_fd < 0
                 ? -1
                 : openat(procs->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    uint64_t pid;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while ((entry = readdir(dir)))
        if (tts_number_parse(entry->d_name, strlen(entry->d_name), &pid) == TTS_OK &&
            pid <= INT32_MAX)
            match_inside(procs, (uint32_t)pid, wanted, count);
    /* An option of the file system hides processes of other users. Process 1 has another user,
     * or this user is root and sees all. */
    bool is_whole = faccessat(fd, "1/stat", F_OK, 0) == 0;
    closedir(dir);
    return is_whole;
}

int tts_liveprocs_dir(const struct tts_liveprocs *procs, uint32_t pid)
{
    const struct liveproc *proc = find_live_proc(procs, pid);
    return proc && proc->refresh == procs->refresh ? proc->dir_fd : -1;
}

int tts_liveprocs_shm(struct tts_liveprocs *procs, uint32_t pid, uint64_t *device,
                      uint64_t *inode)
{
    struct liveproc *proc = find_live_proc(procs, pid);
    struct stat info;
    assert(proc && proc->dir_fd >= 0);
    if (!proc->is_shm_read) {
        proc->is_shm_read = true;
        bool is_seen = fstatat(proc->dir_fd, "root/dev/shm", &info, 0) == 0;
        proc->shm_errno = is_seen ? 0 : errno;
        proc->shm_device = is_seen ? info.st_dev : 0;
        proc->shm_inode = is_seen ? info.st_ino : 0;
    }
    *device = proc->shm_device;
    *inode = proc->shm_inode;
    return proc->shm_errno;
}
