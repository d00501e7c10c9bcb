#include "sources/live/clientclean.h"

#include "base/error.h"
#include "sources/hostfile.h"
#include "sources/live/liveprocs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looks for the process of a region. A program of an older boot has no process. */
static enum tts_status check_client_gone(const struct tts_seenclient *client, const char *root,
                                         const struct tts_alloc *alloc, struct tts_error *err)
{
    struct tts_hostview view;
    struct tts_liveprocs *procs;
    if (client->is_boot_old)
        return TTS_OK;
    enum tts_status status = tts_liveprocs_new(root, alloc, &procs, err);
    if (status != TTS_OK)
        return status;
    tts_hostview_init(&view, alloc);
    tts_liveprocs_begin(procs, 1, false);
    status = tts_liveprocs_add(procs, client->pid_inside, &view, err);
    const struct tts_seenprocess *process =
        status == TTS_OK ? tts_hostview_process(&view, client->pid_inside) : NULL;
    if (process && process->is_alive &&
        (!process->ticks_known || process->start_ticks == client->start_ticks))
        status = tts_error_set(err, TTS_E_BUSY, "cannot remove '%s': the program is running",
                               client->file);
    tts_hostview_release(&view);
    tts_liveprocs_free(procs);
    return status;
}

enum tts_status tts_clientclean_run(const struct tts_seenclient *client, const char *root,
                                    const struct tts_alloc *alloc, struct tts_error *err)
{
    struct stat info;
    enum tts_status status = check_client_gone(client, root, alloc, err);
    if (status != TTS_OK)
        return status;
    int dir = tts_hostfile_open_root(root, "/dev/shm");
    if (dir < 0 || fstatat(dir, client->file, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        status =
            errno == ENOENT
                ? tts_error_set(err, TTS_E_NOT_FOUND,
                                "cannot remove '%s': the file no longer exists", client->file)
                : tts_error_set_errno(err, TTS_E_IO, errno, "cannot remove '%s'", client->file);
    } else if (!S_ISREG(info.st_mode) || info.st_dev != client->device_no ||
               info.st_ino != client->inode) {
        status = tts_error_set(err, TTS_E_NOT_FOUND,
                               "cannot remove '%s': the file was replaced by another file",
                               client->file);
    } else if (unlinkat(dir, client->file, 0) != 0) {
        status = tts_error_set_errno(err, TTS_E_IO, errno, "cannot remove '%s'", client->file);
    }
    if (dir >= 0)
        close(dir);
    return status;
}
