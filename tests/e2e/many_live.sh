#!/usr/bin/env bash
# More live buffers than a follower initially has memory for (2^22): every figure is exact, and
# every command prints the same.
. "$(dirname "$0")/lib.sh"
printf 'begin 1\nmany 4300000\nnone 4200000\n' |
    "$TTS_BUILD_DIR/tests/make_recording" "$work/many.tts" story || exit 1

is_exact() { # FILE
    run "$ttscope" show --json "$1"
    expect_code 0
    expect_err ''
    expect_out_like '"allocations_bytes": 8806400000,'
    expect_out_like '"deallocations_bytes": 8601600000,'
    expect_out_like '"cumulative_current_bytes": 204800000'
    expect_out_like '"final_dram_bytes": 204800000'
    expect_out_like '"final_bytes": 204800000, "final_buffers": 100000, "peak_bytes": 8806400000, "peak_buffers": 4300000'
    expect_out_like '"not_listed": 0'
}

is_exact "$work/many.tts"
run "$ttscope" pack -o "$work/packed.tts" "$work/many.tts"
expect_code 0
is_exact "$work/packed.tts"
run "$ttscope" replay --device n150 --set dram_bank_size=8809368640 "$work/many.tts"
expect_code 0
expect_out_like 'on n150: 8500000 events, 4300000 allocations'
run "$ttscope" export "$work/many.tts" --to csv -o "$work/many.csv"
expect_code 0
[ "$(grep -c ,free, "$work/many.csv")" -eq 4200000 ] || fail 'wanted 4200000 frees in the CSV'
run "$ttscope" analyze "$work/many.tts"
expect_out_like 'at least 8,398.44 MB'
