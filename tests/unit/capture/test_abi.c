/* Pins the layout of the public structs that will grow: a program that was compiled with this
 * version must work with every later version of the same SOVERSION (docs/abi.md). The figures
 * are those of 64-bit machines. */
#include "harness/t.h"
#include "ttscope/ttscope.h"

#include <stddef.h>

#define SIZE(type, bytes) T_EQ(sizeof(struct type), bytes)
#define FIELD(type, field, offset) T_EQ(offsetof(struct type, field), offset)

T_TEST(configurations_have_their_size_and_room_to_grow)
{
    SIZE(tts_tracker_config, 32);
    FIELD(tts_tracker_config, ops_max, 8);
    FIELD(tts_tracker_config, reserved, 12);
    SIZE(tts_recorder_config, 64);
    FIELD(tts_recorder_config, keep_bytes, 8);
    FIELD(tts_recorder_config, reserved, 16);
    SIZE(tts_publish_config, 64);
    FIELD(tts_publish_config, events_max, 12);
    FIELD(tts_publish_config, reserved, 16);
    SIZE(tts_publish_report, 40);
    FIELD(tts_publish_report, largest_free_bytes, 32);
    SIZE(tts_publish_facts, 72);
    FIELD(tts_publish_facts, grid_rows, 32);
    FIELD(tts_publish_facts, reserved, 40);
}

T_TEST(answers_have_their_size_and_room_to_grow)
{
    SIZE(tts_tracker_health, 128);
    FIELD(tts_tracker_health, refused, 48);
    FIELD(tts_tracker_health, reserved, 56);
    SIZE(tts_recorder_state, 264);
    FIELD(tts_recorder_state, reason, 8);
    FIELD(tts_recorder_state, bytes, 208);
    FIELD(tts_recorder_state, reserved, 216);
    SIZE(tts_publish_state, 320);
    FIELD(tts_publish_state, events, 256);
    FIELD(tts_publish_state, unlisted, 264);
    FIELD(tts_publish_state, reserved, 272);
    SIZE(tts_live, 72);
    FIELD(tts_live, op, 48);
    FIELD(tts_live, reserved, 56);
}

T_TEST(an_event_has_its_size_and_room_to_grow)
{
    SIZE(tts_event, 136);
    FIELD(tts_event, id, 16);
    FIELD(tts_event, ranges, 48);
    FIELD(tts_event, failure, 80);
    FIELD(tts_event, address, 96);
    FIELD(tts_event, placement, 116);
    FIELD(tts_event, reserved, 120);
}

T_TEST(a_reserved_field_that_is_not_0_is_refused)
{
    struct tts_tracker_config config = {.reserved = {[4] = 1}};
    struct tts_recorder_config recorder_config = {.path = "never.tts", .reserved = {1}};
    struct tts_tracker *tracker = NULL;
    struct tts_recorder *recorder = NULL;
    struct tts_error err = {0};
    T_EQ(tts_tracker_new(&config, NULL, &tracker, &err), TTS_E_INVALID);
    T_STR_EQ(err.text,
             "a reserved field of the configuration is not 0: set all reserved fields to 0");
    T_EQ(tts_tracker_new(NULL, NULL, &tracker, &err), TTS_OK);
    T_EQ(tts_recorder_begin(tracker, &recorder_config, &recorder, &err), TTS_E_INVALID);
    T_STR_EQ(err.text,
             "a reserved field of the configuration is not 0: set all reserved fields to 0");
    tts_tracker_free(tracker);
}
