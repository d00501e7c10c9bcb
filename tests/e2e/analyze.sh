#!/usr/bin/env bash
# `ttscope analyze` as users run it: the published figures, options, pictures.
. "$(dirname "$0")/lib.sh"
two_runs=$source_dir/examples/tinyllama.log
logs=$(dirname "$(realpath "$0")")/analyze

analyze() {
    run "$ttscope" analyze "$@"
}

# Counts the lines of the output that contain a text.
expect_count() { # how often, a line's beginning
    local got
    got=$(grep -c -F -- "$2" <<<"$out")
    [ "$got" -eq "$1" ] || fail "wanted '$2' $1 times, not $got"
}

# --- the published figures ----------------------------------------------------------------

analyze --logs "$two_runs"
expect_code 0
expect_err ''
rule=$(printf '=%.0s' {1..80})
expect_out_like "Found 2 memory usage summary/summaries
Model size not provided, calculated from logs: 1848.93 MB (969,369,600 parameters, assuming bf16)

$rule
Section: TinyLlama memory efficient
$rule
Number of parameters: 969,369,600

--- Model Size ---
  Actual (from logs):   1,863.25 MB
  Expected (input):     1,848.93 MB
  Difference:           +0.77%
"
expect_out_like '
--- Optimizer State ---
  Actual (from logs):   3,708.76 MB
  Expected (input):     3,697.85 MB
  Difference:           +0.29%
'
expect_out_like '
--- Activations Size ---
  Activations:          192.95 MB

--- Gradients Size ---
  Actual (from logs):   1,856.03 MB
  Expected (input):     1,848.93 MB
  Difference:           +0.38%
'
expect_out_like '
--- Peak DRAM Usage ---
  Peak DRAM:            8,278.65 MB
  Device Memory:        12,288.00 MB
  Usage:                67.37%
  device memory: 12 GiB assumed; give --device or --device_memory
'
expect_out_like '
--- Verdict ---
  fits: 8,278.65 MB of 12,288.00 MB, 4,009.35 MB free
'
expect_out_like "
$rule
Section: TinyLlama default
$rule
"
expect_out_like '  Actual (from logs):   1,863.13 MB
  Expected (input):     1,848.93 MB
  Difference:           +0.77%'
expect_out_like '  Activations:          9,636.02 MB'
expect_out_like '  Actual (from logs):   1,855.14 MB
  Expected (input):     1,848.93 MB
  Difference:           +0.34%'
expect_out_like '  Peak DRAM:            15,666.65 MB
  Device Memory:        12,288.00 MB
  Usage:                127.50%'
expect_out_like '
  other                       25.23 MB '
expect_out_like '
  other                       25.10 MB '
expect_out_like '  the peak is reached in BACKWARD_PASS, line '
[ "$(tail -n 3 "$work/out" | head -n 2)" = "Analysis complete
$rule" ] || fail "wanted the end as published"

# Each published label is printed once for each run.
for label in 'Section: ' 'Number of parameters: ' '--- Model Size ---' '--- Optimizer State ---' \
    '--- Activations Size ---' '--- Gradients Size ---' '--- Peak DRAM Usage ---' 'Activations:' \
    'Peak DRAM:' 'Device Memory:' 'Usage:'; do
    expect_count 2 "$label"
done
for label in 'Actual (from logs):' 'Expected (input):' 'Difference:'; do
    expect_count 6 "$label"
done
# All lines fit a terminal, except for the published line about the model size.
[ -z "$(grep -v '^Model size not provided' "$work/out" | awk 'length > 80')" ] ||
    fail "wanted lines of at most 80 columns"

# A run that does not fit is not an error. The output says what helps, and which command
# computes how much it helps.
expect_out_like '  does not fit: 15,666.65 MB of 12,288.00 MB, 3,378.65 MB too much
'
expect_count 1 '- recompute activations (runner_type: memory_efficient)'
expect_out_like 'in this run it kept up to 9,636.02 MB'
expect_count 1 '- a smaller batch: '
expect_count 1 '- gradient accumulation: '
expect_out_like '
  - a larger device: p100 (28,520.96 MB), p150 (32,595.38 MB)
'
expect_out_like '
    ttscope fit CONFIG --device n150
    ttscope fit CONFIG --device n150 --runner memory_efficient
'

analyze --logs "$two_runs" --use_actual_sizes
expect_code 0
expect_count 2 '  other                        0.00 MB'
expect_count 2 '  measured sizes are used'

# --- options ------------------------------------------------------------------------------

# Dashes and underscores in option names are equal. A size can be written in several ways.
analyze "$logs/one_run.log" --device-memory 6442450944
expect_code 0
expect_out_like '  Device Memory:        6,144.00 MB
  Usage:                134.74%
  device memory: set by --device_memory'
expect_out_like 'ttscope fit CONFIG --device NAME'
want=$out
for size in 6G 6GiB 6.0GiB 6144M 6442450944.0 6.442450944e9; do
    analyze "$logs/one_run.log" --device_memory "$size"
    expect_out "$want"
done

analyze "$logs/one_run.log" --device n150
expect_code 0
expect_out_like '  Device Memory:        12,254.03 MB'
expect_out_like 'device memory: allocatable DRAM of n150 (--device)'
analyze "$logs/one_run.log" --device n150 --set dram_bank_size=512M
expect_out_like '  does not fit: '
expect_out_like 'device memory: allocatable DRAM of n150 --set dram_bank_size=512M (--device)'
expect_out_like '
    ttscope fit CONFIG --device n150 --set dram_bank_size=512M
    ttscope fit CONFIG --device n150 --set dram_bank_size=512M --runner memory_efficient
'
expect_out_like '- a larger device: n150 without --set (12,254.03 MB), p100 '
echo "preset: n150" >"$work/my card.yaml"
run sh -c "cd '$work' && '$ttscope' analyze '$logs/one_run.log' --device 'my card.yaml' --set dram_bank_size=512M"
expect_out_like "
    ttscope fit CONFIG --device 'my card.yaml' --set dram_bank_size=512M
"

analyze "$logs/with_device.log"
expect_code 0
expect_out_like 'Available device memory, calculated from logs: 28520.00 MB'
expect_out_like '  Device Memory:        28,520.00 MB'
expect_out_like 'device memory: from line 2 of the log'
# If a log states the memory of a preset, that preset is proposed.
sed 's/28520 MB/12254 MB/; s/Peak: 8278.65/Peak: 13000.65/' "$logs/with_device.log" >"$work/small.log"
analyze "$work/small.log"
expect_out_like '  does not fit: '
expect_out_like 'ttscope fit CONFIG --device n150'
sed -i 's/12254 MB/12253 MB/' "$work/small.log"
analyze "$work/small.log"
expect_out_like 'ttscope fit CONFIG --device NAME'
# The device memory of one log does not apply to other logs.
analyze "$logs/with_device.log" "$logs/one_run.log"
expect_code 0
expect_out_like 'Found 2 memory usage summary/summaries
Model size not provided, calculated from logs: 1848.93 MB'
[[ $out != *'Available device memory'* ]] || fail "wanted no line that is not for all"
expect_out_like '  Device Memory:        28,520.00 MB'
expect_out_like '  Device Memory:        12,288.00 MB'

analyze "$logs/one_run.log" "$logs/with_device.log"
[[ $out != *'Available device memory'* ]] || fail "wanted no line that is not for all"
sed 's/28520 MB/28521 MB/; s/969,369,600/969,369,601/' "$logs/with_device.log" >"$work/other.log"
analyze "$logs/with_device.log" "$work/other.log"
[[ $out != *'Available device memory'* ]] || fail "wanted no line that is not for all"
[[ $out != *'Model size not provided'* ]] || fail "wanted no line that is not for all"
expect_count 1 '  Device Memory:        28,520.00 MB'
expect_count 1 '  Device Memory:        28,521.00 MB'
expect_count 1 'Number of parameters: 969,369,601'

analyze "$logs/one_run.log" --model_size 1e9 --optimizer_size 2e9 --gradients_size 3e9
expect_code 0
expect_out_like '  Expected (input):     953.67 MB
  Difference:           +95.38%
  expected size: set by --model_size'
expect_out_like 'expected size: set by --optimizer_size'
expect_out_like 'expected size: set by --gradients_size'
[[ $out != *'Model size not provided'* ]] || fail "wanted no size of the log"
analyze "$logs/one_run.log" --dtype fp32
expect_out_like 'calculated from logs: 3697.85 MB (969,369,600 parameters, assuming fp32)'
expect_out_like '  Expected (input):     3,697.85 MB'
analyze "$logs/one_run.log" --optimizer sgd
expect_out_like '  Expected (input):     0.00 MB'
expect_out_like 'as the state of SGD (--optimizer)'
expect_out_like '  Difference:           +0.00%
  the expected size is 0 MB, so +0.00% has no meaning here
'
analyze "$logs/one_run.log" --optimizer_size 0
expect_count 1 '  the expected size is 0 MB, so +0.00% has no meaning here'
# Each optimizer of the manual page is accepted.
for name in AdamW MorehAdamW AdamWComposite AdamWKahan AdamWFullPrecision SGD SGDMomentum \
    SGDComposite MuonComposite NoOp; do
    analyze "$logs/one_run.log" --optimizer "$name"
    expect_code 0
    grep -q "\*$name\*" "$source_dir/src/cli/pages/analyze.scd" || fail "wanted '$name' in the manual"
done

# --- micro-steps, and what is not known ---------------------------------------------------

analyze "$logs/micro_steps.log"
expect_code 0
expect_err ''
expect_out_like '
Section: micro_steps.log
'
expect_out_like '
Number of parameters: unknown
'
expect_out_like '  Actual (from logs):   2,104.53 MB
  Expected (input):     unknown
  Difference:           unknown
  expected size: unknown, because the input has no parameter count; give
    --model_size'
expect_out_like '  Activations:          7,641.99 MB
  largest of 4 forward passes, which kept 30,565.74 MB together; each backward
    pass frees the activations of its forward pass'
expect_out_like '  Peak DRAM:            16,573.97 MB'
expect_out_like '  the peak is reached in BACKWARD_PASS_micro_1, '
expect_out_like '- more gradient accumulation: '

# --- several logs, standard input, another command's output -------------------------------

analyze "$logs/one_run.log" --logs "$logs/micro_steps.log" -l "$logs/one_run.log"
expect_code 0
[ "$(grep '^Section: ' <<<"$out")" = 'Section: one_run.log
Section: micro_steps.log
Section: one_run.log (2)' ] || fail "wanted the order of the command line"
cat "$logs/one_run.log" "$logs/one_run.log" >"$work/twice.log"
analyze "$work/twice.log"
[ "$(grep '^Section: ' <<<"$out")" = 'Section: twice.log
Section: twice.log (2)' ] || fail "wanted a number behind the name"

# Logs with the same name are shown with as much of their path as tells them apart.
mkdir -p "$work/e1" "$work/e2"
cp "$logs/one_run.log" "$work/e1/train.log"
cp "$logs/one_run.log" "$work/e2/train.log"
analyze "$work/e1/train.log" "$work/e2/train.log" "$two_runs" "$two_runs"
[ "$(grep '^Section: ' <<<"$out")" = 'Section: e1/train.log
Section: e2/train.log
Section: TinyLlama memory efficient
Section: TinyLlama default
Section: TinyLlama memory efficient (2)
Section: TinyLlama default (2)' ] || fail "wanted names that differ"

run sh -c "'$ttscope' analyze --logs - <'$logs/one_run.log'"
expect_code 0
expect_out_like 'Section: stdin'
expect_out_like '  Peak DRAM:            8,278.65 MB'
run sh -c "'$ttscope' fit '$source_dir/examples/fit/training.yaml' | '$ttscope' analyze --logs -"
expect_code 0
expect_err ''
expect_out_like 'Found 1 memory usage summary/summaries
Model size not provided, calculated from logs: 2098.18 MB (1,100,048,384 parameters, assuming bf16)'
expect_out_like '  Peak DRAM:            14,452.91 MB'

# The figures of a parallel run are those of one chip, so the parameter count of the whole model
# is not used.
run "$ttscope" fit "$source_dir/examples/fit/training.yaml" --tensor-parallel 2 --accumulate 3
expect_out_like '
llama, 22 blocks, batch 2, default runner, 3 micro steps, tensor parallel 2
Available Device Memory: '
cp "$work/out" "$work/parallel.log"
analyze "$work/parallel.log"
expect_code 0
expect_out_like '
Section: llama, 22 blocks, batch 2, default runner, 3 micro steps, '
expect_out_like 'Number of parameters: unknown'
expect_count 3 '  Difference:           unknown'

# --- --fail-above -------------------------------------------------------------------------

analyze "$two_runs" --fail-above 95%
expect_code 1
expect_err "ttscope analyze: $two_runs:27: the peak of 'TinyLlama default' is 127.50% of the device, above 95%"
expect_out_like '--- Verdict ---
  the peak is above the limit of --fail-above: 95% of the device memory
  does not fit: 15,666.65 MB'
expect_out_like '
--- All Runs ---
     8,278.65 MB    67.37%  fits          TinyLlama memory efficient
    15,666.65 MB   127.50%  does not fit  TinyLlama default
'
expect_out_like 'Analysis complete'
analyze "$logs/one_run.log" --fail-above 95%
expect_code 0
analyze "$logs/one_run.log" --fail-above 67.37%
expect_code 1
analyze "$logs/one_run.log" --fail-above 67.38%
expect_code 0
[[ $out != *'All Runs'* ]] || fail 'a table of one run'

analyze "$logs/one_run.log" --device_memory 12
expect_code 0
expect_err "ttscope analyze: note: '--device_memory' is in bytes unless it has a unit, such as 12GiB"

# The reasons are true: no log says whether SGD has momentum.
{ printf '[OPTIMIZER] ----\n  name  SGD\n\n'; cat "$logs/one_run.log"; } >"$work/sgd.log"
analyze "$work/sgd.log"
expect_out_like '
  expected size: unknown, because the log names SGD but not its momentum; give
    --optimizer
'
for wrong in x.json x.tts; do
    echo '{}' >"$work/$wrong"
    analyze "$work/$wrong"
    expect_code 3
    expect_err_like "no memory summary in '$work/$wrong': the file is n"
done

# --- pictures -----------------------------------------------------------------------------

# The memory that fontconfig never frees is no leak of ours.
echo 'leak:libfontconfig' >"$work/suppressions"
export LSAN_OPTIONS="suppressions=$work/suppressions:print_suppressions=0"
cd "$work" || exit 1
picture() { # file, how it begins
    [ -f "$1" ] || { fail "wanted a picture '$1'" && return; }
    [[ $(head -c 400 "$1" | tr -d '\0') == *$2* ]] || fail "wanted '$1' to be a picture"
}
analyze "$two_runs" --visualize_peak
expect_code 0
expect_err ''
[ "$(tail -n 4 "$work/out")" = "$rule


Visualization saved to: memory_peak_visualization.png" ] || fail "wanted the last line as published"
picture memory_peak_visualization.png PNG
analyze "$two_runs" --visualize_phases --format svg
expect_code 0
picture memory_phases_visualization.svg '<svg'
analyze "$two_runs" --visualize_peak --visualize_phases -o both.svg --title 'a < b'
expect_code 0
expect_out_like '
Visualization saved to: both.svg

Visualization saved to: both-phases.svg'
picture both.svg '<svg'
picture both-phases.svg '<svg'
analyze "$two_runs" --visualize-phases --output one.pdf
expect_code 0
expect_out_like 'Visualization saved to: one.pdf'
picture one.pdf %PDF
[ ! -e one-phases.pdf ] || fail "wanted the only picture at the name that was given"
if command -v xmllint >/dev/null; then
    for svg in ./*.svg; do
        run xmllint --noout "$svg"
        expect_code 0
    done
fi
# Control characters of a file name are not printed.
analyze "$logs/one_run.log" --visualize_peak -o $'a\033b.svg'
expect_code 0
expect_out_like 'Visualization saved to: a?b.svg'
# The pictures of a small run on a large device have decimals.
sed -E 's/([0-9]+)([0-9]{2})\.[0-9]{2} MB/0.\2 MB/g' "$logs/one_run.log" >tiny.log
analyze tiny.log --visualize_peak --visualize_phases -o tiny.svg
[[ $(cat tiny.svg) == *'>Total: 0.78 MB<'* ]] || fail "wanted decimals"
[[ $(cat tiny.svg) == *'12288 MB<'* ]] || fail "wanted a limit without"
[[ $(cat tiny.svg tiny-phases.svg) != *'>0 MB<'* ]] || fail "wanted no part to be 0 MB"
# A log without phases gives no picture.
printf '%s\n' '=== Memory Usage Summary ===' '' '=== Final Totals ===' \
    'Overall DRAM Peak: 5.00 MB, Final DRAM Usage: 1.00 MB' >blank.log
analyze blank.log --visualize_phases -o blank.svg
expect_code 5
expect_err_like "cannot draw 'blank.svg': no run has figures of phases"
expect_out_like '  Peak DRAM:            5.00 MB'
[[ $out != *'Visualization saved'* && ! -e blank.svg ]] || fail "wanted no picture"
# There are more runs than the table and the pictures show. The last of 100 runs is the worst,
# and the two runs before it have no peak.
many() { # NUMBER PEAK
    printf 'run %s\n=== Memory Usage Summary ===\n\n--- MODEL_CREATION ---\n' "$1"
    printf '  DRAM: Segment Peak %s MB, Allocations %s MB, Deallocations 0.00 MB, Segment Change +%s MB\n' \
        "$2" "$2" "$2"
    printf '  DRAM: Cumulative Peak %s MB, Cumulative Current %s MB\n\n=== Final Totals ===\n' "$2" "$2"
    printf 'Overall DRAM Peak: %s MB, Final DRAM Usage: %s MB\n' "$2" "$2"
}
for i in {1..97}; do many "$i" "$((1000 + i)).00"; done >many.log
for i in 98 99; do many "$i" none; done >>many.log
many 100 99999.00 >>many.log
analyze many.log --visualize_peak --visualize_phases -o many.svg
expect_code 5
expect_err_like "note: 'many.svg' shows the worst 48 of 100 runs"
expect_err_like "note: 'many-phases.svg' shows the worst 12 of 100 runs"
expect_out_like 'Found 100 memory usage'
expect_out_like '
--- All Runs, worst first ---
    99,999.00 MB   813.79%  does not fit  run 100
     1,097.00 MB     8.93%  fits          run 97
     1,096.00 MB     8.92%  fits          run 96
'
expect_out_like '
     1,051.00 MB     8.55%  fits          run 51
  52 more: 50 fit, 2 unknown
'
for svg in many.svg many-phases.svg; do
    [[ $(cat $svg) == *'>run 100<'* ]] || fail "wanted the worst run in $svg"
    [[ $(cat $svg) != *'>run 1<'* ]] || fail "wanted the best run not in $svg"
done
[[ $(cat many.svg) == *'>worst first; 52 more: 50 fit, 2 unknown<'* ]] || fail "wanted a count of the others"
[[ $(cat many.svg) == *' worst first; 52 more: 50 fit, 2 unknown.'* ]] || fail "wanted it in the description"
[[ $(cat many-phases.svg) == *'>worst first; 88 more: 86 fit, 2 unknown<'* ]] ||
    fail "wanted a count of the others"
# Up to 48 runs are all shown, in the order of the log.
for i in {1..47}; do many "$i" "$((1000 + i)).00"; done >many.log
many 48 99999.00 >>many.log
analyze many.log --visualize_peak -o many.svg
expect_code 0
expect_err ''
expect_out_like '
--- All Runs ---
     1,001.00 MB     8.15%  fits          run 1
     1,002.00 MB     8.15%  fits          run 2
'
expect_out_like '
    99,999.00 MB   813.79%  does not fit  run 48

'
[[ $out$(cat many.svg) != *' more: '* ]] || fail "wanted no count of others"
