/* meshlog.h: the live meshes of a process, from mesh_devices_log.yaml of the runtime's
 * inspector. The log of buffers names no device; the devices are known if the process has
 * exactly one live mesh. A mesh inside another mesh counts as a mesh.
 *
 * The caller owns the struct, which is valid when zeroed; zero it again if the log begins anew.
 * One thread at a time. Allocates nothing. */
#pragma once

#include "model/live/hostview.h"
#include "sources/live/inspecttext.h"

enum { TTS_MESHLOG_LIVE_MAX = 16 };

/* A live mesh. The devices are not known before their line is read, or if they are too many. */
struct tts_livemesh {
    uint64_t id;
    bool devices_known;
    uint32_t devices[TTS_HOSTVIEW_MESH_DEVICES_MAX];
    size_t device_count;
};

struct tts_meshlog {
    struct tts_inspecttext text;
    bool is_creation, is_destruction; /* what the present event tells */
    bool id_known;                    /* the present event names the mesh `id` */
    uint64_t id;
    bool is_damaged; /* a line was bad, or there were too many meshes */
    struct tts_livemesh meshes[TTS_MESHLOG_LIVE_MAX];
    size_t count;
    bool had_several; /* two meshes were alive at the same time, now or before */
};

/* Reads the next bytes of the log. */
void tts_meshlog_feed(struct tts_meshlog *log, const char *bytes, size_t len);

/* Fills the devices of *out. Clears is_complete if two meshes were alive at the same time:
 * their addresses cannot be told apart. The rest of *out is unchanged. */
void tts_meshlog_fill(const struct tts_meshlog *log, struct tts_seenbuffers *out);
