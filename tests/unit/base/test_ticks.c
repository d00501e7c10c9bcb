#include "base/ticks.h"
#include "harness/t.h"

#include <time.h>

T_TEST(ticks_do_not_fall)
{
    uint64_t before = tts_ticks_now();
    for (int i = 0; i < 100000; i++) {
        uint64_t now = tts_ticks_now();
        T_TRUE(now >= before);
        before = now;
    }
}

T_TEST(the_scale_makes_nanoseconds_of_ticks)
{
    uint64_t scale = tts_ticks_scale();
    T_EQ(tts_ticks_scale(), scale); /* the value is kept */
    uint64_t off_ppm = UINT64_MAX;
    /* At least one of several spans is not interrupted between the two clocks. */
    for (int i = 0; i < 20 && off_ppm > 200; i++) {
        uint64_t ns = tts_clock_ns(), ticks = tts_ticks_now();
        nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
        ticks = tts_ticks_now() - ticks;
        ns = tts_clock_ns() - ns;
        uint64_t told = (uint64_t)((__extension__(unsigned __int128) ticks * scale) >> 32);
        uint64_t off = told > ns ? told - ns : ns - told;
        off_ppm = off * 1000000 / ns < off_ppm ? off * 1000000 / ns : off_ppm;
    }
    T_TRUE(off_ppm <= 200);
}

T_TEST(clocks_are_those_of_the_system)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t real = tts_clock_realtime_ns() / 1000000000;
    T_TRUE(real >= (uint64_t)now.tv_sec && real <= (uint64_t)now.tv_sec + 60);
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t mono = tts_clock_ns() / 1000000000;
    T_TRUE(mono >= (uint64_t)now.tv_sec && mono <= (uint64_t)now.tv_sec + 60);
}
