# live_rig.sh: a simulated host for tests of the live commands: the driver, chips, processes and
# memory regions as files below $TTSCOPE_ROOT. A test sources this file after it set the
# variable.
# shellcheck shell=bash
region_writer=${build_dir:-$TTS_BUILD_DIR}/tests/region_writer

live_host() {
    mkdir -p "$TTSCOPE_ROOT"/{dev/shm,proc/driver/tenstorrent,sys/class/tenstorrent}
    mkdir -p "$TTSCOPE_ROOT/sys/module/tenstorrent"
    echo 2.10.0 >"$TTSCOPE_ROOT/sys/module/tenstorrent/version"
    echo "btime 1759000000" >"$TTSCOPE_ROOT/proc/stat"
}

# live_chip NODE SERIAL [PID]...   an n150 with its holders
live_chip() {
    local node=$1 pci=$TTSCOPE_ROOT/sys/devices/0000:0$1:00.0
    local entry="$TTSCOPE_ROOT/sys/class/tenstorrent/tenstorrent!$1"
    mkdir -p "$pci" "$entry" "$TTSCOPE_ROOT/proc/driver/tenstorrent/$node"
    ln -sfn "../../../devices/0000:0$node:00.0" "$entry/device"
    echo 0x401e >"$pci/device"
    echo n150 >"$entry/tt_card_type"
    echo "$2" >"$entry/tt_serial"
    shift 2
    printf '%s\n' "$@" | sed '/^$/d' >"$TTSCOPE_ROOT/proc/driver/tenstorrent/$node/pids"
}

# live_process PID NAME [NSPID]   a process of user 0 that started 10 seconds after the kernel
live_process() {
    local dir=$TTSCOPE_ROOT/proc/$1
    mkdir -p "$dir"
    echo "$1 ($2) S 1 $1 $1 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 1000 9 9 9$(printf ' 0%.0s' {1..27})" >"$dir/stat"
    printf 'Name:\t%s\nUid:\t0\t0\t0\t0\nNSpid:\t%s%s\n' "$2" "$1" "${3:+	$3}" >"$dir/status"
    printf '%s\0serve.py\0' "$2" >"$dir/cmdline"
    echo "$2" >"$dir/comm"
}

# live_region ID KIND [KEY=VALUE]...   see tests/harness/region_writer.c
live_region() {
    local id=$1
    shift
    "$region_writer" "$TTSCOPE_ROOT/dev/shm/tt_device_${id}_memory" "$@"
}
