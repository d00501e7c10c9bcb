/* t.h: thin names over cmocka. A test program is a .c file of T_TESTs linked with t.c, which
 * has main: all tests run in order, or those whose name matches the first argument ("*" is a
 * wildcard). */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A test, registered before main: T_TEST(what_must_hold) { ... } */
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

/* xorshift64*: the next number of a sequence that `state` (never 0) alone decides. */
uint64_t t_random(uint64_t *state);

/* The path of `name` in a directory that is this process's own and is removed, with all in it,
 * when main returns. Borrowed until the eighth call after. */
const char *t_scratch(const char *name);
