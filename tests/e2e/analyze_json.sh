#!/usr/bin/env bash
# `ttscope analyze --json`, `--csv`, `--junit`.
. "$(dirname "$0")/lib.sh"
two_runs=$source_dir/examples/tinyllama.log
logs=$(dirname "$(realpath "$0")")/analyze
command -v jq >/dev/null || exit 77

json() {
    run "$ttscope" analyze --json "$@"
    cp "$work/out" "$work/document"
}
expect_jq() { # filter, what it gives
    local got
    got=$(jq -c "$1" "$work/document" 2>&1) || fail "jq cannot: $1"
    [ "$got" = "$2" ] || fail "wanted of $1: $2, got: $got"
}

# --- JSON ---------------------------------------------------------------------------------

json "$two_runs"
expect_code 0
expect_err ''
expect_jq .schema '{"name":"ttscope.analyze","version":1}'
expect_jq 'keys_unsorted' '["schema","runs","logs"]'
expect_jq '.runs | map(.name)' '["TinyLlama memory efficient","TinyLlama default"]'
expect_jq '.runs | map(.fits)' '[true,false]'
expect_jq '.runs | map(.device_memory_bytes, .device_memory_source)' \
    '[12884901888,"assumed",12884901888,"assumed"]'
expect_jq '.runs | map(.usage_ratio * 10000 | round)' '[6737,12750]'
expect_jq '.runs[0].model | [.expected_bytes, .expected_source, (.difference_ratio * 10000 | round)]' \
    '[1938739200,"log",77]'
expect_jq '.runs[0].optimizer | [.expected_bytes, .expected_source]' '[3877478400,"assumed"]'
expect_jq '.runs[0] | .breakdown | keys_unsorted' \
    '["other","model","gradients_overhead","optimizer","activations"]'
expect_jq '.runs | map((.breakdown | add) == .peak_bytes)' '[true,true]'
expect_jq '.runs | map(.breakdown.other / 10485.76 | round)' '[2523,2510]'
expect_jq '.runs[1].phases | map(.name)' \
    '["MODEL_CREATION","OPTIMIZER_CREATION","FORWARD_PASS","BACKWARD_PASS"]'
expect_jq '.runs[1].phases[3].dram | keys_unsorted' \
    '["segment_peak_bytes","allocations_bytes","deallocations_bytes","change_bytes","cumulative_peak_bytes","cumulative_current_bytes"]'
expect_jq '.runs[1].phases[3].dram.change_bytes / 10485.76 | round' -778087
expect_jq '.runs[0].phases[3].l1 | [(.peak_total_bytes / 10485.76 | round), .true_core_peak_bytes]' \
    '[104,null]'
expect_jq '.runs[1] | [.peak_phase, .breakdown_sizes, .cut, .notes, .rank]' \
    '["BACKWARD_PASS","expected",false,[],null]'
expect_jq '.logs | map([.runs, .problem])' '[[2,null]]'

# The fields of a single run are also at the top level, where `fit` writes them.
json "$logs/one_run.log" --use_actual_sizes --device n150
expect_code 0
expect_jq 'del(.schema, .runs, .logs) == .runs[0]' true
expect_jq '[.fits, .overall_dram_peak_bytes == .peak_bytes, .device_memory_source, .breakdown_sizes]' \
    '[true,true,"device","actual"]'
expect_jq '[.title, .name, .line, .forward_passes, .backward_passes]' '[null,"one_run.log",2,1,1]'
run sh -c "'$ttscope' fit '$source_dir/examples/fit/training.yaml' | '$ttscope' analyze --json -"
cp "$work/out" "$work/document"
expect_jq '[(.phases | length) > 4, .log, .optimizer_name]' '[true,"-","AdamW"]'

# Unknown values are null.
json "$logs/micro_steps.log"
expect_code 0
expect_jq '[.parameters, .model.expected_bytes, .model.expected_source, .model.difference_ratio]' \
    '[null,null,null,null]'
expect_jq '[.forward_passes, (.activations_bytes / 10485.76 | round), (.activations_at_once_bytes / 10485.76 | round), (.activations_sum_bytes / 10485.76 | round)]' \
    '[4,764199,764199,3056574]'
json "$logs/cut.log" no_such.log
expect_code 5
expect_jq '[.cut, .fits, .final_dram_bytes, .peak_at_least]' '[true,null,null,true]'
expect_err_like "cut.log:2: the memory summary that begins here is incomplete: it ends after line 15"
expect_jq '.logs | map(.runs, (.problem | type))' '[1,"null",0,"string"]'
expect_jq '.logs[1].problem' '"cannot read '"'no_such.log'"': no such file or directory"'
json "$logs/one_run.log" "$logs/no_summary.log"
expect_jq '.logs[1].problem | startswith("no memory summary: no heading ")' true
cat "$logs/one_run.log" "$logs/stray.log" >"$work/rotated.log"
json "$work/rotated.log"
expect_code 5
expect_jq '.logs[0].problem | endswith("with memory figures outside any summary")' true
json "$logs/bad_number.log"
expect_code 5
expect_jq '[.activations_bytes, .phases[2].dram.change_bytes, .notes_in_all, .notes[0].line, .fits]' \
    '[null,null,1,13,true]'
json "$logs/no_summary.log"
expect_code 3
expect_out ''

# --- lines that were wrapped --------------------------------------------------------------

# A wrapped log gives the same answer as the log itself, except for line numbers.
without_lines='del(.logs, .log, .name, .runs[].name) | del(.. | objects | .line, .log)'
same_as_whole() { # the log, a name
    json "$1"
    expect_code 0
    expect_err ''
    cmp -s <(jq "$without_lines" "$work/document") "$work/whole" || fail "wanted the same answer $2"
}
for log in "$two_runs" "$logs/with_device.log"; do
    "$ttscope" analyze --json "$log" | jq "$without_lines" >"$work/whole"
    for width in 40 80 100; do
        fold -w "$width" "$log" >"$work/wrapped.log"
        same_as_whole "$work/wrapped.log" "at width $width"
        fold -s -w "$width" "$log" | sed 's/ *$/\r/' >"$work/wrapped.log"
        same_as_whole "$work/wrapped.log" "between words at width $width"
    done
done
# A lost figure is derived from others, and a note says so.
sed 's/, Segment Change.*//' "$logs/one_run.log" >"$work/lost.log"
json "$work/lost.log"
expect_code 5
expect_err_like "lost.log:5: 'Segment Change' of MODEL_CREATION is derived from 'Cumulative Current'"
expect_jq '[.phases[].dram.change_bytes / 10485.76 | round]' '[186325,370876,19295,166308]'
expect_jq '.notes | map(.line)' '[5,9,13,17]'
expect_jq '[.activations_bytes, .model.actual_bytes | . / 10485.76 | round]' '[19295,186325]'

# --- the table ----------------------------------------------------------------------------

cd "$work" || exit 1
cp "$logs/one_run.log" '=1+1,"x"'
run "$ttscope" analyze --csv "$two_runs" '=1+1,"x"' "$logs/cut.log"
expect_code 5
[ "$(wc -l <"$work/out")" -eq 5 ] || fail "wanted a line of names and four rows"
expect_out_like 'name,title,rank,log,line,parameters,model_actual_bytes,'
expect_out_like "
\"'=1+1,\"\"x\"\"\",,,\"'=1+1,\"\"x\"\"\",2,"
if command -v python3 >/dev/null; then
    cp "$work/out" "$work/table.csv"
    cat >"$work/check.py" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert [r["fits"] for r in rows] == ["true", "false", "true", ""], rows
assert all(None not in r and None not in r.values() for r in rows), rows
assert rows[1]["peak_phase"] == "BACKWARD_PASS" and rows[1]["usage_ratio"] == "1.274955"
parts = ["other", "model", "gradients_overhead", "optimizer", "activations_part"]
assert sum(int(rows[0][p + "_bytes"]) for p in parts) == int(rows[0]["peak_bytes"])
assert rows[3]["cut"] == "true" and rows[3]["final_dram_bytes"] == ""
END
    run python3 "$work/check.py" "$work/table.csv"
    expect_code 0
fi

# JSON and CSV have the same ratio, cut off and not rounded.
json "$logs/one_run.log"
peak=$(jq .peak_bytes "$work/document")
json "$logs/one_run.log" --device_memory $((peak + 1))
[[ $(cat "$work/document") == *'"usage_ratio": 0.999999,'* ]] || fail "wanted a ratio below 1"
run "$ttscope" analyze --csv "$logs/one_run.log" --device_memory $((peak + 1))
expect_out_like ',option,0.999999,true,'

# --- the report ---------------------------------------------------------------------------

report=$work/report.xml
run "$ttscope" analyze "$two_runs" "$logs/cut.log" "$logs/markup.log" --junit "$report"
expect_code 5
expect_out_like 'Analysis complete'
head -n 2 "$report" | grep -q 'name="ttscope analyze" tests="4" failures="1" errors="1" *>$' ||
    fail "wanted the counts of the suite"
grep -q 'classname="TinyLlama default" name="peak fits device memory"' "$report" ||
    fail "wanted the test of the second run"
grep -q '<failure message="peak 15,666.65 MB of 12,288.00 MB, 127.50%"/>' "$report" ||
    fail "wanted the figures"
grep -q '<error message="peak 6,568.36 MB or more of 12,288.00 MB, ' "$report" ||
    fail "wanted what is not known"
grep -q "classname=\"&lt;b&gt;&quot;a&quot; &amp; 'b'&lt;/b&gt;\"" "$report" ||
    fail "wanted markup to be escaped"
if command -v xmllint >/dev/null; then
    run xmllint --noout --schema "$source_dir/tests/e2e/junit.xsd" "$report"
    expect_code 0
    run xmllint --xpath '//property[@name="TinyLlama default: peak fits device memory"]/@value' "$report"
    expect_out " value=\"$two_runs:$(grep -n 'Memory Usage Summary' "$two_runs" | sed -n 's/:.*//; 2p')\""
fi
run "$ttscope" analyze "$two_runs" --junit "$report" --fail-above 50.5% --json
expect_code 1
grep -q 'tests="2" failures="2" errors="0"' "$report" || fail "wanted both to be above"
grep -q 'name="peak at most 50.5% of device memory"' "$report" || fail "wanted the limit"
# A log that cannot be read is an error in the report. Otherwise the report would look complete.
run "$ttscope" analyze "$logs/one_run.log" no_such.log "$logs/no_summary.log" --junit "$report"
expect_code 5
grep -q 'tests="3" failures="0" errors="2"' "$report" || fail "wanted errors"
grep -q "<error message=\"cannot read 'no_such.log': no such file or directory\"/>" "$report" ||
    fail "wanted what is wrong with the log"
grep -q '<testcase classname="no_summary.log" name="peak fits device memory">' "$report" ||
    fail "wanted the log by its name"
grep -q '<property name="no_summary.log: peak fits device memory" value="[^"]*no_summary.log"/>' \
    "$report" || fail "wanted the log as a property"
grep -q '<error message="no memory summary: no heading ' "$report" || fail "wanted why"
# An older report is replaced even if no log has a run.
run "$ttscope" analyze "$logs/no_summary.log" --junit "$report"
expect_code 3
expect_out ''
grep -q 'tests="1" failures="0" errors="1"' "$report" || fail "wanted a report of this time"
