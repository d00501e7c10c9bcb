#!/usr/bin/env bash
# `ttscope analyze` when something is wrong: options, logs, outputs.
. "$(dirname "$0")/lib.sh"
two_runs=$source_dir/examples/tinyllama.log
logs=$(dirname "$(realpath "$0")")/analyze
good=$logs/one_run.log

analyze() {
    run "$ttscope" analyze "$@"
}
# Expects one message and nothing on standard output.
refused() { # exit code, what is said
    expect_code "$1"
    expect_out ''
    expect_err "ttscope analyze: $2"
}

# --- options ------------------------------------------------------------------------------

analyze
refused 2 "missing operand 'LOG' (see 'ttscope help analyze')"
expected="expected a number of bytes such as 12884901888, 1.2e9 or 12GiB"
analyze "$good" --device_memory 0
refused 2 "invalid value '0' for '--device-memory': expected a size of at least 1 byte"
analyze "$good" --device_memory -1
refused 2 "invalid value '-1' for '--device-memory': the size is negative: $expected"
analyze "$good" --device_memory=-12G
refused 2 "invalid value '-12G' for '--device-memory': the size is negative: $expected"
for size in nan inf 12x '' '12 000' 0x10 1,024; do
    analyze "$good" --device_memory "$size"
    refused 2 "invalid value '$size' for '--device-memory': not a size: $expected"
done
analyze "$good" --device_memory 1e30
refused 2 "invalid value '1e30' for '--device-memory': the size is more than 2^60 bytes: $expected"
for option in model optimizer gradients; do
    analyze "$good" "--${option}_size" -5
    refused 2 "invalid value '-5' for '--$option-size': the size is negative: $expected"
    analyze "$good" "--${option}_size" many
    refused 2 "invalid value 'many' for '--$option-size': not a size: $expected"
    analyze "$good" "--${option}_size" 0
    expect_code 0
done
analyze "$good" --device n150 --device_memory 12G
refused 2 "'--device' and '--device-memory' cannot be combined (see 'ttscope help analyze')"
analyze "$good" --device n151
expect_code 2
expect_err_like "did you mean 'n150'?"
analyze "$good" --set dram_banks=4
refused 2 "'--set' needs '--device NAME' (see 'ttscope help analyze')"
analyze "$good" --dtype bf61
refused 2 "invalid value 'bf61' for '--dtype': expected bf16 or fp32"
analyze "$good" --optimizer adamv
expect_code 2
expect_err_like "invalid value 'adamv' for '--optimizer': did you mean 'AdamW'?"
analyze "$good" --json --csv
refused 2 "'--csv' and '--json' cannot be combined (see 'ttscope help analyze')"
for limit in 95 0.95 0% -5% 95%% nan; do
    analyze "$good" --fail-above "$limit"
    refused 2 "invalid value '$limit' for '--fail-above': expected a percentage of the device memory such as 95% or 97.5%"
done
analyze "$good" --format svg
refused 2 "'--format' needs '--visualize_peak' or '--visualize_phases'"
# Without a picture these options have no effect, as in the original script: the name is not
# checked.
for option in --output=x.png --output=x.jpg "--output=$good" --title=x; do
    analyze "$good" "$option"
    expect_code 0
    expect_err "ttscope analyze: note: '${option%%=*}' has no effect without '--visualize_peak' or '--visualize_phases'"
    expect_out_like 'Analysis complete'
    [ ! -e "$work/x.png" ] || fail "wanted no picture"
done
analyze "$good" --visualize_peak --format gif
expect_code 2
expect_err "ttscope analyze: invalid value 'gif' for '--format': expected png, svg or pdf"
analyze "$good" --visualize_peak -o x.jpg
refused 2 "cannot tell the format of 'x.jpg' by its name: give '--format' png, svg or pdf"
analyze - --logs -
refused 2 "standard input can be read only once"
analyze "$good" --visualize_peak --visulaize-phases
expect_code 2
expect_err_like "did you mean '--visualize-phases'?"

# --- outputs ------------------------------------------------------------------------------

cp "$good" "$work/x.svg"
ln -s x.svg "$work/link.svg"
for output in x.svg link.svg; do
    analyze "$work/x.svg" --visualize_peak -o "$work/$output"
    refused 2 "'$work/$output' is an input: write the output to another file"
    analyze "$work/x.svg" --junit "$work/$output"
    refused 2 "'$work/$output' is an input: write the output to another file"
done
cmp -s "$good" "$work/x.svg" || fail "wanted the log to be as it was"
analyze "$good" --visualize_peak --format svg -o -
refused 2 "standard output is used for the report: write pictures and '--junit' to a file"
analyze "$good" --visualize_peak -o "$work/a.svg" --junit "$work/a.svg"
refused 2 "'$work/a.svg' cannot be both a picture and a JUnit report: give another name"
# Two names of the same file are found, whether the file exists or not.
mkdir "$work/names"
ln -s names "$work/alias"
cd "$work/names" || exit 1
for junit in ./out.svg ../names/out.svg ../alias/out.svg "$work/names/out.svg"; do
    analyze "$good" --visualize_peak -o out.svg --junit "$junit"
    refused 2 "'out.svg' cannot be both a picture and a JUnit report: give another name"
done
[ -z "$(ls -A)" ] || fail "wanted nothing to be written"
: >x.svg
ln -s x.svg x-phases.svg
analyze "$good" --visualize_peak --visualize_phases -o x.svg
refused 2 "'x-phases.svg' cannot be both the picture of the parts and the picture of the phases: give another name"
: >out.svg
ln out.svg hard.svg
analyze "$good" --visualize_peak -o out.svg --junit hard.svg
refused 2 "'out.svg' cannot be both a picture and a JUnit report: give another name"
# Two outputs may both go to /dev/null.
analyze "$good" --visualize_peak -o /dev/null --format svg --junit /dev/null
expect_code 0
# No other output may replace the file that standard output goes to.
for output in '--visualize_peak -o o.svg' '--visualize_peak --format svg -o /dev/stdout' \
    '--junit o.svg' '--junit /dev/stdout'; do
    run sh -c "'$ttscope' analyze '$good' $output >o.svg"
    expect_code 2
    expect_err_like "' is also standard output: write the picture or report to another file"
    [ ! -s o.svg ] || fail "wanted nothing in place of the answer"
done
cd "$work" || exit 1
analyze "$good" --visualize_peak -o ''
refused 2 "the name of an output file is empty: a picture or '--junit' needs a file"
analyze "$good" --junit ''
refused 2 "the name of an output file is empty: a picture or '--junit' needs a file"
for output in .svg "$work/.PNG"; do
    analyze "$good" --visualize_peak -o "$output"
    refused 2 "'$output' has no name before its extension: give a name, or '--format' png, svg or pdf"
done
analyze "$good" --visualize_peak -o "$work/.svg" --format svg
expect_code 0
rm "$work/.svg"

# An output that cannot be written is found before the log is read.
analyze no_such.log --visualize_peak -o "$work/none/x.svg"
refused 3 "cannot write '$work/none/x.svg': no such file or directory"
analyze no_such.log --junit "$work/none/x.xml"
refused 3 "cannot write '$work/none/x.xml': no such file or directory"
analyze no_such.log --visualize_peak -o "$work/none/x.png"
refused 3 "cannot write '$work/none/x.png': no such file or directory"
mkdir "$work/dir.svg"
analyze no_such.log --visualize_peak -o "$work/dir.svg"
expect_code 3
expect_err_like "cannot write '$work/dir.svg'"

# An older picture stays if there is nothing to draw, and no temporary file is left.
echo old >"$work/old.svg"
analyze "$logs/no_summary.log" --visualize_peak -o "$work/old.svg"
expect_code 3
[ "$(cat "$work/old.svg")" = old ] || fail "wanted the picture as it was"
[ -z "$(find "$work" -name '.ttscope-*' -o -name 'old*' ! -name old.svg)" ] ||
    fail "wanted nothing left behind"

# A full disk on standard output is an error.
if [ -e /dev/full ]; then
    for form in --csv --json --use_actual_sizes; do
        run sh -c "'$ttscope' analyze '$good' $form >/dev/full"
        expect_code 3
        expect_err 'ttscope analyze: cannot write to standard output: no space left on the disk'
    done
fi

# A separate program draws PNG and PDF.
mkdir -p "$work/alone/bin"
cp "$ttscope" "$work/alone/bin/ttscope"
run "$work/alone/bin/ttscope" analyze "$good" --visualize_peak -o "$work/y.png"
refused 3 "cannot draw PNG or PDF: libexec/ttscope/ttscope-analyze is not installed; use '--format svg'"
run "$work/alone/bin/ttscope" analyze "$good" --visualize_peak --format svg -o "$work/y.png"
expect_code 0
[ -s "$work/y.png" ] || fail "wanted a picture"

# --- logs ---------------------------------------------------------------------------------

analyze no_such.log
refused 3 "cannot read 'no_such.log': no such file or directory"
analyze "$work"
refused 3 "cannot read '$work': is a directory"
: >"$work/empty.log"
analyze "$work/empty.log"
refused 3 "no memory summary in '$work/empty.log': the file is empty"
analyze "$logs/no_summary.log"
refused 3 "no memory summary in '$logs/no_summary.log': no heading '=== Memory Usage Summary ===' found; run the program with memory tracking ('--track_memory')"
head -c 4096 "$ttscope" >"$work/binary"
analyze "$work/binary"
refused 3 "no memory summary in '$work/binary': the file is not a text file"
analyze "$logs/stray.log"
refused 3 "no memory summary in '$logs/stray.log': line 1 has memory figures, but the heading '=== Memory Usage Summary ===' before the figures is missing"
if command -v iconv >/dev/null; then
    iconv -f UTF-8 -t UTF-16 "$good" >"$work/utf16.log"
    analyze "$work/utf16.log"
    refused 3 "no memory summary in '$work/utf16.log': the file is UTF-16; convert it with 'iconv -f UTF-16 -t UTF-8'"
fi
analyze "$work/empty.log" no_such.log
expect_code 3
expect_out ''
expect_err_like "the file is empty
ttscope analyze: cannot read 'no_such.log'"

# Messages name what is missing, with its line. The rest is analysed.
analyze "$logs/cut.log"
expect_code 5
expect_err_like "ttscope analyze: $logs/cut.log:"
expect_out_like 'Found 1 memory usage summary/summaries'
expect_out_like '  the real peak may be higher: the summary is cut off'
expect_out_like '
--- Verdict ---
  unknown: part of the run is missing from the log; the peak is at least
'
analyze "$logs/cut.log" --fail-above 95%
expect_code 5
expect_err_like "$logs/cut.log:2: the real peak may be higher, so '--fail-above' cannot be checked"
analyze "$logs/cut.log" --fail-above 50%
expect_code 1
grep -v 'Overall DRAM Peak\|Peak' "$good" >"$work/peakless.log"
analyze "$work/peakless.log" --fail-above 95%
expect_code 5
expect_err_like "the peak is unknown, so '--fail-above' cannot be checked"
analyze "$logs/bad_number.log"
expect_code 5
expect_err_like "ttscope analyze: $logs/bad_number.log:13: "
expect_out_like '  Activations:          unknown
  unknown: a figure of FORWARD_PASS could not be read'
expect_out_like '  Peak DRAM:            8,278.65 MB'
analyze "$good" no_such.log "$logs/no_summary.log"
expect_code 5
expect_out_like 'Found 1 memory usage summary/summaries'
expect_err_like "cannot read 'no_such.log'"
expect_err_like "no memory summary in '$logs/no_summary.log'"
analyze no_such.log "$two_runs" --fail-above 95%
expect_code 1

# A device memory that is shared by more devices than it has bytes is not known.
{ printf '[HARDWARE] ---\n  mesh  60000x60000\n  memory  1 MB\n' && cat "$good"; } >"$work/shared.log"
analyze "$work/shared.log" --junit "$work/shared.xml" --fail-above 95%
expect_code 5
expect_err_like "the device memory is unknown, so '--fail-above' cannot be checked"
grep -q 'errors="1"' "$work/shared.xml" || fail "wanted a test without an answer"

# Figures without a heading are counted and named.
cat "$good" "$logs/stray.log" >"$work/rotated.log"
analyze "$work/rotated.log"
expect_code 5
expect_err_like "$work/rotated.log:24: ignored 2 lines with memory figures outside any summary"
expect_out_like 'Found 1 memory usage summary/summaries'

# At most 20 notes of a log are printed.
for _ in {1..30}; do cat "$logs/bad_number.log"; done >"$work/many.log"
analyze "$work/many.log" "$good"
expect_code 5
[ "$(wc -l <"$work/err")" -eq 21 ] || fail "wanted 20 lines, and how many more there are"
expect_err_like "
ttscope analyze: $work/many.log: 10 more notes about this file are not shown"
expect_out_like 'Found 31 memory usage summary/summaries'

# Control characters of a title are not printed.
{ printf 'a\033]0;b\007c\n' && cat "$good"; } >"$work/escape.log"
analyze "$work/escape.log"
! grep -q $'\033\|\007' "$work/out" || fail "wanted no control characters"
