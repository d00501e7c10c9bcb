#include "sources/textfile.h"

#include "harness/t.h"
#include "torture/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *write_bytes(const char *name, char with, size_t len)
{
    const char *path = t_scratch(name);
    FILE *file = fopen(path, "w");
    T_TRUE(file != NULL);
    for (size_t i = 0; i < len; i++)
        T_EQ(fputc(with, file), with);
    T_EQ(fclose(file), 0);
    return path;
}

static void expect_length(const char *path, size_t max, size_t len)
{
    struct tts_textfile file = {0};
    T_EQ(tts_textfile_read(path, max, NULL, &file, NULL), TTS_OK);
    T_EQ(file.len, len);
    for (size_t i = 0; i < len; i++)
        T_EQ(file.text[i], 'x');
    tts_textfile_release(&file);
    T_TRUE(file.text == NULL && file.len == 0);
    tts_textfile_release(&file);
}

T_TEST(a_file_is_read_whole_up_to_one_byte_too_many)
{
    const char *path = write_bytes("large", 'x', 100000);
    expect_length(path, 1 << 20, 100000);
    expect_length(path, 100000, 100000);
    expect_length(path, 99999, 100000);
    expect_length(path, 99998, 99999);
    expect_length(path, 0, 1);
    expect_length(write_bytes("empty", 'x', 0), 100, 0);
    expect_length(write_bytes("one", 'x', 1), 100, 1);
}

T_TEST(a_file_that_cannot_be_read_says_why)
{
    struct tts_textfile file = {.len = 77};
    struct tts_error err;
    const char *path = t_scratch("nothing");
    T_EQ(tts_textfile_read(path, 100, NULL, &file, &err), TTS_E_IO);
    T_EQ(err.sys_errno, ENOENT);
    T_TRUE(strstr(err.text, path) != NULL);
    path = t_scratch("directory");
    T_EQ(mkdir(path, 0700), 0);
    T_EQ(tts_textfile_read(path, 100, NULL, &file, &err), TTS_E_IO);
    T_EQ(err.sys_errno, EISDIR);
    T_EQ(file.len, 77);
}

T_TEST(standard_input_stays_open)
{
    const char *path = write_bytes("stdin", 'x', 10);
    int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    T_TRUE(saved >= 0 && fd >= 0);
    T_EQ(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    expect_length("-", 100, 10);
    T_EQ(lseek(STDIN_FILENO, 0, SEEK_SET), 0);
    T_EQ(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
    close(fd);
}

T_TEST(every_allocation_may_fail)
{
    const char *path = write_bytes("swept", 'x', 50000);
    uint64_t failed = 0;
    for (uint64_t at = 1;; at++) {
        struct heap heap;
        struct tts_textfile file = {.len = 77};
        struct tts_error err = {0};
        heap_init(&heap);
        heap.fail_at = at;
        enum tts_status status = tts_textfile_read(path, 1 << 20, &heap.alloc, &file, &err);
        if (status == TTS_OK) {
            T_EQ(file.len, 50000);
            tts_textfile_release(&file);
            T_TRUE(heap_is_settled(&heap));
            break;
        }
        failed++;
        T_EQ(status, TTS_E_NOMEM);
        T_EQ(err.sys_errno, ENOMEM);
        T_EQ(file.len, 77);
        T_TRUE(heap_is_settled(&heap));
    }
    T_TRUE(failed >= 3);
}
