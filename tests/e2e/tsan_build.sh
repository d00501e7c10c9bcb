#!/usr/bin/env bash
# Everything builds under ThreadSanitizer, with -Werror: gcc warns of more there than elsewhere.
. "$(dirname "$0")/lib.sh"

run cmake -S "$source_dir" --preset tsan -B "$work/build"
expect_code 0
run cmake --build "$work/build"
expect_code 0
