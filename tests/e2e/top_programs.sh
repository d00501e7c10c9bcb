#!/usr/bin/env bash
# `ttscope top`, `clean` and `doctor` and programs that publish: exact bytes, changes, a program
# that is killed, 64 programs with 32 devices each, and a program in a pid namespace of its own.
. "$(dirname "$0")/lib.sh"
export TTSCOPE_ROOT=$work/root LC_ALL=C.UTF-8 TZ=UTC COLUMNS=80
unset TTSCOPE TT_ALLOC_TRACKING_ENABLED
program=$TTS_BUILD_DIR/tests/publish_program
shm=$TTSCOPE_ROOT/dev/shm
mkdir -p "$shm"
ln -s /proc "$TTSCOPE_ROOT/proc"
pids=()
trap 'status=$?; kill -9 "${pids[@]}" 2>"/dev/null"; rm -rf "$work"; [ "$failures" -eq 0 ] || status=1; exit "$status"' EXIT

# start NAME ARG...   starts the program; its input is $work/NAME.in, open as a descriptor in $to
start() {
    local name=$1 word
    shift
    mkfifo "$work/$name.in" "$work/$name.out"
    "$@" <"$work/$name.in" >"$work/$name.out" 2>"$work/$name.err" &
    last=$!
    pids+=("$last")
    disown
    exec {to}>"$work/$name.in" {from}<"$work/$name.out"
    read -r -t 20 word inside <&"$from" || word=
    [ "$word" = ready ] || fail "wanted $name to be ready: $(<"$work/$name.err")"
}

tell() {
    echo "$1" >&"$to"
    read -r -t 20 _ <&"$from" || fail "wanted an answer to '$1'"
}

# Expects a value in the JSON of top.
expect_top() { # filter wanted
    run "$ttscope" top --once --json
    expect_code 0
    [ "$(jq -c "$1" <<<"$out")" = "$2" ] || fail "wanted of '$1': $2, found $(jq -c "$1" <<<"$out")"
}

# --- a program that counts ----------------------------------------------------------------------
start one "$program" "$shm" 2 4096
one=$last
expect_top '[.devices[] | [.unique_id, .state, .source, .pools[0].allocated_bytes, .pools[1].allocated_bytes]]' \
    '[[40960,"live","client",4096,2048],[40961,"live","client",8192,2048]]'
expect_top '.devices[0].processes | length' 1
expect_top '.devices[0].processes[0] | [.pid, .name, .state, .buffers, .pools.DRAM, .published.events, .published.dropped]' \
    "[$one,\"publish_program\",\"live\",2,4096,4,0]"
expect_top '.devices[0].pools[0] | [.total_bytes, .free_bytes]' '[null,null]'
tell "alloc 1000000"
tell "alloc 3"
expect_top '.devices[0].pools[0] | [.allocated_bytes, .buffers]' '[1004099,3]'
tell free
expect_top '.devices[0].pools[0] | [.allocated_bytes, .buffers]' '[1004096,2]'
run "$ttscope" top --once --view processes
expect_out_like "$one"
run "$ttscope" doctor
expect_out_like "1 program publishes its memory"
run "$ttscope" clean --yes
expect_code 0
expect_out "nothing to clean: no dead process left anything in 1 region"

# --- an allocator that reports, and two programs on one device ----------------------------------
start two "$program" "$shm" +1 10000
expect_top '[.devices[0].pools[0] | .total_bytes, .total_source, .allocated_bytes, .free_bytes, .free_is_limit]' \
    "[1073741824,\"reported\",$((1004096 + 14096)),$((1073741824 - 1004096 - 14096)),true]"
expect_top '[.devices[0].processes[].pools.DRAM]' '[1004096,14096]'
exec {to}>&- # the program ends in order
for _ in {1..100}; do
    [ "$(find "$shm" -name 'ttscope_*' | wc -l)" -gt 1 ] || break
    sleep 0.05
done
expect_top '.devices[0].processes | length' 1

# --- the program is killed ----------------------------------------------------------------------
file=$(basename "$shm"/ttscope_"$one"_*)
kill -9 "$one"
while kill -0 "$one" 2>/dev/null; do sleep 0.02; done
expect_top '[.devices[0] | .state, .processes[0].state, .processes[0].alive, .processes[0].container_pid, .pools[0].allocated_bytes]' \
    "[\"phantom\",\"dead\",false,$one,1004096]"
expect_top '.devices[0].caveats | index("left_over") != null' true
run "$ttscope" doctor
expect_code 1
expect_sentence "1 region is left of programs that were killed"
run "$ttscope" clean --dry-run --json
expect_code 0
[ "$(jq -c '[.programs[] | [.file, .pid, .name, .result, .bytes, .pools.DRAM]]' <<<"$out")" = \
    "[[\"$file\",$one,\"publish_program\",\"would_remove\",1016384,1012288]]" ] || fail "wanted one program"
[ "$(jq -c '[.entries, .bytes, .removed_entries]' <<<"$out")" = '[1,1016384,0]' ] || fail "wanted sums"
run "$ttscope" clean --dry-run
expect_out_like "1 left-over of dead processes in 1 region, 993 KiB:"
expect_out_like " its own  "
[ -f "$shm/$file" ] || fail "wanted the file to stay"
run "$ttscope" clean
expect_code 2
run "$ttscope" clean --yes
expect_code 0
expect_out_like "removed 1 left-over, 993 KiB"
[ ! -e "$shm/$file" ] || fail "wanted the file to be removed"
run "$ttscope" clean --yes
expect_out "nothing to clean: this host has no memory region"

# --- two programs whose devices have no ids -----------------------------------------------------
# `-` in the name of a device of the program: the program numbers its devices itself. A killed
# program keeps its rows and their changes; one that ends leaves its numbers to nobody.
start first "$program" "$shm" -1 1000
first=$last first_to=$to
start second "$program" "$shm" -2 2000
second=$last second_to=$to
"$ttscope" top --json -r 100 >"$work/numbers.json" 2>&1 &
top=$!
wait_for_numbers() { # wanted rows "NUMBER:ID:DRAM:CHANGE" of the last line, of the three devices
    local rows=
    for _ in {1..200}; do
        rows=$(tail -n 1 "$work/numbers.json" | jq -rj '.devices[] | "\(.index):\(.id):\(.pools[0].allocated_bytes):\(.pools[0].change_bytes) "' 2>/dev/null)
        [ "$rows" = "$1" ] && return
        sleep 0.05
    done
    fail "wanted the rows $1, found $rows"
}
if [ "$first" -lt "$second" ]; then numbers=(0 1 2); else numbers=(2 0 1); fi
row() { echo "${numbers[$1]}:$2:$3:${4:-0} "; }
rows() { printf '%s\n' "$@" | sort -n | tr '\n' ' ' | tr -s ' '; }
wait_for_numbers "$(rows "$(row 0 0 1000)" "$(row 1 0 2000)" "$(row 2 1 4000)")"
kill -9 "$first"
while kill -0 "$first" 2>/dev/null; do sleep 0.02; done
sleep 0.3
wait_for_numbers "$(rows "$(row 0 0 1000)" "$(row 1 0 2000)" "$(row 2 1 4000)")"
run "$ttscope" clean --yes
expect_code 0
wait_for_numbers "$(rows "$(row 1 0 2000)" "$(row 2 1 4000)")"
exec {first_to}>&- {second_to}>&-
kill "$top"
wait "$top"
while kill -0 "$second" 2>/dev/null; do sleep 0.02; done

# --- the published screens ----------------------------------------------------------------------
# A program with the published numbers gives the published screens. As in the comparison of
# frames, runs of blanks are one, and the cells of a bar and the times do not count. The published
# number of the update is 23, and the published architecture has no name.
plain() {
    sed -E 's/\[[█░]*\]/[]/; s/20[0-9-]+ [0-9:]{8}/TIME/; s/Update #(1|23)\)/Update #N)/; s/2 \(wormhole\)/2/' |
        tr -s ' ' | sed 's/ $//'
}
golden=$TTS_SOURCE_DIR/tests/golden/live
expect_published() { # FILE   `out` begins with the lines of the file
    local wanted lines
    wanted=$(plain <"$golden/$1")
    lines=$(wc -l <<<"$wanted")
    out=$(plain <<<"$out" | head -n "$lines")
    [ "$lines" -gt 10 ] || fail "wanted the lines of $1"
    [ "$out" = "$wanted" ] || fail "wanted $1: $(diff <(echo "$wanted") <(echo "$out"))"
}
start block "$program" "$shm" =0 0
run env LC_ALL=C.UTF-8 "$ttscope" top --once
expect_code 0
expect_published published_block.txt
exec {to}>&-
while kill -0 "$last" 2>/dev/null; do sleep 0.02; done
start table "$program" "$shm" '#0' 0
"$ttscope" top --view table -r 1000 -n 2 >"$work/table" 2>&1 &
top=$!
for _ in {1..100}; do
    grep -q "^Device" "$work/table" && break
    sleep 0.02
done
tell grow
wait $top
# The tips are in the first frame only. A program that uses traces has a line more below the table.
out=$(sed -n '/Update #1)/,$p' "$work/table" | grep -vE '^Update #1: +TRACE: 128 MB, +L1: 11.03 MB')
out+=$'\n\n'$(sed -n '/Tips:/,/Steady state/p' "$work/table")
expect_published published_table.txt
exec {to}>&-
while kill -0 "$last" 2>/dev/null; do sleep 0.02; done

# --- files that are no regions ------------------------------------------------------------------
mkfifo "$shm/ttscope_1_2_3"
ln -s /etc/passwd "$shm/ttscope_2_2_3"
head -c 5000 /dev/urandom >"$shm/ttscope_4194303_2_$(stat -Lc %i /proc/self/ns/pid)"
run timeout 10 "$ttscope" clean --yes
expect_code 0
expect_out_like "removed 1 left-over"
[ -p "$shm/ttscope_1_2_3" ] || fail "wanted the pipe to stay"
[ -L "$shm/ttscope_2_2_3" ] || fail "wanted the link to stay"
rm "$shm"/ttscope_*

# --- the environment starts the program to publish ----------------------------------------------
start plain "$program" - 1 4096
run "$ttscope" top --once --json
expect_code 4
exec {to}>&-
TTSCOPE=1 start asked "$program" - 1 4096
run env TTSCOPE_ROOT= "$ttscope" top --once --json
[ "$(jq -c "[.devices[].processes[] | select(.pid == $last) | .pools.DRAM]" <<<"$out")" = '[4096]' ] ||
    fail "wanted the program that was started with TTSCOPE=1"
exec {to}>&-
while kill -0 "$last" 2>/dev/null; do sleep 0.02; done

# --- 64 programs with 32 devices each -----------------------------------------------------------
mkfifo "$work/many.in"
for ((i = 1; i <= 64; i++)); do
    "$program" "$shm" 32 "$i" <"$work/many.in" >"$work/many.$i" 2>&1 &
    pids+=("$!")
    disown
done
exec {many}>"$work/many.in"
for ((i = 1; i <= 64; i++)); do
    for _ in {1..400}; do
        [ ! -s "$work/many.$i" ] || break
        sleep 0.05
    done
done
expect_top '[(.devices | length), ([.devices[].processes | length] | unique)]' '[32,[64]]'
expect_top '[.devices[] | .pools[0].allocated_bytes]' \
    "$(jq -nc '[range(32) | (. + 1) * 2080]')"
exec {many}>&-
for _ in {1..400}; do
    [ "$(find "$shm" -name 'ttscope_*' | wc -l)" -gt 0 ] || break
    sleep 0.05
done

# --- a program in another pid namespace ---------------------------------------------------------
space=(unshare --pid --fork --mount-proc)
"${space[@]}" true 2>/dev/null || space=(unshare --user --map-root-user --pid --fork --mount-proc)
if ! "${space[@]}" true 2>/dev/null; then
    echo "skipped: unshare is not allowed here"
    exit
fi
start contained "${space[@]}" "$program" "$shm" 1 4096
outside=$(pgrep -P "$last")
[ "$inside" = 1 ] || fail "wanted the program to be process 1 of its namespace"
expect_top '[.devices[0].processes[0] | .pid, .container_pid, .state, .pools.DRAM]' "[$outside,1,\"live\",4096]"
run "${space[@]}" "$ttscope" top --once --json
[ "$(jq -c '[.devices[0].processes[0] | .pid, .container_pid, .state, .pools.DRAM]' <<<"$out")" = \
    '[null,1,"not_visible",4096]' ] || fail "wanted a program that is not visible from another namespace"
run "${space[@]}" "$ttscope" clean --yes
expect_out "nothing to clean: no dead process left anything in 1 region"
kill -9 "$outside"
while kill -0 "$outside" 2>/dev/null; do sleep 0.02; done
if [ "$(stat -Lc %i /proc/self/ns/pid)" = 4026531836 ]; then
    expect_top '.devices[0].processes[0] | [.pid, .state]' '[null,"dead"]'
    run "$ttscope" clean --yes
    expect_code 4
    expect_err_like "is not removed: the program ran in another pid namespace"
fi
[ "$(find "$shm" -name 'ttscope_*' | wc -l)" -eq 1 ] || fail "wanted the region of the other namespace to stay"
