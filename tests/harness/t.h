/* t.h: short names for cmocka. A test program is a .c file with T_TESTs, linked with t.c, which
 * has main(). The program runs all tests in their order. If it has an argument, it runs the
 * tests whose names match the argument ("*" is a wildcard). */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Defines a test and registers it before main() runs: T_TEST(what_must_hold) { ... } */
#define T_TEST(name)                                                                           \
    static void name(void **state);                                                            \
    __attribute__((constructor)) static void name##_register(void)                             \
    {                                                                                          \
        t_register(#name, name);                                                               \
    }                                                                                          \
    static void name(void **state __attribute__((unused)))

#define T_TRUE(x) assert_true(x)
#define T_EQ(a, b) assert_int_equal(a, b)
#define T_STR_EQ(a, b) assert_string_equal(a, b)
#define T_MEM_EQ(a, b, bytes) assert_memory_equal(a, b, bytes)

void t_register(const char *name, CMUnitTestFunction test);

/* Returns the next number of a sequence (xorshift64*). The sequence depends only on *state,
 * which must not be 0. */
uint64_t t_random(uint64_t *state);

/* Returns the path of `name` in a directory of this process. The directory is removed with its
 * content when main() returns. The path is valid until the eighth call after this one. */
const char *t_scratch(const char *name);

/* Writes bytes[0..len) to t_scratch(name), replacing a file of this name. Returns the path, as
 * t_scratch() does. The test fails if the file cannot be written. */
const char *t_file(const char *name, const void *bytes, size_t len);
