#!/usr/bin/env bash
# `ttscope serve` with independent clients in the published style: each generation of frames,
# requests, garbage, processes that end in any way, and what the server prints.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/serve_rig.sh"

# --- statistics by time and by signal -----------------------------------------------------------
# The first server gets no signal. Its statistics come after 10 seconds, see below.
"$ttscope" serve --quiet --socket "$work/timed" >"$work/timed.log" 2>&1 &
timed=$!
children+=("$timed")
wait_until test -s "$work/timed.log"
SECONDS=0
start_server --quiet
kill -USR1 "$server"
wait_until has_line "$work/log" '📊 Current Statistics:'
[ $SECONDS -lt 9 ] || fail "wanted statistics after the signal, not after 10 seconds"
[ $SECONDS -ge 9 ] || ! has_line "$work/timed.log" '📊 Current Statistics:' || fail "wanted no statistics yet"
stop_server
expect_code 0

# --- every generation ---------------------------------------------------------------------------
start_server
expect_log() { # TEXT
    wait_until has_line "$work/log" "$1"
}
expect_log '🚀 Allocation Server started'
expect_log "   Listening on: $socket"
for generation in p1 p2 p3 p4; do
    ask -g $generation churn:3:400:7 check:3 alloc:0:l1:4096:0x40 alloc:0:l1:4096:0x40 check:0 free:0:0x40 check:0 \
        free:0:0x40 check:0 free:0:0x40 query:-1
    expect_code 0
    ask -g $generation glue fill:1:dram:4096:50 flush check:1 half:20 alloc:1:trace:128:7 sleep:0.05 rest check:1 \
        split:7:0 alloc:1:system:128:9 check:1
    expect_code 0
    ask -g $generation garbage:300:5 fill:1:dram:4096:20 garbage:7:6 fill:2:l1:64:20 fill:4:l1:64:3 check:4
    expect_code 0
done
expect_log 'Allocated 4096 bytes of L1 on device 0 (buffer_id=0x40, ref_count=2)'
expect_log 'Freed buffer 0x40 on device 0 (4096 bytes, ref_count=1 remaining)'
expect_log 'Freed buffer 0x40 on device 0 (4096 bytes, FINAL)'
expect_log 'Deallocation for unknown buffer 0x40 on device 0 (allocated before tracking started)'

# --- circular buffers, kernels, requests --------------------------------------------------------
start_client "$work/cbk" python3 "$source_dir/tests/e2e/serve_client.py" -g cbk "$socket" cb:5:1048576:0x123456789 \
    cb:5:1048576:3 cbfree:5:524288:3 kernel:5:2097152:99 pid:77 hold
ask -g p4 query:5
[ "$(jq -c '[.replies[0].cb, .replies[0].kernel]' <<<"$out")" = '[1572864,2097152]' ] || fail "wanted 32-byte frames counted"
expect_log '✓ [KERNEL_LOAD] Application kernel on Device 5: +2 MB (Total: 2 MB)'
ask cb:6:100:1 cbfree:6:300:1 check:6 kernel:6:100:9:2 unload:6:70:9 check:6 dump dumpkernels info:-1 info:6 stats
expect_code 0
[ "$(jq -c '[.replies[] | select(.type == 7) | .is_available]' <<<"$out")" = '[1,1]' ] || fail "wanted replies about devices"
expect_log 'REMAINING ALLOCATED BUFFERS'
expect_log 'DETAILED KERNEL ALLOCATIONS'
ask -g p2 query:1000 check:3
expect_code 0

# --- peers that do not behave -------------------------------------------------------------------
start_client "$work/silent" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" hold
start_client "$work/slow" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" ask:0:5000 hold
ask garbage:3000000:9 fill:7:dram:10:5 # ignored, and never closed
expect_code 0
ask check:7
expect_code 0

# --- identity -----------------------------------------------------------------------------------
start_client "$work/one" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" pid:4000000 fill:9:dram:1000:4 hold
start_client "$work/two" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" pid:4000000 fill:9:dram:10:4 hold
two=${children[-1]}
wait_until is_live '[{"device":9,"buffers":8,"dram":4040,"l1":0,"l1_small":0,"trace":0}]'
kill -KILL "$two"
wait_until is_live '[{"device":9,"buffers":4,"dram":4000,"l1":0,"l1_small":0,"trace":0}]'
expect_log '⚠️  Detected dead processes, cleaning up orphaned buffers...'
if unshare -pf true 2>/dev/null; then
    start_client "$work/inner" unshare -pf --kill-child python3 "$source_dir/tests/e2e/serve_client.py" "$socket" fill:8:l1:64:3 hold
    wait_until is_live '[{"device":8,"buffers":3,"dram":0,"l1":192,"l1_small":0,"trace":0},{"device":9,"buffers":4,"dram":4000,"l1":0,"l1_small":0,"trace":0}]'
    run "$ttscope" top --once --json
    [ "$(jq -c '[.devices[] | select(.id == 8) | .pools[1].allocated_bytes, .processes[0].container_pid]' <<<"$out")" = '[192,1]' ] ||
        fail "wanted the process of another namespace in top"
fi

# --- a second server, statistics, the end -------------------------------------------------------
run "$ttscope" serve --socket "$socket"
expect_code 3
expect_err_like "another server listens at"
stop_server
expect_code 0
expect_out_like 'Active allocations: '
[ ! -e "$socket" ] || fail "wanted no socket after the end"
expect_err_like "process * keeps them open until the programs end"
keeper=$(sed -n 's/.*: process \([0-9]*\) keeps.*/\1/p' <<<"$err")
for child in "${children[@]}"; do # the clients live on
    [ "$child" = "$two" ] || kill -0 "$child" || fail "a client was killed"
done
kill -0 "$keeper" || fail "wanted a process that keeps the connections"
start_server # although the clients of the last one live
ask fill:1:dram:64:3 check:1
expect_code 0
stop_server
expect_code 0
wait_until has_line "$work/timed.log" '📊 Current Statistics:'
stop_children
children=()
keeper_has_ended() { ! kill -0 "$keeper" 2>/dev/null; }
wait_until keeper_has_ended
[ -z "$(ls "$TTSCOPE_ROOT/dev/shm")" ] || fail "wanted no regions after the end"

# --- options ------------------------------------------------------------------------------------
mkdir "$work/recordings"
start_server --quiet --json --record "$work/recordings"
ask fill:0:dram:1048576:10 free:0:0x100000 check:0
stop_server
expect_code 0
jq -e -s 'map(.schema) | unique | length == 1' <<<"$out" >/dev/null || fail "wanted JSON lines"
! grep -q '"alloc"' <<<"$out" || fail "wanted no events with --quiet"
run "$ttscope" show "$work"/recordings/*.tts
expect_code 0
expect_out_like 'peak of DRAM: 10485760 B'
expect_out_like 'state      complete'
rm "$work"/recordings/*
start_server --quiet --record "$work/recordings"
start_client "$work/going" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" fill:0:dram:64:3 hold
stop_server
expect_code 0
run "$ttscope" show "$work"/recordings/*.tts
expect_code 0
expect_err ''
expect_out_like 'state      ended before the program'
stop_children
children=()
start_server --json
ask alloc:0:dram:4096:0x40
stop_server
[ "$(jq -c 'select(.size_bytes == 4096) | .id' <<<"$out" | head -n 1)" != "" ] || fail "wanted an event in JSON"

# --- circular buffers of all processes ----------------------------------------------------------
live_cbs() { # the running total of each event
    jq -c -s '[.[] | select(.event == "cb_alloc") | .live_bytes]' "$work/log"
}
has_live_cbs() {
    [ "$(live_cbs)" = "$1" ]
}
start_server --json
start_client "$work/cb" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" cb:0:8192:1 hold
for i in 1 2; do
    mkfifo "$work/in.$i"
    "$TTS_BUILD_DIR/tests/publish_program" "$TTSCOPE_ROOT/dev/shm" -1 4096 <"$work/in.$i" >"$work/published.$i" 2>&1 &
    children+=($!)
done
exec 8>"$work/in.1" 9>"$work/in.2"
echo 'own 262144' >&8
wait_until has_live_cbs '[8192,270336]' || live_cbs
echo 'own 262144' >&9
wait_until has_live_cbs '[8192,270336,532480]' || live_cbs
start_client "$work/cb2" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" cb:0:100:2 cbfree:0:50:2 hold
wait_until has_live_cbs '[8192,270336,532480,532580]' || live_cbs
kill -USR1 "$server"
last_cbs() {
    jq -s -c '[.[] | select(.kind == "statistics") | .devices[0].cb_bytes] == [532530] and
        ([.[] | select(.event == "cb_free") | .live_bytes] == [532530])' "$work/log" | grep -q true
}
wait_until last_cbs || cat "$work/log"
echo program >&8 # the circular buffers of the program before are gone
echo 'own 4096' >&8
wait_until has_live_cbs '[8192,270336,532480,532580,274482]' || live_cbs
exec 8>&- 9>&-
stop_server
expect_code 0
stop_children
children=()

# --- output that nobody takes -------------------------------------------------------------------
for target in /dev/full closed; do
    if [ $target = closed ]; then
        "$ttscope" serve --socket "$socket" 2>"$work/notes" > >(exec true) &
    else
        "$ttscope" serve --socket "$socket" >$target 2>"$work/notes" &
    fi
    server=$!
    wait_until test -S "$socket"
    ask fill:0:dram:64:500 check:0
    expect_code 0
    : >>"$work/log"
    stop_server
    [ "$(grep -c "the server goes on, but cannot write to standard output: " <<<"$err")" -eq 1 ] ||
        fail "wanted one message about $target"
    [ $target = closed ] && expect_code 0
    [ $target = closed ] || expect_code 3
done

# --- counters of the runtime --------------------------------------------------------------------
export TTSCOPE_ROOT=$work/fake
build_dir=$TTS_BUILD_DIR
. "$source_dir/tests/e2e/live_rig.sh"
live_host
live_chip 0 0100018511732000 4242
live_process 4242 python3
set_region() { # DRAM L1 CB
    live_region $((0x0100018511732000)) v3 logical=0 refs=1 "total=$1:$2:0:0:$3" \
        "slot=4242:$1:$2:0:0:$3:1760000000000000000:python3"
}
start_server
expect_log '   Device 0: Wormhole_B0 ('
set_region 1048576 0 0
expect_log '[PID 4242] Allocated 1048576 bytes of DRAM on device 0'
set_region 1048576 4096 2097152
expect_log '[PID 4242] Allocated 4096 bytes of L1 on device 0'
expect_log '✓ [CB_ALLOC] Device 0: +2 MB (Total: 2 MB)'
# A clock that is set changes the time at which the process started, and not the process.
echo "btime 1758000000" >"$TTSCOPE_ROOT/proc/stat"
set_region 1048576 4096 3145728
expect_log '✓ [CB_ALLOC] Device 0: +1 MB (Total: 3 MB)'
[ "$(grep -cF 'Allocated 1048576 bytes of DRAM on device 0' "$work/log")" -eq 1 ] ||
    fail "wanted one allocation of DRAM, also after the clock was set"
set_region 524288 4096 0
expect_log '[PID 4242] Freed'
ask query:0 info:0
[ "$(jq -c '.replies | [.[0].dram, .[0].l1, .[1].arch, .[1].dram_channels]' <<<"$out")" = '[524288,4096,2,12]' ] ||
    fail "wanted the counters of the region in replies"
rm -r "$TTSCOPE_ROOT/proc/4242" && : >"$TTSCOPE_ROOT/proc/driver/tenstorrent/0/pids"
expect_log 'PID 4242 is dead'
stop_server
expect_code 0
