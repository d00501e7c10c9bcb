#!/usr/bin/env bash
# Plain `cmake -S . -B b && cmake --build b`, as typed by a user who does not know the presets: a
# release build, without the tests if their dependencies are missing, and without a warning.
. "$(dirname "$0")/lib.sh"
unset CMAKE_GENERATOR CMAKE_BUILD_TYPE CFLAGS CC

CXX=$work/none run cmake -S "$source_dir" -B "$work/b" -DTTS_CMOCKA=OFF
expect_code 0
expect_err ""
expect_out_like "The tests are skipped: cmocka and a C++ compiler not found"
expect_cached() { # name and type, value
    grep -qx "$1=$2" "$work/b/CMakeCache.txt" || fail "wanted $1=$2"
}
expect_cached CMAKE_BUILD_TYPE:STRING Release
expect_cached CMAKE_GENERATOR:INTERNAL "Unix Makefiles" # what Debian has by default
run ctest --test-dir "$work/b" -N
expect_out_like "Total Tests: 0"
run cmake --build "$work/b" --target tts_base
expect_code 0
expect_err ""
[[ $out != *warning* ]] || fail "wanted no warning"

# A build type from the command line is kept.
run cmake -S "$source_dir" -B "$work/b" -DCMAKE_BUILD_TYPE=Debug
expect_code 0
expect_cached CMAKE_BUILD_TYPE:STRING Debug
