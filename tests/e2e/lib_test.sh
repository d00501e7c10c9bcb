#!/usr/bin/env bash
# A test that exits early fails or is skipped according to its exit code. lib.sh does not hide the
# code.
. "$(dirname "$0")/lib.sh"

# Runs a line as a separate test.
as_test() {
    run bash -c '. "$0"; eval "$1"' "$source_dir/tests/e2e/lib.sh" "$1"
}

as_test ':'
expect_code 0
as_test 'exit 1'
expect_code 1
as_test 'exit 77'
expect_code 77
# shellcheck disable=SC2016 # it is for the other shell
as_test 'echo "$never_set"'
[ "$code" -ne 0 ] || fail "wanted a failure"
as_test 'run true; expect_code 3; true'
expect_code 1
as_test 'run true; expect_code 3; exit 77'
expect_code 1
