#!/usr/bin/env bash
# The tests of what optimisation could break, on what users run: built as the release is.
. "$(dirname "$0")/lib.sh"

programs=(test_space test_space_state test_space_units test_space_nomem test_space_oracle
    test_row{16,32,64}_{plain,avx2})
run cmake -S "$source_dir" --preset release -B "$work/build" -DTTS_TESTS=ON
expect_code 0
run cmake --build "$work/build" --target ttscope "${programs[@]}"
expect_code 0
for program in "${programs[@]}"; do
    run "$work/build/tests/$program"
    [ "$code" = 77 ] || expect_code 0
done
for recording in "$source_dir"/tests/golden/alloc/*.txt; do
    run "$work/build/bin/ttscope" replay --check --quiet "$recording"
    expect_code 0
done
