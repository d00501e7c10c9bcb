/* Reads bytes as the region of a program: header, devices, table and ring. An input is a list
 * of steps that change a good region of three devices, eight buffers and eight events, cut it,
 * or read it. If the first byte is RAW, the rest of the input is the file.
 *
 * Every text must be terminated and every number within its limits. Counts that are known agree
 * with each other, the classes of sizes add up to the listed buffers, events come in order and
 * each event of the ring comes or is lost. */
#include "fuzz/reuse.h"
#include "sources/live/clientregions.h"
#include "sources/live/clientring.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum {
    RAW = 0xff,
    RAW_MAX = 1 << 16,
    STEPS_MAX = 12,
    PATH_BYTES = 512,
    DEVICES = 4,
    OPS = 4,
    SLOTS = 8,
    EVENTS = 8,
    DEVICES_OFF = 4096,
    OPS_OFF = DEVICES_OFF + DEVICES * 512,
    BUFFERS_OFF = OPS_OFF + OPS * 64,
    EVENTS_OFF = BUFFERS_OFF + SLOTS * 64,
    FILE_BYTES = EVENTS_OFF + EVENTS * 64,
};
#define BYTES_MAX (UINT64_C(1) << 50)

static char root[PATH_BYTES];
static char region_path[2 * PATH_BYTES];
static int region_fd;
static unsigned char good[FILE_BYTES]; /* the file before the steps */
static struct tts_hostview view;

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* --- the file --------------------------------------------------------------------------- */

static void remove_region_dir(void)
{
    char path[2 * PATH_BYTES];
    unlink(region_path);
    snprintf(path, sizeof path, "%s/dev/shm", root);
    rmdir(path);
    snprintf(path, sizeof path, "%s/dev", root);
    rmdir(path);
    rmdir(root);
}

static void make_region_dir(void)
{
    char path[2 * PATH_BYTES];
    const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(root, sizeof root, "%s/fuzz_clientregion-XXXXXX", memory);
    check(mkdtemp(root) != NULL, "cannot make a directory");
    snprintf(path, sizeof path, "%s/dev", root);
    check(mkdir(path, 0700) == 0, "cannot make a directory");
    snprintf(path, sizeof path, "%s/dev/shm", root);
    check(mkdir(path, 0700) == 0, "cannot make a directory");
    snprintf(region_path, sizeof region_path, "%s/dev/shm/ttscope_7_8_9", root);
    atexit(remove_region_dir);
    region_fd = open(region_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    check(region_fd >= 0, "cannot make a region");
}

static void fill_good_header(void)
{
    struct tts_clientregion_header *header = (void *)good;
    memcpy(header->magic, TTS_CLIENTREGION_MAGIC, sizeof header->magic);
    header->version = TTS_CLIENTREGION_VERSION;
    header->header_bytes = DEVICES_OFF;
    header->file_bytes = FILE_BYTES;
    header->pid = 7;
    header->start_ticks = 8;
    header->pid_namespace = 9;
    header->writer = TTS_CLIENTREGION_BY_PROCESS;
    memcpy(header->comm, "python3", 8);
    header->device_slots = DEVICES;
    header->op_slots = OPS;
    header->buffer_slots = SLOTS;
    header->event_slots = EVENTS;
    header->devices_off = DEVICES_OFF;
    header->ops_off = OPS_OFF;
    header->buffers_off = BUFFERS_OFF;
    header->events_off = EVENTS_OFF;
    header->state = TTS_CLIENTREGION_LIVE;
    header->device_count = 3;
    header->events = 6;
    header->buffer_high = 6;
    header->op_count = 2;
    header->update_ns = 100;
}

/* Device 2 is a mesh of the other two. Each has two buffers. */
static void fill_good_parts(void)
{
    struct tts_clientregion_device *devices = (void *)(good + DEVICES_OFF);
    struct tts_clientregion_buffer *buffers = (void *)(good + BUFFERS_OFF);
    struct tts_clientregion_event *events = (void *)(good + EVENTS_OFF);
    memcpy(good + OPS_OFF, "ttnn::add", 10);
    memcpy(good + OPS_OFF + 64, "ttnn::matmul", 13);
    for (uint32_t i = 0; i < 3; i++) {
        devices[i].id = i;
        devices[i].known = i < 2 ? TTS_CLIENTDEVICE_MESH | TTS_CLIENTDEVICE_UNIQUE_ID
                                 : TTS_CLIENTDEVICE_CB | TTS_CLIENTDEVICE_KERNEL;
        devices[i].mesh = 2;
        devices[i].unique_id = 1000 + i;
        devices[i].pools[i].buffers = devices[i].pools[i].allocs = 2;
        devices[i].pools[i].allocated_bytes = devices[i].pools[i].peak_bytes = 300;
        devices[i].pools[0].view_ns = 1;
        devices[i].pools[0].total_bytes = devices[i].pools[0].free_bytes = 5000;
    }
    for (uint32_t i = 0; i < 6; i++) {
        buffers[i] = (struct tts_clientregion_buffer){.stamp = i + 1,
                                                      .id = i,
                                                      .size_bytes = 150,
                                                      .device = i / 2,
                                                      .pool = (uint8_t)(i / 2)};
        events[i] = (struct tts_clientregion_event){.stamp = i + 1,
                                                    .id = i,
                                                    .size_bytes = 150,
                                                    .device = i / 2,
                                                    .op = 1,
                                                    .kind = TTS_CLIENTEVENT_ALLOC,
                                                    .pool = (uint8_t)(i / 2)};
    }
}

static void put_file(const void *bytes, size_t len)
{
    check(ftruncate(region_fd, (off_t)len) == 0, "cannot cut the file");
    check(pwrite(region_fd, bytes, len, 0) == (ssize_t)len, "cannot write the file");
}

/* --- what must hold --------------------------------------------------------------------- */

static void check_pool(const struct tts_seenpool *pool)
{
    if (!pool->is_known)
        return;
    check(pool->total_bytes <= BYTES_MAX && pool->allocated_bytes <= pool->total_bytes &&
              pool->free_bytes <= pool->total_bytes &&
              pool->largest_free_bytes <= pool->free_bytes,
          "a report beyond its total");
}

/* The counts of a mesh are added to each chip, so a number is at most twice the limit. */
static void check_view(const struct tts_seenview *seen)
{
    for (int i = 0; i < TTS_POOLS; i++) {
        check_pool(&seen->pools[i]);
        check(seen->counted_known || seen->counted_bytes[i] == 0, "bytes that are not counted");
        check(seen->counted_bytes[i] <= TTS_CLIENTREGION_DEVICES_MAX * BYTES_MAX,
              "a number beyond the limit");
        check(!seen->counted_known ||
                  seen->allocs[i] - seen->frees[i] == seen->counted_buffers[i],
              "counts that do not agree");
    }
    check(!seen->arch_known || seen->arch <= TTS_ARCH_QUASAR, "an unknown architecture");
    check(seen->kernel_known || seen->kernel_bytes == 0, "unknown kernels");
    check(seen->cb_known || seen->cb_bytes == 0, "unknown circular buffers");
}

struct listed {
    size_t devices, count;
};

static void check_listed(void *ctx, const struct tts_seenlive *live)
{
    struct listed *listed = ctx;
    check(live->device < TTS_CLIENTREGION_DEVICES_MAX && live->pool < TTS_POOLS,
          "a buffer without a device");
    check(live->size_bytes > 0 && live->size_bytes <= BYTES_MAX, "a size beyond the limit");
    listed->count++;
}

static void check_client(const struct tts_seenclient *client)
{
    check(memchr(client->comm, 0, sizeof client->comm) != NULL, "a text without an end");
    check(strcmp(client->file, "ttscope_7_8_9") == 0 && client->pid_inside == 7,
          "another file");
    if (client->state != TTS_SEENREGION_READ) {
        check(client->view_count == 0, "views of a region that is not read");
        return;
    }
    check(client->view_count + client->views_left_out <= TTS_CLIENTREGION_DEVICES_MAX &&
              client->first_view == 0 && client->view_count == view.view_count,
          "too many devices");
    for (size_t i = 0; i < client->view_count; i++) {
        check(view.views[i].client_1 == 1, "a view of another program");
        check_view(&view.views[i]);
    }
}

static void read_region(struct tts_clientstore *store)
{
    struct listed listed = {0};
    tts_hostview_reset(&view);
    check(tts_clientstore_read(store, &view, NULL) == TTS_OK, "cannot read");
    check(view.client_count <= 1, "too many programs");
    if (view.client_count == 0)
        return;
    check_client(&view.clients[0]);
    enum tts_status status = tts_clientstore_buffers(store, 0, check_listed, &listed, NULL);
    check(status == TTS_OK || view.clients[0].state != TTS_SEENREGION_READ ||
              status == TTS_E_SYNTAX,
          "cannot list");
}

/* Reads the ring to its end. */
static void read_ring(struct tts_clientring **ring, uint64_t *last)
{
    struct tts_clientregion_event events[5];
    char name[TTS_CLIENTREGION_NAME_BYTES];
    uint64_t lost = 0;
    size_t count = 1;
    enum tts_status status = TTS_OK;
    if (!*ring) {
        status = tts_clientring_open(region_path, &reuse_alloc, ring, NULL);
        check(status != TTS_E_IO && status != TTS_E_NOMEM, "cannot open");
        if (status != TTS_OK)
            return;
        *last = tts_clientring_header(*ring)->events;
    }
    for (int i = 0; i < 10 && status == TTS_OK && count > 0; i++) {
        count = 0;
        uint64_t before = lost;
        status = tts_clientring_next(*ring, events, 5, &count, &lost, NULL);
        check(lost >= before && count <= 5, "too many events");
        for (size_t k = 0; status == TTS_OK && k < count; k++) {
            check(events[k].stamp > *last, "an event out of order");
            check(events[k].kind >= 1 && events[k].kind <= 8 && events[k].pool < TTS_POOLS,
                  "an impossible event");
            *last = events[k].stamp;
            tts_clientring_op(*ring, events[k].op, name);
            check(memchr(name, 0, sizeof name) != NULL, "a name without an end");
        }
    }
    check(status == TTS_OK || status == TTS_E_SYNTAX || status == TTS_E_NOT_FOUND,
          "cannot follow");
    if (status == TTS_OK)
        return;
    tts_clientring_close(*ring);
    *ring = NULL;
}

/* --- steps ------------------------------------------------------------------------------ */

/* Numbers that lie at limits. */
static const uint64_t numbers[] = {
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    255,
    256,
    257,
    4095,
    4096,
    UINT32_MAX,
    BYTES_MAX,
    BYTES_MAX + 1,
    UINT64_C(1) << 63,
    UINT64_MAX - 1,
    UINT64_MAX,
};

struct reader {
    const uint8_t *at;
    size_t left;
};

static unsigned take(struct reader *from)
{
    if (from->left == 0)
        return 0;
    from->left--;
    return *from->at++;
}

/* Appends a good event, as a program does. */
static void put_event(void)
{
    uint64_t events = 0;
    if (pread(region_fd, &events, 8, offsetof(struct tts_clientregion_header, events)) != 8)
        return;
    struct tts_clientregion_event event = {.stamp = events + 1, .kind = 2, .id = events};
    off_t off = (off_t)(EVENTS_OFF + events % EVENTS * sizeof event);
    check(pwrite(region_fd, &event, sizeof event, off) == (ssize_t)sizeof event,
          "cannot write");
    events++;
    check(pwrite(region_fd, &events, 8, offsetof(struct tts_clientregion_header, events)) == 8,
          "cannot write");
}

/* Changes up to 8 bytes. The place is in the part that the high bits of the first byte select.
 */
static void poke(struct reader *from)
{
    static const struct {
        unsigned off, bytes;
    } parts[] = {{0, 256},           {256, 64},        {DEVICES_OFF, 512}, {DEVICES_OFF, 1536},
                 {BUFFERS_OFF, 512}, {EVENTS_OFF, 512}};
    unsigned part = take(from) % (sizeof parts / sizeof *parts);
    unsigned place = take(from) | take(from) << 8, how = take(from);
    unsigned len = how % 2 ? 8 : 4;
    uint64_t value = 0;
    if (how & 2)
        value = numbers[take(from) % (sizeof numbers / sizeof *numbers)];
    else
        for (unsigned i = 0; i < len; i++)
            value |= (uint64_t)take(from) << 8 * i;
    off_t off = (off_t)(parts[part].off + place % parts[part].bytes / 4 * 4);
    check(pwrite(region_fd, &value, len, off) == (ssize_t)len, "cannot write");
}

static void run_step(struct reader *from, struct tts_clientstore *store,
                     struct tts_clientring **ring, uint64_t *last)
{
    switch (take(from) % 8) {
    case 0:
        read_region(store);
        break;
    case 1:
        read_ring(ring, last);
        break;
    case 2:
        put_event();
        break;
    case 3:
        check(ftruncate(region_fd, (off_t)(take(from) * 64 + take(from))) == 0, "cannot cut");
        break;
    case 4:
        put_file(good, sizeof good);
        break;
    default:
        poke(from);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct tts_clientstore *store = NULL;
    struct tts_clientring *ring = NULL;
    uint64_t last = 0;
    if (!root[0]) {
        make_region_dir();
        fill_good_header();
        fill_good_parts();
        tts_hostview_init(&view, NULL);
    }
    bool is_raw = len > 0 && bytes[0] == RAW;
    if (is_raw && len - 1 > RAW_MAX)
        return 0;
    put_file(is_raw ? bytes + 1 : good, is_raw ? len - 1 : sizeof good);
    struct reader from = {bytes, is_raw ? 0 : len};
    check(tts_clientstore_open(root, &reuse_alloc, &store, NULL) == TTS_OK, "no memory");
    for (int i = 0; i < STEPS_MAX && from.left > 0; i++)
        run_step(&from, store, &ring, &last);
    read_region(store);
    read_ring(&ring, &last);
    tts_clientring_close(ring);
    tts_clientstore_close(store);
    return 0;
}
