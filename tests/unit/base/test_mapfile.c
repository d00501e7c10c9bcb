#include "base/mapfile.h"
#include "harness/t.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int made(const char *name)
{
    int fd = open(t_scratch(name), O_RDWR | O_CREAT | O_EXCL, 0600);
    T_TRUE(fd >= 0);
    return fd;
}

static off_t length(int fd)
{
    struct stat info;
    T_EQ(fstat(fd, &info), 0);
    return info.st_size;
}

T_TEST(what_is_written_to_a_part_is_in_the_file)
{
    int fd = made("part");
    struct tts_mapped part = {0};
    char got[4] = "";
    T_EQ(tts_file_reserve(fd, 4096, 100000), 0);
    T_EQ(length(fd), 104096);
    T_EQ(tts_file_map(fd, 4096, 100000, &part), 0);
    T_EQ(tts_mapped_populate(&part), 0);
    memcpy(part.bytes + 99996, "end", 4);
    T_EQ(pread(fd, got, 4, 104092), 4);
    T_STR_EQ(got, "end");
    tts_mapped_release(&part);
    T_TRUE(!part.bytes);
    tts_mapped_release(&part);
    close(fd);
}

T_TEST(a_part_may_begin_anywhere_and_what_was_there_stays)
{
    int fd = made("anywhere");
    struct tts_mapped part = {0};
    T_EQ(pwrite(fd, "before", 6, 5000), 6);
    T_EQ(tts_file_reserve(fd, 0, 9000), 0);
    T_EQ(tts_file_map(fd, 5003, 997, &part), 0);
    T_MEM_EQ(part.bytes, "ore", 4);
    T_EQ(tts_file_reserve(fd, 0, 10), 0); /* never makes the file shorter */
    T_EQ(length(fd), 9000);
    tts_mapped_release(&part);
    close(fd);
}

T_TEST(beyond_the_limit_of_files_is_an_error_and_no_signal)
{
    int fd = made("limit");
    struct rlimit limit, before;
    T_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 8192;
    T_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    T_EQ(tts_file_reserve(fd, 4096, 4097), EFBIG);
    T_EQ(length(fd), 0);
    T_EQ(tts_file_reserve(fd, 4096, 4096), 0);
    T_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    T_EQ(tts_file_reserve(fd, UINT64_MAX - 10, 11), EFBIG);
    T_EQ(tts_file_reserve(fd, INT64_MAX, 1), EFBIG);
    close(fd);
}

T_TEST(what_cannot_be_mapped_says_so)
{
    int fds[2];
    struct tts_mapped part = {0};
    T_EQ(pipe(fds), 0);
    T_TRUE(tts_file_map(fds[0], 0, 4096, &part) != 0 && !part.bytes);
    T_TRUE(tts_file_reserve(fds[1], 0, 4096) != 0);
    close(fds[0]);
    close(fds[1]);
}

T_TEST(a_child_sees_that_it_is_one)
{
    const volatile uint32_t *mark = NULL;
    T_EQ(tts_forkmark_new(&mark), 0);
    T_EQ(*mark, 1);
    pid_t child = fork();
    if (child == 0)
        _exit(*mark == 0 ? 0 : 1);
    int how;
    T_EQ(waitpid(child, &how, 0), child);
    T_EQ(how, 0);
    T_EQ(*mark, 1);
    tts_forkmark_free(mark);
    tts_forkmark_free(NULL);
}
