#include "base/cpu.h"

#include "harness/t.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The kernel lists the features that programs can use. */
static bool kernel_lists(const char *flags, const char *name)
{
    char word[16];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(flags, word) != NULL;
}

T_TEST(the_features_are_those_that_the_kernel_lists)
{
    static char line[16384];
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool has_flags = false;
    while (file && !has_flags && fgets(line, sizeof line, file))
        has_flags = strncmp(line, "flags\t", 6) == 0;
    if (file)
        fclose(file);
    if (!has_flags) { /* no /proc, or another architecture */
        T_TRUE(!tts_cpu_has_avx2() || !file);
        return;
    }
    line[strcspn(line, "\n")] = ' ';
    T_EQ(tts_cpu_has_avx2(), kernel_lists(line, "avx2") && kernel_lists(line, "bmi1") &&
                                 kernel_lists(line, "bmi2") && kernel_lists(line, "abm"));
}
