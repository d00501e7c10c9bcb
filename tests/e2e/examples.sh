#!/usr/bin/env bash
# The tracked loop in C, C++ and Python prints the same bytes, and they are right: the expected
# text was calculated by hand. In the list, in MiB, + allocates, - frees, and brackets show the
# memory in use since the start of the phase. A tile is 2 KiB. The loss is one tile, which the
# rounded figures do not show:
#   MODEL_CREATION      +8 rows [8] +8 tiles [16] -8 [8] +4 rows [12] +4 tiles [16] -4 [12]
#   OPTIMIZER_CREATION  +8 +8 +4 +4 [24]
#   FORWARD_PASS        +2 x +6 hidden +6 active +3 y +3 squares +tile [20] -3 [17]
#   BACKWARD_PASS       +3 y_grad +4 weight2_grad +6 active_grad [13] -3 -3 [7]
#                       +6 hidden_grad [13] -6 -6 [1] +8 weight1_grad [9] -6 -6 [-3]
#   FIRST_ITERATION     +8 [8] -8 +4 -4 [0] -8 -4 gradients -2 x -tile [-14]
# The cumulative figures follow from these: 16, max(16, 12 + 24), max(36, 36 + 20),
# max(56, 53 + 13), max(66, 50 + 8); and 12, 36, 53, 50, 36.
# L1, in tiles of one core (512 are 1 MB): circular buffers 2 + 2, 8, 32 + 64 + 16,
# 32 + 32 + 24, 4 x 32; L1 buffers 96 in FORWARD_PASS and 80 in BACKWARD_PASS, at the same
# time as the circular buffers. In FORWARD_PASS no core has both inputs of the matmul, so its
# fullest cores, from (0, 1) on, hold 64 + 16 + 96 = 176 tiles although Peak Total is 208.
. "$(dirname "$0")/lib.sh"

expected=$(cat "$source_dir/tests/golden/capture/tracked_loop.out")
library=$TTS_BUILD_DIR/lib/libttscope.so
python=$(python3 -c 'import sys; print(sys.executable)') ||
    { echo "skipped: there is no python3" && exit 77; }

in_c() { run "$TTS_BUILD_DIR/tests/example_tracked_loop_c" "$@"; }
in_cpp() { run "$TTS_BUILD_DIR/tests/example_tracked_loop_cpp" "$@"; }

# A library with a sanitizer requires that the sanitizer is loaded first. Python itself has leaks.
sanitizer=$(ldd "$library" | sed -n 's/^[[:space:]]*lib[at]san.* => \([^ ]*\) .*/\1/p')
in_python() {
    run env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$source_dir/bindings/python" \
        TTSCOPE_LIBRARY="$library" LD_PRELOAD="$sanitizer" ASAN_OPTIONS=detect_leaks=0 \
        "$python" "$source_dir/examples/tracked_loop.py" "$@"
}

for language in c cpp python; do
    "in_$language"
    expect_code 0
    expect_err ""
    expect_out "$expected"
    "in_$language" --no-dispatch
    expect_code 0
    expect_err ""
    expect_out "$expected"
done

# 300 times larger: 66 MiB become 19800 MiB, and an n150 has less than 12288 MiB.
in_c --no-dispatch --scale 300
expect_code 0
expect_err ""
expect_out_like "Overall DRAM Peak: 19800.00 MB, Final DRAM Usage: 10800.00 MB"
large=$out
[ "$(sed '/DRAM/d' <<<"$large")" = "$(sed '/DRAM/d' <<<"$expected")" ] ||
    fail "wanted the same figures of L1 and the cores"
for language in cpp python; do
    "in_$language" --no-dispatch --scale 300
    expect_code 0
    expect_out "$large"
done
for language in c cpp; do
    "in_$language" --scale 300
    expect_code 1
    expect_out ""
    expect_err_like "tracked_loop: Out of Memory: Not enough space to allocate"
done

# TTSCOPE=1 publishes the loop and changes none of its figures. The file is gone after the end,
# also if the loop gives up. Without TTSCOPE=1 there is no file.
publishing() { # command; its output is in `err`
    local published=$1
    shift
    run env TTSCOPE="$published" PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$source_dir/bindings/python" \
        TTSCOPE_LIBRARY="$library" ASAN_OPTIONS=detect_leaks=0 \
        "$python" "$source_dir/tests/e2e/shm_names.py" env LD_PRELOAD="$sanitizer" "$@"
}
for program in "$TTS_BUILD_DIR/tests/example_tracked_loop_c" "$TTS_BUILD_DIR/tests/example_tracked_loop_cpp" \
    "$python $source_dir/examples/tracked_loop.py"; do
    # shellcheck disable=SC2086 # a program and its argument
    publishing 1 $program
    expect_code 0
    expect_out 'made ttscope_PID
removed ttscope_PID'
    expect_err "$expected"
    # shellcheck disable=SC2086
    publishing 0 $program
    expect_code 0
    expect_out ''
done
publishing 1 "$TTS_BUILD_DIR/tests/example_tracked_loop_c" --scale 300
expect_code 1
expect_out 'made ttscope_PID
removed ttscope_PID'
