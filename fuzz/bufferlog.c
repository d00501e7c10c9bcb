/* Reads bytes as a log of buffers, in pieces. The figures must equal those of a simple reader
 * that takes all bytes at once and searches its list from the beginning each time. The reader
 * asserts that bytes and counts never go below zero. The same bytes are read as a log of
 * meshes, in one piece and in several.
 *
 * The first byte chooses the size of the pieces. A line of "=" and four bytes (type, id,
 * address, size) stands for an allocation, "~" and an id for a free: short inputs reach the
 * table. */
#include "sources/live/bufferlog.h"
#include "fuzz/reuse.h"
#include "sources/live/meshlog.h"

#include <inttypes.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { TEXT_MAX = 1 << 16, INPUT_MAX = 2048, LIVE_MAX = 4096, LINE_MAX_BYTES = 4096 };

static char text[TEXT_MAX];
static size_t text_len;

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static const char *const types[] = {"DRAM", "L1", "L1_SMALL", "TRACE", "SYSTEM_MEMORY"};
enum { TYPES = sizeof types / sizeof types[0] };

/* Writes a short line out in full. Other lines are copied. */
static void expand_line(const uint8_t *line, size_t len)
{
    char *at = text + text_len;
    size_t room = TEXT_MAX - text_len;
    int wrote = 0;
    if (room < INPUT_MAX)
        return;
    if (len >= 5 && line[0] == '=')
        wrote = snprintf(at, room,
                         "- mesh_buffer_allocated:\n id: %u\n address: %u\n size: 9\n"
                         " device_local_size: %u\n buffer_type: %s\n timestamp_ns: 1\n",
                         line[2] % 32U, line[3] / 4U, line[4] * 3U, types[line[1] % TYPES]);
    else if (len >= 2 && line[0] == '~')
        wrote = snprintf(at, room, "- mesh_buffer_deallocated:\n id: %u\n address: 1\n",
                         line[1] % 32U);
    else
        memcpy(at, line, len);
    text_len += wrote > 0 ? (size_t)wrote : len;
}

/* --- the simple reader ------------------------------------------------------------------ */

struct simple_buffer {
    uint64_t id, address, size;
    int type;
    bool is_owner;
};

static struct {
    struct simple_buffer live[LIVE_MAX];
    size_t count;
    uint64_t events, bad_lines, unknown_frees;
    bool is_lost;
    /* the present event */
    char kind; /* 'n': none, 'a', 'f', 'o': other */
    bool has[5], is_done, is_damaged;
    uint64_t values[5];
} simple;

static const uint64_t simple_banks[] = {32, 256, 256, 32};

static void apply_simple(void)
{
    size_t kept = 0, found = 0;
    const uint64_t *values = simple.values;
    simple.is_done = true;
    simple.events++;
    for (size_t i = 0; i < simple.count; i++) {
        if (simple.live[i].id == values[0])
            found++;
        else
            simple.live[kept++] = simple.live[i];
    }
    simple.count = kept;
    if (simple.kind == 'f') {
        simple.unknown_frees += found == 0;
        return;
    }
    simple.is_lost = simple.is_lost || found > 0;
    struct simple_buffer buffer = {
        .id = values[0], .address = values[1], .size = values[2], .type = (int)values[3]};
    const struct simple_buffer *below = NULL;
    for (size_t i = 0; i < simple.count; i++) {
        const struct simple_buffer *other = &simple.live[i];
        if (other->is_owner && other->type == buffer.type && other->address != 0 &&
            other->address <= buffer.address && (!below || other->address > below->address))
            below = other;
    }
    bool is_view = false;
    if (below && buffer.address != 0 && buffer.type < TTS_POOLS) {
        uint64_t banks = simple_banks[buffer.type];
        is_view = buffer.address - below->address < (below->size + banks - 1) / banks;
    }
    buffer.is_owner = buffer.type < TTS_POOLS && buffer.size > 0 && !is_view;
    check(simple.count < LIVE_MAX, "the simple list is too short");
    simple.live[simple.count++] = buffer;
}

static bool is_blank_char(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_name(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!((at[i] >= 'a' && at[i] <= 'z') || (at[i] >= 'A' && at[i] <= 'Z') ||
              (at[i] >= '0' && at[i] <= '9') || at[i] == '_'))
            return false;
    return len > 0;
}

static bool parse_simple_number(const char *at, size_t len, uint64_t *out)
{
    uint64_t number = 0;
    for (size_t i = 0; i < len; i++) {
        if (at[i] < '0' || at[i] > '9' || number > (UINT64_MAX - (uint64_t)(at[i] - '0')) / 10)
            return false;
        number = number * 10 + (uint64_t)(at[i] - '0');
    }
    *out = number;
    return len > 0;
}

static bool read_simple_field(const char *name, size_t name_len, const char *value, size_t len)
{
    static const char *const names[] = {"id", "address", "device_local_size", "buffer_type",
                                        "timestamp_ns"};
    if (simple.kind == 'n')
        return false;
    for (int i = 0; simple.kind != 'o' && i < 5; i++) {
        uint64_t number = TYPES;
        if (strlen(names[i]) != name_len || memcmp(names[i], name, name_len) != 0)
            continue;
        bool is_good = !simple.has[i];
        for (uint64_t type = 0; is_good && i == 3 && type < TYPES; type++)
            if (strlen(types[type]) == len && memcmp(types[type], value, len) == 0)
                number = type;
        if (i == 3)
            is_good = is_good && number < TYPES;
        else
            is_good = is_good && parse_simple_number(value, len, &number) &&
                      (i != 2 || number <= UINT64_C(1) << 46);
        if (!is_good) {
            simple.is_damaged = true;
            return false;
        }
        simple.values[i] = number;
        simple.has[i] = true;
        bool is_whole = simple.has[0] && simple.has[1] &&
                        (simple.kind == 'f' || (simple.has[2] && simple.has[3]));
        if (is_whole && !simple.is_done && !simple.is_damaged)
            apply_simple();
    }
    return true;
}

static bool read_simple_line(const char *line, size_t len)
{
    if (len > LINE_MAX_BYTES)
        return false;
    if (len > 0 && line[len - 1] == '\r')
        len--;
    bool is_indented = len > 0 && is_blank_char(line[0]);
    if (len == 3 && memcmp(line, "---", 3) == 0)
        return true;
    while (len > 0 && is_blank_char(line[len - 1]))
        len--;
    while (len > 0 && is_blank_char(line[0]))
        line++, len--;
    if (len == 0 || line[0] == '#')
        return true;
    if (!is_indented) {
        if (len < 2 || line[0] != '-' || line[1] != ' ')
            return false;
        line += 2, len -= 2;
        while (len > 0 && is_blank_char(line[0]))
            line++, len--;
        if (len < 2 || line[len - 1] != ':' || !is_name(line, len - 1))
            return false;
        if ((simple.kind == 'a' || simple.kind == 'f') && !simple.is_done)
            simple.is_lost = true;
        simple.kind = 'o';
        if (len - 1 == 21 && memcmp(line, "mesh_buffer_allocated", 21) == 0)
            simple.kind = 'a';
        if (len - 1 == 23 && memcmp(line, "mesh_buffer_deallocated", 23) == 0)
            simple.kind = 'f';
        memset(simple.has, 0, sizeof simple.has);
        simple.is_done = simple.is_damaged = false;
        return true;
    }
    const char *colon = memchr(line, ':', len);
    if (!colon || !is_name(line, (size_t)(colon - line)))
        return false;
    const char *value = colon + 1;
    size_t value_len = len - (size_t)(value - line);
    while (value_len > 0 && is_blank_char(*value))
        value++, value_len--;
    return read_simple_field(line, (size_t)(colon - line), value, value_len);
}

static void read_simple_text(void)
{
    memset(&simple, 0, sizeof simple);
    simple.kind = 'n';
    for (size_t at = 0; at < text_len;) {
        const char *end = memchr(text + at, '\n', text_len - at);
        if (!end)
            return;
        simple.bad_lines += !read_simple_line(text + at, (size_t)(end - text) - at);
        at = (size_t)(end - text) + 1;
    }
}

/* --- comparison ------------------------------------------------------------------------- */

static void compare(const struct tts_seenbuffers *seen)
{
    uint64_t bytes[TTS_POOLS] = {0}, buffers[TTS_POOLS] = {0}, largest[TTS_POOLS] = {0};
    for (size_t i = 0; i < simple.count; i++) {
        const struct simple_buffer *buffer = &simple.live[i];
        if (!buffer->is_owner)
            continue;
        bytes[buffer->type] += buffer->size;
        buffers[buffer->type]++;
        if (buffer->size > largest[buffer->type])
            largest[buffer->type] = buffer->size;
    }
    for (int i = 0; i < TTS_POOLS; i++)
        check(seen->bytes[i] == bytes[i] && seen->buffers[i] == buffers[i] &&
                  seen->largest_bytes[i] == largest[i],
              "another figure of a pool");
    check(seen->events == simple.events && seen->bad_lines == simple.bad_lines &&
              seen->unknown_frees == simple.unknown_frees && seen->left_out == 0,
          "another count");
    check(seen->is_complete ==
              (!simple.is_lost && simple.bad_lines == 0 && simple.unknown_frees == 0),
          "another completeness");
}

static void compare_meshes(size_t piece)
{
    static struct tts_meshlog whole, parts;
    static struct tts_seenbuffers from_whole, from_parts;
    memset(&whole, 0, sizeof whole);
    memset(&parts, 0, sizeof parts);
    tts_meshlog_feed(&whole, text, text_len);
    for (size_t at = 0; at < text_len; at += piece)
        tts_meshlog_feed(&parts, text + at, text_len - at < piece ? text_len - at : piece);
    tts_meshlog_fill(&whole, &from_whole);
    tts_meshlog_fill(&parts, &from_parts);
    check(from_whole.devices_known == from_parts.devices_known &&
              from_whole.device_count == from_parts.device_count &&
              from_whole.device_count <= TTS_HOSTVIEW_MESH_DEVICES_MAX &&
              from_whole.devices_known == (from_whole.device_count > 0),
          "other devices");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct tts_bufferlog *log;
    struct tts_seenbuffers seen = {0};
    if (len < 1 || len > INPUT_MAX)
        return 0;
    size_t piece = 1 + bytes[0] % 64U * (bytes[0] / 64U + 1U);
    text_len = 0;
    for (size_t at = 1; at < len;) {
        const uint8_t *end = memchr(bytes + at, '\n', len - at);
        size_t line_len = (end ? (size_t)(end - bytes) + 1 : len) - at;
        expand_line(bytes + at, line_len);
        at += line_len;
    }
    if (!log)
        check(tts_bufferlog_new(&reuse_alloc, &log, NULL) == TTS_OK, "no memory");
    tts_bufferlog_reset(log);
    for (size_t at = 0; at < text_len; at += piece) {
        tts_bufferlog_feed(log, text + at, text_len - at < piece ? text_len - at : piece);
        if (at / piece % 16 == 0)
            tts_bufferlog_fill(log, &seen); /* finds the largest buffers in between */
    }
    tts_bufferlog_fill(log, &seen);
    read_simple_text();
    compare(&seen);
    if (memmem(text, text_len, "mesh_device", 11))
        compare_meshes(piece);
    return 0;
}
