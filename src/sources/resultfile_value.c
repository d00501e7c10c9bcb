#include "base/number.h"
#include "sources/resultfile_inside.h"

static bool opens(const struct tts_jsonpull_token *token)
{
    return token->kind == TTS_JSONPULL_OBJECT || token->kind == TTS_JSONPULL_ARRAY;
}

static uint64_t line_of(struct tts_result_reader *r)
{
    tts_jsonpull_mark(r->json);
    return tts_jsonpull_marked_line(r->json);
}

enum tts_status tts_result_pull(struct tts_result_reader *r, struct tts_jsonpull_token *token)
{
    return tts_jsonpull_next(r->json, token, r->err);
}

/* A value of the wrong kind. */
static enum tts_status refuse(struct tts_result_reader *r, struct tts_result_draft *draft,
                              const char *key, const struct tts_jsonpull_token *token,
                              const char *wanted)
{
    tts_runs_note(&draft->entry->run, line_of(r), "'%s' is not %s", key, wanted);
    return opens(token) ? tts_jsonpull_leave(r->json, r->err) : TTS_OK;
}

static bool signed_of(const struct tts_jsonpull_token *token, int64_t *out)
{
    if (token->kind != TTS_JSONPULL_NUMBER)
        return false; /* others have neither text nor value */
    uint64_t size = token->value;
    bool is_negative = token->len > 1 && token->text[0] == '-';
    if (!token->is_whole &&
        (!is_negative || tts_number_parse(token->text + 1, token->len - 1, &size) != TTS_OK))
        return false;
    if (size > (uint64_t)INT64_MAX)
        return false;
    *out = is_negative ? -(int64_t)size : (int64_t)size;
    return true;
}

enum tts_status tts_result_amount(struct tts_result_reader *r, struct tts_result_draft *draft,
                                  const char *key, struct tts_amount *out)
{
    struct tts_jsonpull_token token;
    int64_t bytes;
    enum tts_status status = tts_result_pull(r, &token);
    if (status != TTS_OK)
        return status;
    *out = (struct tts_amount){0};
    if (token.kind == TTS_JSONPULL_NULL)
        return TTS_OK;
    if (!signed_of(&token, &bytes))
        return refuse(r, draft, key, &token, "a number of bytes");
    *out = tts_amount_of(bytes);
    return TTS_OK;
}

enum tts_status tts_result_number(struct tts_result_reader *r, struct tts_result_draft *draft,
                                  const char *key, bool *is_there, uint64_t *out)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_result_pull(r, &token);
    if (status != TTS_OK)
        return status;
    *is_there = token.kind == TTS_JSONPULL_NUMBER && token.is_whole;
    *out = *is_there ? token.value : 0;
    if (*is_there || token.kind == TTS_JSONPULL_NULL)
        return TTS_OK;
    return refuse(r, draft, key, &token, "a whole number");
}

/* Nothing for null; a zero byte in it is its end. */
enum tts_status tts_result_text(struct tts_result_reader *r, struct tts_result_draft *draft,
                                const char *key, char *out, size_t capacity)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_result_pull(r, &token);
    if (status != TTS_OK)
        return status;
    memset(out, 0, capacity);
    if (token.kind == TTS_JSONPULL_STRING)
        tts_jsonpull_text(&token, out, capacity - 1);
    else if (token.kind != TTS_JSONPULL_NULL)
        return refuse(r, draft, key, &token, "a text");
    return TTS_OK;
}

enum tts_status tts_result_answer(struct tts_result_reader *r, struct tts_result_draft *draft,
                                  const char *key, bool *is_there, bool *out)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_result_pull(r, &token);
    if (status != TTS_OK)
        return status;
    *out = token.kind == TTS_JSONPULL_TRUE;
    *is_there = *out || token.kind == TTS_JSONPULL_FALSE;
    if (*is_there || token.kind == TTS_JSONPULL_NULL)
        return TTS_OK;
    return refuse(r, draft, key, &token, "true or false");
}

enum tts_status tts_result_flag(struct tts_result_reader *r, struct tts_result_draft *draft,
                                const char *key, bool *out)
{
    return tts_result_answer(r, draft, key, &(bool){0}, out);
}

enum tts_status tts_result_enter(struct tts_result_reader *r, struct tts_result_draft *draft,
                                 const char *key, enum tts_jsonpull_kind kind, bool *is_in)
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_result_pull(r, &token);
    *is_in = status == TTS_OK && token.kind == kind;
    if (status != TTS_OK || *is_in || token.kind == TTS_JSONPULL_NULL)
        return status;
    return refuse(r, draft, key, &token, kind == TTS_JSONPULL_ARRAY ? "a list" : "an object");
}

enum tts_status tts_result_key(struct tts_result_reader *r, char key[TTS_RESULT_KEY_MAX])
{
    struct tts_jsonpull_token token;
    enum tts_status status = tts_jsonpull_key(r->json, &token, r->err);
    memset(key, 0, TTS_RESULT_KEY_MAX);
    if (status != TTS_OK || token.kind == TTS_JSONPULL_OBJECT_END)
        return status;
    size_t len = tts_jsonpull_text(&token, key, TTS_RESULT_KEY_MAX - 1);
    /* One that is none, or too long to be ours, is none of them. */
    if (len == 0 || strlen(key) < len || token.len >= TTS_RESULT_KEY_MAX)
        memcpy(key, "?", 2);
    return TTS_OK;
}

enum tts_status tts_result_list(struct tts_result_reader *r, struct tts_result_draft *draft,
                                const char *key, tts_result_one_fn read_one)
{
    bool is_in;
    enum tts_status status = tts_result_enter(r, draft, key, TTS_JSONPULL_ARRAY, &is_in);
    while (is_in && status == TTS_OK) {
        struct tts_jsonpull_token token;
        status = tts_result_pull(r, &token);
        if (status != TTS_OK || token.kind == TTS_JSONPULL_ARRAY_END)
            return status;
        status = token.kind == TTS_JSONPULL_OBJECT
                     ? read_one(r, draft)
                     : refuse(r, draft, key, &token, "a list of objects");
    }
    return status;
}
