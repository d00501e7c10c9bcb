/* hostcheck.h: checks whether the memory of the devices of this host can be watched: driver,
 * chips, nodes, holders, and each source with what it sees and does not see.
 *
 * A pure function of a host view and its live frame. Each check has an answer, and an action if
 * something should change. The caller owns the struct; it is plain data. */
#pragma once

#include "model/finding.h"
#include "model/live/liveframe.h"

enum { TTS_HOSTCHECK_TEXT_MAX = 320, TTS_HOSTCHECKS_MAX = 16 };

struct tts_hostcheck {
    const char *id; /* never changes: "driver" */
    /* TTS_SEVERITY_NONE: good. NOTE: a source that is not there, or a limit. WARNING: something
     * is hidden or left over. ERROR: nothing can be watched for this reason. */
    enum tts_severity severity;
    char answer[TTS_HOSTCHECK_TEXT_MAX];
    char action[TTS_HOSTCHECK_TEXT_MAX]; /* what to do; "" if nothing needs to be done */
    const char *sees, *sees_not;         /* for a source: constant texts; else NULL */
};

struct tts_hostchecks {
    struct tts_hostcheck checks[TTS_HOSTCHECKS_MAX];
    size_t count;
    bool has_device;     /* a chip, a node or a region exists */
    bool has_source;     /* the memory of at least one device or process can be read */
    size_t seen_devices; /* devices whose memory can be read */
    bool is_used;        /* a process uses one of these devices */
    bool has_left_over;  /* one of them counts bytes of processes that have ended */
};

/* Makes all checks, in a fixed order: driver, nodes, chips, holders, namespaces, regions, logs,
 * programs that publish. `frame` is the frame of `view`. */
void tts_hostcheck_all(const struct tts_hostview *view, const struct tts_liveframe *frame,
                       struct tts_hostchecks *out);

/* Returns the worst severity of all checks. */
enum tts_severity tts_hostcheck_worst(const struct tts_hostchecks *checks);
