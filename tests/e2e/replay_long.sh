#!/usr/bin/env bash
# A recording with millions of allocations gives the same answer from a file and through a pipe.
. "$(dirname "$0")/lib.sh"
printf 'alloc 0 0 1 24576 2048 0\nchurn 2200000\n' |
    "$TTS_BUILD_DIR/tests/make_recording" "$work/long.tts" story || exit 1
run "$ttscope" replay --device n150 "$work/long.tts"
expect_code 0
expect_err ''
expect_out_like 'on n150: 4400001 events, 2200001 allocations'
expect_out_like 'smallest DRAM that is enough: 4096 B per bank'
run "$ttscope" replay --device n150 --set dram_bank_size=2970688 "$work/long.tts"
expect_code 1
expect_out_like '2200000 allocations and 0 programs fail'
expect_out_like 'smallest DRAM that is enough: 4096 B per bank'
run sh -c "cat '$work/long.tts' | '$ttscope' replay --device n150 -"
expect_code 0
expect_err ''
expect_out_like 'smallest DRAM that is enough: 4096 B per bank'
