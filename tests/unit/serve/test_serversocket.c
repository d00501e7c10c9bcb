#include "harness/t.h"
#include "serve/serversocket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The linker puts these in the place of bind() and listen(), so that a test can act between the
 * steps of an open (tests/CMakeLists.txt). */
int __real_bind(int fd, const struct sockaddr *address, socklen_t len);
int __real_listen(int fd, int backlog);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len);
int __wrap_listen(int fd, int backlog);

static const char *link_target; /* the next socket is replaced by a link to this file */
static bool listen_fails;

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len)
{
    int result = __real_bind(fd, address, len);
    const char *path = ((const struct sockaddr_un *)(const void *)address)->sun_path;
    if (result == 0 && link_target && (unlink(path) != 0 || symlink(link_target, path) != 0))
        return -1;
    return result;
}

int __wrap_listen(int fd, int backlog)
{
    if (!listen_fails)
        return __real_listen(fd, backlog);
    errno = EADDRINUSE;
    return -1;
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_mode & 0777 : 0;
}

T_TEST(listens_for_the_own_user_and_removes_its_socket)
{
    struct tts_serversocket server;
    const char *path = t_scratch("own");
    mode_t before = umask(0);
    T_EQ(tts_serversocket_open(path, false, &server, NULL), TTS_OK);
    umask(before);
    T_EQ(mode_of(path), 0600);
    T_EQ(tts_serversocket_accept(&server), -1);
    int client = connect_to(path), fd = tts_serversocket_accept(&server);
    T_TRUE(client >= 0 && fd >= 0 && (fcntl(fd, F_GETFL) & O_NONBLOCK));
    close(fd);
    close(client);
    tts_serversocket_close(&server);
    T_EQ(access(path, F_OK), -1);
}

T_TEST(other_users_may_connect_only_if_that_is_asked_for)
{
    struct tts_serversocket server;
    const char *path = t_scratch("others");
    T_EQ(tts_serversocket_open(path, true, &server, NULL), TTS_OK);
    T_EQ(mode_of(path), 0666);
    tts_serversocket_close(&server);
}

T_TEST(refuses_the_path_of_a_live_server)
{
    struct tts_serversocket first, second;
    struct tts_error err;
    const char *path = t_scratch("live");
    T_EQ(tts_serversocket_open(path, false, &first, NULL), TTS_OK);
    T_EQ(tts_serversocket_open(path, false, &second, &err), TTS_E_BUSY);
    T_TRUE(strstr(err.text, "another server") != NULL);
    int client = connect_to(path);
    T_TRUE(client >= 0);
    close(client);
    tts_serversocket_close(&first);
    T_EQ(tts_serversocket_open(path, false, &second, NULL), TTS_OK);
    tts_serversocket_close(&second);
}

/* A server of another kind takes no lock. */
T_TEST(refuses_the_path_of_a_live_server_without_a_lock)
{
    struct tts_serversocket server;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = t_scratch("foreign");
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    T_EQ(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    T_EQ(listen(fd, 1), 0);
    T_EQ(tts_serversocket_open(path, false, &server, NULL), TTS_E_BUSY);
    T_EQ(access(path, F_OK), 0);
    close(fd);
    /* The socket is a left-over now. */
    T_EQ(tts_serversocket_open(path, false, &server, NULL), TTS_OK);
    int client = connect_to(path);
    T_TRUE(client >= 0);
    close(client);
    tts_serversocket_close(&server);
}

/* Opens a server in a child. Exits with 0 if another server listens. */
static pid_t start_second(const char *path)
{
    struct tts_serversocket server;
    pid_t pid = fork();
    if (pid == 0)
        _exit(tts_serversocket_open(path, false, &server, NULL) == TTS_E_BUSY ? 0 : 1);
    return pid;
}

/* A server that has bound its socket and does not listen yet looks like a dead one. */
T_TEST(a_server_that_is_starting_is_not_replaced)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *directory = t_scratch("race"), *path = t_scratch("race/socket");
    int status = -1;
    T_EQ(mkdir(directory, 0700), 0);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int first = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    T_EQ(flock(lock, LOCK_EX), 0);
    T_EQ(bind(first, (const struct sockaddr *)&address, sizeof address), 0);
    pid_t second = start_second(path);
    usleep(100 * 1000);
    T_EQ(listen(first, 1), 0);
    close(lock);
    T_EQ(waitpid(second, &status, 0), second);
    T_EQ(status, 0);
    int client = connect_to(path);
    T_TRUE(client >= 0);
    close(client);
    close(first);
}

static int count_files(const char *directory)
{
    int count = 0;
    DIR *list = opendir(directory);
    for (const struct dirent *entry; (entry = readdir(list));)
        count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

T_TEST(the_socket_is_the_only_file_and_a_server_leaves_none)
{
    struct tts_serversocket server;
    const char *directory = t_scratch("alone"), *path = t_scratch("alone/socket");
    T_EQ(mkdir(directory, 0700), 0);
    T_EQ(tts_serversocket_open(path, false, &server, NULL), TTS_OK);
    T_EQ(count_files(directory), 1);
    tts_serversocket_close(&server);
    T_EQ(count_files(directory), 0);
}

/* Any user can lock a directory that this user can read. */
T_TEST(a_directory_that_another_program_locks_stops_no_server)
{
    struct tts_serversocket server;
    const char *directory = t_scratch("locked"), *path = t_scratch("locked/socket");
    T_EQ(mkdir(directory, 0700), 0);
    int lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    T_EQ(flock(lock, LOCK_EX), 0);
    T_EQ(tts_serversocket_open(path, false, &server, NULL), TTS_OK);
    tts_serversocket_close(&server);
    close(lock);
}

T_TEST(a_file_of_another_kind_is_kept)
{
    struct tts_serversocket server;
    const char *path = t_file("file", "text", 4);
    T_EQ(tts_serversocket_open(path, false, &server, NULL), TTS_E_INVALID);
    T_EQ(access(path, F_OK), 0);
}

T_TEST(a_socket_that_replaced_the_own_one_is_kept)
{
    struct tts_serversocket server;
    const char *path = t_scratch("replaced");
    T_EQ(tts_serversocket_open(path, false, &server, NULL), TTS_OK);
    unlink(path);
    path = t_file("replaced", "text", 4);
    tts_serversocket_close(&server);
    T_EQ(access(path, F_OK), 0);
}

T_TEST(a_server_that_cannot_listen_leaves_no_file)
{
    struct tts_serversocket server;
    struct tts_error err;
    const char *path = t_scratch("failed");
    listen_fails = true;
    T_EQ(tts_serversocket_open(path, false, &server, &err), TTS_E_IO);
    listen_fails = false;
    T_EQ(err.sys_errno, EADDRINUSE);
    T_EQ(access(path, F_OK), -1);
}

/* In a directory of others, a link can replace the socket before its mode is set. */
T_TEST(a_link_that_replaced_the_own_socket_is_not_followed)
{
    struct tts_serversocket server;
    struct stat info;
    const char *path = t_scratch("linked"), *target = t_file("target", "text", 4);
    T_EQ(chmod(target, 0600), 0);
    link_target = target;
    T_EQ(tts_serversocket_open(path, true, &server, NULL), TTS_E_IO);
    link_target = NULL;
    T_EQ(mode_of(target), 0600);
    T_TRUE(lstat(path, &info) == 0 && S_ISLNK(info.st_mode));
}

T_TEST(a_path_that_is_too_long_or_in_no_directory_is_refused)
{
    struct tts_serversocket server;
    struct tts_error err;
    char path[200];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    T_EQ(tts_serversocket_open(path, false, &server, &err), TTS_E_RANGE);
    T_EQ(tts_serversocket_open("", false, &server, &err), TTS_E_RANGE);
    T_EQ(tts_serversocket_open("/nowhere/socket", false, &server, &err), TTS_E_IO);
    T_EQ(err.sys_errno, ENOENT);
}
