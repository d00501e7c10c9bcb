#!/usr/bin/env bash
# script/test prints what it does, and script/progress prints how far it is. The tools are
# stand-ins: nothing is built and no test is run.
# shellcheck disable=SC2016 # what stands in single quotes is for the stand-ins
. "$(dirname "$0")/lib.sh"

tree=$work/tree stubs=$work/stubs
mkdir -p "$tree/build/dev" "$stubs"
cp -r "$source_dir/script" "$tree"
stub() { # name, body
    printf '#!/bin/sh\n%s\n' "$2" >"$stubs/$1"
    chmod +x "$stubs/$1"
}
stub dpkg-query 'echo installed'
stub nproc 'echo 3'
stub cmake 'case "$1" in --build) for i in 1 2 3 4 5 6 7 8; do echo "[$i/8] Building $i.c"; done ;; esac'
stub ctest 'case "$*" in
*" -N "*) echo "Total Tests: 12" ;;
*) printf "%s\n" "<testsuite" "tests=\"12\"" "failures=\"0\"" "disabled=\"0\"" "skipped=\"2\"" >build/dev/junit.xml ;;
esac'

run env PATH="$stubs:$PATH" "$tree/script/test"
expect_code 0
expect_err ""
expect_out "test: configuring
test: building with sanitizers, some minutes the first time
test: built: 2 of 8
test: built: 4 of 8
test: built: 6 of 8
test: built: 8 of 8
test: running 12 tests on 3 processors, some minutes
10 passed, 0 failed, 2 skipped"

# Errors of a build are printed, and its failure counts.
stub cmake 'case "$1" in --build) echo "[1/8] Building 1.c"; echo "1.c:1: error: no"; exit 1 ;; esac'
run env PATH="$stubs:$PATH" "$tree/script/test"
expect_code 1
expect_out_like "1.c:1: error: no
0 passed, 1 failed, 0 skipped"

# Packages: apt-get prints two lines for each, and the log has all of them. On a terminal one line
# is rewritten.
apt='0 upgraded, 3 newly installed, 0 to remove
Unpacking a
Unpacking b
Unpacking c
Setting up a
Setting up b
Setting up c'
run bash -c 'printf "%s\n" "$2" | "$0" "installed" "$1"' "$source_dir/script/progress" "$work/log" "$apt"
expect_code 0
expect_out "installed: 1 of 3
installed: 2 of 3
installed: 3 of 3"
[ "$(cat "$work/log")" = "$apt" ] || fail "wanted all lines in the log"
run script -qec "printf '[1/2] a\n[2/2] b\n' >'$work/steps'; '$source_dir/script/progress' built <'$work/steps'" \
    /dev/null
expect_code 0
expect_out $'\rbuilt: 1 of 2\e[K\rbuilt: 2 of 2\e[K\r'
