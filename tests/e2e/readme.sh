#!/usr/bin/env bash
# The commands that README.md and docs/*.md mark with ```sh test work, the output that they show
# is the program's output, and their links are valid.
. "$(dirname "$0")/lib.sh"

# The pages in reading order: a page can use the files that an earlier page creates.
pages=$work/pages.md
for page in README.md docs/{fit,analyze,live,devices,track,record}.md; do
    cat "$source_dir/$page"
done >"$pages"
[ "$(wc -l <"$source_dir/README.md")" -le 180 ] || fail "README.md has more than 180 lines"
for page in "$source_dir"/docs/*.md; do
    grep -q "($(basename "$page"))" "$source_dir/docs/README.md" || [ "${page##*/}" = README.md ] ||
        fail "docs/README.md does not name $page"
done
for page in "$source_dir"/docs/design/*.md; do
    grep -q "($(basename "$page"))" "$source_dir/docs/design/README.md" || [ "${page##*/}" = README.md ] ||
        fail "docs/design/README.md does not name $page"
done

# A copy of the tree as a reader has it. Its release is the program under test.
tree=$work/tree
mkdir -p "$tree/build/release" "$tree/build/demo"
cp -r "$source_dir/examples" "$source_dir/include" "$tree"
ln -s "$TTS_BUILD_DIR/bin" "$TTS_BUILD_DIR/lib" "$TTS_BUILD_DIR/libexec" "$tree/build/release/"

awk '/^```sh test$/ { on = 1; next } /^```/ { on = 0 } on { print }' \
    "$pages" >"$work/commands"
[ -s "$work/commands" ] || { echo "the pages have no command to test" && exit 1; }
# A program that uses a library with a sanitizer needs the sanitizer, too.
if [[ $(ldd "$TTS_BUILD_DIR/lib/libttscope.so") == *libasan* ]]; then
    sed -i '1i cc() { command cc -fsanitize=address,undefined "$@"; }' "$work/commands"
fi
mkdir "$work/host" # not the chips of this one
TTSCOPE_ROOT=$work/host run bash -euc 'cd "$1" && . "$2"' bash "$tree" "$work/commands"
expect_code 0
expect_err "ttscope replay: build/loop.tts: the last recorded request was refused (event 48); the memory use after this request is unknown
ttscope pack: note: the recording 'build/loop.tts' was not ended: the program still runs, was killed, or did not end the recording; all events recorded so far are packed
ttscope export: note: no capacities are drawn: the file does not name the device (give '--device NAME')"

# The snippets in each language compile and run, around empty functions.
snippets() { # language, page...
    local language=$1
    shift
    awk -v fence="\`\`\`$language" '$0 == fence { on = 1; next } /^```/ { on = 0 } on { print }' \
        "${@/#/$source_dir/}"
}
# A library with a sanitizer requires that the sanitizer is loaded first. Python itself has leaks.
sanitizer=$(ldd "$TTS_BUILD_DIR/lib/libttscope.so" |
    sed -n 's/^[[:space:]]*libasan.* => \([^ ]*\) .*/\1/p')
compile() { # compiler, source
    local lib=$TTS_BUILD_DIR/lib
    run "$1" ${sanitizer:+-fsanitize=address,undefined} -Wno-unused-result -I"$source_dir/include" \
        -I"$source_dir/bindings/cpp" "$2" -L"$lib" -lttscope -Wl,-rpath,"$lib" -o "$work/snippet"
    expect_code 0
    run "$work/snippet"
    expect_code 0
    expect_out_like "--- FORWARD_PASS ---"
}
{
    snippets c docs/track.md | grep '^#'
    echo 'static void forward(void) {} static void backward(void) {}'
    echo 'int main(void) { struct tts_capture *capture; struct tts_error err;'
    snippets c docs/track.md | grep -v '^#'
    echo 'tts_capture_free(capture); return 0; }'
} >"$work/snippet.c"
compile cc "$work/snippet.c"
{
    snippets cpp docs/track.md | grep '^[#u]'
    echo 'static void forward() {} static void backward() {} int main() {'
    snippets cpp docs/track.md | grep -v '^[#u]'
    echo '}'
} >"$work/snippet.cpp"
compile c++ "$work/snippet.cpp"
{
    echo 'def forward(): pass'
    echo 'backward = train = forward'
    snippets python docs/track.md docs/record.md README.md
} >"$work/snippet.py"
if command -v python3 >/dev/null; then
    cd "$work" || exit 1
    run env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$source_dir/bindings/python" \
        TTSCOPE_LIBRARY="$TTS_BUILD_DIR/lib/libttscope.so" LD_PRELOAD="$sanitizer" \
        ASAN_OPTIONS=detect_leaks=0 "$(python3 -c 'import sys; print(sys.executable)')" snippet.py
    expect_code 0
    expect_err ""
    expect_out_like "--- FORWARD_PASS ---"
    run "$ttscope" show run.tts
    expect_code 0
fi

while read -r link; do
    [ -e "$source_dir/$link" ] || { echo "no such file: $link" && failures=1; }
done < <(cd "$source_dir" && grep -o '](\([^)#]*\)[^)]*)' ./*.md docs/*.md docs/design/README.md |
    grep -v '://' | sed -E 's|^(.*/)[^/]*:\]\(([^)#]*).*|\1\2|')

# The picture and the output on the pages are what the program produces now.
example=$source_dir/examples/fragmentation.txt
run "$ttscope" replay --quiet --map - "$example"
[ "$out" = "$(cat "$source_dir/docs/fragmentation.svg")" ] || fail "docs/fragmentation.svg is old"
run "$ttscope" replay --quiet --stats "$example"
shown=$(awk '/^\$ ttscope replay --quiet --stats/ { on = 1; next } /^```/ { on = 0 } on { print }' \
    "$source_dir/docs/devices.md")
[ "$out" = "$shown" ] || fail "docs/devices.md shows other statistics"

# The output of a device on the pages is part of the program's output.
run "$ttscope" replay --device n150 "$source_dir/examples/device.txt"
for page in README.md docs/devices.md; do
    shown=$(awk '/^\$ ttscope replay --device [^|]*$/ { on = 1; getline; next } /^```/ { on = 0 } on { print }' \
        "$source_dir/$page")
    [ -n "$shown" ] || fail "$page shows nothing of a device"
    [[ $out == *"${shown%$'\n(...)'}"* ]] || fail "$page shows another device run"
done

# The same failure, explained.
run bash -c '"$1" replay --device n150 "$2" | "$1" explain' bash "$ttscope" \
    "$source_dir/examples/device.txt"
expect_code 0
shown=$(awk '/^\$ ttscope replay .* explain$/ { on = 1; next } /^```/ { on = 0 } on { print }' \
    "$source_dir/README.md")
[ -n "$shown" ] || fail "README.md shows no explanation"
expect_out_like "${shown//"(...)"/*}"

# The live commands, on a simulated host. Each `top` ends after one frame.
export TTSCOPE_ROOT=$work/live
. "$source_dir/tests/e2e/live_rig.sh"
serial=0100018511732011
live_host
live_chip 0 "$serial" 4242
live_process 4242 python3
live_region $((0x$serial)) v3 "slot=4242:1610612736:75497472:2097152:0:1048576:1760000000000000000:python3"
run "$ttscope" top --view processes --once
expect_code 0
shown=$(awk '/^\$ ttscope top/ { on = 1; next } /^```/ { on = 0 } on { print }' \
    "$source_dir/docs/live.md")
[ -n "$shown" ] || fail "docs/live.md shows no processes"
expect_out_like "${shown//"(...)"/*}"
commands=0
while read -r command; do
    [[ $command != "ttscope top"* || $command == *"-n 1"* ]] || command+=" -n 1"
    run bash -c "ttscope() { '$ttscope' \"\$@\"; }; $command"
    # doctor reports that the simulated host has no device node.
    case $command in
    "ttscope doctor"*) expect_code 1 ;;
    *) expect_code 0 ;;
    esac
    commands=$((commands + 1))
done < <(awk '/^```sh live$/ { on = 1; next } /^```/ { on = 0 } on { sub(/ *#.*/, ""); print }' \
    "$source_dir/README.md" "$source_dir/docs/live.md")
[ "$commands" -ge 7 ] || fail "README.md and docs/live.md have $commands live commands"
unset TTSCOPE_ROOT

# The output of a training run, with "(...)" for omitted parts.
run "$ttscope" fit "$source_dir/examples/fit/training.yaml"
expect_code 1
for page in README.md docs/fit.md; do
    shown=$(awk '/^\$ ttscope fit/ { on = 1; next } /^```/ { on = 0 } on { print }' \
        "$source_dir/$page")
    [ -n "$shown" ] || fail "$page shows nothing of a training run"
    expect_out_like "${shown//"(...)"/*}"
done

# The output of a log, and its two pictures.
cd "$work" || exit 1
run "$ttscope" analyze --logs "$source_dir/examples/tinyllama.log" --visualize_peak \
    --visualize_phases --output peak.svg
expect_code 0
for page in README.md docs/analyze.md; do
    shown=$(awk '/^\$ ttscope analyze/ { on = 1; next } /^```/ { on = 0 } on { print }' \
        "$source_dir/$page")
    [ -n "$shown" ] || fail "$page shows nothing of a log"
    expect_out_like "${shown//"(...)"/*}"
done
for picture in peak.svg peak-phases.svg; do
    cmp -s "$picture" "$source_dir/docs/$picture" || fail "docs/$picture is old"
done

# The output of a tracked program, with "(...)" for omitted parts.
run "$TTS_BUILD_DIR/tests/example_tracked_loop_c"
shown=$(awk '/^\$ .*tracked_loop/ { on = 1; next } /^```/ { on = 0 } on { print }' \
    "$source_dir/docs/track.md")
[ -n "$shown" ] || fail "docs/track.md shows nothing of a tracked program"
expect_out_like "${shown//"(...)"/*}"

# The output of its recording.
run "$TTS_BUILD_DIR/tests/example_tracked_loop_c" --scale 250 --record "$work/loop.tts"
expect_code 1
run "$ttscope" show "$work/loop.tts"
expect_code 0
for page in README.md docs/record.md; do
    shown=$(awk '/^\$ ttscope show/ { on = 1; next } /^```/ { on = 0 } on { print }' \
        "$source_dir/$page")
    [ -n "$shown" ] || fail "$page shows nothing of a recording"
    expect_out_like "${shown//"(...)"/*}"
done