#include "base/outfile.h"
#include "harness/t.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Creates a new directory for the test. entries() counts the files in it. */
static const char *new_dir(const char *name)
{
    const char *dir = t_scratch(name);
    T_EQ(mkdir(dir, 0777), 0);
    return dir;
}

static int entries(const char *dir)
{
    DIR *list = opendir(dir);
    T_TRUE(list != NULL);
    int count = -2; /* does not count . and .. */
    while (readdir(list))
        count++;
    closedir(list);
    return count;
}

static const char *file_in(const char *dir, const char *name)
{
    static char path[4][600];
    static unsigned next;
    char *out = path[next++ % 4];
    snprintf(out, sizeof path[0], "%s/%s", dir, name);
    return out;
}

static void expect_content(const char *path, const char *wanted)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    T_TRUE(file != NULL);
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    T_STR_EQ(text, wanted);
}

static void put(const char *path, const char *text)
{
    struct tts_outfile out;
    struct tts_error err;
    T_EQ(tts_outfile_open(&out, path, &err), TTS_OK);
    T_TRUE(fputs(text, out.stream) >= 0);
    T_EQ(tts_outfile_commit(&out, &err), TTS_OK);
    T_TRUE(!out.stream && !out.final_path);
    tts_outfile_abandon(&out);
}

T_TEST(the_file_appears_at_commit_and_nothing_else_does)
{
    const char *dir = new_dir("appear"), *path = file_in(dir, "out");
    struct tts_outfile out;
    struct tts_error err;
    T_EQ(tts_outfile_open(&out, path, &err), TTS_OK);
    fputs("whole", out.stream);
    T_EQ(entries(dir), 0); /* if the program ended here, no file would be left */
    T_EQ(tts_outfile_commit(&out, &err), TTS_OK);
    expect_content(path, "whole");
    T_EQ(entries(dir), 1);
}

T_TEST(abandoned_leaves_what_was_there)
{
    const char *dir = new_dir("abandon"), *path = file_in(dir, "out");
    put(path, "old");
    struct tts_outfile out;
    struct tts_error err;
    T_EQ(tts_outfile_open(&out, path, &err), TTS_OK);
    fputs("new", out.stream);
    tts_outfile_abandon(&out);
    tts_outfile_abandon(&out);
    expect_content(path, "old");
    T_EQ(entries(dir), 1);
    struct tts_outfile zeroed = {0};
    tts_outfile_abandon(&zeroed);
    T_TRUE(fcntl(0, F_GETFD) >= 0);
}

T_TEST(two_writers_at_once_do_not_mix)
{
    const char *dir = new_dir("two"), *path = file_in(dir, "out");
    struct tts_outfile a, b;
    struct tts_error err;
    T_EQ(tts_outfile_open(&a, path, &err), TTS_OK);
    T_EQ(tts_outfile_open(&b, path, &err), TTS_OK);
    fputs("a", a.stream);
    fputs("b", b.stream);
    T_EQ(tts_outfile_commit(&b, &err), TTS_OK);
    T_EQ(tts_outfile_commit(&a, &err), TTS_OK);
    expect_content(path, "a");
    T_EQ(entries(dir), 1);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    T_EQ(stat(path, &info), 0);
    return info.st_mode & 07777;
}

T_TEST(a_new_file_obeys_the_umask_and_a_replaced_one_keeps_its_mode)
{
    const char *dir = new_dir("mode"), *path = file_in(dir, "out");
    mode_t old = umask(027);
    put(path, "new");
    T_EQ(mode_of(path), 0640);
    T_EQ(chmod(path, 0604), 0);
    put(path, "replaced");
    T_EQ(mode_of(path), 0604);
    umask(old);
}

T_TEST(a_link_is_followed)
{
    const char *dir = new_dir("link"), *path = file_in(dir, "out"), *link = file_in(dir, "to");
    put(path, "old");
    T_EQ(symlink("out", link), 0);
    put(link, "new");
    expect_content(path, "new");
    struct stat info;
    T_TRUE(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
}

static void expect_no_open(const char *path, int sys_errno, const char *said)
{
    struct tts_outfile out = {.target_fd = 42};
    struct tts_error err = {0};
    T_EQ(tts_outfile_open(&out, path, &err), TTS_E_IO);
    T_EQ(err.sys_errno, sys_errno);
    T_STR_EQ(err.text, said);
    T_TRUE(out.target_fd == 42 && !out.stream);
}

T_TEST(a_link_to_nothing_is_refused_and_stays)
{
    const char *dir = new_dir("dangling"), *link = file_in(dir, "to");
    T_EQ(symlink("nowhere", link), 0);
    struct tts_outfile out;
    struct tts_error err = {0};
    T_EQ(tts_outfile_open(&out, link, &err), TTS_E_IO);
    T_EQ(err.sys_errno, ENOENT);
    struct stat info;
    T_TRUE(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    T_EQ(entries(dir), 1);
}

T_TEST(a_place_that_cannot_be_written_is_known_at_open)
{
    expect_no_open("/no/such/dir/x", ENOENT,
                   "cannot write '/no/such/dir/x': no such file or directory");
    expect_no_open("/", EISDIR, "cannot write '/': is a directory");
    expect_no_open("", ENOENT, "cannot write '': no such file or directory");
    expect_no_open("/dev/null/x", ENOTDIR, "cannot write '/dev/null/x': not a directory");
}

T_TEST(a_full_disk_fails_the_commit_and_keeps_the_old_file)
{
    const char *dir = new_dir("full"), *path = file_in(dir, "out");
    put(path, "old");
    struct rlimit limit, small;
    getrlimit(RLIMIT_FSIZE, &limit);
    small = (struct rlimit){.rlim_cur = 1000, .rlim_max = limit.rlim_max};
    void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
    /* Either the last flush reports the error, or a flush long before it. */
    for (int bytes = 1001; bytes < 200000; bytes += 198000) {
        struct tts_outfile out;
        struct tts_error err;
        T_EQ(tts_outfile_open(&out, path, &err), TTS_OK);
        setrlimit(RLIMIT_FSIZE, &small);
        for (int i = 0; i < bytes; i++)
            fputc('x', out.stream);
        enum tts_status status = tts_outfile_commit(&out, &err);
        setrlimit(RLIMIT_FSIZE, &limit);
        T_EQ(status, TTS_E_IO);
        T_TRUE(strncmp(err.text, "cannot write '", 14) == 0);
        expect_content(path, "old");
        T_EQ(entries(dir), 1);
    }
    signal(SIGXFSZ, old);
}

T_TEST(what_is_no_file_is_written_and_not_replaced)
{
    const char *path = t_scratch("fifo");
    T_EQ(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    struct tts_outfile out;
    struct tts_error err;
    char text[8] = "";
    T_EQ(tts_outfile_open(&out, path, &err), TTS_OK);
    fputs("spool", out.stream);
    fflush(out.stream);
    T_TRUE(read(reader, text, sizeof text) < 0); /* nothing is written yet */
    T_EQ(tts_outfile_commit(&out, &err), TTS_OK);
    T_EQ(read(reader, text, sizeof text), 5);
    T_STR_EQ(text, "spool");
    struct stat info;
    T_TRUE(stat(path, &info) == 0 && S_ISFIFO(info.st_mode));

    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    T_EQ(tts_outfile_open(&out, path, &err), TTS_OK);
    fputs("nobody reads", out.stream);
    close(reader);
    T_EQ(tts_outfile_commit(&out, &err), TTS_E_IO);
    T_EQ(err.sys_errno, EPIPE);
    signal(SIGPIPE, old);
}

/* Uses "-" and not the name: an error in the code must not replace the device file. */
T_TEST(a_full_standard_output_fails_the_commit)
{
    struct tts_outfile out;
    struct tts_error err = {0};
    fflush(stdout);
    int keep = dup(STDOUT_FILENO), full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
    enum tts_status opened = tts_outfile_open(&out, "-", &err);
    dup2(keep, STDOUT_FILENO);
    close(keep);
    close(full);
    T_EQ(opened, TTS_OK);
    fputs("x", out.stream);
    T_EQ(tts_outfile_commit(&out, &err), TTS_E_IO);
    T_STR_EQ(err.text, "cannot write to standard output: no space left on the disk");
}

T_TEST(standard_output_gets_all_at_commit_behind_what_was_printed)
{
    const char *path = t_scratch("stdout");
    fflush(stdout);
    int keep = dup(STDOUT_FILENO), file = open(path, O_RDWR | O_CREAT, 0600);
    dup2(file, STDOUT_FILENO);
    struct tts_outfile out;
    struct tts_error err;
    enum tts_status opened = tts_outfile_open(&out, "-", &err);
    fputs("data\n", out.stream);
    fflush(out.stream);
    printf("before\n");
    struct stat early;
    fstat(file, &early);
    enum tts_status committed = tts_outfile_commit(&out, &err);
    bool still_open = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    fflush(stdout);
    dup2(keep, STDOUT_FILENO);
    close(keep);
    close(file);
    T_TRUE(opened == TTS_OK && committed == TTS_OK && still_open && early.st_size == 0);
    expect_content(path, "before\ndata\n");
}
