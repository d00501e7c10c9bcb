#!/usr/bin/env bash
# Commands agree about a run: the output of fit, as text and as JSON, is read by analyze, check
# and diff.
# shellcheck source=tests/e2e/lib.sh
source "$TTS_SOURCE_DIR/tests/e2e/lib.sh"

cd "$work" || exit 1
# The training program refuses a vocab_size that is combined with text, so nano has none.
nano=$work/nano.yaml
cp "$source_dir/tests/e2e/fit/nano.yaml" "$nano"
sed '/vocab_size/d' "$source_dir/tests/e2e/fit/nano_model.yaml" >nano_model.yaml
printf 'overall:\n  dram_peak: 100%%\n' >budget.yaml
printf 'overall:\n  headroom: 0%%\n' >headroom.yaml

expect_jq() { # filter, what it gives of the last output
    local got
    got=$(jq -c "$1" "$work/out" 2>&1) || fail "jq cannot: $1"
    [ "$got" = "$2" ] || fail "wanted of $1: $2, got: $got"
}

# fit_both ARGS...: runs fit as text and as JSON, and stores its exit code in fit_code.
fit_both() {
    run "$ttscope" fit "$@"
    fit_code=$code
    cp out fit.txt
    run "$ttscope" fit "$@" --json
    [ "$code" = "$fit_code" ] || fail "wanted the exit code of the text"
    cp out fit.json
}

# agree PEAK PHASE: checks that analyze (from a pipe and from its own result) and check agree with
# fit.
agree() {
    local file verdict=true
    [ "$fit_code" -eq 0 ] || verdict=false
    for file in fit.txt fit.json; do
        run bash -c 'cat "$2" | "$1" analyze --logs - --json' - "$ttscope" "$file"
        expect_code 0
        expect_jq '[.fits, .peak_of_all_iterations, .peak_phase, .breakdown_sizes,
            (.peak_bytes / 10485.76 | round)]' "[$verdict,true,\"$2\",\"predicted\",$1]"
        # The parts are equal to those of fit, except for rounding.
        cp out "analyzed-$file.json"
        run jq -n --slurpfile fit fit.json --slurpfile analyzed "analyzed-$file.json" \
            '($fit[0].peak.parts | map({(.name): .bytes}) | add) as $of_fit
            | $analyzed[0].breakdown as $parts
            | [$parts.activations - $of_fit.activations, $parts.model - $of_fit.parameters,
                $parts.gradients_overhead - $of_fit.gradients,
                $parts.optimizer - $of_fit.optimizer_state] | map(fabs) | max < 10486'
        expect_out true
        run "$ttscope" analyze --logs "$file" --fail-above 100%
        expect_code "$fit_code"
    done
    for file in fit.txt fit.json analyzed-fit.txt.json analyzed-fit.json.json; do
        run bash -c '"$1" check --budget budget.yaml - <"$2"' - "$ttscope" "$file"
        expect_code "$fit_code"
        expect_sentence " in $2 (limit: at most"
    done
    run "$ttscope" check --budget headroom.yaml fit.txt fit.json
    expect_code "$fit_code"
    run "$ttscope" diff fit.json fit.txt
    expect_code 0
    expect_out_like 'no difference'
    run "$ttscope" diff analyzed-fit.txt.json analyzed-fit.json.json
    expect_code 0
    expect_out_like 'no difference'
}

# --- the peak of a later iteration --------------------------------------------------------

for optimizer in 'SGD --momentum 0.9' NoOp AdamWFullPrecision; do
    # The first iteration would fit.
    # shellcheck disable=SC2086
    fit_both "$nano" --batch 1 --optimizer $optimizer --set dram_bank_size=25M
    peak=$(jq '.peak_bytes / 1048576 * 100 | round' fit.json)
    [ "$(jq '.peak_bytes > .overall_dram_peak_bytes' fit.json)" = true ] ||
        fail "wanted a peak in a later iteration"
    agree "$peak" ITERATION_2
done
fit_both "$nano" --batch 1 --optimizer SGD --set dram_bank_size=8M
[ "$fit_code" = 1 ] || fail "wanted a run that does not fit"
[ "$(jq '.overall_dram_peak_bytes < .capacity_bytes' fit.json)" = true ] ||
    fail "wanted a first iteration that fits"
agree 7697 ITERATION_2
run "$ttscope" analyze --logs fit.txt
expect_out_like '  Peak DRAM:            76.97 MB'
expect_sentence 'the peak is reached in ITERATION_2; the phases of the summary cover only the first iteration'
expect_out_like '  does not fit: 76.97 MB of 62.03 MB, 14.94 MB too much'

# The recording contains the later iterations, after its last phase.
run "$ttscope" fit "$nano" --batch 1 --optimizer SGD --set dram_bank_size=8M --record fit.tts
run "$ttscope" check --budget budget.yaml --device n150 --set dram_bank_size=8M fit.tts
expect_code 1
expect_sentence 'OVER dram-peak: 76.97 MB after the last phase (limit: at most 62.03 MB'
run "$ttscope" analyze --device n150 --set dram_bank_size=8M fit.tts
expect_code 0
expect_out_like '  does not fit: 76.97 MB of 62.03 MB, 14.95 MB too much'
run "$ttscope" diff fit.tts fit.json
expect_code 0
expect_out_like 'no difference'

# --- a run that its program refuses, and one with too few chips --------------------------------

cp "$source_dir/tests/e2e/fit/nano_model.yaml" refused_model.yaml
sed 's/nano_model/refused_model/' "$nano" >refused.yaml
fit_both refused.yaml --batch 1
[ "$fit_code" = 1 ] || fail "wanted a run that is refused"
agree "$(jq '.peak_bytes / 1048576 * 100 | round' fit.json)" \
    "$(jq -r .peak.phase fit.json)"
sed 's/num_blocks: 22/num_blocks: 2/' "$source_dir/tests/e2e/fit/tiny_model.yaml" >tiny_model.yaml
cp "$source_dir/tests/e2e/fit/tiny.yaml" .
fit_both tiny.yaml --tensor-parallel 2
[ "$fit_code" = 1 ] || fail "wanted a run with too few chips"
agree "$(jq '.peak_bytes / 1048576 * 100 | round' fit.json)" \
    "$(jq -r .peak.phase fit.json)"
# No change that saves memory is suggested, and the size of the whole model is not compared with
# one chip.
for file in fit.txt fit.json; do
    run "$ttscope" analyze --logs "$file"
    expect_sentence 'but the device has too few chips or the free memory is in pieces'
    expect_out_like '  Expected (input):     unknown'
    [[ $out != *'what can help'* ]] || fail "wanted no remedy"
done

# For a board with the same memory and enough chips, the peak decides. A run that its program
# refuses does not run on any board.
printf 'device: t3k\noverall:\n  dram_peak: 100%%\n' >t3k.yaml
printf 'device: n150\noverall:\n  dram_peak: 100%%\n' >n150.yaml
printf 'device: p150\noverall:\n  dram_peak: 100%%\n' >p150.yaml
for file in fit.txt fit.json; do
    run "$ttscope" check --budget t3k.yaml "$file"
    expect_code 0
    run "$ttscope" check --budget n150.yaml "$file"
    expect_code 1
done
fit_both refused.yaml --batch 1
for file in fit.txt fit.json; do
    run "$ttscope" check --budget p150.yaml "$file"
    expect_code 1
done

# --- other files -------------------------------------------------------------------------------

# A program that stopped at a refused request: its needs are unknown.
printf '%s\n' 'op a' 'alloc 0 0 1 4294967296 2048 0' 'refuse 0 20000000000' end |
    "$TTS_BUILD_DIR/tests/make_recording" stop.tts story || fail "cannot make a recording"
run "$ttscope" check --budget n150.yaml stop.tts
expect_code 5
expect_out_like 'unknown'
run "$ttscope" analyze --device n150 stop.tts
expect_code 5
expect_err_like 'the last recorded request was refused (event 3)'
expect_out_like 'at least 4,096.00 MB'

# Words after the memory size in a log name a board only if a board has that name.
{ echo 'Available Device Memory: 98304 MB (8 devices)' && cat "$source_dir/examples/tinyllama.log"; } >words.log
run "$ttscope" analyze --logs words.log --json
expect_jq '[.runs[] | .fits]' '[true,false]'

# A named pipe is opened once, so that its writer is not lost.
mkfifo pipe
for _ in 1 2 3 4 5 6 7 8; do
    cat "$source_dir/examples/tinyllama.log" >pipe &
    run timeout 20 "$ttscope" analyze --logs pipe
    expect_code 0
    wait
done

# --- free memory in pieces ----------------------------------------------------------------

fit_both "$nano" --recipe v1 --batch 359
[ "$fit_code" = 1 ] || fail "wanted a run that does not fit"
agree 1215205 BACKWARD_PASS
run "$ttscope" analyze --logs fit.txt
expect_sentence "does not fit, as 'ttscope fit' predicts: the peak of 12,152.05 MB is below the 12,254.03 MB of the device"
run "$ttscope" check --budget budget.yaml fit.json
expect_sentence 'of the device): ttscope fit predicts that the run does not fit the device'
# Another device is judged by the peak.
run "$ttscope" analyze --logs fit.json --device p150 --json
expect_jq .fits true

# --- a peak in the first iteration --------------------------------------------------------

fit_both "$nano" --recipe v1
[ "$fit_code" = 0 ] || fail "wanted a run that fits"
agree "$(jq '.peak_bytes / 1048576 * 100 | round' fit.json)" BACKWARD_PASS

# --- the parts of the peak ----------------------------------------------------------------

# The backward pass recomputes activations and frees the stored ones before the peak.
fit_both "$source_dir/examples/fit/training.yaml" --runner memory_efficient
agree 865454 BACKWARD_PASS
run "$ttscope" fit "$source_dir/examples/fit/training.yaml" --runner memory_efficient
expect_out_like '
  activations          322.50 MB '
run "$ttscope" analyze --logs fit.txt
expect_out_like '
  Activations:          634.28 MB
  the forward pass kept this memory; at the peak, activations take 322.50 MB
'
expect_out_like '
  activations                322.50 MB    3.7 %'
run "$ttscope" diff fit.txt fit.json --all
expect_out_like '
  gradients                     1916.38     1916.38        *
  activations                    322.50      322.50 '
# A log does not have the parts, and the text says so. Figures of different kinds are not
# compared.
log=$source_dir/tests/e2e/analyze/one_run.log
run "$ttscope" analyze --logs "$log"
expect_out_like '
  activations kept           192.95 MB    2.3 %'
expect_sentence "'activations kept' is the memory that the forward pass left, some of which may be free again at the peak"
run "$ttscope" diff fit.json "$log"
expect_out_like '
  activations                    322.50      192.95            -
'
expect_sentence " B: the peak is in a backward pass; 'activations' is the memory that the last forward pass before the peak kept, 'gradients overhead' is the memory that backward passes added, including temporary buffers the parts are not compared: the parts of A are exact, the parts of B are computed from the phases"
run "$ttscope" diff --json fit.json "$log"
expect_jq '.pairs[0] | .a.breakdown_sizes, .b.breakdown_sizes, .breakdown.activations.change_bytes' \
    $'"predicted"\n"actual"\nnull'

# --- a log of the first iteration alone ---------------------------------------------------

printf 'overall:\n  dram_peak: 9000MiB\n' >bytes.yaml
# optimizer_log NAME: prints a measured log whose header names the optimizer.
optimizer_log() {
    printf '[OPTIMIZER] ----\n  name  %s\n\n' "$1"
    cat "$source_dir/tests/e2e/analyze/one_run.log"
}
for optimizer in SGD AdamWFullPrecision NoOp; do
    optimizer_log "$optimizer" >run.log
    run "$ttscope" analyze --logs run.log
    expect_code 0
    expect_sentence "the log covers only the first iteration; $optimizer keeps the gradients"
    expect_sentence 'later iterations need up to 3,712.06 MB more (twice the gradients)'
    expect_out_like '  fits: 8,278.65 MB of 12,288.00 MB'
    run "$ttscope" analyze --logs run.log --device_memory 9GiB
    expect_code 5
    expect_sentence ' unknown: the first iteration fits with 8,278.65 MB, but later iterations need more and may not fit'
    run "$ttscope" analyze --logs run.log --device_memory 9GiB --json
    expect_jq '[.fits, .covers_first_iteration]' '[null,true]'
    run "$ttscope" check --budget budget.yaml run.log --device_memory 9GiB
    expect_code 5
    expect_sentence 'the log covers only the first iteration; later iterations need more memory and may exceed the limit'
    # A limit in bytes is as uncertain as a share of the device.
    run "$ttscope" check --budget bytes.yaml run.log
    expect_code 5
done
optimizer_log AdamW >run.log
run "$ttscope" analyze --logs run.log --device_memory 9GiB
expect_code 0
[[ $out != *'first iteration;'* ]] || fail "wanted no word about later iterations"
run "$ttscope" analyze --logs run.log --optimizer SGDMomentum
expect_sentence 'the log covers only the first iteration; SGDMomentum keeps the gradients'

# --- phases that the program overwrote ----------------------------------------------------

# Four micro-steps, printed with the figures of the last one: no phase contains the gradients.
log=$source_dir/tests/e2e/analyze/overwritten.log
missing="$log:16: the program overwrote phases of earlier micro-steps: the figures are at least 2098.18 MB too low (one set of gradients)"
run "$ttscope" analyze --logs "$log" --device p150
expect_code 5
expect_err "ttscope analyze: $missing"
expect_out_like '--- Gradients Size ---
  Actual (from logs):   unknown'
expect_out_like '  Peak DRAM:            at least 14,469.05 MB
  Device Memory:        32,595.38 MB
  Usage:                at least 44.39%
  the program overwrote the phases of earlier micro-steps: at least 2,098.18 MB
    are missing from the peak (one set of gradients, as large as the model)'
expect_sentence ' unknown: the run needs at least 14,469.05 MB, and at least 2,098.18 MB more that the log does not show '
run "$ttscope" analyze --logs "$log" --device_memory 15GiB
expect_sentence '; together this is more than the device has'
run "$ttscope" analyze --logs "$log" --device p150 --json
expect_code 5
expect_jq '[.fits, .peak_at_least, .overwritten, .gradients.actual_bytes, .missing_bytes]' \
    '[null,true,true,null,2200096768]'
cp out analyzed.json
for file in "$log" analyzed.json; do
    run "$ttscope" check --budget budget.yaml --device p150 "$file"
    expect_code 5
    expect_sentence 'unknown dram-peak: at least 14469.05 MB in BACKWARD_PASS (limit: at most 32595.38 MB'
    expect_err_like 'at least 2098.18 MB too low (one set of gradients)'
    run "$ttscope" diff "$log" "$file"
    expect_code 5
done
run "$ttscope" analyze --logs analyzed.json
expect_code 5
expect_out_like '
  Actual (from logs):   unknown'
# If the known part already does not fit, the exit code says so.
run "$ttscope" check --budget budget.yaml --device n150 "$log"
expect_code 1
# Micro-steps with different names are complete.
run "$ttscope" analyze --logs "$source_dir/tests/e2e/analyze/micro_steps.log"
expect_code 0

# --- memory of the device -------------------------------------------------------------

# fit, analyze and check use the same n150: from --device, or because the log names the board.
board=12849278208
fit_both "$nano" --device n150
[ "$(jq .capacity_bytes fit.json)" = "$board" ] || fail "wanted what an n150 has"
printf 'overall:\n  dram_peak: 95%%\n' >budget.yaml
log=$source_dir/tests/e2e/analyze/one_run.log
named() { # lines above the summary
    printf '%s\n' "$@"
    cat "$log"
}
named 'Available Device Memory: 12288 MB (n150)' >board.log
named '[HARDWARE] ---' '  chip  wormhole_b0' '  memory  12,288 MB' '' >chip.log
named '[HARDWARE] ---' '  chip  wormhole_b0' '  memory  98,304 MB' '' >host.log
for args in "$log --device n150" board.log chip.log host.log fit.json; do
    # shellcheck disable=SC2086
    run "$ttscope" analyze --json $args
    expect_jq .device_memory_bytes "$board"
    # shellcheck disable=SC2086
    run "$ttscope" check --budget budget.yaml $args
    expect_code 0
    expect_out_like '  device memory: 12254.03 MB, '
done
run "$ttscope" analyze host.log
expect_out_like '
  Device Memory:        12,254.03 MB
  Usage:                67.56%
  device memory: allocatable DRAM of one wormhole_b0;'
expect_sentence '98,304.00 MB for 8 devices '
# The default that applies without any device stays as published.
run "$ttscope" analyze "$log"
expect_out_like '
  Device Memory:        12,288.00 MB
'

# --- L1 -----------------------------------------------------------------------------------

# fit does not know L1. Its log has zeros only for the format, and they are not treated as
# figures.
run "$ttscope" analyze --json fit.txt
expect_jq '[.phases[].l1[]] | unique' '[null]'
expect_jq '.l1_reason' '"L1 is unknown: all L1 figures of the log are 0, as in the output of ttscope fit, which does not model L1"'
run "$ttscope" analyze --json fit.json
expect_jq '[.phases[].l1[]] | unique' '[null]'
run "$ttscope" analyze --json "$source_dir/tests/e2e/analyze/overwritten.log"
expect_jq '[.phases[0].l1.peak_cb_bytes, .phases[0].l1.true_core_peak_bytes, .l1_reason]' '[304087,null,null]'
