#include "serve/serverprint.h"

#include "base/error.h"
#include "base/heap.h"
#include "serve/serveroutput.h"
#include "views/serve/server_json.h"
#include "views/serve/server_lines.h"
#include "views/serve/server_stats.h"

#include <assert.h>
#include <stdio_ext.h>
#include <string.h>

static_assert((int)TTS_SERVERPRINT_START == (int)TTS_SERVERJSON_START &&
                  (int)TTS_SERVERPRINT_STATISTICS == (int)TTS_SERVERJSON_STATISTICS &&
                  (int)TTS_SERVERPRINT_BUFFERS == (int)TTS_SERVERJSON_BUFFERS &&
                  (int)TTS_SERVERPRINT_KERNELS == (int)TTS_SERVERJSON_KERNELS,
              "the same kinds");

struct tts_serverprint {
    const struct tts_alloc *alloc;
    struct tts_serverprint_config config;
    struct tts_serveroutput *output;
    uint64_t left_out;
    FILE *stream; /* appends to `text` */
    char *text;
    size_t len, capacity;
};

/* Appends to the text of a state, as the write function of a stream. */
static ssize_t append_state_text(void *ctx, const char *bytes, size_t len)
{
    struct tts_serverprint *print = ctx;
    if (print->len + len > TTS_SERVEROUTPUT_BYTES)
        return 0;
    char *text =
        tts_alloc_grow(print->alloc, print->text, &print->capacity, print->len + len, 1);
    if (!text)
        return 0;
    print->text = text;
    memcpy(text + print->len, bytes, len);
    print->len += len;
    return (ssize_t)len;
}

enum tts_status tts_serverprint_open(const struct tts_serverprint_config *config,
                                     const struct tts_alloc *alloc,
                                     struct tts_serverprint **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_serverprint *print = alloc->alloc(alloc->ctx, sizeof *print);
    if (!print)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the output");
    *print = (struct tts_serverprint){.alloc = alloc, .config = *config};
    cookie_io_functions_t functions = {.write = append_state_text};
    enum tts_status status = tts_serveroutput_open(config->fd, alloc, &print->output, err);
    if (status == TTS_OK && !(print->stream = fopencookie(print, "w", functions)))
        status = tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM " for the output");
    if (status == TTS_OK)
        *out = print;
    else
        tts_serverprint_close(print);
    return status;
}

void tts_serverprint_close(struct tts_serverprint *print)
{
    if (!print)
        return;
    tts_serveroutput_close(print->output);
    if (print->stream)
        fclose(print->stream);
    if (print->text)
        print->alloc->free(print->alloc->ctx, print->text, print->capacity);
    print->alloc->free(print->alloc->ctx, print, sizeof *print);
}

/* --- events ----------------------------------------------------------------------------- */

static void print_text_event(void *ctx, const struct tts_serverevent *event)
{
    struct tts_serverprint *print = ctx;
    char text[TTS_SERVERLINES_MAX];
    /* A text that is left out is not made, either. */
    if (!tts_serveroutput_has_room(print->output, sizeof text)) {
        print->left_out++;
        return;
    }
    size_t len = tts_serverlines_write(text, event, print->config.is_utf8);
    tts_serveroutput_put(print->output, text, len);
}

static void print_json_event(void *ctx, const struct tts_serverevent *event)
{
    struct tts_serverprint *print = ctx;
    char text[TTS_SERVERJSON_MAX];
    if (!tts_serveroutput_has_room(print->output, sizeof text)) {
        print->left_out++;
        return;
    }
    tts_serveroutput_put(print->output, text, tts_serverjson_event(text, event));
}

struct tts_serversink tts_serverprint_sink(struct tts_serverprint *print)
{
    return (struct tts_serversink){
        .event = print->config.is_json ? print_json_event : print_text_event, .ctx = print};
}

/* --- states ----------------------------------------------------------------------------- */

static void write_state_text(struct tts_serverprint *print, enum tts_serverprint_kind kind,
                             const struct tts_serverstate *state)
{
    bool is_utf8 = print->config.is_utf8;
    if (print->config.is_json)
        tts_serverjson_state(state, (enum tts_serverjson_kind)kind, print->config.socket_path,
                             print->stream);
    else if (kind == TTS_SERVERPRINT_START)
        tts_serverstats_start(state, print->config.socket_path, is_utf8, print->stream);
    else if (kind == TTS_SERVERPRINT_STATISTICS)
        tts_serverstats_now(state, is_utf8, print->stream);
    else if (kind == TTS_SERVERPRINT_BUFFERS)
        tts_serverstats_buffers(state, is_utf8, print->stream);
    else
        tts_serverstats_kernels(state, is_utf8, print->stream);
}

enum tts_status tts_serverprint_state(struct tts_serverprint *print,
                                      enum tts_serverprint_kind kind,
                                      const struct tts_serverstate *state)
{
    print->len = 0;
    write_state_text(print, kind, state);
    bool is_whole = fflush(print->stream) == 0 && !ferror(print->stream);
    clearerr(print->stream);
    __fpurge(print->stream); /* what a full text did not take */
    if (is_whole && tts_serveroutput_put(print->output, print->text, print->len))
        return TTS_OK;
    print->left_out++;
    return TTS_E_FULL;
}

int tts_serverprint_flush(struct tts_serverprint *print)
{
    return tts_serveroutput_flush(print->output);
}

uint64_t tts_serverprint_left_out(const struct tts_serverprint *print)
{
    return print->left_out;
}
