#!/usr/bin/env bash
# `ttscope devices`: the presets, the chips of a simulated host, the description of one device,
# and its L1.
. "$(dirname "$0")/lib.sh"
unset LC_ALL LC_CTYPE
export LANG=C.UTF-8 TTSCOPE_ROOT=$work/root
mkdir "$TTSCOPE_ROOT"
no_host=$'\non this host: chips unknown, because the driver (tt-kmd) is not loaded'

# --- the list ---------------------------------------------------------------------------------
run "$ttscope" devices
expect_code 0
expect_err ""
expect_out_like "n150 *wormhole *1 *8x8 *12 *11.97 *12.00 *1360.81"
expect_out_like "p100 *blackhole *1 *~11x10 *~7 *~27.85 *~27.89 *1427.00"
expect_out_like "p150 *blackhole *1 *~11x10 *8 *31.83 *31.88 *1427.00"
expect_out_like "galaxy-blackhole *blackhole *32 *unknown *~8 *~31.83"
expect_out_like "quasar *quasar *1 *unknown *unknown *unknown *unknown *3789.50"
expect_out_like "~ marks values inferred"
expect_out_like "$no_host"
[ "$(wc -L <<<"$out")" -le 80 ] || fail "wanted at most 80 columns"
expect_out_like "bh-quietbox *blackhole *4 *~11x10 *8 *31.83"
expect_out_like "other names: n300s (n300), t3000 (t3k), p150a (p150), p150b (p150)
"
presets=$(awk 'NR > 2 && /^other/ { exit } NR > 2 { print $1 }' <<<"$out")
[ "$(wc -w <<<"$presets")" -ge 14 ] || fail "wanted all presets"

# --- this host --------------------------------------------------------------------------------
# make_chip NODE PCI_DEVICE_ID CARD SERIAL
make_chip() {
    local pci=$TTSCOPE_ROOT/sys/devices/0000:0$1:00.0
    local entry="$TTSCOPE_ROOT/sys/class/tenstorrent/tenstorrent!$1"
    mkdir -p "$pci" "$entry"
    ln -sfn "../../../devices/0000:0$1:00.0" "$entry/device"
    echo "$2" >"$pci/device"
    echo "$3" >"$entry/tt_card_type"
    echo "$4" >"$entry/tt_serial"
}
mkdir -p "$TTSCOPE_ROOT/sys/module/tenstorrent"
echo 2.10.0 >"$TTSCOPE_ROOT/sys/module/tenstorrent/version"
run "$ttscope" devices
expect_code 0
expect_out_like "on this host: no chips; the driver (tt-kmd 2.10.0) is loaded"
make_chip 0 0x401e n150 0100018511732011
make_chip 1 0xb140 p150a 0000040331914100
make_chip 2 0xb140 $'odd\e[31m' ""
echo 0011223344556677 >"$TTSCOPE_ROOT/sys/class/tenstorrent/tenstorrent!1/tt_asic_id"
echo 18.5.0.0 >"$TTSCOPE_ROOT/sys/class/tenstorrent/tenstorrent!1/tt_fw_bundle_ver"
mkdir -p "$TTSCOPE_ROOT/proc/driver/tenstorrent"/{0,1}
: >"$TTSCOPE_ROOT/proc/driver/tenstorrent/0/pids"
printf '%s\n' 4242 0 4242 77 >"$TTSCOPE_ROOT/proc/driver/tenstorrent/1/pids"
run "$ttscope" devices
expect_code 0
expect_err ""
expect_out_like "on this host: 3 chips, driver (tt-kmd 2.10.0)"
expect_out_like "0  n150 *n150 *wormhole *0000:00:00.0  0100018511732011  no process"
expect_out_like "1  p150a *p150 *blackhole *0000:01:00.0  0000040331914100
        hidden, 77, 4242"
expect_out_like "2  odd?\[31m  none *blackhole *0000:02:00.0  unknown *unknown"
run "$ttscope" devices --json
expect_code 0
list=$out
seq 100 199 >"$TTSCOPE_ROOT/proc/driver/tenstorrent/0/pids"
seq 100 119 >"$TTSCOPE_ROOT/proc/driver/tenstorrent/1/pids"
run "$ttscope" devices
expect_out_like "100, 101, 102, 103, 104, 105, 106, 107 and 92 more"
expect_out_like "100, 101, 102, 103, 104, 105, 106, 107 and 12 more"
[ "$(wc -L <<<"$out")" -le 80 ] || fail "wanted at most 80 columns"

# --- one device -------------------------------------------------------------------------------
run "$ttscope" devices n150
expect_code 0
expect_err ""
expect_out_like "n150: Wormhole n150: 1 chip"
expect_out_like "dram_bank_size *1073741824 1.00 GiB known *\[[0-9]*\] *size of a DRAM*bank,*including the*reserved*part"
expect_out_like "dram_base *2968640 2.83 MiB derived"
expect_out_like "grid * 8x8 * known"
expect_out_like "compute grid by dispatch: row 8x8, column 7x9, ethernet 8x8, slow 8x9"
expect_out_like "DRAM *12 *1070773184 *2968640 *1073741824 *32 *32  the bottom"
expect_out_like "L1 *64 *1393472 *105664 *1499136 *16 *32  the top"
expect_out_like "L1_SMALL  none: l1_small is 0"
expect_out_like "DRAM *1 *12849278208 *11.97 GiB *12884901888 *12.00 GiB"
expect_out_like "tt-metal e4f9f0bb8de, soc descriptor"
[[ $out != *"on this host"* ]] || fail "wanted nothing about the host"
# Every source number that the text refers to has a line in the list of sources.
numbers=$(sed -n '/^sources/q; s/.* \[\([0-9]*\)\] .*/\1/p' <<<"$out" | sort -un)
[ "$numbers" = "$(sed -n '1,/^sources/d; s/.*\[\([0-9]*\)\].*/\1/p' <<<"$out")" ] ||
    fail "wanted each source once"
# Preset names are accepted in upper case, and each description is complete.
for preset in $presets; do
    run "$ttscope" devices "${preset^^}"
    expect_code 0
    expect_out_like "$preset: "
    [ "$(sed '/^pools/q' <<<"$out" | grep -cE '^  [a-z_0-9]+ .* (known|inferred|derived|unknown) ')" -ge 38 ] ||
        fail "wanted every fact"
    [ "$(wc -L <<<"$out")" -le 120 ] || fail "wanted shorter lines"
done
run "$ttscope" devices p150b
expect_code 0
expect_out_like "p150: Blackhole p150: *
other names: p150a, p150b
"
# Names that users type are accepted everywhere a preset is.
for name in t3000:t3k n300s:n300 p150a:p150 p150b:p150 bh-quietbox:bh-quietbox; do
    run "$ttscope" fit "$source_dir/tests/e2e/fit/nano_model.yaml" --device "${name%:*}"
    expect_code 0
    expect_out_like "
fits ${name#*:}: "
    cp "$work/out" "$work/fit.log"
    run "$ttscope" analyze --logs "$work/fit.log" --device "${name%:*}"
    expect_code 0
    printf 'device: %s\noverall:\n  dram_peak: 90%%\n' "${name%:*}" >"$work/budget.yaml"
    run "$ttscope" check --budget "$work/budget.yaml" "$work/fit.log"
    expect_code 0
done
run "$ttscope" devices t3000 -s trace-region=100M
expect_code 0
expect_out_like "set: trace_region=104857600"
expect_out_like "DRAM *8 *101955102720 *94.95 GiB *103079215104 *96.00 GiB"
expect_out_like "TRACE *12 *8740864 *1065000960 *1073741824"
run "$ttscope" devices p150 --set grid=12x10 --set l1_small=32KiB --json
expect_code 0
set_json=$out
run "$ttscope" devices p150 --set grid=12x10 --set l1_small=32KiB
expect_code 0
expect_out_like "variants: 12 compute columns: p150-12"
expect_out_like "set: l1_small=32768, grid=12x10"
expect_out_like "L1_SMALL *120 *32768 *1540096 *1572864"
[[ $out != *"by dispatch"* ]] || fail "wanted no other grids"
run "$ttscope" devices quasar
expect_code 0
expect_out_like "dram_banks *- *unknown"
expect_out_like "L1 *unknown: L1 of 'quasar' needs 'grid': set this property"
[[ $out != *totals* ]] || fail "wanted no totals"
run "$ttscope" devices n150 --set dram_banks=2147483648 --set dram_bank_size=64T
expect_code 2
run "$ttscope" devices n150 --set dram_banks=131072 --set dram_bank_size=65536G --set chips=1000
expect_code 0
expect_out_like "does not fit in 64 bits"

printf '%s\n' 'device: n150' 'preset: p150' 'l1_small: 64KiB' >"$work/my.yaml"
run "$ttscope" devices "$work/my.yaml" --set max_cbs=32
expect_code 0
expect_out_like "n150: blackhole, from a device file"
expect_out_like "set: l1_small=65536, max_cbs=32"

# --- L1 ---------------------------------------------------------------------------------------
run "$ttscope" devices --layout n150
expect_code 0
expect_err ""
expect_out_like "L1 of a core of n150 (wormhole): 1499136 bytes, 1464.00 KiB"
expect_out_like "105664     1499136    1360.81  ·→*→←*←  circular buffers up, L1
                                                         buffers down
"
expect_out_like "16       13312      12.98  █···*·  mailboxes"
expect_out_like "Circular buffers grow up from 105664 (→), L1 buffers grow down from 1499136 (←)"
bars=$(sed -n 's/^ *[0-9][ 0-9.]*  \([^ ]*\)  .*/\1/p' <<<"$out" | sed 's/[^ ]/x/g' | sort -u)
[ "$bars" = xxxxxxxxxxxxxxxxxx ] || fail "wanted bars of 18 cells: $bars"
run env LANG=C "$ttscope" devices --layout n150
expect_out_like "  .>*><*<  circular buffers up"
! grep -q '[^ -~]' <<<"$out" || fail "wanted ASCII"
plain=$out
run env LC_ALL=de_DE.ISO-8859-1 LANG=de_DE.UTF-8 "$ttscope" devices -l n150
expect_out "$plain"
run env LC_ALL=C LC_CTYPE=de_DE.UTF-8 "$ttscope" devices -l n150
expect_out "$plain"
run env LC_CTYPE=de_DE.utf8@euro LANG=C "$ttscope" devices -l n150
expect_out_like "→"
run "$ttscope" devices -l p150 -s l1_small=64
expect_out_like "1572800     1572864       0.06  ···*·█  L1_SMALL"

run "$ttscope" devices "$work/my.yaml" --layout --svg "$work/my.svg"
expect_code 0
expect_out_like "L1 of a core of n150 (blackhole)"
expect_out_like "1507328     1572864      64.00"
run cat "$work/my.svg"
expect_out_like ">L1 of a core of n150<"
drawing=$out
run "$ttscope" devices "$work/my.yaml" --layout --svg -
expect_code 0
expect_out "$drawing"
for preset in $presets; do
    run "$ttscope" devices --layout "$preset" --json --svg "$work/$preset.svg"
    expect_code 0
    expect_out_like '"grows": true'
done
if command -v xmllint >/dev/null; then
    run xmllint --noout "$work"/*.svg
    expect_code 0
    expect_err ""
fi

# --- JSON -------------------------------------------------------------------------------------
run "$ttscope" devices --json --layout quasar
expect_code 0
quasar_json=$out
run "$ttscope" devices --json "$work/my.yaml"
expect_code 0
file_json=$out
expect_jq() {
    printf '%s\n' "$1" >"$work/document"
    run jq -e "$2" "$work/document"
    expect_code 0
}
if command -v jq >/dev/null; then
    expect_jq "$list" '.schema == {name: "ttscope.devices", version: 1}'
    expect_jq "$list" ".presets | length == $(wc -w <<<"$presets")"
    expect_jq "$list" '.presets | all((.pools | map(.pool)) == ["DRAM", "L1", "L1_SMALL", "TRACE"])'
    expect_jq "$list" '.presets | all(has("facts") | not)'
    expect_jq "$list" '.presets[] | select(.name == "n150") | .arch == "wormhole" and .chips == 1
        and .variants == null and .pools[0] == {pool: "DRAM", banks: 12, bank_bytes: 1070773184,
        offset: 2968640, alignment: 32, page_alignment: 32, nominal_bank_bytes: 1073741824,
        direction: "up"} and .aliases == [] and (.pools[1] | .direction == "down" and .alignment == 32 and
        .page_alignment == 16) and .pools[2].banks == 0'
    expect_jq "$list" '.presets[] | select(.name == "p150") | .aliases == ["p150a", "p150b"]'
    expect_jq "$list" '.presets[] | select(.name == "quasar") | .pools[1] | .banks == null and
        .bank_bytes == null and .direction == null and (.reason | test("grid"))'
    expect_jq "$list" '.driver == {loaded: true, version: "2.10.0"} and .host_left_out == 0'
    expect_jq "$list" '.host | map(.node) == [0, 1, 2]'
    expect_jq "$list" '.host[0] | .pids == [] and .preset == "n150" and .asic_id == null'
    expect_jq "$list" '.host[1] == {node: 1, card_type: "p150a", preset: "p150", arch: "blackhole",
        pci_address: "0000:01:00.0", serial: "0000040331914100", asic_id: "0011223344556677",
        firmware: "18.5.0.0", pids: [0, 77, 4242], pid_count: 3}'
    expect_jq "$list" '.host[2] | .pids == null and .pid_count == null and .preset == null'
    expect_jq "$set_json" '(has("host") or has("driver") or has("l1")) | not'
    expect_jq "$set_json" '.presets | length == 1'
    expect_jq "$set_json" '.presets[0].facts | .grid == {value: "12x10", columns: 12, rows: 10,
        origin: "set", source: "set by the user", meaning: .grid.meaning} and
        .l1_small.value == 32768 and .dispatch.value == "column" and .l1_base.origin == "derived"'
    expect_jq "$quasar_json" '.presets[0].facts.dram_banks | .value == null and .source == null and
        .origin == "unknown" and .reason'
    expect_jq "$quasar_json" '.l1[0].start == 0 and .l1[-1].end == 4194304 and
        (.l1 | map(.bytes) | add) == 4194304 and (.l1 | map(select(.grows)) | length) == 1'
    expect_jq "$file_json" '.presets[0] | .name == "n150" and .arch == "blackhole" and .title == null'
fi

# --- mistakes ---------------------------------------------------------------------------------
run "$ttscope" devices n15
expect_code 2
expect_out ""
expect_err "ttscope devices: no device is named 'n15', did you mean 'n150'? (see 'ttscope devices')"
run "$ttscope" devices n150 --set gird=8x8
expect_code 2
expect_err "ttscope devices: --set: no property of a device is named 'gird', did you mean 'grid'? (see 'ttscope devices NAME')"
run "$ttscope" devices n150 --set grid
expect_code 2
run "$ttscope" devices n150 --set l1_alignment=3
expect_code 2
expect_err_like "expected a power of two"
run "$ttscope" devices n150 p150
expect_code 2
expect_err_like "one operand too many: 'p150'"
run "$ttscope" devices --layout
expect_code 2
expect_err "ttscope devices: '--layout' needs the name of a device (NAME) (see 'ttscope help devices')"
run "$ttscope" devices --set grid=8x8
expect_code 2
expect_err_like "'--set' needs the name of a device (NAME)"
run "$ttscope" devices n150 --svg "$work/no.svg"
expect_code 2
expect_err_like "'--svg' needs '--layout'"
run "$ttscope" devices -l n150 --svg - --json
expect_code 2
expect_out ""
expect_err_like "'--svg -' uses standard output"
kept=$(cat "$work/my.yaml")
ln "$work/my.yaml" "$work/other"
run "$ttscope" devices -l "$work/my.yaml" --svg "$work/other"
expect_code 2
expect_err_like "is the input: write the drawing to another file"
[ "$kept" = "$(cat "$work/my.yaml")" ] || fail "wanted the device file as it was"
run "$ttscope" devices -l n150 --svg "$work/none/x.svg"
expect_code 3
expect_out ""
expect_err_like "$work/none/x.svg"
many=()
for i in $(seq 65); do many+=(--set "max_cbs=$((i % 2))"); done
run "$ttscope" devices n150 "${many[@]}"
expect_code 2
expect_err_like "for '--set': '--set' is given more than 64 times"

run "$ttscope" devices "$work/none.yaml"
expect_code 3
expect_err "ttscope devices: cannot read '$work/none.yaml': no such file or directory"
printf '%s\n' 'preset: n150' 'gird: 8x8' >"$work/bad.yaml"
run "$ttscope" devices "$work/bad.yaml"
expect_code 3
expect_out ""
expect_err_like "bad.yaml:2: "

# If the chips of the host cannot be listed, the presets are printed and a message states the
# reason.
rm -r "$TTSCOPE_ROOT/sys/class/tenstorrent"
: >"$TTSCOPE_ROOT/sys/class/tenstorrent"
run "$ttscope" devices
expect_code 4
expect_err_like "cannot list the chips in '$TTSCOPE_ROOT/sys/class/tenstorrent'"
expect_out_like "n150 *wormhole"
expect_out_like "on this host: unknown: the list of chips could not be read"
run "$ttscope" devices --json
expect_code 4
expect_out_like '"host": null'
expect_out_like '"reason": "cannot list the chips'
expect_out_like '"driver": null'
if [ -c /dev/full ]; then
    run sh -c '"$1" devices --json n150 >/dev/full' sh "$ttscope"
    expect_code 3
    expect_err_like "cannot write to"
fi

# A root that does not exist is not reported as "no driver". Entries that are not chips do not end
# the list.
TTSCOPE_ROOT=$work/nowhere run "$ttscope" devices
expect_code 4
expect_err "ttscope devices: cannot read TTSCOPE_ROOT '$work/nowhere': no such file or directory"
mkdir -p "$work/odd/sys/class/tenstorrent"
for n in $(seq 0 260); do : >"$work/odd/sys/class/tenstorrent/tenstorrent!$n"; done
TTSCOPE_ROOT=$work/odd run "$ttscope" devices
expect_code 0
expect_out_like 'but their entries cannot be read'

# The device file is never replaced, whatever its name.
printf 'preset: n150\n' >"$work/kept.yaml"
cp "$work/kept.yaml" "$work/given.yaml"
# shellcheck disable=SC2094 # that is the point
"$ttscope" devices - --layout --svg "$work/given.yaml" <"$work/given.yaml" >/dev/null 2>&1
run cmp "$work/kept.yaml" "$work/given.yaml"
expect_code 0
