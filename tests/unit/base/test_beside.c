/* Tests the temporary files beside a file that they will replace. */
#include "base/beside.h"
#include "harness/t.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates a temporary file with a umask of 0 and returns its mode. */
static mode_t created_mode(mode_t mode)
{
    char temporary[TTS_PATH_MAX];
    struct stat info;
    int fd;
    mode_t kept = umask(0);
    T_EQ(tts_beside_create(t_scratch("final"), O_WRONLY, mode, temporary, &fd), 0);
    umask(kept);
    T_EQ(fstat(fd, &info), 0);
    T_EQ(close(fd), 0);
    T_EQ(unlink(temporary), 0);
    return info.st_mode & 0777;
}

T_TEST(a_temporary_file_has_its_mode_from_the_first_moment)
{
    T_EQ(created_mode(0600), 0600);
    T_EQ(created_mode(0666), 0666);
}

T_TEST(a_temporary_file_is_new_and_in_the_same_directory)
{
    char first[TTS_PATH_MAX], second[TTS_PATH_MAX], directory[TTS_PATH_MAX];
    int fds[2];
    snprintf(directory, sizeof directory, "%s", t_scratch("final"));
    *(strrchr(directory, '/') + 1) = '\0';
    T_EQ(tts_beside_create(t_scratch("final"), O_RDWR, 0600, first, &fds[0]), 0);
    T_EQ(tts_beside_create(t_scratch("final"), O_RDWR, 0600, second, &fds[1]), 0);
    T_TRUE(strcmp(first, second) != 0);
    T_EQ(strncmp(first, directory, strlen(directory)), 0);
    T_TRUE(access(t_scratch("final"), F_OK) != 0);
    for (int i = 0; i < 2; i++) {
        close(fds[i]);
        T_EQ(unlink(i == 0 ? first : second), 0);
    }
    T_EQ(tts_beside_create("/none/final", O_RDWR, 0600, first, &fds[0]), ENOENT);
}
