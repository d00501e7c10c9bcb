#!/usr/bin/env bash
# The commands help and version, and messages about misspelled commands.
. "$(dirname "$0")/lib.sh"

# `ttscope help` prints the list on stdout. `ttscope` alone prints it on stderr.
run "$ttscope" help
expect_code 0
expect_err ""
expect_out_like "replay FILE"
expect_out_like "show FILE"
expect_out_like "help \[COMMAND\]"
list=$out
run "$ttscope" --help
expect_code 0
expect_out "$list"
run "$ttscope" -h
expect_out "$list"
run "$ttscope"
expect_code 2
expect_out ""
expect_err "$list"

# Every command of the list has a page, which three command lines print.
commands=$(sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$list")
[ "$(wc -w <<<"$commands")" -ge 3 ] || fail "wanted a list of commands"
for command in $commands; do
    run "$ttscope" help "$command"
    expect_code 0
    expect_err ""
    expect_out "$("$source_dir/script/scd2text" "$source_dir/src/cli/pages/$command.scd")"
    expect_out_like "ttscope-$command - "
    page=$out
    run "$ttscope" "$command" --help
    expect_code 0
    expect_out "$page"
    # -h prints the short list of options. The page has every option of the list.
    run "$ttscope" "$command" -h
    expect_code 0
    [ "$out" = "$page" ] && continue
    expect_out_like "usage: ttscope $command "
    while read -r option; do
        grep -qE -e "(^|[ ,])$option([ ,]|\$)" <<<"${page//_/-}" || fail "wanted $option in its page"
    done < <(grep -oE -e '^  (-.,|   ) --[a-z-]+' <<<"$out" | grep -oE -e '--[a-z-]+')
done
run "$ttscope" help ttscope
for words in "top with --fail-above finds a pool" "doctor finds a problem" "clean leaves a region"; do
    expect_out_like "$words"
done
expect_code 0
expect_out_like "EXIT STATUS"
[[ $list == *"'ttscope help TOPIC'"* ]] || fail "wanted the list to say how to read a topic"

# Every topic of the list has a page and is not a command. Pages fit a terminal.
topics=$(sed -n 's/^topics: //p' <<<"$list" | sed 's/([^)]*)//g; s/,//g')
[ "$(wc -w <<<"$topics")" -ge 1 ] || fail "wanted a list of topics"
for topic in $topics; do
    run "$ttscope" help "$topic"
    expect_code 0
    expect_err ""
    expect_out "$("$source_dir/script/scd2text" "$source_dir/src/cli/pages/$topic.scd")"
    expect_out_like "ttscope-$topic - "
    run "$ttscope" "$topic"
    expect_code 2
    expect_out ""
    expect_err "ttscope: '$topic' is a help topic, not a command (see 'ttscope help $topic')"
done
for page in "$source_dir"/src/cli/pages/*.scd; do
    run "$source_dir/script/scd2text" "$page"
    [ -z "$(awk 'length > 80' "$work/out")" ] || fail "wanted lines of at most 80 columns"
done

# Every field that a summary prints is defined, and the relations between the fields are stated.
run "$ttscope" help phases
for field in "Segment Peak" "Allocations" "Deallocations" "Segment Change" "Cumulative Peak" \
    "Cumulative Current" "Overall DRAM Peak" "Final DRAM Usage" "Peak CB" "Peak Buffer" \
    "Peak Total"; do
    grep -qx "    $field" <<<"$out" || fail "wanted a definition of '$field'"
done
expect_out_like "THE TRUE CORE PEAK"
expect_out_like "1048576"
for relation in "Segment Change       Allocations - Deallocations" \
    "Cumulative Peak      the greater of: Cumulative Peak before," \
    "Cumulative Current   Cumulative Current before"; do
    expect_out_like "$relation"
done

# The version is the same in the library's map and in the package.
run "$ttscope" --version
expect_code 0
expect_out_like "ttscope [0-9].[0-9].[0-9]"
version=$out
run "$ttscope" -V
expect_out "$version"
run "$ttscope" version
expect_out "$version"

run "$ttscope" repaly
expect_code 2
expect_out ""
expect_err "ttscope: unknown command 'repaly', did you mean 'replay'? (see 'ttscope help')"
run "$ttscope" help versoin
expect_code 2
expect_err "ttscope: unknown command or topic 'versoin', did you mean 'version'? (see 'ttscope help')"
run "$ttscope" help phsaes
expect_code 2
expect_err "ttscope: unknown command or topic 'phsaes', did you mean 'phases'? (see 'ttscope help')"
run "$ttscope" frobnicate
expect_code 2
expect_err "ttscope: unknown command 'frobnicate' (see 'ttscope help')"
run "$ttscope" ""
expect_code 2
expect_err "ttscope: unknown command '' (see 'ttscope help')"
run "$ttscope" --verison
expect_code 2
expect_err "ttscope: unknown option '--verison' before the command (see 'ttscope help')"

run "$ttscope" version --hepl
expect_code 2
expect_err "ttscope version: unknown option '--hepl', did you mean '--help'? (see 'ttscope help version')"
run "$ttscope" version --frobnicate
expect_code 2
expect_err "ttscope version: unknown option '--frobnicate' (see 'ttscope help version')"
run "$ttscope" version -x
expect_code 2
expect_err "ttscope version: unknown option '-x' (see 'ttscope help version')"
run "$ttscope" version --help=yes
expect_code 2
expect_err "ttscope version: option '--help' takes no value (see 'ttscope help version')"
run "$ttscope" version now
expect_code 2
expect_err "ttscope version: one operand too many: 'now' (see 'ttscope help version')"
run "$ttscope" version -- --help
expect_code 2
expect_err "ttscope version: one operand too many: '--help' (see 'ttscope help version')"

# Unsafe characters are not printed.
run "$ttscope" $'bad\e[31m\nname'
expect_code 2
expect_err "ttscope: unknown command 'bad?[31m?name' (see 'ttscope help')"
