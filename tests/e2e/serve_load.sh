#!/usr/bin/env bash
# `ttscope serve` under load: clients that are killed, many processes and devices, a reader that
# stopped, and a server that is killed and started again while programs publish. TTS_EVENTS is
# the number of allocations of the latter (3,000,000). TTS_SLOW_SERVER says that the server is built with
# checks that make it many times slower: then no send is timed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/serve_rig.sh"
program=$TTS_BUILD_DIR/tests/publish_program
events=${TTS_EVENTS:-3000000}

# --- 1,000 clients that are killed at random moments --------------------------------------------
start_server --quiet
mkfifo "$work/hold"
"$client" herd "$socket" 112 1000 3 <"$work/hold" >"$work/herd" 2>"$work/herd.err" &
herd=$!
exec 9>"$work/hold"
wait_until test -s "$work/herd"
wait_until is_live "$(client_live "$work/herd")"
exec 9>&-
wait "$herd" || fail "a client ended before it was killed: $(cat "$work/herd.err")"
wait_until is_live '[]'
wait_until test -z "$(ls "$TTSCOPE_ROOT/dev/shm")"

# --- 64 processes on 32 devices -----------------------------------------------------------------
for i in $(seq 64); do
    "$client" steady "$socket" $((i % 2 ? 144 : 72)) 300 "$i" <&7 >"$work/steady.$i" &
    children+=($!)
done
for i in $(seq 64); do
    wait_until test -s "$work/steady.$i"
done
wait_until is_live "$(client_live "$work"/steady.*)"
[ "$(find "$TTSCOPE_ROOT/dev/shm" -name 'ttscope_*' | wc -l)" -eq 64 ] || fail "wanted 64 regions"
run "$ttscope" top --once --json
top_bytes=$(jq -c '[.devices[] | {device: .id, dram: .pools[0].allocated_bytes}] | group_by(.device) |
    map({device: .[0].device, dram: (map(.dram) | add)})' <<<"$out")
out=""
[ "$top_bytes" = "$(client_live "$work"/steady.* | jq -c 'map({device, dram})')" ] ||
    fail "wanted the same bytes in top: $top_bytes"
kill -KILL "${children[@]}" && wait "${children[@]}" 2>/dev/null
children=()
wait_until is_live '[]'
stop_server
expect_code 0

# --- a reader that stopped ----------------------------------------------------------------------
# In each flood of 20,000 events, 99.9 % of the sends take less than 10 ms. A wait of the server blocks
# only the send that finds the socket full, so the slowest send of each flood counts too: in 18 of 20
# floods it takes less than 10 ms. Other programs of this machine may take the processor from both
# sides for longer. Then a receiver that does nothing else has slow sends as well, at the same time:
# three times as long as there is allowed. Measured: 3 to 5 ms alone, and 0.7 to 1.5 times as long as
# there with 2 and 6 busy loops on 2 processors.
mkfifo "$work/pipe"
exec 6<>"$work/pipe" # the reader
"$ttscope" serve --socket "$socket" >"$work/pipe" 2>"$work/notes" &
server=$!
wait_until test -S "$socket"
python3 -c '
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
while True:
    connection = listener.accept()[0]
    while connection.recv(1 << 18):
        pass' "$work/bare" &
children+=($!)
wait_until test -S "$work/bare"
slowest_send() { # SOCKET
    run timeout 60 "$client" flood "$1" 144 20000 5
    expect_code 0
    [ "$(jq .p999_ns <<<"$out")" -lt 10000000 ] || [ -n "${TTS_SLOW_SERVER-}" ] ||
        fail "wanted 99.9 % of the sends to $1 below 10 ms"
    jq .slowest_ns <<<"$out"
}
for _ in {1..20}; do
    slowest_send "$socket" >>"$work/slowest"
    slowest_send "$work/bare" >>"$work/slowest.bare"
done
slow=$(sort -n "$work/slowest" | sed -n 18p) bare=$(sort -n "$work/slowest.bare" | sed -n 18p)
[ "$slow" -lt 10000000 ] || [ "$slow" -lt $((3 * bare)) ] || [ -n "${TTS_SLOW_SERVER-}" ] ||
    fail "the slowest send of a flood took $slow ns; $bare ns to a receiver that does nothing else"
: >"$work/log"
stop_server
exec 6<&-
expect_code 0

# --- a server that is killed while programs publish ---------------------------------------------
bytes=$(awk -v n="$events" 'BEGIN { for (i = n - 50; i < n; i++) sum += 1 + i % 1000; print 5000 + sum }')
run_program() { # lets the program run for a moment, which is not enough for all events
    kill -CONT "$publisher"
    sleep 0.03
    kill -STOP "$publisher"
    ! has_line "$work/published" "done" || fail "the program was finished too early"
}
kill_and_restart() { # [OPTION]...
    start_server "$@"
    rm -f "$work/lines"
    mkfifo "$work/lines"
    "$program" "$TTSCOPE_ROOT/dev/shm" 2 5000 <"$work/lines" >"$work/published" &
    publisher=$!
    children+=("$publisher")
    exec 8>"$work/lines"
    wait_until has_line "$work/published" "ready"
    echo "churn $events" >&8
    run_program
    kill -KILL "$server" && wait "$server" 2>/dev/null
    run_program # without a server
    start_server "$@"
    kill -CONT "$publisher"
    wait_until has_line "$work/published" "done"
    wait_until is_live "[{\"device\":0,\"buffers\":52,\"dram\":$bytes,\"l1\":2048,\"l1_small\":0,\"trace\":0},{\"device\":1,\"buffers\":2,\"dram\":10000,\"l1\":2048,\"l1_small\":0,\"trace\":0}]"
    ask dump
    wait_until has_line "$work/log" "Total remaining buffers: 54"
    report=$(sed -n '/REMAINING ALLOCATED BUFFERS/,$p' "$work/log" | sed -n 's/^Device \([0-9]*\):/\1:/p; s/^  \([A-Z0-9]*\): \([0-9]*\) buffers, \([0-9.]*\) MB total$/\1 \2 \3/p')
    mb=$(awk -v b="$bytes" 'BEGIN { printf "%.6f", int(b * 1000000 / 1048576) / 1000000 }') # not rounded
    [ "$report" = "0:
DRAM 51 $mb
L1 1 0.001953
1:
DRAM 1 0.009536
L1 1 0.001953" ] || fail "wanted the live buffers in the report: $report"
}
kill_and_restart --quiet
kill -KILL "$publisher"
wait_until is_live '[]'
stop_server
expect_code 0
mkdir "$work/recordings"
kill_and_restart --record "$work/recordings" # now the server reads the ring
last=$(printf '(buffer_id=0x%x)' $((1000000 + events - 1)))
wait_until has_line "$work/log" "Allocated 1000 bytes of DRAM on device 0 $last"

# --- more events than the ring of a program has -------------------------------------------------
lost=$(grep -c 'Lost [0-9]* events' "$work/log")
kill -STOP "$server"
echo "work 200000 3" >&8
has_worked() { [ "$(grep -c '^done' "$work/published")" -eq 2 ]; }
wait_until has_worked
kill -CONT "$server"
has_lost() { [ "$(grep -c "^⚠ \[PID $publisher\] Lost [1-9][0-9]* events\$" "$work/log")" -gt "$lost" ]; }
wait_until has_lost
kill -KILL "$publisher"
wait_until is_live '[]'
stop_server
expect_code 0
run "$ttscope" show --json "$work"/recordings/*-"$publisher"-*-2.tts # of the second server
expect_code 5
expect_err_like "events were dropped before they were recorded"
