#!/usr/bin/env bash
# show, export and replay agree about the missing parts of a file: the same exit code and the same
# wording, on stderr and in their output.
. "$(dirname "$0")/lib.sh"
make=$TTS_BUILD_DIR/tests/make_recording
command -v jq >/dev/null || { echo "skipped: there is no jq" && exit 77; }
cd "$work" || exit 1

show() { run "$ttscope" show --json "$1"; }
replay() { run "$ttscope" replay --json --device p150 "$1"; }
rows() { run "$ttscope" export --to json "$1"; }
chrome() { run "$ttscope" export --to chrome "$1"; }

# Prints the messages except notes, without the name of the command.
said() { sed -n '/: note: /d; s/^ttscope [a-z]*: //p' <<<"$err"; }

# Prints the missing parts that the last output lists, with the line number in a field or before
# the text.
missing() { # command
    case $1 in
    show | replay) jq -r '(.missing[] | "\(.line) \(.text)"), "partial: \(.partial)"' out ;;
    rows) jq -r 'select(.kind == "partial" or .kind == "damage") | .message' out ;;
    chrome) jq -r '.otherData | .missing // ["complete: \(.complete)"] | .[]' out ;;
    esac
}

# Checks that each command ends with this code and prints these lines, each after the file name,
# and that its output lists them.
agree() { # file, code, lines
    local command list texts is_partial=true
    [ -n "$3" ] || is_partial=false
    list=$(sed "/^$/d; s/^$1: \(.*\)/null \1/; s/^$1:\([0-9]*\): \(.*\)/\1 \2/" <<<"$3")
    list=${list:+$list$'\n'}"partial: $is_partial"
    texts=$(sed "s/^$1: //; s/^$1:\([0-9]*\): /line \1: /" <<<"$3")
    for command in show replay rows chrome; do
        [ "$command" != chrome ] || [ "$2" -eq 5 ] || [ "$1" = run.tts ] || continue
        $command "$1"
        expect_code "$2"
        [ "$(said)" = "$3" ] || fail "wanted on stderr, behind the command: $3"
        case $2$command in
        3*) expect_out "" ;;
        ?show | ?replay) [ "$(missing $command)" = "$list" ] || fail "wanted as missing: $list" ;;
        0chrome) [ "$(missing $command)" = "complete: true" ] || fail "wanted it to be complete" ;;
        *) [ "$(missing $command)" = "$texts" ] || fail "wanted as missing: $texts" ;;
        esac
    done
}

# ---- recordings ----

for scene in run killed stopped missed box tight; do
    "$make" $scene.tts $scene || exit 1
done
agree run.tts 0 ""
agree killed.tts 0 ""
# A black box is a complete answer for show and export. Whether its lost events fit is unknown.
for command in show rows; do
    $command box.tts
    expect_code 0
    [ -z "$(said)" ] || fail "wanted nothing missing"
done
agree tight.tts 5 "tight.tts: 7 buffers (4096 bytes) from before the first event are not in the file, because the black box (a recording of fixed size) had no room for them; the real memory use may be higher than shown"
agree missed.tts 5 "missed.tts: 5 events were dropped before they were recorded"
agree stopped.tts 5 "stopped.tts: the recording stopped because the disk was full; 17 later events are missing"

story() { # file; a story on standard input
    "$make" "$1" story || exit 1
}
story most.tts <<<$'alloc 0 0 1 2048 2048 0\nmissed 18446744073709551615\nmissed 1'
agree most.tts 5 "most.tts: 18446744073709551615 events were dropped before they were recorded"
story one.tts <<<$'alloc 0 0 1 2048 2048 0\nmissed 1\nstopped 1 5'
agree one.tts 5 "one.tts: 1 event was dropped before it was recorded
one.tts: the recording stopped because its file could not be written: input/output error; 1 later event is missing"
# Recordings of a recorder that stopped, and of one that was killed before it stored the number
# of dropped events.
story none.tts <<<$'alloc 0 0 1 2048 2048 0\nstopped 0 0'
agree none.tts 5 "none.tts: the recording stopped before the program ended; later events are missing"
story late.tts <<<$'behind 5\nalloc 0 0 1 2048 2048 0'
agree late.tts 5 "late.tts: buffers that were live before the first recorded event may be missing"

# One good copy of the state is enough.
spoil() { # file, offset
    printf '\xa5\x5a\xa5' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
cp run.tts state.tts
spoil state.tts 2056
agree state.tts 0 ""
spoil state.tts 2120
agree state.tts 5 "state.tts: the recorded end state is damaged; the recording may be incomplete"

# Damage: everything before it is printed, and its place once. If nothing precedes it, nothing is
# printed.
"$make" long.tts random 80000 5 || exit 1
size=$(stat -c %s long.tts)
cp long.tts bad.tts
spoil bad.tts $((size * 9 / 10))
show bad.tts
[[ $(said) =~ ^bad.tts:\ block\ [0-9]+\ at\ byte\ ([0-9]+)\ is\ damaged:\ .*\;\ only\ the\ [0-9]+\ events\ before\ the\ damage\ were\ read$ ]] ||
    fail "wanted the damage and its place, once"
agree bad.tts 5 "$(said)"
head -c $((size * 9 / 10)) long.tts >cut.tts
show cut.tts
[[ $(said) == "cut.tts: block "*" at byte "*"; only the "*" events before the damage were read" ]] || fail "wanted where it is cut"
agree cut.tts 5 "$(said)"
cp run.tts first.tts
spoil first.tts 4200
show first.tts
[[ $(said) == "first.tts: block 0 at byte 4096 is damaged: "* ]] || fail "wanted the damage and its place"
agree first.tts 3 "$(said)"
head -c 100 run.tts >head.tts
agree head.tts 3 "head.tts: the file ends at byte 100, inside the header of 4096 bytes"

# ---- graph traces ----

head=$'[\n{"counter":0,"node_type":"capture_start"}'
printf '%s]' "$head" >whole.json
agree whole.json 0 ""
printf '%s,{"counter":1,"node_type":"function_start","params":{"name":"f"}}]' "$head" >open.json
agree open.json 0 ""
printf '%s,\n{"counter":1,"node_type":"new"},{"counter":2,"node_type":"new"},{"counter":4,"node_type":"tensor"}]' \
    "$head" >new.json
agree new.json 5 "new.json:3: unknown node_type 'new' (the first of 2 places)
new.json:3: the 'counter' of a node differs from the position of the node"
# Cut off before any event: the part that was understood is printed.
printf '%s,\n{"counter":' "$head" >start.json
agree start.json 5 "start.json:3: the JSON ends too early: expected a value; no event could be read"
printf '[\n{"counter":' >nothing.json
agree nothing.json 3 "nothing.json:2: the JSON ends too early: expected a value"
printf '[1]' >number.json
agree number.json 3 "number.json:1: not a graph trace: the first element is not a node"
# A trace may begin with a byte order mark and more blanks than a page of memory has.
printf '\xef\xbb\xbf%5000s%s]' "" "$head" >blank.json
agree blank.json 0 ""

# ---- a file that does not exist ----

agree nothing-there 3 "cannot read 'nothing-there': no such file or directory"
agree . 3 "cannot read '.': is a directory"
: >empty
printf 'hello\n' >text
for command in show rows; do
    $command empty
    expect_code 3
    [ "$(said)" = "empty: is empty" ] || fail "wanted it to be empty"
    $command text
    expect_code 3
    [ "$(said)" = "text: is neither a recording (.tts) nor a graph trace (JSON)" ] ||
        fail "wanted it to be neither"
done
replay text
expect_code 3
[[ $(said) == "text:1: "* ]] || fail "wanted the line"
run sh -c '"$1" show - <.' sh "$ttscope"
expect_code 3
expect_err "ttscope show: cannot read standard input: is a directory"
run sh -c '"$1" export --to csv - <text' sh "$ttscope"
expect_code 3
expect_err "ttscope export: <stdin>: is neither a recording (.tts) nor a graph trace (JSON)"
run sh -c '"$1" replay --device p150 - <start.json' sh "$ttscope"
expect_code 5
expect_err "ttscope replay: <stdin>:3: the JSON ends too early: expected a value; no event could be read"

# ---- damage with good blocks after it ----

# A black box of three blocks, each with a keyframe: events 29 to 58, 59 to 88, 89 to 117.
flip() { # from, to, byte
    local byte
    cp "$1" "$2"
    byte=$(od -An -tu1 -j "$3" -N 1 "$2")
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\x$(printf %02x $((byte ^ 16)))" | dd of="$2" bs=1 seek="$3" conv=notrunc status=none
}
blocks=$source_dir/fuzz/corpus/recording/box.tts
flip "$blocks" first.tts 8300
agree first.tts 5 "first.tts: block 1 at byte 8192 is damaged: the checksum of the content is wrong; 30 events after event 28 are missing"
show first.tts
[ "$(jq -c '.source | [.events, .first_event, .missing_events, .state]' out)" = '[59,59,30,"not_ended"]' ] ||
    fail "wanted the events after the first block"
[ "$(jq .at_least out)" = true ] || fail "wanted figures that are at least"
run "$ttscope" show first.tts
expect_out_like "30 events are missing; the first gap is after event 28"
expect_out_like "DRAM of the whole file: peak at least "
[[ $out != *"at the end at least"* ]] || fail "the next keyframe lists all live buffers"
run "$ttscope" pack -o packed.tts first.tts
expect_code 5
expect_err_like "; only the part after the damage is packed"
run "$ttscope" show --json packed.tts
[ "$(jq .source.events <<<"$out")" = 59 ] || fail "wanted the same events"

# Damage in the middle: show and the commands that compare runs continue after it. An export has
# only the part before it.
flip "$blocks" middle.tts 12400
show middle.tts
expect_code 5
expect_err_like "block 2 at byte 12288 is damaged: the checksum of the content is wrong; 30 events after event 58 are missing"
[ "$(jq -c '.source | [.events, .first_event, .missing_events]' out)" = "[59,29,30]" ] || fail "wanted both parts"
run "$ttscope" diff --json "$blocks" middle.tts
expect_code 5
expect_err_like "the checksum of the content is wrong; 30 events are missing because of damage"
rows middle.tts
expect_code 5
expect_err_like "only the * events before the damage were read"

# A file cut off in its first block: the events before the cut are printed.
head -c 4500 "$source_dir/fuzz/corpus/recording/ended.tts" >short.tts
agree short.tts 5 "short.tts: block 0 at byte 4096 is damaged: the file ends inside the block; only the 20 events before the damage were read"
show short.tts
[ "$(jq .source.events out)" -gt 10 ] || fail "wanted the events before the cut"

# The last event of a block can be shown like any other.
run "$ttscope" show --at 58 "$blocks"
expect_code 0
