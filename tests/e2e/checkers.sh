#!/usr/bin/env bash
# Each checker passes a good tree and rejects a bad one, naming file, line and reason.
. "$(dirname "$0")/lib.sh"

script=$source_dir/script
tree=$work/tree
put() { # path, content
    mkdir -p "$tree/$(dirname "$1")"
    printf '%s\n' "${@:2}" >"$tree/$1"
}
fresh() {
    rm -rf "$tree"
    put include/ttscope/a.h '#pragma once' '#include "ttscope/b.h"' 'struct a { struct b b; };'
    put include/ttscope/b.h '#pragma once' '#ifdef __cplusplus' '#endif' 'struct b { int b; };'
    put src/base/base.h '#pragma once' '#include "ttscope/a.h"' '#if 1' '#endif'
    put src/base/heap.c '#include "base/base.h"' 'void f(void) { free(malloc(1)); }'
    put src/device/d.c '#include "base/base.h"' '#include "device/d.h"' '#include <stdlib.h>' \
        '/* malloc(1), printf("x") */ // exit(1)' \
        'const char *s = "strcpy(a, \"b\") puts(c)"; void g(void) { a->free(1); xfree(2); }'
    put src/device/d.h '#pragma once'
    put src/cli/c.c '#include "device/d.h"' 'void h(void) { printf("x"); exit(1); }'
    put tests/unit/base/test_a.c '#include "base/base.h"' '#include "harness/t.h"'
}

# script/check-includes: includes that point the wrong way.
fresh
run "$script/check-includes" "$tree"
expect_code 0
expect_out ""
put src/base/up.c '#include "base/base.h"' '#include "device/d.h"'
run "$script/check-includes" "$tree"
expect_code 1
expect_out 'src/base/up.c:2: room "base" may not include room "device" (device/d.h)'
fresh
put include/ttscope/a.h '#include "base/base.h"'
run "$script/check-includes" "$tree"
expect_code 1
expect_out_like 'include/ttscope/a.h:1: room "public" may not include room "base" (base/base.h)'
fresh
put src/attic/x.c ''
put src/base/near.c '#include "a.h"'
put src/base/far.c '#include "base/../device/d.h"'
put tests/unit/base/test_b.c '#include "device/d.h"'
put src/device/t.c '#include "harness/t.h"'
run "$script/check-includes" "$tree"
expect_code 1
expect_out_like 'src/attic/x.c:1: room "attic" is not in the table'
expect_out_like 'src/base/near.c:1: "a.h" does not name its room'
expect_out_like 'src/base/far.c:1: "base/../device/d.h" does not name its room'
expect_out_like 'tests/unit/base/test_b.c:1: room "base" may not include room "device"'
expect_out_like 'src/device/t.c:1: room "device" may not include room "harness"'
fresh
put src/base/x.h '#include "base/y.h"'
put src/base/y.h '#include "base/base.h"' '#include "base/z.h"'
put src/base/z.h '#include "base/x.h"'
run "$script/check-includes" "$tree"
expect_code 1
expect_out 'src/base/z.h:1: include circle: src/base/x.h > src/base/y.h > src/base/z.h > src/base/x.h'
fresh
put src/base/x.h '#include "base/x.h"'
run "$script/check-includes" "$tree"
expect_code 1
expect_out_like 'include circle: src/base/x.h > src/base/x.h'

# script/check-banned: banned functions.
fresh
run "$script/check-banned" "$tree"
expect_code 0
expect_out ""
put src/device/bad.c 'void f(void) {' '    free(p);' '    x = malloc (2);' '    strcpy(a, b);' \
    '    return atoi(s) + strtoul(s, 0, 0);' '    printf("x"); exit(1);' '    fputs("x", stderr);' \
    '#if 0' '#ifdef __cplusplus' '    a = 1; /* open' '    sprintf(b); */ system("x");'
put src/cli/bad.c 'void f(void) { sprintf(x, y); strdup(x); }'
put include/ttscope/bad.h '#ifndef GUARD'
run "$script/check-banned" "$tree"
expect_code 1
expect_out 'include/ttscope/bad.h:1: conditional compilation belongs in src/base
src/cli/bad.c:1: "sprintf" is banned: it cannot be bounded, or hides state
src/cli/bad.c:1: "strdup" is banned: memory comes from a struct tts_alloc
src/device/bad.c:2: "free" is banned: memory comes from a struct tts_alloc
src/device/bad.c:3: "malloc" is banned: memory comes from a struct tts_alloc
src/device/bad.c:4: "strcpy" is banned: it cannot be bounded, or hides state
src/device/bad.c:5: "atoi" is banned: numbers are read by base/number.h
src/device/bad.c:5: "strtoul" is banned: numbers are read by base/number.h
src/device/bad.c:6: "printf" is banned: a library room neither prints nor exits
src/device/bad.c:6: "exit" is banned: a library room neither prints nor exits
src/device/bad.c:7: a library room does not know stdout or stderr
src/device/bad.c:8: conditional compilation belongs in src/base
src/device/bad.c:9: conditional compilation belongs in src/base
src/device/bad.c:11: "system" is banned: it is unsafe or global'

# script/check-exports: a library, a map and a header that each have one name too many.
fresh
put lib.c 'int good(void) { return 1; }' 'int hidden(void) { return 1; }'
put good.map 'V_1 {' 'global:' '    good; # comment' 'local:' '    *;' '};'
put good.h 'TTS_API int' '    good(int (*call)(void));' '/* TTS_API is said here */'
build_library() { # map
    gcc -shared -fPIC -o "$tree/lib.so" "$tree/lib.c" -Wl,--version-script="$tree/$1"
}
build_library good.map
run "$script/check-exports" "$tree/lib.so" "$tree/good.map" "$tree/good.h"
expect_code 0
expect_out ""
put more.map 'V_1 {' 'global:' '    good; hidden;' '    hidden;' '    gone;' 'local:' '    *;' '};'
put more.h 'TTS_API int good(void);' 'TTS_API const char *new_one(void);'
build_library more.map
run "$script/check-exports" "$tree/lib.so" "$tree/good.map" "$tree/more.h"
expect_code 1
expect_out 'hidden: exported by the library, not in the map
new_one: declared TTS_API in a header, not in the map'
run "$script/check-exports" "$tree/lib.so" "$tree/more.map" "$tree/good.h"
expect_code 1
expect_out 'gone: in the map, not exported by the library
gone: in the map, not declared TTS_API in a header
hidden: in the map, not declared TTS_API in a header'

# script/check-headers: headers that do not compile alone.
fresh
run "$script/check-headers" "$tree"
expect_code 0
put src/base/needs.h '#pragma once' 'uint32_t x(void);'
put include/ttscope/c.h '#pragma once' 'int class(void);'
run "$script/check-headers" "$tree"
expect_code 1
expect_out_like 'base/needs.h: does not compile alone (gcc -std=c17 -x c)'
expect_out_like 'ttscope/c.h: does not compile alone (g++ -std=c++17 -x c++)'
[[ $out != *'ttscope/c.h: does not compile alone (gcc'* ]] || fail "it is good C"
fresh
put src/base/part.h '#pragma once' 'struct part { int x; };'
put src/model/part.h '#pragma once' 'enum part { PART };'
run "$script/check-headers" "$tree"
expect_code 1
expect_out 'include, src: the headers cannot be included together
two files are called part.h: src/base/part.h src/model/part.h '
fresh
put bindings/cpp/ttscope/ttscope.hpp '#pragma once' '#include <string>' 'std::string f();'
put bindings/cpp/ttscope/metal.hpp '#pragma once' '#include <tt-metalium/graph_tracking.hpp>'
for runtime in v1 head; do
    put tests/cpp/standin_$runtime/tt-metalium/graph_tracking.hpp '#include <span>' 'std::span<int> g();'
done
run "$script/check-headers" "$tree"
expect_code 0
put bindings/cpp/ttscope/ttscope.hpp '#pragma once' 'std::string f();'
put tests/cpp/standin_v1/tt-metalium/graph_tracking.hpp 'std::span<int> g();'
run "$script/check-headers" "$tree"
expect_code 1
expect_out_like 'ttscope/ttscope.hpp: does not compile alone (g++ -std=c++17 '
expect_out_like 'ttscope/metal.hpp: does not compile alone (g++ -std=c++20 '
! grep -q 'metal.hpp.*standin_head)' <<<"$out" || fail "that one compiles"
