#!/usr/bin/env bash
# Everything that users see: runs each command line of tests/golden/screens/*.txt and compares the
# output with the file. A file is a transcript: `$ COMMAND`, stdout, stderr after `! `, and the
# exit code after `= ` if it is not 0.
#
#     ctest --test-dir build/dev -R e2e.screens
#     tests/e2e/screens.sh --write [NAME]    after a change that is meant; review the difference
#                                            (TTS_SOURCE_DIR=. TTS_BUILD_DIR=build/dev)
. "$(dirname "$0")/lib.sh"
golden=$(realpath "$source_dir/tests/golden")
source_dir=$(realpath "$source_dir")
build_dir=$(realpath "$TTS_BUILD_DIR")
export PATH=$build_dir/bin:$PATH TTSCOPE_ROOT=$work/no_cards COLUMNS=80 LC_ALL=C.UTF-8
unset NO_COLOR GITHUB_ACTIONS
export TZ=UTC

# A host with one chip that no process uses. Dead processes left two entries in its region, and a
# process of an unknown runtime wrote another region.
make_left_over() {
    local entry='left_over/sys/class/tenstorrent/tenstorrent!0' shm=left_over/dev/shm
    local writer=$build_dir/tests/region_writer
    mkdir -p $shm left_over/sys/devices/chip left_over/proc/driver/tenstorrent/0 "$entry" || return
    ln -s ../../../devices/chip "$entry/device"
    echo 0x401e >left_over/sys/devices/chip/device
    echo n150 >"$entry/tt_card_type"
    echo 0000806a2b7c4e20 >"$entry/tt_asic_id"
    echo btime 1750000000 >left_over/proc/stat
    : >left_over/proc/driver/tenstorrent/0/pids
    "$writer" $shm/tt_device_141193484455456_memory v3 refs=3 total=1073741824:6291456:0:0:131072 \
        slot=4194301:536870912:4194304:0:0:0:1760000000000000000:python3 \
        slot=4194302:268435456:2097152:32768:0:131072:1760000000000000000:llama_server || return
    "$writer" $shm/tt_device_9_memory v3 version=9
}

# leaking_steps COUNT BYTES   steps with four buffers that are freed, and one that is kept
leaking_steps() {
    local step id=0
    echo "op load_weights"
    for ((step = 0; step < 40; step++)); do
        echo "alloc 0 0 $((++id)) 1048576 2048 0"
    done
    echo end
    for ((step = 0; step < $1; step++)); do
        echo "op ttnn::softmax"
        for ((i = 1; i <= 4; i++)); do
            echo "alloc 0 0 $((id + i)) 65536 2048 0"
        done
        (($2 > 0)) && echo "alloc 0 0 $((id + 5)) $2 2048 0"
        echo end
        for ((i = 1; i <= 4; i++)); do
            echo "free 0 0 $((id + i))"
        done
        id=$((id + 5))
    done
}

# The inputs, with short names. A recording of the library contains the time of day, so these are
# generated.
make_inputs() {
    local scene make=$build_dir/tests/make_recording
    mkdir "$TTSCOPE_ROOT" inputs && cd inputs || return
    ln -s "$source_dir/examples" examples
    ln -s "$source_dir/tests/e2e/analyze" logs
    ln -s "$source_dir/tests/e2e/fit" configs
    ln -s "$source_dir/tests/e2e/fit_inference" models
    ln -s "$golden/graph" graphs
    ln -s "$golden/explain" failures
    ln -s "$golden/runtimelog" runtimelog
    ln -s "$golden/show/run.txt" not_json.txt
    ln -s "$golden/replay/device.txt" device.txt
    for scene in run killed stopped missed box tight phases; do
        "$make" "$scene.tts" "$scene" || return
    done
    "$make" random.tts random 20000 7 || return
    "$make" story.tts story <<-'STORY' || return
		op ttnn::matmul
		alloc 0 0 1 3145728 2048 0
		alloc 0 1 2 65536 2048 0
		program 0
		cb 0 16384 0 0 3 3
		cb 0 8192 0 0 7 7
		end
		alloc 0 2 3 8192 1024 0
		alloc 0 3 4 1048576 2048 0
		free 0 0 1
		refuse 0 99999999999
	STORY
    # A full bank of an n150, like failures/fragmentation.txt: between 4 buffers there are holes
    # of 37030336, 20000000 and 19385600 bytes.
    "$make" full.tts story <<-'STORY' || return
		op ttnn::matmul
		alloc 0 0 1 6000000000 32 0 2968640
		alloc 0 0 2 50331648 32 0 539998976
		end
		op ttnn::full
		alloc 0 0 3 5760000000 32 0 564193280
		alloc 0 0 4 121955328 32 0 1044193280
		refuse 0 503316480 41943040 12 1070773184 994357248 76415936 37030336
		end
		free 0 0 4
		alloc 0 0 5 24576 2048 0 1044193280
	STORY
    # Each of 40 steps keeps one buffer. At the end everything is freed.
    { leaking_steps 40 4096 && echo none 280; } | "$make" leak.tts story || return
    leaking_steps 40 0 | "$make" steady.tts story || return
    # 10, 20, 30, 40 MB of DRAM, then a pause; then L1 grows until the end.
    { for id in {1..4}; do echo "alloc 0 0 $id 10485760 2048 0"; echo wait 5000; done
        echo wait 10000
        for id in {5..8}; do echo "alloc 0 1 $id 1048576 2048 0"; echo wait 5000; done
        echo "free 0 0 1"; } | "$make" growing.tts story || return
    # More devices than are judged for growing pools. The last one grows.
    { for id in {0..33}; do echo "alloc $id 0 $((id + 1)) 1048576 2048 0"; done
        for id in {35..37}; do echo wait 5000; echo "alloc 33 0 $id 1048576 2048 0"; done
        echo wait 5000; echo "free 0 0 1"; } | "$make" many.tts story || return
    # The order of the runtime: the trace buffer is placed at the end of the capture.
    "$make" trace.tts story <<-'STORY' || return
		alloc 0 0 1 1048576 2048 0
		trace 0
		op ttnn::matmul
		alloc 0 1 2 83886080 1310720 0
		free 0 0 1
		alloc 0 0 3 2097152 2048 0
		end
		traced 0
		alloc 0 3 4 134217728 2048 0
		op replay
		end
		op replay
		end
	STORY
    # L1 like failures/clash.txt: two of the buffers begin below the circular buffers' end.
    "$make" clash.tts story <<-'STORY' || return
		op ttnn::to_memory_config
		alloc 0 1 1 2097152 32768 0 1048576
		end
		op ttnn::conv2d
		alloc 0 1 2 1048576 16384 0 884736
		alloc 0 1 3 4194304 65536 0 819200
		clash 0 891680 819200
	STORY
    ! "$build_dir/tests/example_tracked_loop_c" --scale 190 --record loop.tts 2>loop.log || return
    head -c 3000 random.tts >cut.tts
    head -c 900 graphs/example.json >cut.json
    make_left_over || return
    gzip -c logs/one_run.log >one_run.log.gz
    ttscope fit configs/nano.yaml --json >nano_fit.json
    ttscope analyze --logs examples/tinyllama.log --json >tinyllama.json
    make_live_host
}

# A host with a process on the first of two chips, and regions that cannot be read or belong to no
# chip.
make_live_host() {
    local TTSCOPE_ROOT=$PWD/host mb=1048576 time=1760000000000000000
    . "$source_dir/tests/e2e/live_rig.sh"
    live_host
    live_chip 0 0100018511732011 4242
    live_chip 1 0100018511732022
    live_process 4242 python3
    live_region $((0x0100018511732011)) v3 logical=0 \
        "slot=4242:$((1536 * mb)):$((72 * mb)):$((2 * mb)):0:$mb:$time:python3"
    live_region 7 v4 version=9
}

# The size of a packed recording depends on the compression library.
without_sizes() {
    sed -E 's/(recording \(packed\)), .*/\1/; /"source": \{/,/\}/{/"bytes":/d}'
}

run_screen() { # command line
    local code=0
    bash -c "$1" <"/dev/null" >"$work/out" 2>"$work/err" || code=$?
    printf '$ %s\n' "$1"
    without_sizes <"$work/out"
    [ -z "$(tail -c 1 "$work/out")" ] || printf '\n= no newline at the end\n'
    sed 's/^/! /' "$work/err"
    [ "$code" -eq 0 ] || printf '= %s\n' "$code"
}

# Each transcript starts from the same inputs.
run_transcript() { # file
    local line
    cp -r "$work/inputs" "$work/at" && cd "$work/at" || return
    while IFS= read -r line; do
        run_screen "${line#\$ }"
    done < <(grep '^\$ ' "$1")
    cd "$work" && rm -r "$work/at"
}

cd "$work" || exit 1
make_inputs || { echo "cannot make the inputs" && exit 1; }
count=0
for file in "$golden"/screens/${2-*}.txt; do
    run_transcript "$file" >"$work/now"
    count=$((count + $(grep -c '^\$ ' "$file")))
    if [ "${1-}" = --write ]; then
        cp "$work/now" "$file"
    elif ! diff -u "$file" "$work/now"; then
        failures=$((failures + 1))
        echo "FAILED: $file differs; if that is meant: tests/e2e/screens.sh --write $(basename "$file" .txt)"
    fi
done
echo "$count command lines"
[ "$count" -gt 0 ]
