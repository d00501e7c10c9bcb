#!/usr/bin/env bash
# The Python binding, with the library of this build. A sanitizer's runtime is loaded first.
. "$(dirname "$0")/lib.sh"

command -v python3 >/dev/null || { echo "skipped: there is no python3" && exit 77; }
python=$(python3 -c 'import sys; print(sys.executable)') # no wrapper: it preloads a library
library=$TTS_BUILD_DIR/lib/libttscope.so

preload=()
for runtime in libasan.so libtsan.so libubsan.so; do
    if grep -q "$runtime" "$library"; then
        preload+=("$(realpath "$(gcc -print-file-name="$runtime")")")
    fi
done

run env PYTHONPATH="$source_dir/bindings/python" PYTHONDONTWRITEBYTECODE=1 \
    TTSCOPE_LIBRARY="$library" LD_PRELOAD="${preload[*]-}" ASAN_OPTIONS=detect_leaks=0 \
    "$python" -X dev -W error -m unittest discover -s "$source_dir/tests/python" -b
expect_code 0
expect_err_like "OK"
