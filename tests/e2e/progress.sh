#!/usr/bin/env bash
# The progress line of a command: it appears on a terminal after one second and is erased at the
# end, also if no event comes for a long time, and while a recording is read from a pipe.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || { echo "skipped: there is no python3" && exit 77; }
python3 -c 'import pty; pty.openpty()' 2>/dev/null ||
    { echo "skipped: no terminal can be made here" && exit 77; }
cd "$work" || exit 1

"$TTS_BUILD_DIR/tests/make_recording" run.tts random 20000 1 || exit 1
awk 'BEGIN { printf "[{\"counter\":0,\"node_type\":\"capture_start\"}"
    for (i = 1; i < 6000; i++) printf ",\n{\"counter\":%d,\"node_type\":\"tensor\"}", i
    print "]" }' >tensors.json

# Sends a file through a pipe: most of it at once, then single bytes until the terminal shows
# something, then the rest. Prints the exit code, whether the words appeared, and whether the line
# was erased.
cat >slow.py <<'PY'
import os, pty, select, subprocess, sys, time
path, words, is_slow, command = sys.argv[1], sys.argv[2].encode(), sys.argv[3] == 'slow', sys.argv[4:]
data = open(path, 'rb').read()
main, side = pty.openpty()
begin = time.monotonic()
child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=side,
                         env={**os.environ, 'TERM': 'xterm'})
os.close(side)
at = len(data) - 4000
child.stdin.write(data[:at])
child.stdin.flush()
while is_slow and at < len(data) and not select.select([main], [], [], 0.05)[0]:
    child.stdin.write(data[at:at + 1])
    child.stdin.flush()
    at += 1
child.stdin.write(data[at:])
child.stdin.close()
code, said = child.wait(), b''
os.set_blocking(main, False)
try:
    while piece := os.read(main, 65536):
        said += piece
except (BlockingIOError, OSError):
    pass
if not is_slow and time.monotonic() - begin > 0.9:
    print('too slow to tell')
else:
    print(code, words in said, said.endswith(b'\r\x1b[K'))
PY

slow() { python3 slow.py "$1" "$2" slow "$ttscope" "${@:3}"; }
wanted=
for name in show_graph show_recording export_graph export_recording replay_graph replay_recording; do
    case $name in
    *_graph) file=tensors.json ;;
    *) file=run.tts ;;
    esac
    case $name in
    show_*) slow $file 'reading <stdin>: ' show - ;;
    export_*) slow $file 'exporting <stdin>: ' export --to csv -o $name.csv - ;;
    replay_graph) slow $file 'running <stdin>: ' replay --device p150 - ;;
    *) slow $file 'reading <stdin>: ' replay --device p150 - ;;
    esac | sed "s/^[01] /$name /" >"said.$name" & # whether it fits is not tested here
    wanted+="$name True True"$'\n'
done
wait
run cat said.*
expect_out "$(sort <<<"${wanted%$'\n'}")"

run python3 slow.py tensors.json reading quick "$ttscope" show -
[ "$out" = "too slow to tell" ] || expect_out "0 False False"
