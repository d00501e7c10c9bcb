#!/usr/bin/env bash
# Runs `ttscope fit --inference` as users do, on config.json files and on tt-train files.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

data=$source_dir/tests/e2e/fit_inference
fit() { run "$ttscope" fit --inference "$@"; }

# Checks a value in the JSON document of the last run. The path is like largest.batch.
expect_json() {
    local got
    got=$(python3 -c 'import functools, json, sys
print(json.dumps(functools.reduce(lambda at, key: at[int(key) if isinstance(at, list) else key],
                                  sys.argv[2].split("."), json.load(open(sys.argv[1])))))' \
        "$work/out" "$1" 2>&1)
    [ "$got" = "$2" ] || fail "wanted $1 to be $2, got $got"
}

# 8 billion parameters in bf16 do not fit 12 GB.
fit "$data/llama-8b.json" --length 8192 --prefill 8192
expect_code 1
expect_err ""
expect_out_like "llama: 8030261248 parameters"
expect_out_like "embedding       bf16        1002.00 "
expect_out_like "attention       bf16        2560.00 "
expect_out_like "mlp             bf16       10752.00 "
expect_out_like "norms           bf16          16.25 "
expect_out_like "head            bf16        1002.00 "
expect_out_like "kv_cache        bf16        1024.00 "
expect_out_like "activations     bf16         935.83 * estimated upper bound, one chunk"
expect_out_like "total                      17296.08"
expect_out_like "does not fit n150: 17296.08 MB of 12254.03 MB
  rounded up to whole pages on 12 banks: 17299.97 MB, 5045.94 MB too much
  first allocation that fails: attention of layer 27
    Out of Memory: Not enough space to allocate 33554432 B DRAM buffer across 12 banks"
expect_out_like "largest context at batch 1: none"
expect_out_like "largest batch at a context of 8192: none"
expect_out_like "L1: unknown (circular-buffer sizes are not modelled)"
expect_out_like "rope            bf16           4.00   < 0.1 %"
expect_out_like "
changes that make it fit:
  --weights bfp8
    fits: 10586.39 MB
  --weights bfp8 --cache bfp8
    fits: 10106.39 MB
  --weights bfp4 --cache bfp8
    fits: 6527.89 MB

these changes are not enough:
  --prefill 128
    does not fit: 16382.58 MB
"
wide=$(grep -v 'Out of Memory' "$work/out" | awk 'NR > 1 && length > 80')
[ -z "$wide" ] || fail "wider than 80 columns: $wide"

# Suggestions name only lighter dtypes. If a part has an option of its own, the suggestion uses
# the options of the parts.
fit "$data/llama-8b.json" --length 131072 --batch 8 -w bfp8 -c bfp8 --json
expect_code 1
expect_json suggestions.0.options '"--weights bfp4"'
expect_json suggestions.0.fits false
fit "$data/llama-8b.json" --length 8192 --attention-weights bf16 --mlp-weights bfp8 --batch 8
expect_code 1
expect_out_like "
  --attention-weights bfp8 --head-weights bfp8
    does not fit: "
expect_out_like "
  --attention-weights bfp4 --mlp-weights bfp4 --head-weights bfp4 --cache bfp8
    fits: "
fit "$data/llama-8b.json" --length 131072 --batch 64 -w bfp4 -c bfp8 --json
expect_json suggestions '[]'

# In bfp8 the weights fit. One token or sequence more than the largest that fits does not fit.
eight=(-w bfp8 --cache bfp8 --prefill 2048)
fit "$data/llama-8b.json" --length 8192 "${eight[@]}"
expect_code 0
expect_out_like "embedding       bf16        1002.00 "
expect_out_like "attention       bfp8        1360.00 "
expect_out_like "head            bfp8         532.31 "
expect_out_like "kv_cache        bfp8         544.00 "
expect_out_like "fits n150: "
fit "$data/llama-8b.json" --length 8192 "${eight[@]}" --json
expect_code 0
length=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["largest"]["context"])' <"$work/out")
batch=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["largest"]["batch"])' <"$work/out")
[ "$length" -gt 8192 ] || fail "wanted more than what fits"
fit "$data/llama-8b.json" --length "$length" "${eight[@]}"
expect_code 0
expect_out_like "largest context at batch 1: $length tokens"
fit "$data/llama-8b.json" --length $((length + 1)) "${eight[@]}"
expect_code 1
fit "$data/llama-8b.json" --seq 8192 --batch "$batch" "${eight[@]}"
expect_code 0
expect_out_like "largest batch at a context of 8192: $batch
"
fit "$data/llama-8b.json" --seq 8192 --batch $((batch + 1)) "${eight[@]}"
expect_code 1

# The dtype of a part counts more than --weights, whatever the order of the options.
fit "$data/llama-8b.json" --mlp-weights bfp4 --weights bfp8 --attention-weights bf16 \
    --embedding-weights bfp8 --head-weights bfp4 --length 32 --json
expect_code 0
expect_json parts.0.dtype '"bfp8"'
expect_json parts.0.bytes 558170112
expect_json parts.1.dtype '"bf16"'
expect_json parts.2.dtype '"bfp4"'
expect_json parts.2.bytes 3170893824
expect_json parts.4.dtype '"bfp4"'
expect_json parts.5.dtype '"bf16"'

# A model of 1 billion parameters fits a n150 with its whole context, because prefill goes in
# chunks. The text also has the upper bound for a prefill of the whole context at once.
fit "$data/llama-1b.json"
expect_code 0
expect_out_like "context 131072 tokens in blocks of 32, prefill in chunks of 2048
  (default)"
expect_out_like "
fits n150: 6624.96 MB of 12254.03 MB
"
expect_sentence "counted: weights, KV cache and the prefill of one chunk of 2048 tokens (the default; '--prefill N' changes it) not counted: if all 131072 tokens were prefilled at once, the activations would need up to 8199.83 MB instead of 135.83 MB; the total of up to 14688.96 MB may not fit"
[[ $out != *warning* ]] || fail "wanted no warning: half of it is free"
fit "$data/llama-1b.json" --json
expect_code 0
expect_json fits true
expect_json fits_reason null
expect_json config.prefill 2048
expect_json config.prefill_is_default true
expect_json whole_prefill_bound.tokens 131072
expect_json whole_prefill_bound.fits false
expect_json whole_prefill_bound.total_bytes 15402485760
# If a prefill of the whole context is asked for, the first suggestion is a smaller chunk.
fit "$data/llama-1b.json" --prefill 131072
expect_code 1
expect_out_like "
changes that make it fit:
  --prefill 65536
    fits: 10592.96 MB
  --weights bfp8 --cache bfp8
    fits: 11898.96 MB
  --weights bfp4 --cache bfp8
    fits: 11434.96 MB

these changes are not enough:
  --weights bfp8
    does not fit: 13818.96 MB
"
[[ $out != *'not counted: a prefill'* ]] || fail "wanted no bound besides: it was asked for"
fit "$data/llama-1b.json" --prefill 65536
expect_code 0
# Near the limit there is the same warning as in training.
fit "$data/llama-1b.json" --batch 2 --length 131072 --prefill 20000
expect_code 0
expect_out_like "
  warning: less than 5 % is left for programs, traces and other users
"

# The JSON document has all fields.
fit "$data/llama-8b.json" --length 8192 --prefill 8192 --json
expect_code 1
expect_json schema '{"name": "ttscope.fit_inference", "version": 1}'
expect_json device '"n150"'
expect_json capacity_bytes 12849278208
expect_json fits false
expect_json total_bytes 18136254464
expect_json model.parameters 8030261248
expect_json model.positions 131072
expect_json config.length 8192
expect_json config.prefill 8192
expect_json config.prefill_is_default false
expect_json whole_prefill_bound.total_bytes 18136254464
expect_json parts.7 '{"name": "activations", "bytes": 981286912, "dtype": "bf16", "estimated": true}'
expect_json parts.8 '{"name": "trace_region", "bytes": 0, "dtype": null, "estimated": false}'
expect_json placement.ok false
expect_json placement.banks 12
expect_json placement.bank_bytes 1070773184
expect_json placement.first_failure.part '"attention"'
expect_json placement.first_failure.layer 27
expect_json placement.first_failure.kind '"space"'
expect_json placement.first_failure.largest_free_bytes 330688
expect_json placement.first_failure.deficit_bytes $((1366 * 2048 - 330688))
expect_json largest.context null
expect_json largest.batch null
expect_json l1 null
expect_json l1_reason '"L1 is unknown: ttscope fit does not model the circular buffers of the operations"'

# A file without a type is taken as llama, and the text says so. The positions of the model are
# the default context and the largest one.
fit "$data/tiny.json"
expect_code 0
expect_out_like "llama (assumed, the file does not say): 1100048384 parameters"
expect_out_like "context 2048 tokens in blocks of 32, prefill in chunks of 2048
  (default)"
expect_out_like "largest context at batch 1: 2048 tokens, the limit of the model"
expect_sentence "one chunk of 2048 tokens (the whole context; by default a chunk has at most 2048)"
whole=$out
run sh -c '"$1" fit --inference - <"$2"' sh "$ttscope" "$data/tiny.json"
expect_code 0
expect_out "$whole"
cp "$data/tiny.json" "$work/no_extension"
fit "$work/no_extension"
expect_out "$whole"

# Some types imply biases, norms or tied weights that no key names.
fit "$data/qwen3.json" --length 4096 --json
expect_code 0
expect_json model.parameters 596049920
expect_json model.tied true
expect_json parts.4.bytes 0
fit "$data/qwen3.json" --length 4096 --separate-head --json
expect_json model.parameters 596049920
expect_json parts.4.bytes 311164928
sed 's/"qwen3"/"qwen2"/; /head_dim/d' "$data/qwen3.json" >"$work/qwen2.json"
fit "$work/qwen2.json" --length 4096 --json
expect_json model.parameters $((151936 * 1024 + 1024 +
    28 * (2 * 1024 * (1024 + 512) + 3 * 1024 * 3072 + 2 * 1024 + 1024 + 2 * 512)))
sed 's/"qwen3"/"gemma"/; /tie_word/d' "$data/qwen3.json" >"$work/gemma.json"
fit "$work/gemma.json" --length 4096 --json
expect_json model.tied true
sed 's/"qwen3"/"mistral"/; /tie_word/d; s/"head_dim"/"attention_bias": true, "head_dim"/' \
    "$data/qwen3.json" >"$work/mistral.json"
fit "$work/mistral.json" --length 4096 --json
expect_json model.tied false
plain=$((2 * 151936 * 1024 + 1024 + 28 * (2 * 1024 * (2048 + 1024) + 3 * 1024 * 3072 + 2 * 1024)))
expect_json model.parameters $plain
sed 's/"mistral"/"llama"/' "$work/mistral.json" >"$work/llama.json"
fit "$work/llama.json" --length 4096 --json
expect_json model.parameters $((plain + 28 * (2048 + 2 * 1024 + 1024)))

# The trace region reduces the memory of the banks. It comes from an option or from the device.
fit "$data/tiny.json" --trace-region 95693824 --json
expect_json parts.8.bytes $((12 * 7979008))
expect_json placement.bank_bytes 1062794176
expect_json config.trace_region_bytes 95693824
fit "$data/tiny.json" --set trace_region=95693824 --json
expect_json parts.8.bytes $((12 * 7979008))

# With tensor parallel all sizes are those of one chip and estimated.
fit "$data/llama-8b.json" --length 8192 --tensor-parallel 2 --device n300
expect_code 0
expect_out_like "tensor parallel on 2 chips; all figures below are per chip"
expect_out_like "mlp             bf16        5376.00 * estimated"
expect_sentence ", buffers for the exchange between chips"
expect_out_like "fits n300 (estimated): "
[[ $out != *'the run needs'* ]] || fail "wanted no word of chips"
fit "$data/llama-8b.json" --length 8192 --tensor-parallel 8 --device n300
expect_code 1
expect_out_like "
does not fit n300: the run needs 8 chips, the device has 2
  each chip would hold 2148.73 MB (estimated) of its 12254.03 MB
  devices with 8 chips or more: t3k, galaxy, galaxy-blackhole
  each of the 12 banks needs "
[[ $out != *'largest context'* ]] || fail "wanted no largest context: none fits"
fit "$data/llama-8b.json" --length 8192 --tensor-parallel 8 --device t3k
expect_code 0
fit "$data/llama-8b.json" --length 8192 --tensor-parallel 8 --json
expect_code 1
expect_json fits false
expect_json fits_reason '"chips"'
expect_json placement.ok true
expect_json largest.context null
expect_json chips_needed 8
expect_json device_chips 1
expect_json estimated true

# A model file of tt-train is read.
fit "$data/gpt2s.yaml"
expect_code 0
expect_out_like "gpt2: 124439808 parameters"
expect_out_like "50257,*tied"
expect_sentence "give '--separate-head' to count it"
[[ $out != *rope* ]] || fail "wanted no rope"
sed 's/max_seq/positional_embedding_type: fixed\n  max_seq/' "$data/gpt2s.yaml" >"$work/fixed.yaml"
fit "$work/fixed.yaml"
expect_out_like "gpt2: $((124439808 - 1024 * 768)) parameters"
fit "$data/gpt2s.yaml" --vocab 96
expect_out_like " 96, tied"
sed '/vocab_size/d' "$data/gpt2s.yaml" >"$work/chars.yaml"
fit "$work/chars.yaml"
expect_out_like "vocabulary: the characters of the Shakespeare text (vocab_size is not set)"
printf '%s\n' 'transformer_config:' '  model_type: llama' '  intermediate_dim: 640' >"$work/small.yaml"
fit "$work/small.yaml"
expect_code 0
expect_sentence "6 layers of width 384, 6 heads of width 64, 3 k/v heads; MLP width 640, vocabulary 65"

# The batch and the mesh of a training file are not used, with a note.
cp "$data/gpt2s.yaml" "$work"
printf '%s\n' 'training_config:' '  batch_size: 64' '  model_config: gpt2s.yaml' \
    'device_config:' '  mesh_shape: [1, 8]' >"$work/train.yaml"
fit "$work/train.yaml"
expect_code 0
expect_err_like "note: *train.yaml:2: 'batch_size' and 'mesh_shape' are not used for inference"
fit "$work/train.yaml" --batch 2 --tensor-parallel 2
expect_err ''
fit "$work/train.yaml" --tensor-parallel 2
expect_err_like "train.yaml:2: 'batch_size' is not used for inference: give '--batch'"

# A message about a file has the file, the line, the key and the allowed values.
bad() { # SED CODE TEXT
    sed "$1" "$data/llama-8b.json" >"$work/bad.json"
    fit "$work/bad.json"
    expect_code "$2"
    expect_out ""
    expect_err_like "$3"
}
bad 's/4096/0/' 3 "bad.json:5: 'hidden_size' must be at least 1, but is 0"
bad 's/heads": 8/heads": 5/' 3 "bad.json:9: 'num_key_value_heads' must divide the 32 heads, but is 5"
bad 's/heads": 32/heads": 24/' 3 "bad.json:8: 'num_attention_heads' must divide 'hidden_size' (4096), but is 24"
bad 's/128256/4503599627370496/' 3 \
    "bad.json:14: 'vocab_size' is 4503599627370496, which is too large: the model would need 2^63 bytes or more"
bad 's/131072/4503599627370496000/' 3 \
    "bad.json:10: 'max_position_embeddings' is 4503599627370496000, which is too large"
bad 's/layers": 32/layers": 20000/' 3 "bad.json:7: 'num_hidden_layers' must be at most 16384"
bad 's/128256/-5/' 3 "bad.json:14: 'vocab_size' must be"
bad '/hidden_size/d' 3 "'hidden_size'"
bad '/max_position/d' 3 "'max_position_embeddings' is missing: give '--length N'"
bad 's/"llama",/"llama"/' 3 "bad.json:4: "
bad 's/"llama"/"deepseek_v3"/' 2 "'deepseek_v3' is not modelled: the latent attention*the nearest modelled type is 'llama'"
bad 's/"llama"/"gemma2"/' 2 "'gemma2' is not modelled: *the nearest modelled type is 'gemma'"
bad 's/"llama"/"qwen2_5_vl"/' 2 "'qwen2_5_vl' is not modelled; the nearest modelled type is 'qwen2'"
bad 's/"llama"/"lama"/' 2 "'lama' is not modelled; the nearest modelled type is 'llama'"
bad 's/"llama"/"whatever"/' 2 "'whatever' is not modelled; the modelled types are llama, mistral, qwen2"
# A type that is not modelled is refused, even if other keys are missing.
for type in falcon gemma3_text qwen3_next mlp; do
    bad "s/\"llama\"/\"$type\"/; /intermediate_size/d; /num_attention_heads/d" 2 \
        "bad.json: model_type '$type' is not modelled"
done
printf '{"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "hidden_size": 2560}}' \
    >"$work/gemma3.json"
fit "$work/gemma3.json"
expect_code 2
expect_err_like "model_type 'gemma3_text' is not modelled"
# Keys that the plan does not use are listed.
sed 's/"vocab/"sliding_window": 4096, "quantization_config": {"bits": 4, "quant_method": "awq"}, "vocab/' \
    "$data/llama-8b.json" >"$work/window.json"
fit "$work/window.json" --length 8192
expect_code 1
expect_out_like "
not used: sliding_window 4096; the KV cache is counted for the whole context
not used: quantization_config (awq); weights are counted in the dtypes above,
  which '--weights' changes
"
fit "$work/window.json" --length 4096 --json
expect_json unused_keys '[{"key": "quantization_config", "value": "awq", "reason": "weights are counted in the dtypes above, which '"'--weights'"' changes"}]'
sed -i 's/"sliding/"use_sliding_window": false, "sliding/' "$work/window.json"
fit "$work/window.json" --length 8192
[[ $out != *sliding_window* ]] || fail "wanted no window: it is off"
fit "$data/tiny.json" --json
expect_json unused_keys '[]'
bad 's/"vocab/"num_local_experts": 8, "vocab/' 2 \
    "bad.json:14: 'num_local_experts' belongs to a mixture of experts"

bad_yaml() { # SED CODE TEXT
    sed "$1" "$data/gpt2s.yaml" >"$work/bad.yaml"
    fit "$work/bad.yaml"
    expect_code "$2"
    expect_out ""
    expect_err_like "$3"
}
bad_yaml 's/blocks: 12/blocks: 0/' 3 "bad.yaml:6: 'num_blocks' must be at least 1, but is 0"
bad_yaml 's/heads: 12/heads: 7/' 3 "bad.yaml:3: 'num_heads' must divide 'embedding_dim' (768), but is 7"
bad_yaml 's/gpt2/deepseek/' 2 "bad.yaml:2: model type 'deepseek' is not modelled: the nearest modelled type is llama"
bad_yaml 's/"enabled"/"maybe"/' 3 \
    "bad.yaml:8: unknown weight tying 'maybe', expected disabled or enabled"

# Mistakes on the command line are reported.
usage() { # TEXT OPTION...
    fit "$data/tiny.json" "${@:2}"
    expect_code 2
    expect_out ""
    expect_err_like "$1"
}
usage "invalid value '0' for '--batch': expected a whole number from 1 to 4294967295" --batch 0
usage "invalid value '9223372036854775808' for '--batch': " --batch 9223372036854775808
usage "invalid value '1k' for '--seq': expected a whole number" --seq 1k
usage "'--max' and '--inference' cannot be combined" --max batch
usage "'--runner' and '--inference' cannot be combined" -r default
usage "'--kernel-binaries' and '--inference' cannot be combined" -k
usage "'--length' must be at most 2048, the number of positions of the model, but is 4096" --length 4096
usage "'--block' must be a multiple of 32, but is 16" --block 16
usage "invalid value 'fp8' for '--weights': expected bf16, bfp8 or bfp4" --weights fp8
usage "'--tensor-parallel' must divide the 32 heads, but is 3" --tensor-parallel 3
usage "'--trace-region': invalid value '1x'" --trace-region 1x
usage "'--trace-region': 'trace_region' takes" --trace-region 100G
usage "did you mean 'n150'" --device n155
usage "did you mean '--weights'" --wieghts bf16
usage "one operand too many" "$data/qwen3.json"
fit "$data/llama-8b.json" --batch 4294967295
expect_code 2
expect_out ""
expect_err_like "'--batch' is 4294967295, which is too large: the model would need 2^63 bytes or more"
run "$ttscope" fit --inference
expect_code 2
expect_err_like "missing operand 'CONFIG'"
fit - --device -
expect_code 2
expect_err_like "standard input cannot be both"
for name in none.json none.yaml; do
    fit "$work/$name"
    expect_code 3
    expect_err_like "ttscope fit: cannot read '$work/$name': no such file or directory; in '$work/' there are "
done

# A folder stands for its config.json.
mkdir -p "$work/models/one" "$work/models/none"
cp "$data/tiny.json" "$work/models/one/config.json"
fit "$data/tiny.json"
whole=$out
for folder in "$work/models/one" "$work/models/one/"; do
    fit "$folder"
    expect_code 0
    expect_out "$whole"
done
fit "$work/models/one" --json
expect_json file "\"$work/models/one/config.json\""
fit "$work/models/none"
expect_code 3
expect_err "ttscope fit: '$work/models/none' is a folder without a config.json"
: >"$work/models/none/model.json"
fit "$work/models/none"
expect_err "ttscope fit: '$work/models/none' is a folder without a config.json; in '$work/models/none' there is model.json"
fit "$work/models/one/konfig.json"
expect_err "ttscope fit: cannot read '$work/models/one/konfig.json': no such file or directory; in '$work/models/one/' there is config.json"
if [ -c /dev/full ]; then
    for form in --json --block=32; do
        run sh -c '"$1" fit --inference "$2" "$3" >/dev/full' sh "$ttscope" "$data/tiny.json" $form
        expect_code 3
        expect_err "ttscope fit: cannot write to standard output: no space left on the disk"
    done
fi

# --- a file is read once, its first byte tells its form -----------------------------------

fit "$data/tiny.json"
whole=$out
mkfifo "$work/fifo.json" "$work/fifo"
for fifo in fifo.json fifo; do
    cat "$data/tiny.json" >"$work/$fifo" &
    run timeout 20 "$ttscope" fit --inference "$work/$fifo"
    expect_code 0
    expect_out "$whole"
done
run bash -c '"$0" fit --inference <(cat "$1")' "$ttscope" "$data/tiny.json"
expect_out "$whole"
fit "$data/gpt2s.yaml"
whole=$out
run bash -c '"$0" fit --inference - <"$1"' "$ttscope" "$data/gpt2s.yaml"
expect_code 0
expect_out "$whole"
run bash -c '"$0" fit --inference <(cat "$1")' "$ttscope" "$data/gpt2s.yaml"
expect_out "$whole"
printf ' \n\t{"hidden_size": }' >"$work/blank"
fit "$work/blank"
expect_code 3
expect_err_like "blank:2: "
printf 'hidden_size: 1\n' >"$work/not.json"
fit "$work/not.json"
expect_code 3
expect_err_like "not.json:1: "

# --- a tt-train file is read as recipe head reads it --------------------------------------

bad_yaml 's/  max_seq/  bias: false\n  max_seq/' 2 \
    "gpt2 without biases is not modelled; only gpt2 with biases is"
bad_yaml 's/  max_seq/  head_dim: 32\n  max_seq/' 2 "a head_dim of 32 is not modelled"
bad_yaml 's/  max_seq/  moe_type: dense\n  max_seq/' 2 "mixtures of experts are not modelled"
bad_yaml 's/max_sequence_length: .*/max_sequence_length: 0/' 3 \
    "bad.yaml:*: 'max_sequence_length' is 0: give '--length N'"
bad 's/131072/0/' 3 "bad.json:10: 'max_position_embeddings' is 0: give '--length N'"
sed 's/vocab_size: .*/vocab_size: 0/' "$data/gpt2s.yaml" >"$work/none.yaml"
fit "$work/none.yaml"
expect_code 0
expect_out_like "vocabulary 65, tied"
expect_out_like "vocabulary: the characters of the Shakespeare text (vocab_size is not set)"
rm "$work/none.yaml"
sed 's/  max_seq/  colour: red\n  max_seq/' "$data/gpt2s.yaml" >"$work/unknown.yaml"
fit "$work/unknown.yaml"
expect_code 0
expect_err_like "note: *unknown.yaml:*: key 'colour' is unknown and ignored"
printf 'transformer_config:\n  theta: 1\n' >"$work/bare.yaml"
fit "$work/bare.yaml"
expect_code 0
expect_out_like "gpt2 (assumed, the file does not say): "
expect_out_like "6 layers of width 384, 6 heads of width 64"
printf 'transformer_config:\n  model_type: llama\n  intermediate_dim: 0\n' >"$work/zero.yaml"
fit "$work/zero.yaml"
expect_code 3
expect_err_like "zero.yaml:3: 'intermediate_dim' must be at least 1, but is 0"
printf 'training_config:\n  batch_size: 1\nlora_config:\n  rank: 8\n' >"$work/no_model.yaml"
fit "$work/no_model.yaml"
expect_code 2
expect_err_like "no_model.yaml:3: LoRA is not modelled"

# --- keys that only some config.json files have -------------------------------------------

bad 's/"vocab/"kv_lora_rank": 512, "vocab/' 2 "bad.json:14: 'kv_lora_rank' belongs to latent attention"
bad 's/"vocab/"q_lora_rank": 1536, "vocab/' 2 "'q_lora_rank' belongs to latent attention"
bad 's/"vocab/"num_experts": "8", "vocab/' 2 "'num_experts' belongs to a mixture of experts"
bad 's/"vocab/"mlp_bias": true, "vocab/' 2 "'mlp_bias' is not modelled; only an MLP without biases is"
bad 's/hidden_size/n_embd/; /model_type/d' 2 \
    "bad.json:4: 'n_embd' belongs to GPT2, whose config.json is not supported; use a tt-train YAML"
bad 's/hidden_size/n_embd/' 2 "'n_embd' belongs to GPT2"
bad 's/hidden_size/n_embd/; s/"llama"/"gpt2"/' 2 "model_type 'gpt2' is not modelled: the config.json of this type uses other keys"
sed 's/"vocab/"n_embd": 1, "mlp_bias": false, "kv_lora_rank": null, "vocab/' "$data/llama-8b.json" \
    >"$work/good.json"
fit "$work/good.json" --length 8192
expect_code 1
expect_out_like "llama: 8030261248 parameters"
needs() { # TYPE KEY
    sed "s/\"llama\"/\"$1\"/; /\"$2\"/d" "$data/llama-8b.json" >"$work/bad.json"
    fit "$work/bad.json"
    expect_code 3
    expect_out ""
    expect_err_like "bad.json: '$2' is missing: a model of type $1 needs this key"
}
for type in mistral qwen2 qwen3 gemma; do
    needs $type num_key_value_heads
done
needs qwen3 head_dim
needs gemma head_dim
