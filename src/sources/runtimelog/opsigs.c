#include "sources/runtimelog/opsigs.h"

#include "base/heap.h"
#include "base/seed.h"
#include "sources/runtimelog/optext.h"

#include <string.h>

void tts_opsigs_init(struct tts_opsigs *sigs, const struct tts_alloc *alloc)
{
    *sigs = (struct tts_opsigs){.alloc = alloc, .table = {.alloc = alloc}};
}

void tts_opsig_release(struct tts_opsig *sig, const struct tts_alloc *alloc)
{
    if (sig->types)
        alloc->free(alloc->ctx, sig->types, sig->capacity * sizeof *sig->types);
    *sig = (struct tts_opsig){0};
}

/* Frees a signature of the table with its copy of the text. */
static void free_table_sig(struct tts_opsig *sig, const struct tts_alloc *alloc)
{
    alloc->free(alloc->ctx, (char *)(uintptr_t)sig->text.at, sig->text.len);
    tts_opsig_release(sig, alloc);
    alloc->free(alloc->ctx, sig, sizeof *sig);
}

void tts_opsigs_release(struct tts_opsigs *sigs)
{
    for (size_t i = 0; i < sigs->count; i++)
        free_table_sig(sigs->sigs[i], sigs->alloc);
    if (sigs->sigs)
        sigs->alloc->free(sigs->alloc->ctx, sigs->sigs, sigs->capacity * sizeof *sigs->sigs);
    tts_hashtable_release(&sigs->table);
    *sigs = (struct tts_opsigs){0};
}

/* Hashes some pieces of the text; the whole text is compared afterwards. */
static uint32_t hash_sig_text(struct tts_span text)
{
    uint64_t hash = 0;
    size_t step = text.len / 24 + 1;
    for (size_t at = 0; at + 8 <= text.len; at += step) {
        uint64_t piece;
        memcpy(&piece, text.at + at, sizeof piece);
        hash = (hash ^ piece) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return tts_hashtable_mix(tts_seed(), hash, text.len);
}

static bool is_same_sig(const void *ctx, uint32_t place, const void *key)
{
    const struct tts_opsigs *sigs = ctx;
    const struct tts_span *text = key, *mine = &sigs->sigs[place]->text;
    return mine->len == text->len && memcmp(mine->at, text->at, text->len) == 0;
}

/* Reads the types of a list. Returns false if there is no memory. */
static bool read_sig_types(struct tts_opsig *sig, struct tts_span list, uint32_t *count,
                           const struct tts_alloc *alloc)
{
    struct tts_span item;
    while (tts_optext_next(&list, &item)) {
        size_t used = sig->inputs + sig->outputs;
        if (used == TTS_OPSIG_TYPES_MAX) {
            sig->is_cut = true;
            return true;
        }
        if (used == sig->capacity) {
            struct tts_optype *types =
                tts_alloc_grow(alloc, sig->types, &sig->capacity, used + 1, sizeof *types);
            if (!types)
                return false;
            sig->types = types;
        }
        tts_optype_read(item, &sig->types[used]);
        ++*count;
    }
    return true;
}

/* Reads the signature sig->text. Keeps the memory of an earlier one. */
static enum tts_status read_sig(struct tts_opsig *sig, const struct tts_alloc *alloc)
{
    struct tts_span inputs, outputs;
    sig->inputs = sig->outputs = 0;
    sig->is_cut = false;
    if (!tts_optext_signature(sig->text, &inputs, &outputs))
        return TTS_OK;
    return read_sig_types(sig, inputs, &sig->inputs, alloc) &&
                   read_sig_types(sig, outputs, &sig->outputs, alloc)
               ? TTS_OK
               : TTS_E_NOMEM;
}

/* Makes a signature with a copy of the text. Returns NULL if there is no memory. */
static struct tts_opsig *make_table_sig(struct tts_span text, const struct tts_alloc *alloc)
{
    struct tts_opsig *sig = alloc->alloc(alloc->ctx, sizeof *sig);
    char *copy = sig ? alloc->alloc(alloc->ctx, text.len) : NULL;
    if (!copy) {
        if (sig)
            alloc->free(alloc->ctx, sig, sizeof *sig);
        return NULL;
    }
    memcpy(copy, text.at, text.len);
    *sig = (struct tts_opsig){.text = {copy, text.len}};
    if (read_sig(sig, alloc) == TTS_OK)
        return sig;
    free_table_sig(sig, alloc);
    return NULL;
}

static enum tts_status add_sig(struct tts_opsigs *sigs, struct tts_span text, uint32_t hash)
{
    if (sigs->count == sigs->capacity) {
        struct tts_opsig **grown = tts_alloc_grow(sigs->alloc, sigs->sigs, &sigs->capacity,
                                                  sigs->count + 1, sizeof *grown);
        if (!grown)
            return TTS_E_NOMEM;
        sigs->sigs = grown;
    }
    struct tts_opsig *sig = make_table_sig(text, sigs->alloc);
    if (!sig)
        return TTS_E_NOMEM;
    enum tts_status status = tts_hashtable_add(&sigs->table, hash, (uint32_t)sigs->count);
    if (status != TTS_OK) {
        free_table_sig(sig, sigs->alloc);
        return status;
    }
    sigs->sigs[sigs->count++] = sig;
    sigs->bytes += text.len + sig->capacity * sizeof *sig->types + sizeof *sig;
    return TTS_OK;
}

enum tts_status tts_opsigs_find(struct tts_opsigs *sigs, struct tts_span text,
                                struct tts_opsig *spare, const struct tts_opsig **out)
{
    uint32_t hash = hash_sig_text(text);
    uint32_t place = tts_hashtable_find(&sigs->table, hash, is_same_sig, sigs, &text);
    enum tts_status status = TTS_OK;
    if (place == TTS_HASHTABLE_NONE && (text.len == 0 || sigs->bytes >= TTS_OPSIGS_BYTES)) {
        spare->text = text;
        status = read_sig(spare, sigs->alloc);
        *out = spare;
        return status;
    }
    if (place == TTS_HASHTABLE_NONE) {
        place = (uint32_t)sigs->count;
        status = add_sig(sigs, text, hash);
    }
    if (status == TTS_OK)
        *out = sigs->sigs[place];
    return status;
}
