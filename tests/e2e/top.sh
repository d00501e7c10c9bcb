#!/usr/bin/env bash
# `ttscope top` without a terminal: views, options, exit codes, the published filters, signals.
. "$(dirname "$0")/lib.sh"
export TTSCOPE_ROOT=$work/root LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR
. "$(dirname "$0")/live_rig.sh"
serial=0100018511732011
id=$((0x$serial))
mb=1048576
stamp=1760000000000000000

# l1_bytes MB   sets the use of L1, of 85.05 MB
l1_bytes() {
    live_region "$id" v3 "slot=4242:$((1536 * mb)):$(($1 * mb)):$((2 * mb)):0:$mb:$stamp:python3"
}

# --- no host ------------------------------------------------------------------------------------
run "$ttscope" top --once
expect_code 4
expect_out ""
expect_err_like "cannot read"
mkdir "$TTSCOPE_ROOT"
run "$ttscope" top --once
expect_code 4
expect_out ""
expect_err_like "ttscope top: this host has no device, and no program reports its memory"
expect_err_like "the driver (tt-kmd) is not loaded"
expect_err_like "'ttscope doctor'"
run "$ttscope" top --once --json
expect_code 4
expect_out ""

# --- a chip that nobody uses --------------------------------------------------------------------
live_host
live_chip 0 "$serial"
run "$ttscope" top --once
expect_code 0
expect_out_like "State: idle"
expect_out_like "Source: none, nothing reports the memory"
expect_out_like "L1 Allocated: unknown"
[[ $out != *"0.00 B"* ]] || fail "wanted no number for unknown bytes"
run "$ttscope" top --once --fail-above L1=1%
expect_code 0

# --- a process ----------------------------------------------------------------------------------
live_chip 0 "$serial" 4242
live_process 4242 python3
l1_bytes 72
run "$ttscope" top --once
expect_code 0
expect_err ""
expect_out_like "Device 0 (ID: 0)"
expect_out_like "    Allocated:           72.00 MB (84.7%)"
expect_out_like "  L1 Allocated: 72.00 MB (84.7%) 84% (nominal)"
expect_out_like "  L1_SMALL Allocated: 2.00 MB (unknown)"
expect_out_like "
  State: live
  Id: $id
"
expect_out_like "  Process 4242 python3, "
# Only views that show users look for their names.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    for view in table blocks processes; do
        ASAN_OPTIONS=detect_leaks=0 run strace -f -e trace=openat -o "$work/strace" "$ttscope" top --once --view $view
        expect_code 0
        users=shown
        grep -qF '"/etc/passwd"' "$work/strace" || users=hidden
        [ $users = "$([ $view = table ] && echo hidden || echo shown)" ] || fail "wanted no other look at users"
    done
fi
[[ $out != *$'\e'* ]] || fail "wanted no colours in a pipe"
[ "$(wc -L <<<"$out")" -le 80 ] || fail "wanted lines of at most 80 columns"
run "$ttscope" top --once --color always
expect_out_like $'\e[33m['
LC_ALL=C run "$ttscope" top --once
LC_ALL=C grep -q '[^ -~]' <<<"$out" && fail "wanted ASCII without UTF-8"
expect_out_like "[#########"
run "$ttscope" top --once --view table
expect_out_like "Memory Usage Monitor (Update #0)
"
expect_out_like "
0        unknown    1536.00 MB       72.00 MB         2.00 MB         0.00 MB       1610.00 MB
"
[ "$(grep -c Tips: <<<"$out")" -eq 1 ] || fail "wanted the tips once"
run "$ttscope" top --once --view processes
expect_out_like "
  0 4242     - *live *1.50G 72.0M *2.00M *0 *1.00M"
run "$ttscope" top --once --json
expect_code 0
[ "$(jq -r '.devices[0].pools[] | [.pool, .allocated_bytes, .total_source] | @text' <<<"$out")" = \
    '["DRAM",1610612736,"nominal"]
["L1",75497472,"nominal"]
["L1_SMALL",2097152,null]
["TRACE",0,null]' ] || fail "wanted the bytes of all pools"
[ "$(jq -c '.devices[0] | [.id, .node, .unique_id_hex, .state, .source, .caveats]' <<<"$out")" = \
    '[0,0,"0100018511732011","live","region",["one_thread","logical","nominal","cb_cached"]]' ] ||
    fail "wanted the facts of the device"
[ "$(jq -c '.devices[0].processes[] | [.pid, .name, .state, .alive, .pools.L1]' <<<"$out")" = \
    '[4242,"python3","live",true,75497472]' ] || fail "wanted the process"

# --- limits -------------------------------------------------------------------------------------
run "$ttscope" top --once --fail-above L1=80%
expect_code 1
expect_err_like "ttscope top: L1 of device 0 is at 84.7% (72.00 MB of nominally 85.05 MB), above the limit of 80.0%: process 4242 python3, *holds 72.00 MB"
expect_out_like "L1 Allocated:"
run "$ttscope" top --once --json --fail-above dram=90% --fail-above L1=85%
expect_code 0
run "$ttscope" top --once --fail-above L1_SMALL=80%
expect_code 5
expect_err "ttscope top: cannot check the limit of L1_SMALL of device 0: the size of this pool is unknown"
run "$ttscope" top -n 3 -r 100 --json --fail-above L1_SMALL=80%
expect_code 5
[ "$(wc -l <<<"$err")" -eq 1 ] || fail "wanted the message once"
l1_bytes 10
(sleep 0.4 && l1_bytes 80) &
run timeout 20 "$ttscope" top -r 100 --json --fail-above L1=80%
expect_code 1
expect_err_like "L1 of device 0 is at 94.1%"
wait

# Each device is named once. A pool that can be judged in a later frame does not count.
live_chip 1 0100018511732022 4242
live_region $((0x0100018511732022)) v3 "slot=4242:$mb:$mb:0:0:0:$stamp:python3"
run "$ttscope" top -n 3 -r 100 --json --fail-above L1_SMALL=80% --fail-above L1_SMALL=90%
expect_code 5
expect_err "ttscope top: cannot check the limit of L1_SMALL of device 0: the size of this pool is unknown
ttscope top: cannot check the limit of L1_SMALL of device 1: the size of this pool is unknown"
live_region $((0x0100018511732022)) v3 version=9
(sleep 0.4 && live_region $((0x0100018511732022)) v3 "slot=4242:$mb:$mb:0:0:0:$stamp:python3") &
run "$ttscope" top -n 10 -r 100 --json --fail-above L1=99%
expect_code 0
expect_err "ttscope top: cannot check the limit of L1 of device 1: the use of this pool is unknown"
wait
rm "$TTSCOPE_ROOT/dev/shm/tt_device_$((0x0100018511732022))_memory"

# --- selection ----------------------------------------------------------------------------------
live_chip 1 0100018511732022
run "$ttscope" top --once --json
[ "$(jq -c '[.devices[] | [.index, .state]]' <<<"$out")" = '[[0,"live"],[1,"idle"]]' ] ||
    fail "wanted two devices"
for args in "--device 0" "-d 0x$serial" "-d $id" "--pid 4242"; do
    # shellcheck disable=SC2086
    run "$ttscope" top --once --json $args
    [ "$(jq -c '[.devices[].index]' <<<"$out")" = '[0]' ] || fail "wanted device 0"
done
run "$ttscope" top --once --device 2
expect_code 4
expect_err "ttscope top: cannot find the selected device: this host has 2 devices, numbered from 0"
run "$ttscope" top --once --pid 77
expect_code 4
expect_err_like "no selected process uses a selected device"
run "$ttscope" top --once --device=-1
expect_code 2

# --- refreshes ----------------------------------------------------------------------------------
run "$ttscope" top -n 3 -r 100 --json
expect_code 0
expect_err ""
[ "$(jq -c .update <<<"$out" | paste -sd,)" = 0,1,2 ] || fail "wanted three documents"
run "$ttscope" top -n 2 -r 99 --view table
expect_code 0
expect_err "ttscope top: warning: refresh interval too low, setting to 100ms"
[ "$(grep -c 'Update #' <<<"$out")" -eq 2 ] || fail "wanted two frames"
[ "$(grep -c Tips: <<<"$out")" -eq 1 ] || fail "wanted the tips once"
[ "$(grep -c '^(Δ)' <<<"$out")" -eq 2 ] || fail "wanted changes in the second frame only"
expect_out_like "Δ)      unknown     +0.00 MB"
run "$ttscope" top -n 2 -i 0.1 --view table --no-delta
expect_err ""
[[ $out != *"(Δ)"* ]] || fail "wanted no changes"
# Refreshes stay on time: five of them, 100 ms apart, take 400 ms and the time to start.
start=$(date +%s%N)
run "$ttscope" top -n 5 -r 100 --json
took=$((($(date +%s%N) - start) / 1000000))
[ "$took" -ge 400 ] || fail "wanted 400 ms, took $took"

# --- waiting ------------------------------------------------------------------------------------
mv "$TTSCOPE_ROOT" "$work/later"
mkdir "$TTSCOPE_ROOT"
(sleep 0.4 && cp -r "$work"/later/* "$TTSCOPE_ROOT") &
run timeout 20 "$ttscope" top --wait --once --json -r 100 --device 0
expect_code 0
expect_err "ttscope top: waiting for a device, or for a program that reports its memory"
[ "$(jq -c '.devices | length' <<<"$out")" = 1 ] || fail "wanted the device"
wait

# --- what cannot be read ------------------------------------------------------------------------
: >"$TTSCOPE_ROOT/dev/shm/tt_device_99_memory"
run "$ttscope" top --once --json
[ "$(jq -c '.devices[2] | [.state, .source, .pools[0].allocated_bytes]' <<<"$out")" = \
    '["unreadable",null,null]' ] || fail "wanted an unreadable region"
run "$ttscope" top --once --view table
expect_out_like "Device 2: unreadable: "
rm "$TTSCOPE_ROOT/dev/shm/tt_device_99_memory"

# --- a buffer log that was read in part ---------------------------------------------------------
mkdir -p "$TTSCOPE_ROOT/logs/generated/inspector" "$TTSCOPE_ROOT/proc/4243/fd"
live_chip 1 0100018511732022 4243
live_process 4243 python3
log=$TTSCOPE_ROOT/logs/generated/inspector/mesh_buffers_log.yaml
printf '%s\n' "- mesh_buffer_allocated:" "    id: 1" "    address: 64" "    device_local_size: 8192" \
    "    buffer_type: L1" "    timestamp_ns: 1" >"$log"
ln -s "$log" "$TTSCOPE_ROOT/proc/4243/fd/3"
run "$ttscope" top --once --json
[ "$(jq -c '.processes_without_device[] | [.pid, .pools.L1, .buffers, .source, .caveats]' <<<"$out")" = \
    '[4243,8192,1,"inspector",[]]' ] || fail "wanted the bytes of the log"
echo "    bad line" >>"$log"
run "$ttscope" top --once --json
[ "$(jq -c '.processes_without_device[] | [.pid, .pools.L1, .buffers, .source, .caveats]' <<<"$out")" = \
    '[4243,null,null,null,["part_log"]]' ] || fail "wanted no bytes of a log that was read in part"
for view in blocks table; do
    run "$ttscope" top --once --view $view
    expect_sentence "- Device unknown: process 4243 python3, *: bytes unknown"
done
for view in blocks table processes; do
    run "$ttscope" top --once --view $view
    expect_sentence "- Device unknown: a buffer log could be read only in part, or is that of several meshes, so the numbers of this log are not used"
    [[ $out != *"8.00 KB"* && $out != *8.00K* ]] || fail "wanted no number of the log"
done
rm -r "$TTSCOPE_ROOT/logs" "$TTSCOPE_ROOT/proc/4243"
live_chip 1 0100018511732022

# --- the published filters and script -----------------------------------------------------------
l1_bytes 72
"$ttscope" top -r 250 >"$work/memory.log" &
monitor=$!
sleep 0.6
kill $monitor
wait $monitor
code=$? out=$(cat "$work/memory.log") err="" ran="the published script"
expect_code 0
grep -q "L1.*[89][0-9]\.[0-9]%" "$work/memory.log" || fail "wanted a line for the filter"
[ "$(grep -c '^Device 0 ' "$work/memory.log")" -ge 2 ] || fail "wanted several frames"
[[ $out == *$'\n'"  State: idle"* ]] || fail "wanted the whole last frame"
grep -A 5 "Allocated.*[89][0-9]%" "$work/memory.log" | grep -q "L1 Allocated: 72.00 MB (84.7%) 84%" ||
    fail "wanted the pool above 80 %"
# The filter of the page also finds a full pool.
filter=$("$ttscope" help top | sed -n 's/^ *grep -qE "\(.*\)" memory.log$/\1/p')
[ -n "$filter" ] || fail "wanted a filter in the page"
while read -r megabytes is_found; do
    l1_bytes "$megabytes"
    run "$ttscope" top --once
    found=0
    grep -qE "$filter" "$work/out" || found=$?
    [ "$found" -eq "$is_found" ] || fail "wanted $is_found of the filter at $megabytes MB"
done <<<"7 1
60 1
72 0
85 0
100 0"
l1_bytes 60
run "$ttscope" top --once
grep -q "L1.*[89][0-9]\.[0-9]%" "$work/out" && fail "wanted no line for the filter below 80 %"
grep -q "Allocated.*[89][0-9]%" "$work/out" && fail "wanted no line for the filter below 80 %"

# --- growth -------------------------------------------------------------------------------------
l1_bytes 10
"$ttscope" top -n 16 -r 100 --json --growing-interval 0.2 --growing-rises 3 >"$work/growth" &
monitor=$!
for megabytes in {11..26}; do
    l1_bytes "$megabytes"
    sleep 0.1
done
wait $monitor
ran="top --growing-interval" out=""
grep -q '"growing": \[{"pool": "L1", "pid": 4242, .*"full_seconds": [0-9]' "$work/growth" ||
    fail "wanted a growing pool"
grep -q '"growing": \[\], "leak": null' <(head -n 1 "$work/growth") || fail "wanted no answer yet"
l1_bytes 82
run "$ttscope" top --once --fail-on leak --view table
expect_code 0
expect_sentence "Device 0: L1 Memory: 96% full - critical, reduce buffer sizes; largest: process 4242 python3 82.00 MB; DRAM Memory: 12% full - has room for buffers that are now in L1; no program lists its buffers, so it is unknown which could move"
run "$ttscope" top --once --view phases
expect_code 0
expect_out_like "Phases of Traces (Update #0)"
expect_out_like "unknown"
l1_bytes 60

# --- signals and pipes --------------------------------------------------------------------------
for signal in INT TERM; do
    ran="top, $signal"
    rm "$work/out"
    env --default-signal=INT "$ttscope" top -r 100 --json >"$work/out" 2>"$work/err" &
    monitor=$!
    for _ in {1..200}; do
        [ -s "$work/out" ] && break
        sleep 0.05
    done
    kill -"$signal" $monitor
    code=0
    wait $monitor || code=$?
    out=$(cat "$work/out") err=$(cat "$work/err")
    expect_code 0
    expect_err ""
    [ -z "$(tail -c 1 "$work/out")" ] || fail "wanted whole documents"
done
"$ttscope" top -r 100 2>"$work/err" | head -n 1 >"$work/out"
ran="top | head" code=0 out=$(cat "$work/out") err=$(cat "$work/err")
expect_err ""
# A program that ignores SIGPIPE gets a quiet end, too.
(trap '' PIPE && exec "$ttscope" top -r 100 2>"$work/err"; echo $? >"$work/code") | head -n 1 >"$work/out"
expect_err ""
ran="top >/dev/full" code=0
"$ttscope" top --once >/dev/full 2>"$work/err" || code=$?
err=$(cat "$work/err")
expect_code 3
expect_err_like "cannot write to standard output"

# --- usage --------------------------------------------------------------------------------------
for args in "--once --count 2" "-r 100 -i 1" "-i x" "-r x" "-n 0" "--view chart" "--color blue" \
    "--fail-above L9=5%" "--fail-above L1=0.95" "--fail-above L1=101%" "--pid 0" "--fail-on growth" \
    "--growing-interval 0" "--growing-rises 0" "operand"; do
    # shellcheck disable=SC2086
    run "$ttscope" top $args
    expect_code 2
    expect_out ""
done
