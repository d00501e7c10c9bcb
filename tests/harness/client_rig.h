/* client_rig.h: regions of programs below the root of a simulated host (host.h), made with the
 * writer of the project, and changed byte by byte. */
#pragma once

#include "harness/host.h"
#include "harness/t.h"
#include "wire/clientwriter.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLIENT_PID = 4711, CLIENT_START = 5000, CLIENT_SPACE = 77 };

/* Returns the directory of the regions, which is made. */
static inline const char *client_directory(void)
{
    static char path[256];
    host_dir("dev/shm");
    snprintf(path, sizeof path, "%s", host_path("dev/shm"));
    return path;
}

static inline struct tts_clientwriter_config client_config(uint32_t pid)
{
    return (struct tts_clientwriter_config){
        .directory = client_directory(),
        .process = {.pid = pid,
                    .uid = (uint32_t)getuid(),
                    .start_ticks = CLIENT_START,
                    .pid_namespace = CLIENT_SPACE,
                    .comm = "python3"},
        .writer = TTS_CLIENTREGION_BY_PROCESS,
        .writer_pid = pid,
        .writer_start_ticks = CLIENT_START,
        .device_slots = 4,
        .op_slots = 4,
        .buffer_slots = 16,
        .event_slots = 8,
    };
}

static inline void client_open(struct tts_clientwriter *writer,
                               const struct tts_clientwriter_config *config)
{
    struct tts_error err = {0};
    if (tts_clientwriter_open(config, writer, &err) != TTS_OK)
        fail_msg("%s", err.text);
}

static inline void client_make(struct tts_clientwriter *writer, uint32_t pid)
{
    struct tts_clientwriter_config config = client_config(pid);
    client_open(writer, &config);
}

/* Closes the writer and leaves the file, as the death of a process does. */
static inline void client_kill(struct tts_clientwriter *writer)
{
    tts_clientwriter_close(writer, false, true);
}

/* Counts an allocation of event number writer->event_count in a pool, and lists it in `slot`.
 */
static inline void client_alloc(struct tts_clientwriter *writer, uint32_t device, uint8_t pool,
                                uint32_t slot, uint64_t bytes)
{
    struct tts_clientregion_device *at = tts_clientwriter_device(writer, device);
    struct tts_clientregion_buffer buffer = {.stamp = writer->event_count + 1,
                                             .id = 100 + writer->event_count,
                                             .address = 64,
                                             .size_bytes = bytes,
                                             .device = device,
                                             .pool = pool};
    T_TRUE(at != NULL);
    tts_clientdevice_lock(at);
    tts_clientwriter_put_buffer(writer, slot, &buffer);
    at->pools[pool].allocated_bytes += bytes;
    at->pools[pool].buffers++;
    at->pools[pool].allocs++;
    if (at->pools[pool].peak_bytes < at->pools[pool].allocated_bytes)
        at->pools[pool].peak_bytes = at->pools[pool].allocated_bytes;
    tts_clientdevice_unlock(at);
    tts_clientwriter_put_event(writer, &(struct tts_clientregion_event){
                                           .id = buffer.id,
                                           .size_bytes = bytes,
                                           .time_ns = 1000 + writer->event_count,
                                           .device = device,
                                           .kind = TTS_CLIENTEVENT_ALLOC,
                                           .pool = pool,
                                           .live_bytes = at->pools[pool].allocated_bytes});
}

/* Changes bytes of a region file. */
static inline void client_poke(const char *path, size_t off, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    T_TRUE(fd >= 0 && pwrite(fd, bytes, len, (off_t)off) == (ssize_t)len);
    close(fd);
}

static inline void client_poke32(const char *path, size_t off, uint32_t value)
{
    client_poke(path, off, &value, sizeof value);
}

static inline void client_poke64(const char *path, size_t off, uint64_t value)
{
    client_poke(path, off, &value, sizeof value);
}

#define CLIENT_OFF(field) offsetof(struct tts_clientregion_header, field)
