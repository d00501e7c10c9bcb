#!/usr/bin/env bash
# The JSON of replay: whole documents with the fields of docs/design/replay-json.md.
. "$(dirname "$0")/lib.sh"
cat >"$work/in.txt" <<'END'
P size=65536 offset=1024 min_allocation_size=32 alignment=32 policy=BEST
a 100 1 0 = 1024
a 100000 0 7
a 1 1 9999999
x 4096 1
x 4096 1
d 1024
d 1024
k 32
k 64000
r
l
v 0
m
t
s
c
q
END
run "$ttscope" replay --json --blocks --check "$work/in.txt"
expect_code 0
expect_err "ttscope replay: note: 12 operations state no expected result and were not compared"
expect_out "$(sed "s|FILE|$work/in.txt|" "$source_dir/tests/golden/replay/all.json")"

# --quiet leaves out the results and the blocks.
run "$ttscope" replay --json --quiet "$work/in.txt"
expect_code 0
expect_err ""
expect_out "$(sed -e "s|FILE|$work/in.txt|" -e '/"results"/,/^  \],/d' -e '/"check"/,$d' \
    "$source_dir/tests/golden/replay/all.json")"$'\n  "check": null\n}'

# The document has the same difference as standard error.
sed -i 's/= 1024/= 1025/' "$work/in.txt"
run "$ttscope" replay --json --quiet --check "$work/in.txt"
expect_code 1
expect_err_like ":2: expected 'a 100 1 0 = 1025', got 'a 100 1 0 = 1024'"
expect_out_like '"operations": 1,'
expect_out_like '"matched": 0,'
expect_err_like "; the comparison stopped there"
expect_out_like '"difference": {"line": 2, "expected": "a 100 1 0 = 1025", "got": "a 100 1 0 = 1024"}'

# Any file name becomes a valid string. Without free memory there is no fragmentation.
name=$work/$'a"b\\\x01\xff.txt'
printf '%s\n' 'P size=64 offset=0 min_allocation_size=1 alignment=1 policy=FIRST' 'a 64 1 0' >"$name"
run "$ttscope" replay -j "$name"
expect_code 0
[[ $out == *'a\"b\\\u0001\ufffd.txt"'* ]] || fail "wanted an escaped name"
expect_out_like '"fragmentation_ratio": null'

# If a JSON reader is installed, it can read the document.
if command -v jq >/dev/null; then
    for file in "$source_dir"/tests/golden/alloc/*.txt "$name"; do
        run sh -c '"$1" replay -jbc "$2" 2>/dev/null | jq -e \
            ".operations.total == (.results | length) and .schema.version == 1 and
             (.blocks | map(.size_bytes) | add) == .statistics.total_allocatable_size_bytes and
             ([.operations | del(.total) | .[]] | add) == .operations.total and
             .requests.total == (.requests | .ok + .failed + .below_limit) and
             .requests.failed == (.requests | .fragmentation + .too_little_free + .range_not_free)
             "' \
            sh "$ttscope" "$file"
        expect_out "true"
    done
fi
