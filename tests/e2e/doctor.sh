#!/usr/bin/env bash
# `ttscope doctor` on simulated hosts: the answer in the first line, the exit code, and each check
# that is about what differs.
. "$(dirname "$0")/lib.sh"
export TTSCOPE_ROOT=$work/root LC_ALL=C.UTF-8 TZ=UTC
. "$(dirname "$0")/live_rig.sh"
serial=0100018511732011
id=$((0x$serial))
stamp=1760000000000000000

run "$ttscope" doctor
expect_code 4
expect_out ""
expect_err_like "cannot read"

# --- nothing ------------------------------------------------------------------------------------
mkdir "$TTSCOPE_ROOT"
run "$ttscope" doctor
expect_code 4
expect_out_like "this host has no device, and no program reports its memory, 2 problems
"
expect_out_like "problem driver       the driver (tt-kmd) is not loaded
                     > load the driver with 'modprobe tenstorrent'"
run "$ttscope" doctor --json
expect_code 4
[ "$(jq -r '[.schema.name, .devices_found, .memory_visible, (.checks | length)] | @text' <<<"$out")" = \
    '["ttscope.doctor",false,false,5]' ] || fail "wanted five checks"

# --- a host in order ----------------------------------------------------------------------------
live_host
live_chip 0 "$serial" 4242
live_process 4242 python3
live_region "$id" v3 "slot=4242:64:0:0:0:0:$stamp:python3"
mkdir -p "$TTSCOPE_ROOT/dev/tenstorrent/by-id"
: >"$TTSCOPE_ROOT/dev/tenstorrent/0"
run "$ttscope" doctor
expect_code 0
expect_err ""
expect_out_like "ttscope can see the memory of 1 device

"
expect_out_like "ok      nodes        1 device node, which this user may open"
expect_out_like "ok      holders      chip 0 is in use: python3 (4242)"
expect_out_like "ok      regions      1 memory region in /dev/shm"
[ "$(wc -L <<<"$out")" -le 80 ] || fail "wanted lines of at most 80 columns"

# --- what can go wrong --------------------------------------------------------------------------
live_chip 0 "$serial"
run "$ttscope" doctor
expect_code 1
expect_out_like "ttscope can see the memory of 1 device; no process uses it, and some bytes are
  left over from killed processes, 1 warning

"
expect_out_like "warning regions      1 memory region in /dev/shm; 1 of them has bytes of"
expect_out_like "'ttscope clean'"
live_region "$id" v3 refs=0
run "$ttscope" doctor
expect_code 0
expect_out_like "ttscope can see the memory of 1 device; no process uses it

"
live_region "$id" v3 "slot=4242:64:0:0:0:0:$stamp:python3"
live_chip 0 "$serial" 0
run "$ttscope" doctor
expect_code 1
expect_out_like "warning namespaces   a process outside this container has the chip open; ttscope
                     cannot see this process from inside the container"
run "$ttscope" top --once
expect_out_like "    a process outside this container has the chip open; ttscope cannot see this
    process from inside the container: DRAM 64.00 B"
rm "$TTSCOPE_ROOT/proc/driver/tenstorrent/0/pids"
run "$ttscope" doctor
expect_code 1
expect_out_like "warning holders      the driver does not report which processes have chip 0 open"
live_chip 0 "$serial" 4242
live_region "$id" v3 version=9
run "$ttscope" doctor
expect_code 1
expect_out_like "warning regions      1 of 1 memory regions in /dev/shm cannot be read"
rm -r "$TTSCOPE_ROOT/dev/tenstorrent"
run "$ttscope" doctor
expect_code 1
expect_out_like "problem nodes        there is no directory /dev/tenstorrent
                     > in a container, start the container with"

# --- directories that this user may not list ----------------------------------------------------
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    chmod a+rx "$work"
    chmod 711 "$TTSCOPE_ROOT/dev/shm"
    rm "$TTSCOPE_ROOT"/dev/shm/*
    as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    run "${as_nobody[@]}" "$ttscope" doctor
    expect_code 1
    expect_sentence "warning regions cannot list /dev/shm: permission denied"
    expect_sentence "warning programs cannot list /dev/shm: permission denied"
    run "${as_nobody[@]}" "$ttscope" top --once
    expect_code 0
    expect_sentence "State: live: cannot list the memory regions in /dev/shm: permission denied"
    chmod 711 "$TTSCOPE_ROOT/sys/class/tenstorrent"
    run "${as_nobody[@]}" "$ttscope" doctor
    expect_sentence "problem chips cannot list /sys/class/tenstorrent: permission denied"
    rm -r "$TTSCOPE_ROOT/sys/module"
    run "${as_nobody[@]}" "$ttscope" top --once
    expect_code 4
    [[ $err != *"not loaded"* && $err != *modprobe* && $err != *"no memory region"* ]] || fail "wanted no such claim"
    expect_err_like "unknown whether the driver is loaded: cannot list"
    expect_err_like "cannot list /dev/shm: permission denied"
fi

# top and doctor agree on a host without anything.
rm -r "$TTSCOPE_ROOT" && mkdir "$TTSCOPE_ROOT"
run "$ttscope" top --once
expect_code 4
expect_err_like "the driver (tt-kmd) is not loaded"
run "$ttscope" doctor extra
expect_code 2
