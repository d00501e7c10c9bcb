#!/usr/bin/env bash
# `ttscope replay --device` as users run it.
. "$(dirname "$0")/lib.sh"
example=$source_dir/examples/device.txt
input=$work/in.txt

# The output is a sequence again, and --check accepts it. On another chip it differs.
run "$ttscope" replay --device n150 "$example"
expect_code 0
expect_out_like 'buffer dram interleaved 8388608 2048 as=wq = 2968640'
expect_out_like 'run = F
# Statically allocated circular buffers in program 2 clash with L1 buffers on core range [[]0-0 - 3-0]. L1 buffer allocated at 1302528 and static circular buffer region ends at 1350848
# missing: 48320 B'
expect_out_like '# Out of Memory: Not enough space to allocate 89128960 B L1 buffer across 64 banks, where each bank needs to store 1392640 B, but bank size is 1393472 B (allocated: 65536 B, free: 1327936 B, largest free block: 1327936 B)'
cp "$work/out" "$work/kept.txt"
run "$ttscope" replay --device n150 --check "$work/kept.txt"
expect_code 0
expect_out '26 operations, 23 match, 3 have no result'
run "$ttscope" replay --device p150 --check "$work/kept.txt"
expect_code 1
expect_err_like "expected 'kernel 126976 as=kernels = 1073729536', got 'kernel 126976 as=kernels = 4278173696'; the comparison stopped there"

# The example in the description of the language has the stated results.
awk '/^```$/ { inside = !inside; n++; next } inside && n == 1' "$source_dir/docs/design/devseq.md" >"$input"
run "$ttscope" replay --device n150 --check "$input"
expect_code 0
expect_out '11 operations, 9 match, 2 have no result'

# Facts can be changed: L1_SMALL lowers the top of L1, and a device file names its own chip.
run "$ttscope" replay --device n150 --set l1_small=32768 --quiet --stats "$example"
expect_code 0
expect_out_like 'L1_SMALL, 64 banks; per bank
  total                    32768 B    32.0 KiB'
expect_out_like 'L1, 64 banks; per bank
  total                  1360704 B    1.30 MiB'
printf 'buffer dram interleaved 2048 2048\n' >"$work/one.txt"
printf 'preset: n150\ndevice: mine\ngrid: 8x7\n' >"$work/mine.yaml"
run "$ttscope" replay --device "$work/mine.yaml" --json --quiet "$work/one.txt"
expect_code 0
cp "$work/out" "$work/mine.json"
run jq -c '[.device, (.pools[] | [.pool, .banks])]' "$work/mine.json"
expect_out '["mine",["DRAM",12],["L1",56]]'

# The least room of all runs is printed, not the room at the end.
run "$ttscope" replay --device n150 --quiet --stats "$example"
expect_out_like 'the core with the least free L1 at a run: line 32, program 2, core 0-0'
expect_out_like '  missing                  48320 B    47.2 KiB'
expect_out_like '  of all banks           4194304 B    4.00 MiB  allocated in all banks together'
run "$ttscope" replay --device p150 --quiet --stats "$example"
expect_out_like '  free between             46080 B    45.0 KiB'

# Modes: nothing fails, or failures are counted.
run "$ttscope" replay --device n150 --mode no-dispatch --quiet --stats "$example"
expect_code 0
expect_out_like '0 failed (0 by fragmentation), 0 below the limit, 7 not placed'
run "$ttscope" replay --device n150 --mode overcommit --quiet --stats "$example"
expect_out_like '  not placed             1392640 B    1.33 MiB  in 1 buffer, only counted'
expect_out_like 'first failure, at line 32'
run "$ttscope" replay --device n150 --mode other "$example"
expect_code 2
expect_err "ttscope replay: invalid value 'other' for '--mode': expected place, no-dispatch or overcommit"

# JSON has the statistics with the runtime's field names.
run "$ttscope" replay --device n150 --json --blocks "$example"
cp "$work/out" "$work/all.json"
run jq -c '.schema, (.pools[] | select(.pool == "L1") | .statistics, .memory_view, (.blocks | length)), .device_report.cb_limit, .first_failure_line' "$work/all.json"
expect_out '{"name":"ttscope.replay.device","version":1}
{"total_allocatable_size_bytes":1393472,"total_allocated_bytes":65536,"total_free_bytes":1327936,"largest_free_block_bytes":1327936,"fragmentation_ratio":0}
{"num_banks":64,"total_bytes_per_bank":1393472,"total_bytes_allocated_per_bank":65536,"total_bytes_free_per_bank":1327936,"largest_contiguous_bytes_free_per_bank":1327936}
2
1393472
32'
run jq -r '.results[] | select(.failure) | .failure | "\(.kind) \(.deficit_bytes)"' "$work/all.json"
expect_out 'clash 48320
space 64704'
run jq -c '.tightest_core, (.buffers[] | select(.name == "hidden"))' "$work/all.json"
expect_out '{"line":32,"program":2,"x":0,"y":0,"cb_bytes":1245184,"region_end":1350848,"ceiling":1302528,"free_bytes":0,"excess_bytes":48320}
{"name":"hidden","buffer_type":"L1","buffer_layout":"interleaved","address":1433600,"size_bytes":4194304,"page_bytes":2048,"bytes_per_bank":65536,"block_bytes":65536}'
run jq -c '.results[] | select(.result == "failed" and .op == "buffer") | [.bytes_per_bank, .banks, .address]' "$work/all.json"
expect_out '[1392640,64,null]'

# The three reports, in the runtime's layout, and nothing else in the directory.
run "$ttscope" replay --device n150 --set l1_small=4096 --quiet --csv "$work/csv" "$input"
expect_code 0
run ls "$work/csv"
expect_out 'detailed_memory_usage.csv
l1_usage_summary.csv
memory_usage_summary.csv'
run cat "$work/csv/memory_usage_summary.csv"
expect_out ', Total Allocatable Size (B), Total Allocated (B), Total Free (B), Largest Free Block (B)
,1070773184,0,1070773184,1070773184
,1389376,6144,1383232,1383232
,4096,0,4096,4096'
run cat "$work/csv/l1_usage_summary.csv"
expect_out 'This report indicates available space for interleaving L1 buffers
, Largest Contiguous Free Block (B), Total Free L1 Space (B)
,1383232,88526848'
run grep -c 'FreeListOpt allocator info:' "$work/csv/detailed_memory_usage.csv"
expect_out 3
run "$ttscope" replay --device n150 --quiet --csv "$work/no/such" "$input"
expect_code 3
expect_err_like 'cannot create the directory'

# Mistakes are reported with their line, and JSON prints nothing.
bad_line() { # message, line
    printf 'buffer l1 interleaved 4096 2048 as=a\n%s\n' "$2" >"$input"
    run "$ttscope" replay --device n150 --json "$input"
    expect_code 3
    expect_out ''
    expect_err "ttscope replay: $input:2: $1"
}
bad_line "unknown statement 'bufer', did you mean 'buffer'?" 'bufer l1 interleaved 1 1'
bad_line "'a' belongs to the language for one pool: omit --device" 'a 1 1 0'
bad_line "the size of 4096 B is not a multiple of the page size, 1000 B" 'buffer dram interleaved 4096 1000'
bad_line "the name 'a' belongs to a live buffer: free that buffer first" 'buffer l1 interleaved 4096 2048 as=a'
bad_line "no buffer is named 'b'" 'free b'
bad_line "'n150' has no TRACE: set 'trace_region' to more than 0" 'buffer trace interleaved 2048 2048'
bad_line "core range 0-0..8-0 is outside the grid of 8x8" \
    'shard l1 classic 2048 2048 shard=1x1 cores=0-0..8-0'
printf 'buffer dram interleaved 2048 2048\n' >"$input"
run "$ttscope" replay "$input"
expect_code 3
expect_err_like "add --device"

: >"$input"
run "$ttscope" replay --device n150 "$input"
expect_code 3
expect_err "ttscope replay: $input:1: no statement: expected lines like 'buffer dram interleaved SIZE PAGE'"
printf 'buffer l1 interleaved 2048 2048 as=weight\nfree wieght\n' >"$input"
run "$ttscope" replay --device n150 "$input"
expect_err_like "no buffer is named 'wieght', did you mean 'weight'?"

# Further facts are printed as comments: the chip, overlaps, frees without a buffer.
printf '%s\n' 'cb 4096 cores=2-0..3-0' 'cb 8192 cores=0-0..1-0' 'cb 2048 cores=1-0..2-0' \
    'free dram 5' >"$input"
run "$ttscope" replay --device n150 "$input"
expect_code 0
expect_out '# on n150
cb 4096 cores=2-0..3-0 = 105664
cb 8192 cores=0-0..1-0 = 105664
cb 2048 cores=1-0..2-0 = 109760
# overlaps 1 earlier circular buffer on at least one core; the runtime does not detect this
free dram 5
# ignored: there is no such buffer'
run "$ttscope" replay --device n150 --json "$input"
cp "$work/out" "$work/cbs.json"
run jq -c '[.results[].overlaps]' "$work/cbs.json"
expect_out '[0,0,1,null]'

# The device: unknown names and keys, and options that need a device.
run "$ttscope" replay --device n15 "$input"
expect_code 2
expect_err_like "'n150'"
run "$ttscope" replay --device n150 --set l1_smal=1 "$input"
expect_code 2
expect_err_like "did you mean 'l1_small'"
run "$ttscope" replay --device n150 --set grid=9x9 "$input"
expect_code 2
expect_err_like "this device is not possible: "
run "$ttscope" replay --device grayskull "$input"
expect_code 2
expect_err_like "cannot run a sequence on 'grayskull'"
run "$ttscope" replay --device "$work/none.yaml" "$input"
expect_code 3
expect_err_like "cannot read '$work/none.yaml'"
for option in '--set grid=8x8' '--mode place' "--csv $work/x"; do
    # shellcheck disable=SC2086 # several words
    run "$ttscope" replay $option "$input"
    expect_code 2
    expect_err_like "needs '--device NAME'"
done

# A picture of one of the pools.
run "$ttscope" replay --device n150 --quiet --map "$work/map.svg" --pool l1 "$example"
expect_code 0
run xmllint --noout "$work/map.svg"
expect_code 0
run grep -c '1 of 3 requests failed' "$work/map.svg"
expect_out 1
run "$ttscope" replay --device n150 --map - "$example"
expect_out_like '<svg '
run "$ttscope" replay --device n150 --map "$work/map.svg" --pool trace "$example"
expect_code 2
expect_err "ttscope replay: cannot draw a map of TRACE: 'n150' has no such pool"
run "$ttscope" replay --device n150 --map "$work/map.svg" --pool l2 "$example"
expect_code 2
expect_err "ttscope replay: invalid value 'l2' for '--pool': expected dram, l1, l1_small or trace"
run "$ttscope" replay --device n150 --pool l1 "$example"
expect_code 2
run "$ttscope" replay --pool l1 --map "$work/map.svg" "$example"
expect_code 2
expect_err_like "'--pool' needs '--device NAME'"
cp "$example" "$work/self.txt"
run "$ttscope" replay --device n150 --map "$work/self.txt" "$work/self.txt"
expect_code 2
cp "$work/mine.yaml" "$work/chip.yaml"
run "$ttscope" replay --device "$work/chip.yaml" --quiet --map "$work/chip.yaml" "$example"
expect_code 2
cmp -s "$work/mine.yaml" "$work/chip.yaml" || fail "the device file was replaced"
run "$ttscope" replay --device - -
expect_code 2
expect_err 'ttscope replay: standard input cannot be both the device file and the sequence'

# A request that exceeds the trace budget is a failure in the map, too.
printf 'trace 500000\ntrace 600000\ntrace 600000\n' >"$input"
run "$ttscope" replay --device n150 --set trace_region=1M --quiet --map "$work/map.svg" --pool trace "$input"
run grep -c '2 of 3 requests failed' "$work/map.svg"
expect_out 1

# Reports are written together. An obstacle is reported before anything is run.
mkdir -p "$work/blocked/l1_usage_summary.csv"
run "$ttscope" replay --device n150 --csv "$work/blocked" "$example"
expect_code 3
expect_out ''
run ls "$work/blocked"
expect_out 'l1_usage_summary.csv'

# After a difference there is no map and no report.
rm -rf "$work/csv" "$work/map.svg"
run "$ttscope" replay --device p150 --check --csv "$work/csv" --map "$work/map.svg" "$work/kept.txt"
expect_code 1
run ls "$work/csv"
expect_out ''
[ ! -e "$work/map.svg" ] || fail "a map of a part"

# The whole text and JSON of a sequence with every statement and every kind of failure.
golden=$source_dir/tests/golden/replay
run "$ttscope" replay --device n150 --set l1_small=4096 --stats --blocks "$golden/device.txt"
expect_code 0
[ "$out" = "$(cat "$golden/device.out")" ] || fail "the text is not that of device.out"
(cd "$golden" && "$ttscope" replay --device n150 --set l1_small=4096 --json --blocks device.txt) \
    >"$work/device.json"
cmp -s "$work/device.json" "$golden/device.json" || fail "the JSON is not that of device.json"
