#include "model/opnames.h"

#include "base/compiler.h"
#include "base/heap.h"

#include <assert.h>
#include <string.h>

enum { FIRST_NAME = TTS_OPNAMES_OTHER + 1 };

struct name {
    uint64_t hash;
    char text[TTS_OP_NAME_MAX + 1];
};

/* The names and a hash table of their indices. The lower bits of a hash are the first slot to
 * look at. An empty slot has 0. */
struct tts_opnames {
    /* Hash and result of the last search: an operation often allocates several buffers in a
     * row. */
    uint64_t last_hash;
    uint32_t last_idx;
    uint32_t mask, count, max;
    uint32_t *table;
    struct name *names;
    const struct tts_alloc *alloc;
};

static size_t table_width(uint32_t max)
{
    size_t width = 1;
    while (width < 2 * (size_t)max)
        width *= 2;
    return width;
}

enum tts_status tts_opnames_new(uint32_t max, const struct tts_alloc *alloc,
                                struct tts_opnames **out)
{
    if (max == 0 || max > UINT32_C(1) << 24)
        return TTS_E_INVALID;
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_opnames *names = alloc->alloc(alloc->ctx, sizeof(*names));
    if (!names)
        return TTS_E_NOMEM;
    *names = (struct tts_opnames){.max = max, .alloc = alloc};
    size_t width = table_width(max);
    names->table = alloc->alloc(alloc->ctx, width * sizeof(*names->table));
    names->names = alloc->alloc(alloc->ctx, max * sizeof(*names->names));
    if (!names->table || !names->names) {
        tts_opnames_free(names);
        return TTS_E_NOMEM;
    }
    memset(names->table, 0, width * sizeof(*names->table));
    names->mask = (uint32_t)width - 1;
    *out = names;
    return TTS_OK;
}

void tts_opnames_free(struct tts_opnames *names)
{
    if (!names)
        return;
    const struct tts_alloc *alloc = names->alloc;
    size_t width = table_width(names->max);
    if (names->table)
        alloc->free(alloc->ctx, names->table, width * sizeof(*names->table));
    if (names->names)
        alloc->free(alloc->ctx, names->names, names->max * sizeof(*names->names));
    alloc->free(alloc->ctx, names, sizeof(*names));
}

static uint64_t mix_name_hash(uint64_t hash, uint64_t word)
{
    uint64_t a = hash ^ word, b = UINT64_C(0xa0761d6478bd642f);
    return (a * b ^ tts_mul_high(a, b)) + UINT64_C(0x9e3779b97f4a7c15);
}

/* Returns the byte, or '?' for a control character, because names are printed. */
static unsigned char printable_byte(char c)
{
    unsigned char byte = (unsigned char)c;
    return byte < ' ' || byte == 0x7f ? '?' : byte;
}

/* Like printable_byte(), for eight bytes at once. Most words need no change. */
static uint64_t printable_word(const char *bytes)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    char kept[sizeof(uint64_t)];
    uint64_t word, rub;
    memcpy(&word, bytes, sizeof(word));
    rub = word ^ 0x7f * ones;
    uint64_t found = ((word - ' ' * ones) & ~word) | ((rub - ones) & ~rub);
    if (TTS_LIKELY((found & ones << 7) == 0))
        return word;
    for (size_t i = 0; i < sizeof(kept); i++)
        kept[i] = (char)printable_byte(bytes[i]);
    memcpy(&word, kept, sizeof(word));
    return word;
}

void tts_opnames_cut(const char **name, size_t *len)
{
    if (*len <= TTS_OP_NAME_MAX)
        return;
    *name += *len - TTS_OP_NAME_MAX;
    *len = TTS_OP_NAME_MAX;
    /* Drop the rest of a character that the cut split: at most three bytes. */
    for (int i = 0; i < 3 && ((unsigned char)**name & 0xc0) == 0x80; i++) {
        *name += 1;
        *len -= 1;
    }
}

uint64_t tts_opnames_hash(const char *name, size_t len)
{
    assert(name || len == 0);
    if (TTS_UNLIKELY(len > TTS_OP_NAME_MAX))
        tts_opnames_cut(&name, &len);
    uint64_t hash = UINT64_C(0xe7037ed1a0b428db), word;
    size_t i = 0;
    for (; len - i >= sizeof(word); i += sizeof(word))
        hash = mix_name_hash(hash, printable_word(name + i));
    for (word = 0; i < len; i++)
        word = word << 8 | printable_byte(name[i]);
    hash = mix_name_hash(mix_name_hash(hash, word), len);
    return hash ? hash : 1;
}

size_t tts_opnames_copy(char out[TTS_OP_NAME_MAX], const char *name, size_t len)
{
    tts_opnames_cut(&name, &len);
    for (size_t i = 0; i < len; i++)
        out[i] = (char)printable_byte(name[i]);
    return len;
}

/* Returns the slot of a hash, or the empty slot where the hash would be stored. */
static uint32_t *name_slot(const struct tts_opnames *names, uint64_t hash)
{
    assert(names->count <= names->mask); /* otherwise the loop would not end */
    uint32_t i = (uint32_t)hash & names->mask;
    while (names->table[i] && names->names[names->table[i] - FIRST_NAME].hash != hash)
        i = (i + 1) & names->mask;
    return &names->table[i];
}

void tts_opnames_add(struct tts_opnames *names, uint64_t hash, const char *name, size_t len)
{
    assert(hash != 0 && (name || len == 0));
    uint32_t *slot = name_slot(names, hash);
    if (*slot || names->count == names->max)
        return;
    struct name *kept = &names->names[names->count];
    kept->hash = hash;
    kept->text[tts_opnames_copy(kept->text, name, len)] = '\0';
    *slot = FIRST_NAME + names->count++;
    names->last_hash = 0;
}

uint32_t tts_opnames_find(struct tts_opnames *names, uint64_t hash)
{
    if (hash == 0)
        return TTS_OPNAMES_NONE;
    if (hash != names->last_hash) {
        uint32_t idx = *name_slot(names, hash);
        names->last_hash = hash;
        names->last_idx = idx ? idx : TTS_OPNAMES_OTHER;
    }
    return names->last_idx;
}

const char *tts_opnames_text(const struct tts_opnames *names, uint32_t idx)
{
    if (idx == TTS_OPNAMES_NONE)
        return NULL;
    if (idx == TTS_OPNAMES_OTHER)
        return "(other)";
    assert(idx - FIRST_NAME < names->count);
    return names->names[idx - FIRST_NAME].text;
}
