#include "views/live/live_view.h"
#include "views/live/live_words.h"
#include "views/safe_text.h"
#include "views/say.h"
#include "views/table.h"

#include <inttypes.h>
#include <string.h>

enum {
    WIDE_COLUMNS = 120,
    USER_COLUMNS = 8,
    USER_WIDE_COLUMNS = 16,
    COMMAND_COLUMNS = 68,
    INDENT = 3
};

enum {
    DEVICE,
    PID,
    INSIDE,
    USER,
    STATE,
    FIRST_BYTES, /* the columns of bytes, one for each counter but the last */
    BUFFERS = FIRST_BYTES + TTS_COUNTER_KERNEL,
    AGE,
    COMMAND,
    PROCESS_COLUMNS
};

/* Numbers are texts, so that they have units. */
static const struct tts_column process_columns[PROCESS_COLUMNS] = {
    [DEVICE] = {.title = "dev", .type = TTS_COLUMN_NUMBER, .unknown = "?"},
    [PID] = {.title = "pid", .type = TTS_COLUMN_NUMBER, .unknown = "?"},
    [INSIDE] = {.title = "nspid", .type = TTS_COLUMN_NUMBER},
    [USER] = {.title = "user", .unknown = "?"},
    [STATE] = {.title = "state"},
    [FIRST_BYTES + TTS_COUNTER_DRAM] = {.title = "DRAM", .type = TTS_COLUMN_NUMBER},
    [FIRST_BYTES + TTS_COUNTER_L1] = {.title = "L1", .type = TTS_COLUMN_NUMBER},
    [FIRST_BYTES + TTS_COUNTER_L1_SMALL] = {.title = "L1_SMALL", .type = TTS_COLUMN_NUMBER},
    [FIRST_BYTES + TTS_COUNTER_TRACE] = {.title = "TRACE", .type = TTS_COLUMN_NUMBER},
    [FIRST_BYTES + TTS_COUNTER_CB] = {.title = "CB", .type = TTS_COLUMN_NUMBER},
    [BUFFERS] = {.title = "bufs", .type = TTS_COLUMN_NUMBER},
    [AGE] = {.title = "age", .type = TTS_COLUMN_NUMBER},
    [COMMAND] = {.title = "cmd", .unknown = "?", .goes_below = true},
};

static struct tts_cell cell_of_number(bool is_known, uint64_t number)
{
    return is_known ? tts_cell_number(number) : tts_cell_unknown();
}

static const char *process_state_text(enum tts_liveprocess_state state)
{
    return state == TTS_LIVEPROCESS_NOT_VISIBLE ? "hidden" : tts_liveprocess_word(state);
}

static struct tts_cell cell_of_user(const struct tts_liveprocess *process, size_t columns,
                                    char text[TTS_LIVETEXT_MAX])
{
    if (process->user[0])
        tts_safe_text(text, TTS_LIVETEXT_MAX, process->user, columns);
    else if (process->uid_known)
        snprintf(text, TTS_LIVETEXT_MAX, "%" PRIu32, process->uid);
    else
        return tts_cell_unknown();
    return tts_cell_text(text);
}

/* Adds a process. `device` is NULL if the device is unknown. */
static enum tts_status add_process(struct tts_table *table, const struct tts_liveview *view,
                                   const struct tts_livedevice *device,
                                   const struct tts_liveprocess *process)
{
    bool is_wide = view->columns >= WIDE_COLUMNS, is_ended = tts_liveprocess_is_ended(process);
    char sizes[TTS_COUNTERS][TTS_LIVETEXT_SIZE_MAX], user[TTS_LIVETEXT_MAX];
    char command[COMMAND_COLUMNS * TTS_SAFE_COLUMN_BYTES + 1], age[TTS_LIVETEXT_AGE_MAX];
    struct tts_cell cells[PROCESS_COLUMNS] = {
        [DEVICE] = cell_of_number(device != NULL, device ? device->index : 0),
        [PID] = cell_of_number(process->pid_known || is_ended,
                               is_ended ? process->container_pid : process->pid),
        [INSIDE] =
            cell_of_number(process->container_pid_known && !is_ended, process->container_pid),
        [USER] = cell_of_user(process, is_wide ? USER_WIDE_COLUMNS : USER_COLUMNS, user),
        [STATE] = tts_cell_text(process_state_text(process->state)),
        [BUFFERS] = cell_of_number(process->buffers_known, process->buffers),
    };
    for (size_t i = 0; i < TTS_COUNTER_KERNEL; i++)
        if (process->counters.known >> i & 1)
            cells[FIRST_BYTES + i] = tts_cell_text(
                is_wide ? tts_livesize_text(sizes[i], process->counters.bytes[i])
                        : tts_livesize_short(sizes[i], process->counters.bytes[i]));
    if (process->start_known && process->start_ns <= view->frame->time_ns) {
        tts_liveage_text(age, view->frame->time_ns - process->start_ns);
        if (!is_wide)
            age[strcspn(age, "smhd") + 1] = '\0'; /* the larger unit only */
        cells[AGE] = tts_cell_text(age);
    }
    tts_safe_text(command, sizeof command,
                  process->command[0] ? process->command : process->name, COMMAND_COLUMNS);
    cells[COMMAND] = tts_cell_text(command);
    return tts_table_add(table, cells);
}

static enum tts_status add_processes(struct tts_table *table, const struct tts_liveview *view)
{
    const struct tts_liveframe *frame = view->frame;
    enum tts_status status = TTS_OK;
    for (size_t i = 0; i < frame->device_count; i++) {
        const struct tts_livedevice *device = &frame->devices[i];
        for (size_t j = 0; j < device->process_count && status == TTS_OK; j++)
            status = add_process(table, view, device, &device->processes[j]);
    }
    for (size_t i = 0; i < frame->stray_count && status == TTS_OK; i++)
        status = add_process(table, view, NULL, &frame->strays[i]);
    return status;
}

/* Writes the ids of the devices that have rows: the number that a publishing program gives to
 * its device, and the unique id. */
static void put_device_ids(const struct tts_liveframe *frame, FILE *out)
{
    bool has_lines = false;
    for (size_t i = 0; i < frame->device_count; i++) {
        const struct tts_livedevice *device = &frame->devices[i];
        bool has_number = device->source == TTS_LIVESOURCE_CLIENT && device->logical_id_known;
        if (device->process_count == 0 || !(has_number || device->unique_id_known))
            continue;
        fprintf(out, "%sDevice %" PRIu32, has_lines ? "" : "\n", device->index);
        if (has_number)
            fprintf(out, " (ID: %" PRIu32 ")", device->logical_id);
        if (device->unique_id_known)
            fprintf(out, ", Id: %" PRIu64, device->unique_id);
        fputc('\n', out);
        has_lines = true;
    }
}

/* Writes the bytes of kernel binaries, which only a few sources count, so that they have no
 * column. */
static void put_kernel_bytes(const struct tts_liveframe *frame, FILE *out)
{
    char name[TTS_LIVENAME_MAX], size[TTS_LIVETEXT_SIZE_MAX];
    bool has_lines = false;
    for (size_t i = 0; i < frame->device_count; i++)
        for (size_t j = 0; j < frame->devices[i].process_count; j++) {
            const struct tts_liveprocess *process = &frame->devices[i].processes[j];
            uint64_t bytes = process->counters.bytes[TTS_COUNTER_KERNEL];
            if (!(process->counters.known >> TTS_COUNTER_KERNEL & 1) || bytes == 0)
                continue;
            if (!has_lines)
                fputs("\nKernel binaries:\n", out);
            has_lines = true;
            tts_say(out, INDENT, "- Device %" PRIu32 ", process %s: %s",
                    frame->devices[i].index, tts_liveprocess_name(name, process),
                    tts_livesize_text(size, bytes));
        }
}

/* Names the processes that have another name than in the memory region. */
static void say_renamed(const struct tts_liveframe *frame, FILE *out)
{
    char name[TTS_LIVENAME_MAX];
    bool has_lines = false;
    for (size_t i = 0; i < frame->device_count; i++)
        for (size_t j = 0; j < frame->devices[i].process_count; j++) {
            const struct tts_liveprocess *process = &frame->devices[i].processes[j];
            if (!process->is_name_changed)
                continue;
            if (!has_lines)
                fputs("\nrenamed: the process has another name than when it registered\n", out);
            has_lines = true;
            tts_say(out, INDENT, "- Device %" PRIu32 ", process %s", frame->devices[i].index,
                    tts_liveprocess_name(name, process));
        }
}

/* Says why processes are hidden: each reason once. */
static void say_hidden(const struct tts_liveframe *frame, FILE *out)
{
    uint32_t reasons = 0;
    for (size_t i = 0; i < frame->device_count; i++)
        for (size_t j = 0; j < frame->devices[i].process_count; j++)
            if (frame->devices[i].processes[j].state == TTS_LIVEPROCESS_NOT_VISIBLE)
                reasons |= UINT32_C(1) << frame->devices[i].processes[j].reason;
    if (reasons == 0)
        return;
    fputs("\nhidden: the process is alive, but ttscope cannot see the process\n", out);
    for (uint32_t reason = 1; reasons >> reason != 0; reason++)
        if (reasons >> reason & 1)
            tts_say(out, INDENT, "- %s", tts_livereason_text((enum tts_livereason)reason));
}

enum tts_status tts_liveview_processes(const struct tts_liveview *view, FILE *out)
{
    struct tts_table table;
    char time[TTS_LIVETEXT_TIME_MAX];
    tts_table_init(&table, process_columns, PROCESS_COLUMNS, view->frame->alloc);
    table.gap = view->columns >= WIDE_COLUMNS ? 2 : 1;
    enum tts_status status = add_processes(&table, view);
    if (status == TTS_OK) {
        fprintf(out, "Memory by Process (Update #%" PRIu64 ")\n   Timestamp: %s\n\n",
                view->update, tts_livetime_text(time, view->frame->time_ns));
        if (table.row_count > 0)
            tts_table_text(&table, view->columns, out);
        else
            fputs("no process holds a device\n", out);
        put_device_ids(view->frame, out);
        put_kernel_bytes(view->frame, out);
        say_renamed(view->frame, out);
        say_hidden(view->frame, out);
        tts_livenotes_put(view, TTS_LIVENOTES_DEVICES | TTS_LIVENOTES_ANSWERS, out);
    }
    tts_table_release(&table);
    return status;
}
