#include "harness/t.h"
#include "serve/serveroutput.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct tts_serveroutput *make_output(int fd)
{
    struct tts_serveroutput *output = NULL;
    T_EQ(tts_serveroutput_open(fd, NULL, &output, NULL), TTS_OK);
    return output;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

T_TEST(texts_arrive_whole_and_in_order)
{
    const char *path = t_scratch("file");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    struct tts_serveroutput *output = make_output(fd);
    char text[100];
    uint32_t put = 0, read_number;
    while (put < 200000) {
        int len = snprintf(text, sizeof text, "%u %.*s\n", put, (int)(put % 50),
                           "..................................................");
        put += tts_serveroutput_put(output, text, (size_t)len);
        if (put % 100 == 0)
            T_EQ(tts_serveroutput_flush(output), 0);
    }
    tts_serveroutput_close(output);
    FILE *file = fdopen(fd, "r");
    rewind(file);
    for (uint32_t i = 0; i < put; i++) {
        T_TRUE(fgets(text, sizeof text, file) != NULL);
        T_EQ(strspn(strchr(text, ' ') + 1, "."), i % 50);
        read_number = 0;
        for (const char *at = text; *at != ' '; at++)
            read_number = read_number * 10 + (uint32_t)(*at - '0');
        T_EQ(read_number, i);
    }
    T_TRUE(fgets(text, sizeof text, file) == NULL);
    fclose(file);
}

T_TEST(a_pipe_that_nobody_reads_blocks_neither_texts_nor_the_end)
{
    static const char text[1000];
    int fds[2], put = 0, left_out = 0;
    T_EQ(pipe2(fds, O_CLOEXEC), 0);
    struct tts_serveroutput *output = make_output(fds[1]);
    double begin = now_s();
    for (int i = 0; i < 5000; i++) {
        bool has_room = tts_serveroutput_has_room(output, sizeof text);
        T_TRUE(tts_serveroutput_put(output, text, sizeof text) || !has_room);
        put += has_room;
        left_out += !has_room;
        T_EQ(tts_serveroutput_flush(output), 0);
    }
    T_TRUE(put >= TTS_SERVEROUTPUT_BYTES / 1000 && left_out > 3000);
    T_TRUE(now_s() - begin < 1);
    tts_serveroutput_close(output);
    T_TRUE(now_s() - begin < 4);
    close(fds[0]);
    close(fds[1]);
}

/* Waits until the thread has tried to write. */
static int wait_for_failure(struct tts_serveroutput *output)
{
    int reason = 0;
    for (int i = 0; i < 1000 && reason == 0; i++) {
        T_TRUE(tts_serveroutput_put(output, "text\n", 5));
        reason = tts_serveroutput_flush(output);
        usleep(1000);
    }
    return reason;
}

T_TEST(a_reader_that_has_gone_and_a_full_disk_are_reported)
{
    int fds[2], full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    T_EQ(pipe2(fds, O_CLOEXEC), 0);
    close(fds[0]);
    struct tts_serveroutput *output = make_output(fds[1]);
    T_EQ(wait_for_failure(output), EPIPE);
    tts_serveroutput_close(output);
    close(fds[1]);
    output = make_output(full);
    T_EQ(wait_for_failure(output), ENOSPC);
    tts_serveroutput_close(output);
    close(full);
}
