#!/usr/bin/env bash
# `ttscope serve` and processes that end while another process keeps their connection open.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/serve_rig.sh"

server_ticks() { # the time of the processor that the server used, in ticks of 10 ms
    awk '{ print $14 + $15 }' "/proc/$server/stat"
}

# --- a parent ends, and its child keeps the connection ------------------------------------------
start_server
start_client "$work/left" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" fill:3:dram:1000:4 leave
unset 'children[-1]' # the parent has ended, its child lives
children+=("$(sed -n 's/^left //p' "$work/left")")
wait_until has_line "$work/log" 'is dead'
wait_until is_live '[]'
before=$(server_ticks)
sleep 1
ticks=$(($(server_ticks) - before))
[ $ticks -lt 30 ] || fail "wanted a server that waits: it used $ticks ticks of 100"
# The next process has the place of the dead one.
start_client "$work/next" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" fill:3:dram:500:4 hold
wait_until is_live '[{"device":3,"buffers":4,"dram":2000,"l1":0,"l1_small":0,"trace":0}]'
sleep 0.3
is_live '[{"device":3,"buffers":4,"dram":2000,"l1":0,"l1_small":0,"trace":0}]' || fail "wanted the next process alive"
[ "$(grep -c 'is dead' "$work/log")" -eq 1 ] || fail "wanted one dead process: $(cat "$work/log")"
ask query:3
[ "$(jq -c '.replies[0].dram' <<<"$out")" = 2000 ] || fail "wanted the bytes of the next process"
stop_server
expect_code 0
stop_children
children=()

# --- the terminal closes ------------------------------------------------------------------------
start_server --quiet
"$client" steady "$socket" 144 2000 5 1000 <&7 >"$work/steady" & # sends for two seconds at least
children+=($!)
has_client() { [ "$(server_live)" != '[]' ]; }
wait_until has_client
kill -HUP "$server"
code=0
wait "$server" || code=$?
server="" out=$(cat "$work/log") err=$(cat "$work/notes") ran="the server"
expect_code 0
expect_out_like 'Active allocations: '
expect_err_like "process * keeps them open until the programs end"
keeper=$(sed -n 's/.*: process \([0-9]*\) keeps.*/\1/p' <<<"$err")
kill -HUP "$keeper" # a shell that ends may send a second signal
wait_until test -s "$work/steady"
kill -0 "${children[0]}" || fail "the client was killed"
kill -0 "$keeper" || fail "wanted a process that keeps the connection"
stop_children
children=()
: >"$work/log"
(trap '' HUP && exec "$ttscope" serve --quiet --socket "$socket") >"$work/log" 2>"$work/notes" & # nohup
server=$!
wait_until test -s "$work/log"
kill -HUP "$server"
ask fill:1:dram:64:3 check:1
expect_code 0
stop_server
expect_code 0

# --- regions that cannot be made ----------------------------------------------------------------
rmdir "$TTSCOPE_ROOT/dev/shm"
start_server --quiet
for i in 1 2; do
    start_client "$work/lacking.$i" python3 "$source_dir/tests/e2e/serve_client.py" "$socket" fill:3:dram:1000:4 hold
done
wait_until has_line "$work/notes" "cannot make regions in '"
mkdir "$TTSCOPE_ROOT/dev/shm"
has_regions() { [ "$(find "$TTSCOPE_ROOT/dev/shm" -name 'ttscope_*' | wc -l)" -eq 2 ]; }
wait_until has_regions
# The regions have all that the processes hold, although nothing changes.
run "$ttscope" top --once --json
[ "$(jq -c '[.devices[] | select(.id == 3) | .pools[0].allocated_bytes]' <<<"$out")" = '[4000,4000]' ] ||
    fail "wanted the bytes of both processes in top"
stop_server
expect_code 0
[ "$(grep -c 'cannot make regions' <<<"$err")" -eq 1 ] || fail "wanted one message about regions"
