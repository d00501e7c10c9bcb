#!/usr/bin/env bash
# The map of replay: its destination, its texts, and its size for long sequences.
. "$(dirname "$0")/lib.sh"
example=$source_dir/examples/fragmentation.txt

run "$ttscope" replay -q "$example" --map "$work/map.svg"
expect_code 0
expect_out ""
expect_err ""
run cat "$work/map.svg"
expect_out_like ">Memory map of fragmentation.txt<"
expect_out_like ">10 of 64 requests failed: 9 by fragmentation (enough was free, but in pieces), 1 range not free.<"
expect_out_like ">Worst failure: operation 57 (line 78) needed 80.0 KiB; 841 KiB were free, and the largest piece was 64.0 KiB.<"
expect_out_like "cannot use 91.6 % of the free memory"
drawing=$out
# The same map on standard output, in a second file, and together with other output.
run "$ttscope" replay --map - "$example"
expect_code 0
expect_out "$drawing"
run "$ttscope" replay --check --json --stats "$example" -m "$work/second.svg"
expect_code 0
cmp -s "$work/map.svg" "$work/second.svg" || fail "wanted the same drawing"

# Map and statistics count the same requests.
for file in "$source_dir"/tests/golden/alloc/*.txt; do
    run "$ttscope" replay -q --json --map "$work/count.svg" "$file"
    total=$(sed -n '/"requests"/,/}/s/.*"total": \([0-9]*\).*/\1/p' <<<"$out")
    failed=$(sed -n '/"requests"/,/}/s/.*"failed": \([0-9]*\).*/\1/p' <<<"$out")
    run sh -c 'tr -d , <"$1" | grep -o ">[0-9]* of [0-9]* requests failed"' sh "$work/count.svg"
    expect_out ">$failed of $total requests failed"
done

# A map ends where the check stops.
sed '20,$s/^a \(.*\) = .*/a \1 = 1/' "$example" >"$work/wrong.txt"
run "$ttscope" replay -c "$work/wrong.txt" -m "$work/wrong.svg"
expect_code 1
grep -q 'operations</text>' "$work/wrong.svg" || fail "wanted a map"
! grep -q '107 operations' "$work/wrong.svg" || fail "wanted a shorter map"

# The picture of a million operations is no larger than others.
awk 'BEGIN {
    print "P size=1000000 offset=0 min_allocation_size=32 alignment=32 policy=FIRST"
    for (i = 0; i < 500000; i++) {
        print "x", (i * 7919) % 31250 * 32, 1 + i % 20000
        print "d", ((i - i % 17) * 7919) % 31250 * 32
    }
}' >"$work/long.txt"
run "$ttscope" replay -q "$work/long.txt" --map "$work/long.svg"
expect_code 0
[ "$(wc -c <"$work/long.svg")" -lt 1500000 ] || fail "wanted a small file"
grep -q '1,000,000 operations' "$work/long.svg" || fail "wanted all operations"

# If an XML reader is installed, it can read the map.
if command -v xmllint >/dev/null; then
    run xmllint --noout "$work"/*.svg
    expect_code 0
    expect_err ""
fi
