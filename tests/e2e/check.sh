#!/usr/bin/env bash
# `ttscope check` as users run it: limits that pass, are exceeded or cannot be checked; growth,
# patterns, reports, annotations, mistakes in a budget with their lines, and exit codes.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

phase() { # name, segment peak, change, cumulative peak, current, cb, total
    local given=0.00 taken=${3#+}
    case $3 in -*) given=${3#-} taken=0.00 ;; esac
    printf -- '--- %s ---\n' "$1"
    printf '  DRAM: Segment Peak %s MB, Allocations %s MB, Deallocations %s MB, Segment Change %s MB\n' \
        "$2" "$taken" "$given" "$3"
    printf '  DRAM: Cumulative Peak %s MB, Cumulative Current %s MB\n' "$4" "$5"
    printf '  L1: Peak CB %s MB, Peak Buffer 0.10 MB, Peak Total %s MB\n' "$6" "$7"
}
begin() { printf '%s\n=== Memory Usage Summary ===\n\n' "$1"; }
end() { printf '\n=== Final Totals ===\nOverall DRAM Peak: %s MB, Final DRAM Usage: %s MB\n\n' "$1" "$2"; }

# Prints a run whose peak is 1000 MB, in the second of two micro steps. A different peak changes
# the size of the model.
a_run() { # title, [peak]
    local peak=${2-1000.00} model
    model=$((${peak%.*} - 800))
    begin "$1"
    phase MODEL_CREATION $model.00 +$model.00 $model.00 $model.00 0.00 0.00
    phase FORWARD_PASS_micro_0 400.00 +300.00 $((model + 400)).00 $((model + 300)).00 0.50 0.75
    phase FORWARD_PASS_micro_1 500.00 -100.00 "$peak" $((model + 200)).00 0.25 1.00
    end "$peak" $((model + 200)).00
}
a_run "first run" >run.log

# Joins the wrapped lines of `out`, so that each sentence is one line. The wrapped text stays in
# `raw`.
unwrap() {
    raw=$out
    out=$(sed ':a;N;$!ba;s/\n    / /g' <<<"$raw")
}
check() { run "$ttscope" check "$@" && unwrap; }
check_json() { check --json "$@" && out=$(tr -d ' \n' <<<"$raw"); }
budget() { cat >budget.yaml; }

# Every limit is exactly equal to its figure.
budget <<'YAML'
device_memory: 2000MiB
overall:
  dram_peak: 50%
  headroom: 1000MiB
  final_dram: 400MiB
  l1_core: 1MiB
  cb: 512KiB
phases:
  FORWARD_PASS_micro_*:
    segment_peak: 500MiB
    change: 300MiB
    cumulative_peak: 1000MiB
    l1_core: 1024KiB
    cb: 512KiB
YAML
check --budget budget.yaml run.log
expect_code 0
expect_err ""
expect_out "run: first run
  device memory: 2000.00 MB, from the budget
  ok       dram-peak: 1000.00 MB in FORWARD_PASS_micro_1 (limit: at most 1000.00 MB, 50% of the device)
  ok       dram-headroom: 1000.00 MB free in FORWARD_PASS_micro_1 (limit: at least 1000.00 MB free)
  ok       dram-final: 400.00 MB (limit: at most 400.00 MB)
  ok       l1-core: Peak Total 1024.00 KiB in FORWARD_PASS_micro_1 (limit: at most 1024.00 KiB)
  ok       cb: 512.00 KiB in FORWARD_PASS_micro_0 (limit: at most 512.00 KiB)
  ok       phase-segment-peak FORWARD_PASS_micro_1: 500.00 MB (limit: at most 500.00 MB); 2 phases pass, and this phase is nearest to the limit
  ok       phase-change FORWARD_PASS_micro_0: +300.00 MB (limit: at most +300.00 MB); 2 phases pass, and this phase is nearest to the limit
  ok       phase-cumulative-peak FORWARD_PASS_micro_1: 1000.00 MB (limit: at most 1000.00 MB); 2 phases pass, and this phase is nearest to the limit
  ok       phase-l1-core FORWARD_PASS_micro_1: Peak Total 1024.00 KiB (limit: at most 1024.00 KiB); 2 phases pass, and this phase is nearest to the limit
  ok       phase-cb FORWARD_PASS_micro_0: 512.00 KiB (limit: at most 512.00 KiB); 2 phases pass, and this phase is nearest to the limit
within budget: 10 limits passed"
[ "$(awk 'length > 80' <<<"$raw")" = "" ] || fail "wanted lines of 80 columns"
check --budget budget.yaml --quiet run.log
expect_code 0
expect_out ""
check --budget budget.yaml - <run.log # standard input is empty under `run`
expect_code 3
run sh -c '"$1" check --budget budget.yaml - <run.log' sh "$ttscope"
expect_code 0
expect_out_like "within budget: 10 limits passed"
run sh -c '"$1" check --budget - run.log <budget.yaml' sh "$ttscope"
expect_code 0

# Limits that are one byte lower are exceeded. The text states the excess and the place.
budget <<'YAML'
device_memory: 2000MiB
overall:
  dram_peak: 1048575999
  headroom: 1000.5MiB
phases:
  FORWARD*:
    segment_peak: 300MiB
  "*":
    cb: 0.5MiB
YAML
check --budget budget.yaml run.log
expect_code 1
expect_err ""
expect_out "run: first run
  device memory: 2000.00 MB, from the budget
  OVER     dram-peak: 1000.00 MB in FORWARD_PASS_micro_1 (limit: at most 1000.00 MB): 1 byte over the limit (run.log:12)
  OVER     dram-headroom: 1000.00 MB free in FORWARD_PASS_micro_1 (limit: at least 1000.50 MB free): 0.50 MB short of the limit (run.log:12)
  OVER     phase-segment-peak FORWARD_PASS_micro_0: 400.00 MB (limit: at most 300.00 MB): 100.00 MB over the limit (run.log:8)
  OVER     phase-segment-peak FORWARD_PASS_micro_1: 500.00 MB (limit: at most 300.00 MB): 200.00 MB over the limit (run.log:12)
  ok       phase-cb FORWARD_PASS_micro_0: 512.00 KiB (limit: at most 512.00 KiB); 3 phases pass, and this phase is nearest to the limit
over budget: 3 of 4 limits are exceeded"

# Limits of figures that the log does not have do not pass.
budget <<'YAML'
overall:
  dram_peak: 1GiB
phases:
  FORWARD_PASS:
    cb: 1MiB
YAML
check --budget budget.yaml run.log
expect_code 5
expect_out_like "  unknown  phase-cb FORWARD_PASS: no phase matches the label
unknown: 1 of 2 limits could not be checked"
sed '/Overall/d' run.log >cut.log
check --budget budget.yaml cut.log
expect_code 5
expect_out_like "dram-peak: at least 1000.00 MB in FORWARD_PASS_micro_1 (limit: at most 1024.00 MB): part of the run is missing"
expect_err_like "cut.log:"
sed 's/Peak CB [0-9.]*/Peak CB 0.00/; s/Peak Buffer [0-9.]*/Peak Buffer 0.00/; s/Peak Total [0-9.]*/Peak Total 0.00/' \
    run.log >untracked.log
budget <<<'{overall: {cb: 1MiB}}'
check --budget budget.yaml untracked.log
expect_code 5
expect_out_like "unknown: 1 of 1 limit could not be checked"
expect_out_like "unknown  cb: unknown (limit: at most 1024.00 KiB): the L1 use of this run is unknown: all its L1 figures are 0, as in results of ttscope fit"
budget <<<'{phases: {"*": {cb: 1MiB}}}'
check --budget budget.yaml untracked.log
expect_code 5
expect_out_like "
  unknown  phase-cb \*: unknown (limit: at most 1024.00 KiB): the L1 use of this run is unknown: all its L1 figures are 0, as in results of ttscope fit (in 3 phases)
unknown: 1 of 1 limit could not be checked"
budget <<<'{overall: {cb: 50%}}'
check --budget budget.yaml run.log
expect_code 5
expect_out_like "512.00 KiB in FORWARD_PASS_micro_0: the L1 size of a core is unknown: name a device"
check --budget budget.yaml --device n150 run.log
expect_code 0
expect_out_like "(50% of the L1 of a core)"
# "Over" takes precedence over "unknown".
budget <<<'{overall: {dram_peak: 1MiB}, phases: {X: {cb: 1}}}'
check --budget budget.yaml run.log
expect_code 1
expect_out_like "over budget: 1 of 2 limits is exceeded, 1 could not be checked"

# The text says where the device memory comes from: the budget, the log or an option.
budget <<<'{overall: {dram_peak: 10%}}'
check --budget budget.yaml run.log
expect_code 0
expect_out_like "device memory: 12288.00 MB is assumed, because nothing states the size; name a device in the budget"
assumed="12288.00 MB of device memory is assumed, because nothing states the size; name a device in the budget"
expect_err "ttscope check: note: $assumed"
check --budget budget.yaml --github --quiet run.log
expect_out_like "::notice title=device memory::12288.00 MB is assumed, because nothing states the size; name a device in the budget"
check --budget budget.yaml --device_memory 1000MiB run.log
expect_code 1
expect_out_like "device memory: 1000.00 MB, from --device_memory"
budget <<<'{device: n150, overall: {dram_peak: 10%}}'
check --budget budget.yaml run.log
expect_code 0
expect_out_like "device memory: 12254.03 MB, the allocatable DRAM of n150 (named in the budget)"
check --budget budget.yaml --device p150 run.log
expect_out_like "the allocatable DRAM of p150 (named by --device)"
mkdir -p sub
printf 'preset: n150\ndram_banks: 8\n' >sub/half.yaml
printf 'device: half.yaml\noverall: {dram_peak: 10%%}\n' >sub/budget.yaml
check --budget sub/budget.yaml run.log
expect_code 1
expect_out_like "device memory: 8169.35 MB, the allocatable DRAM of sub/half.yaml (named in the budget)"

# Growth is measured against the run with the same title.
{ a_run "other run" 800.00 && a_run "first run" 990.00; } >base.log
a_run "other run" >other.log
budget <<<'{overall: {dram_peak: +1%}, phases: {"FORWARD*": {segment_peak: +0, change: +2%}}}'
check --budget budget.yaml --baseline base.log run.log other.log
expect_code 1
expect_err ""
expect_out_like "run: first run
  baseline: base.log, run 2 'first run' (matched by title)
  OVER     dram-peak: 1000.00 MB in FORWARD_PASS_micro_1 (limit: at most 999.90 MB, 1% more than the baseline's 990.00 MB): 0.10 MB over the limit (run.log:12)
  ok       phase-segment-peak FORWARD_PASS_micro_0: 400.00 MB (limit: at most 400.00 MB, 0 bytes more than the baseline's 400.00 MB); 2 phases pass, and this phase is nearest to the limit"
expect_out_like "run: other run
  baseline: base.log, run 1 'other run' (matched by title)
  OVER     dram-peak: 1000.00 MB in FORWARD_PASS_micro_1 (limit: at most 808.00 MB"
expect_out_like "over budget: 2 of 6 limits in 2 runs are exceeded"
# A run of the baseline without a match is not a pass, and neither is a run without a baseline.
gone="base.log, run 1 'other run'"
budget <<<'{baseline: base.log, overall: {dram_peak: +50%}}'
cp base.log budget.yaml sub/
check --budget sub/budget.yaml run.log # relative to the budget
expect_code 5
expect_err "ttscope check: note: baseline: sub/$gone matches no run that is checked"
expect_out_like "at most 1485.00 MB, 50% more than the baseline's 990.00 MB)
baseline: sub/$gone matches no run that is checked
within budget as far as could be checked: 1 limit passed"
check --budget budget.yaml --github --quiet --junit report.xml --sarif report.sarif run.log
expect_out "::warning title=pair::baseline: $gone matches no run that is checked"
grep -q "<testcase classname=\"baseline base.log, run 1 .*other run.*\" name=\"pair\">" report.xml ||
    fail "wanted the gone run in the report"
grep -q "matches no run that is checked" report.sarif || fail "wanted the gone run as a notice"
check_json --budget budget.yaml run.log
expect_code 5
expect_out_like '"unpaired":\[{"number":1,"title":"otherrun","rank":null,"line":2}\]'
expect_out_like '"baseline":{"number":2,"title":"firstrun","rank":null,"line":21,"by":"title"'
a_run "a new run" >new.log
check --budget budget.yaml run.log other.log new.log
expect_code 5
expect_out_like "run: a new run
  baseline: no run of the baseline matches this run
  unknown  dram-peak: 1000.00 MB in FORWARD_PASS_micro_1: no run of the baseline matches this run"
check --budget budget.yaml --baseline run.log new.log # one run on each side always matches
expect_code 0
expect_out_like "baseline: run.log, run 1 'first run' (matched by position in the file)"
# Ranks without a title match the same rank, in any order.
ranks() { # the peak of rank 0, of rank 1, which is first
    a_run "" "$1" | sed 's/^/0: /' >rank0
    a_run "" "$2" | sed 's/^/1: /' >rank1
    cat "rank$3" "rank$((1 - $3))"
}
ranks 900.00 990.00 0 >ranks_base.log
ranks 900.00 990.00 1 >ranks.log
budget <<<'{overall: {dram_peak: +1%}}'
check --budget budget.yaml --baseline ranks_base.log ranks.log
expect_code 0
expect_out_like "run: ranks.log \[1\]
  baseline: ranks_base.log, run 2 '\[1\]' (matched by rank)
  ok       dram-peak: 990.00 MB in FORWARD_PASS_micro_1 (limit: at most 999.90 MB"

# Process numbers of another execution do not count as different ranks.
ranks 900.00 990.00 0 | sed 's/^0: /[4711] /; s/^1: /[4712] /' >ranks_base.log
ranks 900.00 990.00 0 | sed 's/^0: /[815] /; s/^1: /[816] /' >ranks.log
check --budget budget.yaml --baseline ranks_base.log ranks.log
expect_code 0
expect_err ""
expect_out_like "run: ranks.log (2)
  baseline: ranks_base.log, run 2 (matched by position in the file)
  ok       dram-peak: 990.00 MB in FORWARD_PASS_micro_1 (limit: at most 999.90 MB"
# If a file has as many runs as the baseline, but with other names, the runs match in order.
ranks 900.00 990.00 0 | sed 's/^0: /[rank2] /; s/^1: /[rank3] /' >ranks_base.log
check --budget budget.yaml --baseline ranks_base.log ranks.log
expect_code 0
ranks 900.00 990.00 0 >ranks.log
check --budget budget.yaml --baseline ranks_base.log ranks.log
expect_code 0
expect_out_like "run: ranks.log \[1\]
  baseline: ranks_base.log, run 2 '\[rank3\]' (matched by position in the file, although the names differ)"

# Missing data of the baseline is reported and prevents a pass.
sed 's/Allocations 200.00/Allocations 2x0.00/' run.log >odd.log
budget <<<'{overall: {dram_peak: +1%}}'
check --budget budget.yaml --baseline odd.log --junit report.xml run.log
expect_code 5
expect_err_like "ttscope check: odd.log:5: "
expect_out_like "within budget as far as could be checked: 1 limit passed"
grep -A1 'classname="baseline odd.log, run 1' report.xml | grep -q '<error' || fail "wanted an error of the baseline"
check --budget budget.yaml --baseline odd.log --github --quiet run.log
expect_out_like "::warning file=odd.log,line=5,title=read::"
check_json --budget budget.yaml --baseline odd.log run.log
expect_out_like '"partial":true,"status":"unknown"}],"unpaired"'
# Missing data of a run also prevents a pass: each limit passes, but the run does not.
budget <<<'{overall: {dram_peak: 1GiB}}'
check --budget budget.yaml --github --junit report.xml odd.log
expect_code 5
expect_out_like "::warning file=odd.log,line=5,title=read::first run: "
grep -A1 'classname="first run" name="read"' report.xml | grep -q '<error' || fail "wanted an error of the run"
check_json --budget budget.yaml odd.log
expect_code 5
expect_out_like '"status":"pass","over":0,"unknown":0,"passed":1,"findings"'
expect_out_like '"passed":1,"partial":true,"status":"unknown"}],"unpaired"'

# One figure can have several limits.
budget <<<'{device_memory: 2000MiB, overall: {dram_peak: [95%, +1%, 900MiB]}}'
check --budget budget.yaml --baseline run.log --junit report.xml --sarif report.sarif run.log
expect_code 1
expect_out_like "  ok       dram-peak (share): 1000.00 MB in FORWARD_PASS_micro_1 (limit: at most 1900.00 MB, 95% of the device)
  ok       dram-peak (growth): 1000.00 MB in FORWARD_PASS_micro_1 (limit: at most 1010.00 MB, 1% more than the baseline's 1000.00 MB)
  OVER     dram-peak (bytes): 1000.00 MB in FORWARD_PASS_micro_1 (limit: at most 900.00 MB)"
expect_out_like "over budget: 1 of 3 limits is exceeded"
[ "$(grep -o 'name="dram-peak[^"]*"' report.xml | sort -u | wc -l)" -eq 3 ] || fail "wanted three names"
grep -q '"ruleId": "dram-peak"' report.sarif || fail "wanted the rule as it is"
# Notes point out limits that are easily misunderstood.
budget <<<$'overall:\n  dram_peak: 2%\n  cb: 100\n  final_dram: [8000, +7]'
check --budget budget.yaml --baseline run.log --device_memory 1GiB run.log
expect_err_like "note: budget.yaml:2: the limit 2% is a share of the device memory; for growth against the baseline, write +2%"
expect_err_like "note: budget.yaml:4: the limit 8000 has no unit and means bytes"
expect_err_like "note: budget.yaml:4: the limit +7 has no unit and means bytes"
[[ $err != *"limit 100 has no unit"* ]] || fail "wanted no word about L1"
budget <<<'{overall: {dram_peak: 2%}}'
check --budget budget.yaml --device_memory 1GiB run.log
[[ $err != *"is a share"* ]] || fail "wanted no word about growth"
printf '{baseline: nope.json, overall: {dram_peak: +2%%}}' >budget.yaml
check --budget budget.yaml run.log
expect_code 3
expect_err "ttscope check: baseline of budget.yaml:1: cannot read 'nope.json': no such file or directory"

# Runs with the same title get different names. The names of tests do not depend on the order of
# files.
budget <<<'{overall: {dram_peak: 1GiB}}'
mkdir -p one
cp run.log one/again.log
check --budget budget.yaml --junit report.xml run.log one/again.log
expect_out_like "run: first run (2)"
classes() { grep -o 'classname="[^"]*"' report.xml | sort | tr '\n' ' '; }
before=$(classes)
[ "$before" = 'classname="first run (again.log)" classname="first run (run.log)" ' ] || fail "wanted two classes, not $before"
check --budget budget.yaml --junit report.xml one/again.log run.log
[ "$(classes)" = "$before" ] || fail "wanted the same classes"
a_run "" >run_untitled.log
cp run_untitled.log one/
check --budget budget.yaml run_untitled.log one/run_untitled.log
expect_out_like "run: one/run_untitled.log"
check_json --budget budget.yaml run_untitled.log
expect_out_like '"name":"run_untitled.log","title":null,"rank":null,'

budget <<'YAML'
overall:
  cb: 1MiB
  dram_peak: +2%
YAML
check --budget budget.yaml run.log
expect_code 3
expect_err "ttscope check: budget.yaml:3: a growth limit needs a baseline: give 'baseline: FILE' in the budget, or '--baseline FILE'"
budget <<<'{overall: {cb: 1MiB}}'
check --budget budget.yaml --baseline run.log run.log
expect_code 0
expect_err "ttscope check: note: no limit of 'budget.yaml' uses a baseline; 'run.log' is not read"

# Several files: a file that cannot be read prevents a pass and is listed in the reports.
check --budget budget.yaml run.log nowhere.log
expect_code 5
expect_err "ttscope check: cannot read 'nowhere.log': no such file or directory"
expect_out_like "within budget as far as could be checked: 1 limit passed"
check --budget budget.yaml run.log nowhere.log --junit report.xml --sarif report.sarif --github --quiet
expect_code 5
expect_out "::error file=nowhere.log,title=read::cannot read 'nowhere.log': no such file or directory"
# If nothing could be checked, older reports are replaced, too.
for path in stale.xml stale.sarif; do
    echo green >$path
done
check --budget budget.yaml nowhere.log --junit stale.xml --sarif stale.sarif
expect_code 3
expect_out "unknown: nothing could be checked"
grep -q 'tests="1" failures="0" errors="1"' stale.xml || fail "wanted the error in the report"
grep -q '"executionSuccessful": false' stale.sarif || fail "wanted the failure in the report"
check_json --budget budget.yaml nowhere.log
expect_code 3
expect_out_like '"problem":"cannotread'
expect_out_like '"partial":true,"status":"unknown"}'
echo green >stale.xml
echo 'overall: {cb: much}' >wrong.yaml
check --budget wrong.yaml run.log --junit stale.xml
expect_code 3
expect_out ""
grep -q 'errors="1"' stale.xml || fail "wanted the budget in the report"
if command -v xmllint >/dev/null; then
    run xmllint --noout --schema "$source_dir/tests/e2e/junit.xsd" report.xml
    expect_code 0
    run xmllint --xpath 'concat(/testsuite/@tests, /testsuite/@failures, /testsuite/@errors, " ",
        //testcase[@name="read"]/error/@message)' report.xml
    expect_out "201 cannot read 'nowhere.log': no such file or directory"
fi
if command -v jq >/dev/null; then
    run jq -c '.runs[0].invocations[0] | [.executionSuccessful, .toolExecutionNotifications[0].message.text]' report.sarif
    expect_out "[false,\"cannot read 'nowhere.log': no such file or directory\"]"
fi

# A label and a file name with special characters create no extra line, command, markup or field.
{
    begin 'a ##[error] "run" <b> & 100%, ok: yes'
    phase $'X::error::,100%:##[set]\a<&"' 9.00 +9.00 9.00 9.00 0.00 0.00
    end 9.00 9.00
} >'bad,name: 1%.log'
budget <<<'{overall: {dram_peak: 1MiB}, phases: {"X*": {change: 1MiB}, Y: {cb: 1}}}'
check --budget budget.yaml 'bad,name: 1%.log' --github --junit report.xml --sarif report.sarif
expect_code 1
[ "$(grep -c '^::' "$work/out")" -eq 3 ] || fail "wanted three annotations"
[ "$(grep -c '##\[' "$work/out")" -eq 0 ] || fail "wanted no command of the older form"
grep -q $'\a' "$work/out" && fail "wanted nothing that a terminal obeys"
annotations=$(grep '^::' <<<"$out")
[[ $annotations == '::error file=bad%2Cname%3A 1%25.log,line=4,title=dram-peak::a ##?error] "run" <b> & 100%25, ok: yes: 9.00 MB in X::error::,100%25:##?set]'* ]] ||
    fail "wanted the first annotation escaped"
[[ $annotations == *'::error file=bad%2Cname%3A 1%25.log,line=4,title=phase-change X%3A%3Aerror%3A%3A%2C100%25%3A##?set]?<&"::'* ]] ||
    fail "wanted the second annotation escaped"
[[ $annotations == *'::warning file=bad%2Cname%3A 1%25.log,line=2,title=phase-cb Y::'*': no phase matches the label (budget.yaml:1)' ]] ||
    fail "wanted a warning of what is unknown"
if command -v xmllint >/dev/null; then
    run xmllint --noout --schema "$source_dir/tests/e2e/junit.xsd" report.xml
    expect_code 0
    run xmllint --xpath 'string(//property[3]/@name)' report.xml
    expect_out_like ': phase-change X\*'
    run xmllint --xpath 'string(//property[3]/@value)' report.xml
    expect_out 'bad,name: 1%.log:4'
    run xmllint --xpath 'string(//testcase[2]/@name)' report.xml
    expect_out "phase-change X*"
fi
check --budget budget.yaml 'bad,name: 1%.log' --sarif report.sarif --json
expect_code 1
if command -v jq >/dev/null; then
    cp out document
    run jq -c '[.schema, .status, .over, .unknown, .passed, .partial, .runs[0].checks[1].findings[0].excess_bytes,
        .runs[0].checks[2].findings[0].reason, .runs[0].checks[1].pattern]' document
    expect_out '[{"name":"ttscope.check","version":1},"over",2,1,0,false,8388608,"no phase matches the label","X*"]'
    # The document has the properties that the SARIF schema requires, and its rules match its
    # results.
    run jq -c '[.version, (.runs | length), .runs[0].tool.driver.name, (.runs[0].tool.driver.rules | length),
        (.runs[0] as $r | [$r.results[] | $r.tool.driver.rules[.ruleIndex].id == .ruleId and
            (.message.text | length > 0) and (.level | IN("error", "warning")) and
            (.locations[0].physicalLocation.region.startLine >= 1) and
            (.partialFingerprints.primaryLocationLineHash | test("^[0-9a-f]{16}:1$"))] | all),
        [.runs[0].results[].level], .runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri,
        ([.runs[0].results[].partialFingerprints.primaryLocationLineHash] | unique | length),
        (.runs[0].tool.driver.rules | all(.id and .shortDescription.text and .help.text))]' report.sarif
    expect_out '["2.1.0",1,"ttscope",10,true,["error","error","warning"],"bad%2Cname%3A%201%25.log",3,true]'
    # The same finding in a longer log has the same fingerprint.
    mkdir later
    { printf 'a line\nanother\n' && cat 'bad,name: 1%.log'; } >'later/bad,name: 1%.log'
    run sh -c 'cd later && "$1" check -q --budget ../budget.yaml "bad,name: 1%.log" --sarif ../later.sarif' sh "$ttscope"
    prints() { jq -c '[.runs[0].results[].partialFingerprints]' "$1"; }
    [ "$(prints report.sarif)" = "$(prints later.sarif)" ] || fail "wanted the same fingerprints"
    # Two limits for one figure are two findings.
    budget <<<'{device_memory: 2000MiB, overall: {dram_peak: [1%, 1MiB]}}'
    check -q --budget budget.yaml run.log --sarif two.sarif
    [ "$(jq -c '[.runs[0].results[].partialFingerprints] | unique | length' two.sarif)" -eq 2 ] ||
        fail "wanted a fingerprint for each limit"
    # A different phase before the phase of a finding does not change the fingerprint of the
    # finding. A second phase with the same name gets a fingerprint of its own.
    with() { # label
        begin run
        phase "$1" 9.00 +9.00 9.00 9.00 0.00 0.00
        phase X 9.00 +9.00 18.00 18.00 0.00 0.00
        end 18.00 18.00
    }
    budget <<<'{phases: {X: {change: 1MiB}}}'
    for label in X Y; do
        with "$label" >same.log
        check -q --budget budget.yaml same.log --sarif "$label.sarif"
    done
    sed '3,7d' same.log >less.log
    cp less.log same.log
    check -q --budget budget.yaml same.log --sarif less.sarif
    [ "$(prints Y.sarif)" = "$(prints less.sarif)" ] || fail "wanted the same fingerprint"
    [ "$(jq -c '[.runs[0].results[].partialFingerprints] | unique | length' X.sarif)" -eq 2 ] ||
        fail "wanted two fingerprints"
fi
budget <<<'{overall: {dram_peak: 1GiB}}'
check --budget budget.yaml run.log --github
expect_code 0
expect_out_like "
::notice title=ttscope check::within budget: 1 limit passed"

# Mistakes in a budget are reported with their line, and nothing is checked.
wrong() { # line and text; the budget on stdin
    budget
    check --budget budget.yaml run.log
    expect_code 3
    expect_out ""
    expect_err "ttscope check: budget.yaml:$1"
}
wrong "1: the file is empty: an empty check would always pass" </dev/null
wrong "1: no limits: give 'overall' or 'phases', because an empty check would always pass" <<<'device: n150'
wrong "3: unknown key 'dram_peek', did you mean 'dram_peak'?" <<<$'\noverall:\n  dram_peek: 1'
wrong "2: invalid value 'much' for 'cb': expected bytes such as 11GiB, a share such as 95%, or growth such as +2% or +50MiB" <<<$'overall:\n  cb: much'
wrong "2: not YAML: the line is indented with a tab; indent with spaces" <<<$'overall:\n\tcb: 1'
wrong "2: invalid value '+5%' for 'headroom': expected bytes such as 500MiB or a share such as 5%, not growth" <<<$'overall:\n  headroom: +5%'
wrong "3: 'cb' appears twice, first in line 2" <<<$'overall:\n  cb: 1\n  cb: 2'
wrong "2: 'cb' is an alias (put text that begins with '*' in quotes): write a limit such as 11GiB, 95% or +2%, or [95%, +2%]" <<<$'overall:\n  cb: *x'
wrong "2: 'cb' is a list: write a limit such as 11GiB, 95% or +2%, or [95%, +2%]" <<<$'overall:\n  cb: [[1]]'
wrong "2: 'device' and 'device_memory' both set the memory: give only one" <<<$'device: n150\ndevice_memory: 1\noverall: {cb: 1}'
wrong "2: no device is named 'n15', did you mean 'n150'?" <<<$'overall: {cb: 1}\ndevice: n15'
wrong "4: the label of a phase is an alias (put text that begins with '*' in quotes): write 'LABEL:' and its limits below" \
    <<<$'overall:\n  cb: 1\nphases:\n  *_PASS:\n    cb: 1'
check --budget nowhere.yaml run.log
expect_code 3
expect_err "ttscope check: budget: cannot read 'nowhere.yaml': no such file or directory"

# Mistakes on the command line are reported.
usage() { # text; options
    local text=$1
    shift
    check "$@"
    expect_code 2
    expect_out ""
    expect_err "ttscope check: $text"
}
budget <<<'{overall: {cb: 1MiB}}'
usage "no budget: give '--budget FILE' (see 'ttscope help check')" run.log
usage "no run to check: give a log, a recording or a result saved with '--json' ('-' is standard input)" -b budget.yaml
usage "standard input can be read only once" -b - -
usage "'--github' and '--json' cannot be combined (see 'ttscope help check')" -b budget.yaml --json --github run.log
usage "'--quiet' and '--json' cannot be combined (see 'ttscope help check')" -b budget.yaml --json -q run.log
usage "'--budget' is given twice" -b budget.yaml -b budget.yaml run.log
usage "'--device-memory' and '--device' cannot be combined (see 'ttscope help check')" \
    -b budget.yaml -d n150 --device_memory 1GiB run.log
usage "invalid value '0' for '--device-memory': expected a number of bytes such as 12884901888, 1.2e9 or 12GiB" \
    -b budget.yaml --device_memory 0 run.log
usage "'--set' needs '--device NAME'" -b budget.yaml --set l1_small=0 run.log
usage "standard output is used for the report: '--sarif' needs a file" -b budget.yaml --sarif - run.log
usage "'x' is given for both '--junit' and '--sarif': choose two files" -b budget.yaml --junit x --sarif x run.log
usage "'./x' is given for both '--junit' and '--sarif': choose two files" -b budget.yaml --junit ./x --sarif x run.log
cp run.log kept.log
usage "'run.log' is an input: write the output to another file" -b budget.yaml --junit run.log run.log
usage "'./budget.yaml' is an input: write the output to another file" -b budget.yaml --sarif ./budget.yaml run.log
cp run.log base.log
budget <<<'{baseline: base.log, overall: {cb: +1MiB}}'
usage "'base.log' is an input: write the output to another file" -b budget.yaml --junit base.log run.log
cmp -s run.log kept.log || fail "wanted the log to stay"
check -b budget.yaml --junit nowhere/report.xml run.log
expect_code 3
expect_out ""
expect_err "ttscope check: cannot write 'nowhere/report.xml': no such file or directory"

# The example budget works with the output of fit, from a file and from a pipe.
"$ttscope" fit --runner memory_efficient "$source_dir/examples/fit/training.yaml" >fits.log
check --budget "$source_dir/examples/budget.yaml" fits.log
expect_code 0
expect_err ""
expect_out_like "within budget: 6 limits passed"
# The budget in the comments of the example is valid, too.
sed -n 's/^# \(baseline:\|overall:\|  dram_peak:\)/\1/p' "$source_dir/examples/budget.yaml" >growth.yaml
"$ttscope" analyze fits.log --json >main.json
check --budget growth.yaml --device n150 fits.log
expect_code 0
expect_out_like "within budget: 2 limits passed"
run sh -c '"$1" fit "$2/examples/fit/training.yaml" | "$1" check --budget "$2/examples/budget.yaml" -' \
    sh "$ttscope" "$source_dir"
unwrap
expect_code 1
expect_out_like "dram-headroom: nothing free: the peak in BACKWARD_PASS is 2198.88 MB above the device memory (limit: at least 500.00 MB free): 2698.88 MB short of the limit (<stdin>:40)"
expect_out_like "OVER     dram-peak: 14452.91 MB in BACKWARD_PASS (limit: at most 11641.33 MB, 95% of the device): 2811.58 MB over the limit"
expect_out_like "over budget: 4 of 6 limits are exceeded"
