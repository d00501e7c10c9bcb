#!/usr/bin/env bash
# Events from many threads, under ThreadSanitizer.
. "$(dirname "$0")/lib.sh"

programs=(test_cpp_adapter_{v1,head} test_cpp_capture test_device_hold test_inbox test_recorder
    test_recorder_long test_recorder_threads test_threads)
run cmake -S "$source_dir" --preset tsan -B "$work/build"
expect_code 0
run cmake --build "$work/build" --target "${programs[@]}"
expect_code 0
for program in "${programs[@]}"; do
    run "$work/build/tests/$program"
    expect_code 0
done
