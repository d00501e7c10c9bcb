#!/usr/bin/env bash
# Output that cannot be written is a failure. A closed pipe ends the program without a message.
. "$(dirname "$0")/lib.sh"

said="ttscope help: cannot write to standard output:"
run sh -c '"$1" help ttscope >/dev/full' sh "$ttscope"
expect_code 3
expect_err "$said no space left on the disk"
run sh -c '"$1" help ttscope >&-' sh "$ttscope"
expect_code 3
expect_err "$said bad file descriptor"
run sh -c 'trap "" PIPE; { sleep 0.2; "$1" help ttscope; echo $? >&2; } | true' sh "$ttscope"
expect_err "$said broken pipe"$'\n3'
run sh -c '{ sleep 0.2; "$1" help ttscope; echo $? >&2; } | true' sh "$ttscope"
expect_err 141

# A closed stderr loses messages but not exit codes. A closed stdin cannot be read.
run sh -c '"$1" frobnicate 2>&-' sh "$ttscope"
expect_code 2
expect_out ""
run sh -c '"$1" replay - <&-' sh "$ttscope"
expect_code 3
