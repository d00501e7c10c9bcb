#!/usr/bin/env bash
# A graph trace of one mesh of 8 chips, whose numbers collide: what is on a core, whether it fits, and
# the counters. And a core that has more than its L1.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# A program on each of 8 chips, 40 times: 3 circular buffers of 48 KiB, and one L1 buffer of the mesh.
# What ends the programs is of device $1.
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
run "$ttscope" replay --device n150 mesh.json
expect_code 0
expect_out_like "everything fits"
run "$ttscope" export --to chrome mesh.json
expect_code 0
[ "$(grep -c '"d7_CB_bytes":147456' <<<"$out")" -eq 40 ] || fail "chip 7 has not 40 times three CBs"
! grep -q '"d[0-7]_CB_bytes":196608' <<<"$out" || fail "the CBs of a program were not ended"

# Nothing ends the parts of chip 0 to 7: no core has so much.
make_mesh 9 >endless.json
run "$ttscope" show endless.json
expect_code 5
expect_err_like "but its L1 has 1572864 B: the file lacks ends or contradicts itself"
run "$ttscope" show --json endless.json
expect_code 5
expect_out_like '"kind": "l1"'
