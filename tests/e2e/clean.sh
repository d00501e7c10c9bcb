#!/usr/bin/env bash
# The command clean: what it removes, what it asks, and when it refuses.
. "$(dirname "$0")/lib.sh"
writer=$TTS_BUILD_DIR/tests/region_writer
export TTSCOPE_ROOT=$work/root COLUMNS=80 LC_ALL=C.UTF-8
region=$TTSCOPE_ROOT/dev/shm/tt_device_7_memory
holders=$TTSCOPE_ROOT/proc/driver/tenstorrent/0/pids

# A host with one chip, its region and no holder.
make_host() {
    local entry="$TTSCOPE_ROOT/sys/class/tenstorrent/tenstorrent!0"
    rm -rf "$TTSCOPE_ROOT"
    mkdir -p "$TTSCOPE_ROOT"/{dev/shm,sys/devices/chip,sys/module/tenstorrent} "$entry" \
        "${holders%/*}"
    ln -s ../../../devices/chip "$entry/device"
    echo 0x401e >"$TTSCOPE_ROOT/sys/devices/chip/device"
    echo n150 >"$entry/tt_card_type"
    echo 0000000000000007 >"$entry/tt_asic_id"
    echo 2.10.0 >"$TTSCOPE_ROOT/sys/module/tenstorrent/version"
    cp /proc/stat "$TTSCOPE_ROOT/proc/stat"
    : >"$holders"
    rm -f "$region"
    "$writer" "$region" v3 "$@"
}

# Adds a running process as a holder of the chip.
hold_chip() { # pid
    ln -sfn "/proc/$1" "$TTSCOPE_ROOT/proc/$1"
    echo "$1" >>"$holders"
}

# Expects numbers of 8 bytes at an offset of the region.
expect_words() { # offset number...
    local offset=$1 found
    shift
    found=$(od -A n -v -t d8 -j "$offset" -N $((8 * $#)) "$region" | xargs)
    [ "$found" = "$*" ] || fail "wanted $* at $offset of the region, found $found"
}

sleep 300 >"/dev/null" &
live=$!
disown
trap 'status=$?; kill -9 $live $contained 2>"/dev/null"; rm -rf "$work"; [ "$failures" -eq 0 ] || status=1; exit "$status"' EXIT
contained=

dead="slot=4194301:8388608:4194304:0:0:0:now:python3"
own="slot=$live:1048576:0:0:0:65536:now:sleep"
list="1 left-over of dead processes in 1 region, 12.0 MiB:
  region      pid  process  left behind
       7  4194301  python3  8.00 MiB DRAM, 4.00 MiB L1"

# --- no region --------------------------------------------------------------------------------
make_host refs=0
rm "$region"
run "$ttscope" clean
expect_code 0
expect_err ""
expect_out "nothing to clean: this host has no memory region"

# --- one dead process beside a live one -------------------------------------------------------
make_host refs=2 "$dead" "$own"
hold_chip "$live"
cp "$region" "$work/before"
run "$ttscope" clean --dry-run
expect_code 0
expect_err ""
expect_out "$list
nothing was changed (--dry-run)"
run "$ttscope" clean
expect_code 2
expect_err "ttscope clean: cannot ask before removing, because standard input is not a terminal: use '--yes' to remove the entries, or '--dry-run' to list them (see 'ttscope help clean')"
run "$ttscope" clean --yes --dry-run
expect_code 2
cmp -s "$region" "$work/before" || fail "wanted the region unchanged"
run "$ttscope" clean --yes
expect_code 0
expect_err ""
expect_out "$list
removed 1 left-over, 12.0 MiB"
expect_words 48 1048576 0 0 0 65536
expect_words 976 "$live" 1048576
expect_words 856 0 0 0
cp "$region" "$work/after"
run "$ttscope" clean --yes
expect_code 0
expect_out "nothing to clean: no dead process left anything in 1 region"
cmp -s "$region" "$work/after" || fail "wanted the region unchanged"

# --- the question -----------------------------------------------------------------------------
for answer in n "" x; do
    make_host refs=2 "$dead" "$own"
    hold_chip "$live"
    cp "$region" "$work/before"
    ran="clean, answered with '$answer'"
    echo "$answer" | script -qec "'$ttscope' clean" /dev/null >"$work/out" 2>&1 ||
        fail "wanted exit code 0 after the answer '$answer'"
    out=$(tr -d '\r' <"$work/out")
    expect_out_like "remove them? \[y/N\]"
    expect_out_like "nothing was removed"
    cmp -s "$region" "$work/before" || fail "wanted the region unchanged"
done
echo y | script -qec "'$ttscope' clean" /dev/null >"$work/out" 2>&1 || fail "wanted exit code 0"
out=$(tr -d '\r' <"$work/out")
expect_out_like "removed 1 left-over, 12.0 MiB"
expect_words 48 1048576 0 0 0 65536

# --- no process holds the chip ----------------------------------------------------------------
make_host refs=3 total=99000000:4194304:0:0:0 "$dead"
run "$ttscope" clean --yes --json
expect_code 0
expect_err ""
python3 - "$work/out" <<'PYTHON' || fail "wanted other JSON"
import json, sys
answer = json.load(open(sys.argv[1]))
assert answer["schema"] == {"name": "ttscope.clean", "version": 1}, answer
assert not answer["dry_run"] and answer["removed_entries"] == answer["entries"] == 2
assert answer["removed_bytes"] == answer["bytes"] == 99000000 + 4194304
region, = answer["regions"]
assert (region["unique_id"], region["layout"], region["result"]) == (7, "v3", "removed")
assert region["reason"] is None
process, rest = region["entries"]
assert (process["pid"], process["name"], process["removed"]) == (4194301, "python3", True)
assert process["pools"] == {"DRAM": 8388608, "L1": 4194304, "L1_SMALL": 0, "TRACE": 0, "CB": 0,
                            "KERNEL": None}
assert (rest["pid"], rest["name"], rest["removed"]) == (None, None, True)
assert rest["bytes"] == 99000000 - 8388608
PYTHON
expect_words 16 0
expect_words 48 0 0 0 0 0

# --- refusals ---------------------------------------------------------------------------------
refuses() { # text
    cp "$region" "$work/before"
    run "$ttscope" clean --yes
    expect_code 4
    expect_out ""
    expect_err_like "ttscope clean: the memory region of device 7 is not cleaned: $1"
    cmp -s "$region" "$work/before" || fail "wanted the region unchanged"
}
make_host refs=1 "$dead"
echo 0 >"$holders"
refuses "a process that ttscope cannot see uses the device"
rm "$holders"
refuses "the driver does not list the processes that use the device"
make_host refs=1 "$own"
ln -s "/proc/$live" "$TTSCOPE_ROOT/proc/$live"
[ "$(id -u)" -eq 0 ] || refuses "process $live may be the owner of an entry"
make_host version=9 "$dead"
refuses "the file has an unknown layout (version 9, 8576 bytes): a newer ttscope may know this layout"
make_host total=-1:0:0:0:0
refuses "the memory region is damaged: the counters exceed the memory of any device"
rm -r "$TTSCOPE_ROOT/sys/class"
make_host "$dead"
rm -r "$TTSCOPE_ROOT/sys/class"
refuses "the region belongs to no board of this host"
make_host "$dead"
mv "$region" "${region/_7_/_6531626834570772483_}" # a simulated device
run "$ttscope" clean --yes
expect_code 4
for init in 0 1; do
    make_host "$dead"
    "$writer" "$region" v4 "init=$init" "$dead"
    cp "$region" "$work/before"
    run "$ttscope" clean --yes
    expect_code 0
    cmp -s "$region" "$work/before" || fail "wanted the region unchanged"
done

# --- containers -------------------------------------------------------------------------------
if unshare -pf --mount-proc true 2>"/dev/null"; then
    unshare -pf --mount-proc sleep 300 >"/dev/null" 2>&1 &
    unshared=$!
    disown
    until contained=$(pgrep -P "$unshared") && grep -q '^NSpid:.*	1$' "/proc/$contained/status"; do
        sleep 0.05
    done
    make_host refs=2 "slot=1:1048576:0:0:0:0:now:sleep" "$dead"
    hold_chip "$contained"
    refuses "process $contained uses the device and has another pid namespace"
    # Nothing of a dead process: the live one in the container is no reason to fail.
    make_host refs=1 "slot=1:1048576:0:0:0:0:now:sleep"
    hold_chip "$contained"
    run "$ttscope" clean --yes
    expect_code 0
    expect_out "nothing to clean: no dead process left anything in 1 region"
else
    echo "no pid namespaces here: containers are not tested"
fi
