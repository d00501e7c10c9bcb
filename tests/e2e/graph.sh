#!/usr/bin/env bash
# Graph traces: a mesh of 8 chips that have the same numbers as the mesh, compressed traces,
# times, and a core with more memory in use than its L1.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# Prints a trace: a program on each of 8 chips, 40 times, with 3 circular buffers of 48 KiB, and
# one L1 buffer of the mesh. The events that end the programs name device $1.
make_mesh() {
    awk -v ender="$1" '
    function node(type, params) {
        printf "%s{\"counter\":%d,\"node_type\":\"%s\",\"connections\":[%d],\"params\":{%s}}",
            n ? ",\n" : "[", n, type, buffer, params
        n++
    }
    BEGIN {
        node("capture_start", "")
        for (op = 0; op < 40; op++) {
            node("function_start", "\"name\":\"ttnn::add\"")
            buffer = n
            at = "\"size\":65536,\"type\":\"L1\",\"buffer_type\":1,\"device_id\":0"
            node("buffer", at)
            node("buffer_allocate", at ",\"address\":" 1400000 - 64 * op ",\"max_size_per_bank\":64")
            node("circular_buffer_deallocate_all", "\"device_id\":" ender)
            for (cb = 0; cb < 3; cb++)
                for (chip = 0; chip < 8; chip++)
                    node("circular_buffer_allocate", "\"size\":49152,\"address\":" 103712 + 49152 * cb \
                        ",\"globally_allocated\":\"0\",\"device_id\":" chip \
                        ",\"core_range_set\":\"{[(x=0,y=0) - (x=7,y=7)]}\"")
            node("function_end", "")
        }
        node("capture_end", "")
        print "]"
    }'
}

make_mesh 0 >mesh.json
run "$ttscope" show mesh.json
expect_code 0
expect_out_like "fullest core: 150016 B on core (0, 0) of device 0"
expect_out_like "(mesh 0 [of 0, 1, 2, 3, 4, 5, 6, 7])"
run "$ttscope" show --pool l1 mesh.json
expect_out_like "on a core of mesh 0"
run "$ttscope" show --json mesh.json
expect_out_like '{"id": 2147483648, "name": "mesh 0", "mesh": null}'
run "$ttscope" export --to csv mesh.json
expect_out_like ",mesh 0"
run "$ttscope" export --to json mesh.json
expect_out_like '"device_name":"mesh 0"'
run "$ttscope" replay --json --device n150 mesh.json
expect_out_like '"device_name": "mesh 0"'
run "$ttscope" replay --device n150 mesh.json
expect_code 0
expect_out_like "everything fits"
run "$ttscope" export --to chrome mesh.json
expect_code 0
[ "$(grep -c '"d7_CB_bytes":147456' <<<"$out")" -eq 40 ] || fail "chip 7 has not 40 times three CBs"
! grep -q '"d[0-7]_CB_bytes":196608' <<<"$out" || fail "the CBs of a program were not ended"

expect_out_like '"name":"mesh 0 L1"'
! grep -q "device 2147483648" <<<"$out" || fail "a mesh has the name of a device"

# Compressed traces are read from a file or a pipe, whatever their name is.
"$ttscope" show mesh.json >shown
gzip -c mesh.json >mesh.gz
zstd -qc mesh.json >mesh.other
for file in mesh.gz mesh.other; do
    run sh -c '"$1" show "$2" | diff - shown' sh "$ttscope" $file
    [ "$(wc -l <out)" -le 4 ] || fail "wanted the same but for the name"
    run sh -c '"$1" show - <"$2"' sh "$ttscope" $file
    expect_out_like "fullest core: 150016 B"
    run sh -c 'cat "$2" | "$1" replay --device n150 -' sh "$ttscope" $file
    expect_code 0
    expect_out_like "everything fits"
    run "$ttscope" export --to csv $file
    [ "$(wc -l <out)" -eq "$("$ttscope" export --to csv mesh.json | wc -l)" ] || fail "wanted all rows"
    run sh -c 'cat "$2" | "$1" diff - mesh.json' sh "$ttscope" $file
    expect_code 0
done
head -c 800 mesh.gz >cut.gz
run "$ttscope" show cut.gz
expect_code 5
expect_err_like "the gzip data is cut off; only the * before the damage w* read"
echo hello | gzip >hello.gz
run "$ttscope" show hello.gz
expect_code 3
expect_err "ttscope show: hello.gz: is compressed but is not a graph trace (JSON)"

# An empty array is not a graph trace.
echo '[]' >nothing.json
for command in show "replay --device n150" "export --to csv"; do
    # shellcheck disable=SC2086
    run "$ttscope" $command nothing.json
    expect_code 3
    expect_err "ttscope ${command%% *}: nothing.json:1: not a graph trace: the file has no node"
done

# Durations become times: functions run after each other, inner functions inside outer ones.
cat >times.json <<'JSON'
[{"counter":0,"node_type":"capture_start"},
 {"counter":1,"node_type":"function_start","params":{"name":"a"}},
 {"counter":2,"node_type":"function_start","params":{"name":"b"}},
 {"counter":3,"node_type":"function_end","params":{"name":"b"},"duration_ns":300},
 {"counter":4,"node_type":"circular_buffer_deallocate_all","params":{"device_id":0}},
 {"counter":5,"node_type":"function_end","params":{"name":"a"},"duration_ns":"1000"},
 {"counter":6,"node_type":"function_start","params":{"name":"c"}},
 {"counter":7,"node_type":"function_end","params":{"name":"c"}},
 {"counter":8,"node_type":"capture_end","duration_ns":5000}]
JSON
run sh -c '"$1" export --to csv times.json | cut -d, -f1-3' sh "$ttscope"
expect_out "seq,time_ns,kind
0,0,capture_begin
1,0,op_begin
2,0,op_begin
3,300,op_end
4,300,program
5,1000,op_end
6,1000,op_begin
7,1000,op_end
7,5000,phase_end
7,5000,capture_end"
run "$ttscope" export --to chrome times.json
expect_out_like '"ph":"E","pid":1,"tid":2,"ts":1.000'
expect_out_like '"times":"durations of functions, one after the other'

# No event ends the programs of chips 0 to 7, so their circular buffers add up to more than a
# core has.
make_mesh 9 >endless.json
run "$ttscope" show endless.json
expect_code 5
expect_err_like "but the L1 of a core has 1572864 B: frees are missing, or the file is inconsistent"
run "$ttscope" show --json endless.json
expect_code 5
expect_out_like '"kind": "l1"'

# A buffer belongs to the operation that the user called, not to the helper that allocates it.
cat >op.json <<'JSON'
[{"counter":0,"node_type":"capture_start"},
 {"counter":1,"node_type":"function_start","params":{"name":"ttnn::add"}},
 {"counter":2,"node_type":"function_start","params":{"name":"ttnn::prim::binary"}},
 {"counter":3,"node_type":"function_start","params":{"name":"tt::tt_metal::create_device_tensor"}},
 {"counter":4,"node_type":"buffer","params":{"size":64,"type":"DRAM"}},
 {"counter":5,"node_type":"buffer_allocate","connections":[4],"params":{"size":64,"type":"DRAM"}},
 {"counter":6,"node_type":"function_end"},
 {"counter":7,"node_type":"function_end"},
 {"counter":8,"node_type":"function_end"},
 {"counter":9,"node_type":"capture_end"}]
JSON
run env LC_ALL=C "$ttscope" show op.json
expect_out_like "at event 4 of 7, in ttnn::add > ttnn::prim::binary"
expect_out_like "           64  ...d > ttnn::prim::binary"
run env LC_ALL=C.UTF-8 "$ttscope" show op.json
expect_out_like "           64  …add > ttnn::prim::binary"
run "$ttscope" show --json op.json
expect_out_like '{"op": "ttnn::prim::binary", "op_path": "ttnn::add > ttnn::prim::binary", "allocations": 1'
run "$ttscope" export --to csv op.json
expect_out_like "4,,alloc,0,DRAM,4,64,,,,,,,,,ttnn::prim::binary"
expect_out_like "3,,op_begin,,,,,,,,,,,,,tt::tt_metal::create_device_tensor"
run "$ttscope" export --to chrome op.json
expect_out_like '"name":"tt::tt_metal::create_device_tensor '
