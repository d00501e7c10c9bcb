#!/usr/bin/env bash
# The live sources with real processes in a pid namespace of their own, as in a container: with
# the /dev/shm of the host, and with one of their own. A simulated host has links to the real
# directories of the processes.
. "$(dirname "$0")/lib.sh"
print_host=$TTS_BUILD_DIR/tests/print_host
writer=$TTS_BUILD_DIR/tests/region_writer
unshare -pfm --mount-proc true 2>/dev/null || {
    echo "skipped: pid namespaces are not allowed here"
    exit 77
}

root=$work/root
mkdir -p "$root/proc/driver/tenstorrent/0" "$root/dev/shm" \
    "$root/sys/class/tenstorrent/tenstorrent!0"
cp /proc/stat "$root/proc/stat"
ln -s /proc/self "$root/proc/self"

# Starts a process in a pid namespace of its own. The script in the namespace writes its number
# there. Sets `pid` to the number here.
start_container() { # NAME FLAGS SCRIPT
    unshare "$2" --mount-proc bash -c "$3; echo \$\$ >'$work/$1'; exec sleep 60" &
    local launcher=$!
    for _ in $(seq 100); do
        [ -s "$work/$1" ] && break
        sleep 0.05
    done
    pid=$(pgrep -P "$launcher")
    started+=("$pid")
    ln -s "/proc/$pid" "$root/proc/$pid"
    echo "$pid" >>"$root/proc/driver/tenstorrent/0/pids"
}
started=()
stop_containers() {
    kill -KILL "${started[@]}" && wait
    started=()
} 2>/dev/null
trap 'stop_containers; rm -rf "$work"; [ "$failures" -eq 0 ] || exit 1' EXIT

: >"$root/proc/driver/tenstorrent/0/pids"
start_container shared -pf ':'
shared=$pid
[ "$(cat "$work/shared")" = 1 ] || fail "wanted number 1 in the namespace"
"$writer" "$root/dev/shm/tt_device_7_memory" v3 slot=1:64:0:0:0:0:now:bash
run "$print_host" "$root"
expect_code 0
expect_out_like "chip 0 holders $shared
region 7 state 0 private 0 slots 1
process 1 alive 0 inside 0 levels 0 namespace unknown"
expect_out_like "process $shared alive 1 inside 1 levels 2 namespace other uid 0 comm sleep command sleep 60"

# A holder with a /dev/shm of its own.
# shellcheck disable=SC2016
start_container private -pfm "mount -t tmpfs none /dev/shm && '$writer' \
/dev/shm/tt_device_8_memory v3 slot=1:32:0:0:0:0:now:bash"
run "$print_host" "$root"
expect_code 0
expect_out_like "region 7 state 0 private 0 slots 1
region 8 state 0 private $pid slots 1"
expect_out_like "process $pid alive 1 inside 1 levels 2 namespace other"

# Other users see the numbers, but neither the namespace nor the private region.
if command -v setpriv >/dev/null; then
    chmod -R a+rX "$work"
    run setpriv --reuid 65534 --regid 65534 --clear-groups "$print_host" "$root"
    expect_code 0
    expect_out_like "process $shared alive 1 inside 1 levels 2 namespace unknown"
    [[ $out != *"region 8"* ]] || fail "a private region is not visible for others"
fi

# After its end, a process is not alive.
stop_containers
run "$print_host" "$root"
expect_out_like "process $shared alive 0 inside 0 levels 0 namespace unknown"
