#include "sources/graph_inside.h"

#include "base/error.h"

#include <string.h>

static bool is_key(const struct tts_jsonpull_token *token, const char *word)
{
    char text[32];
    size_t len = tts_jsonpull_text(token, text, sizeof text);
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

/* ---- devices ---- */

/* One object of "devices": the banks of L1 are what is of use. */
static enum tts_status read_device(struct tts_graph *graph, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    uint64_t id = 0, banks = 0;
    bool has_id = false, has_banks = false;
    for (;;) {
        enum tts_status status = tts_jsonpull_next(graph->json, &token, err);
        if (status != TTS_OK)
            return status;
        if (token.kind == TTS_JSONPULL_OBJECT_END)
            break;
        bool is_given;
        if (is_key(&token, "device_id"))
            status = tts_node_read_number(graph->json, &id, &is_given, &has_id, err);
        else if (is_key(&token, "l1_num_banks"))
            status = tts_node_read_number(graph->json, &banks, &is_given, &has_banks, err);
        else
            status = tts_jsonpull_skip(graph->json, err);
        if (status != TTS_OK)
            return status;
    }
    if (!has_id || !has_banks || id > UINT32_MAX || banks > UINT32_MAX)
        return TTS_OK;
    uint16_t idx = tts_graph_device(&graph->devices, (uint32_t)id);
    if (idx != TTS_GRAPH_NO_DEVICE)
        graph->devices.device[idx].l1_banks = (uint32_t)banks;
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
