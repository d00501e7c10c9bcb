#include "views/failure/failview.h"

static void put_field(struct tts_json *json, const char *key, const struct tts_failview *view,
                      enum tts_failmsg_field field)
{
    tts_json_number_or_null(json, key, tts_failmsg_has(view->msg, field),
                            view->msg->value[field]);
}

static void put_pages(struct tts_json *json, const struct tts_failverdict *v)
{
    tts_json_number_or_null(json, "page_bytes", v->page_count == 1, v->pages[0].bytes);
    tts_json_array(json, "page_candidates");
    for (size_t i = 0; i < v->page_count; i++) {
        tts_json_object(json, NULL);
        tts_json_number(json, "page_bytes", v->pages[i].bytes);
        tts_json_text(json, "dtype", v->pages[i].dtype);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_bases(struct tts_json *json, const struct tts_failview *view)
{
    const struct tts_failverdict *v = view->verdict;
    uint64_t end = view->msg->value[TTS_FAILMSG_END];
    tts_json_number_or_null(json, "l1_base", v->has_base, v->l1_base);
    tts_json_number_or_null(json, "circular_buffer_bytes", v->has_base, end - v->l1_base);
    tts_json_array(json, "l1_base_candidates");
    for (size_t i = 0; i < v->base_count; i++) {
        tts_json_object(json, NULL);
        tts_json_number(json, "base", v->bases[i].base);
        tts_json_text(json, "arch", tts_arch_name(v->bases[i].arch));
        tts_json_text(json, "release", v->bases[i].when);
        tts_json_number(json, "tile_bytes", v->bases[i].tile_bytes);
        tts_json_number(json, "circular_buffer_bytes", end - v->bases[i].base);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static void put_advice(struct tts_json *json, const struct tts_failview *view)
{
    char text[TTS_FAILVIEW_LINE_MAX], command[TTS_FAILVIEW_COMMAND_MAX];
    tts_json_array(json, "advice");
    for (size_t i = 0; i < view->advice->count; i++) {
        const struct tts_failadvice_item *item = &view->advice->items[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "text", tts_failview_advice_text(text, view, i));
        tts_json_text_or_null(json, "command", tts_failview_advice_command(command, view, i));
        tts_json_number_or_null(json, "saves_bytes", item->has_saves, item->saves_bytes);
        if (item->has_enough)
            tts_json_bool(json, "is_enough", item->is_enough);
        else
            tts_json_null(json, "is_enough");
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

static const char *scope_name(enum tts_failscope scope)
{
    static const char *const names[] = {[TTS_FAILSCOPE_BANK] = "bank",
                                        [TTS_FAILSCOPE_CORE] = "core",
                                        [TTS_FAILSCOPE_CHIP] = "chip"};
    return names[scope];
}

void tts_failview_json(const struct tts_failview *view, struct tts_json *json)
{
    const struct tts_failmsg *msg = view->msg;
    const struct tts_failverdict *v = view->verdict;
    char text[TTS_FAILVIEW_LINE_MAX];
    tts_json_object(json, NULL);
    tts_json_text(json, "family", tts_failmsg_name(msg->family));
    tts_json_text_or_null(json, "verdict", tts_failcause_name(v->cause));
    tts_json_text_or_null(json, "verdict_reason", v->reason);
    tts_json_text(json, "severity", v->is_warning ? "warning" : "error");
    tts_json_text(json, "message", tts_failview_headline(text, view));
    tts_json_text_or_null(json, "pool", msg->has_pool ? tts_pool_name(msg->pool) : NULL);
    put_field(json, "requested_bytes", view, TTS_FAILMSG_REQUESTED);
    put_field(json, "banks", view, TTS_FAILMSG_BANKS);
    put_field(json, "need_bytes_per_bank", view, TTS_FAILMSG_NEED);
    put_field(json, "bank_bytes", view, TTS_FAILMSG_BANK);
    put_field(json, "allocated_bytes", view, TTS_FAILMSG_ALLOCATED);
    put_field(json, "free_bytes", view, TTS_FAILMSG_FREE);
    put_field(json, "largest_free_bytes", view, TTS_FAILMSG_LARGEST);
    tts_json_number_or_null(json, "deficit_bytes", v->has_deficit, v->deficit_bytes);
    tts_json_text_or_null(json, "deficit_scope", v->has_deficit ? scope_name(v->scope) : NULL);
    tts_json_bool(json, "is_contradictory", v->is_contradictory);
    tts_json_bool(json, "is_cut", msg->is_cut);
    if (v->is_sharded)
        tts_json_bool(json, "sharded", true);
    else
        tts_json_null(json, "sharded");
    put_pages(json, v);
    put_field(json, "program", view, TTS_FAILMSG_PROGRAM);
    tts_json_text_or_null(json, "cores", msg->range);
    put_field(json, "address", view, TTS_FAILMSG_ADDRESS);
    put_field(json, "region_end", view, TTS_FAILMSG_END);
    put_field(json, "limit", view, TTS_FAILMSG_LIMIT);
    put_field(json, "size", view, TTS_FAILMSG_SIZE);
    put_field(json, "index", view, TTS_FAILMSG_INDEX);
    put_field(json, "buffer_count", view, TTS_FAILMSG_COUNT);
    put_field(json, "mesh", view, TTS_FAILMSG_MESH);
    put_field(json, "allocated_end", view, TTS_FAILMSG_ALLOC_END);
    put_field(json, "freed_end", view, TTS_FAILMSG_FREE_END);
    put_field(json, "live_trace_end", view, TTS_FAILMSG_LIVE_END);
    tts_json_text_or_null(json, "arch", v->has_arch ? tts_arch_name(v->arch) : NULL);
    put_bases(json, view);
    tts_json_text_or_null(json, "op", msg->op);
    tts_json_number_or_null(json, "op_line", msg->op_line > 0, msg->op_line);
    tts_json_text_or_null(json, "op_source",
                          msg->op[0] == '\0' ? NULL
                          : msg->op_is_near  ? "line_before"
                                             : "backtrace");
    tts_json_number(json, "line", msg->line);
    tts_json_number(json, "last_line", view->last_line);
    tts_json_number(json, "count", view->count);
    put_advice(json, view);
    tts_failview_holders_json(view, json);
    tts_json_object_end(json);
}
