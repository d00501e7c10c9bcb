#include "cli/device_arg.h"
#include "harness/t.h"

#include <string.h>

T_TEST(a_device_is_told_as_a_shell_takes_it)
{
    char out[TTS_DEVICE_ARG_WORDS_MAX];
    struct tts_device_arg device = {.name = "n150"};
    T_STR_EQ(tts_device_arg_words(&device, out), "n150");
    device = (struct tts_device_arg){
        .name = "my 'own' card.yaml", .sets = {"dram_banks=4", "arch=a b"}, .set_count = 2};
    T_STR_EQ(tts_device_arg_words(&device, out),
             "'my '\\''own'\\'' card.yaml' --set dram_banks=4 --set 'arch=a b'");
    device = (struct tts_device_arg){.name = "a\x1b[31m.yaml"};
    T_STR_EQ(tts_device_arg_words(&device, out), "'a?[31m.yaml'");
    static char long_set[200];
    memset(long_set, 'x', sizeof long_set - 1);
    device = (struct tts_device_arg){.name = "n150", .set_count = TTS_DEVICE_SETS_MAX};
    for (size_t i = 0; i < TTS_DEVICE_SETS_MAX; i++)
        device.sets[i] = long_set;
    tts_device_arg_words(&device, out);
    T_TRUE(strlen(out) > 500);
    T_STR_EQ(out + strlen(out) - 4, " ...");
}
