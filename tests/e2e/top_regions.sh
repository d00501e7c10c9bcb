#!/usr/bin/env bash
# `ttscope top` and regions of every version, written by an independent program: each number in text
# and JSON, 32 devices with 64 processes each, regions that change between two refreshes, and a
# real process in a pid namespace of its own.
. "$(dirname "$0")/lib.sh"
export TTSCOPE_ROOT=$work/root LC_ALL=C.UTF-8 TZ=UTC
. "$(dirname "$0")/live_rig.sh"
mb=1048576
stamp=1760000000000000000
serial_of() { # NODE
    printf '01000185117320%02x' "$1"
}

# --- every version ------------------------------------------------------------------------------
live_host
live_process 4242 python3
node=0
for kind in v1k v1 v2 v3 v4; do
    live_chip $node "$(serial_of $node)" 4242
    kernel=""
    [ $kind != v1k ] || kernel=:$((6 * mb))
    live_region $((0x$(serial_of $node))) $kind logical=$node \
        "slot=4242:$(((node + 1) * 100 * mb)):$(((node + 1) * mb)):$((2 * mb)):$((3 * mb)):$((4 * mb))$kernel:$stamp:python3"
    node=$((node + 1))
done
run "$ttscope" top --once --json
expect_code 0
[ "$(jq -r '.devices[] | [.id, .state, (.pools | map(.allocated_bytes / 1048576)), (.pools[1].cb_bytes / 1048576),
    (.processes[0].pools.KERNEL // 0) / 1048576, .processes[0].pid] | @text' <<<"$out")" = \
    '[0,"live",[100,1,2,3],4,6,4242]
[1,"live",[200,2,2,3],4,0,4242]
[2,"live",[300,3,2,3],4,0,4242]
[3,"live",[400,4,2,3],4,0,4242]
[4,"live",[500,5,2,3],4,0,4242]' ] || fail "wanted the numbers of all versions in JSON"
run "$ttscope" top --once
node=0
for kind in v1k v1 v2 v3 v4; do
    # The lines of the device, without the shares.
    block=$(sed -n "/^Device $node /,/^Device $((node + 1)) /p" "$work/out" | sed -E 's/ \([0-9.]+%\).*| \(unknown\)//' | tr -s '\n ' ' ')
    for text in " DRAM Allocated: $(((node + 1) * 100)).00 MB L1 Allocated: $((node + 1)).00 MB" \
        " L1_SMALL Allocated: 2.00 MB TRACE Allocated: 3.00 MB Circular Buffers: 4.00 MB State: live " \
        " Source: memory region of the runtime ($kind) " \
        ": DRAM $(((node + 1) * 100)).00 MB, L1 $((node + 1)).00 MB, L1_SMALL 2.00 MB, TRACE 3.00 MB, CB 4.00 MB"; do
        [[ $block == *"$text"* ]] || fail "wanted of $kind: $text, found: $block"
    done
    [[ $kind != v1k || $block == *", KERNEL 6.00 MB "* ]] || fail "wanted kernel binaries"
    node=$((node + 1))
done
run "$ttscope" top --once --view processes
expect_out_like "
Kernel binaries:
   - Device 0, process 4242 python3, root: 6.00 MB
"
[[ $out != *renamed* ]] || fail "wanted no changed name"
live_process 4242 pt_main_thread
run "$ttscope" top --once --view processes
expect_out_like "
renamed: the process has another name than when it registered
   - Device 0, process 4242 pt_main_thread, root
   - Device 1, process 4242 pt_main_thread, root
"
[ "$(grep -c ' live ' "$work/out")" -eq 5 ] || fail "wanted a renamed process to be alive"
live_process 4242 python3

# --- a remote chip: its region has no board -----------------------------------------------------
live_region 99 v3 "slot=4242:$((7 * mb)):0:0:0:0:$stamp:python3"
run "$ttscope" top --once --json
[ "$(jq -c '.devices[5] | [.unique_id, .state, .pools[0].allocated_bytes, .pools[0].total_bytes,
    (.caveats | index("no_board") != null), .processes[0].pid]' <<<"$out")" = \
    "[99,\"live\",$((7 * mb)),null,true,4242]" ] || fail "wanted a remote chip without capacity"
run "$ttscope" top --once
block=$(sed -n "/^Device 5 /,\$p" "$work/out" | tr -s '\n ' ' ')
for text in "DRAM Memory: Banks: unknown Total: unknown Allocated: 7.00 MB (unknown) Free: unknown Largest Block: unknown Usage: unknown" \
    " DRAM Allocated: 7.00 MB (unknown) L1 Allocated: 0.00 B (unknown) L1_SMALL Allocated: 0.00 B (unknown) TRACE Allocated: 0.00 B (unknown) " \
    " Id: 99 " "process 4242 python3, root, live: DRAM 7.00 MB" "the chip is remote or unknown"; do
    [[ ${block,,} == *"${text,,}"* ]] || fail "wanted of the remote chip: $text, found: $block"
done

# --- regions that change while top runs ---------------------------------------------------------
region=$TTSCOPE_ROOT/dev/shm/tt_device_$((0x$(serial_of 0)))_memory
"$ttscope" top --view table -r 100 >"$work/changes" 2>&1 &
top=$!
# Waits until a frame that began after this call has a text, with each run of blanks and line ends
# as one blank. The text is a pattern. If a reason is given, the numbers of device 0 are unknown.
wait_for_frame() { # row [reason]
    local now text
    now=$(wc -l <"$work/changes")
    for _ in {1..100}; do
        text=$(tail -n +"$((now + 1))" "$work/changes" | sed '1,/Update #/d' | tr -s '\n ' ' ')
        # shellcheck disable=SC2053
        [[ $text == *"= 0 $1 "*"${2-}"* ]] && return
        sleep 0.1
    done
    ran="top while a region changes" out=${text:0:2000} err="" code=0
    fail "wanted a frame with: $1, ${2-}"
}
unknown="unknown unknown unknown unknown unknown unknown"
wait_for_frame "unknown 100.00 MB"
truncate -s 100 "$region"
wait_for_frame "$unknown" "- Device 0: unreadable: the file has an unknown layout (version 1, 100 bytes)"
truncate -s 0 "$region"
wait_for_frame "$unknown" "- Device 0: unreadable: a process has created the region but has not initialised the region yet"
rm "$region"
wait_for_frame "$unknown" "- Device 0: live: a process has the chip open, but no program reports the memory of the chip"
head -c 8576 /dev/zero | tr '\0' '\377' >"$region"
wait_for_frame "$unknown" "- Device 0: unreadable: the file has an unknown layout (version 4294967295, 8576 bytes)"
live_region $((0x$(serial_of 0))) v3 "slot=4242:$((1 << 55)):0:0:0:0:$stamp:python3"
wait_for_frame "$unknown" "- Device 0: unreadable: the memory region is damaged: the counters exceed the memory of any device"
# Another file takes the name.
TTSCOPE_ROOT=$work/other live_host
TTSCOPE_ROOT=$work/other live_region $((0x$(serial_of 0))) v3 "slot=4242:$((55 * mb)):0:0:0:0:$stamp:python3"
mv "$work/other/dev/shm/${region##*/}" "$region"
wait_for_frame "unknown 55.00 MB"
head -c 8576 /dev/urandom >"$region" # whatever these bytes say, top goes on
sleep 0.2
live_region $((0x$(serial_of 0))) v3 "slot=4242:$((66 * mb)):0:0:0:0:$stamp:python3"
wait_for_frame "unknown 66.00 MB"
kill $top
wait $top || fail "wanted top to go on while a region changes"
grep -Eq "^[1-4] .*unknown +unknown +unknown" "$work/changes" && fail "another device changed"

# --- the clock is set ---------------------------------------------------------------------------
# The host started with a wrong clock, and so did the process and its entry. Then the clock was
# set by a day: the start of the process is counted from the new time of the boot.
rm -r "$TTSCOPE_ROOT"
live_host
live_process 4242 python3
live_chip 0 "$(serial_of 0)" 4242
live_region $((0x$(serial_of 0))) v3 "slot=4242:$((7 * mb)):0:0:0:0:1759000020000000000:python3"
processes='[.devices[0] | .processes[] | [.state, .pid, .pools.DRAM]]'
"$ttscope" top --json -r 100 -n 8 >"$work/clock" 2>&1 &
top=$!
sleep 0.3
echo "btime 1759086400" >"$TTSCOPE_ROOT/proc/stat"
wait $top || fail "wanted top to go on while the clock is set"
[ "$(jq -c "$processes" "$work/clock" | sort -u)" = "[[\"live\",4242,$((7 * mb))]]" ] ||
    fail "wanted a live process in each frame"
run "$ttscope" top --once --json
[ "$(jq -c "$processes" <<<"$out")" = "[[\"live\",4242,$((7 * mb))]]" ] || fail "wanted a live process"
run "$ttscope" clean --yes
expect_out_like "nothing"
# Without such a step, the number belongs to a later process.
echo "btime 1759000015" >"$TTSCOPE_ROOT/proc/stat"
run "$ttscope" top --once --json
[ "$(jq -c "$processes" <<<"$out")" = "[[\"dead\",null,$((7 * mb))],[\"live\",4242,null]]" ] ||
    fail "wanted the entry of an earlier process"

# --- 32 devices, 64 processes -------------------------------------------------------------------
rm -r "$TTSCOPE_ROOT"
live_host
pids=$(seq 5000 5063)
for pid in $pids; do
    live_process "$pid" "worker$pid"
done
for node in $(seq 0 31); do
    slots=()
    for pid in $pids; do
        slots+=("slot=$pid:$(((pid - 4999) * 1024 + node)):$((pid - 5000)):0:0:0:$stamp:worker$pid")
    done
    # shellcheck disable=SC2086 # one argument for each process
    live_chip "$node" "$(serial_of "$node")" $pids
    live_region $((0x$(serial_of "$node"))) v3 logical="$node" "${slots[@]}"
done
run "$ttscope" top --once --json
expect_code 0
[ "$(jq -c '[(.devices | length), ([.devices[].processes | length] | add),
    ([.devices[] | .id as $d | .processes[] | select(.pools.DRAM == (.pid - 4999) * 1024 + $d and .pools.L1 == .pid - 5000 and .state == "live")] | length),
    ([.devices[].pools[0].allocated_bytes] | add)]' <<<"$out")" = \
    "[32,2048,2048,$((32 * 1024 * 64 * 65 / 2 + 64 * 31 * 32 / 2))]" ] || fail "wanted 2048 right processes"
run "$ttscope" top --once --view processes
expect_code 0
# Device, process, DRAM and L1 of each row, in the short form of a narrow terminal.
awk '$1 ~ /^[0-9]+$/ && $2 ~ /^50[0-9][0-9]$/ { print $1, $2, $6, $7 }' "$work/out" | sort >"$work/rows"
for node in $(seq 0 31); do
    for number in $(seq 1 64); do
        echo "$node $((4999 + number)) $((number * 1024 + node)) $((number - 1))"
    done
done | LC_ALL=C awk '{ kib = $3 / 1024
    print $1, $2, sprintf((kib < 9.995 ? "%.2fK" : "%.1fK"), kib), ($4 > 0 ? $4 "B" : "0") }' | sort >"$work/wanted"
[ "$(wc -l <"$work/wanted")" -eq 2048 ] || fail "wanted 2048 rows to compare"
diff "$work/wanted" "$work/rows" >"$work/diff" || fail "wanted other numbers: $(head -n 8 "$work/diff")"

# --- signals and a slow reader ------------------------------------------------------------------
# A document of these devices is larger than a pipe. The signal comes while it is written.
mkfifo "$work/slow"
# Reads a byte, and the rest after some time.
read_slowly() {
    rm -f "$work/begun"
    (head -c 1 && : >"$work/begun" && sleep 0.5 && cat) <"$work/slow" >"$work/frames" &
    reader=$!
}
wait_for_begin() {
    for _ in {1..200}; do
        [ -e "$work/begun" ] && break
        sleep 0.05
    done
}
for signal in INT TERM HUP; do
    ran="top, $signal, a slow reader" out="" err=""
    read_slowly
    env --default-signal=INT "$ttscope" top --json -r 100 >"$work/slow" 2>"$work/err" &
    top=$!
    wait_for_begin
    kill -"$signal" $top
    code=0
    wait $top || code=$?
    [ "$code" -eq "$([ $signal = HUP ] && echo 129 || echo 0)" ] || fail "wanted the usual end"
    wait $reader
    [ "$(stat -c %s "$work/frames")" -gt 65536 ] || fail "wanted a large document"
    [ "$(jq -c '.devices | length' "$work/frames" 2>&1)" = 32 ] || fail "wanted one whole document"
done
# An ignored signal stays ignored.
(trap '' HUP && exec "$ttscope" top --json -r 100 -n 2 >"$work/slow") &
top=$!
read_slowly
wait_for_begin
kill -HUP $top
code=0
wait $top || code=$?
[ "$code" -eq 0 ] || fail "wanted an ignored signal"
wait $reader
[ "$(jq -c '.devices | length' "$work/frames" | paste -sd,)" = 32,32 ] || fail "wanted both documents"
# A reader that has stopped holds the command for two seconds, or until a second signal.
for signals in 1 2; do
    ran="top, $signals signals, a stopped reader"
    rm "$work/begun"
    (head -c 1 >"$work/frames" && : >"$work/begun" && exec sleep 20) <"$work/slow" &
    reader=$!
    "$ttscope" top --json -r 100 >"$work/slow" 2>"$work/err" &
    top=$!
    wait_for_begin
    start=$(date +%s%N)
    for _ in $(seq $signals); do
        kill -TERM $top
        sleep 0.1
    done
    code=0
    wait $top || code=$?
    took=$((($(date +%s%N) - start) / 1000000))
    expect_code 0
    if [ $signals -eq 1 ]; then
        ((took >= 1900 && took < 9000)) || fail "wanted an end after 2 s, not after $took ms"
    else
        [ "$took" -lt 1900 ] || fail "wanted an end at once, not after $took ms"
    fi
    kill $reader
    wait $reader
done 2>/dev/null
rm "$work/slow"

# --- more holders than ttscope looks at, on a host without containers ---------------------------
rm -r "$TTSCOPE_ROOT"
live_host
pids=$(seq 5000 5069)
for pid in $pids; do
    live_process "$pid" python3
done
# shellcheck disable=SC2086 # one argument for each process
live_chip 0 "$(serial_of 0)" $pids
live_region $((0x$(serial_of 0))) v3 "slot=99:$((9 * mb)):0:0:0:0:$stamp:python3"
run "$ttscope" top --once
expect_sentence "live but not visible, because more processes have the chip open than ttscope looks at: DRAM 9.00 MB"
[[ $out != *container,* && $out != *"outside this container"* ]] || fail "wanted no container"
run "$ttscope" top --once --json
[ "$(jq -c '.devices[0].processes[] | select(.container_pid == 99) | .reason' <<<"$out")" = '"too_many"' ] ||
    fail "wanted the reason in JSON"

# --- two regions of one chip --------------------------------------------------------------------
rm -r "$TTSCOPE_ROOT"
live_host
live_chip 0 "$(serial_of 0)" 4242
live_process 4242 python3
id=$((0x$(serial_of 0)))
old=$((id << 5))
states='.devices | map({key: (.caveats | if index("older_id") then "old" else "present" end), value: .state}) | from_entries'
# A quiet program uses the present region; a killed one left the other, which changed later.
live_region $old v3 refs=1 time=$stamp "slot=99:$((500 * mb)):0:0:0:0:$stamp:python3"
live_region $id v3 refs=1 time=$((stamp - 1000000000))
run "$ttscope" top --once --json
[ "$(jq -c "$states" <<<"$out")" = '{"present":"live","old":"phantom"}' ] || fail "wanted the old region to be a phantom"
# A forged file with the number of a live process and a time in the future hides no bytes.
live_region $id v3 refs=1 time=$stamp "slot=4242:$((12000 * mb)):0:0:0:0:$stamp:python3"
rm "$TTSCOPE_ROOT/dev/shm/tt_device_${old}_memory"
live_region $((old + 7)) v3 refs=1 time=9000000000000000000 "slot=4242:0:0:0:0:0:$stamp:x"
if [ "$(id -u)" -eq 0 ]; then
    chown 1001 "$TTSCOPE_ROOT/dev/shm/tt_device_$((old + 7))_memory"
    sed -i 's/^Uid:.*/Uid:\t1000\t1000\t1000\t1000/' "$TTSCOPE_ROOT/proc/4242/status"
    chown 1000 "$TTSCOPE_ROOT/dev/shm/tt_device_${id}_memory"
fi
run "$ttscope" top --once --fail-above DRAM=80%
expect_code 1
expect_err_like "process 4242 python3"
run "$ttscope" top --once --json
[ "$(jq -c "[.devices[] | select(.unique_id == $id) | .state, .processes[0].state]" <<<"$out")" = '["live","live"]' ] ||
    fail "wanted a live process"

# --- an old driver: the lock of the chip is the only evidence ------------------------------------
rm -r "$TTSCOPE_ROOT"
live_host
live_chip 0 "$(serial_of 0)"
rm "$TTSCOPE_ROOT/proc/driver/tenstorrent/0/pids"
run "$ttscope" top --once
expect_out_like "State: idle: unknown who has the chip open"
live_process 4242 python3
{
    head -c 40 /dev/zero
    printf '\1\0\0\0\0\0\0\0\x92\x10\0\0\x92\x10\0\0' # 4242, twice
} >"$TTSCOPE_ROOT/dev/shm/TT_UMD_LOCK.CHIP_IN_USE_0_PCIe"
run "$ttscope" top --once --json
[ "$(jq -c '.devices[0] | [.state, (.reason | contains("process 4242")), (.caveats | index("not_tracked") != null)]' <<<"$out")" = \
    '["live",true,true]' ] || fail "wanted a chip in use"

# --- a real process in a pid namespace of its own -----------------------------------------------
unshare -pfm --mount-proc true 2>/dev/null || {
    echo "not tested: pid namespaces are not allowed here"
    exit
}
rm -r "$TTSCOPE_ROOT"
live_host
live_chip 0 "$(serial_of 0)"
cp /proc/stat "$TTSCOPE_ROOT/proc/stat"
ln -s /proc/self "$TTSCOPE_ROOT/proc/self"
unshare -pf --mount-proc bash -c "echo \$\$ >'$work/inner'; exec sleep 60" 2>/dev/null &
launcher=$!
for _ in $(seq 100); do
    [ -s "$work/inner" ] && break
    sleep 0.05
done
inner=$(cat "$work/inner")
pid=$(pgrep -P "$launcher")
echo "$pid" >"$TTSCOPE_ROOT/proc/driver/tenstorrent/0/pids"
ln -s "/proc/$pid" "$TTSCOPE_ROOT/proc/$pid"
live_region $((0x$(serial_of 0))) v3 "slot=$inner:$((9 * mb)):0:0:0:0:now:bash"
run "$ttscope" top --once --json
[ "$(jq -c '.devices[0] | [.state, (.processes[0] | [.state, .pid, .container_pid, .pools.DRAM])]' <<<"$out")" = \
    "[\"live\",[\"live\",$pid,$inner,$((9 * mb))]]" ] || fail "wanted the process of the container"
live_region $((0x$(serial_of 0))) v3 "slot=77:$((9 * mb)):0:0:0:0:now:bash"
run "$ttscope" top --once --json
[ "$(jq -c '.devices[0].processes[] | select(.container_pid == 77) | .state' <<<"$out")" = '"not_visible"' ] ||
    fail "wanted an owner that is not visible"
run "$ttscope" clean --yes
expect_code 4
kill -KILL "$pid"
wait "$launcher" 2>/dev/null || true
