#include "sources/runtimelog/optext.h"

#include <string.h>

/* ---- brackets ---- */

/* Returns the offset after the quoted text that begins at `at`, or the length of the text if
 * the quote is not closed. */
static size_t skip_quoted(struct tts_span text, size_t at)
{
    for (at++; at < text.len; at++) {
        if (text.at[at] == '\\')
            at++;
        else if (text.at[at] == '"')
            return at + 1;
    }
    return text.len;
}

/* Returns how the character at `at` changes the depth of brackets. The '>' of an arrow is no
 * bracket. */
static int bracket_step(struct tts_span text, size_t at)
{
    switch (text.at[at]) {
    case '(':
    case '[':
    case '{':
    case '<':
        return 1;
    case ')':
    case ']':
    case '}':
        return -1;
    case '>':
        return at > 0 && text.at[at - 1] == '-' ? 0 : -1;
    default:
        return 0;
    }
}

/* Returns the offset after the bracket that closes the one at `at`. Returns the length of the
 * text if none does. */
static size_t skip_brackets(struct tts_span text, size_t at)
{
    int depth = 0;
    while (at < text.len) {
        if (text.at[at] == '"') {
            at = skip_quoted(text, at);
            continue;
        }
        depth += bracket_step(text, at++);
        if (depth <= 0)
            return at;
    }
    return text.len;
}

/* ---- parts of an operation ---- */

static struct tts_span text_from(struct tts_span text, size_t at)
{
    return (struct tts_span){text.at + at, text.len - at};
}

static size_t skip_blanks(struct tts_span text, size_t at)
{
    while (at < text.len && text.at[at] == ' ')
        at++;
    return at;
}

static bool is_value_char(char c)
{
    return tts_is_letter(c) || tts_is_digit(c) || c == '_' || c == '$' || c == '.' || c == '-';
}

static size_t skip_value_name(struct tts_span text, size_t at)
{
    while (at < text.len && is_value_char(text.at[at]))
        at++;
    return at;
}

/* Reads "%2 = " or "%2:3 = ". Returns the offset after it, or 0 if there is no result. */
static size_t read_result(struct tts_span text, struct tts_optext *out)
{
    size_t end = text.len > 0 && text.at[0] == '%' ? skip_value_name(text, 1) : 0, at = end;
    uint32_t count = 1;
    if (end < 2)
        return 0;
    if (at < text.len && text.at[at] == ':')
        for (at++, count = 0; at < text.len && tts_is_digit(text.at[at]); at++)
            count = count < 100000 ? count * 10 + (uint32_t)(text.at[at] - '0') : count;
    if (!tts_span_begins(text_from(text, at), " = "))
        return 0;
    out->result = (struct tts_span){text.at, end};
    out->results = count;
    return at + 3;
}

/* Reads the name, with or without quotes, and a callee after it. Returns the offset of the
 * operands, or 0 if there is no name. */
static size_t read_op_name(struct tts_span text, size_t at, struct tts_optext *out)
{
    size_t begin = at, end;
    if (at < text.len && text.at[at] == '"') {
        at = skip_quoted(text, at);
        if (at < begin + 3 || text.at[at - 1] != '"')
            return 0;
        out->name = (struct tts_span){text.at + begin + 1, at - begin - 2};
    } else {
        at = skip_value_name(text, at);
        out->name = (struct tts_span){text.at + begin, at - begin};
        end = skip_blanks(text, at);
        if (end > at && end < text.len && text.at[end] == '@') {
            at = skip_value_name(text, end + 1);
            out->callee = (struct tts_span){text.at + end + 1, at - end - 1};
        }
    }
    return out->name.len > 0 && at < text.len && text.at[at] == '(' ? at : 0;
}

/* Takes the callee and the brackets of "@function, [%arg0, %arg1]" away. */
static void read_cached_operands(struct tts_optext *out)
{
    struct tts_span text = out->operands;
    size_t end = skip_value_name(text, 1);
    out->callee = (struct tts_span){text.at + 1, end - 1};
    text = text_from(text, end);
    if (!tts_span_begins(text, ", ")) {
        out->operands = text_from(text, text.len);
        return;
    }
    text = text_from(text, 2);
    if (text.len >= 2 && text.at[0] == '[' && text.at[text.len - 1] == ']')
        text = (struct tts_span){text.at + 1, text.len - 2};
    out->operands = text;
}

enum { LOC_TRIES = 16 }; /* places that are tried; a name may contain the text " loc(" */

/* Reads the location at the end of the text and removes it from *rest. */
static void read_loc(struct tts_span *rest, struct tts_optext *out)
{
    static const char begin[] = " loc(";
    size_t len = sizeof begin - 1, at = rest->len;
    if (rest->len < len + 1 || rest->at[rest->len - 1] != ')')
        return;
    for (int tries = LOC_TRIES; tries > 0 && at-- > 0;) {
        if (rest->at[at] != ' ' || !tts_span_begins(text_from(*rest, at), begin))
            continue;
        tries--;
        if (skip_brackets(*rest, at + len - 1) != rest->len)
            continue; /* inside of a name */
        out->loc = (struct tts_span){rest->at + at + len, rest->len - at - len - 1};
        rest->len = at;
        return;
    }
}

bool tts_optext_read(struct tts_span text, struct tts_optext *out)
{
    *out = (struct tts_optext){0};
    size_t at = read_op_name(text, read_result(text, out), out);
    if (at == 0)
        return false;
    size_t end = skip_brackets(text, at);
    bool is_closed = text.at[end - 1] == ')' && end > at + 1;
    out->operands = (struct tts_span){text.at + at + 1, end - at - 1 - is_closed};
    if (out->operands.len > 0 && out->operands.at[0] == '@')
        read_cached_operands(out);
    at = skip_blanks(text, end);
    if (tts_span_begins(text_from(text, at), "<{")) {
        end = skip_brackets(text, at);
        bool is_whole = text.at[end - 1] == '>' && end >= at + 4;
        out->attributes = (struct tts_span){text.at + at + 1, end - at - 1 - is_whole};
        at = skip_blanks(text, end);
    }
    if (at < text.len && text.at[at] == '{') /* further attributes, which no reader needs */
        at = skip_blanks(text, skip_brackets(text, at));
    struct tts_span rest = text_from(text, at);
    if (tts_span_begins(rest, ": ")) {
        rest = text_from(rest, 2);
        read_loc(&rest, out);
        out->signature = rest;
    }
    out->is_whole = is_closed && out->signature.len > 0;
    return true;
}

/* ---- lists ---- */

bool tts_optext_next(struct tts_span *list, struct tts_span *item)
{
    size_t at = 0;
    if (list->len == 0)
        return false;
    while (at < list->len && list->at[at] != ',') {
        if (list->at[at] == '"')
            at = skip_quoted(*list, at);
        else if (bracket_step(*list, at) > 0)
            at = skip_brackets(*list, at);
        else
            at++;
    }
    *item = tts_span_trim((struct tts_span){list->at, at});
    *list = text_from(*list, at + (at < list->len));
    return true;
}

bool tts_optext_signature(struct tts_span signature, struct tts_span *inputs,
                          struct tts_span *outputs)
{
    if (signature.len == 0 || signature.at[0] != '(')
        return false;
    size_t end = skip_brackets(signature, 0);
    struct tts_span rest = text_from(signature, end);
    if (signature.at[end - 1] != ')' || end < 2 || !tts_span_begins(rest, " -> "))
        return false;
    *inputs = (struct tts_span){signature.at + 1, end - 2};
    *outputs = text_from(rest, 4);
    if (outputs->len >= 2 && outputs->at[0] == '(' &&
        skip_brackets(*outputs, 0) == outputs->len)
        *outputs = (struct tts_span){outputs->at + 1, outputs->len - 2};
    return true;
}

/* ---- locations ---- */

struct loc_name {
    char *out;
    size_t capacity, len;
};

static void add_loc_text(struct loc_name *name, struct tts_span text)
{
    size_t room = name->capacity - name->len;
    if (room < 4)
        return;
    tts_span_copy(name->out + name->len, room, text);
    name->len += strlen(name->out + name->len);
}

/* Adds the quoted text at `at` and the ":line:column" after it. Returns the offset after
 * them. */
static size_t add_loc_quoted(struct loc_name *name, struct tts_span loc, size_t at)
{
    size_t end = skip_quoted(loc, at);
    size_t len = end - at - 1;
    len -= len > 0 && loc.at[end - 1] == '"';
    add_loc_text(name, (struct tts_span){loc.at + at + 1, len});
    size_t more = end;
    while (more < loc.len && (loc.at[more] == ':' || tts_is_digit(loc.at[more])))
        more++;
    add_loc_text(name, (struct tts_span){loc.at + end, more - end});
    return more;
}

void tts_optext_loc_name(struct tts_span loc, char *out, size_t capacity)
{
    struct loc_name name = {.out = out, .capacity = capacity};
    bool has_all = tts_span_begins(loc, "fused") || tts_span_begins(loc, "callsite");
    out[0] = '\0';
    for (size_t at = 0; at < loc.len;) {
        if (loc.at[at] != '"') {
            at++;
            continue;
        }
        if (name.len > 0)
            add_loc_text(&name, (struct tts_span){", ", 2});
        at = add_loc_quoted(&name, loc, at);
        if (!has_all)
            return;
    }
    if (name.len == 0)
        add_loc_text(&name, loc);
}
