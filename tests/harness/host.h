/* host.h: a simulated host made of files in the scratch directory: the files of the driver and
 * its chips in sysfs and procfs. One host at a time. Paths are relative to the host's root. A
 * returned path is valid until the fourth call after it. */
#pragma once

#include <stddef.h>
#include <stdint.h>

extern const char *host_root;

/* Creates a new root with the files that every host has. host_new_driver() also loads the
 * driver. */
void host_new(const char *name);
void host_new_driver(const char *name, const char *version);

/* Adds a chip without attributes. Its entry in the class directory is a link, as in sysfs. */
void host_add_chip(uint32_t node, const char *pci_device);
void host_attribute(uint32_t node, const char *name, const char *text);
void host_add_pids(uint32_t node, const char *text);

/* Return the path of a chip's file: in the class directory, in its PCI device, or in procfs. */
const char *host_class(uint32_t node, const char *file);
const char *host_pci(uint32_t node, const char *file);
const char *host_proc(uint32_t node, const char *file);

/* Returns the path from the system's root. */
const char *host_path(const char *path);
/* Create the directory or file and all its parent directories. */
void host_dir(const char *path);
void host_put(const char *path, const char *text);
void host_put_bytes(const char *path, const void *bytes, size_t len);
