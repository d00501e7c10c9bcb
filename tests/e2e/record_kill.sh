#!/usr/bin/env bash
# Recordings that do not reach their end: the program is killed, the disk is full, the directory
# cannot be written. TTS_KILLS is the number of kills.
. "$(dirname "$0")/lib.sh"

child=$TTS_BUILD_DIR/tests/record_child

run "$child" kill "${TTS_KILLS:-60}" "${TTS_SEED:-1}" "$work/killed.tts"
expect_code 0
expect_out_like "killed ${TTS_KILLS:-60} times"

run "$child" fill "$work/whole.tts" 100000
expect_code 0
expect_out "recorded all"

# All places that fit the file size limit are used; the next place is refused.
run bash -c 'ulimit -f 12300 && "$1" fill "$2" 100000000' - "$child" "$work/limited.tts"
expect_code 0
expect_out_like "stopped recording to *limited.tts' (raise the limit with 'ulimit -f'): file too large"

# A disk of ten megabytes, in a separate namespace.
# shellcheck disable=SC2016 # the inner shell expands
if unshare -rm true 2>/dev/null; then
    mkdir "$work/disk"
    run unshare -rm bash -c 'mount -t tmpfs -o size=10M none "$2" || exit 77
        "$1" fill "$2/full.tts" 100000000' - "$child" "$work/disk"
    if [ "$code" -eq 77 ]; then
        echo "not tried: no file system can be mounted here"
    else
        expect_code 0
        expect_out_like "stopped recording to *full.tts' (free some space, or record to another disk): no space left"
    fi
    run unshare -rm bash -c 'mount -t tmpfs -o size=2M none "$2" || exit 77
        "$1" fill "$2/full.tts" 1000; code=$?; ls -A "$2"; exit $code' - "$child" "$work/disk"
    if [ "$code" -ne 77 ]; then
        expect_code 1
        expect_err_like "cannot record to *full.tts' (free some space, or record to another disk): no space left"
        expect_out ""
    fi
    run unshare -rm bash -c 'mount -t tmpfs -o ro none "$2" || exit 77
        "$1" fill "$2/run.tts" 1000' - "$child" "$work/disk"
    if [ "$code" -ne 77 ]; then
        expect_code 1
        expect_err_like "cannot record to *run.tts' (give a path that may be written): read-only file system"
    fi
else
    echo "not tried: there are no namespaces here, so no full disk"
fi
