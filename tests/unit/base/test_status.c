#include "harness/t.h"
#include "ttscope/status.h"

#include <stdio.h>

T_TEST(every_status_has_its_text)
{
    T_STR_EQ(tts_status_text(TTS_OK), "success");
    T_STR_EQ(tts_status_text(TTS_E_NOMEM), "out of memory");
    T_STR_EQ(tts_status_text(TTS_E_IO), "input or output failed");
}

T_TEST(a_value_not_in_the_list_has_one_too)
{
    T_STR_EQ(tts_status_text((enum tts_status)1), "unknown status");
    T_STR_EQ(tts_status_text((enum tts_status) - 1000), "unknown status");
}

T_TEST(values_are_the_ones_of_release_0_1)
{
    T_EQ(TTS_OK, 0);
    T_EQ(TTS_E_NOMEM, -1);
    T_EQ(TTS_E_INVALID, -2);
    T_EQ(TTS_E_RANGE, -3);
    T_EQ(TTS_E_FULL, -4);
    T_EQ(TTS_E_BELOW_LIMIT, -5);
    T_EQ(TTS_E_NOT_FOUND, -6);
    T_EQ(TTS_E_BUSY, -7);
    T_EQ(TTS_E_SYNTAX, -8);
    T_EQ(TTS_E_IO, -9);
}

T_TEST(the_version_is_three_numbers)
{
    unsigned part[3];
    char rest;
    T_EQ(sscanf(tts_version(), "%u.%u.%u%c", &part[0], &part[1], &part[2], &rest), 3);
}
