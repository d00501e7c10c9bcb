#include "harness/host.h"

#include "harness/t.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATHS = 4, PATH_BYTES = 1024 };

#define PCI_DIR "sys/devices/pci0000:00/0000:00:01.0/"

const char *host_root;

static char *next_path(void)
{
    static char paths[PATHS][PATH_BYTES];
    static size_t next;
    return paths[next++ % PATHS];
}

static const char *of_node(const char *dir, uint32_t node, const char *file)
{
    char *path = next_path();
    snprintf(path, PATH_BYTES, "%s%" PRIu32 "/%s", dir, node, file);
    return path;
}

const char *host_class(uint32_t node, const char *file)
{
    return of_node("sys/class/tenstorrent/tenstorrent!", node, file);
}

const char *host_pci(uint32_t node, const char *file)
{
    return of_node(PCI_DIR "0000:01:00.", node, file);
}

const char *host_proc(uint32_t node, const char *file)
{
    return of_node("proc/driver/tenstorrent/", node, file);
}

const char *host_path(const char *path)
{
    char *full = next_path();
    T_TRUE(snprintf(full, PATH_BYTES, "%s/%s", host_root, path) < PATH_BYTES);
    return full;
}

static void make_dir(const char *path)
{
    T_TRUE(mkdir(path, 0755) == 0 || errno == EEXIST);
}

void host_dir(const char *path)
{
    char full[PATH_BYTES];
    snprintf(full, sizeof full, "%s", host_path(path));
    for (char *slash = full + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        make_dir(full);
        *slash = '/';
    }
    make_dir(full);
}

void host_put_bytes(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(host_path(path), "w");
    T_TRUE(file && fwrite(bytes, 1, len, file) == len && fclose(file) == 0);
}

void host_put(const char *path, const char *text)
{
    host_put_bytes(path, text, strlen(text));
}

void host_new(const char *name)
{
    static char root[PATH_BYTES];
    snprintf(root, sizeof root, "%s", t_scratch(name));
    host_root = root;
    host_dir("sys/class");
    host_dir("sys/module");
    host_dir("proc/driver");
}

void host_new_driver(const char *name, const char *version)
{
    host_new(name);
    host_dir("sys/class/tenstorrent");
    host_dir("sys/module/tenstorrent");
    host_put("sys/module/tenstorrent/version", version);
}

void host_add_chip(uint32_t node, const char *pci_device)
{
    char entry[PATH_BYTES], target[PATH_BYTES + 16];
    snprintf(entry, sizeof entry, "tenstorrent/tenstorrent!%" PRIu32, node);
    host_dir(host_pci(node, entry));
    host_put(host_pci(node, "device"), pci_device);
    snprintf(target, sizeof target, "../../../%s", host_pci(node, entry));
    snprintf(entry, sizeof entry, "sys/class/tenstorrent/tenstorrent!%" PRIu32, node);
    T_EQ(symlink(target, host_path(entry)), 0);
    snprintf(target, sizeof target, "../../../0000:01:00.%" PRIu32, node);
    T_EQ(symlink(target, host_path(host_class(node, "device"))), 0);
}

void host_attribute(uint32_t node, const char *name, const char *text)
{
    host_put(host_class(node, name), text);
}

void host_add_pids(uint32_t node, const char *text)
{
    host_dir(host_proc(node, ""));
    host_put(host_proc(node, "pids"), text);
}

const char *host_process(uint32_t pid, const char *file)
{
    return of_node("proc/", pid, file);
}

void host_add_process(uint32_t pid, const char *comm, const char *levels, uint32_t start)
{
    char text[PATH_BYTES];
    host_dir(host_process(pid, "fd"));
    host_dir(host_process(pid, "ns"));
    snprintf(text, sizeof text, "cpu 1 2 3\nintr 5 0 0\nbtime %d\nprocesses 9\n",
             HOST_BOOT_SECONDS);
    host_put("proc/stat", text);
    snprintf(text, sizeof text,
             "%" PRIu32 " (%s) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 3 0 %ld 17 18\n", pid,
             comm, start * sysconf(_SC_CLK_TCK));
    host_put(host_process(pid, "stat"), text);
    snprintf(text, sizeof text,
             "Name:\t%s\nTgid:\t%" PRIu32 "\nUid:\t0\t0\t0\t0\nNSpid:\t%s\nThreads:\t3\n", comm,
             pid, levels);
    host_put(host_process(pid, "status"), text);
    int len = snprintf(text, sizeof text, "%s%c--run%c", comm, 0, 0);
    host_put_bytes(host_process(pid, "cmdline"), text, (size_t)len);
}

void host_add_fd(uint32_t pid, uint32_t fd, const char *target)
{
    char name[32];
    snprintf(name, sizeof name, "fd/%" PRIu32, fd);
    T_EQ(symlink(target, host_path(host_process(pid, name))), 0);
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

void host_remove_process(uint32_t pid)
{
    T_EQ(nftw(host_path(host_process(pid, "")), remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

void host_add_lock(uint32_t node, int32_t pid)
{
    unsigned char bytes[56] = {0};
    char name[64];
    host_dir("dev/shm");
    snprintf(name, sizeof name, "dev/shm/TT_UMD_LOCK.CHIP_IN_USE_%" PRIu32 "_PCIe", node);
    memcpy(bytes + 52, &pid, sizeof pid);
    host_put_bytes(name, bytes, sizeof bytes);
}
