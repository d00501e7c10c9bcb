#!/usr/bin/env bash
# Invalid sequences: the message has the file, the line and the expected text, the exit code is 3,
# and no partial output remains.
. "$(dirname "$0")/lib.sh"
pool='P size=65536 offset=1024 min_allocation_size=32 alignment=32 policy=FIRST'
rest='min_allocation_size=32 alignment=32 policy=FIRST'
input=$work/in.txt

# Expects only the message, whatever options are given.
expect_bad() {
    for options in '--check' '--json' "--quiet --map $work/map.svg" "--map -" \
        "--json --map $work/map.svg -sb"; do
        # shellcheck disable=SC2086 # several words
        run "$ttscope" replay $options "$input"
        expect_code 3
        expect_out ""
        expect_err "ttscope replay: $1"
    done
    run ls -A "$work"
    expect_out "$(printf '%s\n' err in.txt out)"
}
bad_lines() {
    printf '%b\n' "${@:2}" >"$input"
    expect_bad "$input:$1"
}

bad_lines "2: expected 'a SIZE UP LIMIT', got 2 operands" "$pool" 'a 1 1'
bad_lines "4: unknown operation 'b', expected one of P a x d k r c s l q v m t" '# x' "$pool" '' 'b 1'
bad_lines "3: SIZE '18446744073709551616' is too large: at most 18446744073709551615" \
    "$pool" 'a 18446744073709551615 1 0' 'a 18446744073709551616 1 0'
bad_lines "2: UP must be 0 (from the top) or 1 (from the bottom), got '2'" "$pool" 'a 1 2 0'
bad_lines "3: expected 'ok' or 'E' after 'k ... =', got 'F'" "$pool" 'k 1 = ok' 'k 1 = F'
bad_lines "1: pool size is 0, expected at least 1 byte" "P size=0 offset=0 $rest"
bad_lines "1: pool size is 70368744177665 bytes, expected at most 70368744177664 bytes (2^46)" \
    "P size=70368744177665 offset=0 $rest"
bad_lines "1: the end of the pool does not fit in 64 bits: offset 18446744073709551000 + size 65536" \
    "P size=65536 offset=18446744073709551000 $rest"
bad_lines "1: field 'policy' is missing, expected 'P size=N offset=N min_allocation_size=N \
alignment=N policy=FIRST|BEST'" 'P size=1 offset=1 min_allocation_size=1 alignment=1'
bad_lines "2: a second 'P' line: a sequence has only one pool" "$pool" "$pool"
bad_lines "2: expected the pool first, 'P size=N ...', got 's'" '# none' 's' "$pool"
bad_lines "3: no pool: expected a line 'P size=N offset=N min_allocation_size=N alignment=N \
policy=FIRST|BEST'" '#' '' '# end'
bad_lines "2: unknown operation '?PNG', expected one of P a x d k r c s l q v m t" \
    "$pool" '\0211PNG'
bad_lines "2: not a text file: the file has a NUL byte" "$pool" 'a 1 \0000 1 0'
bad_lines "2: the line is longer than 4096 bytes" "$pool" "#$(printf '%04096d' 0)"
: >"$input"
expect_bad "$input:1: no pool: expected a line 'P size=N offset=N min_allocation_size=N \
alignment=N policy=FIRST|BEST'"

bad_lines "2: expected 'a SIZE UP LIMIT', got 4 operands; put spaces around '='" \
    "$pool" 'a 100 1 0 =5'
bad_lines "2: expected 'TOTAL ALLOCATED FREE LARGEST' after 's ... =', got only 2 words" \
    "$pool" 's = 1 2'
bad_lines "2: unknown operation '???s', expected one of P a x d k r c s l q v m t" \
    "$pool" '\0357\0273\0277s'

# The output before the bad line is still a sequence.
printf '%s\n' "$pool" 'a 1 1 0' 'oops' >"$input"
run "$ttscope" replay "$input"
expect_code 3
expect_out "$pool"$'\n''a 1 1 0 = 1024'

run "$ttscope" replay "$work/none.txt"
expect_code 3
expect_err "ttscope replay: cannot read '$work/none.txt': no such file or directory"
run "$ttscope" replay "$work"
expect_code 3
expect_err "ttscope replay: cannot read '$work': is a directory"

# Outputs that cannot be written are detected before or after the run.
printf '%s\n' "$pool" 'a 1 1 0' >"$input"
run "$ttscope" replay "$input" --map "$work/none/map.svg"
expect_code 3
expect_out ""
expect_err "ttscope replay: cannot write '$work/none/map.svg': no such file or directory"
for options in '' '--json' '--stats -q' '--blocks -q' '--check' '--map -'; do
    run sh -c '"$1" replay "$2" $3 >/dev/full' sh "$ttscope" "$input" "$options"
    expect_code 3
    expect_err_like "ttscope replay: cannot write to standard output: no space left on the disk"
done

# A file that cannot be read has no line. Control characters of a name are not printed.
run sh -c '"$1" replay - <&-' sh "$ttscope"
expect_code 3
expect_err "ttscope replay: cannot read standard input: bad file descriptor"
run "$ttscope" replay "$work/"$'a\x1b[31m\xffb\xc2\x9bc\xc3\xa9.txt'
expect_code 3
expect_err "ttscope replay: cannot read '$work/a?[31m?b?c"$'\xc3\xa9'".txt': no such file or directory"

# The map does not replace its input, under any name.
cp "$input" "$work/kept"
ln -s in.txt "$work/link"
ln "$input" "$work/hard"
for map in in.txt ./in.txt link hard; do
    for source in in.txt link -; do
        run sh -c 'cd "$1" && "$2" replay "$3" --map "$4" <in.txt' sh "$work" "$ttscope" \
            "$source" "$map"
        expect_code 2
        expect_out ""
        expect_err "ttscope replay: '$map' is the input: write the address map to another file"
        cmp -s "$input" "$work/kept" || fail "wanted the input as it was"
    done
done
run sh -c '"$1" replay "$2" --map - >>"$2"' sh "$ttscope" "$input"
expect_code 2
expect_err "ttscope replay: standard output is also the input: write the address map to another file"
cmp -s "$input" "$work/kept" || fail "wanted the input as it was"
run sh -c '"$1" replay - --map /dev/null <"$2"' sh "$ttscope" "$input"
expect_code 0

# Mistakes on the command line are reported.
run "$ttscope" replay
expect_code 2
expect_err "ttscope replay: missing operand 'FILE' (see 'ttscope help replay')"
run "$ttscope" replay a b
expect_code 2
run "$ttscope" replay --map
expect_code 2
run "$ttscope" replay --chek a
expect_code 2
expect_err_like "did you mean '--check'?"
for option in --check --stats --blocks --json; do
    run "$ttscope" replay "$input" --map - $option
    expect_code 2
    expect_out ""
    expect_err_like "'--map -' uses standard output"
done
