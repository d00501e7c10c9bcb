#include "oracle/usage_state.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *usage_grown(void *items, size_t *capacity, size_t item_bytes)
{
    *capacity = *capacity ? 2 * *capacity : 64;
    items = realloc(items, *capacity * item_bytes);
    if (items == NULL) {
        fputs("out of memory\n", stderr);
        exit(3);
    }
    return items;
}

struct usage_model *usage_model_new(const struct tts_tracker_config *limits,
                                    const struct usage_places *places)
{
    struct usage_model *model = calloc(1, sizeof *model);
    if (model == NULL)
        exit(3);
    model->limits = *limits;
    model->places = *places;
    model->records = usage_grown(NULL, &model->record_capacity, sizeof *model->records);
    usage_model_reset(model);
    return model;
}

void usage_model_free(struct usage_model *model)
{
    for (int d = 0; d < USAGE_DEVICES; d++)
        free(model->devices[d].things);
    free(model->live);
    free(model->records);
    free(model);
}

void usage_model_reset(struct usage_model *model)
{
    for (int d = 0; d < model->device_count; d++) {
        struct usage_device *device = &model->devices[d];
        device->thing_count = 0;
        memset(device->is_taken, 0, sizeof device->is_taken);
        memset(device->bytes, 0, sizeof device->bytes);
        device->trace_depth = 0;
    }
    model->live_count = 0;
    model->seq = 0;
    model->is_lost = false;
    memset(&model->health, 0, sizeof model->health);
    memset(&model->records[0], 0, sizeof model->records[0]);
    model->record_count = 1;
}

/* ---- devices ---- */

static int device_idx(struct usage_model *model, uint32_t id)
{
    for (int d = 0; d < model->device_count; d++) {
        if (model->devices[d].id == id)
            return d;
    }
    return -1;
}

int usage_enter_device(struct usage_model *model, uint32_t id)
{
    int d = device_idx(model, id);
    if (d >= 0 || model->device_count == (int)model->limits.devices_max)
        return d;
    assert(model->device_count < USAGE_DEVICES);
    model->devices[model->device_count] = (struct usage_device){.id = id, .mesh = -1};
    return model->device_count++;
}

bool usage_is_of(const struct usage_model *model, int d, int named)
{
    return d == named || (named >= 0 && model->devices[d].mesh == named);
}

static bool is_mesh(const struct usage_model *model, int d)
{
    for (int chip = 0; chip < model->device_count; chip++) {
        if (model->devices[chip].mesh == d)
            return true;
    }
    return false;
}

void usage_list(struct usage_watch *watch, int d)
{
    for (size_t i = 0; i < watch->listed_count; i++) {
        if (watch->listed[i] == d)
            return;
    }
    watch->listed[watch->listed_count++] = d;
}

/* Gives the chip everything that its mesh has and had. */
static void adopt(struct usage_model *model, int chip, int mesh)
{
    struct usage_device *to = &model->devices[chip], *from = &model->devices[mesh];
    assert(to->thing_count == 0);
    free(to->things);
    uint32_t id = to->id;
    *to = *from;
    to->id = id;
    to->mesh = mesh;
    to->things = NULL;
    to->thing_capacity = 0;
    while (to->thing_capacity < from->thing_count)
        to->things = usage_grown(to->things, &to->thing_capacity, sizeof *to->things);
    for (size_t i = 0; i < from->thing_count; i++)
        to->things[i] = from->things[i];
    for (size_t i = 0; i < model->record_count; i++) {
        struct usage_record *record = &model->records[i];
        memcpy(record->filled[chip], record->filled[mesh], sizeof record->filled[chip]);
        record->is_traced[chip] = record->is_traced[mesh];
        record->is_trace[chip] = record->is_trace[mesh];
    }
    for (int w = 0; w < USAGE_WATCHES; w++) {
        struct usage_watch *watch = &model->watches[w];
        memcpy(watch->totals[chip], watch->totals[mesh], sizeof watch->totals[chip]);
        for (size_t i = watch->listed_count; i-- > 0;) {
            if (watch->listed[i] == mesh)
                usage_list(watch, chip);
        }
    }
}

bool usage_model_chip(struct usage_model *model, uint32_t chip, uint32_t mesh)
{
    int part = device_idx(model, chip), whole = device_idx(model, mesh);
    if (part >= 0 && whole >= 0 && model->devices[part].mesh == whole)
        return true;
    if (chip == mesh || (part >= 0 && (model->devices[part].mesh >= 0 || is_mesh(model, part))))
        return false;
    if (whole >= 0 && model->devices[whole].mesh >= 0)
        return false;
    if (model->device_count + (part < 0) + (whole < 0) > (int)model->limits.devices_max)
        return false;
    whole = usage_enter_device(model, mesh);
    part = usage_enter_device(model, chip);
    adopt(model, part, whole);
    return true;
}

/* ---- live buffers and parts ---- */

void usage_model_health(const struct usage_model *model, struct tts_tracker_health *out)
{
    *out = model->health;
    out->events = model->seq;
}

size_t usage_model_live(const struct usage_model *model, struct tts_live *out, size_t capacity)
{
    for (size_t i = 0; i < model->live_count && i < capacity; i++)
        out[i] = model->live[i];
    return model->live_count;
}

size_t usage_model_things(const struct usage_model *model)
{
    size_t most = 0;
    for (int d = 0; d < model->device_count; d++) {
        size_t count = 0;
        for (size_t slot = 0; slot < USAGE_THINGS; slot++)
            count += model->devices[d].is_taken[slot];
        most = count > most ? count : most;
    }
    return most;
}

size_t usage_model_records(const struct usage_model *model)
{
    return model->record_count;
}
