/* serverpeer.h: a process that the server knows by its number: its identity from /proc, and a
 * descriptor that becomes readable when the process ends.
 *
 * Threads: any. */
#pragma once

#include "wire/clientwriter.h"

#include <sys/socket.h>

struct tts_serverpeer {
    struct tts_clientidentity identity; /* identity.pid: as the process numbers itself */
    uint32_t pid;                       /* as this process numbers it; 0: it cannot be seen */
    uint32_t parent;                    /* the same, of its parent */
    int pidfd;     /* -1: the kernel has none, or the process had ended; the caller closes it */
    bool is_known; /* identity and parent are known */
};

/* Reads the identity of process `pid`. The process may have ended: then only the number is
 * known. */
void tts_serverpeer_look(uint32_t pid, struct tts_serverpeer *out);
/* Reads the identity of the process that connected `fd`, as the kernel noted it then. Also sets
 * its user. */
void tts_serverpeer_of_socket(int fd, struct tts_serverpeer *out, uint32_t *uid);
/* Returns whether the process of a pidfd has ended. Returns false for -1. */
bool tts_serverpeer_has_ended(int pidfd);
/* Returns whether the process `child` descends from `parent`, both as this process numbers
 * them. */
bool tts_serverpeer_descends(uint32_t child, uint32_t parent);
