#!/usr/bin/env bash
# The recordings of the allocation server, made from events by hand, as `show`, `export`, `replay`,
# `pack`, `diff`, `check` and `analyze` read them; and recordings from before samples.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C.UTF-8 TZ=UTC
command -v jq >/dev/null || exit 77
cd "$work" || exit 1
"$TTS_BUILD_DIR/tests/make_serverrecord" . || fail "cannot record"
trainer=trainer-4242-777.tts counted=counted-4243-778.tts lossy=lossy-4244-779.tts
run ls
expect_out_like "$counted"
expect_out_like "$lossy"
expect_out_like "$trainer"

version_of() { # FILE
    od -A n -t u4 -j 8 -N 4 "$1" | tr -d ' '
}

# --- show ---------------------------------------------------------------------------------------
run "$ttscope" show "$trainer"
expect_code 0
expect_err ''
expect_out_like 'peak of DRAM: 100663296 B, 96.00 MB, at event 8 of 9,'
expect_out_like '  program    trainer, pid 4242, by ttscope '
expect_out_like '  state      complete'
expect_out_like 'fullest core: unknown (the recording has the sizes of L1 buffers, but not their bytes on each core)'
expect_out_like 'Not enough space to allocate 4294967296 B DRAM buffer (details unknown)'
expect_out_like 'sampled counters: 1 sample
'
expect_out_like '  device 0   circular buffers                262144 '
run "$ttscope" show --pool l1 "$trainer"
expect_out_like 'peak of L1: 8413184 B, 8.02 MB, requested on device 0
'
run "$ttscope" show --at 5 "$trainer"
expect_out_like '  L1               8413184        8.02         2  requested on device 0'
run "$ttscope" show --json "$trainer"
[ "$(jq -c '[.core, .core_reason, .l1_reason, .samples.count, .samples.period_ns,
    .samples.devices[0].counters[0].peak, .failures[0].deficit_bytes]' <<<"$out")" = \
    '[null,"the recording has the sizes of L1 buffers, but not their bytes on each core","the recording has the sizes of L1 buffers, but not their bytes on each core",1,null,262144,null]' ] ||
    fail "wanted the facts about L1 and samples in JSON"

run "$ttscope" show "$counted"
expect_code 0
expect_out_like 'sampled peak of DRAM: 125829120 B, 120.00 MB on device 0, at 0.'
expect_out_like '; 5 samples, read every 0.500000 s
'
expect_sentence 'peaks between two samples are unknown'
expect_out_like '  device 0   DRAM allocated               125829120 '
expect_out_like ' 73400320
  device 0   L1 allocated                   5242880 '
expect_out_like 'events: none (the source reports only counters, so buffers and operations are unknown)'
run "$ttscope" show --pool trace "$counted"
expect_out_like 'sampled peak of TRACE: unknown (no sample has this pool); 5 samples'
run "$ttscope" show --json "$counted"
[ "$(jq -c '[.peak, .overall_dram_peak_bytes, .final_dram_bytes, .samples.count, .samples.period_ns,
    (.samples.devices[0].counters[] | [.pool, .counter, .peak, .last])]' <<<"$out")" = \
    '[null,null,null,5,500000000,["DRAM","allocated_bytes",125829120,73400320],["L1","allocated_bytes",5242880,5242880],[null,"kernel_bytes",24576,24576]]' ] ||
    fail "wanted samples and no figures of events in JSON"
run "$ttscope" show "$lossy"
expect_code 5
expect_err 'ttscope show: lossy-4244-779.tts: 7 events were dropped before they were recorded'

# --- export -------------------------------------------------------------------------------------
run "$ttscope" export --to csv "$counted"
expect_code 0
expect_out_like ',sample,0,DRAM,,125829120,,,,,,,,,,,,,,allocated_bytes,,,,device 0
'
[ "$(grep -c ',sample,' <<<"$out")" -eq 10 ] || fail "wanted a row for each known value"
run "$ttscope" export --to json "$counted"
[ "$(jq -r 'select(.kind == "sample" and .name == "kernel_bytes") | .size_bytes' <<<"$out")" = 24576 ] ||
    fail "wanted the kernels as a row"
run "$ttscope" export --to chrome "$counted"
expect_code 0
[ "$(jq '[.traceEvents[] | select(.ph == "C") | .args.d0_DRAM_sampled_allocated_bytes // empty] | max' <<<"$out")" = 125829120 ] ||
    fail "wanted the sampled counter"
run "$ttscope" export --to perfetto -o a.pftrace "$counted"
expect_code 0
[ "$(grep -ac 'device 0 DRAM allocated (sampled)' a.pftrace)" -gt 0 ] || fail "wanted a counter track"
run "$ttscope" export --to csv "$trainer"
expect_out_like ',alloc,0,L1,101120,8388608,,,,'

# --- replay, diff, check, analyze ---------------------------------------------------------------
run "$ttscope" replay --device n150 "$trainer"
expect_code 0
expect_err 'ttscope replay: note: trainer-4242-777.tts: 1 sample is not replayed: samples do not name single buffers'
expect_out_like 'everything fits'
run "$ttscope" replay --device n150 "$counted"
expect_code 3
expect_out ''
expect_err_like 'has samples only: samples cannot be replayed, because they do not name single buffers'
run "$ttscope" diff "$trainer" "$trainer"
expect_code 0
expect_out_like 'no difference'
for command in 'diff counted-4243-778.tts' 'analyze --logs' "check --budget $source_dir/examples/budget.yaml"; do
    # shellcheck disable=SC2086
    run "$ttscope" $command "$counted"
    expect_code 3
    expect_err_like 'counted-4243-778.tts: has samples of counters only and no events:'
done
run "$ttscope" analyze --logs "$trainer" --json
[ "$(jq -c '[.phases[0].l1.peak_buffer_bytes, .phases[0].l1.true_core_peak_bytes,
    .phases[0].dram.segment_peak_bytes // .phases[0].dram.cumulative_peak_bytes]' <<<"$out")" = '[null,null,117440512]' ] ||
    fail "wanted an unknown L1"

# --- pack ---------------------------------------------------------------------------------------
for file in "$trainer" "$counted" "$lossy"; do
    run "$ttscope" pack "$file" -o packed.tts
    expect_code 0
    [ "$(version_of "$file")$(version_of packed.tts)" = 22 ] || fail "wanted version 2 of $file"
    "$ttscope" export --to json "$file" 2>/dev/null | tail -n +2 >before
    "$ttscope" export --to json packed.tts 2>/dev/null | tail -n +2 >after
    cmp -s before after || fail "wanted the same items in $file after packing"
    [ "$(wc -l <after)" -gt 2 ] || fail "wanted items in $file"
done

# --- a server that was killed -------------------------------------------------------------------
mkdir killed
"$TTS_BUILD_DIR/tests/make_serverrecord" killed kill 2>/dev/null
run "$ttscope" show "killed/$lossy"
expect_code 5
expect_out_like 'state      not ended: the program still runs, was killed,'
expect_out_like 'peak of DRAM: 1048576 B, 1.00 MB, at event 1 of 1'
run "$ttscope" show "killed/$counted"
expect_code 0
expect_out_like 'sampled peak of DRAM: 125829120 B, 120.00 MB on device 0, at 0.'
run timeout -s INT 1 "$ttscope" show --follow "killed/$counted"
expect_out_like ' s, event 0: DRAM unknown, sampled peak of DRAM: 125829120 B, 120.00 MB on device 0'
run timeout -s INT 1 "$ttscope" show --follow --json "killed/$counted"
[ "$(head -n 1 <<<"$out" | jq -c '[.pools.DRAM.bytes, .peak.bytes]')" = '[null,null]' ] ||
    fail "wanted unknown bytes while following"

# --- recordings from before samples -------------------------------------------------------------
for file in ended packed box; do
    old=$source_dir/fuzz/corpus/recording/$file.tts
    [ "$(version_of "$old")" = 1 ] || fail "wanted version 1 of $file"
    run "$ttscope" show --json "$old"
    [ "$code" -eq 0 ] || [ "$code" -eq 5 ] || fail "wanted an answer about $file"
    [ "$(jq .samples <<<"$out")" = null ] || fail "wanted no samples in $file"
    run "$ttscope" pack "$old" -o again.tts
    [ "$(version_of again.tts)" = 1 ] || fail "wanted version 1 of $file after packing"
done
