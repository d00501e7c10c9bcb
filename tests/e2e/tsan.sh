#!/usr/bin/env bash
# Runs the tests that post events from many threads under ThreadSanitizer.
. "$(dirname "$0")/lib.sh"

programs=(test_cpp_adapter_{v1,head} test_cpp_capture test_device_hold test_inbox test_recorder
    test_publisher_threads test_recorder_threads test_threads)
# The long tests with threads, and two long tests in which a recorder's thread creates places.
long=('*thread*' a_long_recording_goes_from_place_to_place
    keyframes_of_a_black_box_are_whole_again_when_less_lives)
run cmake -S "$source_dir" --preset tsan -B "$work/build"
expect_code 0
run cmake --build "$work/build" --target "${programs[@]}" test_recorder_long
expect_code 0
for program in "${programs[@]}"; do
    run "$work/build/tests/$program"
    expect_code 0
done
for test in "${long[@]}"; do
    run "$work/build/tests/test_recorder_long" "$test"
    expect_code 0
done
