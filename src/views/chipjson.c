/* chipjson.c: chips as JSON, for chipview.h. */
#include "views/chipview.h"

#include <assert.h>

static const char no_source[] = "nothing that we know of states it, set it";

/* --- pools ------------------------------------------------------------------------------ */

static void put_layout(struct tts_json *json, const struct tts_pool_layout *layout)
{
    tts_json_number(json, "banks", layout->banks);
    tts_json_number(json, "bank_bytes", layout->bank_bytes);
    tts_json_number(json, "offset", layout->offset_bytes);
    tts_json_number(json, "alignment", layout->block_alignment_bytes);
    tts_json_number(json, "page_alignment", layout->page_alignment_bytes);
    tts_json_number(json, "nominal_bank_bytes", layout->nominal_bytes);
    tts_json_text(json, "direction", layout->direction == TTS_DIRECTION_UP ? "up" : "down");
}

static void put_no_layout(struct tts_json *json, const char *reason)
{
    static const char *const keys[] = {"banks",     "bank_bytes",     "offset",
                                       "alignment", "page_alignment", "nominal_bank_bytes",
                                       "direction"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        tts_json_null(json, keys[i]);
    tts_json_text(json, "reason", reason);
}

static void put_pools(struct tts_json *json, const struct tts_chip *chip)
{
    tts_json_array(json, "pools");
    for (size_t i = 0; i < TTS_POOLS; i++) {
        struct tts_pool_layout layout;
        struct tts_error err;
        tts_json_object(json, NULL);
        tts_json_text(json, "pool", tts_pool_name((enum tts_pool)i));
        if (tts_chip_pool(chip, (enum tts_pool)i, &layout, &err) == TTS_OK)
            put_layout(json, &layout);
        else
            put_no_layout(json, err.text);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

/* --- facts ------------------------------------------------------------------------------ */

static void put_value(struct tts_json *json, enum tts_fact_key key, const struct tts_fact *fact)
{
    char text[TTS_FACT_TEXT_MAX];
    enum tts_unit unit = tts_fact_unit(key);
    if (fact->origin == TTS_ORIGIN_UNKNOWN) {
        tts_json_null(json, "value");
        return;
    }
    if (unit == TTS_UNIT_BYTES || unit == TTS_UNIT_COUNT)
        tts_json_number(json, "value", fact->value);
    else
        tts_json_text(json, "value", tts_fact_text(key, fact, text));
    if (unit == TTS_UNIT_GRID) {
        tts_json_number(json, "columns", TTS_GRID_COLUMNS(fact->value));
        tts_json_number(json, "rows", TTS_GRID_ROWS(fact->value));
    }
}

static void put_facts(struct tts_json *json, const struct tts_chip *chip)
{
    tts_json_object(json, "facts");
    for (size_t i = 0; i < TTS_FACTS; i++) {
        enum tts_fact_key key = (enum tts_fact_key)i;
        const struct tts_fact *fact = &chip->fact[key];
        tts_json_object(json, tts_fact_name(key));
        put_value(json, key, fact);
        tts_json_text(json, "origin", tts_origin_name(fact->origin));
        tts_json_text_or_null(json, "source", fact->source);
        if (fact->origin == TTS_ORIGIN_UNKNOWN)
            tts_json_text(json, "reason", no_source);
        tts_json_text(json, "meaning", tts_fact_meaning(key));
        tts_json_object_end(json);
    }
    tts_json_object_end(json);
}

/* --- presets ---------------------------------------------------------------------------- */

static void put_grid(struct tts_json *json, const struct tts_fact *grid)
{
    char text[TTS_FACT_TEXT_MAX];
    bool known = grid->origin != TTS_ORIGIN_UNKNOWN;
    tts_json_text_or_null(json, "grid",
                          known ? tts_fact_text(TTS_FACT_GRID, grid, text) : NULL);
    tts_json_text(json, "grid_origin", tts_origin_name(grid->origin));
}

static void put_chip(struct tts_json *json, const struct tts_chip *chip,
                     const struct tts_preset *preset, bool facts)
{
    const struct tts_fact *chips = &chip->fact[TTS_FACT_CHIPS];
    tts_json_object(json, NULL);
    tts_json_text(json, "name", chip->name);
    tts_json_text(json, "arch", tts_arch_name(chip->arch));
    tts_json_number(json, "chips", chips->value);
    put_grid(json, &chip->fact[TTS_FACT_GRID]);
    tts_json_text_or_null(json, "title", preset ? preset->title : NULL);
    tts_json_text_or_null(json, "variants", preset ? preset->variants : NULL);
    tts_json_array(json, "aliases");
    for (size_t i = 0; preset && preset->aliases[i]; i++)
        tts_json_text(json, NULL, preset->aliases[i]);
    tts_json_array_end(json);
    put_pools(json, chip);
    if (facts)
        put_facts(json, chip);
    tts_json_object_end(json);
}

void tts_chipview_json_list(struct tts_json *json)
{
    const struct tts_preset *preset;
    tts_json_array(json, "presets");
    for (size_t i = 0; (preset = tts_preset_at(i)) != NULL; i++) {
        struct tts_chip chip;
        struct tts_error err;
        if (tts_chip_preset(preset->name, &chip, &err) == TTS_OK)
            put_chip(json, &chip, preset, false);
        else
            assert(!"a preset of the list can be had");
    }
    tts_json_array_end(json);
}

/* --- the layout of L1 ------------------------------------------------------------------ */

static void put_parts(struct tts_json *json, const struct tts_chipview *one)
{
    tts_json_array(json, "l1");
    for (size_t i = 0; i < one->part_count; i++) {
        const struct tts_l1_part *part = &one->parts[i];
        tts_json_object(json, NULL);
        tts_json_text(json, "name", part->name);
        tts_json_number(json, "start", part->start);
        tts_json_number(json, "end", part->end);
        tts_json_number(json, "bytes", part->end - part->start);
        tts_json_bool(json, "grows", part->grows);
        tts_json_object_end(json);
    }
    tts_json_array_end(json);
}

void tts_chipview_json_one(struct tts_json *json, const struct tts_chipview *view)
{
    tts_json_array(json, "presets");
    put_chip(json, &view->chip, view->preset, true);
    tts_json_array_end(json);
    if (view->part_count > 0)
        put_parts(json, view);
}
