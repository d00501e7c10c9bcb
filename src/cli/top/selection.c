#include "cli/top/selection.h"

#include "base/error.h"
#include "base/number.h"

#include <string.h>

enum tts_status tts_selection_take_device(void *target, const char *text, struct tts_error *err)
{
    struct tts_selection *selection = target;
    uint64_t number;
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    enum tts_status status = is_hex ? tts_number_parse_hex(text + 2, strlen(text + 2), &number)
                                    : tts_number_parse(text, strlen(text), &number);
    if (status != TTS_OK)
        return tts_error_set(err, TTS_E_SYNTAX,
                             "expected the number of a device, or its unique id");
    if (selection->device_count == TTS_SELECTION_MAX)
        return tts_error_set(err, TTS_E_RANGE, "at most %d devices can be selected",
                             TTS_SELECTION_MAX);
    size_t at = selection->device_count++;
    selection->devices[at].number = number;
    selection->devices[at].is_unique_id = is_hex || number > UINT32_MAX;
    return TTS_OK;
}

enum tts_status tts_selection_take_pid(void *target, const char *text, struct tts_error *err)
{
    struct tts_selection *selection = target;
    uint64_t number;
    if (tts_number_parse(text, strlen(text), &number) != TTS_OK || number == 0 ||
        number > INT32_MAX)
        return tts_error_set(err, TTS_E_SYNTAX, "expected a process id (pid), such as 1234");
    if (selection->pid_count == TTS_SELECTION_MAX)
        return tts_error_set(err, TTS_E_RANGE, "at most %d processes can be selected",
                             TTS_SELECTION_MAX);
    selection->pids[selection->pid_count++] = (uint32_t)number;
    return TTS_OK;
}

static bool wants_device(const struct tts_selection *selection,
                         const struct tts_livedevice *device)
{
    for (size_t i = 0; i < selection->device_count; i++) {
        uint64_t number = selection->devices[i].number;
        if (selection->devices[i].is_unique_id
                ? device->unique_id_known && device->unique_id == number
                : device->index == number)
            return true;
    }
    return selection->device_count == 0;
}

static bool wants_process(const struct tts_selection *selection,
                          const struct tts_liveprocess *process)
{
    for (size_t i = 0; i < selection->pid_count; i++)
        if ((process->pid_known && process->pid == selection->pids[i]) ||
            (process->container_pid_known && process->container_pid == selection->pids[i]))
            return true;
    return selection->pid_count == 0;
}

/* Moves the wanted processes to the front, in their order. Returns their number. */
static size_t keep_processes(const struct tts_selection *selection,
                             struct tts_liveprocess *processes, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (wants_process(selection, &processes[i])) {
            if (kept != i) {
                struct tts_liveprocess other = processes[kept];
                processes[kept] = processes[i];
                processes[i] = other;
            }
            kept++;
        }
    return kept;
}

void tts_selection_apply(const struct tts_selection *selection, struct tts_liveframe *frame)
{
    size_t kept = 0;
    for (size_t i = 0; i < frame->device_count; i++) {
        struct tts_livedevice *device = &frame->devices[i];
        size_t all = device->process_count;
        device->process_count = keep_processes(selection, device->processes, all);
        device->deselected_count += all - device->process_count;
        if (!wants_device(selection, device) ||
            (selection->pid_count > 0 && device->process_count == 0))
            continue;
        /* The devices are exchanged, because each owns the memory of its processes. */
        struct tts_livedevice other = frame->devices[kept];
        frame->devices[kept++] = *device;
        if (kept - 1 != i)
            frame->devices[i] = other;
    }
    frame->device_count = kept;
    frame->stray_count = selection->device_count > 0
                             ? 0
                             : keep_processes(selection, frame->strays, frame->stray_count);
}
