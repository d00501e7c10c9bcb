#!/usr/bin/env bash
# Runs `ttscope fit` as users do: published figures, options, refused configurations, JSON.
. "$(dirname "$0")/lib.sh"
configs=$(dirname "$0")/fit
tiny=$configs/tiny.yaml
nano=$configs/nano.yaml
head=$configs/head.yaml
command -v jq >/dev/null || exit 77

fit() {
    run "$ttscope" fit "$@"
}

# Keeps the JSON document for expect_jq.
fit_json() {
    fit --json "$@"
    cp "$work/out" "$work/fit.json"
}

expect_jq() { # filter, expected output
    local got
    got=$(jq -c "$1" "$work/fit.json" 2>&1) || fail "jq cannot: $1"
    [ "$got" = "$2" ] || fail "wanted of $1: $2, got: $got"
}

# Copies a known file to the work folder and changes a line in the copy.
changed() { # name of the file, sed script
    sed -e "$2" "$configs/$1" >"$work/$1"
}
cp "$configs"/*.yaml "$work"

# --- the published figures, within 0.01 MB ------------------------------------------------

fit "$tiny" --recipe v1 --runner default
expect_code 1
expect_err ''
expect_out_like 'Number of parameters: 969369600'
expect_out_like '--- MODEL_CREATION ---
  DRAM: Segment Peak *, Allocations *, Segment Change +1863.13 MB'
expect_out_like '--- OPTIMIZER_CREATION ---
  DRAM: Segment Peak 3708.75 MB'
expect_out_like '--- FORWARD_PASS ---
  DRAM: Segment Peak 10019.39 MB, Allocations *, Segment Change +9636.02 MB
  DRAM: Cumulative Peak 15591.27 MB, Cumulative Current 15207.89 MB'
expect_out_like '--- BACKWARD_PASS ---
  DRAM: Segment Peak 458.75 MB, Allocations *, Segment Change -7780.87 MB'
expect_out_like 'Overall DRAM Peak: 15666.65 MB'
expect_out_like 'L1: unknown (circular-buffer sizes are not modelled)'
expect_out_like 'does not fit n150: 15666.65 MB of 12254.03 MB
  rounded up to whole pages on 12 banks: 15679.85 MB, 3425.82 MB too much
'
# The sizes of the first line add up at sight, and `analyze` names the same excess.
[[ ${out%%$'\n'*} == 'does not fit n150: 15666.65 MB of 12254.03 MB (3412.62 MB too much); '* ]] ||
    fail "wanted the difference of the printed sizes, not '${out%%$'\n'*}'"
expect_out_like '
  969 later allocations fail, too
  each of the 12 banks would need 1306.65 MB but has 1021.17 MB'
expect_out_like '  first allocation that fails: in FORWARD_PASS, in '
expect_out_like '    Out of Memory: Not enough space to allocate '
expect_out_like '
  --runner memory_efficient
    fits: the peak falls by 7389.00 MB, to 8277.65 MB
    each forward pass keeps 9443.50 MB less
    cost: one more forward pass in every step'

fit "$tiny" --recipe v1
expect_code 0
expect_err ''
expect_out_like '  DRAM: Segment Peak 996.02 MB, Allocations *, Segment Change +192.52 MB'
expect_out_like '  DRAM: Segment Peak 2513.25 MB, Allocations *, Segment Change +1662.63 MB'
expect_out_like 'Overall DRAM Peak: 8277.65 MB'
expect_out_like 'fits n150: 8277.65 MB of 12254.03 MB, 32.4 % free'
expect_out_like '  vocabulary 65, padded to 96:'

fit "$nano" --recipe v1
expect_code 0
expect_out_like 'Overall DRAM Peak: 2222.88 MB'
fit "$nano" --recipe v1 --runner memory_efficient
expect_out_like 'Overall DRAM Peak: 606.88 MB'

fit "$head"
expect_out_like 'recipe     head: '
expect_out_like 'Total parameters: 1100048384'
expect_out_like '--- FORWARD_PASS_micro_1 ---
  DRAM: Segment Peak 7641.*, Segment Change +7641.25 MB'

# If no single change is enough, several changes together are suggested. Each cost is on a line.
fit "$head" --batch 64
expect_code 1
expect_out_like 'micro steps for each optimizer step, each with batch *;
          one more forward pass in every step'

# All lines fit 80 columns, except the answer in the first line, the published summary and the
# sentence of the runtime.
fit "$tiny" --recipe v1 --runner default --kernel-binaries
wide=$(grep -v '^  DRAM: \|Out of Memory' "$work/out" | grep -v yaml | awk 'NR > 1 && length > 80')
[ -z "$wide" ] || fail "wider than 80 columns: $wide"
expect_out_like 'does not fit n150 (estimated)'

# With kernel binaries, each figure of the published memory-efficient run is met within 0.25 MB.
fit_json "$tiny" --recipe v1 --kernel-binaries
expect_jq '.estimated' 'true'
expect_jq '[.phases[0:4][].dram | .change_bytes, .cumulative_peak_bytes]
    + [.phases[2:4][].dram | .segment_peak_bytes, .cumulative_current_bytes]
    | [., [1863.25, 1907.25, 3708.76, 5572.01, 192.95, 6568.36, 1663.07, 8278.65,
           996.35, 5764.96, 2513.69, 7428.04]] | transpose
    | map(select((.[0] / 1048576 - .[1] | fabs) > 0.25))' '[]'

# The largest batch leaves little memory. SGD keeps its zeroed gradients.
fit_json "$nano" --recipe v1 --max batch
fit "$nano" --recipe v1 --batch "$(jq .max.value "$work/fit.json")"
expect_code 0
expect_out_like '  warning: less than 5 % is left'
fit "$tiny" --optimizer sgd
expect_sentence 'peak: 4908.15 MB in iteration 2, in linear_bw this peak is not in the summary above, which covers only the first iteration*4242.02 MB*2103.64 MB * mostly gradients'
expect_out_like '  only the first 16 iterations were checked: SGD replaces its buffers in every'
[[ $out != *ITERATION_2* ]] || fail "wanted no phase that the summary has not"

# The help page and docs/fit.md name the number of iterations that the program runs at most.
most=$(sed -n 's/.*TTS_ITERATIONS_MAX = \([0-9]*\).*/\1/p' "$source_dir/src/runtime/workload.h")
run "$ttscope" help fit
expect_sentence "stops when an iteration makes the same allocations as the iteration before, or after $most iterations."
grep -q "until one repeats the one before, at most $most" "$source_dir/docs/fit.md" ||
    fail "wanted docs/fit.md to say that $most iterations are run at most"

# Fragmentation is reported as such, and the memory of the banks as used.
fit "$nano" --recipe v1 --batch 359
expect_code 1
expect_sentence 'does not fit n150: 12152.05 MB of 12254.03 MB, but the free memory is in pieces * asks for * MB of each bank; * MB are free there, but at most * MB in one piece '
expect_out_like '
  each of the 12 banks needs '
fit "$head" --batch 100000 --optimizer adamwfullprecision
expect_out_like '
none of these changes makes it fit:
'

# More chips of the board are suggested. Changes that fit come before changes that do not.
sed 's/num_groups: 4/num_groups: 8/' "$work/tiny_model.yaml" >"$work/tp_model.yaml"
sed 's/tiny_model/tp_model/' "$work/tiny.yaml" >"$work/tp.yaml"
fit_json "$work/tp.yaml" --batch 2 --runner default --device t3k
expect_code 1
expect_jq '.suggestions | map(select(.change == "tensor_parallel")) | map([.options, .fits])' \
    '[["--tensor-parallel 2",true]]'
expect_jq '.suggestions | map(.fits) | . == (sort | reverse)' true
expect_jq '.suggestions | map(.fits or .saves_bytes * 100 >= .peak_bytes + .saves_bytes) | all' true
fit "$work/tp.yaml" --batch 8 --runner default --device t3k
expect_out_like '
changes that make it fit, sorted by their cost to the training:
  --runner memory_efficient
'
expect_out_like '
these changes are not enough:
  --batch 1 --accumulate 8
'

# A very long path gets an answer too, without the list of files in its folder.
mkdir -p "$work/dir" && touch "$work/dir/a.yaml"
run "$ttscope" fit "$work/$(printf './%.0s' {1..1348})dir"
expect_code 3
# A device with many chips does not slow down the search.
fit "$work/tp.yaml" --batch 8 --runner default --set chips=4294967295
expect_code 1

# The recipes of May need tensor parallel.
fit "$work/tp.yaml" --recipe may-c++
expect_code 2
expect_err_like "option '--recipe may-c++' is for tensor parallel runs: give '--tensor-parallel N'"
fit "$work/tp.yaml" --recipe may-c++ --tensor-parallel 8 --device t3k
expect_code 0
expect_out_like 'recipe     may-c++: nano_gpt (C++) of May 2026'

# --- where values come from ---------------------------------------------------------------

fit_json "$tiny" --recipe v1 --batch 4 --vocab 96 --optimizer adamw --accumulate 4 --seq 1024
expect_jq '.schema' '{"name":"ttscope.fit","version":1}'
expect_jq '.recipe' '"v1"'
expect_jq '.config.batch_size' '{"value":4,"source":"option","option":"--batch"}'
expect_jq '[.config[] | select(.source == "option") | .value]' '[1024,96,"AdamW",4,4]'
expect_jq '.config.num_blocks | [.value, .source, (.file | split("/") | last), .line]' \
    '[22,"file","tiny_model.yaml",4]'
expect_jq '.config.use_clip_grad_norm' '{"value":false,"source":"default"}'
expect_jq '.config.intermediate_dim | [.value, .source]' '[5632,"rule"]'
expect_jq '.config.positional_embedding_type' 'null'

# Recipe v1 takes the vocabulary of the tokenizer, recipe head that of the data.
fit_json "$tiny" --recipe v1
expect_jq '.config.vocab_size | [.value, .source]' '[65,"rule"]'
expect_jq '[.config.optimizer.value, .config.optimizer.reason]' '["MorehAdamW","use_moreh_adamw"]'
fit_json "$tiny"
expect_jq '.config.vocab_size | [.value, .source]' '[32000,"file"]'
expect_jq '.config.optimizer.value' '"AdamW"'
fit_json "$nano"
expect_jq '[.config.vocab_size.value, .padded_vocabulary]' '[65,96]'
changed nano.yaml 's/char/bpe/'
fit_json "$work/nano.yaml" --recipe v1
expect_jq '[.config.vocab_size.value, .padded_vocabulary]' '[50257,50272]'
fit_json "$work/nano.yaml" --recipe v1-python # whatever tokenizer the file names
expect_jq '[.config.vocab_size.value, .config.vocab_size.source]' '[65,"rule"]'
changed tiny.yaml '/moreh/d'
fit_json "$work/tiny.yaml" --recipe v1
expect_jq '.config.optimizer | [.value, .source]' '["AdamWComposite","default"]'
expect_jq '.config.kahan_summation' '{"value":false,"source":"default"}'
changed tiny.yaml 's/use_moreh_adamw/use_kahan_summation/'
fit_json "$work/tiny.yaml" --recipe v1
expect_jq '[.config.optimizer.value, .config.kahan_summation.value]' '["AdamWComposite",true]'

# Llama without dropout_prob has no dropout in C++ and 0.2 in Python.
changed tiny_model.yaml '/dropout/d'
fit_json "$work/tiny_model.yaml" --recipe v1
expect_jq '.config.dropout_prob' '{"value":false,"source":"default"}'
fit_json "$work/tiny_model.yaml" --recipe v1-python
expect_jq '.config.dropout_prob' '{"value":true,"source":"default"}'
fit_json "$work/tiny_model.yaml"
expect_jq '.config.dropout_prob' '{"value":true,"source":"default"}'
printf 'transformer_config:\n  model_type: llama\n' >"$work/bare.yaml"
fit_json "$work/bare.yaml"
expect_jq '[.config | .num_blocks, .embedding_dim, .num_heads, .num_groups, .max_sequence_length | .value]' \
    '[6,384,6,3,256]'
expect_jq '.config.vocab_size.value' '65'
cp "$configs/tiny_model.yaml" "$work"
changed tiny.yaml 's/use_moreh_adamw/use_no_op/'
fit_json "$work/tiny.yaml" --recipe v1
expect_jq '.config.optimizer | [.value, .reason]' '["NoOp","use_no_op"]'
fit_json "$head" --recipe v1
expect_jq '.config.optimizer | [.value, .source]' '["AdamW","file"]'

# A model file without a training file is enough.
fit_json "$configs/nano_model.yaml" --optimizer sgd --momentum 0.9 --clip --dropout 0
expect_code 0
expect_jq '[.training_file, .config.batch_size.value, .config.dropout_prob.value]' '[null,1,false]'
expect_jq '[.config.optimizer.value, .config.momentum.value, .config.use_clip_grad_norm.value]' \
    '["SGD",true,true]'
# The last of two opposite flags counts.
fit_json "$configs/nano_model.yaml" --clip --no-clip
expect_jq '.config.use_clip_grad_norm' '{"value":false,"source":"option","option":"--clip"}'
fit_json "$configs/nano_model.yaml" --no-clip --clip
expect_jq '.config.use_clip_grad_norm.value' true
run bash -c '"$0" fit - --json <"$1" | jq .fits' "$ttscope" "$configs/nano_model.yaml"
expect_out 'true'

# If data and tensor parallel are enabled, the first axis of the mesh is data parallel.
changed head.yaml 's/enable_ddp: false/enable_ddp: true\n  enable_tp: true/; s/\[1, 1\]/[2, 4]/'
fit_json "$work/head.yaml"
expect_jq '[.config.data_parallel.value, .config.tensor_parallel.value, .estimated]' '[2,4,true]'
fit_json "$work/head.yaml" --tensor-parallel 2
expect_jq '[.config.data_parallel.value, .config.tensor_parallel.value]' '[2,2]'
fit "$work/head.yaml" --recipe v1
expect_code 3
expect_err_like "enable_ddp and enable_tp are both true, but recipe 'v1' supports only one of them: set one of them to false"
changed head.yaml 's/enable_ddp: false/enable_tp: true/; s/\[1, 1\]/[1, 4]/'
fit_json "$work/head.yaml"
expect_jq '[.config.data_parallel.value, .config.tensor_parallel.value]' '[1,4]'
changed head.yaml 's/enable_ddp: false/enable_ddp: true/; s/\[1, 1\]/[2, 4]/'
fit "$work/head.yaml"
expect_code 3
expect_err_like 'head.yaml:16: mesh_shape ?2, 4? has two axes: set both enable_ddp and enable_tp to true'

changed head.yaml 's/enable_ddp: false/enable_ddp: true/; s/\[1, 1\]/[1, 2]/; s/size: 2/size: 7/'
fit "$work/head.yaml"
expect_code 3
expect_err_like ':16: the 2 chips of data parallel (mesh_shape) must divide the batch (7)'

# Unused chips get a note. A run that needs more chips than the device has does not fit.
changed head.yaml 's/\[1, 1\]/[1, 8]/'
fit "$work/head.yaml"
expect_err_like 'note: *head.yaml:16: mesh_shape ?1, 8? is ignored and one chip is modelled'
fit "$work/head.yaml" --tensor-parallel 2 --data-parallel 2
expect_err ''
expect_code 1
expect_out_like '
does not fit n150: the run needs 4 chips, the device has 1
  each chip would hold * MB (estimated) of its 12254.03 MB
  devices with 4 chips or more: t3k, galaxy, bh-quietbox, galaxy-blackhole
  each of the 12 banks needs '
[[ $out != *$'\nfits'* && $out != *'first allocation that fails'* ]] || fail "wanted no word of memory"
fit_json "$work/head.yaml" --tensor-parallel 2 --data-parallel 2
expect_code 1
expect_jq '[.fits, .fits_reason, .chips_needed, .device_chips, .placement.ok]' \
    '[false,"chips",4,1,true]'
expect_jq '.suggestions | map([.options, .fits])' '[["--device t3k",true]]'
fit "$work/head.yaml" --tensor-parallel 4 --batch 64 --device n300
expect_code 1
expect_out_like 'of its 12254.03 MB, which does
    not fit either
'
expect_out_like 'first allocation that fails: '
fit_json "$work/head.yaml" --tensor-parallel 4 --device n300 --max batch
expect_code 1
expect_jq '.max | [.value, .peak_bytes, .next]' '[0,null,null]'
fit "$work/head.yaml" --tensor-parallel 4 --device n300 --max batch
expect_out_like 'no batch fits n300: the device has too few chips'
fit "$work/head.yaml" --tensor-parallel 2 --device n300
expect_code 0
expect_out_like '
fits n300 (estimated): '
[[ $out != *'the run needs'* ]] || fail "wanted no word of chips"
cp "$head" "$work"

# A file of January gets a note, because the default recipe is of August. --recipe avoids the note.
fit "$tiny"
expect_err_like "note: *tiny.yaml:11: 'use_moreh_adamw' is ignored: the default recipe, 'head', does not read this key; *'--recipe v1'"
fit "$tiny" --recipe head
expect_err ''
fit "$head"
expect_err ''

# --- the JSON document --------------------------------------------------------------------

fit_json "$tiny" --recipe v1 --runner default
expect_code 1
expect_jq '[.fits, .fits_reason, .placement.ok, .estimated, .device, .max]' \
    '[false,"memory",false,false,"n150",null]'
expect_jq '[.phases[].name]' \
    '["MODEL_CREATION","OPTIMIZER_CREATION","FORWARD_PASS","BACKWARD_PASS","FIRST_ITERATION_COMPLETE"]'
expect_jq '[.phases[] | .l1] | unique' '[null]'
expect_jq '.l1_reason | length > 0' 'true'
expect_jq '(.phases | last | .dram.cumulative_peak_bytes) == .overall_dram_peak_bytes' 'true'
expect_jq '([.peak.parts[].bytes] | add) == .peak.bytes and .peak.bytes == .peak_bytes' 'true'
expect_jq '([.peak.activations[].bytes] | add) == (.peak.parts[] | select(.name == "activations") | .bytes)' 'true'
expect_jq '([.peak.activations[], .peak.others[]] | map(.bytes) | add) == .peak.bytes' 'true'
expect_jq '.placement.first_failure | [.kind, .pool, .phase, (.deficit_bytes > 0)]' \
    '["space","DRAM","FORWARD_PASS",true]'
expect_jq '.placement | .peak_bytes_per_bank > .bank_bytes' 'true'
expect_jq '.capacity_bytes == .placement.bank_bytes * .placement.banks' 'true'
expect_jq '[.suggestions[] | select(.fits)] | length > 0' 'true'
expect_jq '.suggestions[] | select(.change == "recompute") | [.options, .fits, .saves_bytes]' \
    '["--runner memory_efficient",true,7747928064]'

fit_json "$tiny" --recipe v1
expect_code 0
expect_jq '[.fits, .fits_reason, .placement.first_failure, .suggestions, .placement.failures]' \
    '[true,null,null,[],0]'
expect_jq '.placement | .peak_bytes_per_bank * .banks >= 8277 * 1048576' 'true'

# --- the largest batch and sequence that fit ----------------------------------------------

fit_json "$tiny" --recipe v1 --max batch
expect_code 0
largest=$(jq .max.value "$work/fit.json")
next=$(jq .max.next "$work/fit.json")
[ "$next" -eq $((largest + 1)) ] || fail "wanted the next batch behind $largest, got $next"
fit "$tiny" --recipe v1 --batch "$largest"
expect_code 0
fit "$tiny" --recipe v1 --batch "$next"
expect_code 1
fit "$tiny" --recipe v1 --runner default --max seq # the configured sequence does not fit
expect_code 0
expect_out_like 'does not fit n150: '
expect_out_like 'largest sequence that fits n150: '
expect_out_like ' does not fit: '
fit "$tiny" --recipe v1 --max batch --set dram_bank_size=128M
expect_code 1
expect_out_like 'no batch fits n150: the smallest batch needs 8277.65 MB of 1502.03 MB
  without --max, the command lists changes that would help'
fit "$nano" --recipe v1 --max batch
expect_out_like ' does not fit: 121*
  this size is below the capacity: buffers are rounded up to whole pages, and
    the free memory is in pieces; near this limit a smaller value may not fit
    either'

# --- recordings: a replay has the same peak -----------------------------------------------

fit_json "$nano" --recipe v1 --record "$work/nano.tts"
expect_code 0
peak=$(jq .placement.peak_bytes_per_bank "$work/fit.json")
run bash -c '"$0" replay --device n150 --json "$1" | jq ".devices[0].pools[0].peak_bytes"' \
    "$ttscope" "$work/nano.tts"
expect_out "$peak"
# L1 is unknown, not 0, in the recording as written and in the packed recording.
run "$ttscope" pack "$work/nano.tts" -o "$work/nano_packed.tts"
expect_code 0
for recording in nano nano_packed; do
    run "$ttscope" show "$work/$recording.tts"
    expect_code 0
    expect_out_like '
  devices    1 device, id 0
'
    expect_out_like '
phases: L1 of a core: unknown (the recorded run models DRAM only)
'
    expect_out_like '
fullest core: unknown (the recorded run models DRAM only)'
    run bash -c '"$0" show --json "$1" | jq -c "[.phases[].l1] + [.l1_reason, .core, .core_reason] | unique"' \
        "$ttscope" "$work/$recording.tts"
    expect_out '[null,"the recorded run models DRAM only"]'
    run bash -c '"$0" show --json --pool l1 "$1" | jq -c "[.peak | .bytes, .buffers, .live]"' \
        "$ttscope" "$work/$recording.tts"
    expect_out '[null,null,null]'
    run bash -c '"$0" show --json --at 9 "$1" | jq -c ".at.pools.L1.bytes, (.at.pools.DRAM.bytes > 0)"' \
        "$ttscope" "$work/$recording.tts"
    expect_out 'null
true'
done
run "$ttscope" show --at 9 --pool l1 "$work/nano.tts"
expect_out_like '
  L1               unknown
  L1_SMALL         unknown
'
expect_out_like '
L1: unknown (the recorded run models DRAM only)
'
run "$ttscope" show --pool l1_small "$work/nano.tts"
expect_out_like '
peak of L1_SMALL: unknown (the recorded run models DRAM only)
'
run "$ttscope" replay --device n150 "$work/nano.tts"
expect_out_like '
  L1           64         1393472         unknown
'
run bash -c '"$0" replay --device n150 --json "$1" | jq -c ".devices[0].pools[1] | [.peak_bytes, .fits]"' \
    "$ttscope" "$work/nano.tts"
expect_out '[null,null]'
fit "$work/nano.yaml" --record "$work/nano_model.yaml"
expect_code 2
expect_err_like "is an input: write the recording to another file"
fit "$nano" --record "$work/none/x.tts"
expect_code 3
expect_out ''

# --- mistakes: exit status 2 for options, 3 for files -------------------------------------

wrong_option() { # message, the options
    local said=$1
    shift
    fit "$tiny" "$@"
    expect_code 2
    expect_out ''
    expect_err_like "ttscope fit: $said"
}
wrong_value() { # option, value, message
    wrong_option "invalid value '$2' for '$1': $3" "$1" "$2"
}
wrong_value --runner memory "did you mean 'memory_efficient'?"
wrong_value --recipe v2 "did you mean 'v1'?"
wrong_value --optimizer lion 'expected AdamW, MorehAdamW, '
wrong_value --optimizer muon 'this optimizer is not modelled; to predict its memory, give '
wrong_value --max bach 'expected batch or seq'
for number in 0 -1 1e3 4294967296 999999999999999999999; do
    wrong_value --batch "$number" 'expected a whole number from 1 to 4294967295'
done
wrong_value --seq -4 'expected a whole number'
wrong_option "'--weights' needs '--inference'" -w bfp8
wrong_option "'--separate-head' needs '--inference'" --separate-head
wrong_value --dropout 1.5 'expected a number of at least 0 and less than 1, such as 0.1'
wrong_option "option '--seq' must be a multiple of 32" --seq 100
wrong_option "option '--heads' " --heads 33
wrong_option "option '--momentum' is for SGD only" --momentum 0.5
wrong_option "unknown option '--acumulate', did you mean '--accumulate'?" --acumulate 2
wrong_option "'--record' needs a file" --record -
wrong_option "no device is named 'n15', did you mean 'n150'?" --device n15
fit "$nano" --groups 3
expect_code 2
expect_err "ttscope fit: option '--groups' is for llama only, but the model is gpt2"
fit
expect_code 2
expect_err "ttscope fit: missing operand 'CONFIG' (see 'ttscope help fit')"

wrong_file() { # message, file, sed script
    changed "$2" "$3"
    fit "$work/${2/_model/}"
    cp "$configs/$2" "$work/$2"
    expect_code 3
    expect_out ''
    expect_err_like "$1"
}
wrong_file "tiny_model.yaml:6: 'num_heads' " tiny_model.yaml 's/num_heads: 32/num_heads: 33/'
wrong_file "tiny_model.yaml:8: 'max_sequence_length' must be a multiple of 32" \
    tiny_model.yaml 's/length: 2048/length: 2040/'
wrong_file "tiny.yaml:6: 'batch_size' " tiny.yaml 's/batch_size: 1/batch_size: 0/'
wrong_file 'tiny.yaml:6: ' tiny.yaml 's/batch_size: 1/batch_size: -1/'
wrong_file "tiny_model.yaml:3: unknown runner 'fast', expected default or memory_efficient" \
    tiny_model.yaml 's/memory_efficient/fast/'
wrong_file "tiny_model.yaml:11: unknown weight tying 'on', expected disabled or enabled" \
    tiny_model.yaml 's/disabled/on/'
wrong_file "head.yaml:10: unknown optimizer 'AdmaW', did you mean 'AdamW'?" head.yaml \
    's/AdamW/AdmaW/'
wrong_file "head.yaml:10: unknown optimizer 'adamw', did you mean 'AdamW'?" head.yaml \
    's/AdamW/adamw/'
wrong_file 'tiny.yaml:12: ' tiny.yaml 's/tiny_model.yaml/nowhere.yaml/'
wrong_file "num_head" tiny_model.yaml 's/num_heads/num_head/'
wrong_file 'tiny.yaml:' tiny.yaml 's/^  seed: 1/  seed: [1/'
wrong_file 'tiny_model.yaml:5: ' tiny_model.yaml 's/embedding_dim: .*/embedding_dim: 1152921504606846976/'
fit "$work/none.yaml"
expect_code 3
expect_err_like "none.yaml"

# An unknown key that is not close to a known key gets a note and is ignored.
changed tiny.yaml 's/^  seed: 1/  colour_of_the_logo: red/'
fit_json "$work/tiny.yaml"
expect_err_like "note: *tiny.yaml:4: key 'colour_of_the_logo' is unknown and ignored"
expect_jq .unknown_keys 1
changed tiny.yaml 's/^  seed: 1/  aa_bb: 1\n  cc_dd: 1\n  ee_ff: 1\n  gg_hh: 1/'
fit "$work/tiny.yaml"
expect_err_like "tiny.yaml:4: keys 'aa_bb', 'cc_dd', 'ee_ff' and 1 more are unknown and ignored"
cp "$tiny" "$work/tiny.yaml"

# --- runs that are not modelled -----------------------------------------------------------

not_modelled() { # message, file, sed script
    changed "$2" "$3"
    fit "$work/${2/_model/}"
    cp "$configs/$2" "$work/$2"
    expect_code 2
    expect_out ''
    expect_err_like "$1"
}
not_modelled "tiny_model.yaml:2: model type 'deepseek' is not modelled: the nearest modelled type is llama" \
    tiny_model.yaml 's/llama/deepseek/'
not_modelled "model type 'bert' is not modelled: only gpt2 and llama are" tiny_model.yaml \
    's/llama/bert/'
not_modelled "head.yaml:10: optimizer 'MuonWithAdamW' is not modelled: for an upper limit, give '--optimizer AdamW'" \
    head.yaml 's/AdamW/MuonWithAdamW/'
not_modelled 'head.yaml:15: FSDP is not modelled' head.yaml 's/enable_ddp: false/enable_fsdp: true/'
not_modelled 'head.yaml:15: context parallel is not modelled' head.yaml \
    's/enable_ddp: false/enable_cp: true/'
not_modelled 'a head_dim of 128 is not modelled' tiny_model.yaml \
    's/^  theta.*/  head_dim: 128/'
not_modelled 'the composite layernorm is not modelled' nano_model.yaml \
    "\$a\\  experimental:\n    use_composite_layernorm: true"
changed head.yaml 's/enable_ddp: false/enable_cp: false/'
fit "$work/head.yaml"
expect_code 1
not_modelled 'LoRA is not modelled' head.yaml "\$a\\lora_config:\n  rank: 8"
not_modelled 'head.yaml:3: LoRA is not modelled' head.yaml 's/seed: 1/lora_rank: 8/'
not_modelled 'tiny_model.yaml:12: LoRA is not modelled' tiny_model.yaml \
    's/^  theta.*/  use_peft: true/'

# The message about a model of another kind names its type.
printf 'mlp_config:\n  input_features: 784\n' >"$work/mlp.yaml"
printf 'training_config:\n  batch_size: 128\n  model_config: mlp.yaml\n' >"$work/mnist.yaml"
for file in mlp.yaml mnist.yaml; do
    fit "$work/$file"
    expect_code 2
    expect_out ''
    expect_err_like "mlp.yaml:1: model type 'mlp' is not modelled: only gpt2 and llama are"
done

# YAML anchors and merge keys are read.
sed 's/^transformer_config:/small: \&small {num_blocks: 2, embedding_dim: 512}\n&\n  <<: *small/
     /^  num_blocks/d' "$configs/tiny_model.yaml" >"$work/merged.yaml"
fit_json "$work/merged.yaml"
expect_code 0
expect_err ''
expect_jq '[.config.num_blocks.value, .config.num_blocks.line, .config.embedding_dim.value]' '[2,1,2048]'

# A config.json needs --inference, and the message says so. A file that does not exist gets the
# usual message.
fit "$configs/../fit_inference/tiny.json"
expect_code 3
expect_err_like "tiny.json: this is JSON: for the config.json of a model give '--inference'"
cp "$configs/../fit_inference/tiny.json" "$work/brace.json"
fit "$work/brace.json"
expect_err_like "brace.json: this is JSON: "
fit "$work/none.json"
expect_err_like "cannot read '"
mkdir -p "$work/model"
cp "$work/brace.json" "$work/model/config.json"
fit "$work/model"
expect_code 3
expect_err_like "model/config.json: this is JSON: for the config.json of a model give '--inference'"

# The message about a missing model file has its whole path and names the files of its folder.
mkdir -p "$work/run/models"
name=a/path/that/is/long/enough/to/have/been/cut/at/its/front/größe-äöü.yaml
printf 'training_config:\n  model_config: models/%s\n' "$name" >"$work/run/t.yaml"
fit "$work/run/t.yaml"
expect_code 3
expect_out ''
expect_err "ttscope fit: $work/run/t.yaml:2: no model file 'models/$name': searched the given path, the folder of this file and ../model_configs"
for i in 8 3 1 6 7 2 5 4; do : >"$work/run/models/m$i.yaml"; done
: >"$work/run/models/readme.txt"
sed -i 's,models/a/.*,models/größe.yaml,' "$work/run/t.yaml"
fit "$work/run/t.yaml"
expect_err "ttscope fit: $work/run/t.yaml:2: no model file 'models/größe.yaml': searched the given path, the folder of this file and ../model_configs; in '$work/run/models/' there are m1.yaml, m2.yaml, m3.yaml, m4.yaml, m5.yaml, m6.yaml and 2 more"
sed -i 's,models/,nowhere/,' "$work/run/t.yaml"
printf '' >"$work/run/other.yaml"
fit "$work/run/t.yaml"
expect_err_like "; in '$work/run/' there is other.yaml"
printf '{transformer_config: {model_type: llama}}' >"$work/flow.yaml"
fit "$work/flow.yaml"
expect_code 0

if [ -c /dev/full ]; then
    run sh -c '"$1" fit --recipe v1 "$2" >/dev/full' sh "$ttscope" "$tiny"
    expect_code 3
    expect_err 'ttscope fit: cannot write to standard output: no space left on the disk'
fi

# --- configurations of users --------------------------------------------------------------

users=$source_dir/../shared/data/configs
if [ -d "$users" ]; then
    for file in "$users"/*/*.yaml; do
        fit_json "$file"
        [ "$code" -le 1 ] || fail "wanted an answer"
        case $file in
        */v1/*) [[ -z $err || $err == *'does not read this key'* ]] || fail "wanted no more" ;;
        *) expect_err '' ;;
        esac
    done
    fit "$users/v1/training_shakespeare_tinyllama.yaml" --recipe v1
    expect_out_like 'Overall DRAM Peak: 8277.65 MB'
else
    echo "no configurations of users here, skipped"
fi

# --- the programs of the recipes ----------------------------------------------------------

cp "$configs"/*.yaml "$work"
wrong_v1() { # message, file, sed script: the C++ program has no default for the key
    changed "$2" "$3"
    fit "$work/${2/_model/}" --recipe v1
    cp "$configs/$2" "$work/$2"
    expect_code 3
    expect_out ''
    expect_err_like "$1"
}
wrong_v1 "tiny.yaml: 'batch_size' is missing" tiny.yaml '/batch_size/d'
wrong_v1 "nano_model.yaml: 'num_heads' is missing: the C++ program has no default for gpt2" \
    nano_model.yaml '/num_heads/d'
wrong_v1 "nano_model.yaml: 'model_type' is missing" nano_model.yaml '/model_type/d'

# The Python programs have a default for each key. The text lists the defaults.
printf 'transformer_config:\n  theta: 1\n' >"$work/bare_model.yaml"
printf 'training_config:\n  model_config: bare_model.yaml\n' >"$work/bare.yaml"
for recipe in v1-python head; do
    fit_json "$work/bare.yaml" --recipe $recipe
    expect_err ''
    expect_jq '[.config | .model_type, .num_blocks, .embedding_dim, .num_heads, .max_sequence_length,
        .dropout_prob, .batch_size | .value]' '["gpt2",6,384,6,256,true,64]'
    expect_jq '[.config | .model_type, .num_blocks, .embedding_dim, .num_heads, .max_sequence_length,
        .dropout_prob, .batch_size | .source] | unique' '["default"]'
done
fit "$work/bare.yaml"
expect_out_like 'defaults   model_type gpt2, num_blocks 6, embedding_dim 384, num_heads 6,'
expect_out_like 'batch_size 64'

# Without a training file the vocabulary is the vocab_size of the model file.
fit "$configs/tiny_model.yaml"
expect_code 0
expect_out_like 'vocabulary 32000: vocab_size of the model file
'

# If the training program refuses a run, the refusal comes first. The figures are those of the
# nearest run that the program accepts.
refused() { # reason, run that the figures are for, verdict, arguments
    local args=("${@:4}") flat
    fit "${args[@]}"
    expect_code 1
    flat=$(head -n 12 "$work/out" | tr -s '\n ' ' ') # the length of the path decides where lines break
    [[ $flat == "does not run: the training program refuses this configuration "*"$1"* ]] ||
        fail "wanted the refusal first: $1"
    [[ $flat == *" the figures below are for $2"* ]] || fail "wanted figures for: $2"
    expect_out_like "
if changed as stated at the top: $3 n150"
    [[ $out != *$'\nfits '* ]] || fail 'wanted no plain verdict'
    fit_json "${args[@]}"
    expect_code 1
    expect_jq '[.fits, .fits_reason, (.refused_by_program | length)]' '[false,"refused",1]'
}
sed '/data_path/d' "$tiny" >"$work/tiny.yaml"
refused "tiny_model.yaml:10: 'vocab_size' is 32000, but without data_path" \
    'a data_path that names a file of tokens (.yaml), with a vocabulary of 32000' fits "$work/tiny.yaml" --recipe head
expect_jq '.config.vocab_size.value' 32000
expect_jq '.refused_by_program[0] | [(.file | split("/") | last), .line]' '["tiny_model.yaml",10]'
sed 's/tokens.yaml/tokens.csv/' "$tiny" >"$work/tiny.yaml"
refused "'vocab_size' is 32000, but data_path does not" \
    'a data_path that names a file of tokens (.yaml), with a vocabulary of 32000' fits "$work/tiny.yaml" --recipe head
refused "nano_model.yaml:8: 'vocab_size' is 50257, but data_path names a text" \
    "'vocab_size' 0, a vocabulary of 65 characters" fits "$nano" --recipe head
expect_jq '.config.vocab_size.value' 65
changed head_model.yaml 's/vocab_size: .*/vocab_size: 0/; s/runner_type: .*/runner_type: memory_efficient/'
refused "head.yaml:7: data_path names a file of tokens, but 'vocab_size' is 0" \
    "text, with a vocabulary of 65 characters; for tokens give '--vocab N'" fits "$work/head.yaml"
changed head_model.yaml '/vocab_size/d'
refused "data_path names a file of tokens, but 'vocab_size' is missing" text fits "$work/head.yaml" \
    --runner memory_efficient
fit "$work/head.yaml" --vocab 32000 # the option replaces the rule that refuses
[[ $out != *'does not run'* ]] || fail 'wanted no refusal'
changed nano_model.yaml 's/vocab_size: .*/vocab_size: 65/'
fit "$work/nano.yaml"
expect_code 0
refused 'the program supports tensor parallel only for llama' 'gpt2 without tensor parallel' fits \
    "$work/nano.yaml" --tensor-parallel 2
expect_jq '[.config.tensor_parallel.value, .chips_needed]' '[1,1]'
cp "$configs"/*.yaml "$work"
refused 'the program cannot clip gradients with tensor parallel' 'the run without clipping' \
    'does not fit' "$head" --tensor-parallel 2 --clip --runner memory_efficient
expect_jq '.config.use_clip_grad_norm.value' false
sed 's/use_moreh_adamw: true/&\n  use_kahan_summation: true/' "$tiny" >"$work/tiny.yaml"
refused 'tiny.yaml:12: MorehAdamW has no Kahan summation' 'MorehAdamW without Kahan summation' fits \
    "$work/tiny.yaml" --recipe v1
expect_err ''
sed 's/type: AdamW/type: MorehAdamW\n    kahan_summation: true/' "$head" >"$work/head.yaml"
refused 'head.yaml:11: MorehAdamW has no Kahan summation' 'MorehAdamW without Kahan summation' fits \
    "$work/head.yaml" --runner memory_efficient
fit_json "$work/tiny.yaml" --recipe v1-python # this program warns and trains without Kahan sums
expect_code 0
expect_jq '.refused_by_program' null
cp "$configs"/*.yaml "$work"

# Recipe v1-python has one chip. gpt2 without biases is not modelled.
changed head.yaml 's/enable_ddp: false/enable_tp: true/; s/\[1, 1\]/[1, 4]/'
fit "$work/head.yaml" --recipe v1-python
expect_code 2
expect_out ''
expect_err_like "head.yaml:15: 'enable_tp' is not modelled: recipe v1-python runs on one chip"
fit_json "$work/head.yaml" --recipe v1-python --tensor-parallel 1
expect_jq '.config.tensor_parallel.value' 1
changed head.yaml 's/enable_ddp: false/enable_ddp: true/; s/\[1, 1\]/[1, 4]/'
fit "$work/head.yaml" --recipe v1-python
expect_code 2
expect_err_like "head.yaml:15: 'enable_ddp' is not modelled"
fit "$tiny" --recipe v1-python --data-parallel 2
expect_code 2
expect_err_like "option '--data-parallel': recipe v1-python runs on one chip"
# shellcheck disable=SC2016 # $ is the last line in sed
changed nano_model.yaml '$a\  bias: false'
for recipe in v1-python head; do
    fit "$work/nano.yaml" --recipe $recipe
    expect_code 2
    expect_err_like 'gpt2 without biases is not modelled; only gpt2 with biases is'
done
fit "$work/nano.yaml" --recipe v1 # this program does not read the key
expect_code 0
# shellcheck disable=SC2016 # $ is the last line in sed
changed nano_model.yaml '/model_type/d; $a\  bias: false'
fit "$work/nano.yaml"
expect_code 2
expect_err_like 'gpt2 without biases is not modelled'
cp "$configs"/*.yaml "$work"

# Kahan summation and amsgrad are ignored, with a note, if the optimizer does not have them.
changed tiny.yaml 's/use_moreh_adamw/use_kahan_summation/'
fit_json "$work/tiny.yaml" --recipe v1 -o AdamW
expect_err ''
expect_jq '[.config.optimizer.value, .config.kahan_summation.value]' '["AdamW",true]'
with_kahan=$(jq '.phases[1].dram.change_bytes' "$work/fit.json")
fit_json "$work/tiny.yaml" --recipe v1-python -o AdamW
expect_err_like "note: *tiny.yaml:*: 'use_kahan_summation' is ignored: AdamW has no such setting in recipe v1-python"
expect_jq '.config.kahan_summation' 'null'
[ "$with_kahan" -gt "$(jq '.phases[1].dram.change_bytes' "$work/fit.json")" ] ||
    fail 'wanted more state with Kahan sums'
fit "$work/tiny.yaml" --recipe v1 -o MorehAdamW
expect_code 1
expect_out_like 'does not run: * MorehAdamW has no Kahan summation'
changed head.yaml 's/amsgrad: false/amsgrad: true/'
fit_json "$work/head.yaml"
expect_err ''
expect_jq '.config.amsgrad.value' 'true'
for optimizer in AdamWComposite AdamWFullPrecision; do
    fit_json "$work/head.yaml" -o $optimizer
    expect_jq '.config.amsgrad.value' 'true'
done
fit_json "$work/head.yaml" -o MorehAdamW
[ "$code" -le 1 ] || fail 'wanted an answer'
expect_err_like "note: *head.yaml:*: 'amsgrad' is ignored: MorehAdamW has no such setting in recipe head"
expect_jq '.config.amsgrad' 'null'
fit "$work/head.yaml" --recipe v1
[ "$code" -le 1 ] || fail 'wanted an answer'
expect_err_like "'amsgrad' is ignored: AdamW has no such setting in recipe v1"
cp "$configs"/*.yaml "$work"

# A wrong number is refused: no rule replaces it. The same is true for a probability.
wrong_file "tiny_model.yaml:*: 'intermediate_dim' must be at least 1, but is 0" tiny_model.yaml \
    's/^  theta.*/  intermediate_dim: 0/'
wrong_file "tiny_model.yaml:*: 'dropout_prob' must be a decimal number of at least 0 and less than 1, but is '1.5'" \
    tiny_model.yaml 's/dropout_prob: .*/dropout_prob: 1.5/'

# A message about a run that is not modelled comes before a message about a missing key.
no_model() { # message, lines of the file
    printf 'training_config:\n  batch_size: 1\n%b' "$2" >"$work/no_model.yaml"
    fit "$work/no_model.yaml"
    expect_code 2
    expect_out ''
    expect_err_like "$1"
}
no_model 'no_model.yaml:3: GRPO is not modelled' '  grpo_config:\n    group_size: 4\n'
no_model 'no_model.yaml:3: LoRA is not modelled' 'lora_config:\n  rank: 8\n'
no_model 'no_model.yaml:4: FSDP is not modelled' 'device_config:\n  enable_fsdp: true\n'
no_model 'no_model.yaml:4: context parallel is not modelled' 'device_config:\n  enable_cp: true\n'
no_model 'mixtures of experts are not modelled' 'device_config:\n  moe_axis: [0]\n'
no_model 'pipeline parallel is not modelled' 'multihost_config:\n  enabled: true\n'
