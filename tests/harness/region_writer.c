/* region_writer.c: writes a memory region of the runtime, for tests of programs.
 *
 *     region_writer FILE KIND [KEY=VALUE]...
 *
 * KIND is v1k, v1, v2, v3 or v4. The program creates FILE, or overwrites the existing file in
 * place and sets its size. Keys:
 *
 *     id=N         id in the region; default: the number in the name of the file, or 0
 *     logical=N    logical id of the device (0)
 *     refs=N       reference count; default: the number of slots with a pid above 0
 *     active=N     number of active processes; default: like refs
 *     time=NS      time of the last update (1760000000000000000); "now" is the present
 *     total=DRAM:L1:L1_SMALL:TRACE:CB[:KERNEL]
 *                  totals; default: the sums of the slots with a pid above 0
 *     slot=PID:DRAM:L1:L1_SMALL:TRACE:CB[:KERNEL]:TIME:NAME
 *                  the next process; KERNEL only with v1k; TIME is a number or "now"; NAME is
 *                  the rest and may have colons; PID may be -1
 *     skip=N       leaves N slots free
 *     init=N       init_state of v4; default: ready (1380271193)
 *     version=N    another number in the field for the version
 *     bytes=N      another size of the file, at most 1048576
 *     mode=OCTAL   mode of a new file (600; 666 for version 1)
 *
 * Numbers are decimal or 0x hexadecimal. Exit codes: 0 written, 2 usage, 3 the file cannot be
 * written. */
#include "harness/region_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_FILE = 3, FILE_BYTES_MAX = 1048576 };

struct request {
    struct region_image image;
    uint64_t sums[REGION_IMAGE_COUNTERS];
    size_t next_slot;
    uint32_t live_slots;
    bool has_totals, has_references, has_active;
    uint64_t file_bytes;
    mode_t mode;
};

static void end_usage(const char *what, const char *text)
{
    fprintf(stderr, "region_writer: %s '%s'\n", what, text);
    exit(EXIT_USAGE);
}

/* Reads a number and moves *text after it. */
static uint64_t take_number(const char **text, const char *whole)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(*text, &end, 0);
    if (end == *text || errno != 0 || (*end != '\0' && *end != ':'))
        end_usage("bad number in", whole);
    *text = *end == ':' ? end + 1 : end;
    return value;
}

static uint64_t take_time(const char **text, const char *whole)
{
    struct timespec now;
    if (strncmp(*text, "now", 3) != 0)
        return take_number(text, whole);
    *text += (*text)[3] == ':' ? 4 : 3;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void take_counters(const struct request *request, const char **text, const char *whole,
                          uint64_t out[REGION_IMAGE_COUNTERS])
{
    memset(out, 0, REGION_IMAGE_COUNTERS * sizeof out[0]);
    for (size_t i = 0; i < (request->image.has_kernels ? 6u : 5u); i++)
        out[i] = take_number(text, whole);
}

static void take_slot(struct request *request, const char *text, const char *whole)
{
    struct region_image_slot slot = {0};
    if (request->next_slot == REGION_IMAGE_SLOTS)
        end_usage("no slot left for", whole);
    slot.pid = (int32_t)take_number(&text, whole);
    take_counters(request, &text, whole, slot.bytes);
    slot.time_ns = take_time(&text, whole);
    slot.name = text;
    region_image_put_slot(&request->image, request->next_slot++, &slot);
    for (size_t i = 0; slot.pid > 0 && i < REGION_IMAGE_COUNTERS; i++)
        request->sums[i] += slot.bytes[i];
    request->live_slots += slot.pid > 0;
}

static void take_totals(struct request *request, const char *text, const char *whole)
{
    uint64_t totals[REGION_IMAGE_COUNTERS];
    take_counters(request, &text, whole, totals);
    region_image_put_totals(&request->image, totals);
    request->has_totals = true;
}

static void take_id(struct request *request, uint64_t id)
{
    bool is_split = request->image.version == 1;
    region_image_put64(&request->image, REGION_IMAGE_BOARD, is_split ? id >> 8 : 0);
    region_image_put64(&request->image, REGION_IMAGE_ASIC, is_split ? id & 0xff : id);
}

/* Stores one KEY=VALUE that is a number. Returns false if there is no such key. */
static bool take_field(struct request *request, const char *key, uint64_t value)
{
    struct region_image *image = &request->image;
    if (strcmp(key, "id") == 0)
        take_id(request, value);
    else if (strcmp(key, "logical") == 0)
        region_image_put32(image, REGION_IMAGE_LOGICAL, (uint32_t)value);
    else if (strcmp(key, "refs") == 0)
        region_image_put32(image, REGION_IMAGE_REFERENCES, (uint32_t)value);
    else if (strcmp(key, "active") == 0)
        region_image_put32(image, REGION_IMAGE_ACTIVE, (uint32_t)value);
    else if (strcmp(key, "init") == 0)
        region_image_put32(image, REGION_IMAGE_INIT_STATE, (uint32_t)value);
    else if (strcmp(key, "version") == 0)
        region_image_put32(image, REGION_IMAGE_VERSION, (uint32_t)value);
    else if (strcmp(key, "bytes") == 0 && value <= FILE_BYTES_MAX)
        request->file_bytes = value;
    else if (strcmp(key, "skip") == 0 && value <= REGION_IMAGE_SLOTS - request->next_slot)
        request->next_slot += (size_t)value;
    else
        return false;
    request->has_references |= strcmp(key, "refs") == 0;
    request->has_active |= strcmp(key, "active") == 0;
    return true;
}

static void take_argument(struct request *request, const char *argument)
{
    char key[16] = "";
    const char *equals = strchr(argument, '=');
    if (!equals || (size_t)(equals - argument) >= sizeof key)
        end_usage("expected KEY=VALUE, not", argument);
    memcpy(key, argument, (size_t)(equals - argument));
    const char *value = equals + 1;
    if (strcmp(key, "slot") == 0)
        take_slot(request, value, argument);
    else if (strcmp(key, "total") == 0)
        take_totals(request, value, argument);
    else if (strcmp(key, "time") == 0)
        region_image_put64(&request->image, REGION_IMAGE_TIME, take_time(&value, argument));
    else if (strcmp(key, "mode") == 0)
        request->mode = (mode_t)strtoul(value, NULL, 8);
    else if (!take_field(request, key, take_number(&value, argument)))
        end_usage("no such key or bad value:", argument);
}

/* Returns the number in a name such as "x/tt_device_7_memory", or 0. */
static uint64_t id_of_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strncmp(name, "tt_device_", 10) == 0 ? strtoull(name + 10, NULL, 10) : 0;
}

static int write_request(const struct request *request, const char *path)
{
    const struct region_image *image = &request->image;
    size_t kept = request->file_bytes < image->len ? request->file_bytes : image->len;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, request->mode);
    bool done = fd >= 0 && pwrite(fd, image->bytes, kept, 0) == (ssize_t)kept &&
                ftruncate(fd, (off_t)request->file_bytes) == 0;
    if (!done)
        fprintf(stderr, "region_writer: cannot write '%s': %s\n", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return done ? EXIT_SUCCESS : EXIT_FILE;
}

int main(int argc, char **argv)
{
    static struct request request;
    if (argc < 3)
        end_usage("usage: region_writer FILE KIND [KEY=VALUE]..., see", "region_writer.c");
    if (!region_image_init(&request.image, argv[2], id_of_path(argv[1])))
        end_usage("no such kind:", argv[2]);
    request.file_bytes = request.image.len;
    request.mode = request.image.version == 1 ? 0666 : 0600;
    for (int i = 3; i < argc; i++)
        take_argument(&request, argv[i]);
    if (!request.has_totals)
        region_image_put_totals(&request.image, request.sums);
    if (!request.has_references)
        region_image_put32(&request.image, REGION_IMAGE_REFERENCES, request.live_slots);
    if (!request.has_active)
        region_image_put32(&request.image, REGION_IMAGE_ACTIVE, request.live_slots);
    return write_request(&request, argv[1]);
}
