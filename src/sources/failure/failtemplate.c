#include "sources/failure/failtemplate.h"

#include <assert.h>
#include <string.h>

enum { SENTENCE_MAX = 1024 }; /* longest sentence, in bytes */

/* A sentence of the runtime. A "%" and a letter stand for a value:
 *   %S requested   %K banks       %N need        %Z bank        %a allocated   %f free
 *   %l largest     %p program     %A address     %E end         %M limit       %m mesh
 *   %h alloc_end   %d free_end    %v live_end    %s size        %i index       %c count
 *   %P pool        %R cores       %T type of a core
 * If several templates match equally well, the first one is used. */
struct template
{
    enum tts_failmsg_family family;
    bool must_be_whole; /* only a complete match counts, because a part of the sentence says too
                           little */
    const char *text;
};

#define ALLOCATE "Out of Memory: Not enough space to allocate %S B %P buffer across %K banks, "
#define DEPEND                                                                                 \
    "Out of Memory: Not enough space after considering dependencies to allocate %S B %P "      \
    "across %K banks (%N B per bank)"
#define STORE ALLOCATE "where each bank needs to store %N B"
#define BANK "bank size is %Z B (allocated: %a B, free: %f B, largest free block: %l B)"

static const struct template templates[] = {
    {TTS_FAILMSG_V1, false, STORE},
    {TTS_FAILMSG_V2, false, STORE ", but bank size is only %Z B"},
    {TTS_FAILMSG_V3, false, STORE ", but " BANK},
    {TTS_FAILMSG_D1, false, DEPEND},
    {TTS_FAILMSG_D2, false, DEPEND ", " BANK},
    {TTS_FAILMSG_ADDR, false, "Out of Memory: Cannot allocate at an address below %M"},
    {TTS_FAILMSG_ADDR, false,
     "Out of Memory: Cannot allocate at an address below %M. Allocation at %A"},
    {TTS_FAILMSG_CB, false,
     "Statically allocated circular buffers in program %p clash with L1 buffers on core range "
     "%R. L1 buffer allocated at %A and static circular buffer region ends at %E"},
    {TTS_FAILMSG_DFB, false,
     "Statically allocated dataflow buffers in program %p clash with L1 buffers on core range "
     "%R. L1 buffer allocated at %A and static dataflow buffer region ends at %E"},
    {TTS_FAILMSG_SVC, false,
     "Circular buffers on service-core range %R in program %p clash with "
     "ServiceCoreManager-allocated L1 (lowest service allocation at %A, CB region ends at %E)"},
    {TTS_FAILMSG_CBMAX, false,
     "Statically allocated circular buffers on core range %R grow to %E B which is beyond max "
     "L1 size of %M B"},
    {TTS_FAILMSG_DFBMAX, false,
     "Statically allocated dataflow buffers on core range %R grow to %E B which is beyond max "
     "L1 size of %M B"},
    {TTS_FAILMSG_DFBRING, false,
     "DFB %i: ring size (%s bytes) exceeds Tensix unreserved L1 size (%M bytes)"},
    {TTS_FAILMSG_TRACE, false,
     "Creating trace buffers of size %SB on MeshDevice %m, but only %MB is allocated for trace "
     "region"},
    {TTS_FAILMSG_TOVER_BOTH, false,
     "Trace buffer at address %A overlaps with DRAM activity during trace capture. Allocation "
     "high water mark: %h, Deletion high water mark: %d"},
    {TTS_FAILMSG_TOVER_FREED, false,
     "Trace buffer at address %A overlaps with buffers deallocated during trace capture "
     "(deletion high water mark: %d)"},
    {TTS_FAILMSG_TOVER_ALLOCATED, false,
     "Trace buffer at address %A overlaps with buffers allocated during trace capture "
     "(allocation high water mark: %h)"},
    {TTS_FAILMSG_TOVER_LIVE, false,
     "Trace buffer at address %A overlaps with DRAM activity captured by another live trace "
     "(maximum live trace high water mark: %v)"},
    {TTS_FAILMSG_TRACKER, true, "Found %c device buffer(s) still alive before trace replay"},
    {TTS_FAILMSG_UNSAFE, true,
     "Allocating device buffers is unsafe due to the existence of an active trace."},
    {TTS_FAILMSG_UNSAFE, true,
     "Allocating device buffers is potentially unsafe due to the existence of an active "
     "trace."},
    {TTS_FAILMSG_RING, true, "Program size (%s) too large for kernel config buffer (%M) on %T"},
    {TTS_FAILMSG_CBSIZE, true,
     "Total circular buffer size %s B must be divisible by page size %M B"},
    {TTS_FAILMSG_CBINDEX, true,
     "Buffer index (%i) exceeds max number of circular buffers per core (%M)"},
    {TTS_FAILMSG_CBSLOTS, true,
     "Only %M circular buffer slots are available but data formats are specified for %c "
     "indices"},
    {TTS_FAILMSG_CBTWICE, true,
     "Invalid circular buffer index: Cannot add circular buffer at index %i, another circular "
     "buffer"},
    {TTS_FAILMSG_CBPAGES, true,
     "For buffer index %i, number of CB pages %c is greater than %M"},
    {TTS_FAILMSG_CBFORMAT, true,
     "Expected both data format and page size to be set for buffer index %i"},
    {TTS_FAILMSG_CBGLOBAL, true,
     "Cannot set circular buffer size to %s. This is larger than the associated dynamically "
     "allocated L1 buffer bank size of %M B"},
    {TTS_FAILMSG_CBGLOBAL, true,
     "Circular buffer size %s B exceeds allocated L1 buffer bank size of %M B"},
    {TTS_FAILMSG_CBGRID, true,
     "Circular buffer core range %R in program %p exceeds device compute grid"},
    {TTS_FAILMSG_DFBRULE, true,
     "DFB %i: ring size (%s bytes) must be a multiple of L1 alignment"},
    {TTS_FAILMSG_DFBRULE, true,
     "DFB %i: capacity %c exceeds the maximum %M (HW BUFFER_CAPACITY"},
    {TTS_FAILMSG_DFBRULE, true, "DFB %i: num_entries %c must be divisible by %M"},
    {TTS_FAILMSG_DFBRULE, true, "Cannot create DFB %i: every one of the %M slots"},
};

static const char *const phrases[] = {
    "Out of Memory: Not ",
    "enough space to allocate ",
    "enough space after ",
    "considering dependencies ",
    "Out of Memory: Cannot ",
    "allocate at an address below ",
    "Statically allocated ",
    "buffers in program ",
    "buffers on core range ",
    " buffer region ends at ",
    " beyond max L1 size of ",
    "Circular buffers on service-core",
    "ServiceCoreManager-allocated",
    " bytes) exceeds Tensix",
    " unreserved L1 size (",
    "Creating trace buffers of size ",
    " allocated for trace region",
    "Trace buffer at address ",
    " overlaps with buffers ",
    " overlaps with DRAM activity ",
    "Allocating device buffers is ",
    "existence of an active trace",
    "buffer(s) still alive ",
    "before trace replay",
    ") too large for ker",
    "nel config buffer (",
    "Total circular buffer size ",
    " must be divisible by ",
    " exceeds max number of ",
    "circular buffers per core (",
    "circular buffer slots are ",
    "data formats are specified ",
    "Invalid circular buffer index: ",
    "add circular buffer at index ",
    ", number of CB pages ",
    "Expected both data format and ",
    "to be set for buffer index ",
    "Cannot set circular buffer size ",
    "associated dynamically ",
    " exceeds allocated L1 buffer bank",
    "Circular buffer core range ",
    " exceeds device compute grid",
    " bytes) must be a multiple of ",
    " exceeds the maximum ",
    " (HW BUFFER_CAPACITY",
    ": every one of the ",
};

struct tts_span tts_failphrase_at(size_t idx)
{
    if (idx >= sizeof phrases / sizeof phrases[0])
        return (struct tts_span){0};
    size_t len = strlen(phrases[idx]);
    assert(len >= TTS_FAILPHRASE_MIN && len <= TTS_FAILPHRASE_MAX);
    return (struct tts_span){phrases[idx], len};
}

/* ---- values ---- */

static int find_template_field(char letter)
{
    static const char letters[] = "SKNZaflpAEMmhdvsic";
    static_assert(sizeof letters - 1 == TTS_FAILMSG_FIELDS, "one letter for each field");
    const char *found = strchr(letters, letter);
    return found ? (int)(found - letters) : -1;
}

/* A sentence joined from its lines, without the prefixes of the lines. A "\n" marks each place
 * where a line was broken. */
struct joined {
    char text[SENTENCE_MAX];
    uint32_t origin[SENTENCE_MAX];  /* place of each byte in the text of the piece */
    uint32_t columns[SENTENCE_MAX]; /* for each "\n": length of the line that it ends */
    size_t len;
};

/* The state while one template is matched. */
struct sentence_match {
    const struct joined *joined;
    size_t at;
    size_t last_break; /* place of the last "\n" that was passed; SIZE_MAX: none */
    struct tts_failmsg msg;
    unsigned fields;    /* number of values found so far */
    bool is_whole;      /* the whole template matches */
    bool is_number_end; /* the byte before `at` is the last digit of a number */
    int last_field;     /* field of the last number; -1: the number has no field */
};

static bool is_sentence_end(const struct sentence_match *m)
{
    return m->at == m->joined->len;
}

static char sentence_byte(const struct sentence_match *m)
{
    return m->joined->text[m->at];
}

static void skip_line_breaks(struct sentence_match *m)
{
    while (!is_sentence_end(m) && sentence_byte(m) == '\n')
        m->last_break = m->at++;
}

/* Skips blanks and line breaks. Returns false if none is at the current place. */
static bool skip_sentence_blanks(struct sentence_match *m)
{
    size_t begin = m->at;
    while (!is_sentence_end(m) &&
           (sentence_byte(m) == '\n' || tts_is_blank(sentence_byte(m)))) {
        if (sentence_byte(m) == '\n')
            m->last_break = m->at;
        m->at++;
    }
    return m->at > begin;
}

/* Returns true if the text after the line break at m->at continues the number before it. This
 * is so if the sentence was broken at the same column before. If it was not broken before, only
 * digits may follow. */
static bool is_number_broken(const struct sentence_match *m)
{
    const struct joined *joined = m->joined;
    if (m->last_break != SIZE_MAX)
        return joined->columns[m->last_break] == joined->columns[m->at];
    size_t at = m->at + 1;
    while (at < joined->len && tts_is_digit(joined->text[at]))
        at++;
    return at == joined->len && at > m->at + 1;
}

/* Reads a number and stores it in `field` (-1: nowhere). A line break inside the number is
 * skipped. If the number is the last value of the template, it is skipped only if
 * is_number_broken() says so. */
static bool match_number(struct sentence_match *m, int field, bool is_last)
{
    uint64_t value = 0;
    bool fits = true;
    size_t digits = 0, end = m->at;
    skip_line_breaks(m);
    while (!is_sentence_end(m)) {
        char c = sentence_byte(m);
        if (c == '\n' && digits > 0 && (!is_last || is_number_broken(m))) {
            m->last_break = m->at++;
            continue;
        }
        if (!tts_is_digit(c))
            break;
        fits = fits && !__builtin_mul_overflow(value, (uint64_t)10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(c - '0'), &value);
        digits++;
        end = ++m->at;
    }
    m->at = end;
    if (digits == 0)
        return false;
    if (field >= 0 && fits)
        m->msg.value[field] = value;
    if (field >= 0) {
        m->msg.known |= fits ? UINT32_C(1) << field : 0;
        m->msg.too_large |= fits ? 0 : UINT32_C(1) << field;
    }
    m->fields++;
    m->is_number_end = true;
    m->last_field = field;
    return true;
}

enum word_answer { WORD_NO, WORD_YES, WORD_CUT };

/* Matches a word, which may have line breaks in it. Returns WORD_CUT if the text ends inside
 * the word. */
static enum word_answer match_word(struct sentence_match *m, const char *word)
{
    struct sentence_match before = *m;
    for (; *word != '\0'; word++, m->at++) {
        skip_line_breaks(m);
        if (is_sentence_end(m) || sentence_byte(m) != *word) {
            bool is_cut = is_sentence_end(m);
            *m = before;
            return is_cut ? WORD_CUT : WORD_NO;
        }
    }
    return WORD_YES;
}

static bool match_pool(struct sentence_match *m)
{
    static const enum tts_pool pools[] = {TTS_POOL_L1_SMALL, TTS_POOL_L1, TTS_POOL_DRAM,
                                          TTS_POOL_TRACE};
    bool is_cut = false;
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++) {
        enum word_answer answer = match_word(m, tts_pool_name(pools[i]));
        is_cut = is_cut || answer == WORD_CUT;
        if (answer == WORD_YES) {
            m->msg.has_pool = true;
            m->msg.pool = pools[i];
            return true;
        }
    }
    m->at = is_cut ? m->joined->len : m->at;
    return false;
}

/* Copies characters of `allowed` up to and including `last`. If `last` is '\0', copies all
 * characters of `allowed`. Returns false if the end is missing or the text is too long. */
static bool match_text(struct sentence_match *m, const char *allowed, char last, char *out,
                       size_t capacity)
{
    size_t len = 0;
    for (;;) {
        skip_line_breaks(m);
        if (is_sentence_end(m) || len + 1 >= capacity)
            return false;
        char c = sentence_byte(m);
        if (c == '\0' || !strchr(allowed, c))
            return last == '\0' && len > 0;
        out[len++] = c;
        out[len] = '\0';
        m->at++;
        if (c == last)
            return true;
    }
}

static bool match_range(struct sentence_match *m)
{
    skip_line_breaks(m);
    bool is_set = !is_sentence_end(m) && sentence_byte(m) == '{';
    if (is_sentence_end(m) || (!is_set && sentence_byte(m) != '['))
        return false;
    return match_text(m, "[]{}()xy=,- 0123456789", is_set ? '}' : ']', m->msg.range,
                      sizeof m->msg.range);
}

/* Reads the name of a core type, which consists of letters and '_'. The text may end after the
 * name. */
static bool match_core_type(struct sentence_match *m)
{
    size_t len = 0;
    while (!is_sentence_end(m) && len + 1 < sizeof m->msg.core_type &&
           (tts_is_letter(sentence_byte(m)) || sentence_byte(m) == '_'))
        m->msg.core_type[len++] = m->joined->text[m->at++];
    m->msg.core_type[len] = '\0';
    return len > 0;
}

static bool match_value(struct sentence_match *m, char letter, bool is_last)
{
    switch (letter) {
    case 'P':
        return match_pool(m);
    case 'R':
        return match_range(m);
    case 'T':
        return match_core_type(m);
    default:
        return match_number(m, find_template_field(letter), is_last);
    }
}

/* ---- sentences ---- */

/* Forgets the last number if the match failed directly after it: some of its digits may be
 * missing. */
static void drop_last_number(struct sentence_match *m)
{
    if (!m->is_number_end)
        return;
    m->fields--;
    if (m->last_field >= 0) {
        m->msg.value[m->last_field] = 0;
        m->msg.known &= ~(UINT32_C(1) << m->last_field);
        m->msg.too_large &= ~(UINT32_C(1) << m->last_field);
    }
}

/* Matches the template with the joined text from its beginning, as far as possible. */
static struct sentence_match match_template(const struct joined *joined,
                                            const struct template *template)
{
    struct sentence_match m = {.joined = joined,
                               .last_break = SIZE_MAX,
                               .last_field = -1,
                               .msg = {.family = template->family, .is_cut = true}};
    for (const char *t = template->text; *t != '\0'; t++) {
        bool is_value = *t == '%', is_matched;
        if (is_value) {
            m.is_number_end = false;
            t++;
            is_matched = match_value(&m, *t, t[1] == '\0');
        } else if (*t == ' ') {
            is_matched = skip_sentence_blanks(&m);
        } else {
            skip_line_breaks(&m);
            is_matched = !is_sentence_end(&m) && sentence_byte(&m) == *t;
            m.at += is_matched;
        }
        if (!is_matched) {
            drop_last_number(&m);
            return m;
        }
        m.is_number_end = is_value && m.is_number_end;
    }
    m.is_whole = true;
    m.msg.is_cut = false;
    return m;
}

/* Returns true if `a` has more values than `b`, or as many values and a complete match. */
static bool is_match_better(const struct sentence_match *a, const struct sentence_match *b)
{
    if (a->fields != b->fields)
        return a->fields > b->fields;
    return a->is_whole && !b->is_whole;
}

static bool join_text(struct joined *joined, const struct tts_failpiece *piece, size_t from,
                      size_t to)
{
    for (size_t i = from; i < to; i++) {
        if (joined->len == SENTENCE_MAX)
            return false;
        joined->text[joined->len] = piece->text[i];
        joined->origin[joined->len++] = (uint32_t)i;
    }
    return true;
}

/* Appends a line break, and then line `line` from place `from` on. Returns false if there is no
 * room. */
static bool join_line(struct joined *joined, const struct tts_failpiece *piece, size_t line,
                      size_t from)
{
    const struct tts_failline *above = &piece->lines[line - 1];
    if (joined->len == SENTENCE_MAX)
        return false;
    joined->text[joined->len] = '\n';
    joined->columns[joined->len] = above->end - above->begin;
    joined->origin[joined->len++] = above->end;
    return join_text(joined, piece, from, piece->lines[line].end);
}

/* Returns the place `idx` where the line may continue a sentence. The second one is after the
 * words that the line before has too. They are a prefix only up to `column`, the column where
 * the sentence begins: the next line may be another message with almost the same words. */
static size_t line_start(const struct tts_failline *line, size_t idx, size_t column)
{
    if (idx == 1)
        return line->begin + (line->common < column ? line->common : column);
    return line->starts[idx == 0 ? 0 : idx - 1];
}

/* Appends the line `line` without its prefix and matches again. Tries all places where the text
 * of the line may begin, and stops at the first one where the match reaches the end of the
 * line. The sentence begins in column `column` of its first line. Returns false if the line
 * does not continue the sentence. */
static bool join_next_line(struct joined *joined, const struct tts_failpiece *piece,
                           size_t line, size_t column, const struct template *template,
                           struct sentence_match *match)
{
    struct sentence_match best = *match;
    size_t len = joined->len, best_start = SIZE_MAX;
    bool goes_on = false;
    for (size_t i = 0; i < piece->lines[line].start_count + 1 && !goes_on; i++) {
        size_t start = line_start(&piece->lines[line], i, column);
        joined->len = len;
        join_line(joined, piece, line, start);
        struct sentence_match m = match_template(joined, template);
        goes_on = m.at > best.at && (m.is_whole || m.at == joined->len);
        if (goes_on || is_match_better(&m, &best)) {
            best = m;
            best_start = start;
        }
    }
    joined->len = len;
    *match = best;
    return best_start != SIZE_MAX && join_line(joined, piece, line, best_start);
}

/* Returns true if the next line may continue the sentence: the match reached the end of the
 * text, and either the template has not ended or the text ends with a number. */
static bool may_go_on(const struct sentence_match *m)
{
    return m->at == m->joined->len && (!m->is_whole || m->is_number_end);
}

/* Matches the template with the text that begins at place `from` of line `line`, and adds
 * following lines as needed. */
static struct sentence_match match_lines(struct joined *joined,
                                         const struct tts_failpiece *piece, size_t line,
                                         size_t from, const struct template *template)
{
    size_t column = from - piece->lines[line].begin;
    joined->len = 0;
    join_text(joined, piece, from, piece->lines[line].end);
    struct sentence_match match = match_template(joined, template);
    while (may_go_on(&match) && line + 1 < piece->line_count &&
           join_next_line(joined, piece, line + 1, column, template, &match))
        line++;
    return match;
}

/* Returns true if the sentence is the beginning of a string, as in source code. A string that
 * is the value of a JSON member does not count, because logs are written like that. Used for
 * sentences without numbers. */
static bool is_quoted(const char *text, size_t line_begin, size_t begin)
{
    if (begin == line_begin || !strchr("\"'`", text[begin - 1]))
        return false;
    size_t at = begin - 1;
    while (at > line_begin && tts_is_blank(text[at - 1]))
        at--;
    return at == line_begin || text[at - 1] != ':';
}

static bool is_match_enough(const struct sentence_match *m, const struct template *template,
                            const struct tts_failpiece *piece, size_t line, size_t begin)
{
    if (template->family == TTS_FAILMSG_UNSAFE)
        return m->is_whole && !is_quoted(piece->text, piece->lines[line].begin, begin);
    return m->fields > 0 && (m->is_whole || !template->must_be_whole);
}

enum { TEMPLATES = sizeof templates / sizeof templates[0] };

/* The templates that have a phrase. */
struct candidates {
    const struct template *templates[TEMPLATES];
    size_t count;
};

static void find_candidates(struct candidates *out, size_t idx)
{
    out->count = 0;
    for (size_t i = 0; i < TEMPLATES; i++)
        if (strstr(templates[i].text, phrases[idx]))
            out->templates[out->count++] = &templates[i];
}

/* Returns whether the rest of a line begins with the first word of the template, or with as
 * much of it as the line has. Most places fail here. */
static bool may_begin(const struct template *template, const char *rest, size_t len)
{
    if (*rest != *template->text)
        return false;
    size_t word = strcspn(template->text, " %");
    return memcmp(rest, template->text, len < word ? len : word) == 0;
}

static bool may_any_begin(const struct candidates *candidates, const char *rest, size_t len)
{
    for (size_t i = 0; i < candidates->count; i++)
        if (may_begin(candidates->templates[i], rest, len))
            return true;
    return false;
}

/* Returns the place in the text of the piece after the last byte of the match, without the line
 * breaks at its end: a line break is not a byte of the text. */
static size_t find_match_end(const struct joined *joined, size_t at)
{
    while (at > 0 && joined->text[at - 1] == '\n')
        at--;
    return at > 0 ? joined->origin[at - 1] + 1 : 0;
}

/* Tries all candidates at the place `from` of line `line`. The sentence must reach beyond
 * `at`. */
static bool match_at(const struct tts_failpiece *piece, size_t line, size_t from, size_t at,
                     const struct candidates *candidates, struct tts_failmsg *out, size_t *end)
{
    struct joined joined;
    struct sentence_match best = {0};
    bool is_found = false;
    for (size_t i = 0; i < candidates->count; i++) {
        const struct template *template = candidates->templates[i];
        if (!may_begin(template, piece->text + from, piece->lines[line].end - from))
            continue;
        struct sentence_match m = match_lines(&joined, piece, line, from, template);
        size_t match_end = find_match_end(&joined, m.at);
        if (match_end <= at || !is_match_enough(&m, template, piece, line, from))
            continue;
        if (!is_found || is_match_better(&m, &best)) {
            best = m;
            *end = match_end;
        }
        is_found = true;
    }
    if (is_found)
        *out = best.msg;
    return is_found;
}

bool tts_failtemplate_find(const struct tts_failpiece *piece, size_t line, size_t at,
                           size_t idx, struct tts_failmsg *out, size_t *begin, size_t *end)
{
    struct candidates candidates;
    size_t least = line > TTS_FAILPIECE_BACK ? line - TTS_FAILPIECE_BACK : 0;
    find_candidates(&candidates, idx);
    for (size_t first = line + 1; first-- > least;) {
        size_t from = first == line ? at + 1 : piece->lines[first].end;
        while (from-- > piece->lines[first].begin) {
            if (may_any_begin(&candidates, piece->text + from,
                              piece->lines[first].end - from) &&
                match_at(piece, first, from, at, &candidates, out, end)) {
                *begin = from;
                return true;
            }
        }
    }
    return false;
}
