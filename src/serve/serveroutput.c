#include "serve/serveroutput.h"

#include "base/error.h"
#include "base/heap.h"
#include "base/ticks.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PIPE_BYTES = 4096, /* a pipe or terminal that is ready takes so many bytes without a wait */
    FILE_BYTES = 1 << 16,
};
#define CLOSE_NS (UINT64_C(1000) * 1000 * 1000)

struct tts_serveroutput {
    const struct tts_alloc *alloc;
    int fd;
    int end_fd; /* readable: the thread must end */
    size_t write_max;
    pthread_t thread;
    size_t head; /* end of the texts; may be ahead of `shown`. Only the caller uses it */
    size_t free; /* start of the texts, as the caller knows it */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. Positions count bytes since the start. */
    size_t shown;   /* end of the texts that the thread may write */
    size_t written; /* start of the texts */
    int failure;    /* errno value of the last write; 0: it worked */
    bool has_ended;
    char bytes[TTS_SERVEROUTPUT_BYTES];
};

/* --- the thread ------------------------------------------------------------------------- */

/* Waits for texts. Returns false if there are none and the thread must end. */
static bool wait_for_output_text(struct tts_serveroutput *output, size_t *at, size_t *len)
{
    pthread_mutex_lock(&output->lock);
    while (output->shown == output->written && !output->has_ended)
        pthread_cond_wait(&output->changed, &output->lock);
    *at = output->written % TTS_SERVEROUTPUT_BYTES;
    *len = output->shown - output->written;
    pthread_mutex_unlock(&output->lock);
    *len = *len < TTS_SERVEROUTPUT_BYTES - *at ? *len : TTS_SERVEROUTPUT_BYTES - *at;
    *len = *len < output->write_max ? *len : output->write_max;
    return *len > 0;
}

/* Waits until the descriptor takes bytes. Returns false if the time to close is over. */
static bool wait_for_reader(const struct tts_serveroutput *output, uint64_t *deadline_ns)
{
    struct pollfd fds[2] = {{.fd = output->fd, .events = POLLOUT},
                            {.fd = output->end_fd, .events = POLLIN}};
    while (fds[0].revents == 0) {
        uint64_t now_ns = *deadline_ns > 0 ? tts_clock_ns() : 0;
        if (*deadline_ns > 0 && now_ns >= *deadline_ns)
            return false;
        int wait_ms =
            *deadline_ns > 0 ? (int)((*deadline_ns - now_ns) / (1000 * 1000)) + 1 : -1;
        if (poll(fds, *deadline_ns > 0 ? 1 : 2, wait_ms) < 0 && errno != EINTR)
            return true; /* the write says why */
        if (*deadline_ns == 0 && fds[1].revents != 0)
            *deadline_ns = tts_clock_ns() + CLOSE_NS;
    }
    return true;
}

/* Tells the caller that `len` bytes are done with. After a failure the bytes are dropped. */
static void finish_text(struct tts_serveroutput *output, size_t len, int failure)
{
    pthread_mutex_lock(&output->lock);
    output->written = failure != 0 ? output->shown : output->written + len;
    output->failure = failure;
    pthread_mutex_unlock(&output->lock);
}

static void *write_texts(void *ctx)
{
    struct tts_serveroutput *output = ctx;
    uint64_t deadline_ns = 0;
    size_t at, len;
    while (wait_for_output_text(output, &at, &len) && wait_for_reader(output, &deadline_ns)) {
        ssize_t done = write(output->fd, output->bytes + at, len);
        if (done < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        finish_text(output, done > 0 ? (size_t)done : 0, done < 0 ? errno : 0);
    }
    return NULL;
}

/* --- the caller ------------------------------------------------------------------------- */

static int start_writer(struct tts_serveroutput *output)
{
    output->end_fd = eventfd(0, EFD_CLOEXEC);
    if (output->end_fd < 0)
        return errno;
    pthread_mutex_init(&output->lock, NULL);
    pthread_cond_init(&output->changed, NULL);
    int reason = pthread_create(&output->thread, NULL, write_texts, output);
    if (reason != 0)
        close(output->end_fd);
    return reason;
}

enum tts_status tts_serveroutput_open(int fd, const struct tts_alloc *alloc,
                                      struct tts_serveroutput **out, struct tts_error *err)
{
    struct stat info;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_serveroutput *output = alloc->alloc(alloc->ctx, sizeof *output);
    if (!output)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the output");
    memset(output, 0, offsetof(struct tts_serveroutput, bytes));
    output->alloc = alloc;
    output->fd = fd;
    bool is_file = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    output->write_max = is_file ? FILE_BYTES : PIPE_BYTES;
    int reason = start_writer(output);
    if (reason != 0) {
        alloc->free(alloc->ctx, output, sizeof *output);
        return tts_error_set_errno(err, TTS_E_IO, reason, "cannot start a thread");
    }
    *out = output;
    return TTS_OK;
}

void tts_serveroutput_close(struct tts_serveroutput *output)
{
    const uint64_t one = 1;
    if (!output)
        return;
    pthread_mutex_lock(&output->lock);
    output->shown = output->head;
    output->has_ended = true;
    pthread_cond_signal(&output->changed);
    pthread_mutex_unlock(&output->lock);
    ssize_t done = write(output->end_fd, &one, sizeof one);
    assert(done == sizeof one);
    (void)done;
    pthread_join(output->thread, NULL);
    pthread_cond_destroy(&output->changed);
    pthread_mutex_destroy(&output->lock);
    close(output->end_fd);
    output->alloc->free(output->alloc->ctx, output, sizeof *output);
}

bool tts_serveroutput_has_room(struct tts_serveroutput *output, size_t len)
{
    if (output->head + len - output->free <= TTS_SERVEROUTPUT_BYTES)
        return true;
    pthread_mutex_lock(&output->lock);
    output->free = output->written;
    /* A full queue wakes the thread at once. */
    if (output->shown == output->written)
        pthread_cond_signal(&output->changed);
    output->shown = output->head;
    pthread_mutex_unlock(&output->lock);
    return output->head + len - output->free <= TTS_SERVEROUTPUT_BYTES;
}

bool tts_serveroutput_put(struct tts_serveroutput *output, const char *text, size_t len)
{
    if (!tts_serveroutput_has_room(output, len))
        return false;
    size_t at = output->head % TTS_SERVEROUTPUT_BYTES;
    size_t first = len < TTS_SERVEROUTPUT_BYTES - at ? len : TTS_SERVEROUTPUT_BYTES - at;
    memcpy(output->bytes + at, text, first);
    memcpy(output->bytes, text + first, len - first);
    output->head += len;
    return true;
}

int tts_serveroutput_flush(struct tts_serveroutput *output)
{
    if (output->head == output->free)
        return 0;
    pthread_mutex_lock(&output->lock);
    if (output->shown == output->written && output->shown != output->head)
        pthread_cond_signal(&output->changed);
    output->shown = output->head;
    output->free = output->written;
    int failure = output->failure;
    pthread_mutex_unlock(&output->lock);
    return failure;
}
