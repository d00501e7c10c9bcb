#include "views/serve/server_stats.h"

#include "views/safe_text.h"
#include "views/say.h"
#include "views/serve/server_sizes.h"

#include <inttypes.h>

enum { KIB = 10, MIB = 20, GIB = 30, BOX_COLUMNS = 60, LISTED_MAX = 10, PATH_COLUMNS = 1024 };

/* ---- numbers ---- */

/* Returns the size in units of 2^shift bytes, as server_sizes.h says. */
static const char *server_size(char out[TTS_NUMBER_BYTES_MAX], uint64_t bytes, unsigned shift)
{
    struct tts_textroom room = tts_textroom_of(out, TTS_NUMBER_BYTES_MAX);
    tts_serversize_put(&room, bytes, shift);
    return out;
}

/* Writes "    DRAM: 4096 bytes (4 KB)". */
static void put_stats_size(FILE *out, const char *name, uint64_t bytes)
{
    char size[TTS_NUMBER_BYTES_MAX];
    fprintf(out, "    %s: %" PRIu64 " bytes (%s KB)\n", name, bytes,
            server_size(size, bytes, KIB));
}

static uint64_t sum_device_bytes(const struct tts_serverdevice *device)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TTS_POOLS; i++)
        if (__builtin_add_overflow(sum, device->bytes[i], &sum))
            return UINT64_MAX;
    return sum;
}

static uint64_t sum_device_buffers(const struct tts_serverdevice *device)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TTS_POOLS; i++)
        sum += device->buffers[i];
    return sum;
}

/* ---- the start ---- */

static const char *server_arch(const struct tts_serverdevice *device)
{
    static const char *const names[] = {[TTS_ARCH_GRAYSKULL] = "Grayskull",
                                        [TTS_ARCH_WORMHOLE] = "Wormhole_B0",
                                        [TTS_ARCH_BLACKHOLE] = "Blackhole",
                                        [TTS_ARCH_QUASAR] = "Quasar"};
    bool is_known =
        device->arch_known && (unsigned)device->arch < sizeof names / sizeof names[0];
    return is_known ? names[device->arch] : "Unknown";
}

static void put_start_device(FILE *out, const struct tts_serverdevice *device)
{
    char dram[TTS_NUMBER_BYTES_MAX], l1[TTS_NUMBER_BYTES_MAX];
    fprintf(out, "   Device %" PRIu32 ": %s", device->device, server_arch(device));
    if (device->capacity_known)
        fprintf(out, " (%sGB DRAM, %sMB L1)", server_size(dram, device->dram_total_bytes, GIB),
                server_size(l1, device->l1_total_bytes, MIB));
    fprintf(out, " [%s]\n",
            device->is_of_program ? "of a program"
            : device->is_remote   ? "Remote"
                                  : "Local");
}

void tts_serverstats_start(const struct tts_serverstate *state, const char *socket_path,
                           bool is_utf8, FILE *out)
{
    char path[PATH_COLUMNS];
    tts_safe_text(path, sizeof path, socket_path, sizeof path - 1);
    fprintf(out, "%sAllocation Server started\n", is_utf8 ? "\U0001f680 " : "");
    fprintf(out, "   Listening on: %s\n", path);
    fprintf(out, "   Press Ctrl+C to stop\n");
    for (size_t i = 0; i < state->device_count; i++)
        put_start_device(out, &state->devices[i]);
}

/* ---- statistics ---- */

static void put_stats_device(FILE *out, const struct tts_serverdevice *device)
{
    fprintf(out, "  Device %" PRIu32 ":\n", device->device);
    fprintf(out, "    Buffers: %" PRIu64 "\n", sum_device_buffers(device));
    put_stats_size(out, "DRAM", device->bytes[TTS_POOL_DRAM]);
    put_stats_size(out, "L1", device->bytes[TTS_POOL_L1]);
    if (device->bytes[TTS_POOL_L1_SMALL] > 0)
        put_stats_size(out, "L1_SMALL", device->bytes[TTS_POOL_L1_SMALL]);
    if (device->bytes[TTS_POOL_TRACE] > 0)
        put_stats_size(out, "TRACE", device->bytes[TTS_POOL_TRACE]);
    if (device->cb_bytes > 0)
        put_stats_size(out, "CB", device->cb_bytes);
    if (device->kernel_bytes > 0)
        put_stats_size(out, "Kernel", device->kernel_bytes);
    fprintf(out, "    Total: %" PRIu64 " bytes\n", sum_device_bytes(device));
}

/* Writes a count that is 0 if nothing is wrong. */
static void put_stats_loss(FILE *out, const char *what, uint64_t count)
{
    if (count > 0)
        fprintf(out, "  %s: %" PRIu64 "\n", what, count);
}

void tts_serverstats_now(const struct tts_serverstate *state, bool is_utf8, FILE *out)
{
    fprintf(out, "\n%sCurrent Statistics:\n", is_utf8 ? "\U0001f4ca " : "");
    for (size_t i = 0; i < state->device_count; i++) {
        const struct tts_serverdevice *device = &state->devices[i];
        if (sum_device_buffers(device) > 0 || sum_device_bytes(device) > 0 ||
            device->cb_bytes > 0 || device->kernel_bytes > 0)
            put_stats_device(out, device);
    }
    fprintf(out, "  Active allocations: %" PRIu64 "\n", state->live_buffers);
    put_stats_loss(out, "Lost events", state->lost_events);
    put_stats_loss(out, "Frees of unknown buffers", state->unknown_frees);
    put_stats_loss(out, "Bytes that are no frame", state->skipped_bytes);
    put_stats_loss(out, "Event lines not printed", state->lines_left_out);
}

/* ---- boxes ---- */

static void put_box_rule(FILE *out, const char *left, const char *line, const char *right)
{
    fputs(left, out);
    for (int i = 0; i < BOX_COLUMNS; i++)
        fputs(line, out);
    fprintf(out, "%s\n", right);
}

/* Writes a box with a title of ASCII letters in its middle. */
static void put_box(FILE *out, const char *title, bool is_utf8)
{
    int blanks = BOX_COLUMNS - (int)strlen(title), left = blanks / 2;
    const char *side = is_utf8 ? "\u2551" : "|";
    fputc('\n', out);
    if (is_utf8)
        put_box_rule(out, "\u2554", "\u2550", "\u2557");
    else
        put_box_rule(out, "+", "=", "+");
    fprintf(out, "%s%*s%s%*s%s\n", side, left, "", title, blanks - left, "", side);
    if (is_utf8)
        put_box_rule(out, "\u255a", "\u2550", "\u255d");
    else
        put_box_rule(out, "+", "=", "+");
}

/* ---- live buffers ---- */

static void put_row_pid(FILE *out, const struct tts_serverprocess *process)
{
    uint32_t pid = process ? (process->pid ? process->pid : process->pid_inside) : 0;
    if (pid)
        fprintf(out, "%" PRIu32, pid);
    else
        fputs("?", out);
}

/* Says how many buffers of a group are not listed, and why. `known` are in the state. */
static void put_unlisted_buffers(FILE *out, uint64_t buffers, size_t known)
{
    if (known > LISTED_MAX)
        fprintf(out, "    (%" PRIu64 " not listed: more than %d)\n", buffers, LISTED_MAX);
    else if (buffers > known)
        fprintf(out,
                "    (%" PRIu64 " not listed: of programs that publish or have counters only, "
                "or beyond the longest list)\n",
                buffers - known);
}

/* Writes the buffers of a device and a pool, in one line if there are many. `rows` are those
 * from the first of this device and pool on. Returns how many of them belong here. */
static size_t put_live_group(FILE *out, const struct tts_serverdevice *device,
                             enum tts_pool pool, const struct tts_serverbuffer *rows,
                             size_t most)
{
    char size[TTS_NUMBER_BYTES_MAX];
    size_t count = 0;
    while (count < most && rows[count].device == device->device && rows[count].pool == pool)
        count++;
    fprintf(out, "  %s: %" PRIu64 " buffers, %s MB total\n", tts_pool_name(pool),
            device->buffers[pool], server_size(size, device->bytes[pool], MIB));
    bool is_listed = count <= LISTED_MAX;
    for (size_t i = 0; i < count && is_listed; i++) {
        fprintf(out, "    - Buffer 0x%" PRIx64 ": %s KB (PID ", rows[i].id,
                server_size(size, rows[i].size_bytes, KIB));
        put_row_pid(out, rows[i].process);
        fprintf(out, ", ref_count=%" PRIu32 ")\n", rows[i].references);
    }
    put_unlisted_buffers(out, device->buffers[pool], count);
    return count;
}

void tts_serverstats_buffers(const struct tts_serverstate *state, bool is_utf8, FILE *out)
{
    put_box(out, "REMAINING ALLOCATED BUFFERS", is_utf8);
    if (state->live_buffers == 0) {
        fprintf(out, "%sNo buffers remaining - perfect cleanup!\n", is_utf8 ? "\u2713 " : "");
        return;
    }
    fprintf(out, "Total tracked allocations: %" PRIu64 "\n", state->live_buffers);
    size_t at = 0;
    for (size_t i = 0; i < state->device_count; i++) {
        const struct tts_serverdevice *device = &state->devices[i];
        if (sum_device_buffers(device) > 0)
            fprintf(out, "\nDevice %" PRIu32 ":\n", device->device);
        for (int pool = 0; pool < TTS_POOLS; pool++)
            if (device->buffers[pool] > 0)
                at += put_live_group(out, device, (enum tts_pool)pool, &state->buffers[at],
                                     state->buffer_count - at);
    }
    fprintf(out, "\nTotal remaining buffers: %" PRIu64 "\n", state->live_buffers);
}

/* ---- live kernels ---- */

void tts_serverstats_kernels(const struct tts_serverstate *state, bool is_utf8, FILE *out)
{
    put_box(out, "DETAILED KERNEL ALLOCATIONS", is_utf8);
    for (size_t i = 0; i < state->kernel_count; i++) {
        const struct tts_serverbuffer *row = &state->kernels[i];
        char size[TTS_NUMBER_BYTES_MAX];
        uint64_t age_ns = state->time_ns > row->time_ns ? state->time_ns - row->time_ns : 0;
        if (i == 0 || row->device != row[-1].device)
            fprintf(out, "\nDevice %" PRIu32 ":\n", row->device);
        fprintf(out, "  Kernel 0x%" PRIx64 ": %s KB (PID ", row->id,
                server_size(size, row->size_bytes, KIB));
        put_row_pid(out, row->process);
        fprintf(out, ", age %" PRIu64 "s)\n", age_ns / UINT64_C(1000000000));
    }
    fprintf(out, "%sTotal kernels: %zu\n", state->kernel_count > 0 ? "\n" : "",
            state->kernel_count);
}
