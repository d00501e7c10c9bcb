#!/usr/bin/env bash
# `ttscope export`: the four formats say the same. The export of a damaged file is complete in its
# format.
. "$(dirname "$0")/lib.sh"

make=$TTS_BUILD_DIR/tests/make_recording
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import google.protobuf' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || { echo "skipped: there is no python3 with protobuf" && exit 77; }
command -v protoc jq >/dev/null || { echo "skipped: there is no protoc or no jq" && exit 77; }
protoc -I"$source_dir/tests/e2e" --python_out="$work" perfetto_check.proto || exit 1

cat >"$work/graph.json" <<'END'
[{"counter":0,"node_type":"capture_start","params":null,"connections":[1,9],"stacking_level":0},
 {"counter":1,"node_type":"function_start","params":{"name":"=evil,\"op\"","inputs":"2"},"connections":[2]},
 {"counter":2,"node_type":"buffer","params":{"size":8192,"type":"DRAM","layout":"INTERLEAVED","device_id":0},"connections":[]},
 {"counter":3,"node_type":"buffer_allocate","params":{"size":8192,"address":1024,"type":"DRAM","layout":"INTERLEAVED","page_size":2048,"num_cores":0,"device_id":0,"max_size_per_bank":2048},"connections":[2]},
 {"counter":4,"node_type":"circular_buffer_deallocate_all","params":{"device_id":0},"connections":[1]},
 {"counter":5,"node_type":"circular_buffer_allocate","params":{"size":4096,"address":103712,"core_range_set":"{[(x=0,y=0) - (x=7,y=7)]}","globally_allocated":"0","device_id":0},"connections":[]},
 {"counter":6,"node_type":"buffer","params":{"size":65536,"type":"L1","layout":"INTERLEAVED","device_id":0},"connections":[]},
 {"counter":7,"node_type":"buffer_allocate","params":{"size":65536,"address":9216,"type":"L1","layout":"INTERLEAVED","page_size":2048,"num_cores":0,"device_id":0,"max_size_per_bank":2048},"connections":[6]},
 {"counter":8,"node_type":"function_end","params":{"name":"=evil,\"op\""},"connections":[10]},
 {"counter":9,"node_type":"buffer_deallocate","params":{"size":8192,"address":1024,"type":"DRAM","layout":"INTERLEAVED","page_size":2048,"num_cores":0,"device_id":0,"max_size_per_bank":2048},"connections":[2]},
 {"counter":10,"node_type":"capture_end","params":null,"connections":[]}]
END

# Exports a file in all four formats and compares the results.
compare() { # file, slots, the exit code of each export, a device and its capacities
    local format device=()
    [ -z "${4:-}" ] || device=(--device "$4")
    for format in csv json; do
        run "$ttscope" export "$1" --to "$format" -o "$work/out.$format"
        expect_code "$3"
    done
    run "$ttscope" export "$1" --to chrome --slots "$2" "${device[@]}" -o "$work/out.chrome"
    expect_code "$3"
    run "$ttscope" export --to=perfetto -s "$2" "${device[@]}" -o "$work/out.pftrace" -- "$1"
    expect_code "$3"
    run "$python" "$source_dir/tests/e2e/check_export.py" "$work" "$2" "${@:5}"
    expect_code 0
    expect_out_like " rows, "
}

# ---- the formats agree ----

compare "$work/graph.json" 4096 0
expect_out_like "2 buffers, 0 not drawn, 1 operations"
for seed in 1 2 3; do
    "$make" "$work/$seed.tts" random 3000 "$seed" || exit 1
    compare "$work/$seed.tts" 4096 0
done
compare "$work/1.tts" 4096 0 n150 DRAM=12849278208 L1=1393472
compare "$work/1.tts" 2 0
compare "$work/1.tts" 0 0
expect_out_like " 0 buffers, "
"$make" "$work/box.tts" box_of 2000 4 || exit 1
compare "$work/box.tts" 4096 0

# A recording of several blocks has keyframes inside. They are not exported.
"$make" "$work/long.tts" random 150000 5 || exit 1
run sh -c '"$1" export "$2" --to csv | cut -d, -f3 | sort | uniq -c' sh "$ttscope" "$work/long.tts"
expect_code 0
[[ $out != *keyframe* && $out != *live* ]] || fail "wanted no keyframes"
run sh -c '"$1" export "$2" --to json | wc -l' sh "$ttscope" "$work/long.tts"
[ "$out" -gt 150000 ] || fail "wanted every event"

# ---- each format ----

run "$ttscope" export "$work/graph.json" --to csv
expect_code 0
expect_err ""
expect_out_like $'\n1,,op_begin,,,,,,,,,,,,,"\'=evil,""op""",'
expect_out_like $'\n2,,alloc,0,DRAM,'
run "$ttscope" export "$work/graph.json" -t json
expect_code 0
expect_err ""
expect_out_like '"op":"=evil,\\"op\\""'
run "$ttscope" export "$work/graph.json" --to chrome -o "$work/out.chrome"
expect_code 0
expect_out ""
expect_err "ttscope export: note: the file has no times: every event takes one microsecond
ttscope export: note: no capacities are drawn: the file does not name the device (give '--device NAME')"
run jq -e '.otherData.complete and (.traceEvents | all((.pid == 1 or .pid == 1073741826) and
    (.tid | type) == "number" and (.ts | type) == "number")) and
    (.traceEvents | map(.ph) | unique) == ["C", "M", "X", "b", "e", "i"]' "$work/out.chrome"
expect_code 0

# Names include sizes, peaks are marked, and the capacity of the device is drawn.
run "$ttscope" export "$work/graph.json" --to chrome --device n150 --set l1_small=32K -o "$work/out.chrome"
expect_code 0
expect_err "ttscope export: note: the file has no times: every event takes one microsecond"
run jq -r '.traceEvents[] | select(.ph == "X" or .ph == "b" or .ph == "i" or
    (.name | endswith("capacity"))) | .name + (.args | .d0_L1_capacity_bytes // "" | tostring)' "$work/out.chrome"
expect_out '=evil,"op" 8.00 KiB
device 0 DRAM capacity
=evil,"op" 64.0 KiB
device 0 L1 capacity1360704
=evil,"op" 72.0 KiB
capture
device 0 DRAM capacity
peak of DRAM 8.00 KiB
device 0 L1 capacity1360704
peak of L1 2.00 KiB per bank'
run "$ttscope" export "$work/graph.json" --to chrome --set l1_small=32K
expect_code 2
expect_err "ttscope export: '--set' needs '--device NAME' (see 'ttscope help export')"
run "$ttscope" export "$work/graph.json" --to chrome --device n15
expect_code 2
expect_err_like "n15"
run sh -c '"$1" export "$2" --to perfetto | protoc --decode_raw' sh "$ttscope" "$work/graph.json"
expect_code 0
expect_out_like "every event takes one microsecond"
run sh -c '"$1" export "$2" --to perfetto | protoc -I"$3" --decode=check.Trace perfetto_check.proto' \
    sh "$ttscope" "$work/1.tts" "$source_dir/tests/e2e"
expect_code 0
expect_out_like "TYPE_SLICE_END"
[[ $out != *"one microsecond"* ]] || fail "wanted the times of the recording"

# A note counts the buffers that are not drawn.
run "$ttscope" export "$work/1.tts" --to perfetto -s 1 -o "$work/out.pftrace"
expect_code 0
expect_err_like "counted but not drawn: *"

# A note counts the names for which there is no room. The output has this note, too.
"$make" "$work/names.tts" names || exit 1
run "$ttscope" export "$work/names.tts" --to perfetto --device n150 -o "$work/out.pftrace"
expect_code 0
expect_err 'ttscope export: note: 1000 operations and buffers are named "(other)": at most 65000 operation names are kept'
run sh -c 'tail -c 400 "$1" | strings' sh "$work/out.pftrace"
expect_out_like "at most 65000 operation names"

# ---- input and output ----

for file in graph.json 1.tts; do
    run "$ttscope" export "$work/$file" --to csv
    wanted=$out
    run sh -c '"$1" export --to csv - <"$2"' sh "$ttscope" "$work/$file"
    expect_code 0
    expect_out "$wanted"
    run sh -c 'cat "$2" | "$1" export - --to csv -o -' sh "$ttscope" "$work/$file"
    expect_code 0
    expect_out "$wanted"
    run "$ttscope" export "$work/$file" --to csv --output "$work/out.csv"
    expect_code 0
    expect_out ""
    [ "$(cat "$work/out.csv")" = "$wanted" ] || fail "wanted the same in a file"
done

run sh -c '"$1" export "$2" --to csv >/dev/full' sh "$ttscope" "$work/1.tts"
expect_code 3
expect_err_like "ttscope export: cannot write to standard output: "
run "$ttscope" export "$work/1.tts" --to csv -o /dev/full
expect_code 3
expect_err "ttscope export: cannot write '/dev/full': no space left on the disk"
run sh -c '{ "$1" export "$2" --to csv; echo $? >&2; } | true' sh "$ttscope" "$work/long.tts"
expect_err 141
run "$ttscope" export "$work/1.tts" --to csv -o "$work/none/out.csv"
expect_code 3
cp "$work/1.tts" "$work/same.tts"
run "$ttscope" export "$work/same.tts" --to csv -o "$work/../${work##*/}/same.tts"
expect_code 2
expect_err_like "is the input: write the output to another file"
cmp -s "$work/1.tts" "$work/same.tts" || fail "wanted the input as it was"

# A Perfetto trace is not written to a terminal, under any name of it. Text is.
if "$python" -c 'import pty; pty.openpty()' 2>/dev/null; then
    for output in "" "-o /dev/stdout"; do
        run script -qec "'$ttscope' export '$work/1.tts' --to perfetto $output" /dev/null
        expect_code 2
        expect_sentence "a Perfetto trace is binary and is not written to a terminal: give '-o OUT.pftrace'"
    done
    run script -qec "'$ttscope' export '$work/graph.json' --to json" /dev/null
    expect_code 0
else
    echo "not tried: no terminal can be made here"
fi

# ---- damage ----

# Everything before the damage is exported, complete in its format. The end of the output says
# what is missing.
head -c 1500 "$work/graph.json" >"$work/cut.json"
size=$(stat -c %s "$work/long.tts")
head -c $((size * 3 / 4)) "$work/long.tts" >"$work/cut.tts"
compare "$work/cut.json" 4096 5
for file in cut.json cut.tts; do
    run "$ttscope" export "$work/$file" --to chrome -o "$work/out.chrome"
    expect_code 5
    expect_err_like "ttscope export: $work/$file:"
    expect_err_like "; only the * before the damage w* read"
    run jq -e '(.otherData.complete | not) and (.otherData.missing | length == 1) and
        (.traceEvents | length > 3)' "$work/out.chrome"
    expect_code 0
    run sh -c '"$1" export "$2" --to csv | tail -n 1' sh "$ttscope" "$work/$file"
    expect_out_like ",,damage,"
    run sh -c '"$1" export "$2" --to json | tail -n 1 | jq -r .kind' sh "$ttscope" "$work/$file"
    expect_out "damage"
    run sh -c '"$1" export "$2" --to perfetto | tail -c 400 | strings' sh "$ttscope" "$work/$file"
    expect_code 0
    expect_out_like "; only the * before the damage w* read"
done

# A cut recording gives a partial export, or an error and no output. If only the index is cut
# off, everything is exported.
run "$ttscope" export "$work/box.tts" --to csv
wanted=$out
size=$(stat -c %s "$work/box.tts")
for ((at = 1; at < size; at += size / 12)); do
    head -c "$at" "$work/box.tts" >"$work/cut.tts"
    rm -f "$work/out.chrome"
    run "$ttscope" export "$work/cut.tts" --to chrome -o "$work/out.chrome"
    case $code in
    3) [ ! -e "$work/out.chrome" ] || fail "wanted no output of nothing" ;;
    5) jq -e '.otherData.complete | not' "$work/out.chrome" >/dev/null || fail "wanted whole JSON" ;;
    *) run "$ttscope" export "$work/cut.tts" --to csv && expect_out "$wanted" ;;
    esac
    [ -n "$err" ] || fail "wanted to know why"
done

# Wrong bytes are detected.
for at in 100 5000 9000; do
    cp "$work/box.tts" "$work/bad.tts"
    printf '\xa5\x5a\xa5' | dd of="$work/bad.tts" bs=1 seek="$at" conv=notrunc status=none
    run "$ttscope" export "$work/bad.tts" --to json
    [ "$code" -eq 3 ] || [ "$code" -eq 5 ] || fail "wanted exit code 3 or 5"
done

# A file that is neither a recording nor a graph trace is an error.
printf 'hello\n' >"$work/text"
: >"$work/empty"
for file in text empty none ''; do
    rm -f "$work/out.csv"
    run "$ttscope" export "$work/$file" --to csv -o "$work/out.csv"
    expect_code 3
    expect_out ""
    expect_err_like "ttscope export: "
    [ ! -e "$work/out.csv" ] || fail "wanted no output"
done

# ---- the command line ----

run "$ttscope" export "$work/1.tts"
expect_code 2
expect_err "ttscope export: the output format is missing: give '--to perfetto', '--to chrome', '--to csv' or '--to json'"
run "$ttscope" export "$work/1.tts" --to prefetto
expect_code 2
expect_err "ttscope export: invalid value 'prefetto' for '--to': expected perfetto, chrome, csv or json"
for slots in -1 1048577 many ''; do
    run "$ttscope" export "$work/1.tts" --to chrome --slots="$slots"
    expect_code 2
    expect_err "ttscope export: invalid value '$slots' for '--slots': expected a whole number from 0 to 1048576"
done
run "$ttscope" export --to csv
expect_code 2
expect_err "ttscope export: missing operand 'FILE' (see 'ttscope help export')"
run "$ttscope" export --to csv a b
expect_code 2
expect_err "ttscope export: one operand too many: 'b' (see 'ttscope help export')"

# ---- the program ----

# The program is found beside ttscope. Without it, the message says that it is not installed.
mkdir -p "$work/bin"
cp "$ttscope" "$work/bin/"
run "$work/bin/ttscope" export "$work/1.tts" --to csv
expect_code 3
expect_err "ttscope: cannot run 'export': the program libexec/ttscope/ttscope-export is not installed"
run "$work/bin/ttscope" help export
expect_code 0
expect_out_like "ttscope-export - "
mkdir -p "$work/libexec/ttscope"
cp "$TTS_BUILD_DIR/libexec/ttscope/ttscope-export" "$work/libexec/ttscope/"
run "$work/bin/ttscope" export "$work/1.tts" --to csv
expect_code 0

# ttscope itself does not load protobuf-c.
if command -v readelf >/dev/null; then
    run readelf -d "$ttscope"
    [[ $out != *protobuf* ]] || fail "wanted ttscope without protobuf-c"
fi
