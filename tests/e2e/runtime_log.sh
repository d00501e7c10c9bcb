#!/usr/bin/env bash
# `ttscope show` of runtime logs: a small log, parts of it, bad input, generated logs with truth
# files, and real logs.
. "$(dirname "$0")/lib.sh"
small=$(realpath "$source_dir/tests/golden/runtimelog/small.log")
source_dir=$(realpath "$source_dir")
cd "$work" || exit 1

show_json() { # args
    run "$ttscope" show --json "$@"
}

expect_json() { # filter
    jq -e "$1" <<<"$out" >/dev/null || fail "wanted in the JSON: $1"
}

# ---- a small log, in every wrapping ----

show_json "$small"
expect_code 0
expect_json '.schema.name == "ttscope.show.runtime_log" and .ops == 17 and .blocks == 17'
expect_json '.pools.DRAM | .first_bytes_per_bank == 1062912 and .peak_bytes_per_bank == 3164160 and .peak_block == 9 and .drift.differing == 0'
expect_json '.pools.DRAM.added[0] | .bytes_per_bank == 700416 and .at.op == "ttnn.repeat" and .function == "main_const_eval_0"'
expect_json '[.programs[] | [.name, .runs, .ops]] == [["main", 2, 14], ["main_const_eval_0", 1, 3]]'
whole=$(jq 'del(.file, .source)' <<<"$out")
expect_same() { # name
    [ "$(jq 'del(.file, .source)' <<<"$out")" = "$whole" ] || fail "wanted the same answer for $1"
}
gzip -kc "$small" >small.log.gz
zstd -qc "$small" >small.log.zst
sed 's/$/\r/' "$small" >crlf.log
sed 's/^ *\(Always\|RuntimeTTNN\) | *\([A-Z]*\) | /2026-05-01T10:00:00.1234567Z \x1b[32m    \1\x1b[0m | \x1b[1m\x1b[38;5;69m   \2\x1b[0m | /' "$small" >coloured.log
sed 's/^ *\(Always\|RuntimeTTNN\)/Loading:  50%|###  | 1\/2\r&/' "$small" >bar.log
for log in small.log.gz small.log.zst crlf.log coloured.log bar.log; do
    show_json "$log"
    expect_code 0
    jq '.pools |= map_values(del(.. | .line?)) ' <<<"$out" >/dev/null
    expect_same "$log"
done
run bash -c "'$ttscope' show --json - <'$small'"
expect_same "standard input"
run bash -c "cat '$small' | '$ttscope' show --json -"
expect_same "a pipe"

# ---- parts of the log ----

grep -v 'Executing operation' "$small" >memory.log
show_json memory.log
expect_code 0
expect_json '.op_lines == 0 and .ops == 17 and .pools.DRAM.source == "printed" and .pools.DRAM.peak_block == 9'
expect_json '(.pools.DRAM.peak_bytes_per_bank - 3164160 | fabs) < 525 and .pools.DRAM.drift == null'
expect_json '.pools.DRAM.added[0].cause == "operation_or_input_upload"'
grep -v 'Device .*memory state' "$small" >ops.log
show_json ops.log
expect_code 0
expect_json '.blocks == 0 and .pools.DRAM.source == "computed" and .pools.DRAM.peak_bytes_per_bank == 3164160'
expect_json '.pools.DRAM | .first_bytes_per_bank == 1062912 and .banks == null and .peak_block == null'
run "$ttscope" show ops.log
expect_sentence 'peak of DRAM, computed from the types: 3.02 MB in each bank, before operation 9 of 17'
expect_sentence 'computed from the types of the operations for n150, which is assumed'
show_json --device p150 ops.log
expect_json '.pools.DRAM | .peak_bytes_per_bank == 4734976 and (.added | length) == 8'

# Two ranks are kept apart.
sed 's/^/[1,0]<stdout>:/' "$small" >r0
sed 's/^/[1,1]<stdout>: /' ops.log >r1
paste -d '\n' r0 r1 >ranks.log
show_json ranks.log
expect_code 0
expect_json '[.ranks[] | [.rank, .ops, .blocks, .pools.DRAM.peak_bytes_per_bank]] == [["1,0", 17, 17, 3164160], ["1,1", 17, 0, 3164160]]'
run "$ttscope" show --rank 1,1 ranks.log
expect_sentence 'peak of DRAM, computed from the types'
expect_sentence 'of rank 1,1 the log has 2 ranks'
run "$ttscope" show --rank 7 ranks.log
expect_code 2
expect_err "ttscope show: there is no rank '7' in 'ranks.log': the log has 2 ranks, the first is '1,0'"

# ---- a failure, and damage ----

{
    head -n 62 "$small"
    echo "2026-03-16 10:24:15.963 | critical |          Always | TT_FATAL: Out of Memory: Not enough space to allocate 8589934592 B DRAM buffer across 12 banks, where each bank needs to store 715827883 B, but bank size is 1070773184 B (allocated: 800000000 B, free: 270773184 B, largest free block: 270000000 B) (assert.hpp:104)"
} >failed.log
run "$ttscope" show failed.log
expect_code 0
expect_sentence 'failure in line 63 of failed.log'
expect_sentence 'peak of DRAM: 32.20 MB of 12 banks'
show_json failed.log
expect_json '.failures[0].verdict == "capacity"'
{
    head -n 62 "$small"
    echo 'Always | INFO | Device memory state before operation XOp'
    echo 'Always | INFO | Device DRAM memory state: MemoryView{numBanks: 12, totalBytes'
} >cut.log
show_json cut.log
expect_code 5
expect_json '.source.unreadable_lines == 1 and .source.blocks_in_part == 1'
head -c $(($(stat -c %s small.log.gz) / 2)) small.log.gz >cut.log.gz
show_json cut.log.gz
expect_code 5
expect_json '.source.state == "damaged"'
expect_err_like 'cut.log.gz:'
printf 'Executing operation: %s\n' '"a\"b"(%0) : () -> () loc("<script>\u001b[31m")' >hostile.log
printf 'Device memory state before operation "x\\\n' >>hostile.log
show_json hostile.log
expect_json '.ops == 1'

# ---- generated logs, if they can be made ----

corpus=${TTSCOPE_CORPUS:-$source_dir/../shared/data}
if [ ! -f "$corpus/gen_mlir_log.py" ]; then
    echo "skipped: generated and real logs (no corpus: TTSCOPE_CORPUS, or ../shared/data)"
    exit 0
fi
seed=0
check_generated() { # options
    seed=$((seed + 1))
    python3 "$corpus/gen_mlir_log.py" gen.log --ops 400 --layers 3 --seed $seed "$@" >/dev/null ||
        fail "cannot generate a log: $*"
    run python3 "$source_dir/tests/e2e/runtime_log.py" "$ttscope" gen.log
    ran="runtime_log.py, generated with $*"
    expect_code 0
}
check_generated
check_generated --no-ansi
check_generated --l1
check_generated --bfp
check_generated --kv
check_generated --trace
check_generated --trace --trace-region 0
check_generated --const-eval-blowup 100
check_generated --oom fragmentation
check_generated --oom capacity
check_generated --binaries
check_generated --leak 3
check_generated --late 2
check_generated --banks 8 --bank-size 4273390016
check_generated --banks 7 --bank-size 4278190080 --bfp
check_generated --ranks 2
check_generated --ranks 3 --rank-order sequential --rank-prefix spaced
check_generated --ranks 2 --kv --bfp
check_generated --memory-only
check_generated --memory-only --ranks 2
check_generated --memory-only --kv --leak 2
check_generated --no-memory
check_generated --no-memory --kv
check_generated --no-memory --late 2
check_generated --no-memory --ranks 2 --const-eval-blowup 20
check_generated --no-memory --bfp --no-ansi
check_generated --trace --kv
check_generated --trace --bfp --no-ansi
check_generated --late 2 --kv --no-ansi
check_generated --leak 2 --late 3 --bfp
check_generated --l1 --trace --kv --bfp
check_generated --kv --const-eval-blowup 10 --leak 2
check_generated --oom capacity --ranks 2
check_generated --ir-lines 10 --trace --late 3

# ---- real logs ----

logs=$corpus/logs
show_json "$logs/tt-xla_run_noconsteval.log"
expect_code 0
expect_json '.blocks == 14 and .op_lines == 0 and .block_kinds.DeallocateOp == 4'
expect_json '.pools.DRAM | .banks == 12 and (.peak_bytes_per_bank / 1048576 * 1000 | round) == 15121'
show_json "$logs/tt-xla_mochi_only_norm2.txt"
expect_code 0
expect_json '.ops == 68 and .deallocations == 32 and .blocks == 6 and ([.programs[] | select(.kind == "const_eval") | .name] | length) == 3'
expect_json '.op_kinds == null and .pools.DRAM.drift.differing > 0'
run "$ttscope" show "$logs/tt-xla_zimage_b_prefix_full_decoder_oom.log"
expect_code 0
expect_sentence 'DRAM is fragmented'
