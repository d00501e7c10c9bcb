#include "sources/graph/graph_node.h"

#include "base/compiler.h"
#include "base/number.h"
#include "model/opnames.h"

#include <assert.h>
#include <string.h>

struct node_text {
    const char *at, *end;
};

static void pass_text_blanks(struct node_text *text)
{
    while (text->at < text->end && *text->at == ' ')
        text->at++;
}

/* Skips blanks and then the character `c`. Returns false if another character follows the
 * blanks. */
static bool take_text_char(struct node_text *text, char c)
{
    pass_text_blanks(text);
    if (text->at == text->end || *text->at != c)
        return false;
    text->at++;
    return true;
}

static bool take_text_number(struct node_text *text, uint64_t *out)
{
    const char *begin = text->at;
    uint64_t value = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text->at - '0'), &value))
            return false;
    *out = value;
    return text->at > begin;
}

/* Reads one core: "(x=1,y=2)". */
static bool take_text_core(struct node_text *text, uint16_t *x, uint16_t *y)
{
    uint64_t own_x, own_y;
    if (!take_text_char(text, '(') || !take_text_char(text, 'x') ||
        !take_text_char(text, '=') || !take_text_number(text, &own_x) ||
        !take_text_char(text, ',') || !take_text_char(text, 'y') ||
        !take_text_char(text, '=') || !take_text_number(text, &own_y) ||
        !take_text_char(text, ')') || own_x > UINT16_MAX || own_y > UINT16_MAX)
        return false;
    *x = (uint16_t)own_x;
    *y = (uint16_t)own_y;
    return true;
}

/* Reads one range of cores: "[(x=1,y=2) - (x=3,y=4)]". */
static bool take_core_range(struct node_text *text, struct tts_core_range *out)
{
    return take_text_char(text, '[') && take_text_core(text, &out->x0, &out->y0) &&
           take_text_char(text, '-') && take_text_core(text, &out->x1, &out->y1) &&
           take_text_char(text, ']');
}

/* Reads a set of cores in the form that the runtime writes: "{[(x=0,y=0) - (x=7,y=7)], ...}",
 * or "{}" if there is no core. Returns false for any other text, and for more than
 * TTS_RANGES_MAX ranges. */
static bool parse_core_ranges(const char *text, size_t len, struct tts_core_range *out,
                              uint32_t *count)
{
    struct node_text cursor = {text, text + len};
    uint32_t ranges = 0;
    if (!take_text_char(&cursor, '{'))
        return false;
    if (!take_text_char(&cursor, '}')) {
        do {
            if (ranges == TTS_RANGES_MAX || !take_core_range(&cursor, &out[ranges]))
                return false;
            ranges++;
        } while (take_text_char(&cursor, ','));
        if (!take_text_char(&cursor, '}'))
            return false;
    }
    pass_text_blanks(&cursor);
    *count = ranges;
    return cursor.at == cursor.end;
}

static bool take_pair_char(struct node_text *text, char c)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n'))
        text->at++;
    if (text->at == text->end || *text->at != c)
        return false;
    text->at++;
    return true;
}

/* Reads a key in quotes, a colon and a number. */
static bool take_pair_member(struct node_text *text, const char **key, size_t *len,
                             uint64_t *value)
{
    if (!take_pair_char(text, '"'))
        return false;
    *key = text->at;
    const char *quote = memchr(text->at, '"', (size_t)(text->end - text->at));
    if (!quote)
        return false;
    *len = (size_t)(quote - text->at);
    text->at = quote + 1;
    if (!take_pair_char(text, ':'))
        return false;
    while (text->at < text->end && *text->at == ' ')
        text->at++;
    return take_text_number(text, value);
}

static bool is_pair_key(const char *key, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(key, word, len) == 0;
}

/* Reads one object of the list of chips, such as {"device_id":0,"mesh_device_id":0}. */
static bool take_chip_pair(struct node_text *text, struct tts_node_pair *out)
{
    uint64_t chip = UINT64_MAX, mesh = UINT64_MAX;
    if (!take_pair_char(text, '{'))
        return false;
    do {
        const char *key;
        size_t len;
        uint64_t value;
        if (!take_pair_member(text, &key, &len, &value))
            return false;
        if (is_pair_key(key, len, "device_id"))
            chip = value;
        else if (is_pair_key(key, len, "mesh_device_id"))
            mesh = value;
    } while (take_pair_char(text, ','));
    if (!take_pair_char(text, '}') || chip > INT32_MAX || mesh > INT32_MAX)
        return false;
    *out = (struct tts_node_pair){.chip = (uint32_t)chip, .mesh = (uint32_t)mesh};
    return true;
}

/* Reads device_tensors, the chips of a tensor:
 * "[{"device_id":0,"mesh_device_id":0,"address":64}, ...]". Stops at the first object that
 * cannot be read. Returns the number of chips read, at most TTS_NODE_PAIRS_MAX. */
static uint32_t parse_chip_pairs(const char *text, size_t len, struct tts_node_pair *out)
{
    struct node_text cursor = {text, text + len};
    uint32_t count = 0;
    if (!take_pair_char(&cursor, '['))
        return 0;
    do {
        if (count == TTS_NODE_PAIRS_MAX || !take_chip_pair(&cursor, &out[count]))
            break;
        count++;
    } while (take_pair_char(&cursor, ','));
    return count;
}

/* Compares the first bytes of `text` with a constant word. The compiler turns this into a few
 * comparisons of integers. */
#define IS(text, word) (memcmp(text, word, sizeof word - 1) == 0)

/* ---- words ---- */

static enum tts_node_type find_node_type(const char *text, size_t len)
{
    switch (len) {
    case 6:
        if (IS(text, "buffer"))
            return TTS_NODE_BUFFER;
        return IS(text, "tensor") ? TTS_NODE_TENSOR : TTS_NODE_UNKNOWN;
    case 11:
        return IS(text, "capture_end") ? TTS_NODE_CAPTURE_END : TTS_NODE_UNKNOWN;
    case 12:
        return IS(text, "function_end") ? TTS_NODE_FUNCTION_END : TTS_NODE_UNKNOWN;
    case 13:
        return IS(text, "capture_start") ? TTS_NODE_CAPTURE_START : TTS_NODE_UNKNOWN;
    case 14:
        return IS(text, "function_start") ? TTS_NODE_FUNCTION_START : TTS_NODE_UNKNOWN;
    case 15:
        return IS(text, "buffer_allocate") ? TTS_NODE_BUFFER_ALLOCATE : TTS_NODE_UNKNOWN;
    case 17:
        return IS(text, "buffer_deallocate") ? TTS_NODE_BUFFER_DEALLOCATE : TTS_NODE_UNKNOWN;
    case 19:
        return IS(text, "scratchpad_allocate") ? TTS_NODE_SCRATCHPAD_ALLOCATE
                                               : TTS_NODE_UNKNOWN;
    case 24:
        if (IS(text, "circular_buffer_allocate"))
            return TTS_NODE_CB_ALLOCATE;
        return IS(text, "dataflow_buffer_allocate") ? TTS_NODE_DFB_ALLOCATE : TTS_NODE_UNKNOWN;
    case 30:
        return IS(text, "circular_buffer_deallocate_all") ? TTS_NODE_CB_DEALLOCATE_ALL
                                                          : TTS_NODE_UNKNOWN;
    default:
        return TTS_NODE_UNKNOWN;
    }
}

/* The keys of a node and of its params. */
enum key {
    KEY_NONE,
    KEY_OTHER, /* a known key whose value is skipped */
    KEY_COUNTER,
    KEY_CONNECTIONS,
    KEY_NODE_TYPE,
    KEY_PARAMS,
    KEY_NAME,
    KEY_TYPE,
    KEY_RANGES,
    KEY_PAIRS,
    KEY_FIELD, /* KEY_FIELD + n is the key of the field n */
    KEYS = KEY_FIELD + TTS_NODE_FIELDS,
};

_Static_assert(KEYS <= 32, "each has a bit");

static enum key key_of_field(enum tts_node_field field)
{
    return (enum key)((unsigned)KEY_FIELD + (unsigned)field);
}

static enum key find_top_key(const char *text, size_t len)
{
    switch (len) {
    case 6:
        return IS(text, "params") ? KEY_PARAMS : KEY_NONE;
    case 7:
        return IS(text, "counter") ? KEY_COUNTER : KEY_NONE;
    case 9:
        if (IS(text, "node_type"))
            return KEY_NODE_TYPE;
        return IS(text, "arguments") ? KEY_OTHER : KEY_NONE;
    case 11:
        if (IS(text, "connections"))
            return KEY_CONNECTIONS;
        return IS(text, "duration_ns") ? key_of_field(TTS_NODE_DURATION) : KEY_NONE;
    case 13:
        return IS(text, "input_tensors") ? KEY_OTHER : KEY_NONE;
    case 14:
        return IS(text, "stacking_level") ? KEY_OTHER : KEY_NONE;
    default:
        return KEY_NONE;
    }
}

static enum key find_param_key(const char *text, size_t len)
{
    switch (len) {
    case 4:
        if (IS(text, "size"))
            return key_of_field(TTS_NODE_SIZE);
        if (IS(text, "type"))
            return KEY_TYPE;
        return IS(text, "name") ? KEY_NAME : KEY_NONE;
    case 6:
        return IS(text, "layout") || IS(text, "inputs") ? KEY_OTHER : KEY_NONE;
    case 7:
        return IS(text, "address") ? key_of_field(TTS_NODE_ADDRESS) : KEY_NONE;
    case 9:
        if (IS(text, "device_id"))
            return key_of_field(TTS_NODE_DEVICE);
        if (IS(text, "page_size"))
            return key_of_field(TTS_NODE_PAGE_SIZE);
        return IS(text, "num_cores") ? key_of_field(TTS_NODE_CORES) : KEY_NONE;
    case 11:
        return IS(text, "buffer_type") ? key_of_field(TTS_NODE_BUFFER_TYPE) : KEY_NONE;
    case 14:
        if (IS(text, "core_range_set"))
            return KEY_RANGES;
        if (IS(text, "device_tensors"))
            return KEY_PAIRS;
        return IS(text, "borrows_memory") ? key_of_field(TTS_NODE_BORROWED) : KEY_NONE;
    case 17:
        return IS(text, "max_size_per_bank") ? key_of_field(TTS_NODE_PER_BANK) : KEY_NONE;
    case 18:
        return IS(text, "globally_allocated") ? key_of_field(TTS_NODE_BORROWED) : KEY_NONE;
    default:
        return KEY_NONE;
    }
}

/* Copies a key or a word with its escapes resolved. Returns its length, or 0 if the token has
 * no escapes. Programs write these words without escapes, so callers first look for the token
 * as written. */
static size_t plain_key(const struct tts_jsonpull_token *token, char out[TTS_NODE_TEXT_MAX])
{
    if (TTS_LIKELY(token->len == 0 || !memchr(token->text, '\\', token->len)))
        return 0;
    return tts_jsonpull_text(token, out, TTS_NODE_TEXT_MAX);
}

static enum key find_node_key(const struct tts_jsonpull_token *token, bool is_param)
{
    enum key key = is_param ? find_param_key(token->text, token->len)
                            : find_top_key(token->text, token->len);
    if (TTS_LIKELY(key != KEY_NONE))
        return key;
    char text[TTS_NODE_TEXT_MAX];
    size_t len = plain_key(token, text);
    return is_param ? find_param_key(text, len) : find_top_key(text, len);
}

static void mark_key_seen(struct tts_graph_node *node, enum key key)
{
    uint32_t bit = UINT32_C(1) << key;
    if (key <= KEY_OTHER)
        return;
    node->is_doubled |= (node->seen & bit) != 0;
    node->seen |= bit;
}

static void set_node_type(struct tts_graph_node *node, const struct tts_jsonpull_token *token)
{
    node->has_type = true;
    node->type = find_node_type(token->text, token->len);
    if (TTS_LIKELY(node->type != TTS_NODE_UNKNOWN))
        return;
    size_t len = tts_jsonpull_text(token, node->type_text, TTS_NODE_TEXT_MAX - 1);
    node->type = find_node_type(node->type_text, len);
    node->type_text[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if (node->type_text[i] < ' ' || node->type_text[i] > '~')
            node->type_text[i] = '?';
}

static bool is_token_word(const struct tts_jsonpull_token *token, const char *word)
{
    char text[TTS_NODE_TEXT_MAX];
    size_t len = strlen(word);
    if (token->len == len && memcmp(token->text, word, len) == 0)
        return true;
    return plain_key(token, text) == len && memcmp(text, word, len) == 0;
}

/* ---- values ---- */

static bool token_number(const struct tts_jsonpull_token *token, uint64_t *out)
{
    switch (token->kind) {
    case TTS_JSONPULL_NUMBER:
        *out = token->value;
        return token->is_whole;
    case TTS_JSONPULL_STRING:
        if (TTS_LIKELY(tts_number_parse(token->text, token->len, out) == TTS_OK))
            return !token->is_cut;
        *out = is_token_word(token, "true");
        return *out || is_token_word(token, "false");
    case TTS_JSONPULL_TRUE:
    case TTS_JSONPULL_FALSE:
        *out = token->kind == TTS_JSONPULL_TRUE;
        return true;
    case TTS_JSONPULL_END:
    case TTS_JSONPULL_OBJECT:
    case TTS_JSONPULL_OBJECT_END:
    case TTS_JSONPULL_ARRAY:
    case TTS_JSONPULL_ARRAY_END:
    case TTS_JSONPULL_KEY:
    case TTS_JSONPULL_NULL:
        break;
    }
    return false;
}

enum tts_status tts_node_read_number(struct tts_jsonpull *json, uint64_t *out, bool *is_given,
                                     bool *is_good, struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(json, &token, err);
    if (TTS_UNLIKELY(status != TTS_OK))
        return status;
    *is_given = token.kind != TTS_JSONPULL_NULL;
    *is_good = token_number(&token, out);
    return tts_jsonpull_finish(json, &token, err);
}

static void set_node_field(struct tts_graph_node *node, enum tts_node_field field,
                           bool is_given, bool is_good)
{
    uint32_t bit = UINT32_C(1) << field;
    node->given &= ~bit;
    node->bad &= ~bit;
    if (TTS_LIKELY(is_good))
        node->given |= bit;
    else if (is_given)
        node->bad |= bit;
}

static enum tts_status read_node_field(struct tts_jsonpull *json, struct tts_graph_node *node,
                                       enum tts_node_field field, struct tts_error *err)
{
    bool is_given, is_good;
    enum tts_status status =
        tts_node_read_number(json, &node->value[field], &is_given, &is_good, err);
    if (TTS_LIKELY(status == TTS_OK))
        set_node_field(node, field, is_given, is_good);
    return status;
}

/* Copies a name. Keeps only the last TTS_OP_NAME_MAX bytes of a longer name. */
static size_t put_node_name(const struct tts_jsonpull_token *token, char out[TTS_OP_NAME_MAX])
{
    char text[TTS_JSONPULL_TEXT_MAX];
    if (TTS_LIKELY(token->len <= TTS_OP_NAME_MAX))
        return tts_jsonpull_text(token, out, TTS_OP_NAME_MAX);
    size_t len = tts_jsonpull_text(token, text, sizeof text);
    const char *name = text;
    tts_opnames_cut(&name, &len);
    memcpy(out, name, len);
    return len;
}

/* Reads the chips of a tensor. If the text is too long, reads the chips at its beginning. */
static void set_chip_pairs(struct tts_graph_node *node, const struct tts_jsonpull_token *token)
{
    char text[TTS_JSONPULL_TEXT_MAX];
    size_t len = tts_jsonpull_text(token, text, sizeof text);
    node->pair_count = parse_chip_pairs(text, len, node->pairs);
}

static void set_text_param(struct tts_graph_node *node, enum key key,
                           const struct tts_jsonpull_token *token)
{
    assert(key >= KEY_NAME && key < KEY_FIELD);
    bool is_text = token->kind == TTS_JSONPULL_STRING;
    if (key == KEY_TYPE) {
        node->memory = TTS_NODE_OTHER_MEMORY;
        if (is_text && is_token_word(token, "DRAM"))
            node->memory = TTS_NODE_DRAM;
        else if (is_text && is_token_word(token, "L1"))
            node->memory = TTS_NODE_L1;
    } else if (key == KEY_NAME) {
        node->has_name = is_text;
        node->name_len = (uint8_t)(is_text ? put_node_name(token, node->name) : 0);
    } else if (key == KEY_PAIRS) {
        node->pair_count = 0;
        if (is_text && (!node->has_type || node->type == TTS_NODE_TENSOR))
            set_chip_pairs(node, token);
    } else {
        node->range_count = 0;
        node->has_bad_ranges =
            !is_text || token->is_cut ||
            !parse_core_ranges(token->text, token->len, node->ranges, &node->range_count);
    }
}

static enum tts_status read_node_param(struct tts_jsonpull *json, struct tts_graph_node *node,
                                       enum key key, struct tts_error *err)
{
    if (node->type == TTS_NODE_TENSOR && key != KEY_PAIRS)
        return tts_jsonpull_skip(json, err);
    mark_key_seen(node, key);
    if (key >= KEY_FIELD)
        return read_node_field(json, node, (enum tts_node_field)(key - KEY_FIELD), err);
    if (key == KEY_NONE || key == KEY_OTHER)
        return tts_jsonpull_skip(json, err);
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(json, &token, err);
    if (status != TTS_OK)
        return status;
    set_text_param(node, key, &token);
    return tts_jsonpull_finish(json, &token, err);
}

/* ---- the node ---- */

/* Returns true if the params of this node are needed, or if the type of the node is not known
 * yet. */
static bool wants_node_params(const struct tts_graph_node *node)
{
    if (!node->has_type || node->type == TTS_NODE_FUNCTION_START)
        return true;
    return node->type >= TTS_NODE_BUFFER ||
           (node->wants_pairs && node->type == TTS_NODE_TENSOR);
}

enum {
    OUTSIDE_PARAMS = 1 << TTS_NODE_COUNTER | 1 << TTS_NODE_LINK | 1 << TTS_NODE_DURATION,
};

static void forget_node_params(struct tts_graph_node *node)
{
    node->given &= OUTSIDE_PARAMS;
    node->bad &= OUTSIDE_PARAMS;
    node->memory = TTS_NODE_NO_MEMORY;
    node->has_name = node->has_bad_ranges = false;
    node->name_len = 0;
    node->range_count = node->pair_count = 0;
}

static enum tts_status read_node_params(struct tts_jsonpull *json, struct tts_graph_node *node,
                                        struct tts_error *err)
{
    struct tts_jsonpull_token token;
    if (!wants_node_params(node))
        return tts_jsonpull_skip(json, err);
    forget_node_params(node);
    enum tts_status status = tts_jsonpull_next(json, &token, err);
    if (status != TTS_OK || token.kind != TTS_JSONPULL_OBJECT)
        return status == TTS_OK ? tts_jsonpull_finish(json, &token, err) : status;
    for (;;) {
        status = tts_jsonpull_key(json, &token, err);
        if (TTS_UNLIKELY(status != TTS_OK) || token.kind == TTS_JSONPULL_OBJECT_END)
            return status;
        assert(token.kind == TTS_JSONPULL_KEY);
        status = read_node_param(json, node, find_node_key(&token, true), err);
        if (TTS_UNLIKELY(status != TTS_OK))
            return status;
    }
}

static enum tts_status read_connections(struct tts_jsonpull *json, struct tts_graph_node *node,
                                        struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(json, &token, err);
    if (status != TTS_OK)
        return status;
    if (token.kind != TTS_JSONPULL_ARRAY) {
        set_node_field(node, TTS_NODE_LINK, token.kind != TTS_JSONPULL_NULL, false);
        return tts_jsonpull_finish(json, &token, err);
    }
    status = tts_jsonpull_next(json, &token, err);
    if (status != TTS_OK)
        return status;
    if (token.kind == TTS_JSONPULL_ARRAY_END) {
        set_node_field(node, TTS_NODE_LINK, false, false);
        return TTS_OK;
    }
    bool is_good = token_number(&token, &node->value[TTS_NODE_LINK]);
    set_node_field(node, TTS_NODE_LINK, true, is_good);
    status = tts_jsonpull_finish(json, &token, err);
    return status == TTS_OK ? tts_jsonpull_leave(json, err) : status;
}

static enum tts_status read_node_type(struct tts_jsonpull *json, struct tts_graph_node *node,
                                      struct tts_error *err)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_next(json, &token, err);
    node->has_type = false;
    node->type = TTS_NODE_UNKNOWN;
    if (status != TTS_OK || token.kind != TTS_JSONPULL_STRING)
        return status == TTS_OK ? tts_jsonpull_finish(json, &token, err) : status;
    set_node_type(node, &token);
    return TTS_OK;
}

static enum tts_status read_node_member(struct tts_jsonpull *json, struct tts_graph_node *node,
                                        enum key key, struct tts_error *err)
{
    mark_key_seen(node, key);
    switch ((unsigned)key) {
    case KEY_COUNTER:
        return read_node_field(json, node, TTS_NODE_COUNTER, err);
    case KEY_CONNECTIONS:
        return read_connections(json, node, err);
    case KEY_NODE_TYPE:
        return read_node_type(json, node, err);
    case KEY_PARAMS:
        return read_node_params(json, node, err);
    case KEY_FIELD + TTS_NODE_DURATION:
        return read_node_field(json, node, TTS_NODE_DURATION, err);
    default:
        return tts_jsonpull_skip(json, err);
    }
}

enum tts_status tts_node_read(struct tts_jsonpull *json, struct tts_graph_node *out,
                              struct tts_error *err)
{
    struct tts_jsonpull_token token;
    out->type = TTS_NODE_UNKNOWN;
    out->has_type = out->is_doubled = false;
    out->type_text[0] = '\0';
    out->given = out->bad = out->seen = 0;
    forget_node_params(out);
    for (;;) {
        enum tts_status status = tts_jsonpull_key(json, &token, err);
        if (TTS_UNLIKELY(status != TTS_OK) || token.kind == TTS_JSONPULL_OBJECT_END)
            return status;
        assert(token.kind == TTS_JSONPULL_KEY);
        status = read_node_member(json, out, find_node_key(&token, false), err);
        if (TTS_UNLIKELY(status != TTS_OK))
            return status;
    }
}
