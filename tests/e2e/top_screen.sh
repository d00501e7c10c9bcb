#!/usr/bin/env bash
# `ttscope top` on a terminal of 80x24 and of 120x40: nothing wraps, nothing flickers, frames are
# cut to the terminal, and the terminal is clean after Ctrl-C, Ctrl-Z and a limit.
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2034,SC2154 # lib.sh uses and sets the variables
command -v tmux >/dev/null || { echo "tmux is missing: script/bootstrap test" && exit 77; }
export TTSCOPE_ROOT=$work/root LC_ALL=C.UTF-8 TZ=UTC
unset NO_COLOR TMUX COLUMNS LINES
. "$(dirname "$0")/live_rig.sh"
serial=0100018511732011
id=$((0x$serial))
mb=1048576
live_host
live_chip 0 "$serial" 4242
live_process 4242 $'a-very-long-name-中中中-\e[2J'
live_region "$id" v3 "slot=4242:$((1536 * mb)):$((72 * mb)):0:0:0:1760000000000000000:python3"

# Each terminal has a server of its own, because a server takes a moment to end.
terminals=0
tm() { tmux -S "$work/tmux$terminals" -f /dev/null "$@" 2>>"$work/tmux.log"; }
trap 'status=$?; tm kill-server; rm -rf "$work"; [ "$failures" -eq 0 ] || status=1; exit "$status"' EXIT

# Starts a shell in a terminal of the given size.
start_terminal() { # columns rows
    terminals=$((terminals + 1))
    tm new-session -d -x "$1" -y "$2" "PS1='> ' exec bash --norc --noprofile"
    tm set -g status off
    tm resize-window -x "$1" -y "$2"
    tm send-keys "clear; echo ready" Enter
    wait_for_text ready
}

# Waits until the screen shows a text, for 10 seconds at most.
wait_for_text() {
    for _ in {1..100}; do
        tm capture-pane -p >"$work/screen"
        grep -qF -e "$1" "$work/screen" && return
        sleep 0.1
    done
    out=$(cat "$work/screen") err="" code=0 fail "the terminal never shows: $1"
}

# Stores the screen without the parts that change with the time.
capture() { # file
    tm capture-pane -p | sed -E 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}/TIME/; s/Update #[0-9]+/UPDATE/' >"$1"
}

cursor() { tm display -p '#{cursor_flag}#{wrap_flag}'; }

# Runs top in a terminal and checks its screens.
check_screen() { # columns rows arguments
    local columns=$1 rows=$2 i
    ran="top $3 on ${columns}x$rows" code=0 out="" err=""
    start_terminal "$columns" "$rows"
    : >"$work/bytes"
    tm pipe-pane "cat >>$work/bytes"
    tm send-keys "ttscope top -r 100 $3" Enter
    wait_for_text "$4"
    sleep 0.3
    capture "$work/first"
    for i in {1..8}; do
        capture "$work/next"
        out=$(diff "$work/first" "$work/next") || fail "wanted the same screen in capture $i"
        sleep 0.05
    done
    out=$(cat "$work/first")
    [ "$(wc -L <"$work/first")" -le "$columns" ] || fail "wanted lines of at most $columns columns"
    [ "$(cursor)" = 01 ] || [ "$(cursor)" = 00 ] || fail "wanted a hidden cursor"
    # The terminal is neither cleared nor switched.
    grep -qF $'\e[2J' "$work/bytes" && fail "wanted no clearing of the terminal"
    grep -qF $'\e[?1049h' "$work/bytes" && fail "wanted no other screen"
    tm send-keys C-c
    tm send-keys "echo code=\$?; stty -a" Enter
    wait_for_text "code=0"
    wait_for_text "icanon"
    grep -qE '(^| )echo ' "$work/screen" || fail "wanted echo"
    [ "$(cursor)" = 11 ] || fail "wanted the cursor and wrapping after Ctrl-C"
    tm kill-server
}

PATH=$(realpath "$TTS_BUILD_DIR")/bin:$PATH
# A terminal with too few rows for the published block shows the bytes and who holds them.
for size in "80 24" "120 40"; do
    # shellcheck disable=SC2086
    check_screen $size "" "L1 Allocated: 72.00 MB (84.7%) 84% (nominal)"
    [[ $out == "TIME  1 device, every 100ms  (all lines need "[5-9][0-9]" rows)"* ]] ||
        fail "wanted the number of rows for all lines in row 1"
    [[ $out == *$'\nDevice 0 (ID: 0)\n  DRAM Allocated: 1.50 GB'*$'\n  State: live\n'*"  Process 4242 "* ]] ||
        fail "wanted the lines with figures"
    [[ $out == *$'\nNotes:\n   - Device 0: only the thread that opened the device is counted'* ]] ||
        fail "wanted caveats in the rows that remain"
    [[ $out != *"more lines"* ]] || fail "wanted no cut frame"
done
check_screen 80 80 "" "L1 Allocated: 72.00 MB (84.7%) 84%"
[ "$(sed -n 1p "$work/first")" = "$(printf '=%.0s' {1..80})" ] || fail "wanted the first rule in row 1"
[[ $out == *$'\n--------------------'* ]] || fail "wanted the rule of the device"
check_screen 80 24 "--view table" "Δ)"
[[ $out == *"Device Buffers  DRAM"* ]] || fail "wanted the narrow table"
[[ $out == *Tips:* ]] || fail "wanted the tips on the screen"
check_screen 120 40 "--view table" "Δ)"
[[ $out == *"Device   Buffers    DRAM            L1 "* ]] || fail "wanted the published table"
check_screen 80 24 "--view processes" "4242"
check_screen 120 40 "--view processes" "4242"
[[ $out == *"72.00 MB"* ]] || fail "wanted sizes with two decimals"

# A narrow terminal breaks sentences between words. The last line says what is left out.
check_screen 60 60 "--view table" "Δ)"
[[ $out == *$'\n   - Device 0: only the thread that opened the device is\n     counted: buffers of'* ]] ||
    fail "wanted a caveat in lines of at most 60 columns"
[[ $(grep . <<<"$out" | tail -n 1) == "... "[1-9]*" more columns: widen the terminal" ]] ||
    fail "wanted the number of columns left out"
check_screen 60 20 "" "L1 Allocated: 72.00 MB (84.7%) 84%"
[[ $out == *$' rows)\n'* && $out != *"more columns"* ]] || fail "wanted nothing left out"

# A shorter frame leaves nothing of a longer one. Ctrl-Z shows the cursor, and fg hides it.
ran="top, resized and stopped"
start_terminal 120 80
tm send-keys "ttscope top -r 100" Enter
wait_for_text "L1 Memory"
tm resize-window -x 60 -y 10
wait_for_text "more lines"
[ "$(tm capture-pane -p | wc -l)" -eq 10 ] || fail "wanted ten lines"
grep -q "^  L1 Allocated: 72.00 MB" "$work/screen" || fail "wanted figures in ten rows"
[[ $(tail -n 1 "$work/screen") == "... "[1-9]*" more lines: enlarge the terminal, or choose"* ]] ||
    fail "wanted the number of lines left out"
tm send-keys C-z
wait_for_text Stopped
[ "$(cursor)" = 11 ] || fail "wanted the cursor after Ctrl-Z"
tm send-keys "fg" Enter
sleep 0.5
[ "$(tm display -p '#{cursor_flag}')" = 0 ] || fail "wanted a hidden cursor after fg"
# A limit ends the command with its message after the frame.
live_region "$id" v3 "slot=4242:0:$((84 * mb)):0:0:0:1760000000000000000:python3"
tm send-keys C-c
tm resize-window -x 120 -y 40
tm send-keys "clear; ttscope top -r 100 --fail-above L1=80%; echo code=\$?" Enter
wait_for_text "code=1"
grep -q "^ttscope top: L1 of device 0 is at 98.8%" "$work/screen" || fail "wanted the message on a line of its own"
[ "$(cursor)" = 11 ] || fail "wanted the cursor after a limit"
# A limit that cannot be judged is in the frames.
tm send-keys "clear; ttscope top -r 100 -n 8 --view table --fail-above TRACE=80%; echo code=\$?" Enter
wait_for_text "code=5"
grep -q "^cannot check the limit of TRACE of device 0: the size of this pool is unknown" "$work/screen" ||
    fail "wanted the text in the frame"
# A new size draws the frame again, but is no update.
ran="top, resized between two updates"
tm send-keys "clear; ttscope top -r 60000 --view table" Enter
wait_for_text "Update #0"
for columns in 100 110 90; do
    tm resize-window -x $columns -y 30
    sleep 0.2
done
tm capture-pane -p >"$work/screen"
grep -qF "Update #0" "$work/screen" || fail "wanted the same update after a resize"
tm send-keys C-c
tm kill-server

# --- a terminal that does not block and takes nothing for a while -------------------------------
cat >"$work/full.py" <<'EOF'
import os, pty, sys, time
os.environ["TERM"] = "xterm"
pid, terminal = pty.fork()
if pid == 0:
    os.set_blocking(1, False)
    os.execvp("ttscope", ["ttscope", "top", "-r", "100"])
def ticks(): # the time of the processor, in ticks of 10 ms
    return sum(map(int, open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13]))
time.sleep(4) # the terminal is full
before = ticks()
time.sleep(1)
used = ticks() - before
os.set_blocking(terminal, False)
seen = b""
frames = 0
for _ in range(400): # top goes on
    try:
        seen += os.read(terminal, 65536)
    except BlockingIOError:
        time.sleep(0.05)
    frames = seen.count(b"\x1b[?7h")
    if frames > 40:
        break
os.kill(pid, 15)
print("used" if used > 30 else "waited", "went on" if frames > 40 else frames)
EOF
run timeout 60 python3 "$work/full.py"
expect_code 0
expect_out "waited went on"
