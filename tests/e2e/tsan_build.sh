#!/usr/bin/env bash
# Everything builds with ThreadSanitizer and -Werror: GCC gives more warnings there than
# elsewhere.
. "$(dirname "$0")/lib.sh"

run cmake -S "$source_dir" --preset tsan -B "$work/build"
expect_code 0
run cmake --build "$work/build"
expect_code 0
