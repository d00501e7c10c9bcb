#!/usr/bin/env bash
# `ttscope show --follow`: shows a recording while it is written.
# shellcheck disable=SC2016 # await expands what it is given
. "$(dirname "$0")/lib.sh"
child=$TTS_BUILD_DIR/tests/record_child
command -v jq >/dev/null || exit 77

# Several writers and readers run at the same time, because each waits for seconds. None inherits
# the pipes of the others.
start() { # name, bytes of a black box: a writer that tells what it is asked for
    mkfifo "$work/$1.in"
    "$child" step "$work/$1.tts" "$2" <"$work/$1.in" >"$work/$1.told" 7>&- 8>&- 9>&- &
    writer=$!
}
await() { # what has to be true soon
    for _ in {1..100}; do
        eval "$1" 2>/dev/null && return
        sleep 0.05
    done
    fail "waited in vain for: $1"
}
follow() { # name of the output, options and file
    "$ttscope" show --follow "${@:2}" >"$work/$1.out" 2>"$work/$1.err" 7>&- 8>&- 9>&- &
    reader=$!
}

start run 0
exec 7>"$work/run.in"
echo 1000 >&7
await 'grep -q "told 1000" "$work/run.told"'
follow text "$work/run.tts"
text_pid=$reader
follow json --json "$work/run.tts"
json_pid=$reader
TERM=xterm script -qec "stty rows 5 cols 160; '$ttscope' show -f '$work/run.tts'" /dev/null \
    </dev/null >"$work/screen.out" 7>&- &
screen_pid=$!
follow stop "$work/run.tts"
stop=$reader

start killed 0
killed=$writer
exec 8>"$work/killed.in"
echo 10 >&8
await 'grep -q "told 10" "$work/killed.told"'
follow killed "$work/killed.tts"
orphan=$reader

# A black box whose data was all overwritten before the next read.
start box 4194304
exec 9>"$work/box.in"
echo 1000 >&9
await 'grep -q "told 1000" "$work/box.told"'
follow box "$work/box.tts"
box_pid=$reader

for name in text json stop killed box; do
    await '[ -s "$work/$name.out" ]'
done
await '[ -s "$work/screen.out" ]'
kill -9 "$killed"
{ wait "$killed"; } 2>/dev/null
run tail -n 1 "$work/stop.out"
expect_out_like " s, event 1000: DRAM 107 KiB in 51 buffers, peak DRAM 111 KiB at event 997"
kill -TERM "$stop"
wait "$stop"
code=$?
expect_code 0

echo 2000 >&7
echo 1500000 >&9
await '[ "$(wc -l <"$work/text.out")" -ge 2 ]'
await '[ "$(wc -l <"$work/json.out")" -ge 2 ]'
await 'grep -aq "3000 events" "$work/screen.out"'
echo 5 >&7
exec 7>&- 9>&-

# The command ends with the recording, and prints the same as show.
ran='show --follow'
for pair in "text $text_pid" "json $json_pid" "screen $screen_pid" "box $box_pid"; do
    name=${pair% *}
    wait "${pair#* }"
    code=$?
    out=$(tail -n 5 "$work/$name.out")
    err=$(cat "$work/$name.err" 2>/dev/null)
    expect_code 0
    expect_err ''
done
run sed -n 2p "$work/text.out"
expect_out_like " s, event 3000: DRAM "
run "$ttscope" show "$work/run.tts"
expect_out_like 'events     3005'
printf '%s' "$out" >"$work/wanted"
run tail -n "$(wc -l <<<"$out")" "$work/text.out"
expect_out "$(cat "$work/wanted")"
run jq -r '"\(.schema.name) \(.event) \(.pools.DRAM.buffers) \(.peak.event)"' "$work/json.out"
expect_out_like 'ttscope.show.follow 1000 51 997
ttscope.show.follow 3000 51 2977
'
run tail -n 1 "$work/json.out"
expect_out_like '{"schema": {"name": "ttscope.show", "version": 1}, "file": '
run jq -s '.[-1].source.events' "$work/json.out"
expect_out 3005

# On a terminal the screen stays in place: the command uses four of five lines and erases them at
# the end.
run cat -v "$work/screen.out"
expect_out_like 'run.tts: recording, pid *, 3000 events'
[[ $out == *'^[[4A^[[J'* ]] || fail 'wanted it to go four lines up'
[[ $out != *'bytes now'* ]] || fail 'wanted no more than the screen has'

# A black box is read to its end, although blocks are overwritten meanwhile.
run cat "$work/box.out"
expect_out_like 'black box'
expect_out_like 'state      ended normally'
expect_out_like ' of 1501000, '
expect_out_like 'begins in the middle'

wait "$orphan"
code=$?
err=$(cat "$work/killed.err") out=$(cat "$work/killed.out")
expect_code 0
expect_err "ttscope show: $work/killed.tts: the recorded program (pid $killed) no longer runs and did not close the recording; all events that it recorded are shown"
expect_out_like 'events     10 in'
exec 8>&-

# A file that does not grow is shown once. The command does not wait for a file that does not
# exist.
"$ttscope" pack "$work/run.tts" -o "$work/packed.tts" >/dev/null
run "$ttscope" show "$work/packed.tts"
printf '%s' "$out" >"$work/wanted"
run "$ttscope" show --follow "$work/packed.tts"
expect_code 0
expect_out "$(cat "$work/wanted")"
run "$ttscope" show --follow "$work/none.tts"
expect_code 3
expect_err "ttscope show: cannot read '$work/none.tts': no such file or directory"
run "$ttscope" show --follow -
expect_code 2
run "$ttscope" show --follow --at 3 "$work/run.tts"
expect_code 2
