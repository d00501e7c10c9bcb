#include "sources/trainfile_inside.h"

#include "base/error.h"
#include "base/nearest.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum {
    LEVELS_MAX = 3,  /* the file, a section, a section in it */
    MERGES_MAX = 32, /* maps that wait to be merged into a section */
    SHAPE_MAX = 2,   /* numbers of mesh_shape */
    UNKNOWN_MAX = 63 /* bytes that are told of an unknown key */
};

/* A section. The maps of its '<<' are read after its own keys, which count more; the one on top
 * of the stack is next. */
struct level {
    enum tts_train_section section;
    bool is_merged; /* its own keys are over */
    uint32_t merge_line;
    struct tts_yaml_range merges[MERGES_MAX];
    size_t merge_count;
};

struct reader {
    struct tts_yaml yaml;
    struct tts_yaml_refs refs;
    const struct tts_trainfile_part *part;
    struct tts_trainfile *out;
    struct tts_trainfile_seen *seen;
    struct tts_error *err;
    uint32_t
        key_lines[TTS_TRAINFILE_KNOWN_MAX]; /* by the index of what is known; 0: not seen */
    struct level levels[LEVELS_MAX];
    size_t depth; /* of levels */
};

/* ---- tokens ---- */

static enum tts_status next(struct reader *r, struct tts_yaml_token *out)
{
    return tts_yaml_refs_next(&r->refs, out, r->err);
}

/* The first place that says so is kept. */
static void put_place(const struct reader *r, uint32_t *where, uint8_t *file, uint32_t line)
{
    if (*where == 0) {
        *where = line;
        *file = (uint8_t)r->part->file;
    }
}

static void flag_lora(const struct reader *r, uint32_t line)
{
    put_place(r, &r->out->lora_line, &r->out->lora_file, line);
}

static enum tts_status skip(struct reader *r, const struct tts_yaml_token *first)
{
    uint32_t lora_line;
    enum tts_status status = tts_train_skip(&r->refs, first, &lora_line, r->err);
    if (status == TTS_OK && lora_line > 0)
        flag_lora(r, lora_line);
    return status;
}

/* ---- keys ---- */

static struct level *level_of(struct reader *r)
{
    assert(r->depth > 0);
    return &r->levels[r->depth - 1];
}

static enum tts_train_section section_of(const struct reader *r)
{
    assert(r->depth > 0);
    return r->levels[r->depth - 1].section;
}

static void push_level(struct reader *r, enum tts_train_section section)
{
    assert(r->depth < LEVELS_MAX);
    r->levels[r->depth++] = (struct level){.section = section};
}

static const char *section_name(enum tts_train_section section)
{
    const struct tts_train_known *known = tts_train_known;
    while (known->action != TTS_ACT_ENTER || known->target != section)
        known++;
    assert(known < tts_train_known + tts_train_known_count);
    return known->name;
}

static enum tts_status suggest(const struct reader *r, const struct tts_yaml_token *token,
                               const char *best)
{
    enum tts_train_section section = section_of(r);
    if (section == TTS_SECTION_TOP)
        tts_error_set(r->err, TTS_E_NOT_FOUND,
                      "a configuration has no section '%.*s', did you mean '%s'?",
                      TTS_TRAINFILE_QUOTE_MAX, token->text, best);
    else
        tts_error_set(r->err, TTS_E_NOT_FOUND, "'%s' has no key '%.*s', did you mean '%s'?",
                      section_name(section), TTS_TRAINFILE_QUOTE_MAX, token->text, best);
    return tts_yaml_at_line(r->err, token->line, TTS_E_NOT_FOUND);
}

/* A key that is nearly one we know is a slip that would change the answer; any other, and one
 * of adapters, is of a program that we do not know. *out is NULL for that. */
static enum tts_status find_key(const struct reader *r, const struct tts_yaml_token *token,
                                const struct tts_train_known **out)
{
    enum tts_train_section section = section_of(r);
    struct tts_nearest nearest = {.word = token->text};
    *out = NULL;
    for (size_t i = 0; i < tts_train_known_count; i++) {
        const struct tts_train_known *known = &tts_train_known[i];
        if (known->section != section)
            continue;
        if (!token->unprintable && !token->too_long && strcmp(token->text, known->name) == 0) {
            *out = known;
            return TTS_OK;
        }
        tts_nearest_offer(&nearest, known->name);
    }
    bool is_slip = nearest.best && !tts_train_is_lora(token->text);
    return is_slip ? suggest(r, token, nearest.best) : TTS_OK;
}

static enum tts_status check_once(struct reader *r, const struct tts_train_known *known,
                                  uint32_t line)
{
    uint32_t *seen = &r->key_lines[known - tts_train_known];
    if (*seen != 0) {
        tts_error_set(r->err, TTS_E_SYNTAX, "'%s' stands twice, first in line %" PRIu32,
                      known->name, *seen);
        return tts_yaml_at_line(r->err, line, TTS_E_SYNTAX);
    }
    *seen = line;
    return TTS_OK;
}

static uint32_t key_line(const struct reader *r, const struct tts_train_known *known)
{
    return r->key_lines[known - tts_train_known];
}

static void count_unknown(const struct reader *r, const struct tts_yaml_token *token)
{
    struct tts_trainfile *out = r->out;
    static_assert(sizeof out->unknown_names[0] == UNKNOWN_MAX + 1, "the key and its end");
    if (out->unknown_keys < TTS_TRAINFILE_UNKNOWN)
        memcpy(out->unknown_names[out->unknown_keys], token->text, UNKNOWN_MAX);
    out->unknown_keys++;
    put_place(r, &out->unknown_line, &out->unknown_file, token->line);
}

/* A key with an anchor holds values for others: nothing that could be missed. */
static enum tts_status pass_unknown(struct reader *r, const struct tts_yaml_token *key)
{
    bool is_lora = tts_train_is_lora(key->text);
    struct tts_yaml_token value;
    enum tts_status status =
        is_lora ? next(r, &value) : tts_yaml_refs_raw(&r->refs, &value, r->err);
    if (status != TTS_OK)
        return status;
    if (is_lora && tts_train_is_meant(&value))
        flag_lora(r, key->line);
    bool is_holder = value.kind != TTS_YAML_ALIAS && value.anchor[0] != '\0';
    if (!is_lora && !is_holder)
        count_unknown(r, key);
    return skip(r, &value);
}

/* A merged key that the section has already. */
static enum tts_status pass_value(struct reader *r)
{
    struct tts_yaml_token value;
    uint32_t ignored;
    enum tts_status status = tts_yaml_refs_raw(&r->refs, &value, r->err);
    return status == TTS_OK ? tts_train_skip(&r->refs, &value, &ignored, r->err) : status;
}

/* ---- values ---- */

/* Whether a section counts in this file. */
static bool is_wanted(const struct reader *r, const struct tts_train_known *known)
{
    if (known->section != TTS_SECTION_TOP || known->action != TTS_ACT_ENTER)
        return true;
    if (known->target == TTS_SECTION_MODEL)
        return !r->part->without_model;
    return known->target == TTS_SECTION_MULTIHOST || !r->part->only_model;
}

static enum tts_status enter(struct reader *r, const struct tts_train_known *known,
                             const struct tts_yaml_token *token)
{
    uint32_t line = key_line(r, known);
    if (known->target == TTS_SECTION_TRAINING)
        r->seen->training_line = line;
    else if (known->target == TTS_SECTION_MODEL)
        r->seen->model_line = line;
    bool is_empty = token->kind == TTS_YAML_SCALAR && !token->quoted && !token->text[0];
    if (is_empty || tts_train_is_null(token))
        return TTS_OK;
    if (token->kind != TTS_YAML_MAP)
        return tts_train_refuse(r->err, TTS_E_SYNTAX, known->name, "a section of 'key: value'",
                                token);
    push_level(r, (enum tts_train_section)known->target);
    return TTS_OK;
}

static enum tts_status read_mesh(struct reader *r, const struct tts_train_known *known,
                                 const struct tts_yaml_token *first)
{
    static const char what[] = "two numbers from 1, such as [1, 8]";
    uint64_t shape[SHAPE_MAX];
    if (tts_train_is_null(first))
        return TTS_OK;
    if (first->kind != TTS_YAML_LIST)
        return tts_train_refuse(r->err, TTS_E_SYNTAX, known->name, what, first);
    for (size_t count = 0;; count++) {
        struct tts_yaml_token token;
        enum tts_status status = next(r, &token);
        if (status != TTS_OK)
            return status;
        bool is_end = token.kind == TTS_YAML_LIST_END;
        if (is_end && count == SHAPE_MAX)
            break;
        if (is_end || count == SHAPE_MAX) {
            tts_error_set(r->err, TTS_E_SYNTAX, "'%s' must be %s, and has %s", known->name,
                          what, is_end ? "fewer" : "more");
            return tts_yaml_at_line(r->err, token.line, TTS_E_SYNTAX);
        }
        status = tts_train_number(&token, known->name, &shape[count], r->err);
        if (status != TTS_OK)
            return status;
        if (shape[count] == 0)
            return tts_train_refuse(r->err, TTS_E_RANGE, known->name, what, &token);
    }
    memcpy(r->out->mesh_shape, shape, sizeof shape);
    r->out->mesh_line = first->line;
    return TTS_OK;
}

static void flag(const struct reader *r, const struct tts_train_known *known, uint32_t line)
{
    struct tts_trainfile *out = r->out;
    uint32_t *where = &out->moe_line;
    uint8_t *file = &out->moe_file;
    if (known->action == TTS_ACT_LORA) {
        where = &out->lora_line;
        file = &out->lora_file;
    } else if (known->action == TTS_ACT_GRPO) {
        where = &out->grpo_line;
        file = &out->grpo_file;
    } else if (known->action == TTS_ACT_PIPELINE || known->action == TTS_ACT_VALUE) {
        where = &out->pipeline_line;
        file = &out->pipeline_file;
    }
    put_place(r, where, file, line);
}

static enum tts_status read_value(struct reader *r, const struct tts_train_known *known,
                                  const struct tts_yaml_token *token)
{
    struct tts_trainfile_value value = {.file = (uint8_t)r->part->file};
    enum tts_status status = tts_train_value(known, token, &value, r->err);
    if (status != TTS_OK || !value.is_set)
        return status;
    *tts_train_field(r->out, known) = value;
    if (known->field == offsetof(struct tts_trainfile, multihost) && value.number)
        flag(r, known, token->line);
    return TTS_OK;
}

static enum tts_status read_known(struct reader *r, const struct tts_train_known *known)
{
    struct tts_yaml_token token;
    enum tts_status status = next(r, &token);
    if (status != TTS_OK)
        return status;
    if (!is_wanted(r, known))
        return skip(r, &token);
    switch ((enum tts_train_action)known->action) {
    case TTS_ACT_ENTER:
        return enter(r, known, &token);
    case TTS_ACT_VALUE:
        return read_value(r, known, &token);
    case TTS_ACT_MESH:
        return read_mesh(r, known, &token);
    case TTS_ACT_EXPERT_AXIS: /* 0 is an axis */
        if (token.kind != TTS_YAML_SCALAR ||
            (!tts_train_is_null(&token) && token.text[0] && strcmp(token.text, "-1") != 0))
            flag(r, known, key_line(r, known));
        break;
    case TTS_ACT_LORA:
    case TTS_ACT_PIPELINE:
    case TTS_ACT_EXPERTS:
    case TTS_ACT_GRPO:
        if (tts_train_is_meant(&token))
            flag(r, known, key_line(r, known));
        break;
    case TTS_ACT_MLP:
        if (tts_train_is_meant(&token))
            r->seen->mlp_line = key_line(r, known);
        break;
    case TTS_ACT_PASS:
        break;
    }
    return skip(r, &token);
}

/* ---- merge keys ---- */

/* Of several maps the first counts most, so it goes on top. */
static enum tts_status read_merge(struct reader *r, uint32_t line)
{
    struct level *level = level_of(r);
    struct tts_yaml_range maps[MERGES_MAX];
    size_t count;
    enum tts_status status =
        tts_yaml_refs_merge(&r->refs, maps, MERGES_MAX - level->merge_count, &count, r->err);
    if (status != TTS_OK)
        return status;
    for (size_t i = count; i > 0; i--)
        level->merges[level->merge_count++] = maps[i - 1];
    level->merge_line = line;
    return TTS_OK;
}

/* The section's own map has ended, or one that is merged into it. */
static enum tts_status end_map(struct reader *r)
{
    struct level *level = level_of(r);
    if (level->merge_count == 0) {
        r->depth--;
        return TTS_OK;
    }
    level->is_merged = true;
    struct tts_yaml_range map = level->merges[--level->merge_count];
    return tts_yaml_refs_replay(&r->refs, map, level->merge_line, r->err);
}

/* ---- the document ---- */

static enum tts_status read_pair(struct reader *r, const struct tts_yaml_token *key)
{
    if (key->kind != TTS_YAML_SCALAR) {
        tts_error_set(r->err, TTS_E_SYNTAX, "a key is a %s: write 'key: value'",
                      key->kind == TTS_YAML_MAP ? "map" : "list");
        return tts_yaml_at_line(r->err, key->line, TTS_E_SYNTAX);
    }
    const struct tts_train_known *known;
    if (!key->quoted && strcmp(key->text, "<<") == 0)
        return read_merge(r, key->line);
    enum tts_status status = find_key(r, key, &known);
    if (status != TTS_OK)
        return status;
    if (!known)
        return pass_unknown(r, key);
    if (level_of(r)->is_merged && key_line(r, known) > 0)
        return pass_value(r);
    status = check_once(r, known, key->line);
    return status == TTS_OK ? read_known(r, known) : status;
}

static enum tts_status read_maps(struct reader *r)
{
    push_level(r, TTS_SECTION_TOP);
    while (r->depth > 0) {
        struct tts_yaml_token token;
        enum tts_status status = next(r, &token);
        if (status == TTS_OK)
            status = token.kind == TTS_YAML_MAP_END ? end_map(r) : read_pair(r, &token);
        if (status != TTS_OK)
            return status;
    }
    return TTS_OK;
}

static enum tts_status expect_sections(const struct reader *r, const char *what, uint32_t line)
{
    tts_error_set(r->err, TTS_E_NOT_FOUND,
                  "%s: expected the sections 'training_config' or "
                  "'transformer_config' of tt-train",
                  what);
    return tts_yaml_at_line(r->err, line, TTS_E_NOT_FOUND);
}

/* Reads past the beginning of the map. */
static enum tts_status open_map(struct reader *r)
{
    struct tts_yaml_token token;
    enum tts_status status = next(r, &token);
    if (status == TTS_OK && token.kind == TTS_YAML_DOCUMENT)
        status = next(r, &token);
    if (status != TTS_OK)
        return status;
    if (token.kind == TTS_YAML_END || (token.kind == TTS_YAML_SCALAR && !token.text[0]))
        return expect_sections(r, "it is empty", 1);
    if (token.kind != TTS_YAML_MAP)
        return expect_sections(r, token.kind == TTS_YAML_LIST ? "it is a list" : "it is text",
                               token.line);
    return TTS_OK;
}

/* Nothing may follow the map. */
static enum tts_status close_document(struct reader *r)
{
    struct tts_yaml_token token;
    enum tts_status status = next(r, &token);
    assert(status != TTS_OK || token.kind == TTS_YAML_DOCUMENT_END);
    if (status == TTS_OK)
        status = next(r, &token);
    if (status != TTS_OK || token.kind == TTS_YAML_END)
        return status;
    tts_error_set(r->err, TTS_E_SYNTAX, "a second document begins, a configuration has one");
    return tts_yaml_at_line(r->err, token.line, TTS_E_SYNTAX);
}

/* A file with a mlp_config, and no transformer_config, is of a model that is not modelled. */
static enum tts_status check_sections(const struct reader *r)
{
    if (r->seen->mlp_line > 0 && r->seen->model_line == 0 && !r->part->without_model) {
        put_place(r, &r->out->mlp_line, &r->out->mlp_file, r->seen->mlp_line);
        r->seen->model_line = r->seen->mlp_line;
    }
    if (r->part->only_model && r->seen->model_line == 0) {
        tts_error_set(r->err, TTS_E_NOT_FOUND,
                      "no section 'transformer_config': the model "
                      "file of a GPT2 or Llama has one");
        return tts_yaml_at_line(r->err, 1, TTS_E_NOT_FOUND);
    }
    bool is_neither = r->seen->model_line == 0 && r->seen->training_line == 0;
    return is_neither ? expect_sections(r, "not a configuration", 1) : TTS_OK;
}

enum tts_status tts_trainfile_read(const char *text, size_t len,
                                   const struct tts_trainfile_part *part,
                                   struct tts_trainfile *out, struct tts_trainfile_seen *seen,
                                   struct tts_error *err)
{
    assert(part->file < TTS_TRAINFILE_FILES && !(part->only_model && part->without_model));
    if (len > TTS_TRAINFILE_MAX_BYTES) {
        tts_error_set(err, TTS_E_SYNTAX, "larger than a configuration can be (%d KiB)",
                      TTS_TRAINFILE_MAX_BYTES / 1024);
        return tts_yaml_at_line(err, tts_yaml_line_of(text, len, TTS_TRAINFILE_MAX_BYTES),
                                TTS_E_SYNTAX);
    }
    *seen = (struct tts_trainfile_seen){0};
    struct reader r = {.part = part, .out = out, .seen = seen, .err = err};
    enum tts_status status = tts_yaml_open(&r.yaml, text, len, err);
    if (status != TTS_OK)
        return status;
    tts_yaml_refs_init(&r.refs, &r.yaml, NULL);
    status = open_map(&r);
    if (status == TTS_OK)
        status = read_maps(&r);
    if (status == TTS_OK)
        status = close_document(&r);
    if (status == TTS_OK)
        status = check_sections(&r);
    tts_yaml_refs_release(&r.refs);
    tts_yaml_close(&r.yaml);
    return status;
}
