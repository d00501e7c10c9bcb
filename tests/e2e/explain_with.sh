#!/usr/bin/env bash
# `ttscope explain --with`: the same figures as `show --at`, whatever the way of the file; damaged
# files.
. "$(dirname "$0")/lib.sh"
loop=$TTS_BUILD_DIR/tests/example_tracked_loop_c
command -v jq >/dev/null || exit 77
cd "$work" || exit 1

explain() { # arguments
    run "$ttscope" explain --json "$@"
    jq '.failures[0].holders' "$work/out" >holders.json || fail "wanted JSON"
}

# Expects the buffers that `show --at` lists after the same event.
expect_show() { # recording
    local event pool
    event=$(jq .event holders.json)
    pool=$(jq -r '.pool | ascii_downcase' holders.json)
    "$ttscope" show "$1" --at "$event" --pool "$pool" --json --top 0 >show.json
    diff <(jq -c '[.buffers, .bytes]' holders.json) \
        <(jq -c '.at | [.buffers, .buffers_bytes]' show.json) ||
        fail "wanted the sums of show --at $event"
    diff <(jq -c '.ops[] | [.op, .buffers, .bytes]' holders.json | sort) \
        <(jq -c '.at.by_op[] | [.op, .buffers, .bytes]' show.json | sort) ||
        fail "wanted the operations of show --at $event"
}

# ---- real failures of the modelled device ----
for scale in 185 190 210 220 250 300; do
    "$loop" --scale "$scale" --record loop.tts >"$work/out" 2>loop.log
    explain loop.log --with loop.tts
    expect_code 0
    expect_show loop.tts
    # The message has the allocator's own figures.
    got=$(jq -c '.failures[0] | [.allocated_bytes, .largest_free_bytes]' "$work/out")
    wanted=$(jq -c '[.bytes_per_bank, .largest_piece.bytes]' holders.json)
    [ "$got" = "$wanted" ] || fail "wanted the figures of the message: $got, got: $wanted"
    [ "$(jq -r '.moment, .is_complete' holders.json | xargs)" = "refusal true" ] ||
        fail "wanted the refused request"
done

# ---- pipes and packed files give the same ----
cp holders.json wanted.json
same() { # arguments
    explain "$@"
    expect_code 0
    diff <(jq 'del(.file)' wanted.json) <(jq 'del(.file)' holders.json) ||
        fail "wanted the same buffers"
}
same loop.log --with <(cat loop.tts)
"$ttscope" pack loop.tts -o packed.tts >"$work/out" 2>&1
same loop.log --with packed.tts
code=0
"$ttscope" explain --json loop.log --with - <loop.tts >"$work/out" || code=$?
jq '.failures[0].holders' "$work/out" >holders.json
diff <(jq 'del(.file)' wanted.json) <(jq 'del(.file)' holders.json) || fail "wanted the same buffers"

# ---- another run ----
"$loop" --scale 200 --record other.tts >"$work/out" 2>&1
explain loop.log --with other.tts
expect_code 5
expect_err_like "other.tts: the file does not have this failure"
[ "$(jq -c '[.moment, .is_same_run, .smallest_enough]' holders.json)" = \
    '["last_allocation",false,null]' ] || fail "wanted the last allocation, and no judgement"
expect_show other.tts

# ---- files that are cut or damaged: an answer with exit code 5, or none with 3 ----
size=$(stat -c %s loop.tts)
answers=0
for bytes in 0 1 100 4095 4096 4097 4200 4400 4700 5000 $((size - 1)); do
    head -c "$bytes" loop.tts >cut.tts
    run "$ttscope" explain loop.log --with cut.tts
    if [ "$code" -eq 3 ]; then
        expect_out ""
    else
        [ "$code" -eq 5 ] || [ "$code" -eq 0 ] || fail "wanted exit code 0, 3 or 5"
        answers=$((answers + 1))
    fi
    [ "$code" -eq 0 ] || expect_err_like "cut.tts"
done
[ "$answers" -gt 0 ] || fail "wanted answers from cut files"

# ---- a trace that is cut after the moment ----
json=$source_dir/tests/golden/explain/fragmentation.json
message=$source_dir/tests/golden/explain/fragmentation.txt
head -c -120 "$json" >cut.json
explain "$message" --with cut.json
expect_code 5
expect_err_like "cut.json:"
[ "$(jq -c '[.moment, .is_complete]' holders.json)" = '["same_bytes",true]' ] ||
    fail "wanted the moment before the cut"
explain "$message" --with "$json"
expect_code 0
expect_show "$json"
