/* host.h: simulates a host with files in the scratch directory: the files of the driver, and
 * its chips in sysfs and procfs. There is one host at a time. Paths are relative to the root of
 * the host. A returned path is valid until the fourth call after it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

extern const char *host_root;

/* Make a new root with the files that every host has. host_new_driver() also adds the
 * driver. */
void host_new(const char *name);
void host_new_driver(const char *name, const char *version);

/* host_add_chip() adds a chip without attributes; its entry in the class directory is a link,
 * as in sysfs. host_attribute() sets an attribute of a chip. */
void host_add_chip(uint32_t node, const char *pci_device);
void host_attribute(uint32_t node, const char *name, const char *text);
void host_add_pids(uint32_t node, const char *text);

/* Adds a process that started `start` seconds after the kernel, with the files stat, status and
 * cmdline ("NAME --run"), and without open files. `levels` is the process's number in each pid
 * namespace: "4711\t4". The kernel started at HOST_BOOT_SECONDS. */
enum { HOST_BOOT_SECONDS = 1000000 };
void host_add_process(uint32_t pid, const char *comm, const char *levels, uint32_t start);
/* Adds a link to the files that a process has open: 3 for "fd/3". */
void host_add_fd(uint32_t pid, uint32_t fd, const char *target);
void host_remove_process(uint32_t pid);
/* Writes the lock of a chip with its owner. */
void host_add_lock(uint32_t node, int32_t pid);
const char *host_process(uint32_t pid, const char *file);

/* Return the path of a chip's file: in the class directory, in its PCI device, or in procfs. */
const char *host_class(uint32_t node, const char *file);
const char *host_pci(uint32_t node, const char *file);
const char *host_proc(uint32_t node, const char *file);

/* Returns a path of the host as a path of the test machine. */
const char *host_path(const char *path);
/* Make a directory or a file, with all its parent directories. */
void host_dir(const char *path);
void host_put(const char *path, const char *text);
void host_put_bytes(const char *path, const void *bytes, size_t len);
