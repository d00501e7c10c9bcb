#include "sources/failure/failscan.h"

#include "base/error.h"
#include "base/heap.h"
#include "sources/failure/failtemplate.h"
#include "sources/log/logkey.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    PROBE_STEP = 16, /* bytes between two probes */
    PROBE_BYTES = 4,
    PHRASES_MAX = 64,
    PROBES_MAX = PHRASES_MAX * PROBE_STEP,
    HASH_BITS = 16,
    ROWS = 256,        /* rows of probes, one for each value of the upper bits of the hash */
    BACK = 64 * 1024,  /* bytes before a message that are searched for its operation */
    AHEAD = 32 * 1024, /* bytes after a message that are searched for a backtrace */
    HEAD_MAX = 1024,   /* a sentence begins at most this many bytes before its phrase */
    TAIL_MAX = 3072,   /* a sentence ends at most this many bytes after its phrase begins */
    PIECE_MAX = HEAD_MAX + TAIL_MAX,
    LINES_TO_PHRASE = TTS_FAILPIECE_BACK + 1, /* lines up to the line of the phrase */
    LINES_AFTER = TTS_FAILPIECE_LINES - LINES_TO_PHRASE,
    PYTHON_BACK = 4096, /* bytes before a message that are searched for a Python call */
};

static_assert(TTS_FAILPHRASE_MIN >= PROBE_STEP + PROBE_BYTES - 1, "each phrase has a probe");
static_assert((int)TTS_FAILPHRASE_MAX <= (int)TTS_LOGSEARCH_MAX, "a search finds each phrase");
static_assert((int)AHEAD + (int)TAIL_MAX <= (int)TTS_LOGSEARCH_AHEAD,
              "a search reads far enough");

/* Four bytes of a phrase, and their offset in it. */
struct probe {
    uint32_t word;
    uint8_t phrase, offset;
};

/* The text around a phrase, without colours and escapes. `origin` has the offset of each byte
 * in the raw text. */
struct piece {
    struct tts_failpiece lines;
    size_t len;
    char text[PIECE_MAX];
    uint32_t origin[PIECE_MAX];
};

struct tts_failscan {
    const struct tts_alloc *alloc;
    struct tts_logtext text;
    bool is_fed;     /* another reader counts the lines */
    bool is_growing; /* the end of the text is not final, unless it is at quiet_end */
    uint64_t quiet_end;
    uint64_t done;    /* offset in the input of the end of the last message */
    uint64_t l1_base; /* base of circular buffers in L1, from the text; 0 until the text states
                         one */
    /* The name in the last line that names an operation, the offset of this line, and the
     * offset up to which such lines have been searched. */
    char op[TTS_FAILMSG_OP_MAX];
    uint64_t op_offset, op_searched;
    size_t phrase_count;
    struct tts_span phrases[PHRASES_MAX];
    uint64_t bits[(1 << HASH_BITS) / 64]; /* the words that probes look for, by hash */
    struct probe probes[PROBES_MAX];      /* by hash */
    uint16_t rows[ROWS + 1];              /* index of the first probe of each row */
    struct piece piece;
};

/* The words in a line of the runtime before the base address of circular buffers. */
static const char base_phrase[] = "l1_unreserved_base:0x";

/* ---- phrases ----
 * Every sixteenth place of the text is probed: its four bytes are looked up in a bit table. A
 * phrase of at least nineteen bytes has one of its first sixteen places at a probe, so the
 * table has the four bytes at each of them. */

static uint32_t load_word(const void *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static uint32_t hash_word(uint32_t word)
{
    return word * UINT32_C(0x9e3779b1) >> (32 - HASH_BITS);
}

static void add_phrase(struct tts_failscan *scan, struct tts_span phrase)
{
    assert(scan->phrase_count < PHRASES_MAX);
    scan->phrases[scan->phrase_count++] = phrase;
}

static uint32_t hash_row(uint32_t hash)
{
    return hash >> (HASH_BITS - 8);
}

/* Gives each word of each phrase that a probe may see to `take`. */
typedef void take_probe(struct tts_failscan *scan, struct probe probe);

static void take_all_probes(struct tts_failscan *scan, take_probe *take)
{
    for (size_t idx = 0; idx < scan->phrase_count; idx++)
        for (uint8_t i = 0; i < PROBE_STEP; i++)
            take(scan, (struct probe){load_word(scan->phrases[idx].at + i), (uint8_t)idx, i});
}

static void count_probe(struct tts_failscan *scan, struct probe probe)
{
    uint32_t hash = hash_word(probe.word);
    scan->bits[hash / 64] |= UINT64_C(1) << hash % 64;
    scan->rows[hash_row(hash)]++;
}

static void place_probe(struct tts_failscan *scan, struct probe probe)
{
    scan->probes[--scan->rows[hash_row(hash_word(probe.word))]] = probe;
}

/* Sorts the probes into rows: the count of each row becomes its end, and then, while its probes
 * are placed, its beginning. */
static void index_probes(struct tts_failscan *scan)
{
    take_all_probes(scan, count_probe);
    for (size_t row = 1; row <= ROWS; row++)
        scan->rows[row] = (uint16_t)(scan->rows[row] + scan->rows[row - 1]);
    take_all_probes(scan, place_probe);
}

/* Returns 1 if the four bytes at `at` may belong to a phrase, else 0. Returns a number, so that
 * the caller can join the results of several places with '|' and needs only one branch. */
static unsigned is_probe_hit(const uint64_t *bits, const unsigned char *at)
{
    uint32_t hash = hash_word(load_word(at));
    return bits[hash / 64] >> hash % 64 & 1;
}

static bool is_phrase_at(const struct tts_failscan *scan, size_t idx, const void *at)
{
    return memcmp(at, scan->phrases[idx].at, scan->phrases[idx].len) == 0;
}

/* Returns the beginning of a phrase that contains the four bytes at `at`, or NULL. The phrase
 * must not begin before `least`. */
static const unsigned char *check_probe(const struct tts_failscan *scan,
                                        const unsigned char *least, const unsigned char *at)
{
    uint32_t word = load_word(at), row = hash_row(hash_word(word));
    for (size_t i = scan->rows[row]; i < scan->rows[row + 1]; i++) {
        const struct probe *probe = &scan->probes[i];
        if (probe->word == word && at - least >= probe->offset &&
            is_phrase_at(scan, probe->phrase, at - probe->offset))
            return at - probe->offset;
    }
    return NULL;
}

static const unsigned char *find_phrase(const void *ctx, const unsigned char *at,
                                        const unsigned char *end)
{
    const struct tts_failscan *scan = ctx;
    const unsigned char *least = at, *found;
    while (at < end + PROBE_STEP) {
        while (end - at >= 4 * PROBE_STEP &&
               (is_probe_hit(scan->bits, at) | is_probe_hit(scan->bits, at + PROBE_STEP) |
                is_probe_hit(scan->bits, at + 2 * PROBE_STEP) |
                is_probe_hit(scan->bits, at + 3 * PROBE_STEP)) == 0)
            at += 4 * PROBE_STEP;
        for (int i = 0; i < 4 && at < end + PROBE_STEP; i++, at += PROBE_STEP) {
            if (!is_probe_hit(scan->bits, at))
                continue;
            found = check_probe(scan, least, at);
            if (found)
                return found < end ? found : end;
        }
    }
    return end;
}

/* ---- plain text ---- */

static void put_piece_byte(struct piece *piece, char c, size_t origin)
{
    if (piece->len < PIECE_MAX) {
        piece->text[piece->len] = c;
        piece->origin[piece->len++] = (uint32_t)origin;
    }
}

static bool is_hex_digit(char c)
{
    return tts_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static unsigned hex_value(char c)
{
    return tts_is_digit(c) ? (unsigned)(c - '0') : ((unsigned)c | 32u) - 'a' + 10;
}

/* Reads an escaped byte, such as "\n", "\\n" (JSON inside JSON), "\u001b", "\x1b" or "%0A".
 * Sets *out to the byte and returns the length of the escape. Returns 0 if no escape is at
 * `at`. */
static size_t read_escape(struct tts_span raw, size_t at, char *out)
{
    size_t begin = at;
    if (raw.at[at] == '%' && raw.len - at >= 3 && raw.at[at + 1] == '0' &&
        (raw.at[at + 2] == 'A' || raw.at[at + 2] == 'D')) {
        *out = '\n';
        return 3;
    }
    if (raw.at[at] != '\\')
        return 0;
    while (at < raw.len && raw.at[at] == '\\')
        at++;
    if (at == raw.len)
        return 0;
    switch (raw.at[at]) {
    case 'n':
        *out = '\n';
        return at + 1 - begin;
    case 'r':
    case 't':
        *out = ' ';
        return at + 1 - begin;
    case '"':
    case '\'':
        *out = raw.at[at];
        return at + 1 - begin;
    case 'u':
    case 'x': {
        size_t digits = raw.at[at] == 'u' ? 4 : 2, value = 0;
        if (raw.len - at <= digits)
            return 0;
        for (size_t i = 1; i <= digits; i++) {
            if (!is_hex_digit(raw.at[at + i]))
                return 0;
            value = value * 16 + hex_value(raw.at[at + i]);
        }
        *out = value < 128 ? (char)value : '?';
        return at + 1 + digits - begin;
    }
    default:
        return 0;
    }
}

/* Returns the place after the colour sequence of a terminal, such as "[31m", at `at`. The ESC
 * is before `at`. Returns `at` if there is no such sequence. */
static size_t skip_colour(struct tts_span raw, size_t at)
{
    if (at == raw.len || raw.at[at] != '[')
        return at;
    size_t end = at + 1;
    while (end < raw.len && (tts_is_digit(raw.at[end]) || raw.at[end] == ';'))
        end++;
    return end < raw.len && tts_is_letter(raw.at[end]) ? end + 1 : at;
}

/* Copies one line of `raw`, from `at` on, without colours and escapes. Sets *is_ended if the
 * line has an end. Returns the place after the line end. */
static size_t put_plain_line(struct piece *piece, struct tts_span raw, size_t at,
                             bool *is_ended)
{
    *is_ended = false;
    while (at < raw.len && !*is_ended) {
        char c = raw.at[at];
        if ((unsigned char)c >= ' ' && c != '\\' && c != '%') { /* most bytes */
            put_piece_byte(piece, c, at++);
            continue;
        }
        size_t begin = at, len = read_escape(raw, at, &c);
        at += len > 0 ? len : 1;
        if (c == 0x1b && len > 0)
            at = skip_colour(raw, at);
        else if (c == 0x1b)
            at = begin +
                 tts_logline_escape_len((struct tts_span){raw.at + begin, raw.len - begin});
        else if (c == '\n' || c == '\r')
            *is_ended = true;
        else
            put_piece_byte(piece, c == '\t' ? ' ' : c, begin);
        if (c == '\r' && at < raw.len && raw.at[at] == '\n')
            at++;
    }
    return at;
}

static size_t skip_blanks(struct tts_span line)
{
    size_t at = 0;
    while (at < line.len && tts_is_blank(line.at[at]))
        at++;
    return at;
}

/* Returns the length of a mark that other programs put before a line: "E   " of pytest,
 * annotations of CI systems, quote marks. */
static size_t skip_mark(struct tts_span line)
{
    size_t at = skip_blanks(line);
    struct tts_span rest = {line.at + at, line.len - at};
    const char *mark_end;
    if (tts_span_begins(rest, "E  "))
        return at + 1;
    if (tts_span_begins(rest, "##["))
        mark_end = memchr(rest.at, ']', rest.len);
    else if (tts_span_begins(rest, "::error"))
        mark_end = tts_span_find((struct tts_span){rest.at + 2, rest.len - 2}, "::");
    else
        mark_end = rest.len > 1 && strchr(">|#*", rest.at[0]) && tts_is_blank(rest.at[1])
                       ? rest.at
                       : NULL;
    return mark_end ? (size_t)(mark_end - line.at) + (rest.at[0] == ':' ? 2 : 1) : at;
}

/* Returns the length of the whole words with which both lines begin. */
static size_t skip_common_words(struct tts_span line, struct tts_span before)
{
    size_t same = 0, words = 0;
    for (; same < line.len && same < before.len && line.at[same] == before.at[same]; same++)
        words = tts_is_blank(line.at[same]) ? same + 1 : words;
    return words;
}

static void add_start(struct tts_failline *line, size_t start)
{
    if (line->start_count < TTS_FAILPIECE_STARTS &&
        (line->start_count == 0 || line->starts[line->start_count - 1] != start))
        line->starts[line->start_count++] = (uint32_t)start;
}

/* Adds the places after each mark and after each prefix of a logger as possible starts. */
static void add_prefix_starts(struct tts_failline *line, struct tts_span text)
{
    struct tts_span prefix, rank, rest = text;
    for (size_t len = 0; rest.len != len;) {
        size_t mark = skip_mark(rest);
        len = rest.len;
        rest = (struct tts_span){rest.at + mark, rest.len - mark};
        add_start(line, line->end - rest.len);
        tts_logkey_split(rest, &prefix, &rank, &rest);
        add_start(line, line->end - rest.len);
    }
}

static struct tts_span piece_line(const struct piece *piece, const struct tts_failline *line)
{
    return (struct tts_span){piece->text + line->begin, line->end - line->begin};
}

/* Adds the possible starts of each line but the first, which continues no line. */
static void add_piece_starts(struct piece *piece)
{
    struct tts_failline *lines = piece->lines.lines;
    for (size_t i = 1; i < piece->lines.line_count; i++) {
        struct tts_span text = piece_line(piece, &lines[i]);
        add_start(&lines[i], lines[i].begin + skip_blanks(text));
        lines[i].common = (uint32_t)skip_common_words(text, piece_line(piece, &lines[i - 1]));
        add_prefix_starts(&lines[i], text);
    }
}

/* Forgets all but the last `count` lines of the piece. Their text stays. */
static void keep_last_lines(struct tts_failpiece *lines, size_t count)
{
    if (lines->line_count <= count)
        return;
    memmove(lines->lines, lines->lines + lines->line_count - count,
            count * sizeof lines->lines[0]);
    lines->line_count = count;
}

/* Fills the piece with the lines around the byte `hit` of `raw`: the line of this byte, at most
 * TTS_FAILPIECE_BACK lines before it, and at most LINES_AFTER lines after it. The lines on one
 * side have no influence on the number of lines on the other side. */
static void fill_piece(struct piece *piece, struct tts_span raw, size_t hit)
{
    struct tts_failpiece *lines = &piece->lines;
    size_t at = 0, most = TTS_FAILPIECE_LINES;
    bool is_ended = true;
    piece->len = 0;
    lines->text = piece->text;
    lines->line_count = 0;
    while (at < raw.len && is_ended && lines->line_count < most) {
        bool is_to_hit = at <= hit;
        size_t begin = piece->len;
        at = put_plain_line(piece, raw, at, &is_ended);
        lines->lines[lines->line_count++] =
            (struct tts_failline){.begin = (uint32_t)begin, .end = (uint32_t)piece->len};
        if (is_to_hit && (at > hit || lines->line_count == TTS_FAILPIECE_LINES))
            keep_last_lines(lines, LINES_TO_PHRASE);
        if (is_to_hit && at > hit)
            most = lines->line_count + LINES_AFTER;
    }
    add_piece_starts(piece);
}

/* Finds the first byte of the piece whose place in the raw text is `hit` or later. Sets its
 * line and its place in the piece. Returns false if there is no such byte. */
static bool find_in_piece(const struct piece *piece, size_t hit, size_t *line, size_t *at)
{
    const struct tts_failpiece *lines = &piece->lines;
    for (*line = 0; *line < lines->line_count; ++*line)
        for (*at = lines->lines[*line].begin; *at < lines->lines[*line].end; ++*at)
            if (piece->origin[*at] >= hit)
                return true;
    return false;
}

/* ---- the operation ---- */

static bool is_op_byte(char c)
{
    return tts_is_letter(c) || tts_is_digit(c) || c == '_' || c == '.';
}

/* Copies the name of an operation that begins at text.at, perhaps after quotes. Returns false
 * if no name is there. */
static bool copy_op_name(char out[TTS_FAILMSG_OP_MAX], struct tts_span text)
{
    size_t at = 0, len = 0;
    while (at < text.len && (text.at[at] == '"' || text.at[at] == '\\'))
        at++;
    while (at + len < text.len && is_op_byte(text.at[at + len]))
        len++;
    if (len == 0)
        return false;
    tts_span_copy(out, TTS_FAILMSG_OP_MAX, (struct tts_span){text.at + at, len});
    return true;
}

static uint64_t count_breaks(const char *from, const char *to)
{
    uint64_t count = 0;
    while (from < to && (from = memchr(from, '\n', (size_t)(to - from))) != NULL) {
        count++;
        from++;
    }
    return count;
}

static struct tts_span text_from(struct tts_span text, const char *at)
{
    return (struct tts_span){at, text.len - (size_t)(at - text.at)};
}

/* Returns the beginning of the name of a device operation in a backtrace, such as
 * "BinaryNgDeviceOperation", or NULL. */
static const char *find_device_op(struct tts_span frames)
{
    static const char word[] = "DeviceOperation";
    const char *at;
    while ((at = tts_span_find(frames, word)) != NULL) {
        const char *begin = at, *end = at + sizeof word - 1;
        while (begin > frames.at && is_op_byte(begin[-1]))
            begin--;
        if (begin > frames.at && begin[-1] == ':' && begin < at &&
            end < frames.at + frames.len && strchr(":>(<", *end))
            return begin;
        frames = text_from(frames, end);
    }
    return NULL;
}

/* Reads the name of the operation from the backtrace that follows a message. `after` is the
 * text after the message, `line` the number of the line where this text begins. */
static void read_backtrace(struct tts_failmsg *msg, struct tts_span after, uint64_t line)
{
    static const char target[] = "::run(tt::target::ttnn::";
    struct tts_span near = {after.at, after.len < 512 ? after.len : 512};
    const char *begin = tts_span_find(near, "backtrace:"), *found, *stop;
    if (!begin)
        return;
    struct tts_span frames = text_from(after, begin + 10);
    if ((stop = tts_span_find(frames, "backtrace:")) != NULL)
        frames.len = (size_t)(stop - frames.at);
    if ((found = tts_span_find(frames, target)) != NULL)
        found += sizeof target - 1;
    else
        found = find_device_op(frames);
    if (found && copy_op_name(msg->op, text_from(frames, found)))
        msg->op_line = line + count_breaks(after.at, found);
}

/* Reads the name of the operation if a line of the runtime's log with such a name begins at
 * text.at. Returns false otherwise. */
static bool read_op_line(char out[TTS_FAILMSG_OP_MAX], struct tts_span text)
{
    static const char *const words[] = {
        "Executing operation: ", "Launching Device Operation: ", "Begin op: "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i]);
        if (!tts_span_begins(text, words[i]))
            continue;
        struct tts_span rest = {text.at + len, text.len - len};
        const char *line_end = memchr(rest.at, '\n', rest.len);
        rest.len = line_end ? (size_t)(line_end - rest.at) : rest.len;
        const char *quote = i == 0 ? memchr(rest.at, '"', rest.len) : rest.at;
        const char *equals = i == 0 ? tts_span_find(rest, "= ") : NULL;
        if (equals && (!quote || quote > equals + 3))
            quote = equals + 2;
        return quote && copy_op_name(out, text_from(rest, quote));
    }
    return false;
}

/* Searches backwards from the end of `text` for a line that names an operation. Copies the name
 * and returns its place in the text, or returns NULL. */
static const char *find_op_line(struct tts_span text, char out[TTS_FAILMSG_OP_MAX])
{
    for (const char *at = text.at + text.len; at-- > text.at;) {
        bool may_be = *at == 'E' || *at == 'L' || *at == 'B';
        if (may_be && read_op_line(out, text_from(text, at)))
            return at;
    }
    return NULL;
}

/* Searches backwards for a call of ttnn in a Python traceback, such as "ttnn.matmul(". Copies
 * the name and returns its place in the text, or returns NULL. */
static const char *find_python_call(struct tts_span text, char out[TTS_FAILMSG_OP_MAX])
{
    size_t low = text.len > PYTHON_BACK ? text.len - PYTHON_BACK : 0;
    for (size_t at = text.len; at-- > low;) {
        struct tts_span rest = {text.at + at, text.len - at};
        if (rest.at[0] != 't' || !tts_span_begins(rest, "ttnn."))
            continue;
        size_t len = 5;
        while (len < rest.len && is_op_byte(rest.at[len]))
            len++;
        if (len > 5 && len < rest.len && rest.at[len] == '(' &&
            copy_op_name(out, (struct tts_span){rest.at, len}))
            return rest.at;
    }
    return NULL;
}

/* Finds the operation of a message in the text before the message. Lines that were searched for
 * an earlier message are not searched again. Marks the operation as near, because it may be
 * another one. */
static void read_op_before(struct tts_failscan *scan, struct tts_failmsg *msg,
                           struct tts_span before, uint64_t offset)
{
    uint64_t low = offset - before.len;
    size_t known = scan->op_searched > low ? (size_t)(scan->op_searched - low) : 0;
    struct tts_span text = {before.at + known, before.len - known};
    const char *found = find_op_line(text, scan->op);
    if (found)
        scan->op_offset = low + (uint64_t)(found - before.at);
    else if (scan->op_offset < low)
        scan->op[0] = '\0';
    scan->op_searched = offset;
    if (scan->op[0] != '\0') {
        memcpy(msg->op, scan->op, sizeof msg->op);
        found = before.at + (scan->op_offset - low);
    } else {
        found = find_python_call(before, msg->op);
    }
    if (msg->op[0] == '\0')
        return;
    msg->op_is_near = true;
    msg->op_line = msg->line - count_breaks(found, before.at + before.len);
}

/* ---- messages ---- */

static void read_base(struct tts_failscan *scan, struct tts_span text)
{
    uint64_t value = 0;
    size_t at = sizeof base_phrase - 1, digits = 0;
    for (; at < text.len && is_hex_digit(text.at[at]) && digits < 8; at++, digits++)
        value = value * 16 + hex_value(text.at[at]);
    if (digits > 0)
        scan->l1_base = value;
}

/* Returns the raw text around the phrase at rest.at. The text begins HEAD_MAX bytes before the
 * phrase, even inside a line, but not before the end of the last message. So the lines before a
 * sentence have no influence on where the text begins. */
static struct tts_span text_around(const struct tts_failscan *scan, struct tts_span rest)
{
    uint64_t offset = tts_logtext_offset(&scan->text, rest.at);
    uint64_t low = offset > HEAD_MAX ? offset - HEAD_MAX : 0;
    size_t head = (size_t)(offset - (low < scan->done ? scan->done : low));
    size_t tail = rest.len < TAIL_MAX ? rest.len : TAIL_MAX;
    return (struct tts_span){rest.at - head, head + tail};
}

/* Returns true if text that is added later may change a message that ends at `to`, because its
 * line has no end yet. If `msg` is NULL, returns true if a message may still appear. */
static bool may_message_grow(const struct tts_failscan *scan, struct tts_span rest,
                             const struct tts_failmsg *msg, const char *to)
{
    if (!scan->is_growing || rest.len >= TAIL_MAX)
        return false;
    return !msg || msg->is_cut || !memchr(to, '\n', (size_t)(rest.at + rest.len - to));
}

enum message_answer { MESSAGE_NONE, MESSAGE_FOUND, MESSAGE_GROWS };

/* Reads the message that contains the phrase `phrase`, which begins at rest.at. */
static enum message_answer read_message(struct tts_failscan *scan, struct tts_span rest,
                                        size_t phrase, struct tts_failmsg *out)
{
    struct piece *piece = &scan->piece;
    struct tts_span raw = text_around(scan, rest);
    size_t line, at, begin, end;
    fill_piece(piece, raw, (size_t)(rest.at - raw.at));
    if (!find_in_piece(piece, (size_t)(rest.at - raw.at), &line, &at) ||
        !tts_failtemplate_find(&piece->lines, line, at, phrase, out, &begin, &end))
        return may_message_grow(scan, rest, NULL, NULL) ? MESSAGE_GROWS : MESSAGE_NONE;
    const char *from = raw.at + piece->origin[begin], *to = raw.at + piece->origin[end - 1] + 1;
    if (may_message_grow(scan, rest, out, to))
        return MESSAGE_GROWS;
    struct tts_span after = {to, (size_t)(rest.at + rest.len - to)};
    after.len = after.len < AHEAD ? after.len : AHEAD;
    scan->done = tts_logtext_offset(&scan->text, to);
    out->line = tts_logtext_line(&scan->text, from);
    out->l1_base = scan->l1_base;
    read_backtrace(out, after, out->line + count_breaks(from, to));
    uint64_t offset = tts_logtext_offset(&scan->text, from);
    size_t back = offset < BACK ? (size_t)offset : BACK;
    if (out->op[0] == '\0')
        read_op_before(scan, out, (struct tts_span){from - back, back}, offset);
    tts_logtext_unread(&scan->text, to);
    return MESSAGE_FOUND;
}

static size_t find_phrase_index(const struct tts_failscan *scan, struct tts_span rest)
{
    size_t idx = 0;
    while (idx < scan->phrase_count &&
           !(rest.len >= scan->phrases[idx].len && is_phrase_at(scan, idx, rest.at)))
        idx++;
    return idx;
}

enum tts_status tts_failscan_next(struct tts_failscan *scan, struct tts_failmsg *out,
                                  struct tts_error *err)
{
    struct tts_span rest;
    size_t ahead = scan->is_growing ? 0 : TAIL_MAX + AHEAD;
    while (tts_logtext_search(&scan->text, find_phrase, scan, ahead, &rest)) {
        size_t phrase = find_phrase_index(scan, rest);
        enum message_answer answer = MESSAGE_NONE;
        if (phrase + 1 == scan->phrase_count)
            read_base(scan, rest);
        else if (phrase < scan->phrase_count)
            answer = read_message(scan, rest, phrase, out);
        if (answer == MESSAGE_FOUND)
            return TTS_OK;
        if (answer == MESSAGE_GROWS)
            return TTS_E_NOT_FOUND;
        tts_logtext_unread(&scan->text, rest.at + 1);
    }
    if (scan->is_fed)
        return TTS_E_NOT_FOUND;
    enum tts_status status = tts_logtext_finish(&scan->text, err);
    return status == TTS_OK ? TTS_E_NOT_FOUND : status;
}

/* Opens a scan of `in`, or of fed bytes if `in` is NULL. */
static enum tts_status open_failscan(struct tts_input *in, const char *path,
                                     const struct tts_alloc *alloc, struct tts_failscan **out,
                                     struct tts_error *err)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_failscan *scan = alloc->alloc(alloc->ctx, sizeof *scan);
    if (!scan)
        return tts_error_set_errno(err, TTS_E_NOMEM, ENOMEM, "cannot read '%s'", path);
    memset(scan, 0, sizeof *scan);
    scan->alloc = alloc;
    scan->is_fed = !in;
    enum tts_status status =
        in ? tts_logtext_open_back(&scan->text, in, BACK + HEAD_MAX, alloc, err)
           : tts_logtext_open_fed(&scan->text, path, BACK + HEAD_MAX, alloc, err);
    if (status != TTS_OK) {
        alloc->free(alloc->ctx, scan, sizeof *scan);
        return status;
    }
    struct tts_span phrase;
    for (size_t i = 0; (phrase = tts_failphrase_at(i)).len > 0; i++)
        add_phrase(scan, phrase);
    add_phrase(scan, (struct tts_span){base_phrase, sizeof base_phrase - 1});
    index_probes(scan);
    *out = scan;
    return TTS_OK;
}

enum tts_status tts_failscan_new(struct tts_input *in, const struct tts_alloc *alloc,
                                 struct tts_failscan **out, struct tts_error *err)
{
    return open_failscan(in, tts_input_path(in), alloc, out, err);
}

enum tts_status tts_failscan_new_fed(const char *path, const struct tts_alloc *alloc,
                                     struct tts_failscan **out, struct tts_error *err)
{
    return open_failscan(NULL, path, alloc, out, err);
}

void tts_failscan_feed(struct tts_failscan *scan, const struct tts_logpiece *piece)
{
    tts_logtext_feed(&scan->text, piece);
}

void tts_failscan_free(struct tts_failscan *scan)
{
    if (!scan)
        return;
    const struct tts_alloc *alloc = scan->alloc;
    tts_logtext_close(&scan->text);
    alloc->free(alloc->ctx, scan, sizeof *scan);
}

void tts_failscan_follow(struct tts_failscan *scan)
{
    scan->is_growing = true;
}

bool tts_failscan_resume(struct tts_failscan *scan, bool is_quiet)
{
    uint64_t before = tts_logtext_facts(&scan->text).bytes, at = tts_logtext_tell(&scan->text);
    /* The last bytes of the text may be the beginning of a phrase, so search them again. */
    uint64_t least = before > TTS_FAILPHRASE_MAX ? before - TTS_FAILPHRASE_MAX : 0;
    least = least > scan->done ? least : scan->done;
    if (at > least)
        tts_logtext_unread(&scan->text, tts_logtext_at(&scan->text, least));
    bool may_grow = tts_logtext_resume(&scan->text);
    scan->is_growing = !is_quiet || tts_logtext_facts(&scan->text).bytes > before;
    return may_grow;
}

struct tts_logtext_facts tts_failscan_facts(const struct tts_failscan *scan)
{
    return tts_logtext_facts(&scan->text);
}

void tts_failscan_on_tick(struct tts_failscan *scan, void (*tick)(void *ctx, uint64_t taken),
                          void *ctx)
{
    tts_logtext_on_tick(&scan->text, tick, ctx);
}
