#!/usr/bin/env bash
# Tables fit 80 columns and use a wider terminal. The runtime's long sentence is wrapped on a
# terminal, and not wrapped in files and pipes.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
export LC_ALL=C.UTF-8

widest() { wc -L <"$work/out"; }
expect_widest() { # at most
    [ "$(widest)" -le "$1" ] || fail "wanted lines of at most $1 columns, one has $(widest)"
}

# ---- files and pipes: 80 columns ----

run "$ttscope" devices
expect_code 0
expect_widest 80
run "$ttscope" devices n150
expect_out_like '
  dram_base             2968640 2.83 MiB derived  [[]9]  first byte of a DRAM bank
                                                       that can be allocated
'
for preset in $("$ttscope" devices | awk '$3 ~ /^[0-9]+$/ { print $1 }'); do
    for layout in '' --layout; do
        run "$ttscope" devices $layout "$preset"
        [ -z "$out" ] || expect_widest 80 # the layout of some devices is unknown
    done
done
run "$ttscope" devices --set l1_small=32768 --set grid=8x8 --set trace_region=64M --set max_cbs=16 p150
expect_widest 80
expect_out_like 'set: trace_region=67108864, l1_small=32768, grid=8x8, max_cbs=16
'

# ---- a terminal ----

command -v python3 >/dev/null || { echo "the rest was skipped: there is no python3" && exit 0; }
python3 -c 'import pty; pty.openpty()' 2>/dev/null ||
    { echo "the rest was skipped: no terminal can be made here" && exit 0; }

# Runs a command whose standard output is a terminal with this number of columns, and prints its
# output.
cat >terminal.py <<'PY'
import fcntl, os, pty, struct, subprocess, sys, termios
main, side = pty.openpty()
fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=side)
os.close(side)
got = b''
try:
    while piece := os.read(main, 65536):
        got += piece
except OSError:
    pass
sys.stdout.buffer.write(got.replace(b'\r\n', b'\n'))
sys.exit(child.wait())
PY
unset COLUMNS
on_terminal() { run python3 terminal.py "$@"; } # columns, command

for columns in 80 60; do
    on_terminal $columns "$ttscope" devices --layout n150
    expect_widest 80
done
on_terminal 80 "$ttscope" devices n150
expect_widest 80
on_terminal 120 "$ttscope" devices n150
expect_widest 120
expect_out_like ' [[]9]  first byte of a DRAM bank that can be allocated
'
on_terminal 120 "$ttscope" devices --layout n150
expect_out_like '  circular buffers up, L1 buffers down
'
# The environment variable takes precedence, but only on a terminal.
COLUMNS=120 on_terminal 80 "$ttscope" devices n150
expect_out_like ' [[]9]  first byte of a DRAM bank that can be allocated
'
COLUMNS=wide on_terminal 80 "$ttscope" devices n150
expect_widest 80
COLUMNS=120 run "$ttscope" devices n150
expect_widest 80

# Messages and left-overs: one line in files and pipes, lines of whole words on a terminal.
mkdir -p root/dev/shm
ln -sfn /proc root/proc
head -c 5000 /dev/urandom >"root/dev/shm/ttscope_4194303_2_$(stat -Lc %i /proc/self/ns/pid)"
export TTSCOPE_ROOT=$work/root
"$TTS_BUILD_DIR/tests/publish_program" "$work/root/dev/shm" -1 1000000000 </dev/zero >program.out 2>&1 &
program=$!
for _ in {1..200}; do
    grep -q ready program.out && break
    sleep 0.05
done
kill -9 "$program"
wait "$program" 2>/dev/null
run "$ttscope" clean --dry-run
expect_code 0
expect_out_like ' publish_program  954 MiB DRAM, 2.00 KiB L1
'
grep -q ' $' "$work/out" && fail "wanted no blanks at the end of a line"
on_terminal 60 "$ttscope" clean --dry-run
expect_widest 60
expect_out_like ' publish_program
        954 MiB DRAM, 2.00 KiB L1
'
grep -q ' $' "$work/out" && fail "wanted no blanks at the end of a line"
unset TTSCOPE_ROOT
long=this-file-does-not-exist-and-has-quite-a-long-name
message="ttscope show: cannot open '$long': No such file or directory"
run "$ttscope" show "$long"
message=$err
[ "${#message}" -gt 60 ] || fail "wanted a long message in one line"
# shellcheck disable=SC2016 # the shell in the terminal expands the names
on_terminal 60 sh -c 'exec "$0" show "$1" 2>&1' "$ttscope" "$long"
[ "$(wc -L <"$work/out")" -le 60 ] || fail "wanted the message in 60 columns"
[ "$(tr '\n' ' ' <"$work/out" | tr -s ' ')" = "$message " ] || fail "wanted the words of the message"

# ---- the runtime's sentence ----

"$TTS_BUILD_DIR/tests/example_tracked_loop_c" --scale 250 --record loop.tts 2>/dev/null
sentence='Out of Memory: Not enough space to allocate 1572864000 B DRAM buffer across 12 banks, where each bank needs to store 131072000 B, but bank size is 1070773184 B (allocated: 961202176 B, free: 109571008 B, largest free block: 109571008 B)'
printf 'buffer dram interleaved 99999997952 2048\n' >sequence.txt
for command in 'show loop.tts' 'replay --device n150 loop.tts' \
    'replay --device n150 --stats sequence.txt' \
    "fit $source_dir/examples/fit/training.yaml --batch 8"; do
    # shellcheck disable=SC2086 # several words
    run "$ttscope" $command
    cp "$work/out" whole
    whole=$(grep -o 'Out of Memory: .*' whole | head -1)
    [ "${#whole}" -gt 150 ] || fail "wanted the sentence in one line"
    for columns in 80 50; do
        # shellcheck disable=SC2086
        on_terminal $columns "$ttscope" $command
        [ "$(grep -A12 'Out of Memory' "$work/out" | sed '/missing/,$d' | wc -L)" -le "$columns" ] ||
            fail "wanted the sentence in $columns columns"
        joined=$(tr '\n' ' ' <"$work/out" | sed 's/ # / /g' | tr -s ' ')
        [[ $joined == *"$whole"* ]] || fail "wanted the words of the sentence"
    done
done
run "$ttscope" show loop.tts
expect_out_like "
    $sentence
"
on_terminal 80 "$ttscope" show loop.tts
expect_widest 80
expect_out_like '
    Out of Memory: Not enough space to allocate 1572864000 B DRAM buffer across
      12 banks, where each bank needs to store 131072000 B, but bank size is
      1070773184 B (allocated: 961202176 B, free: 109571008 B, largest free
      block: 109571008 B)
    missing: 21500992 B in each bank
'
on_terminal 80 "$ttscope" replay --device n150 sequence.txt
expect_out_like '
# Out of Memory: Not enough space'
expect_out_like '
#   '
cp "$work/out" broken.txt # it is still a valid sequence
run "$ttscope" replay --device n150 --check broken.txt
expect_code 0
