#!/usr/bin/env bash
# The source of a man page becomes plain text like that of scdoc.
. "$(dirname "$0")/lib.sh"

printf '%s\n' 'x(1)' '' '# NAME' '' 'x - *bold*, _under_ and snake_case_name' '' \
    '## Part' '' 'line++' 'next \*star\* \\ "quoted"' '; a comment' '' '*-a*, *--all* *c++*' \
    $'\tindented _X_' '' '```' 'as *it* _is_' $'\ttab' '```' '' '- point' >"$work/x.scd"
run "$source_dir/script/scd2text" "$work/x.scd"
expect_code 0
expect_out 'NAME
    x - bold, under and snake_case_name

  Part
    line
    next *star* \ "quoted"

    -a, --all c++
        indented X

    as *it* _is_
        tab

    - point'

# The C output holds the same text.
run "$source_dir/script/scd2text" -c "$work/x.scd"
expect_code 0
{
    sed 's,#include "cli/page.h",#include <stdio.h>\nstruct tts_help_page { const char *name; const char *const *lines; };,' "$work/out"
    echo 'int main(void) { for (int i = 0; tts_help_pages[0].lines[i]; i++) puts(tts_help_pages[0].lines[i]); }'
} >"$work/x.c"
run gcc -o "$work/x" "$work/x.c"
expect_code 0
run "$work/x"
expect_out "$("$source_dir/script/scd2text" "$work/x.scd")"

printf 'x(1)\n\n# NAME\n\n[- a\n:- b\n' >"$work/bad.scd"
run "$source_dir/script/scd2text" "$work/bad.scd"
expect_code 1
expect_err "scd2text: $work/bad.scd:5: tables are not supported"
