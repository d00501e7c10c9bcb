#include "harness/t.h"

#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TESTS_MAX = 256, PATHS = 8 };

static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count;
static char scratch_dir[256];

void t_register(const char *name, CMUnitTestFunction test)
{
    if (test_count == TESTS_MAX)
        abort();
    tests[test_count++] = (struct CMUnitTest){.name = name, .test_func = test};
}

uint64_t t_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

const char *t_scratch(const char *name)
{
    static char paths[PATHS][512];
    static size_t next;
    if (!scratch_dir[0]) {
        const char *parent = getenv("TMPDIR");
        snprintf(scratch_dir, sizeof scratch_dir, "%s/tts-test-XXXXXX",
                 parent ? parent : "/tmp");
        if (!mkdtemp(scratch_dir))
            abort();
    }
    char *path = paths[next++ % PATHS];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_dir, name);
    return path;
}

const char *t_file(const char *name, const void *bytes, size_t len)
{
    const char *path = t_scratch(name);
    FILE *file = fopen(path, "wb");
    T_TRUE(file != NULL);
    T_EQ(fwrite(bytes, 1, len, file), len);
    T_EQ(fclose(file), 0);
    return path;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

int main(int argc, char **argv)
{
    size_t wanted = test_count;
    if (argc > 1) {
        cmocka_set_test_filter(argv[1]);
        wanted = 0;
        for (size_t i = 0; i < test_count; i++)
            wanted += fnmatch(argv[1], tests[i].name, 0) == 0;
    }
    int failed = _cmocka_run_group_tests(argv[0], tests, test_count, NULL, NULL);
    if (scratch_dir[0])
        nftw(scratch_dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return failed == 0 && wanted > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
