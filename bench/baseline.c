#include "baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 18, BUCKETS = 512, NONE = -1 };

struct id_array {
    int32_t *ids;
    size_t count, capacity;
};

struct entry {
    uint64_t address;
    int32_t id;
};

struct bucket {
    struct entry *entries;
    size_t count, capacity;
};

struct baseline {
    uint64_t size, offset, alignment;
    bool best;
    int classes;
    /* Indexed by block id; addresses are relative to the start of the pool. */
    uint64_t *address, *length;
    int32_t *prev, *next;
    bool *taken, *in_use;
    size_t blocks, blocks_capacity;
    struct id_array retired;
    struct id_array free_ids[CLASSES_MAX];
    struct bucket buckets[BUCKETS];
};

static void *must(void *memory)
{
    if (!memory) {
        fprintf(stderr, "bench: out of memory\n");
        exit(3);
    }
    return memory;
}

static void id_array_insert(struct id_array *a, size_t at, int32_t id)
{
    if (a->count == a->capacity) {
        a->capacity = a->capacity ? a->capacity * 2 : 16;
        a->ids = must(realloc(a->ids, a->capacity * sizeof(*a->ids)));
    }
    memmove(a->ids + at + 1, a->ids + at, (a->count - at) * sizeof(*a->ids));
    a->ids[at] = id;
    a->count++;
}

static void id_array_remove(struct id_array *a, size_t at)
{
    memmove(a->ids + at, a->ids + at + 1, (a->count - at - 1) * sizeof(*a->ids));
    a->count--;
}

static int class_of(const struct baseline *b, uint64_t bytes)
{
    uint64_t kib = bytes / 1024;
    int class = kib < 2 ? 0 : 63 - __builtin_clzll(kib);
    return class < b->classes ? class : b->classes - 1;
}

static size_t position_of(const struct baseline *b, const struct id_array *a, uint64_t address)
{
    size_t low = 0, high = a->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (b->address[a->ids[middle]] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void free_insert(struct baseline *b, int32_t id)
{
    struct id_array *a = &b->free_ids[class_of(b, b->length[id])];
    id_array_insert(a, position_of(b, a, b->address[id]), id);
}

/* Removes a block from its free list. Like the reference, searches the list from the front. */
static void free_remove(struct baseline *b, int32_t id)
{
    struct id_array *a = &b->free_ids[class_of(b, b->length[id])];
    size_t at = 0;
    while (a->ids[at] != id)
        at++;
    id_array_remove(a, at);
}

static struct bucket *bucket_of(struct baseline *b, uint64_t address)
{
    return &b->buckets[(address * UINT64_C(0x9E3779B97F4A7C15)) >> 55];
}

static void taken_insert(struct baseline *b, int32_t id)
{
    struct bucket *k = bucket_of(b, b->address[id]);
    if (k->count == k->capacity) {
        k->capacity = k->capacity ? k->capacity * 2 : 10;
        k->entries = must(realloc(k->entries, k->capacity * sizeof(*k->entries)));
    }
    k->entries[k->count++] = (struct entry){b->address[id], id};
}

static int32_t taken_remove(struct baseline *b, uint64_t address)
{
    struct bucket *k = bucket_of(b, address);
    for (size_t i = 0; i < k->count; i++) {
        if (k->entries[i].address == address) {
            int32_t id = k->entries[i].id;
            memmove(k->entries + i, k->entries + i + 1,
                    (k->count - i - 1) * sizeof(*k->entries));
            k->count--;
            return id;
        }
    }
    return NONE;
}

static void blocks_reserve(struct baseline *b, size_t capacity)
{
    b->address = must(realloc(b->address, capacity * sizeof(*b->address)));
    b->length = must(realloc(b->length, capacity * sizeof(*b->length)));
    b->prev = must(realloc(b->prev, capacity * sizeof(*b->prev)));
    b->next = must(realloc(b->next, capacity * sizeof(*b->next)));
    b->taken = must(realloc(b->taken, capacity * sizeof(*b->taken)));
    b->in_use = must(realloc(b->in_use, capacity * sizeof(*b->in_use)));
    b->blocks_capacity = capacity;
}

static int32_t block_new(struct baseline *b, uint64_t address, uint64_t length)
{
    int32_t id;
    if (b->retired.count) {
        id = b->retired.ids[--b->retired.count];
    } else {
        if (b->blocks == b->blocks_capacity)
            blocks_reserve(b, b->blocks_capacity * 2);
        id = (int32_t)b->blocks++;
    }
    b->address[id] = address;
    b->length[id] = length;
    b->prev[id] = b->next[id] = NONE;
    b->taken[id] = false;
    b->in_use[id] = true;
    return id;
}

static void link_after(struct baseline *b, int32_t first, int32_t second)
{
    int32_t third = b->next[first];
    b->next[first] = second;
    b->prev[second] = first;
    b->next[second] = third;
    if (third != NONE)
        b->prev[third] = second;
}

static void absorb_next(struct baseline *b, int32_t id)
{
    int32_t gone = b->next[id], after = b->next[gone];
    b->length[id] += b->length[gone];
    b->next[id] = after;
    if (after != NONE)
        b->prev[after] = id;
    b->in_use[gone] = false;
    id_array_insert(&b->retired, b->retired.count, gone);
}

/* The position of a free block that was found. */
struct found {
    int32_t id;
    struct id_array *list;
    size_t at;
};

static bool is_nearer(const struct baseline *b, int32_t id, int32_t than, bool up)
{
    return than == NONE || (b->address[id] < b->address[than]) == up;
}

/* Searches one size class. Like the reference, stops only at a block that fits and is nearer to
 * the wanted end than the block found in lower classes. If the class has no such block, this
 * visits the whole class. */
static void search_class(struct baseline *b, struct found *found, int class, uint64_t need,
                         bool up)
{
    struct id_array *a = &b->free_ids[class];
    for (size_t i = 0; i < a->count; i++) {
        size_t at = up ? i : a->count - 1 - i;
        int32_t id = a->ids[at];
        if (b->length[id] >= need && is_nearer(b, id, found->id, up)) {
            *found = (struct found){id, a, at};
            return;
        }
    }
}

static struct found search(struct baseline *b, uint64_t need, bool up)
{
    struct found found = {.id = NONE};
    for (int class = class_of(b, need); class < b->classes; class ++) {
        search_class(b, &found, class, need, up);
        if (b->best && found.id != NONE)
            break;
    }
    return found;
}

uint64_t baseline_take(struct baseline *b, uint64_t bytes, bool up)
{
    uint64_t need = bytes < b->alignment ? b->alignment : bytes;
    need = (need + b->alignment - 1) / b->alignment * b->alignment;
    struct found found = search(b, need, up);
    int32_t id = found.id;
    if (id == NONE)
        return UINT64_MAX;
    id_array_remove(found.list, found.at);
    uint64_t rest = b->length[id] - need;
    if (rest) {
        /* The taken part keeps the id, the rest gets a new id. */
        int32_t other = block_new(b, up ? b->address[id] + need : b->address[id], rest);
        if (up) {
            link_after(b, id, other);
        } else {
            b->address[id] += rest;
            int32_t before = b->prev[id];
            b->prev[other] = before;
            b->next[other] = id;
            b->prev[id] = other;
            if (before != NONE)
                b->next[before] = other;
        }
        b->length[id] = need;
        free_insert(b, other);
    }
    b->taken[id] = true;
    taken_insert(b, id);
    return b->address[id] + b->offset;
}

void baseline_give(struct baseline *b, uint64_t address)
{
    int32_t id = taken_remove(b, address - b->offset);
    if (id == NONE)
        return;
    b->taken[id] = false;
    int32_t prev = b->prev[id], next = b->next[id];
    if (prev != NONE && !b->taken[prev]) {
        free_remove(b, prev);
        absorb_next(b, prev);
        id = prev;
    }
    if (next != NONE && !b->taken[next]) {
        free_remove(b, next);
        absorb_next(b, id);
    }
    free_insert(b, id);
}

uint64_t baseline_largest_free(const struct baseline *b)
{
    uint64_t largest = 0, total = 0;
    for (size_t i = 0; i < b->blocks; i++) {
        if (!b->in_use[i])
            continue;
        if (b->taken[i])
            total += b->length[i];
        else if (b->length[i] > largest)
            largest = b->length[i];
    }
    return total ? largest : b->size;
}

size_t baseline_memory(const struct baseline *b)
{
    size_t bytes = sizeof(*b) + b->blocks_capacity * (8 + 8 + 4 + 4 + 1 + 1) +
                   b->retired.capacity * sizeof(int32_t);
    for (int i = 0; i < CLASSES_MAX; i++)
        bytes += b->free_ids[i].capacity * sizeof(int32_t);
    for (int i = 0; i < BUCKETS; i++)
        bytes += b->buckets[i].capacity * sizeof(struct entry);
    return bytes;
}

struct baseline *baseline_new(uint64_t size, uint64_t offset, uint64_t alignment, bool best)
{
    struct baseline *b = must(calloc(1, sizeof(*b)));
    b->size = size;
    b->offset = offset;
    b->alignment = alignment;
    b->best = best;
    uint64_t kib = size / 1024;
    int bits = kib ? 64 - __builtin_clzll(kib) : 0;
    b->classes = bits < 2 ? 2 : bits > CLASSES_MAX ? CLASSES_MAX : bits;
    blocks_reserve(b, 64);
    free_insert(b, block_new(b, 0, size));
    return b;
}

void baseline_free(struct baseline *b)
{
    if (!b)
        return;
    for (int i = 0; i < CLASSES_MAX; i++)
        free(b->free_ids[i].ids);
    for (int i = 0; i < BUCKETS; i++)
        free(b->buckets[i].entries);
    free(b->retired.ids);
    free(b->address);
    free(b->length);
    free(b->prev);
    free(b->next);
    free(b->taken);
    free(b->in_use);
    free(b);
}
