#!/usr/bin/env bash
# `ttscope show` as users run it.
. "$(dirname "$0")/lib.sh"
golden=$source_dir/tests/golden/show
make=$TTS_BUILD_DIR/tests/make_recording

# Expects the stored output, except for the size of a recording.
without_size() {
    sed -E 's/(recording \(packed\)), .*/\1/; /"source"/,/"devices"/{/"bytes"/d}'
}
expect_golden() {
    local kept printed
    kept=$(without_size <"$golden/$1")
    printed=$(without_size <<<"$out")
    [ "$printed" = "$kept" ] || {
        fail "wanted what is in tests/golden/show/$1"
        diff <(printf '%s\n' "$kept") <(printf '%s\n' "$printed")
    }
}

expect_jq() {
    local got
    got=$(jq -c "$1" "$work/out.json" 2>&1) || fail "jq cannot: $1"
    [ "$got" = "$2" ] || fail "wanted of $1: $2, got: $got"
}

run_json() {
    run "$ttscope" show --json "$@"
    cp "$work/out" "$work/out.json"
}

# Expects no control characters, and no line over 80 columns except the answer and the runtime's
# sentences.
expect_tidy() {
    ! grep -q '[^[:print:]]' "$work/out" || fail "wanted no control characters"
    [ -z "$(grep -v '^    Out of Memory' "$work/out" | awk 'NR > 1 && length > 80')" ] ||
        fail "wanted lines of at most 80 columns"
}

# ---- a graph trace ----

cd "$golden" || exit 1
run "$ttscope" show example.json
expect_code 0
expect_err ""
expect_golden example.txt
expect_tidy
run_json example.json
expect_code 0
expect_err ""
expect_golden example.out.json
expect_jq '.schema' '{"name":"ttscope.show","version":1}'
expect_jq '.phases[0].dram' '{"segment_peak_bytes":18432,"allocations_bytes":18432,"deallocations_bytes":8192,"change_bytes":10240,"cumulative_peak_bytes":18432,"cumulative_current_bytes":10240}'
expect_jq '.phases[0].l1 | .peak_cb_bytes, .peak_buffer_bytes, .peak_total_bytes, .true_core_peak_bytes' $'4096\n0\n4096\n4096'

# The output is the same from a pipe. The file is recognized by its content.
run sh -c '"$1" show --json - <example.json' sh "$ttscope"
expect_code 0
[ "$(jq 'del(.file)' <<<"$out")" = "$(jq 'del(.file)' example.out.json)" ] || fail "wanted the same from a pipe"
run sh -c 'cat example.json | "$1" show - | sed -n 3p' sh "$ttscope"
expect_out "<stdin>: graph trace"
expect_err ""

# A trace that is cut off: the part that was understood, then the place of the cut.
run "$ttscope" show cut.json
expect_code 5
expect_golden cut.txt
expect_err "ttscope show: cut.json:8: the JSON ends in the middle of a string; only the 4 events before the damage were read"
run_json cut.json
expect_code 5
expect_jq '.source.state, (.source.damage != null), .phases[0].partial' $'"damaged"\ntrue\ntrue'

# Nodes that cannot be understood make the answer incomplete.
sed 's/"size":10240,"address"/"size":"x","address"/' example.json >"$work/bad.json"
run_json "$work/bad.json"
expect_code 5
expect_err_like "bad.json:"
expect_jq '[.notes[] | select(.bad)] | length > 0' true

# If the runtime's figures differ, both figures and the reason are printed: here two chips of a
# mesh.
sed 's/\({"counter":5,.*\),$/\1,\n &/; s/"counter":11/"counter":12/' example.json |
    awk '/"counter":5,/ && ++n == 2 { sub(/"device_id":0/, "\"device_id\":2") } { print }' |
    awk 'match($0, /"counter":[0-9]+/) { $0 = substr($0, 1, RSTART - 1) "\"counter\":" k++ substr($0, RSTART + RLENGTH) } { print }' |
    sed 's/"connections":\[6\]/"connections":[7]/' >"$work/two.json"
run "$ttscope" show "$work/two.json"
expect_code 0
expect_out_like "  peak CB                   4096          8192  the runtime adds up all devices"
expect_out_like "  devices    1 device, id 1 (a mesh, chips: 0, 2)"
# The list of ids is not mistaken for a count.
"$make" "$work/two.tts" story <<<$'alloc 0 0 1 2048 2048 0\nalloc 3 0 1 2048 2048 0' || exit 1
run "$ttscope" show "$work/two.tts"
expect_out_like "  devices    2 devices, ids 0, 3
"
expect_tidy

# --pool chooses the pool.
run_json --pool l1 example.json
expect_jq '.peak | .pool, .bytes, .before_first_event' $'"L1"\n0\ntrue'
run "$ttscope" show --pool l1 example.json
expect_out_like "peak of DRAM: 18432 B ('--pool' selects the pool to show)"

# --at shows the state after one event.
run_json --at 4 example.json
expect_code 0
expect_jq '.schema.name, .at.kind, .at.pools.DRAM, .at.live, .core.bytes' '"ttscope.show.at"
"cb"
{"bytes":8192,"buffers":1,"device":null}
[{"id":2,"device":1,"bytes":8192,"event":2,"op":"BinaryNgDeviceOperation","op_path":"BinaryNgDeviceOperation"}]
4096'
run "$ttscope" show --at 7 example.json
expect_code 0
expect_out_like "after event 7 (free)"
expect_tidy
run "$ttscope" show --at 8 example.json
expect_code 2
expect_out ""
expect_err "ttscope show: there is no event 8 in 'example.json': the file has events 1 to 7"

# The operations of a refused request and of an event have paths.
printf '%s\n' 'op add' 'op create_device_tensor' 'alloc 0 0 1 64 64 0' 'refuse 0 4096' end 'op prim' \
    'refuse 0 4096' end end 'refuse 0 4096' | "$make" "$work/paths.tts" story || exit 1
run_json "$work/paths.tts"
expect_jq '.failures[] | [.op, .op_path]' '["add","add"]
["prim","add > prim"]
[null,null]'
run "$ttscope" show "$work/paths.tts"
expect_out_like ", in add > prim, device 0"
run_json --at 6 "$work/paths.tts"
expect_jq '.at | .kind, .op, .op_path' $'"op_begin"\n"prim"\n"add > prim"'
run_json --at 7 "$work/paths.tts"
expect_jq '.at | .kind, .op, .op_path' $'"failure"\n"prim"\n"add > prim"'
# An operation that begins is named, also if it is a helper of another.
run_json --at 2 "$work/paths.tts"
expect_jq '.at | .kind, .op, .op_path' $'"op_begin"\n"create_device_tensor"\n"create_device_tensor"'
# The operation of a refused request is named although more operations preceded it than names are
# stored.
{
    for i in $(seq 1 16400); do
        printf 'op name_%d\nend\n' "$i"
    done
    printf 'op late\nrefuse 0 4096\nend\n'
} | "$make" "$work/late.tts" story || exit 1
run_json "$work/late.tts"
expect_jq '.failures[] | [.op, .op_path]' '["late","late"]'
run_json --at 32801 "$work/late.tts"
expect_jq '.at | .kind, .op' $'"op_begin"\n"late"'
run_json --at 32802 "$work/late.tts"
expect_jq '.at | .kind, .op' $'"failure"\n"late"'

# ---- recordings ----

for kind in run killed stopped missed box phases; do
    "$make" "$work/$kind.tts" "$kind" || fail "cannot make $kind.tts"
done
cd "$work" || exit 1
run "$ttscope" show run.tts
expect_code 0
expect_err ""
expect_golden run.txt
expect_tidy
run_json run.tts
expect_golden run.out.json
run_json --top 0 run.tts
expect_jq '.source | .kind, .state, .program, .pid, .events, .seconds, .start_unix_seconds' '"recording"
"complete"
"train\u001b[2J.py"
4711
28
0.042
1700000000'
expect_jq '[.phases[] | .name]' '["MODEL_CREATION","FORWARD\u001b[31m_PASS"]'
# The buffers and operations that were live at the peak add up to the peak.
expect_jq '.peak | .bytes == .buffers_bytes + .not_listed_bytes, .buffers_bytes == ([.live[].bytes] | add), .buffers_bytes == ([.by_op[].bytes] | add), .buffers == (.live | length), .bytes' $'true\ntrue\ntrue\ntrue\n131072000'
expect_jq '.peak.bytes == .overall_dram_peak_bytes, .overall_dram_peak_bytes == .phases[-1].dram.cumulative_peak_bytes, .final_dram_bytes == .phases[-1].dram.cumulative_current_bytes' $'true\ntrue\ntrue'
expect_jq '[.ops[].peak_bytes] | add' 134217728
expect_jq '.core | .bytes, ([.cb_bytes, .dfb_bytes, .scratchpad_bytes, .l1_bytes, .l1_small_bytes] | add), ([.parts[].bytes] | add)' $'86016\n86016\n86016'
expect_jq '[.failures[] | .event, .live_buffers, .live_bytes, (.live_set.buffers_bytes // null)]' '[21,13,134217728,134217728,27,13,83886080,null]'
expect_jq '.failures[0] | .kind, .deficit_bytes, .op' $'"space"\n31457280\n"matmul?[31m"'
expect_jq '.health.unseen_frees' 1
run_json --top 3 run.tts
expect_jq '.peak | (.live | length), .live_not_listed, ([.live[].bytes] | . == (sort | reverse))' $'3\n10\ntrue'

# Through a pipe, and with a reader that stops early.
run sh -c 'cat run.tts | "$1" show -' sh "$ttscope"
expect_code 0
[ "$(sed 3d <<<"$out")" = "$(sed 3d "$golden/run.txt")" ] || fail "wanted the same from a pipe"
run sh -c '"$1" show --all phases.tts | head -1' sh "$ttscope"
expect_err ""
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "wanted one line"

# The output says how the recording ended.
run "$ttscope" show killed.tts
expect_code 0
expect_err ""
expect_out_like "not ended: the program still runs"
expect_out_like "all events from * are in the file"
run "$ttscope" show stopped.tts
expect_code 5
expect_err_like "17 later events are missing"
expect_out_like "stopped because the disk was full; 17 later events are missing"
run_json stopped.tts
expect_jq '.source | .state, .state_reason, .dropped_events' $'"stopped"\n"stopped because the disk was full"\n17'
run "$ttscope" show missed.tts
expect_code 5
expect_out_like "events dropped before they were recorded: 5"

# A black box counts the buffers that were live before it.
run_json box.tts
expect_code 0
expect_jq '.source | .events, .first_event, .buffers_before' $'5\n1001\n2'
expect_jq '.peak | .bytes, .event, .buffers' $'11534336\n1002\n3'
expect_jq '.overall_dram_peak_bytes, .final_dram_bytes' $'11534336\n4194304'
expect_jq '[.phases[] | [.name, .partial, .first_event, .last_event]]' '[["STEP",true,1001,1004],["(unfinished)",true,1005,1005]]'
run_json --at 1003 box.tts
expect_jq '.at.pools.DRAM, [.at.live[].id]' $'{"bytes":3145728,"buffers":2,"device":null}\n[1001,9]'
# Facts that need a pass over the whole file are absent.
expect_jq '.source | [.state, has("events", "first_event", "buffers_before", "seconds", "first_seconds")]' '["complete",false,false,false,false,false]'
for event in 1000 1006 9; do
    run "$ttscope" show --at "$event" box.tts
    expect_code 2
    expect_err "ttscope show: there is no event $event in 'box.tts': the file has events 1001 to 1005"
done

# The state after an event is the same, whether the file is read up to it or a seek finds it.
run_json --at 20 --top 0 run.tts
expect_jq '.at | .pools.DRAM.bytes, .pools.L1, .buffers, ([.live[].bytes] | add)' $'134217728\n{"bytes":20480,"buffers":1,"device":0}\n13\n134217728'
expect_jq '.core | .bytes, (.parts | length)' $'86016\n2'

# Many phases: the first and the last are printed, or all.
run "$ttscope" show phases.tts
expect_out_like " ... 20 more phases, --all shows them"
[ "$(grep -c '^ iteration_' "$work/out")" -eq 80 ] || fail "wanted 40 rows in each table"
run "$ttscope" show --all phases.tts
[ "$(grep -c '^ iteration_' "$work/out")" -eq 120 ] || fail "wanted all rows"
run_json phases.tts
expect_jq '.phases | length' 60

# A recording that is cut or changed gives a message with the place, or the same answer. (Every
# byte: unit.recfile.)
size=$(stat -c %s run.tts)
for at in 4095 4130 $((size - 40)); do
    head -c "$at" run.tts >cut.tts
    run "$ttscope" show cut.tts
    [ "$code" -eq 3 ] || [ "$code" -eq 5 ] || [ "$code" -eq 0 ] || fail "wanted 0, 3 or 5"
    [ "$code" -eq 0 ] || expect_err_like "cut.tts"
    cp run.tts flipped.tts
    printf '\125' | dd of=flipped.tts bs=1 seek="$at" conv=notrunc status=none
    run "$ttscope" show flipped.tts
    if [ "$code" -eq 0 ]; then
        [ "$(sed 3d <<<"$out")" = "$(sed 3d "$golden/run.txt")" ] || fail "wanted the same answer or a message"
    else
        expect_err_like "flipped.tts"
    fi
done

# ---- mistakes ----

run "$ttscope" show
expect_code 2
expect_err "ttscope show: missing operand 'FILE' (see 'ttscope help show')"
run "$ttscope" show --pool x run.tts
expect_code 2
expect_err "ttscope show: invalid value 'x' for '--pool': expected dram, l1, l1_small or trace"
run "$ttscope" show --at 0 run.tts
expect_code 2
expect_err "ttscope show: invalid value '0' for '--at': expected a whole number, 1 or more"
run "$ttscope" show --top many run.tts
expect_code 2
expect_err "ttscope show: invalid value 'many' for '--top': expected a whole number, 0 or more"
run sh -c '"$1" show --json run.tts >/dev/full' sh "$ttscope"
expect_code 3
expect_err "ttscope show: cannot write to standard output: no space left on the disk"
