# lib.sh: functions for tests that run programs. A test sources this file, runs commands with
# `run` and states expectations. If any expectation is not met, the test fails, after all commands
# have run.
# shellcheck shell=bash disable=SC2034 # the variables are for the tests
set -uo pipefail

: "${TTS_SOURCE_DIR:?}" "${TTS_BUILD_DIR:?}"
source_dir=$TTS_SOURCE_DIR
ttscope=$TTS_BUILD_DIR/bin/ttscope
work=$(mktemp -d)
failures=0
ran="the start of the test" code=0 out="" err=""
trap 'status=$?; rm -rf "$work"; [ "$failures" -eq 0 ] || status=1; exit "$status"' EXIT

# Runs a command with empty input. Stores its output in `out` and `err`, and its exit code in
# `code`.
run() {
    ran="$*"
    code=0
    "$@" </dev/null >"$work/out" 2>"$work/err" || code=$?
    out=$(cat "$work/out")
    err=$(cat "$work/err")
}

fail() {
    failures=$((failures + 1))
    printf 'FAILED after: %s\n  %s\n  exit code: %s\n  stdout: %s\n  stderr: %s\n' \
        "$ran" "$1" "$code" "$(tail -n 20 <<<"$out")" "$(tail -n 20 <<<"$err")"
}

expect_code() {
    [ "$code" -eq "$1" ] || fail "wanted exit code $1"
}

expect_out() {
    [ "$out" = "$1" ] || fail "wanted on stdout: $1"
}

expect_err() {
    [ "$err" = "$1" ] || fail "wanted on stderr: $1"
}

# Expects a part of the output, as a shell pattern.
expect_out_like() {
    # shellcheck disable=SC2053
    [[ $out == *$1* ]] || fail "wanted on stdout, among others: $1"
}

# Expects a sentence on stdout, wherever the program breaks its lines, also on a terminal. The
# sentence is a pattern.
expect_sentence() {
    # shellcheck disable=SC2053
    [[ $(tr -s '\r\n ' ' ' <<<"$out") == *$1* ]] || fail "wanted the sentence on stdout: $1"
}

expect_err_like() {
    # shellcheck disable=SC2053
    [[ $err == *$1* ]] || fail "wanted on stderr, among others: $1"
}
