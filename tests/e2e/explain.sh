#!/usr/bin/env bash
# `ttscope explain` with inputs that users have, and the short answers of `analyze` and `show`.
. "$(dirname "$0")/lib.sh"
golden=$(realpath "$source_dir/tests/golden/explain")
logs=$(realpath "$source_dir/tests/e2e/analyze")
source_dir=$(realpath "$source_dir")
cd "$work" || exit 1

expect_none() { # name
    expect_code 1
    expect_out ''
    expect_err_like "no failure message found in $1"
    expect_err_like "ttscope knows the runtime's messages about memory that is full, circular buffers, traces"
}

# ---- no failure ----

printf 'step 1\nloss 2.0\n' >good.log
run "$ttscope" explain good.log
expect_none "'good.log'"
: >empty.log
run "$ttscope" explain empty.log
expect_none "'empty.log': the text is empty"
head -c 100000 "$ttscope" >binary
run "$ttscope" explain binary
expect_none "'binary': the file is not a text"
run "$ttscope" explain "it is all fine"
expect_none "the text"
run "$ttscope" explain --json good.log
expect_code 1
run "$ttscope" explain .
expect_code 3
expect_err "ttscope explain: cannot read '.': is a directory"
run "$ttscope" explain trian.log
expect_code 3
expect_err "ttscope explain: cannot read 'trian.log': no such file, and no failure message"

# Source code and documentation quote the sentences without numbers.
run "$ttscope" explain "$source_dir/src/sources/failure/failtemplate.c"
expect_none "'$source_dir"
run "$ttscope" explain "$source_dir/src/cli/pages/explain.scd"
expect_none "'$source_dir"
run "$ttscope" explain "$source_dir/docs/design/failure-message.md"
expect_none "'$source_dir"
cat >quoted.cpp <<'CPP'
TT_FATAL(false, "Out of Memory: Not enough space to allocate {} B {} buffer across {} banks, where each bank needs to "
         "store {} B, but bank size is {} B (allocated: {} B, free: {} B, largest free block: {} B)", size, type);
TT_THROW("Statically allocated circular buffers in program {} clash with L1 buffers on core range {}. L1 buffer "
         "allocated at {} and static circular buffer region ends at {}", id, range, lowest, end);
TT_THROW("Statically allocated circular buffers on core range {} grow to {} B which is beyond max L1 size of {} B", a, b);
TT_FATAL(ok, "Creating trace buffers of size {}B on MeshDevice {}, but only {}B is allocated for trace region.", a, b, c);
log_warning(tt::LogMetal, "Allocating device buffers is unsafe due to the existence of an active trace. These buffers");
"Found {} device buffer(s) still alive before trace replay. These will be corrupted on replay."
raise RuntimeError(f"Out of Memory: Not enough space to allocate {size} B DRAM buffer across {banks} banks")
printf("Program size (%zu) too large for kernel config buffer (%u) on %s", size, max, type);
The error `Out of Memory: Not enough space to allocate N B T buffer across N banks, where each bank needs to store N B` means
Out of Memory: Cannot allocate at an address below N. Allocation at N
std::regex("Out of Memory: Not enough space to allocate (\\d+) B (\\w+) buffer across (\\d+) banks")
CPP
run "$ttscope" explain quoted.cpp
expect_none "'quoted.cpp'"

# ---- bad messages ----

run "$ttscope" explain "Out of Memory: Not enough space to allocate 340787"
expect_none "the text"
run "$ttscope" explain "Out of Memory: Not enough space to allocate 3407872 B L1 buffer across 4 ba"
expect_code 0
expect_out_like "the message is cut off"
run "$ttscope" explain "Out of Memory: Not enough space to allocate 99999999999999999999 B DRAM buffer across 12 banks, where each bank needs to store 99999999999999999999 B, but bank size is 1070773184 B (allocated: 1003628544 B, free: 67144640 B, largest free block: 67140352 B)"
expect_code 0
expect_out_like "the message has a number that does not fit in 64 bits"
run "$ttscope" explain "$golden/contradictory.txt"
expect_code 0
expect_out_like "the figures contradict each other"
expect_out_like "DRAM is fragmented"
run "$ttscope" explain --json "Out of Memory: Not enough space to allocate 12000 B DRAM buffer across 12 banks, where each bank needs to store 950 B, but bank size is 1000 B (allocated: 400 B, free: 500 B, largest free block: 500 B)"
expect_code 0
[ "$(jq -c '.failures[] | [.verdict, .is_contradictory, .deficit_bytes]' <<<"$out")" = '[null,true,null]' ] ||
    fail "wanted no verdict"

# Three types of tiles may explain a bank.
run "$ttscope" explain "Out of Memory: Not enough space to allocate 557056 B L1 buffer across 8 banks, where each bank needs to store 69632 B"
expect_code 0
expect_sentence "4096 B (fp32), 2048 B (bf16) or 1088 B (bfp8): all match"

# The advice to free a buffer has the command that names the buffers, if the text is a file.
commands() { # arguments
    "$ttscope" explain --json "$@" | jq -c '[.failures[].advice[].command | select(. != null)]'
}
cat "$golden/clash.txt" "$golden/fragmentation.txt" >find.log
[ "$(commands find.log)" = '["ttscope explain find.log --with RECORDING","ttscope explain find.log --line 2 --with RECORDING","ttscope devices p100"]' ] ||
    fail "wanted the commands that find the buffers: $(commands find.log)"
[ "$(commands - <"$golden/clash.txt")" = '[]' ] || fail "wanted no command for a pipe"
[ "$(commands "$golden/svc.txt")" = '[]' ] || fail "wanted no command for a service core"
run "$ttscope" explain "$(cat "$golden/clash.txt")"
[[ $out != *RECORDING* && $out != *'names the buffers'* ]] || fail "wanted no command for words"

# ---- several failures ----

# The answer comes first. The table is in the order of the lines, not of the kinds of failures.
cat "$golden/clash.txt" "$golden/capacity.txt" >two.log
run "$ttscope" explain two.log
expect_code 0
[ "${out%%$'\n'*}" = "the circular buffers of a program reach into an L1 buffer: 70.8 KiB too far" ] ||
    fail "wanted the answer as the first line"
[ "$(grep -c '70.8 KiB too far' <<<"$out")" = 1 ] || fail "wanted the answer once"
expect_out_like "failure *circular buffers clash*out of memory *the first failure:*message*two.log, line 1"
run "$ttscope" explain --all two.log
[ "${out%%$'\n'*}" = "the circular buffers of a program reach into an L1 buffer: 70.8 KiB too far" ] ||
    fail "wanted the answer as the first line with --all"

# ---- the short answers ----

# The three commands agree in every number: in a log, compressed, and through a pipe.
agree() { # log
    "$ttscope" explain --json "$1" 2>/dev/null | jq -c '.failures' >explained
    run "$ttscope" show --json "$1"
    expect_code 0
    [ "$(jq -c '.failures' <<<"$out")" = "$(cat explained)" ] || fail "show and explain differ in '$1'"
    cat "$logs/one_run.log" "$1" >both.log
    run "$ttscope" analyze --json --logs both.log
    [ "$(jq -c '.logs[0].failures | map(del(.line, .last_line, .op_line, .op, .op_source, .advice[].command))' <<<"$out")" = \
        "$(jq -c 'map(del(.line, .last_line, .op_line, .op, .op_source, .advice[].command))' explained)" ] ||
        fail "analyze and explain differ in '$1'"
    [ "$(jq -c '.logs[0].failures' <<<"$out")" = "$("$ttscope" explain --json both.log | jq -c '.failures')" ] ||
        fail "analyze and explain differ in '$1' after a summary"
}
for log in "$golden"/*.txt; do
    cat "$log" && echo
done >all.log
agree all.log
agree "$golden/run.log"
corpus=${TTSCOPE_CORPUS:-$source_dir/../shared/data}
for log in "$corpus"/logs/tt-metal_sharded_norm_grid_probe_rect.log "$corpus"/logs/tt-xla_zimage_b_prefix_full_decoder_oom.log; do
    [ ! -r "$log" ] || agree "$log"
done
cp "$golden/run.log" run.log
gzip -k run.log
# The commands name the file as it was given.
run sh -c '"$1" show --json run.log.gz' sh "$ttscope"
[ "$(jq -c '.failures' <<<"$out")" = "$("$ttscope" explain --json run.log.gz | jq -c '.failures')" ] ||
    fail "show differs for a compressed log"
[ "$(jq -c '.failures | map(del(.advice[].command))' <<<"$out")" = \
    "$("$ttscope" explain --json run.log | jq -c '.failures | map(del(.advice[].command))')" ] ||
    fail "show differs for a compressed log"
run sh -c '"$1" show --json - <run.log' sh "$ttscope"
[ "$(jq -c '.failures' <<<"$out")" = "$("$ttscope" explain --json - <run.log | jq -c '.failures')" ] ||
    fail "show differs for a pipe"
run sh -c 'cat run.log | "$1" show -' sh "$ttscope"
expect_code 0
expect_sentence "failure in line 3 of the log: DRAM is fragmented: * 4.69 MiB short*give the log to 'ttscope explain'"
sed 's/^/[rank3]: /' run.log >rank.log
run "$ttscope" show rank.log
expect_code 0
expect_sentence "failure in line 3 of rank.log: DRAM is fragmented"

# A warning is no failure; a failure before the last summary is not the end of the log.
run "$ttscope" show "$golden/unsafe.txt"
expect_code 3
expect_err "ttscope show: $golden/unsafe.txt: is neither a recording (.tts) nor a graph trace (JSON)"
run "$ttscope" show "$logs/one_run.log"
expect_code 3
expect_err_like "is a log with 1 memory summary and without a failure: use 'ttscope analyze'"
cat run.log "$logs/one_run.log" >first.log
run "$ttscope" analyze --logs first.log
expect_code 0
[[ $out != *'failure in line'* ]] || fail "wanted no failure after the last summary"
run "$ttscope" analyze --json --logs first.log
[ "$(jq -c '.logs[0] | [.failure_line, (.failures | length)]' <<<"$out")" = '[null,2]' ] || fail "wanted 2 failures"
cat run.log "$logs/one_run.log" "$golden/clash.txt" >middle.log
run "$ttscope" analyze --logs middle.log
expect_code 0
expect_sentence "the circular buffers of a program reach into an L1 buffer: 70.8 KiB too far"
expect_sentence "ttscope explain middle.log --line "
line=$(sed -n 's/.*--line //p' <<<"$out")
run "$ttscope" explain middle.log --line "$line"
expect_code 0
expect_out_like "70.8 KiB too far"
run "$ttscope" analyze --logs run.log
expect_code 3
expect_err_like "ttscope analyze: run.log:3: DRAM is fragmented"
expect_err_like "why, and what to change: ttscope explain run.log"

# ---- more failures than are kept ----

for ((i = 0; i < 2050; i++)); do
    echo "Out of Memory: Cannot allocate at an address below 1000000. Allocation at $i"
done >many.log
run "$ttscope" explain many.log
expect_code 0
expect_sentence "only the first 2048 different failures are explained; 2 messages of other failures are only counted"
expect_sentence "2047 more failures: '--all' explains these failures"
run "$ttscope" explain --all many.log
expect_code 0
expect_sentence "only the first 2048 different failures are explained; 2 messages of other failures are only counted"
run "$ttscope" explain --json many.log many.log
expect_code 0
[ "$(jq -c '[(.failures | length), .failures_max, .messages_left_out]' <<<"$out")" = '[4096,2048,4]' ] ||
    fail "wanted 2048 failures of each text, and 4 other messages"
expect_err_like "only the first 2048 different failures are explained; 2 messages of other failures are only counted"
run "$ttscope" explain --json run.log
[ "$(jq -c '[.failures_max, .messages_left_out]' <<<"$out")" = '[2048,0]' ] || fail "wanted no other messages"
