#!/usr/bin/env bash
# `ttscope diff` as users run it.
. "$(dirname "$0")/lib.sh"
make=$TTS_BUILD_DIR/tests/make_recording
cd "$work" || exit 1

# log TITLE, then a phase for each group of NAME PEAK CHANGE CUMULATIVE_PEAK CUMULATIVE_CURRENT
log() {
    printf '%s\nNumber of parameters: 969369600\n=== Memory Usage Summary ===\n\n' "$1"
    shift
    while [ $# -gt 0 ]; do
        printf -- '--- %s ---\n' "$1"
        given=0.00 taken=$3
        case $3 in -*) given=${3#-} taken=0.00 ;; esac
        printf '  DRAM: Segment Peak %s MB, Allocations %s MB, Deallocations %s MB, Segment Change %+.2f MB\n' \
            "$2" "$taken" "$given" "$3"
        printf '  DRAM: Cumulative Peak %s MB, Cumulative Current %s MB\n' "$4" "$5"
        printf '  L1: Peak CB 1.04 MB, Peak Buffer 0.00 MB, Peak Total 1.04 MB\n'
        peak=$4 final=$5
        shift 5
    done
    printf '\n=== Final Totals ===\nOverall DRAM Peak: %s MB, Final DRAM Usage: %s MB\n\n' "$peak" "$final"
}
efficient=(MODEL_CREATION 1907.25 1863.25 1907.25 1863.25
    OPTIMIZER_CREATION 3708.76 3708.76 5572.01 5572.01
    FORWARD_PASS 996.35 192.95 6568.36 5764.96
    BACKWARD_PASS 2513.69 1663.07 8278.65 7428.04)
default=(MODEL_CREATION 1907.13 1863.13 1907.13 1863.13
    OPTIMIZER_CREATION 3708.75 3708.75 5571.88 5571.88
    FORWARD_PASS 10019.39 9636.02 15591.27 15207.89
    BACKWARD_PASS 458.75 -7780.87 15666.65 7427.02)
log efficient "${efficient[@]}" >a.log
log default "${default[@]}" >b.log
cat a.log b.log >both.log

expect_jq() {
    local got
    got=$(jq -c "$1" <<<"$out" 2>&1) || fail "jq cannot: $1"
    [ "$got" = "$2" ] || fail "wanted of $1: $2, got: $got"
}

expect_tidy() {
    ! grep -q '[^[:print:]]' "$work/out" || fail "wanted no control characters"
    [ -z "$(awk 'length > 80' "$work/out")" ] || fail "wanted lines of at most 80 columns"
}

# ---- two logs ----

run "$ttscope" diff a.log b.log
expect_code 0
expect_err ""
expect_tidy
expect_out_like "A: a.log (training log)
   run 'efficient'
B: b.log (training log)
   run 'default'

peak grew by 7388.00 MB (+89.24 %); FORWARD_PASS alone adds 9443.07 MB: the
  Segment Change rose from 192.95 to 9636.02 MB; other changes save 2055.07 MB

phases that differ, MB                A           B       change
MODEL_CREATION
  segment peak                  1907.25     1907.13        -0.12       -0.01 %
  allocations                   1863.25     1863.13        -0.12       -0.01 %
  segment change                1863.25     1863.13        -0.12       -0.01 %
  cumulative peak               1907.25     1907.13        -0.12       -0.01 %
  cumulative current            1863.25     1863.13        -0.12       -0.01 %
FORWARD_PASS
"
expect_out_like "FORWARD_PASS
  segment peak                   996.35    10019.39     +9023.04     +905.61 %
  allocations                    192.95     9636.02     +9443.07    +4894.05 %
  segment change                 192.95     9636.02     +9443.07    +4894.05 %
  cumulative peak               6568.36    15591.27     +9022.91     +137.37 %"
expect_out_like "1 other phase: no difference above 0.01 MB except in cumulative figures
"
expect_out_like "measured sizes, MB                    A           B       change
  model                         1863.25     1863.13        -0.12       -0.01 %
  optimizer                     3708.76     3708.75        -0.01
  gradients                     1856.03     1855.14        -0.89       -0.05 %
  activations                    192.95     9636.02     +9443.07    +4894.05 %
  other                            0.00        0.00        +0.00

parts of the peak, MB                 A           B       change
  model                         1863.25     1863.13        -0.12       -0.01 %
  optimizer                     3708.76     3708.75        -0.01
  gradients overhead            2513.69      458.75     -2054.94      -81.75 %"
[[ $out != *"L1 total"* ]] || fail "wanted nothing of L1, which is the same"

# The activations of micro-steps are those of one step. A note states the sum.
micro=$source_dir/tests/e2e/analyze/micro_steps.log
run "$ttscope" diff --all "$micro" "$micro"
expect_out_like '
  activations                   7641.99     7641.99 '
expect_sentence " 'activations' is the memory that the largest forward pass kept; all forward passes together kept 30565.74 MB in A and 30565.74 MB in B"
run "$ttscope" diff --json "$micro" "$micro"
expect_jq '.pairs[0] | .sizes.activations.a_bytes, .activations_sum.a_bytes | . / 10485.76 | round' '764199
3056574'

run "$ttscope" diff --json a.log b.log
expect_code 0
expect_jq .schema '{"name":"ttscope.diff","version":1}'
expect_jq '.differs, .a.kind, .pairs[0].rounded' 'true
"log"
true'
expect_jq '.pairs[0].peak | .a_bytes, .b_bytes, .change_ratio' '8680793702
16427673190
0.892416'
expect_jq '.pairs[0].cause | .reason, .peak_phase, .phase, .figure, .not_peak_bytes' '"told"
"BACKWARD_PASS"
"FORWARD_PASS"
"change"
0'
expect_jq '.pairs[0] | ([.phases[].peak_contribution_bytes] | add) + .cause.not_peak_bytes + .cause.rounding_bytes == .peak.change_bytes' true
expect_jq '.pairs[0].phases | map(.name) == ["MODEL_CREATION","OPTIMIZER_CREATION","FORWARD_PASS","BACKWARD_PASS"]' true

# One phase explains a part of the change.
log x MODEL_CREATION 100.00 100.00 100.00 100.00 FORWARD_PASS 50.00 0.00 150.00 100.00 >x.log
log x MODEL_CREATION 120.00 120.00 120.00 120.00 FORWARD_PASS 130.00 0.00 250.00 120.00 END 1.00 0.00 250.00 120.00 >y.log
run "$ttscope" diff x.log y.log
expect_code 0
expect_out_like "END (only in B)
  segment peak                        -        1.00            -"
expect_out_like "
peak grew by 100.00 MB (+66.67 %), 80.00 MB of it in FORWARD_PASS: the Segment
  Peak rose from 50.00 to 130.00 MB"
run "$ttscope" diff y.log x.log
expect_out_like "
peak shrank by 100.00 MB (-40.00 %), 80.00 MB of it in FORWARD_PASS: the Segment
  Peak fell from 130.00 to 50.00 MB"
sed -i s/FORWARD/MIDWARD/ y.log
run "$ttscope" diff x.log y.log
expect_sentence " peak grew by 100.00 MB (+66.67 %); the part 'other' alone adds 130.00 MB (from 0.00 to 130.00 MB); the phase that causes the change is unknown: the peak is in MIDWARD_PASS, a phase that only B has"
run "$ttscope" diff --json x.log y.log
expect_jq '.pairs[0].cause | .reason, .peak_phase, .part' '"phase_of_peak_unmatched"
"MIDWARD_PASS"
"other"'

# Only B has the phase of its peak, and A has its peak in another phase.
log x MODEL_CREATION 100.00 100.00 100.00 100.00 FORWARD_PASS 50.00 0.00 150.00 100.00 >x.log
log x MODEL_CREATION 100.00 100.00 100.00 100.00 EVAL 90.00 0.00 190.00 100.00 FORWARD_PASS 50.00 0.00 190.00 100.00 >y.log
run "$ttscope" diff x.log y.log
expect_sentence " peak grew by 40.00 MB (+26.67 %); EVAL alone adds 90.00 MB: only B has this phase, with a Segment Peak of 90.00 MB; the peak of A is in another phase (FORWARD_PASS), 50.00 MB above the memory that A uses in the phase where B peaks"
run "$ttscope" diff --json x.log y.log
expect_jq '.pairs[0].cause | .reason, .phase, .figure, .other_peak_phase' '"told"
"EVAL"
"segment_peak"
"FORWARD_PASS"'
expect_jq '.pairs[0] | ([.phases[].peak_contribution_bytes] | add) + .cause.not_peak_bytes + .cause.rounding_bytes == .peak.change_bytes' true
expect_jq '.pairs[0].phases | map(.differs, .differs_itself)' '[false,false,true,true,true,false]'

# Larger changes cancel out.
log x A 4000.00 4000.00 4000.00 4000.00 B 500.00 0.00 4500.00 4000.00 >x.log
log x A 4200.00 4200.00 4200.00 4200.00 B 301.00 0.00 4501.00 4200.00 >y.log
run "$ttscope" diff x.log y.log
expect_sentence " peak grew by 1.00 MB (+0.02 %): larger changes cancel each other; phase A alone adds 200.00 MB (the Segment Change rose from 4000.00 to 4200.00 MB)"

# L1 figures that are all 0 were not tracked.
sed 's/L1: .*/L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB/' a.log >no_l1.log
run "$ttscope" diff a.log no_l1.log
expect_code 0
expect_out_like "
no difference"
run "$ttscope" diff --json a.log no_l1.log
expect_jq '.differs, .pairs[0].phases[0].l1.peak_cb.b_bytes' 'false
null'

# There is no percentage if the first value is close to 0 or the sign changes.
log x A 10.00 0.00 10.00 0.00 B 10.00 -5.00 10.00 -5.00 >x.log
log x A 10.00 5.00 10.00 5.00 B 10.00 5.00 15.00 10.00 >y.log
run "$ttscope" diff x.log y.log
expect_out_like "segment change                  -5.00        5.00       +10.00
"
run "$ttscope" diff --json x.log y.log
expect_jq '.pairs[0].phases | map(.dram.change.change_ratio)' '[null,null]'

# ---- no difference ----

run "$ttscope" diff a.log a.log
expect_code 0
expect_out "A: a.log (training log)
   run 'efficient'
B: a.log (training log)
   run 'efficient'

no difference"
sed 's/Segment Peak 996.35/Segment Peak 996.34/' a.log >near.log
run "$ttscope" diff a.log near.log
expect_out_like "
no difference larger than 0.01 MB, the precision of logs"
run "$ttscope" diff --all a.log near.log
expect_out_like "L1 total                         1.04        1.04        +0.00"
expect_out_like "
no difference larger than 0.01 MB"

# ---- several runs ----

run "$ttscope" diff both.log both.log
expect_code 0
expect_out_like "   run 1 of 2 'efficient'
"
expect_out_like "   run 2 of 2 'default'
"
[ "$(grep -c '^no difference$' <<<"$out")" -eq 2 ] || fail "wanted no difference twice"
run "$ttscope" diff both.log both.log --run-a 1 --run-b default
expect_code 0
expect_out_like "peak grew by 7388.00 MB"
run "$ttscope" diff both.log b.log
expect_code 0
expect_out "not compared: run 1 'efficient' is only in A

A: both.log (training log)
   run 2 of 2 'default'
B: b.log (training log)
   run 'default'

no difference"
run "$ttscope" diff --json both.log b.log
expect_jq '.only_in_a, .only_in_b' '[{"run":1,"title":"efficient","rank":null,"line":3}]
[]'
run "$ttscope" diff both.log a.log --run 2
expect_code 2
expect_out ""
expect_err "ttscope diff: no run '2' in 'a.log': the file has 1 run: 'efficient'"
run "$ttscope" diff both.log both.log --run-b other
expect_err "ttscope diff: no run 'other' in 'both.log': the file has 2 runs: 'efficient', 'default'"
(log one A 1.00 1.00 1.00 1.00; log two A 1.00 1.00 1.00 1.00) >others.log
# If both sides have the same number of runs, runs with other names are paired in order, and the
# text says so.
run "$ttscope" diff both.log others.log
expect_code 0
expect_err ""
expect_out_like "A: both.log (training log)
   run 1 of 2 'efficient'
B: others.log (training log)
   run 1 of 2 'one'
these runs are paired by position in the file, although their names differ
"
[ "$(grep -c '^these runs are paired by position' <<<"$out")" -eq 2 ] || fail "wanted two pairs by order"
run "$ttscope" diff --json both.log others.log
expect_jq '[.pairs[].by], .only_in_a, .only_in_b' '["order","order"]
[]
[]'
run "$ttscope" diff --json both.log both.log
expect_jq '[.pairs[].by]' '["title","title"]'
(cat others.log; log three A 1.00 1.00 1.00 1.00) >more.log
run "$ttscope" diff both.log more.log
expect_code 5
expect_err "ttscope diff: no run of A matches a run of B: choose runs with '--run-a' and '--run-b'"
expect_out_like "not compared: run 1 'efficient' is only in A
not compared: run 2 'default' is only in A
not compared: run 1 'one' is only in B"
# The process number before each line differs in each execution, and so do times.
executed() { # the numbers of two processes, whose lines are mixed
    paste -d '\n' <(sed "s/^/(EngineCore_DP0 pid=$1) /" a.log) <(sed "s/^/(EngineCore_DP1 pid=$2) /" b.log) |
        sed "s/^/2026-08-01 10:11:12.$1 | info     |          Always | /"
}
executed 230 231 >first.log
executed 7230 7119 >second.log
run "$ttscope" diff first.log second.log
expect_code 0
expect_err ""
expect_out_like "   run 1 of 2 'efficient' \[EngineCore_DP0\]
B: second.log (training log)
   run 1 of 2 'efficient' \[EngineCore_DP0\]

no difference"
expect_out_like "   run 2 of 2 'default' \[EngineCore_DP1\]
B: second.log (training log)
   run 2 of 2 'default' \[EngineCore_DP1\]

no difference"
run "$ttscope" diff --json first.log second.log
expect_jq '[.pairs[] | .by, .a.rank]' '["title","EngineCore_DP0","title","EngineCore_DP1"]'
# One log has times before its lines, and the other log has none.
run "$ttscope" diff <(sed 's/^/2026-08-01 10:11:12.123 | info     |          Always | /' both.log) both.log
expect_code 0
expect_err ""
[ "$(grep -c '^no difference$' <<<"$out")" -eq 2 ] || fail "wanted no difference twice"
run "$ttscope" diff a.log others.log --run-b 2
expect_code 0
run "$ttscope" diff --json a.log others.log --run-b 2
expect_jq '.pairs[0].by' null
cat a.log a.log >twice.log
run "$ttscope" diff twice.log a.log --run efficient
expect_code 2
expect_err "ttscope diff: 2 runs in 'twice.log' are named 'efficient': choose one by number"
run "$ttscope" diff both.log both.log --run 2
expect_code 0
expect_out_like "run 2 of 2"
[[ $out != *"only in"* ]] || fail "wanted nothing of what was not asked for"

# ---- other kinds of files ----

config=$source_dir/examples/fit/training.yaml
"$ttscope" fit "$config" --record fit.tts --json >fit.json
"$ttscope" fit "$config" >fit.log
"$ttscope" show --json fit.tts >show.json
for pair in "fit.tts fit.json" "fit.json fit.tts" "fit.tts show.json" "fit.json show.json"; do
    # shellcheck disable=SC2086
    run "$ttscope" diff $pair
    expect_code 0
    expect_err ""
    [ "${out##*$'\n'}" = "no difference" ] || fail "wanted no difference of $pair"
done
run "$ttscope" diff --json fit.tts fit.json
expect_jq '.a.kind, .b.kind, .differs, .pairs[0].rounded' '"events"
"result"
false
false'
expect_jq '[.pairs[0].phases[] | .dram[] | select(.change_bytes != 0)]' '[]'
run "$ttscope" diff fit.log fit.json
expect_code 0
expect_out_like "
no difference larger than 0.01 MB, the precision of logs"
run "$ttscope" diff fit.json a.log
expect_code 0
expect_out_like "BACKWARD_PASS
  segment peak  "
expect_tidy

# A difference of a few bytes is printed.
jq '.phases[1].dram.segment_peak_bytes += 1024' fit.json >more.json
run "$ttscope" diff fit.json more.json
expect_code 0
expect_out_like "+1024 B
"
expect_out_like "
the peak did not change"
jq '.phases[0].dram.segment_peak_bytes += 512 | .phases[0].dram.change_bytes += 512 | .phases[].dram.cumulative_peak_bytes += 512 | .phases[].dram.cumulative_current_bytes += 512 | .overall_dram_peak_bytes += 512' fit.json >more.json
run "$ttscope" diff fit.json more.json
expect_code 0
expect_out_like "
peak grew by 512 B, all of it in ENTRY: the Segment Change rose from 0 to 512 B
"

# A result with sorted keys, a result with a byte order mark, and a compressed log can be
# compared.
jq -S . fit.json | sed '1s/^/\xef\xbb\xbf/' >sorted.json
run "$ttscope" diff fit.json sorted.json
expect_code 0
[ "${out##*$'\n'}" = "no difference" ] || fail "wanted no difference"
gzip -k fit.json
run "$ttscope" diff a.log fit.json.gz
expect_code 3
expect_err "ttscope diff: fit.json.gz: the compressed file is neither a log with a memory summary nor a graph trace: if the content is a recording or a result, decompress the file first"
gzip -k b.log
run "$ttscope" diff a.log b.log.gz
expect_code 0
expect_out_like "peak grew by 7388.00 MB"

# A run without a title is paired with the saved result of its log.
log "" A 1.00 1.00 1.00 1.00 | sed 1,2d >char.log
log "" A 2.00 2.00 2.00 2.00 | sed 1,2d >bpe.log
"$ttscope" analyze --json bpe.log char.log >saved.json
run "$ttscope" diff char.log saved.json
expect_code 0
expect_out_like "   run 2 of 2
"
expect_out_like "
no difference"

# Logs whose first line begins like JSON are read as logs.
for mark in '[1,0]<stdout>: ' '[2026-01-02 10:00:00] ' '[rank0]: '; do
    sed "s/^/$mark/" a.log >marked.log
    run "$ttscope" diff a.log marked.log
    expect_code 0
    expect_out_like "
no difference"
done
sed '1i{"event":"start"}' a.log >marked.log
run "$ttscope" diff a.log marked.log
expect_code 0

# A graph trace, a recording with two captures, and a recording without captures can be
# compared.
graph=$source_dir/tests/golden/show/example.json
run "$ttscope" diff "$graph" "$source_dir/tests/golden/show/example.out.json"
expect_code 0
expect_out_like "example.json (recording or trace)
"
[ "${out##*$'\n'}" = "no difference" ] || fail "wanted no difference"
"$make" random.tts random 3000 1 || exit 1
run "$ttscope" diff random.tts random.tts
expect_out_like "   run 1 of 2 'capture 1'
"
expect_out_like "   run 2 of 2 'capture 2'
"
expect_code 5
expect_err_like "ttscope diff: random.tts: the input ends inside the last phase; the figures of this phase are incomplete"
printf 'alloc 0 0 1 4096 2048 0\nalloc 0 0 2 2048 2048 0\nfree 0 0 1\n' | "$make" plain.tts story || exit 1
run "$ttscope" diff --all plain.tts plain.tts
expect_code 0
expect_out_like "A: plain.tts (recording or trace)
   run 'whole file'
"
expect_out_like "
(whole file)
  segment peak "
run "$ttscope" diff --json plain.tts plain.tts
expect_jq '.pairs[0].phases[0].dram | .segment_peak.a_bytes, .deallocations.b_bytes, .cumulative_current.a_bytes' '6144
4096
2048'

# Missing events could have made the peak higher.
alloc='alloc 0 0 1 4096 2048 0'
for more in "" "\nmissed 1" "\nstopped 1 5"; do
    printf '%b\n' "$alloc$more" | "$make" part.tts story || exit 1
    run "$ttscope" diff --json part.tts plain.tts
    expect_code "$([ -z "$more" ] && echo 0 || echo 5)"
    expect_jq '.pairs[0].a.at_least' "$([ -z "$more" ] && echo false || echo true)"
done
"$ttscope" show --json random.tts | jq '.phases |= map(.partial = false) | .partial = true' >part.json
run "$ttscope" diff --json part.json part.json
expect_jq '[.pairs[].a.at_least]' '[true,true]'

# ---- standard input ----

for kind in a.log fit.json fit.tts "$graph"; do
    run sh -c 'cat "$2" | "$1" diff - "$2"' sh "$ttscope" "$kind"
    expect_code 0
    expect_out_like "A: <stdin> ("
    [ "${out##*$'\n'}" = "no difference" ] || fail "wanted no difference of $kind"
    run sh -c '"$1" diff "$2" - <"$2"' sh "$ttscope" "$kind"
    [ "${out##*$'\n'}" = "no difference" ] || fail "wanted no difference of $kind"
done
run "$ttscope" diff - -
expect_code 2
expect_err "ttscope diff: only one of the two files can be standard input"

# ---- missing data ----

head -n 12 a.log >cut.log
run "$ttscope" diff cut.log b.log
expect_code 5
expect_err_like "ttscope diff: cut.log:"
expect_sentence "the phase that causes the change is unknown: part of A is missing, so the real peak of A may be higher"
jq '.phases[2].dram.change_bytes = "many"' fit.json >text.json
run "$ttscope" diff fit.json text.json
expect_code 5
expect_err_like "'change_bytes' is not a number of bytes"
jq '.phases = [] | .overall_dram_peak_bytes = 5 | .final_dram_bytes = null' fit.json >bare.json
jq '.phases = [] | .overall_dram_peak_bytes = null | .final_dram_bytes = 7' fit.json >none.json
run "$ttscope" diff bare.json none.json
expect_code 3
expect_err "ttscope diff: none.json: a result of schema 'ttscope.fit' has no phases to compare"
jq '.overall_dram_peak_bytes = null | .peak_bytes = null | .final_dram_bytes = null | .phases = [{"name": "X"}]' fit.json >blank.json
run "$ttscope" diff blank.json blank.json
expect_code 5
expect_out_like "
nothing can be compared: no figure is known for both runs"
jq '.phases[0].name = "Y"' blank.json >blank_y.json
run "$ttscope" diff blank.json blank_y.json
expect_code 5
run "$ttscope" diff --json blank.json blank_y.json
expect_jq '.pairs[0] | .compared_figures, .differs' '0
true'

# ---- bad input ----

: >empty
run "$ttscope" diff a.log empty
expect_code 3
expect_out ""
expect_err "ttscope diff: empty: is empty"
echo hello >hello
run "$ttscope" diff hello a.log
expect_code 3
expect_err_like "ttscope diff: hello: the file is none of these: a log with a memory summary"
run "$ttscope" diff a.log nowhere
expect_code 3
expect_err "ttscope diff: cannot read 'nowhere': no such file or directory"
run "$ttscope" diff / a.log
expect_code 3
expect_err "ttscope diff: cannot read '/': is a directory"
head -c 300 fit.json >broken.json
run "$ttscope" diff a.log broken.json
expect_code 3
expect_err_like "ttscope diff: broken.json:"
jq '.schema.version = 2' fit.json >later.json
run "$ttscope" diff a.log later.json
expect_code 3
expect_err "ttscope diff: later.json: has version 2 of schema 'ttscope.fit', but this ttscope reads versions up to 1"
run "$ttscope" diff a.log "$(command -v sh)"
expect_code 3
expect_err_like "is neither a recording, nor a graph trace, nor text"
head -n 3 a.log >heading.log # the heading of a summary without a phase
run "$ttscope" diff a.log heading.log
expect_code 3
expect_err "ttscope diff: heading.log: the memory summary has no phase"
echo '[]' >nothing.json
run "$ttscope" diff nothing.json nothing.json
expect_code 3
expect_err "ttscope diff: nothing.json:1: not a graph trace: the file has no node"
run "$ttscope" diff
expect_code 2
expect_err "ttscope diff: missing operand 'A' (see 'ttscope help diff')"
run "$ttscope" diff a.log
expect_code 2
expect_err_like "B"
run "$ttscope" diff a.log b.log a.log
expect_code 2
run "$ttscope" diff a.log b.log --what
expect_code 2
run sh -c '"$1" diff a.log b.log >/dev/full' sh "$ttscope"
expect_code 3

# Control characters in a title or in the name of a phase are not printed.
sed 's/^efficient/ef\x1b[2Jfi/; s/FORWARD/FOR\x1b[31m\x07/' a.log >bad.log
run "$ttscope" diff --all bad.log b.log
expect_code 0
expect_tidy
