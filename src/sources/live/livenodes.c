#include "sources/live/livenodes.h"

#include "base/error.h"
#include "base/number.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODE_PATH_BYTES = 4096 };

static int compare_nodes(const void *a, const void *b)
{
    const struct tts_seennode *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Adds an entry of the directory if its name is a number. */
static enum tts_status add_node(int dir, const char *name, struct tts_hostview *view)
{
    uint64_t number;
    struct stat info;
    if (tts_number_parse(name, strlen(name), &number) != TTS_OK || number > UINT32_MAX ||
        fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return TTS_OK;
    struct tts_seennode *node = tts_hostview_add_node(view);
    if (!node)
        return TTS_E_NOMEM;
    node->node = (uint32_t)number;
    node->is_usable = faccessat(dir, name, R_OK | W_OK, AT_EACCESS) == 0;
    node->owner_uid = info.st_uid;
    node->owner_gid = info.st_gid;
    node->mode = info.st_mode & 07777;
    return TTS_OK;
}

enum tts_status tts_livenodes_read(const char *root, struct tts_hostview *view,
                                   struct tts_error *err)
{
    char path[NODE_PATH_BYTES];
    struct dirent *entry;
    enum tts_status status = TTS_OK;
    int length = snprintf(path, sizeof path, "%s/dev/tenstorrent", root);
    DIR *dir = length > 0 && length < NODE_PATH_BYTES ? opendir(path) : NULL;
    if (!dir)
        return TTS_OK;
    view->nodes_listed = true;
    while (status == TTS_OK && view->node_count < TTS_HOSTVIEW_CHIPS_MAX &&
           (entry = readdir(dir)))
        status = add_node(dirfd(dir), entry->d_name, view);
    closedir(dir);
    if (view->node_count > 0)
        qsort(view->nodes, view->node_count, sizeof *view->nodes, compare_nodes);
    return status == TTS_OK ? TTS_OK : tts_error_set(err, status, TTS_TEXT_NOMEM);
}
