#!/usr/bin/env bash
# `ttscope pack`: in place and to another file, with complete, unended, damaged and other files.
. "$(dirname "$0")/lib.sh"
recordings=$source_dir/fuzz/corpus/recording
bytes_of() { stat -c %s "$1"; }
flip() { # file, byte
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\x$(printf %02x $((byte ^ 16)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Packing in place, twice. Permissions stay, and no other file remains.
mkdir "$work/dir"
cp "$recordings/ended.tts" "$work/dir/run.tts"
chmod 640 "$work/dir/run.tts"
run "$ttscope" pack "$work/dir/run.tts"
expect_code 0
expect_err ""
size=$(bytes_of "$work/dir/run.tts")
pattern="^([0-9]+) events, $(bytes_of "$recordings/ended.tts") bytes became $size: [0-9]+\\.[0-9][0-9] bytes per event
figures for 'show': not stored, so 'show' computes the figures from the events\$"
[[ $out =~ $pattern ]] ||
    fail "wanted one line of figures"
events=${BASH_REMATCH[1]}
[ "$size" -lt "$(bytes_of "$recordings/ended.tts")" ] || fail "wanted a smaller file"
[ "$(stat -c %a "$work/dir/run.tts")" = 640 ] || fail "wanted the same permissions"
[ "$(ls -A "$work/dir")" = run.tts ] || fail "wanted nothing else in the directory"
cp "$work/dir/run.tts" "$work/once.tts"
run "$ttscope" pack "$work/dir/run.tts"
expect_code 0
expect_out_like "$events events, $size bytes became $size:"
cmp -s "$work/dir/run.tts" "$work/once.tts" || fail "wanted the same file again"

# Packing to another file, with an option and through a pipe. The recording stays.
cp "$recordings/ended.tts" "$work/in.tts"
run "$ttscope" pack -o "$work/out.tts" "$work/in.tts"
expect_code 0
cmp -s "$work/out.tts" "$work/once.tts" || fail "wanted the packed recording"
cmp -s "$work/in.tts" "$recordings/ended.tts" || fail "wanted the recording to stay"
run sh -c '"$1" pack "$2" --output=- >"$3"' sh "$ttscope" "$work/in.tts" "$work/piped.tts"
expect_code 0
expect_err ""
cmp -s "$work/piped.tts" "$work/once.tts" || fail "wanted the packed recording on stdout"
run "$ttscope" pack -o - --json "$work/in.tts"
expect_code 2
expect_err_like "'-o -' and '--json' both write to standard output"

# The recording of a program that was killed can be packed.
run "$ttscope" pack -o "$work/killed.tts" "$recordings/killed.tts"
expect_code 0
expect_out_like "events, $(bytes_of "$recordings/killed.tts") bytes became"
expect_err "ttscope pack: note: the recording '$recordings/killed.tts' was not ended: the program still runs, was killed, or did not end the recording; all events recorded so far are packed"

# --json prints the result as JSON.
run "$ttscope" pack --json -o "$work/out.tts" "$work/in.tts"
expect_code 0
expect_err ""
if command -v jq >/dev/null; then
    cp "$work/out" "$work/document"
    run jq -c '[.schema.name, .schema.version, .events, .events_before_first, .bytes_after,
        .ended, .damage, .figures, (keys | length)]' "$work/document"
    expect_out "[\"ttscope.pack\",1,$events,0,$size,true,null,false,11]"
fi

# A damaged recording stays unchanged. The part before the damage is packed to another file on
# request.
cp "$recordings/killed.tts" "$work/bad.tts"
flip "$work/bad.tts" 9000 # in the second of two blocks
cp "$work/bad.tts" "$work/kept.tts"
said="ttscope pack: $work/bad.tts: block 1 at byte 8192 is damaged: the checksum of the content is wrong"
run "$ttscope" pack "$work/bad.tts"
expect_code 3
expect_out ""
expect_err "$said; nothing was changed: use '-o FILE' to pack the part before the damage"
cmp -s "$work/bad.tts" "$work/kept.tts" || fail "wanted the damaged recording to stay"
ln -s bad.tts "$work/link.tts"
run "$ttscope" pack -o "$work/link.tts" "$work/bad.tts"
expect_code 3
cmp -s "$work/bad.tts" "$work/kept.tts" || fail "wanted the damaged recording to stay"
run "$ttscope" pack -o "$work/part.tts" "$work/bad.tts"
expect_code 5
expect_out_like " events, 12288 bytes became $(bytes_of "$work/part.tts")"
expect_err "ttscope pack: note: the recording '$work/bad.tts' was not ended: the program still runs, was killed, or did not end the recording
$said; only the part before the damage is packed"
part=${out%% *}
run "$ttscope" pack -o "$work/again.tts" "$work/part.tts" # it is whole now
expect_code 0
expect_err ""
[ "${out%% *}" = "$part" ] || fail "wanted $part events again"
[ "$part" -gt 50 ] || fail "wanted more events"
run "$ttscope" show "$work/part.tts"
expect_code 5
expect_err "ttscope show: $work/part.tts: the recording was damaged before it was packed; later events are missing"

# Another name of standard output, such as /dev/stdout, works like "-".
# shellcheck disable=SC2016 # the inner shell expands
run sh -c '"$1" pack -o /dev/stdout "$2" | cat >"$3"' - "$ttscope" "$recordings/killed.tts" "$work/through.tts"
run "$ttscope" pack -o "$work/direct.tts" "$recordings/killed.tts"
cmp -s "$work/through.tts" "$work/direct.tts" || fail "wanted nothing but the recording"

run "$ttscope" pack --json -o "$work/part.tts" "$work/bad.tts"
expect_code 5
expect_out_like '"offset": 8192,'
expect_out_like '"text": "block 1 at byte 8192 is damaged: the checksum of the content is wrong"'

cp "$recordings/killed.tts" "$work/void.tts"
flip "$work/void.tts" 4200 # in the first block: there is nothing before the damage
said="ttscope pack: $work/void.tts: block 0 at byte 4096 is damaged: the checksum of the content is wrong"
for output in void.tts none.tts -; do
    [ $output = - ] || output=$work/$output
    run "$ttscope" pack -o "$output" "$work/void.tts"
    expect_code 3
    expect_out ""
    expect_err "$said; no part of the file can be packed"
done
[ ! -e "$work/none.tts" ] || fail "wanted no packed recording"
[ "$(bytes_of "$work/void.tts")" = 12288 ] || fail "wanted the damaged recording to stay"

# Files that are not recordings, do not exist or cannot be written are refused.
echo "P size=1" >"$work/text"
run "$ttscope" pack "$work/text"
expect_code 3
expect_out ""
expect_err "ttscope pack: $work/text: is not a recording"
run "$ttscope" pack "$work/nothing"
expect_code 3
expect_err "ttscope pack: cannot read '$work/nothing': no such file or directory"
run "$ttscope" pack -o "$work/no/such/dir" "$work/in.tts"
expect_code 3
expect_err "ttscope pack: cannot write '$work/no/such/dir': no such file or directory"
run "$ttscope" pack -o /dev/full "$work/in.tts"
expect_code 3
expect_err_like "cannot write '/dev/full'"
run "$ttscope" pack -
expect_code 2
run "$ttscope" pack
expect_code 2
expect_err_like "RECORDING"
run "$ttscope" pack one two
expect_code 2

# A file that is being recorded is not replaced.
cd "$work" || exit 1
cp "$recordings/ended.tts" locked.tts
run flock locked.tts "$ttscope" pack locked.tts
expect_code 3
expect_err "ttscope pack: a program is still recording to 'locked.tts': use '-o FILE' to pack the events recorded so far into another file"
run flock locked.tts "$ttscope" pack locked.tts -o unlocked.tts
expect_code 0

# ---- figures: a long recording is shown without reading its events ----

{
    echo "chip 0 4"
    echo "begin 1"
    for i in $(seq 1 40); do
        printf 'op ttnn::linear\nop matmul_%d\nalloc 4 0 %d %d 2048 0\nend\nend\n' $((i % 7)) $((1000000 + i)) $((2048 * i))
        printf 'alloc 4 1 %d %d 2048 64\n' $((2000000 + i)) $((2048 * 64 * (i % 3 + 1)))
    done
    printf 'alloc 4 2 3000001 4096 2048 2\nprogram 0\ncb 0 4096 0 0 3 3\nmissed 3\nbegin 2\n'
    printf 'free 4 0 1000003\nfree 4 1 2000005\nchurn 35000\n'
} | "$TTS_BUILD_DIR/tests/make_recording" plain.tts story || exit 1
run "$ttscope" pack --json -o figures.tts plain.tts
expect_code 0
expect_out_like '"figures": true,'
[ "$(bytes_of figures.tts)" -gt "$(bytes_of plain.tts)" ] || fail "wanted figures in the file"
run "$ttscope" pack -o again.tts figures.tts
cmp -s figures.tts again.tts || fail "wanted the same bytes again"
at=$(bytes_of figures.tts)
for question in "" "--json --top 0" "--pool l1 --top 3" "--pool l1_small --json" "--top 2000"; do
    cp figures.tts shown.tts
    # shellcheck disable=SC2086 # words
    run "$ttscope" show $question shown.tts
    expect_code 5
    kept=$out$err
    # The last byte of the figures is damaged, so show reads the events.
    flip shown.tts $((at - 1))
    # shellcheck disable=SC2086
    run "$ttscope" show $question shown.tts
    expect_code 5
    [ "$out$err" = "$kept" ] || fail "wanted the same from the events: show $question"
done

# A live recording does not grow, even with figures. Packing it again gives the same file.
"$TTS_BUILD_DIR/tests/record_child" fill live.tts 100000 >/dev/null || exit 1
run "$ttscope" pack -o live_packed.tts live.tts
expect_code 0
expect_out_like "figures for 'show': stored"
[ "$(bytes_of live_packed.tts)" -lt "$(bytes_of live.tts)" ] || fail "wanted a smaller file"
run "$ttscope" pack -o again.tts live_packed.tts
expect_out_like "figures for 'show': stored"
cmp -s live_packed.tts again.tts || fail "wanted the same bytes again"

# The same for a black box whose operations all have the same size.
{
    printf 'box 400\n'
    for i in $(seq 1 200); do
        printf 'op new_%d\nalloc %d 0 %d 4096 2048 0\nend\n' $((i * 37 % 211)) $((i % 3)) $((1000000 + i))
    done
    printf 'churn 70000\n'
} | "$TTS_BUILD_DIR/tests/make_recording" box.tts story || exit 1
run "$ttscope" pack -o box_packed.tts box.tts
expect_code 0
for _ in 1 2 3; do
    run "$ttscope" pack -o again.tts box.tts
    cmp -s box_packed.tts again.tts || fail "wanted the same bytes for a black box each time"
done
[ "$(bytes_of box_packed.tts)" -gt "$(bytes_of box.tts)" ] || fail "wanted figures in the black box"
for question in "" "--json --top 0" "--pool l1 --top 30" "--top 2000"; do
    cp box_packed.tts shown.tts
    # shellcheck disable=SC2086
    run "$ttscope" show $question shown.tts
    kept=$out$err
    flip shown.tts $(($(bytes_of shown.tts) - 1))
    # shellcheck disable=SC2086
    run "$ttscope" show $question shown.tts
    [ "$out$err" = "$kept" ] || fail "wanted the same from the events: show $question"
done
run "$ttscope" show figures.tts
case $out in *"ttnn::linear > matmul_"*) ;; *) fail "wanted paths of operations in stored figures" ;; esac
kept=$out$err
# A damaged block of events is detected although show uses the figures: in its payload or its
# header.
for byte in 4500 4110; do
    cp figures.tts bad.tts
    flip bad.tts $byte
    run "$ttscope" show bad.tts
    expect_code 5
    expect_err_like "block 0 at byte 4096 is damaged"
done
