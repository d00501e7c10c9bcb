#!/usr/bin/env bash
# The output, the comparison and the counts of `ttscope replay`.
. "$(dirname "$0")/lib.sh"
golden=$source_dir/tests/golden/alloc
pool='P size=65536 offset=1024 min_allocation_size=32 alignment=32 policy=FIRST'

# The recordings of the reference allocator and the example are reproduced byte for byte. An
# operation without a result is no match.
for file in "$golden"/*.txt "$source_dir/examples/fragmentation.txt"; do
    run "$ttscope" replay "$file"
    expect_code 0
    expect_err ""
    expect_out "$(grep -v -e '^#' -e '^$' "$file")"
    cp "$work/out" "$work/printed.txt"
    run "$ttscope" replay --check "$work/printed.txt"
    expect_code 0
    expect_err ""
    expect_out_like " operations, "
    run "$ttscope" replay "$file" --check
    operations=$(grep -c '^[axdkrcslqvmt]' "$file")
    frees=$(grep -c '^[drc]' "$file")
    expect_out "$operations operations, $((operations - frees)) match, $frees have no result"
done

# A sequence without stated results gives the same text. Standard input works like a file.
sed '/^P/!s/ *=.*//' "$golden/p2_wh_l1_first.txt" >"$work/bare.txt"
run "$ttscope" replay "$work/bare.txt"
expect_code 0
expect_out "$(grep -v '^#' "$golden/p2_wh_l1_first.txt")"
run sh -c '"$1" replay - <"$2"' sh "$ttscope" "$work/bare.txt"
expect_code 0
expect_out "$(grep -v '^#' "$golden/p2_wh_l1_first.txt")"

# A check stops at the first difference and prints its line.
printf '%s\n' '# first' "$pool" 'a 64 1 0 = 1024' '' 'd 1024' 'a 64 1 0 = 1025' 'a 64 1 0 = 7' \
    >"$work/wrong.txt"
run "$ttscope" replay --check "$work/wrong.txt"
expect_code 1
expect_err "ttscope replay: $work/wrong.txt:6: expected 'a 64 1 0 = 1025', got 'a 64 1 0 = 1024'; the comparison stopped there"
expect_out "3 operations, 1 match, 1 has no result"
run sh -c '"$1" replay -c - <"$2"' sh "$ttscope" "$work/wrong.txt"
expect_code 1
expect_err_like "ttscope replay: <stdin>:6: expected "

# An operation without a stated result is run and counted in a note, but not as a match.
printf '%s\n' "$pool" 'a 64 1 0' 'k 1' 'd 1024' 's = 65536 0 65536 65536' >"$work/partly.txt"
run "$ttscope" replay --check "$work/partly.txt"
expect_code 0
expect_out "4 operations, 1 match, 1 has no result"
expect_err "ttscope replay: note: 2 operations state no expected result and were not compared"
sed -i 3d "$work/partly.txt"
run "$ttscope" replay --check "$work/partly.txt"
expect_err "ttscope replay: note: 1 operation states no expected result and was not compared"

# l and q ask for the same values. Only the values are compared, and the printed letter shows
# whether they are equal.
printf '%s\n' "$pool" 'a 64 1 0 = 1024' 'q = 1024 1024' 'c' 'l = 1024' >"$work/lowest.txt"
run "$ttscope" replay "$work/lowest.txt"
expect_out "$(printf '%s\n' "$pool" 'a 64 1 0 = 1024' 'l = 1024' 'c' 'q = 1024 none')"
run "$ttscope" replay --check "$work/lowest.txt"
expect_code 1
expect_err_like ":5: expected 'l = 1024', got 'q = 1024 none'"
expect_out "4 operations, 2 match, 1 has no result"

# Statistics and blocks come after the results, or alone.
run "$ttscope" replay --quiet --stats "$source_dir/examples/fragmentation.txt"
expect_code 0
expect_out "$(
    cat <<'END'
statistics, per bank
  total                  1393472 B    1.33 MiB
  allocated               614400 B     600 KiB  in 17 blocks
  free                    779072 B     761 KiB  in 17 blocks
  largest free             65536 B    64.0 KiB
  fragmentation             91.6 %              1 - largest free / free
  peak allocated         1384448 B    1.32 MiB  at line 56
  operations                 107
  requests                    64    54 ok, 10 failed, 0 below the limit
  failed                      10    9 by fragmentation, 1 range not free
  takes (a)                   61    52 ok, 9 failed, 0 below the limit
  exact takes (x)              3    2 ok, 1 failed
  frees (d)                   37    37 ok, 0 ignored
  cuts (k)                     0    0 ok, 0 refused
  undone cuts (r)              0
  clears (c)                   0
  queries                      6
END
)"
statistics=$out
run "$ttscope" replay -s "$source_dir/examples/fragmentation.txt"
expect_out "$("$ttscope" replay "$source_dir/examples/fragmentation.txt")"$'\n'"$statistics"
run "$ttscope" replay -s --check "$source_dir/examples/fragmentation.txt"
expect_out "$statistics"$'\n'"107 operations, 70 match, 37 have no result"
printf '%s\n' "$pool" 'x 1024 65536' >"$work/full.txt"
run "$ttscope" replay -qs "$work/full.txt"
expect_out_like "  fragmentation            unknown              nothing is free"
expect_out_like "  failed                       0
"
run "$ttscope" replay --blocks --quiet "$work/full.txt"
expect_code 0
expect_out "$(
    cat <<'END'
blocks, by id; Address is relative, add the pool offset 1024 for absolute
  ids of the free blocks of each size class, by address:
  class  0,        below      2048:
  class  1,      2048 to      4095:
  class  2,      4096 to      8191:
  class  3,      8192 to     16383:
  class  4,     16384 to     32767:
  class  5,     32768 to     65535:
  class  6,     65536 and above:
  unused ids:
       Block     Address        Size      PrevID      NextID   Allocated
           0           0       65536        none        none         yes
END
)"

# The statistics list every reason for a failure, and blocks that were taken below the limit.
printf '%s\n' "$pool" 'x 33792 32' 'a 40000 1 0' 'a 70000 1 0' 'x 33792 32' 'x 0 1' \
    'a 1 1 9999999' 'k 60000' >"$work/reasons.txt"
run "$ttscope" replay -qs "$work/reasons.txt"
expect_out_like "  requests                     6    1 ok, 4 failed, 1 below the limit
  failed                       4    1 by fragmentation, 1 too little free, 2 range not free
"
expect_out_like "  cuts (k)                     1    0 ok, 1 refused
"

# A byte order mark, which some editors write, is not part of the first line.
printf '\357\273\277%s\n%s\n' "$pool" 'a 64 1 0 = 1024' >"$work/marked.txt"
run "$ttscope" replay "$work/marked.txt"
expect_code 0
expect_out "$pool"$'\n''a 64 1 0 = 1024'

# The examples in the description of the language have the stated results.
awk '/^```$/ { on = !on; n += on; next } on && n == 1' "$source_dir/docs/design/opseq.md" \
    >"$work/page.txt"
run "$ttscope" replay --check "$work/page.txt"
expect_code 0
expect_out "5 operations, 4 match, 1 has no result"

# The page fits a terminal, and so do its examples after man has indented them.
run "$ttscope" help replay
[ "$(wc -L <"$work/out")" -le 80 ] || fail "wanted lines of 80 columns"
awk '/^```$/ { on = !on; next } on && length > 70' "$source_dir/src/cli/pages/replay.scd" >"$work/wide"
[ ! -s "$work/wide" ] || fail "wanted narrower examples: $(cat "$work/wide")"

# A pool alone is a sequence without operations.
printf '%s' "$pool" >"$work/pool.txt"
run "$ttscope" replay "$work/pool.txt"
expect_code 0
expect_out "$pool"
run "$ttscope" replay --check "$work/pool.txt"
expect_out "0 operations, 0 match"
