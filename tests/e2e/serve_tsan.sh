#!/usr/bin/env bash
# Runs the tests of the allocation server, which has threads for the host, its output and its
# recordings, under ThreadSanitizer.
. "$(dirname "$0")/lib.sh"

run cmake -S "$source_dir" --preset tsan -B "$work/build"
expect_code 0
programs="test_hostreader test_serveroutput test_serverrecord"
# shellcheck disable=SC2086
run cmake --build "$work/build" --target ttscope serve_client publish_program region_writer $programs
expect_code 0
for program in $programs; do
    run "$work/build/tests/$program"
    expect_code 0
done
for script in serve serve_host serve_load; do
    run env TTS_SLOW_SERVER=1 TTS_BUILD_DIR="$work/build" TSAN_OPTIONS="log_path=$work/tsan" "$source_dir/tests/e2e/$script.sh"
    expect_code 0
done
for report in "$work"/tsan.*; do
    [ ! -e "$report" ] || fail "wanted no report: $(head -n 40 "$report")"
done
