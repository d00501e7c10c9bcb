/* host.h: a host made of files, in the scratch directory: what sysfs and procfs have of the
 * driver and its chips. One host at a time. Paths are relative to its root; those returned are
 * borrowed until the fourth call after. */
#pragma once

#include <stddef.h>
#include <stdint.h>

extern const char *host_root;

/* A root of its own with what every host has; and with the driver loaded. */
void host_new(const char *name);
void host_new_driver(const char *name, const char *version);

/* A chip without attributes, whose entry of the class is a link, as in sysfs. */
void host_add_chip(uint32_t node, const char *pci_device);
void host_attribute(uint32_t node, const char *name, const char *text);
void host_add_pids(uint32_t node, const char *text);

/* The path of a chip's file: in the class, of its PCI device, in procfs. */
const char *host_class(uint32_t node, const char *file);
const char *host_pci(uint32_t node, const char *file);
const char *host_proc(uint32_t node, const char *file);

/* The same from the system's root. */
const char *host_path(const char *path);
/* With all directories above. */
void host_dir(const char *path);
void host_put(const char *path, const char *text);
void host_put_bytes(const char *path, const void *bytes, size_t len);
