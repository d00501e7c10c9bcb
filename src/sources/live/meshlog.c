#include "sources/live/meshlog.h"

#include <string.h>

static struct tts_livemesh *find_live_mesh(struct tts_meshlog *log, uint64_t id)
{
    for (size_t i = 0; i < log->count; i++)
        if (log->meshes[i].id == id)
            return &log->meshes[i];
    return NULL;
}

static void remove_live_mesh(struct tts_meshlog *log, uint64_t id)
{
    struct tts_livemesh *mesh = find_live_mesh(log, id);
    if (mesh)
        *mesh = log->meshes[--log->count];
}

static void add_live_mesh(struct tts_meshlog *log, uint64_t id)
{
    remove_live_mesh(log, id);
    if (log->count == TTS_MESHLOG_LIVE_MAX) {
        log->is_damaged = true;
        return;
    }
    log->meshes[log->count++] = (struct tts_livemesh){.id = id};
    log->had_several |= log->count > 1;
}

/* Reads a list of numbers: "[0, 1]". Returns false if the list is malformed or too long. */
static bool parse_mesh_devices(struct tts_span list, struct tts_livemesh *mesh)
{
    if (list.len < 2 || list.at[0] != '[' || list.at[list.len - 1] != ']')
        return false;
    const char *at = list.at + 1, *end = list.at + list.len - 1;
    size_t count = 0;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        struct tts_span item = tts_span_trim((struct tts_span){at, (size_t)(stop - at)});
        uint64_t device;
        if (count == TTS_HOSTVIEW_MESH_DEVICES_MAX ||
            !tts_inspectline_number(item, UINT32_MAX, &device))
            return false;
        mesh->devices[count++] = (uint32_t)device;
        at = comma ? comma + 1 : end;
    }
    mesh->device_count = count;
    mesh->devices_known = count > 0; /* a mesh without devices on this host */
    return true;
}

/* Reads a field of the present event. Returns false if the line is bad. */
static bool read_mesh_field(struct tts_meshlog *log, const struct tts_inspectline *line)
{
    if (!log->is_creation && !log->is_destruction)
        return true;
    if (tts_span_is(line->name, "mesh_id")) {
        if (log->id_known || !tts_inspectline_number(line->value, UINT64_MAX, &log->id))
            return false;
        log->id_known = true;
        if (log->is_creation)
            add_live_mesh(log, log->id);
        else
            remove_live_mesh(log, log->id);
    } else if (tts_span_is(line->name, "devices") && log->is_creation) {
        struct tts_livemesh *mesh = log->id_known ? find_live_mesh(log, log->id) : NULL;
        return mesh && !mesh->devices_known && parse_mesh_devices(line->value, mesh);
    }
    return true;
}

static void read_mesh_line(void *ctx, const struct tts_inspectline *line)
{
    struct tts_meshlog *log = ctx;
    bool is_good = line->kind != TTS_INSPECTLINE_BAD;
    if (line->kind == TTS_INSPECTLINE_EVENT) {
        is_good = (!log->is_creation && !log->is_destruction) || log->id_known;
        log->is_creation = tts_span_is(line->name, "mesh_device_created");
        log->is_destruction = tts_span_is(line->name, "mesh_device_destroyed");
        log->id_known = false;
    } else if (line->kind == TTS_INSPECTLINE_FIELD) {
        is_good = read_mesh_field(log, line);
    }
    /* A mesh that was missed makes every other mesh doubtful. */
    if (!is_good)
        log->is_damaged = true;
}

void tts_meshlog_feed(struct tts_meshlog *log, const char *bytes, size_t len)
{
    tts_inspecttext_feed(&log->text, bytes, len, read_mesh_line, log);
}

void tts_meshlog_fill(const struct tts_meshlog *log, struct tts_seenbuffers *out)
{
    const struct tts_livemesh *mesh = &log->meshes[0];
    out->devices_known = !log->is_damaged && log->count == 1 && mesh->devices_known;
    out->device_count = out->devices_known ? mesh->device_count : 0;
    memcpy(out->devices, mesh->devices, out->device_count * sizeof out->devices[0]);
    /* Each mesh has addresses of its own, so buffers may have been taken for views. */
    out->is_complete = out->is_complete && !log->had_several;
}
