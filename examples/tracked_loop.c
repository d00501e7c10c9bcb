/* tracked_loop.c: the first iteration of a small training loop, tracked.
 *   tracked_loop [--no-dispatch] [--scale N] [--record FILE]
 * The loop runs on a model of an n150. A scale makes its tensors N times as large: 300 is too
 * large for the device, and with --no-dispatch the figures come all the same. A recording can
 * be looked at with `ttscope show FILE`, also when the loop had to give up. With TTSCOPE=1 in
 * the environment, `ttscope top` shows the loop while it runs. The same loop in C++ and Python
 * is in tracked_loop.cpp and tracked_loop.py. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ttscope/capture.h>
#include <ttscope/recorder.h>

enum { MIB = 1048576, TILE = 2048, SCALE_MAX = 1000000 };

static const struct tts_core_range every_core = {0, 0, 7, 7};
static const struct tts_core_range first_row = {0, 0, 7, 0}, other_rows = {0, 1, 7, 7};

static struct tts_tracker *tracker;
static struct tts_device *device;
static uint64_t scale = 1;
static struct tts_error err;

static void must(enum tts_status status)
{
    char text[TTS_FAILURE_TEXT_MAX];
    if (status == TTS_OK)
        return;
    const struct tts_failure *failure =
        status == TTS_E_FULL && device ? tts_device_failure(device) : NULL;
    fprintf(stderr, "tracked_loop: %s\n", failure ? tts_failure_text(failure, text) : err.text);
    exit(1);
}

/* --- what a program does on a device ----------------------------------------------------- */

static struct tts_buffer buffer(enum tts_pool pool, uint64_t bytes)
{
    struct tts_request request = {.pool = pool, .size_bytes = bytes, .page_bytes = TILE};
    struct tts_buffer out;
    must(tts_device_alloc(device, &request, &out, &err));
    return out;
}

static struct tts_buffer tensor(uint64_t mib)
{
    return buffer(TTS_POOL_DRAM, mib * MIB * scale);
}

static void drop(struct tts_buffer which)
{
    must(tts_device_release(device, &which));
}

static void program(void)
{
    static uint64_t programs;
    tts_device_program(device, ++programs);
}

static void cb(const struct tts_core_range *cores, uint64_t bytes)
{
    uint64_t address;
    struct tts_cb config = {.ranges = cores, .range_count = 1, .total_bytes = bytes};
    must(tts_device_add_cb(device, &config, &address, &err));
}

static void begin_op(const char *name)
{
    must(tts_track_op_begin(tracker, name, strlen(name), &err));
}

static void end_op(void)
{
    must(tts_device_run_program(device, &err));
    must(tts_track_op_end(tracker, &err));
}

/* --- operations: what they allocate, and the circular buffers of their programs ----------- */

static struct tts_buffer eltwise(const char *name, uint64_t mib)
{
    begin_op(name);
    struct tts_buffer out = tensor(mib);
    program();
    cb(&every_core, 2 * TILE);
    cb(&every_core, 2 * TILE);
    end_op();
    return out;
}

static struct tts_buffer full(uint64_t mib)
{
    begin_op("full");
    struct tts_buffer out = tensor(mib);
    program();
    cb(&every_core, 8 * TILE);
    end_op();
    return out;
}

/* Runs a matmul. The first row of cores reads the inputs and the other rows compute, so no core
 * holds the circular buffers of both. */
static struct tts_buffer matmul(uint64_t mib)
{
    begin_op("matmul");
    struct tts_buffer out = tensor(mib);
    /* 64 cores with 96 tiles each */
    struct tts_buffer block = buffer(TTS_POOL_L1, 64 * 96 * TILE);
    program();
    cb(&first_row, 32 * TILE);
    cb(&other_rows, 64 * TILE);
    cb(&every_core, 16 * TILE);
    end_op();
    drop(block);
    return out;
}

/* Runs the backward pass of a matmul. Replaces `*grad` with the gradient of the input. `grad`
 * is NULL if the input has no gradient. */
static struct tts_buffer matmul_backward(uint64_t weight_mib, struct tts_buffer *grad,
                                         uint64_t grad_mib)
{
    begin_op("matmul_backward");
    struct tts_buffer weight_grad = tensor(weight_mib);
    if (grad)
        *grad = tensor(grad_mib);
    struct tts_buffer block = buffer(TTS_POOL_L1, 64 * 80 * TILE);
    program();
    cb(&every_core, 32 * TILE);
    cb(&every_core, 32 * TILE);
    cb(&every_core, 24 * TILE);
    end_op();
    drop(block);
    return weight_grad;
}

static void adamw(uint64_t mib)
{
    begin_op("adamw");
    struct tts_buffer update = tensor(mib);
    program();
    for (int i = 0; i < 4; i++)
        cb(&every_core, 32 * TILE);
    end_op();
    drop(update);
}

/* Copies the rows from the host to the device, then converts them to tiles. */
static struct tts_buffer upload(uint64_t mib)
{
    struct tts_buffer rows = tensor(mib);
    struct tts_buffer tiles = eltwise("tilize", mib);
    drop(rows);
    return tiles;
}

/* --- the loop: two layers, of 8 and 4 MiB ------------------------------------------------- */

static void train(struct tts_capture *capture)
{
    struct tts_buffer weight1 = upload(8), weight2 = upload(4);
    must(tts_capture_snapshot(capture, "MODEL_CREATION", &err));

    struct tts_buffer moments[4];
    for (int i = 0; i < 4; i++)
        moments[i] = full(i < 2 ? 8 : 4);
    must(tts_capture_snapshot(capture, "OPTIMIZER_CREATION", &err));

    struct tts_buffer x = tensor(2);
    struct tts_buffer hidden = matmul(6);
    struct tts_buffer active = eltwise("relu", 6);
    struct tts_buffer y = matmul(3);
    struct tts_buffer squares = eltwise("mse", 3);
    struct tts_buffer loss = buffer(TTS_POOL_DRAM, TILE);
    drop(squares);
    must(tts_capture_snapshot(capture, "FORWARD_PASS", &err));

    struct tts_buffer y_grad = eltwise("mse_backward", 3);
    struct tts_buffer active_grad;
    struct tts_buffer weight2_grad = matmul_backward(4, &active_grad, 6);
    drop(y);
    drop(y_grad);
    struct tts_buffer hidden_grad = eltwise("relu_backward", 6);
    drop(active);
    drop(active_grad);
    struct tts_buffer weight1_grad = matmul_backward(8, NULL, 0);
    drop(hidden);
    drop(hidden_grad);
    must(tts_capture_snapshot(capture, "BACKWARD_PASS", &err));

    adamw(8);
    adamw(4);
    drop(weight1_grad);
    drop(weight2_grad);
    drop(x);
    drop(loss);
    must(tts_capture_end(capture, "FIRST_ITERATION_COMPLETE", &err));

    drop(weight1);
    drop(weight2);
    for (int i = 0; i < 4; i++)
        drop(moments[i]);
}

static bool read_scale(const char *word)
{
    char *end;
    scale = word && *word >= '1' && *word <= '9' ? strtoull(word, &end, 10) : 0;
    return scale > 0 && scale <= SCALE_MAX && *end == '\0';
}

/* The options of the command line. */
struct options {
    enum tts_capture_mode mode;
    const char *record; /* NULL: no recording */
};

static bool read_options(char **argv, struct options *out)
{
    *out = (struct options){TTS_CAPTURE_NORMAL, NULL};
    for (int i = 1; argv[i]; i++) {
        if (strcmp(argv[i], "--no-dispatch") == 0)
            out->mode = TTS_CAPTURE_NO_DISPATCH;
        else if (strcmp(argv[i], "--record") == 0 && argv[i + 1])
            out->record = argv[++i];
        else if (strcmp(argv[i], "--scale") != 0 || !read_scale(argv[++i]))
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct options options;
    (void)argc;
    if (!read_options(argv, &options)) {
        fprintf(stderr,
                "usage: tracked_loop [--no-dispatch] [--scale N] [--record FILE]  (N: 1 to "
                "%d)\n",
                SCALE_MAX);
        return 2;
    }
    struct tts_chip chip;
    struct tts_capture *capture;
    struct tts_recorder *recorder = NULL;
    struct tts_recorder_config recording = {.path = options.record};
    must(tts_chip_preset("n150", &chip, &err));
    must(tts_device_new(&chip, NULL, NULL, &device, &err));
    tracker = tts_tracker_process();
    if (!tracker) {
        fputs("tracked_loop: out of memory\n", stderr);
        return 1;
    }
    must(tts_tracker_attach(tracker, device, 0, &err));
    must(tts_capture_new(tracker, &capture, &err));

    if (options.record)
        must(tts_recorder_begin(tracker, &recording, &recorder, &err));
    must(tts_capture_begin(capture, options.mode, &err));
    train(capture);
    must(tts_recorder_end(recorder, NULL, &err));
    must(tts_capture_print(capture, stdout, &err));

    size_t len = tts_capture_cores_text(capture, NULL, 0);
    char *text = malloc(len + 1);
    if (!text)
        return 1;
    tts_capture_cores_text(capture, text, len + 1);
    fputs(text, stdout);
    free(text);
    tts_capture_free(capture);
    /* Before the device is freed, because the tracker watches the device. */
    must(tts_tracker_detach(tracker, device, &err));
    tts_device_free(device);
    return 0;
}
