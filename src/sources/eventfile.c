#include "sources/eventfile.h"

#include "base/error.h"
#include "base/heap.h"
#include "sources/input.h"
#include "ttscope/chip.h"

struct tts_eventfile {
    struct tts_input *in;
    uint64_t size;
    struct tts_recfile *recording;
    struct tts_graph *graph;
    bool has_items;
    uint64_t last_seq; /* number of the last item */
    struct tts_eventfile_gaps gaps;
    struct tts_eventfile_watch watch; /* fn is NULL if there is no watch */
    const struct tts_alloc *alloc;
};

/* Opens a recording. A recording is read at any offset, so the content of a pipe is copied to a
 * temporary file first. */
static enum tts_status open_recording_file(struct tts_eventfile *file, struct tts_error *err)
{
    enum tts_status status =
        tts_input_spool(file->in, "the recording", file->watch.fn, file->watch.ctx, err);
    if (status == TTS_OK)
        status =
            tts_recfile_open(tts_input_fd_path(file->in), file->alloc, &file->recording, err);
    if (status == TTS_E_NOMEM)
        /* Replaces the text, which names the temporary file. */
        return tts_error_set(err, status, TTS_TEXT_NOMEM);
    if (status == TTS_OK)
        file->size = tts_recfile_info(file->recording)->file_bytes;
    return status;
}

static enum tts_status open_graph_file(struct tts_eventfile *file, struct tts_error *err)
{
    struct tts_jsonpull_source source;
    enum tts_status status = tts_input_json(file->in, &source, err);
    if (status == TTS_OK)
        status = tts_graph_open_from(&source, file->alloc, &file->graph, err);
    if (status == TTS_OK)
        tts_graph_watch(file->graph, file->watch.fn, file->watch.ctx);
    return status;
}

/* Fails because the content has no events. The text says which kind of content it is. */
static enum tts_status refuse_content(struct tts_eventfile *file, enum tts_input_kind kind,
                                      struct tts_error *err)
{
    unsigned char byte;
    size_t got;
    if (!tts_input_is_compressed(file->in))
        return tts_error_set(err, TTS_E_SYNTAX,
                             kind == TTS_INPUT_EMPTY
                                 ? "is empty"
                                 : "is neither a recording (.tts) nor a graph trace (JSON)");
    if (kind == TTS_INPUT_RECORDING)
        return tts_error_set(err, TTS_E_SYNTAX,
                             "is a compressed recording: decompress the file first ('ttscope "
                             "pack' makes recordings smaller)");
    enum tts_status status = tts_input_read(file->in, &byte, 1, &got, err);
    if (status != TTS_OK) /* not even the first byte can be decompressed */
        return status;
    return tts_error_set(err, TTS_E_SYNTAX, "is compressed but is not a graph trace (JSON)");
}

static enum tts_status open_content(struct tts_eventfile *file, struct tts_error *err)
{
    enum tts_input_kind kind;
    enum tts_status status = tts_input_kind(file->in, &kind, err);
    if (status != TTS_OK)
        return status;
    bool is_compressed = tts_input_is_compressed(file->in);
    file->size = is_compressed ? 0 : tts_input_total(file->in);
    if (kind == TTS_INPUT_RECORDING && !is_compressed)
        return open_recording_file(file, err);
    return tts_input_begins_as_json(file->in) ? open_graph_file(file, err)
                                              : refuse_content(file, kind, err);
}

enum tts_status tts_eventfile_new(struct tts_input *in, const struct tts_eventfile_watch *watch,
                                  const struct tts_alloc *alloc, struct tts_eventfile **out,
                                  struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_eventfile *file = alloc->alloc(alloc->ctx, sizeof *file);
    if (!file)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    *file = (struct tts_eventfile){.alloc = alloc, .in = in};
    if (watch)
        file->watch = *watch;
    enum tts_status status = open_content(file, err);
    if (status != TTS_OK) {
        file->in = NULL; /* the caller keeps it */
        tts_eventfile_close(file);
        return status;
    }
    *out = file;
    return TTS_OK;
}

enum tts_status tts_eventfile_open(const char *path, const struct tts_eventfile_watch *watch,
                                   const struct tts_alloc *alloc, struct tts_eventfile **out,
                                   struct tts_error *err)
{
    struct tts_input *in;
    enum tts_status status = tts_input_open(path, alloc, &in, err);
    if (status == TTS_E_NOMEM)
        return tts_error_set(err, status, TTS_TEXT_NOMEM);
    if (status != TTS_OK)
        return status;
    status = tts_eventfile_new(in, watch, alloc, out, err);
    if (status != TTS_OK)
        tts_input_close(in);
    return status;
}

enum tts_status tts_eventfile_open_recording(const char *path,
                                             const struct tts_eventfile_watch *watch,
                                             const struct tts_alloc *alloc,
                                             struct tts_eventfile **out, struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_eventfile *file = alloc->alloc(alloc->ctx, sizeof *file);
    if (!file)
        return tts_error_set(err, TTS_E_NOMEM, TTS_TEXT_NOMEM);
    *file = (struct tts_eventfile){.watch = *watch, .alloc = alloc};
    enum tts_status status = tts_recfile_open(path, alloc, &file->recording, err);
    if (status != TTS_OK) {
        tts_eventfile_close(file);
        return status;
    }
    file->size = tts_recfile_info(file->recording)->file_bytes;
    *out = file;
    return TTS_OK;
}

void tts_eventfile_close(struct tts_eventfile *file)
{
    if (!file)
        return;
    tts_recfile_close(file->recording);
    tts_graph_close(file->graph);
    tts_input_close(file->in);
    file->alloc->free(file->alloc->ctx, file, sizeof *file);
}

enum tts_status tts_eventfile_resume(struct tts_eventfile *file, const struct tts_error *damage)
{
    uint64_t missing;
    struct tts_eventfile_gaps *gaps = &file->gaps;
    if (!file->recording || tts_recfile_resume(file->recording, &missing) != TTS_OK)
        return TTS_E_NOT_FOUND;
    if (gaps->count++ == 0) {
        gaps->first = *damage;
        gaps->first_after =
            file->has_items ? file->last_seq : tts_recfile_info(file->recording)->first_seq;
        gaps->first_events = missing;
    }
    gaps->events += missing;
    return TTS_OK;
}

const struct tts_eventfile_gaps *tts_eventfile_gaps(const struct tts_eventfile *file)
{
    return &file->gaps;
}

static enum tts_status next_recorded_item(struct tts_eventfile *file, struct tts_item *out,
                                          struct tts_error *err)
{
    struct tts_error damage;
    enum tts_status status = tts_recfile_next(file->recording, out, &damage);
    while (status == TTS_E_SYNTAX && !file->has_items &&
           tts_eventfile_resume(file, &damage) == TTS_OK)
        status = tts_recfile_next(file->recording, out, &damage);
    if (status == TTS_OK) {
        file->has_items = true;
        file->last_seq = out->seq;
    } else if (err && status != TTS_E_NOT_FOUND) {
        *err = damage;
    }
    return status;
}

enum tts_status tts_eventfile_next(struct tts_eventfile *file, struct tts_item *out,
                                   struct tts_error *err)
{
    return file->recording ? next_recorded_item(file, out, err)
                           : tts_graph_next(file->graph, out, err);
}

uint64_t tts_eventfile_tell(const struct tts_eventfile *file)
{
    return file->recording ? tts_recfile_tell(file->recording) : tts_graph_tell(file->graph);
}

void tts_eventfile_report(const struct tts_eventfile *file)
{
    if (file->watch.fn)
        file->watch.fn(file->watch.ctx, tts_eventfile_tell(file));
}

uint64_t tts_eventfile_size(const struct tts_eventfile *file)
{
    return file->size;
}

struct tts_recfile *tts_eventfile_recording(struct tts_eventfile *file)
{
    return file->recording;
}

const struct tts_graph *tts_eventfile_graph(const struct tts_eventfile *file)
{
    return file->graph;
}

/* Returns the largest L1 of a core among the chips of the catalogue. Skips chips whose DRAM is
 * unknown, because no board has such a chip yet. */
static uint64_t largest_core_bytes(void)
{
    const struct tts_preset *preset;
    uint64_t most = 0;
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        struct tts_chip chip;
        if (tts_chip_preset(preset->name, &chip, NULL) != TTS_OK)
            continue;
        const struct tts_fact *l1 = &chip.fact[TTS_FACT_L1_SIZE];
        const struct tts_fact *dram = &chip.fact[TTS_FACT_DRAM_BANKS];
        if (l1->origin != TTS_ORIGIN_UNKNOWN && dram->origin != TTS_ORIGIN_UNKNOWN &&
            l1->value > most)
            most = l1->value;
    }
    return most;
}

uint64_t tts_eventfile_core_bytes(const struct tts_eventfile *file, uint32_t device)
{
    uint64_t own = file->graph ? tts_graph_core_bytes(file->graph, device) : 0;
    return own > 0 ? own : largest_core_bytes();
}
