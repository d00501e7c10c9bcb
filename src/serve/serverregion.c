#include "serve/serverregion.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum tts_status tts_serverregion_open(const char *directory,
                                      const struct tts_clientidentity *process,
                                      const struct tts_clientidentity *server,
                                      struct tts_clientwriter *out, struct tts_error *err)
{
    const struct tts_clientwriter_config config = {.directory = directory,
                                                   .process = *process,
                                                   .writer = TTS_CLIENTREGION_BY_SERVER,
                                                   .writer_pid = server->pid,
                                                   .writer_start_ticks = server->start_ticks,
                                                   .device_slots = TTS_SERVERREGION_DEVICES};
    return tts_clientwriter_open(&config, out, err);
}

static void store_region_number(uint64_t *place, uint64_t value)
{
    __atomic_store_n(place, value, __ATOMIC_RELAXED);
}

void tts_serverregion_show(struct tts_clientwriter *region, const struct tts_serverrow *row,
                           uint64_t now_ns)
{
    struct tts_clientregion_device *device = tts_clientwriter_device(region, row->device);
    uint64_t events = 0;
    store_region_number(&region->header->update_ns, now_ns);
    if (!device) {
        tts_clientregion_add(&region->header->dropped, 1);
        return;
    }
    tts_clientdevice_lock(device);
    device->known |= TTS_CLIENTDEVICE_CB | TTS_CLIENTDEVICE_KERNEL;
    store_region_number(&device->cb_bytes, row->cb_bytes);
    store_region_number(&device->kernel_bytes, row->kernel_bytes);
    for (int i = 0; i < TTS_POOLS; i++) {
        struct tts_clientregion_pool *pool = &device->pools[i];
        events += row->allocs[i] - pool->allocs + row->frees[i] - pool->frees;
        store_region_number(&pool->allocated_bytes, row->bytes[i]);
        store_region_number(&pool->buffers, row->buffers[i]);
        store_region_number(&pool->peak_bytes, row->peak_bytes[i]);
        store_region_number(&pool->allocs, row->allocs[i]);
        store_region_number(&pool->frees, row->frees[i]);
    }
    tts_clientdevice_unlock(device);
    tts_clientregion_add(&region->header->events, events);
}

/* Returns whether the region is from a server that has ended. */
static bool is_left_over(int directory_fd, const char *name,
                         const struct tts_clientidentity *server)
{
    struct tts_clientregion_header header;
    struct tts_serverpeer writer;
    int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    bool is_whole = pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header;
    close(fd);
    if (!is_whole || memcmp(header.magic, TTS_CLIENTREGION_MAGIC, sizeof header.magic) != 0 ||
        header.version != TTS_CLIENTREGION_VERSION ||
        header.writer != TTS_CLIENTREGION_BY_SERVER || server->pid_namespace == 0 ||
        header.pid_namespace != server->pid_namespace)
        return false;
    tts_serverpeer_look(header.writer_pid, &writer);
    bool exists = writer.pidfd >= 0;
    if (exists)
        close(writer.pidfd);
    return writer.is_known ? writer.identity.start_ticks != header.writer_start_ticks : !exists;
}

size_t tts_serverregion_clean(const char *directory, const struct tts_clientidentity *server)
{
    size_t removed = 0;
    DIR *list = opendir(directory);
    const struct dirent *entry;
    while (list && (entry = readdir(list)))
        if (strncmp(entry->d_name, TTS_CLIENTREGION_PREFIX,
                    sizeof TTS_CLIENTREGION_PREFIX - 1) == 0 &&
            is_left_over(dirfd(list), entry->d_name, server))
            removed += unlinkat(dirfd(list), entry->d_name, 0) == 0;
    if (list)
        closedir(list);
    return removed;
}
