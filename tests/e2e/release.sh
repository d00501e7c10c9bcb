#!/usr/bin/env bash
# script/demo works in a copy of the tree, twice. The result can be installed and used. Another
# project can include the tree with add_subdirectory. Optimisation breaks nothing.
. "$(dirname "$0")/lib.sh"

tree=$work/tree home=$work/home prefix=$work/home/.local
mkdir -p "$tree"
tar -C "$source_dir" --exclude=./build --exclude=./.git -c . | tar -C "$tree" -x

for turn in first again; do
    run "$tree/script/demo"
    expect_code 0
    expect_err ""
    [ "$(wc -l <"$work/out")" -le 80 ] || fail "wanted at most 80 lines"
    [ "$turn" = again ] || expect_out_like "demo: built: * of *"
    expect_out_like "Try next:"
    expect_out_like "does not fit n150: 14452.91 MB of 12254.03 MB"
    expect_out_like "fits n150: 8654.54 MB of 12254.03 MB"
    expect_out_like "does not fit: 15,666.65 MB of 12,288.00 MB, 3,378.65 MB too much"
    expect_out_like "picture: $tree/build/demo/peak.png"
    expect_out_like "picture: $tree/build/demo/fragmentation.svg"
    expect_out_like "tracked_loop: Out of Memory: Not enough space to allocate 1572864000 B DRAM"
    expect_out_like "peak of DRAM: 11534336000 B, 11000.00 MB"
    head -c 200 "$tree/build/demo/fragmentation.svg" | grep -q '<svg' || fail "wanted a picture"
    head -c 8 "$tree/build/demo/peak.png" | grep -q PNG || fail "wanted a picture of the peaks"
done

# The lines of docs/install.md, as a user types them. If python3 does not search the home
# directory (in a virtual environment), the part with python3 is left out.
awk '/^```sh install$/ { on = 1; next } /^```/ { on = 0 } on { print }' "$source_dir/docs/install.md" \
    >"$work/install"
looks_at_home=$(HOME=$home python3 -c 'import site; print(site.ENABLE_USER_SITE)')
[ "$looks_at_home" = True ] || sed -i 's/ && python3 .*//' "$work/install"
mkdir "$home"
HOME=$home PYTHONDONTWRITEBYTECODE=1 run bash -euc 'cd "$1" && . "$2"' bash "$tree" "$work/install"
expect_code 0
expect_err ""
expect_out_like "$("$ttscope" version)"
summaries=$(grep -c '^=== Core Peaks ===$' "$work/out")
[ "$summaries" -eq 3 ] || [ "$looks_at_home" != True ] || fail "wanted three summaries"

# With another prefix, Python needs one variable.
run cmake --install "$tree/build/release" --prefix "$work/other"
expect_code 0
run env PYTHONPATH="$work/other/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1 HOME="$work" \
    python3 -c 'import ttscope; print(ttscope._native.path)'
expect_code 0
expect_out "$work/other/lib/libttscope.so"

# Pages refer only to pages and files that are installed.
for page in "$prefix"/share/man/man*/*; do
    while read -r name section; do
        [ -f "$prefix/share/man/man$section/$name.$section" ] ||
            fail "$(basename "$page") refers to $name($section), which is not installed"
    done < <(sed 's/\\f[BIRP]//g; s/\\-/-/g' "$page" | grep -o 'ttscope[a-z-]*([0-9])' | tr '()' '  ')
    while read -r file; do
        [ -f "$prefix/share/doc/ttscope/${file#docs/}" ] ||
            fail "$(basename "$page") refers to $file, which is not installed"
    done < <(sed 's/\\f[BIRP]//g; s/\\-/-/g; s/\\&//g' "$page" | grep -o 'docs/[a-z/-]*\.md')
done

run "$prefix/bin/ttscope" --version
expect_code 0
expect_out "$("$ttscope" --version)"
run "$prefix/bin/ttscope" export --help
expect_code 0
expect_out "$("$ttscope" help export)"
[ -f "$prefix/share/man/man1/ttscope-replay.1" ] || fail "wanted the man pages installed"
[ -f "$prefix/share/man/man7/ttscope-phases.7" ] || fail "wanted the page of the topic installed"
[ -f "$prefix/include/ttscope/ttscope.hpp" ] || fail "wanted the headers of the bindings installed"

# A client program uses the installed library.
cat >"$work/client.c" <<'END'
#include <stdio.h>
#include <ttscope/ttscope.h>

int main(void)
{
    struct tts_request request = {.size_bytes = 100, .page_bytes = 100};
    struct tts_chip chip;
    struct tts_device *device;
    struct tts_buffer buffer;
    if (tts_chip_preset("n150", &chip, NULL) != TTS_OK ||
        tts_device_new(&chip, NULL, NULL, &device, NULL) != TTS_OK ||
        tts_device_alloc(device, &request, &buffer, NULL) != TTS_OK)
        return 1;
    printf("%llu %s\n", (unsigned long long)buffer.address, tts_version());
    tts_device_free(device);
    return 0;
}
END
lib=$(dirname "$(find "$prefix" -name libttscope.so)")
run env PKG_CONFIG_PATH="$lib/pkgconfig" pkg-config --cflags --libs ttscope
expect_code 0
read -ra flags <<<"$out"
run gcc -std=c99 -Wall -Wextra -Wpedantic -Werror "$work/client.c" "${flags[@]}" \
    -Wl,-rpath,"$lib" -o "$work/client"
expect_code 0
run "$work/client"
expect_code 0
installed=$out
expect_out "2968640 ${installed#* }"

# The same client is built inside its own project.
mkdir "$work/project"
cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(client LANGUAGES C)
add_subdirectory($tree ttscope EXCLUDE_FROM_ALL)
add_executable(client ../client.c)
target_link_libraries(client PRIVATE ttscope::ttscope)
END
run cmake -G Ninja -S "$work/project" -B "$work/project/build"
expect_code 0
run cmake --build "$work/project/build"
expect_code 0
[ ! -e "$work/project/build/ttscope/bin/ttscope" ] || fail "a subproject builds the command"
run "$work/project/build/client"
expect_code 0
expect_out "$installed"

# The library is built alone, without pkg-config and the packages that pkg-config finds, and
# installed to other folders.
run cmake -G Ninja -S "$tree" -B "$work/alone" -DTTS_PROGRAMS=OFF -DPKG_CONFIG_EXECUTABLE=/nonexistent
expect_code 0
run cmake --build "$work/alone"
expect_code 0
run cmake --install "$work/alone" --prefix "$work/alone/prefix"
expect_code 0
[ ! -e "$work/alone/prefix/bin/ttscope" ] || fail "-DTTS_PROGRAMS=OFF builds the command"

# Another project finds the installed library.
for found in "$prefix" "$work/alone/prefix"; do
    cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(client LANGUAGES C)
find_package(ttscope 0.1 REQUIRED)
add_executable(client ../client.c)
target_link_libraries(client PRIVATE ttscope::ttscope)
END
    rm -rf "$work/project/build"
    run cmake -G Ninja -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$found"
    expect_code 0
    run cmake --build "$work/project/build"
    expect_code 0
    run "$work/project/build/client"
    expect_code 0
    expect_out "$installed"
done

# Programs of single commands are found in another folder too.
run cmake -S "$tree" --preset release -B "$tree/build/release" -DCMAKE_INSTALL_LIBEXECDIR=lib/parts
expect_code 0
run cmake --build "$tree/build/release"
expect_code 0
run cmake --install "$tree/build/release" --prefix "$work/parts"
expect_code 0
[ -x "$work/parts/lib/parts/ttscope/ttscope-export" ] || fail "CMAKE_INSTALL_LIBEXECDIR is not honoured"
run "$work/parts/bin/ttscope" export -h
expect_code 0
run cmake -S "$tree" --preset release -B "$tree/build/release" -UCMAKE_INSTALL_LIBEXECDIR
expect_code 0

# Tests of code that optimisation could break run on the release build, which users run.
programs=(test_space test_space_state test_space_units test_space_nomem test_space_oracle
    test_row{16,32}_{plain,avx2})
run cmake -S "$tree" --preset release -B "$tree/build/release" -DTTS_TESTS=ON
expect_code 0
run cmake --build "$tree/build/release" --target "${programs[@]}"
expect_code 0
for program in "${programs[@]}"; do
    run "$tree/build/release/tests/$program"
    [ "$code" = 77 ] || expect_code 0
done
for recording in "$source_dir"/tests/golden/alloc/*.txt; do
    run "$prefix/bin/ttscope" replay --check --quiet "$recording"
    expect_code 0
done
