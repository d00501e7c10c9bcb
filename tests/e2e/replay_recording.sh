#!/usr/bin/env bash
# `ttscope replay RECORDING --device`: runs a recording or a graph trace on another device.
. "$(dirname "$0")/lib.sh"
make=$TTS_BUILD_DIR/tests/make_recording
tts=$work/loop.tts
command -v jq >/dev/null || exit 77

record() { # file; a story on standard input
    "$make" "$1" story || fail "cannot make $1"
}

# Three weights, the third allocated after the first is freed: they fit a p150 but not an n150.
record "$tts" <<'STORY'
op linear
alloc 0 0 1 4294967296 2048 0
end
op matmul
alloc 0 0 2 8589934592 2048 0
free 0 0 1
alloc 0 0 3 4294967296 2048 0
alloc 0 1 4 163840 2048 80
end
STORY
run "$ttscope" replay --device p150 "$tts"
expect_code 0
expect_err ''
expect_out_like 'on p150: 9 events, 4 allocations, 0 programs
everything fits
'
expect_out_like '  DRAM          8      4272341376      1610612736   37.7 %            5  yes'
expect_out_like "smallest DRAM that is enough: 1610612736 B per bank, 12.0 GiB in 8 banks
  'p150' has 4272341376 B per bank, 31.8 GiB
  this is the peak per bank, so no smaller size is enough
  a device with this DRAM: --set dram_bank_size=1616461440 (the value includes
    the reserved part of a bank)"

# The size that was found passes, and a slightly smaller size does not.
run "$ttscope" replay --device p150 --set dram_bank_size=1616461440 "$tts"
expect_code 0
run "$ttscope" replay --device p150 --set dram_bank_size=1616461376 "$tts"
expect_code 1

run "$ttscope" replay --device n150 "$tts"
expect_code 1
expect_out_like 'does not fit: 2 allocations and 0 programs fail

first failure: event 5, at 0.000005 s, device 0, in matmul
  buffer 2 of 8589934592 B in DRAM
  Out of Memory: Not enough space to allocate 8589934592 B DRAM buffer across 12 banks, where each bank needs to store 715829248 B, but bank size is 1070773184 B (allocated: 357914624 B, free: 712858560 B, largest free block: 712858560 B)
  missing: 2970688 B in each bank
  1 live buffer in DRAM at that time, 357914624 B in each bank; the largest:
  bytes per bank          size      event         id  operation
       357914624    4294967296          2          1  linear
'
expect_out_like '  no
    1 request failed; the largest shortage is 2970688 B, at event 5'
expect_out_like 'note: 1 buffer needs more cores or banks than the device has: the allocation
  fails, and the figures of the pools do not include the buffer'

run "$ttscope" replay --device n150 --json "$tts"
expect_code 1
cp "$work/out" "$work/n150.json"
run jq -c '.schema, .device, .fits, .partial, .failures, (.first_failure | [.kind, .event, .time_ns, .op, .pool, .id, .deficit_bytes, .live_buffers, .live_largest[0].op]), (.devices[0].pools[] | [.pool, .peak_bytes, .fits]), .smallest_dram.bank_bytes, .counts.failed_cores' "$work/n150.json"
expect_out '{"name":"ttscope.whatif","version":1}
"n150"
false
false
2
["refused",5,5000,"matmul","DRAM",2,2970688,1,"linear"]
["DRAM",1073743872,false]
["L1",0,true]
1073743872
1'

# The first failure is a buffer that needs more cores than the grid has.
record "$work/cores.tts" <<<'alloc 0 1 4 131072 2048 64'
run "$ttscope" replay --device n150 --set grid=8x7 "$work/cores.tts"
expect_code 1
expect_out_like '  the buffer needs 64 cores, but the grid has 56'

# Circular buffers that clash with L1 buffers, and others that do not fit the grid.
record "$work/cbs.tts" <<'STORY'
alloc 0 1 1 64000000 64000 64
program 0
cb 0 400000 0 0 1 1
alloc 0 0 2 2048 2048 0
program 0
cb 0 2048 0 0 12 9
STORY
run "$ttscope" replay --device n150 "$work/cbs.tts"
expect_code 1
expect_out_like 'does not fit: 0 allocations and 1 program fail'
expect_out_like 'Statically allocated circular buffers in program 1 clash with L1 buffers on core range [[]0-0 - 1-1]'
expect_sentence 'note: 1 program was not checked: it has circular buffers on cores that this device does not have'

# A mesh counts once, another device has its own pools.
record "$work/mesh.tts" <<'STORY'
chip 0 8
chip 1 8
alloc 8 0 1 2457600 2048 0
alloc 5 0 1 24576 2048 0
STORY
run "$ttscope" replay --device n150 --json "$work/mesh.tts"
expect_code 0
cp "$work/out" "$work/mesh.json"
run jq -c '[.devices[] | [.device, .pools[0].peak_bytes]], .smallest_dram.bank_bytes' "$work/mesh.json"
expect_out '[[8,204800],[5,2048]]
204800'

# Enough memory is free, but in pieces: more than the peak is needed.
record "$work/pieces.tts" <<'STORY'
alloc 0 0 1 24576 2048 0
alloc 0 0 2 24576 2048 0
alloc 0 0 3 24576 2048 0
alloc 0 0 4 24576 2048 0
free 0 0 1
free 0 0 3
alloc 0 0 5 49152 2048 0
STORY
run "$ttscope" replay --device n150 --set dram_bank_size=2976832 --stats "$work/pieces.tts"
expect_code 1
expect_out_like '1 refused (1 by fragmentation)'
expect_out_like 'smallest DRAM that is enough: 12288 B per bank'
expect_out_like 'found by bisection in'
expect_out_like '--set dram_bank_size=2980928'

# A region that the device has only on request: the suggested options work.
suggests() { # file, device, options that are to be suggested
    local set
    run "$ttscope" replay --device "$2" "$1"
    expect_code 1
    expect_out_like "
sizes to set: $3
"
    expect_out_like '  with these sizes everything fits'
    [[ $3 == *dram_bank_size* || $out != *dram_bank_size* ]] || fail 'wanted no dram_bank_size'
    run "$ttscope" replay --device "$2" --json "$1"
    expect_code 1
    cp "$work/out" "$work/region.json"
    run jq -r '.suggestions[0] | .change, .fits' "$work/region.json"
    expect_out "$3
true"
    read -ra set <<<"$3"
    run "$ttscope" replay --device "$2" "${set[@]}" "$1"
    expect_code 0
    expect_out_like 'everything fits'
}
record "$work/small.tts" <<'STORY'
alloc 0 0 1 24576 2048 0
alloc 0 2 2 65536 1024 64
alloc 0 2 3 4096 0 2
free 0 2 2
alloc 0 2 4 2048 2048 1
STORY
suggests "$work/small.tts" n150 '--set l1_small=5120'
run "$ttscope" replay --device n150 --set l1_small=5088 "$work/small.tts"
expect_code 1
expect_out_like "sizes to set: --set l1_small=5120
  L1_SMALL of each core needs 5120 B; 'n150' has 5088 B"
# Traces without a region lie in DRAM, which is full.
record "$work/trace.tts" <<'STORY'
alloc 0 0 1 12849242112 2048 0
trace 0
free 0 0 1
alloc 0 3 3 100000 0 0
alloc 0 2 4 2048 2048 1
STORY
run "$ttscope" replay --device n150 "$work/trace.tts"
expect_out_like '1 request failed; the largest shortage is 9280 B, at event 4'
suggests "$work/trace.tts" n150 '--set l1_small=2048 --set trace_region=102400 --set dram_bank_size=1073755200'
# A region that is too small. No DRAM is suggested.
record "$work/trace.tts" <<<'alloc 0 3 3 100000 0 0'
run "$ttscope" replay --device n150 --set trace_region=8192 --json "$work/trace.tts"
expect_code 1
cp "$work/out" "$work/region.json"
run jq -c '.first_failure.pool, .smallest_dram, .suggestions' "$work/region.json"
expect_out '"TRACE"
null
[{"change":"--set trace_region=102400","fits":true,"failures":0,"regions":[{"pool":"TRACE","key":"trace_region","bytes":102400,"own_bytes":8192}]}]'
# The region takes its memory from L1, where it is then missing.
record "$work/both.tts" <<'STORY'
alloc 0 1 1 89182208 1393472 64
alloc 0 2 2 65536 1024 64
STORY
run "$ttscope" replay --device n150 "$work/both.tts"
expect_code 1
expect_out_like '  with these sizes 1 allocation or program still fails'
run sh -c "cat '$work/small.tts' | '$ttscope' replay --device n150 -"
expect_code 1
expect_out_like 'sizes to set: --set l1_small=5120'
expect_out_like 'not run with these sizes'

# Page sizes that are unknown or do not divide the size.
record "$work/pages.tts" <<'STORY'
alloc 0 0 1 100000 0 0
alloc 0 0 2 5000 2048 0
STORY
run "$ttscope" replay --device n150 "$work/pages.tts"
expect_code 0
expect_out_like 'note: the page size of 1 buffer is unknown; 2048 B is assumed
note: 1 buffer has a partly filled last page, which counts as a full page'

# Pipes: the file is recognized by its content, and no byte is lost.
run sh -c "cat '$tts' | '$ttscope' replay --device p150 -"
expect_code 0
expect_out_like 'everything fits'
mkfifo "$work/pipe"
cat "$tts" >"$work/pipe" &
run "$ttscope" replay --device p150 "$work/pipe"
expect_code 0
expect_out_like 'everything fits'
wait
run sh -c "printf 'buffer dram interleaved 2048 2048\n' | '$ttscope' replay --device n150 -"
expect_code 0
expect_out_like 'buffer dram interleaved 2048 2048 = 2968640'
run sh -c "'$ttscope' replay --device n150 - <'$tts'"
expect_code 1

# A graph trace is recognized by its content, with any name.
cat >"$work/graph.txt" <<'JSON'
[{"counter":0,"node_type":"capture_start","params":null,"arguments":[],"connections":[1],"input_tensors":[],"stacking_level":0},
 {"counter":1,"node_type":"function_start","params":{"name":"Add","inputs":"2"},"arguments":[],"connections":[2,3,4,5],"input_tensors":[],"stacking_level":1},
 {"counter":2,"node_type":"buffer","params":{"size":819200,"type":"DRAM","buffer_type":0,"layout":"INTERLEAVED","device_id":1},"arguments":[],"connections":[],"input_tensors":[],"stacking_level":1},
 {"counter":3,"node_type":"buffer_allocate","params":{"size":819200,"address":1024,"type":"DRAM","buffer_type":0,"layout":"INTERLEAVED","page_size":2048,"num_cores":0,"device_id":1,"max_size_per_bank":69632},"arguments":[],"connections":[2],"input_tensors":[],"stacking_level":1},
 {"counter":4,"node_type":"function_end","params":{"name":"Add"},"arguments":[],"connections":[5],"input_tensors":[],"stacking_level":1},
 {"counter":5,"node_type":"capture_end","params":null,"arguments":[],"connections":[],"input_tensors":[],"stacking_level":0}]
JSON
run "$ttscope" replay --device p150 "$work/graph.txt"
expect_code 0
expect_out_like 'everything fits'
expect_out_like 'smallest DRAM that is enough: 102400 B per bank, 800 KiB in 8 banks'
run "$ttscope" replay --device p150 --set dram_bank_size=5900000 "$work/graph.txt"
expect_code 1
expect_out_like 'first failure: event 2, device 1, in Add'
head -c 900 "$work/graph.txt" >"$work/cut.txt"
run "$ttscope" replay --device p150 "$work/cut.txt"
expect_code 5
expect_out_like 'everything that could be read and run fits'
expect_err_like "cut.txt:"
printf '[' >"$work/none.txt"
run "$ttscope" replay --device p150 "$work/none.txt"
expect_code 3
expect_out ''

# Mistakes on the command line are reported.
run "$ttscope" replay "$tts"
expect_code 2
expect_err "ttscope replay: '$tts' is a recording or graph trace: give '--device NAME' to choose the device on which its requests are replayed"
for option in --check --blocks --quiet "--map $work/m.svg" "--csv $work/csv" '--mode place'; do
    # shellcheck disable=SC2086 # several words
    run "$ttscope" replay --device n150 $option "$tts"
    expect_code 2
    expect_out ''
    expect_err "ttscope replay: '${option%% *}' works with sequences only, but '$tts' is a recording or graph trace"
done
run "$ttscope" replay --device n15 "$tts"
expect_code 2
expect_err_like "'n150'"
run "$ttscope" replay --device grayskull "$tts"
expect_code 2
expect_err_like "cannot run a recording on 'grayskull'"
run "$ttscope" replay --device n150 "$work/not-there.tts"
expect_code 3

# A black box is run from its beginning, and a note says so.
"$make" "$work/box.tts" box || fail "cannot make box.tts"
run "$ttscope" replay --device n150 "$work/box.tts"
expect_code 5
expect_err ''
expect_out_like 'note: 1000 events before the start of the file were not run'
run "$ttscope" replay --device n150 --json "$work/box.tts"
expect_out_like '"events_before_first": 1000'

# A DRAM request that was refused in the recorded run is tried again.
"$make" "$work/run.tts" run || fail "cannot make run.tts"
run "$ttscope" replay --device p150 --stats "$work/run.tts"
expect_code 0
expect_out_like 'everything fits'
expect_sentence 'note: 2 requests failed in the original run; they were retried here and freed at once'
[ -z "$(awk 'length > 80' "$work/out")" ] || fail "wanted lines of at most 80 columns"
run "$ttscope" replay --device n150 --set dram_bank_size=60000000 "$work/run.tts"
expect_code 1
expect_out_like 'first failure: event 27, at 0.040500 s, device 0, in softmax
  a request of 838860800 B in DRAM, which failed in the original run too'

# A program that stopped at a refused request: its needs after that are unknown. If it can, it
# frees its buffers and ends its operations first.
for events in 4 7; do
    unwinds=$'end\nfree 0 0 1\nfree 0 0 2'
    [ "$events" -eq 7 ] || unwinds=
    record "$work/refused.tts" <<<"op linear
alloc 0 0 1 4294967296 2048 0
alloc 0 0 2 2147483648 2048 0
refuse 0 8589934592
$unwinds"
    run "$ttscope" replay --device p150 "$work/refused.tts"
    expect_code 5
    expect_err "ttscope replay: $work/refused.tts: the last recorded request was refused (event 4); the memory use after this request is unknown"
    expect_out_like "
the $events recorded events fit; the program stopped after the last event
"
    expect_out_like '
  DRAM          8     4272341376 at least  1879048192   44.0 %        4  so far
'
    expect_out_like "
smallest DRAM that is enough: at least 1879048192 B per bank,
  at least 14.0 GiB in 8 banks
  'p150' has 4272341376 B per bank, 31.8 GiB
  this is the peak per bank, so no smaller size is enough
  a device with this DRAM: --set dram_bank_size=1884896896 or more (the value
    includes the reserved part of a bank)
"
    [ -z "$(awk 'length > 80' "$work/out")" ] || fail "wanted lines of at most 80 columns"
    run sh -c '"$1" replay --device p150 --json "$2" | jq -c "[.fits, .partial, .at_least, .missing[0].kind, .devices[0].pools[0].fits]"' \
        sh "$ttscope" "$work/refused.tts"
    expect_out '[null,true,true,"program",null]'
    # If the recording does not fit, the answer is known, whatever follows.
    run "$ttscope" replay --device n150 "$work/refused.tts"
    expect_code 1
    expect_out_like 'does not fit: at least 1 allocation and 0 programs fail'
done
# A program that caught the failure and continued is complete.
record "$work/caught.tts" <<'STORY'
alloc 0 0 1 4294967296 2048 0
refuse 0 8589934592
alloc 0 0 2 2048 2048 0
STORY
run "$ttscope" replay --device p150 "$work/caught.tts"
expect_code 0
expect_err ''
expect_out_like 'everything fits'
# The recorder stopped as well: it is unknown what the program did then.
record "$work/both.tts" <<'STORY'
alloc 0 0 1 4294967296 2048 0
refuse 0 8589934592
stopped 3 28
STORY
run "$ttscope" replay --device p150 "$work/both.tts"
expect_code 5
expect_err "ttscope replay: $work/both.tts: the recording stopped because the disk was full; 3 later events are missing"
expect_out_like '
everything that could be read and run fits
'
expect_out_like 'smallest DRAM that is enough: at least 1610612736 B per bank,
'

# Requests and programs that could not be run or checked may fail, so that the answer is unknown.
record "$work/single.tts" <<'STORY'
alloc 0 0 1 2048 2048 0
program 0
cb 0 4096 11 9 11 9
STORY
run "$ttscope" replay --device n300 "$work/single.tts"
expect_code 5
expect_out_like 'everything that could be read and run fits'
expect_out_like 'note: 1 program was not checked'
run "$ttscope" replay --device n300 --json "$work/single.tts"
expect_code 5
expect_out_like '"fits": null'

# The events before the first event of a black box are lost and may not have fit.
run "$ttscope" replay --device n150 "$work/box.tts"
expect_code 5
expect_err ''
expect_out_like '
the 5 recorded events fit; the 1000 earlier events are unknown
'
run "$ttscope" replay --device n150 --json "$work/box.tts"
expect_code 5
expect_out_like '"fits": null'
record "$work/no_event.tts" </dev/null
run "$ttscope" replay --device n150 "$work/no_event.tts"
expect_code 0
expect_out_like '
nothing to run: the file has no event'
