#!/usr/bin/env bash
# `ttscope replay --publish`: the published updates of a trace appear in the region of the
# process, in their order; waits, the end, Ctrl-C, and the messages.
. "$(dirname "$0")/lib.sh"
python=$(command -v python3) || { echo "skipped: there is no python3" && exit 77; }
watch=$source_dir/tests/e2e/client_watch.py
examples=$source_dir/examples
# A script ignores SIGINT in the background, so other signals end the replays here.
replay_pid='' watch_pid=''

# Starts a replay in the background, and before it a watcher that writes each published state to
# the file `states`. The outputs are in replay.out and replay.err.
start_replay() {
    ran="replay $*"
    rm -f "$work/fifo" "$work/states"
    mkfifo "$work/fifo"
    "$python" "$watch" "$work/fifo" 30 >"$work/states" &
    watch_pid=$!
    wait_for_line ready
    "$ttscope" replay --device n150 --publish "$@" </dev/null >"$work/replay.out" 2>"$work/replay.err" &
    replay_pid=$!
    echo "$replay_pid" >"$work/fifo"
}

# Waits until the last published state is this line, for 20 seconds at most.
wait_for_line() {
    for _ in {1..1000}; do
        [ "$(tail -n 1 "$work/states" 2>/dev/null)" = "$1" ] && return
        sleep 0.02
    done
    fail "the region never has: $1"
}

# Waits for the end of the replay, stores its outputs and its exit code, and expects the published
# states.
end_replay() { # states, in lines
    code=0
    wait "$replay_pid" || code=$?
    wait "$watch_pid"
    out=$(cat "$work/states") err=''
    expect_out "ready
$1ended"
    out=$(cat "$work/replay.out") err=$(cat "$work/replay.err")
    compgen -G "/dev/shm/ttscope_${replay_pid}_*" >/dev/null && fail "the region is still there"
}

begins="ttscope replay: process PID publishes this replay: see 'ttscope top' and 'ttscope serve'"
expect_messages() { # all messages
    [ "${err//process $replay_pid /process PID }" = "$1" ] || fail "wanted on stderr: $1"
}

# The published updates #0 to #4: TRACE 0, 128, 128, 128, 128 and L1 0, 5, 45, 48, 48. Both the
# requested bytes and the allocator of the device say so. In the last update the capture is over,
# and 200 steps change nothing. A signal in the middle ends the replay; the results so far are
# printed.
last='DRAM 0.00/0.00; L1 48.00/48.00; L1_SMALL 0.00/0.00; TRACE 128.00/128.00; capturing 0, traces 1'
start_replay --set trace_region=160M --step 100 "$examples/trace-inference.txt"
wait_for_line "$last"
sleep 0.3
kill -TERM "$replay_pid"
end_replay "DRAM 0.00/0.00; L1 0.00/0.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0
DRAM 0.00/0.00; L1 5.00/5.00; L1_SMALL 0.00/0.00; TRACE 128.00/128.00; capturing 1, traces 0
DRAM 0.00/0.00; L1 45.00/45.00; L1_SMALL 0.00/0.00; TRACE 128.00/128.00; capturing 1, traces 0
DRAM 0.00/0.00; L1 48.00/48.00; L1_SMALL 0.00/0.00; TRACE 128.00/128.00; capturing 1, traces 0
$last
"
expect_code 143
expect_out_like 'idle 1
trace 0 = -
idle 200'
expect_messages "$begins"

# The three commands of the README, and the lines that it shows: device, buffers, L1, TRACE and total
# of each row that differs from the row before. A slow start of top may miss update #0.
scenario() { # number of the command
    awk '/^```sh scenario$/ { on = 1; next } /^```/ { on = 0 } on' "$source_dir/README.md" | sed -n "$1p"
}
read -r -a words <<<"$(scenario 2)"
[ "${words[*]:0:5}" = 'ttscope replay --device n150 --set' ] || fail "README.md has another scenario"
cd "$source_dir" || exit 1
start_replay "${words[@]:4}"
read -r -a words <<<"$(scenario 3)"
run env LC_ALL=C.UTF-8 "$ttscope" "${words[@]:1}" --wait --pid "$replay_pid" -i 0.1 -n 24
expect_code 0
out=$(awk '/^[0-9]+ / { row = "L1 " $5 ", TRACE " $9 ", total " $11 } row != last { print row; last = row }' "$work/out")
out=${out#'L1 0.00, TRACE 0.00, total 0.00
'}
expect_out 'L1 5.00, TRACE 128.00, total 133.00
L1 45.00, TRACE 128.00, total 173.00
L1 48.00, TRACE 128.00, total 176.00'
out=$(grep '^Update #.*←' "$work/out" | sed 's/#[0-9]*/#N/; s/ (device [0-9]*)//' | uniq)
shown=$(grep '^Update #' README.md | sed 's/#[0-9]*/#N/')
[ -n "$shown" ] || fail "README.md shows no updates"
expect_out "$shown"
out=$(grep '^(Δ)' "$work/out" | grep -F 128.00)
expect_out '(Δ)      +2          +0.00 MB        +5.00 MB        +0.00 MB       +128.00 MB      +133.00 MB'
kill -TERM "$replay_pid"
wait "$replay_pid"
wait "$watch_pid"

# The three commands together. `ttscope serve` prints the published lines of the capture and a
# line for each phase, and no line for the 200 executions. `ttscope top` shows the published
# updates #0 to #4, with their numbers: both take a step each second, half a second apart.
watch_with_server() {
    local server top
    read -r -a words <<<"$(scenario 1)"
    LC_ALL=C.UTF-8 "$ttscope" "${words[@]:1}" --socket "$work/server" >"$work/serve.out" 2>"$work/serve.err" &
    server=$!
    wait_for_text "$work/serve.out" 'Listening on'
    start_replay --set trace_region=160M --step 1000 "$examples/trace-inference.txt"
    wait_for_line 'DRAM 0.00/0.00; L1 0.00/0.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0'
    sleep 0.3
    LC_ALL=C.UTF-8 "$ttscope" top --view table --pid "$replay_pid" -i 1 -n 6 >"$work/top.out" 2>"$work/top.err" &
    top=$!
    wait_for_text "$work/serve.out" 'Phase: Execution'
    wait "$top" || fail "wanted exit code 0 from top: $(<"$work/top.err")"
    ran="serve, replay --publish and top together"
    out=$(sed -n 's/^Update #[0-4]:/&/p' "$work/top.out" | sed 's/ (device [0-9]*)//')
    expect_out 'Update #0:   TRACE: 0 MB,    L1: 0 MB
Update #1:   TRACE: 128 MB,  L1: 5 MB    ← Trace buffer allocated!
Update #2:   TRACE: 128 MB,  L1: 45 MB   ← Data buffers allocated!
Update #3:   TRACE: 128 MB,  L1: 48 MB   ← Kernels loaded!
Update #4:   TRACE: 128 MB,  L1: 48 MB   ← Steady state (execution)'
    out=$(grep "PID $replay_pid\]" "$work/serve.out" | sed 's/ (buffer_id=.*//' | uniq)
    expect_out "▶ [PID $replay_pid] Process ttscope publishes its buffers
▶ [PID $replay_pid] Phase: Init on device 0 (TRACE: 0 MB, L1: 0 MB)
▶ [PID $replay_pid] Trace capture begins on device 0
✓ [PID $replay_pid] Allocated 134217728 bytes of TRACE on device 0
✓ [PID $replay_pid] Allocated 5242880 bytes of L1 on device 0
▶ [PID $replay_pid] Phase: Capture Start on device 0 (TRACE: 128 MB, L1: 5 MB)
✓ [PID $replay_pid] Allocated 16777216 bytes of L1 on device 0
✓ [PID $replay_pid] Allocated 8388608 bytes of L1 on device 0
✓ [PID $replay_pid] Allocated 16777216 bytes of L1 on device 0
▶ [PID $replay_pid] Phase: Capture (Data) on device 0 (TRACE: 128 MB, L1: 45 MB)
✓ [PID $replay_pid] Allocated 24576 bytes of L1 on device 0
▶ [PID $replay_pid] Phase: Capture (Kernels) on device 0 (TRACE: 128 MB, L1: 48 MB)
▶ [PID $replay_pid] Phase: Capture End on device 0 (TRACE: 128 MB, L1: 48 MB)
■ [PID $replay_pid] Trace capture ends on device 0
▶ [PID $replay_pid] Phase: Execution on device 0 (TRACE: 128 MB, L1: 48 MB)"
    kill -TERM "$replay_pid"
    wait "$replay_pid"
    wait "$watch_pid"
    kill -TERM "$server"
    wait "$server" || fail "wanted exit code 0 from the server"
}

# Waits until a file has a text, for 20 seconds at most.
wait_for_text() { # file, text
    for _ in {1..1000}; do
        grep -qF -e "$2" "$1" && return
        sleep 0.02
    done
    fail "$1 never has: $2"
}

watch_with_server

# The order of the runtime: the trace is allocated at the end of the capture, in DRAM without a
# trace region. (The device takes whole pages in each bank.)
last='DRAM 224.12/224.20; L1 8.00/8.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 1'
start_replay --step 100 "$examples/trace-inference-runtime.txt"
wait_for_line "$last"
kill -HUP "$replay_pid"
end_replay "DRAM 0.00/0.00; L1 0.00/0.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0
DRAM 96.12/96.14; L1 8.00/8.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0
DRAM 96.12/96.14; L1 40.00/40.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0
DRAM 96.12/96.14; L1 40.00/40.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 1, traces 0
$last
"
expect_code 129

# With a trace region it is in TRACE. The memory stays published after the last line, and a signal
# then is the normal end.
last='DRAM 96.12/96.14; L1 8.00/8.00; L1_SMALL 0.00/0.00; TRACE 128.00/128.06; capturing 0, traces 1'
start_replay --set trace_region=160M --quiet "$examples/trace-inference-runtime.txt"
wait_for_line "$last"
kill -TERM "$replay_pid"
end_replay "$last
"
expect_code 0
expect_out ''
expect_messages "$begins
ttscope replay: the replay has ended; its memory stays published until Ctrl-C"

# --hold is a time. A sequence without 'idle' waits after each line, also after a refused one.
printf '%s\n' 'buffer l1 interleaved 131072 2048 as=a' 'buffer l1 interleaved 134217728 2048 as=b' \
    'free a' >"$work/lines.txt"
start_replay --step 100 --hold 1 "$work/lines.txt"
end_replay 'DRAM 0.00/0.00; L1 0.12/0.12; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0
DRAM 0.00/0.00; L1 0.00/0.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0
'
expect_code 0
expect_messages "$begins"
expect_out_like 'as=b = F
# Out of Memory: '

# A recording: its own buffers and operations are published, and the pools of the modelled device.
"$TTS_BUILD_DIR/tests/make_recording" "$work/run.tts" story <<'STORY' || fail "cannot make the recording"
op linear
alloc 0 0 1 1073741824 2048 0
end
op matmul
alloc 0 0 2 2147483648 2048 0
free 0 0 1
alloc 0 1 4 131072 2048 64
end
STORY
start_replay --step 100 --hold 0 "$work/run.tts"
end_replay 'DRAM 1024.00/1024.01; L1 0.00/0.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0; in linear
DRAM 3072.00/3072.02; L1 0.00/0.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0; in linear, matmul
DRAM 2048.00/2048.02; L1 0.00/0.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0; in linear, matmul
DRAM 2048.00/2048.02; L1 0.12/0.12; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0; in linear, matmul
'
expect_code 0
expect_out_like 'everything fits'
expect_messages "$begins"
start_replay --step 10000 "$work/run.tts"
wait_for_line 'DRAM 1024.00/1024.01; L1 0.00/0.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0; in linear'
kill -TERM "$replay_pid"
end_replay 'DRAM 1024.00/1024.01; L1 0.00/0.00; L1_SMALL 0.00/0.00; TRACE 0.00/0.00; capturing 0, traces 0; in linear
'
expect_code 143
expect_out ''

# A line with an error ends the replay. So does a reader of its output that goes away.
left_over() {
    compgen -G "/dev/shm/ttscope_${1}_*" >/dev/null && fail "the region is still there"
}
printf 'buffer l1 interleaved 131072 2048\nbufer\n' >"$work/bad.txt"
run "$ttscope" replay --device n150 --publish "$work/bad.txt"
expect_code 3
expect_err_like "bad.txt:2: unknown statement 'bufer'"
left_over "$(sed -n 's/.*: process \([0-9]*\) .*/\1/p' <<<"$err")"
run bash -c "'$ttscope' replay --device n150 --publish --step 20 '$examples/device.txt' | head -n 1; exit \${PIPESTATUS[0]}"
expect_code 141
expect_out '# on n150'
left_over "$(sed -n 's/.*: process \([0-9]*\) .*/\1/p' <<<"$err")"
run "$ttscope" replay --device n150 --publish --hold 0 "$work/none.txt"
expect_code 3
expect_err "ttscope replay: cannot read '$work/none.txt': no such file or directory"

# The document is that without --publish, and is complete before the wait at the end.
run "$ttscope" replay --device n150 --json "$examples/device.txt"
plain=$out
"$ttscope" replay --device n150 --publish --json "$examples/device.txt" >"$work/replay.out" 2>"$work/replay.err" &
replay_pid=$!
wait_for_text "$work/replay.err" 'stays published'
out=$(cat "$work/replay.out")
expect_out "$plain"
kill -TERM "$replay_pid"
wait "$replay_pid" || fail "wanted exit code 0"
