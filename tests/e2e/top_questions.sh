#!/usr/bin/env bash
# `ttscope top` and a real program that publishes: a leak, the phases of a trace, a full L1.
. "$(dirname "$0")/lib.sh"
export TTSCOPE_ROOT=$work/root LC_ALL=C.UTF-8 TZ=UTC COLUMNS=80
unset TTSCOPE TT_ALLOC_TRACKING_ENABLED
shm=$TTSCOPE_ROOT/dev/shm
mkdir -p "$shm"
ln -s /proc "$TTSCOPE_ROOT/proc"
mkfifo "$work/in" "$work/answers"
"$TTS_BUILD_DIR/tests/publish_program" "$shm" +1 4096 <"$work/in" >"$work/answers" 2>"$work/program.err" &
program=$!
disown
trap 'status=$?; kill -9 "$program" "${monitor:-}" 2>"/dev/null"; rm -rf "$work"; [ "$failures" -eq 0 ] || status=1; exit "$status"' EXIT
exec {to}>"$work/in" {from}<"$work/answers"
read -r -t 20 word _ <&"$from"
[ "$word" = ready ] || fail "wanted a program: $(<"$work/program.err")"

tell() {
    echo "$1" >&"$to"
    read -r -t 20 _ <&"$from" || fail "wanted an answer to '$1'"
}

# watch OPTION...   starts top; work goes on until top has ended
watch() { # buffers kept by each step
    local kept=$1
    shift
    ran="top $*"
    "$ttscope" top -r 100 "$@" >"$work/out" 2>"$work/err" &
    monitor=$!
    while kill -0 "$monitor" 2>/dev/null; do
        tell "work 20 $kept"
        sleep 0.02
    done
    code=0
    wait "$monitor" || code=$?
    out="" err=$(cat "$work/err")
}

# --- a leak -------------------------------------------------------------------------------------
for _ in {1..6}; do tell "alloc 100000"; done
watch 0 -n 25 --fail-on leak --growing-interval 0.1 --view table
expect_code 0
expect_err ""
watch 1 -n 150 --fail-on leak --growing-interval 0.1 --json
expect_code 1
expect_err_like "ttscope top: device 0: Leak detected! DRAM of process $program publish_program: "
expect_err_like "; sizes from 4.00 KB to twice that"
[ "$(tail -n 1 "$work/out" | jq -c '.devices[0].leak[] | [.pool, .pid, .class_sizes, .bytes_at_least == .buffers * 4096]')" = \
    "[\"DRAM\",$program,[4096],true]" ] || fail "wanted the leak in JSON: $(tail -n 1 "$work/out" | jq -c '.devices[0].leak')"

# --- the phases of a trace ----------------------------------------------------------------------
: >"$work/out"
"$ttscope" top -r 100 -n 200 --json >"$work/out" &
monitor=$!
has_phase() { # filter
    for _ in {1..100}; do
        [ "$(tail -n 1 "$work/out" | jq "$1" 2>/dev/null)" != true ] || return 0
        sleep 0.05
    done
    fail "waited in vain for $1: $(tail -n 1 "$work/out" | jq -c '.devices[0].phases')"
}
has_phase '.devices[0].phase == "init"'
tell begin
has_phase '.devices[0].phase == "capture_start"'
tell "l1 1000000"
has_phase '.devices[0].phase == "capture_data"'
tell end
has_phase '.devices[0].phase == "execution"'
has_phase '.devices[0].steady_seconds > 0.2'
kill "$monitor"
wait "$monitor"
run "$ttscope" top --once --view phases
expect_out_like "Execution"

# --- a full L1 ----------------------------------------------------------------------------------
tell "full 2000000"
run "$ttscope" top --once
expect_code 0
expect_sentence "L1 Memory: 100% full - critical, reduce buffer sizes; largest: process $program publish_program*DRAM Memory: 0% full - has room for buffers that are now in L1; 2 buffers could move to DRAM, which frees 978.56 KB, the largest 976.56 KB of process $program publish_program (buffer 107)"
run "$ttscope" top --once --json
[ "$(jq -c '.devices[0].pressure[0] | [.pool, .usage_ratio, .dram_has_room, [.moves[].bytes], .moves_bytes, .moves_not_listed]' <<<"$out")" = \
    '["L1",1,true,[1000000,2048],1002048,0]' ] || fail "wanted the pressure: $(jq -c '.devices[0].pressure' <<<"$out")"

# --- a circular buffer in the largest one --------------------------------------------------------
tell "place 640000 65536"
tell "cb 65536"
run "$ttscope" top --once --json
moves='.devices[0].pressure[0] | [[.moves[].bytes], .moves_bytes]'
[ "$(jq -c "$moves" <<<"$out")" = '[[1000000,2048],1002048]' ] ||
    fail "a buffer with a circular buffer cannot move: $(jq -c '.devices[0].pressure' <<<"$out")"
tell program
run "$ttscope" top --once --json
[ "$(jq -c "$moves" <<<"$out")" = '[[1000000,640000,2048],1642048]' ] ||
    fail "the circular buffer has ended: $(jq -c '.devices[0].pressure' <<<"$out")"
