#include "sources/graph_inside.h"

#include "base/error.h"
#include "model/devicename.h"

#include <string.h>

static bool is_key(const struct tts_jsonpull_token *token, const char *word)
{
    char text[32];
    size_t len = tts_jsonpull_text(token, text, sizeof text);
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* ---- devices ---- */

struct report_device {
    uint64_t id, banks, l1_bytes;
    bool has_id, has_banks, has_l1;
};

/* The report has one entry for a number, be it that of a mesh or of a chip. */
static void keep_report_device(struct tts_graph *graph, const struct report_device *told)
{
    if (!told->has_id || told->id > UINT32_MAX)
        return;
    const uint32_t ids[] = {(uint32_t)told->id, TTS_MESH_ID(told->id)};
    for (int i = 0; i < (graph->devices.is_split ? 2 : 1); i++) {
        uint16_t idx = tts_graph_device(&graph->devices, ids[i]);
        if (idx == TTS_GRAPH_NO_DEVICE)
            return;
        struct tts_graph_device *device = &graph->devices.device[idx];
        if (told->has_banks && told->banks <= UINT32_MAX)
            device->l1_banks = (uint32_t)told->banks;
        if (told->has_l1 && told->l1_bytes <= UINT32_MAX)
            device->l1_bytes = (uint32_t)told->l1_bytes;
    }
}

/* One object of "devices": the banks of L1 and the L1 of a core are of use. */
static enum tts_status read_device(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    struct report_device told = {0};
    for (;;) {
        enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
        if (status != TTS_OK)
            return status;
        if (token.kind == TTS_JSONPULL_OBJECT_END)
            break;
        bool is_given;
        if (is_key(&token, "device_id"))
            status = tts_node_read_number(graph->json, &told.id, &is_given, &told.has_id, err);
        else if (is_key(&token, "l1_num_banks"))
            status =
                tts_node_read_number(graph->json, &told.banks, &is_given, &told.has_banks, err);
        else if (is_key(&token, "worker_l1_size"))
            status =
                tts_node_read_number(graph->json, &told.l1_bytes, &is_given, &told.has_l1, err);
        else
            status = tts_jsonpull_skip(graph->json, err);
        if (status != TTS_OK)
            return status;
    }
    keep_report_device(graph, &told);
    return TTS_OK;
}

static enum tts_status read_devices(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
    if (status != TTS_OK || token.kind != TTS_JSONPULL_ARRAY)
        return status == TTS_OK && token.kind == TTS_JSONPULL_OBJECT
                   ? tts_jsonpull_leave(graph->json, err)
                   : status;
    for (;;) {
        status = tts_jsonpull_next(graph->json, &token, err);
        if (status != TTS_OK || token.kind == TTS_JSONPULL_ARRAY_END)
            return status;
        if (token.kind == TTS_JSONPULL_OBJECT)
            status = read_device(graph, err);
        else if (token.kind == TTS_JSONPULL_ARRAY)
            status = tts_jsonpull_leave(graph->json, err);
        if (status != TTS_OK)
            return status;
    }
}

/* ---- the report ---- */

static enum tts_status refuse(struct tts_graph *graph, const char *why, struct tts_error *err)
{
    tts_error_set(err, TTS_E_SYNTAX, "not a graph trace: %s", why);
    return tts_jsonpull_at(graph->json, err, TTS_E_SYNTAX);
}

static enum tts_status open_graph(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
    if (status == TTS_OK && token.kind != TTS_JSONPULL_ARRAY)
        return refuse(graph, "\"graph\" is not an array", err);
    return status;
}

enum tts_status tts_graph_read_head(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
    if (status != TTS_OK || token.kind == TTS_JSONPULL_ARRAY)
        return status;
    if (token.kind != TTS_JSONPULL_OBJECT)
        return refuse(graph, "neither an array of nodes nor a report", err);
    graph->is_report = true;
    for (;;) {
        status = tts_jsonpull_next(graph->json, &token, err);
        if (status != TTS_OK)
            return status;
        if (token.kind == TTS_JSONPULL_OBJECT_END)
            return refuse(graph, "a report without a \"graph\"", err);
        if (is_key(&token, "graph"))
            return open_graph(graph, err);
        status = is_key(&token, "devices") ? read_devices(graph, err)
                                           : tts_jsonpull_skip(graph->json, err);
        if (status != TTS_OK)
            return status;
    }
}

enum tts_status tts_graph_read_tail(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = TTS_OK;
    while (graph->is_report && status == TTS_OK) {
        status = tts_jsonpull_next(graph->json, &token, err);
        if (status != TTS_OK || token.kind == TTS_JSONPULL_OBJECT_END)
            break;
        if (is_key(&token, "graph"))
            tts_graph_add_note(graph, TTS_GRAPH_BAD_NODE,
                               "a second \"graph\" in the report: passed over");
        status = tts_jsonpull_skip(graph->json, err);
    }
    if (status == TTS_OK)
        status = tts_jsonpull_next(graph->json, &token, err);
    assert(status != TTS_OK || token.kind == TTS_JSONPULL_END);
    return status;
}
