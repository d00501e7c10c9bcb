#!/usr/bin/env bash
# A command that is not built in is a program in ../libexec/ttscope.
. "$(dirname "$0")/lib.sh"

mkdir -p "$work/bin" "$work/libexec/ttscope"
cp "$ttscope" "$work/bin/ttscope"
cat >"$work/libexec/ttscope/ttscope-greet-2" <<'END'
#!/bin/sh
printf '%s' "${0##*/}"
printf ' <%s>' "$@"
exit 42
END
chmod +x "$work/libexec/ttscope/ttscope-greet-2"

run "$work/bin/ttscope" greet-2 --loud "a b" ''
expect_code 42
expect_out "ttscope-greet-2 <--loud> <a b> <>"
run "$work/bin/ttscope" help greet-2
expect_code 42
expect_out "ttscope-greet-2 <--help>"

# The program is also found through a link, from another directory, and through PATH.
ln -s "$work/bin/ttscope" "$work/link"
run sh -c 'cd / && exec "$1/link" greet-2' sh "$work"
expect_code 42
run sh -c 'cd / && PATH=$1/bin:$PATH && exec ttscope greet-2' sh "$work"
expect_code 42

# ttscope opens /dev/null in place of a closed standard input, output or error. So no file that
# ttscope opens itself becomes one of them.
cat >"$work/libexec/ttscope/ttscope-fds" <<'END'
#!/bin/sh
readlink "/proc/$$/fd/0" "/proc/$$/fd/2"
END
chmod +x "$work/libexec/ttscope/ttscope-fds"
run sh -c 'exec "$1" fds <&- 2>&-' sh "$work/bin/ttscope"
expect_out $'/dev/null\n/dev/null'

# A built-in command is never replaced, and a command word never leaves the directory.
cp "$work/libexec/ttscope/ttscope-greet-2" "$work/libexec/ttscope/ttscope-version"
run "$work/bin/ttscope" version
expect_code 0
mkdir "$work/libexec/ttscope/ttscope-x"
cp "$work/libexec/ttscope/ttscope-greet-2" "$work/libexec/ttscope/ttscope-Upper"
for word in x/../ttscope-greet-2 Upper greet_2 ../greet-2; do
    run "$work/bin/ttscope" "$word"
    expect_code 2
    expect_err_like "ttscope: unknown command '$word'"
done

# A program that exists but does not start is not a usage error.
chmod -x "$work/libexec/ttscope/ttscope-greet-2"
run "$work/bin/ttscope" greet-2
expect_code 3
expect_err_like "ttscope: cannot run '"
expect_err_like "/libexec/ttscope/ttscope-greet-2': permission denied"
