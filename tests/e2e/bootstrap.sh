#!/usr/bin/env bash
# script/bootstrap requests only the missing packages and prints what it cannot do. The package
# tools are stand-ins: nothing is installed.
# shellcheck disable=SC2016 # what stands in single quotes is for the stand-ins
. "$(dirname "$0")/lib.sh"

stubs=$work/stubs calls=$work/calls
mkdir "$stubs"
for tool in bash cat dirname env id mktemp rm sort tail; do
    ln -s "$(command -v "$tool")" "$stubs/$tool"
done
stub() { # name, body
    rm -f "$stubs/$1"
    printf '#!/bin/sh\n%s\n' "$2" >"$stubs/$1"
    chmod +x "$stubs/$1"
}
bootstrap() {
    : >"$calls"
    run env PATH="$stubs" "$source_dir/script/bootstrap" "$@"
    calls_made=$(cut -d' ' -f 1-7 "$calls")
}
expect_calls() {
    [ "$calls_made" = "$1" ] || fail "wanted these calls: $1, got: $calls_made"
}

stub dpkg-query 'echo installed'
stub apt-get "echo apt-get \"\$@\" >>'$calls'"
stub id 'echo 0'

# No package is missing.
for set in "" build test check fuzz bench; do
    # shellcheck disable=SC2086 # no word when there is no set
    bootstrap $set
    expect_code 0
    expect_out ""
    expect_calls ""
done

# All packages are missing. GCC and CMake need make: both warn or fail without it.
stub dpkg-query 'exit 1'
bootstrap build
expect_code 0
expect_out_like "bootstrap: installing * make ninja-build *"

# One package is missing, one is half removed.
stub dpkg-query 'case "$3" in scdoc) exit 1 ;; cmake) echo config-files ;; *) echo installed ;; esac'
bootstrap
expect_code 0
expect_out "bootstrap: installing cmake scdoc"
expect_calls "$(printf '%s\n' 'apt-get update -q -o DPkg::Lock::Timeout=120' \
    'apt-get install -y --no-install-recommends cmake scdoc -q')"

# The package archive does not answer.
stub apt-get 'echo "E: no network" >&2; exit 100'
by_hand="bootstrap: as root, this would do it: apt-get update && apt-get install -y --no-install-recommends cmake scdoc"
bootstrap build
expect_code 1
expect_err "E: no network
bootstrap: apt-get failed
$by_hand"

# The user may not install packages.
stub id 'echo 1000'
bootstrap build
expect_code 1
expect_err "bootstrap: not root, and there is no sudo
$by_hand"
stub sudo 'exit 1'
bootstrap build
expect_code 1
expect_err "bootstrap: not root, and sudo refuses
$by_hand"
stub sudo '[ "$1" = -n ] && shift; exec "$@"'
stub true 'exit 0'
stub apt-get "echo apt-get \"\$@\" >>'$calls'"
bootstrap build
expect_code 0
rm "$stubs/apt-get"
bootstrap build
expect_code 1
expect_err "bootstrap: this is not Debian, and some of what is needed is missing
$by_hand"

bootstrap everything
expect_code 2
bootstrap --help
expect_code 0
expect_out_like "usage: script/bootstrap"
