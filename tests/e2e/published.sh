#!/usr/bin/env bash
# The snippets of tt-train's guide run as published; only the include or the import differs. With
# a stand-in for the runtime, without one, and on a card that is too small.
. "$(dirname "$0")/lib.sh"

examples=$source_dir/examples/published
library=$TTS_BUILD_DIR/lib/libttscope.so
expected=$(cat "$source_dir/tests/golden/capture/published.out")
python=$(python3 -c 'import sys; print(sys.executable)') ||
    { echo "skipped: there is no python3" && exit 77; }

# Checks that the lines of a file that call the tracker are exactly these.
expect_published() { # file, pattern of such a line, the lines
    ran="lines of $1" code=0 err=
    out=$(grep -E "$2" "$examples/$1" | sed 's/^ *//')
    expect_out "$3"
}
calls() { # how a call begins, and what ends it
    printf "$1snapshot(\"%s\")$2\n" MODEL_CREATION OPTIMIZER_CREATION FORWARD_PASS BACKWARD_PASS
    printf "$1%s$2\n" 'end_capture("ITERATION_COMPLETE")' 'print_memory_usage()' 'clear()'
}

cpp='MemoryUsageTracker|ttnn::|RunMode|^    \);'
cpp_calls=$(calls ttml::utils::MemoryUsageTracker:: ';')
expect_published memory_tracking.cpp "$cpp" \
    "ttnn::ScopeGuard guard = ttml::utils::MemoryUsageTracker::begin_capture();
$cpp_calls"
expect_published no_dispatch.cpp "$cpp" \
    "ttnn::ScopeGuard guard = ttml::utils::MemoryUsageTracker::begin_capture(
tt::tt_metal::IGraphProcessor::RunMode::NO_DISPATCH
);
$cpp_calls"
expect_published nano_gpt.cpp 'MemoryUsageTracker::.*[("]|ttnn::|^    (memory_snapshot|loss->)' \
    'ttml::utils::MemoryUsageTracker::snapshot(name);
ttnn::ScopeGuard memory_usage_guard =
ttml::utils::MemoryUsageTracker::begin_capture(RunMode::NO_DISPATCH);
ttml::utils::MemoryUsageTracker::snapshot("MODEL_CREATION");
ttml::utils::MemoryUsageTracker::snapshot("OPTIMIZER_CREATION");
memory_snapshot("FORWARD_PASS");
loss->backward();
memory_snapshot("BACKWARD_PASS");
ttml::utils::MemoryUsageTracker::end_capture("FIRST_ITERATION_COMPLETE");
ttml::utils::MemoryUsageTracker::print_memory_usage();'
expect_published_python() { # file, mode
    expect_published "$1" 'MemoryUsageTracker|guard|ttml' "import ttscope.compat as ttml
MemoryUsageTracker = ttml.core.utils.MemoryUsageTracker
guard = MemoryUsageTracker.begin_capture($2)
$(calls MemoryUsageTracker. '')
guard.release()"
}
expect_published_python memory_tracking.py ''
expect_published_python no_dispatch.py ttnn.graph.RunMode.NO_DISPATCH

# C++: without the runtime's headers, and with the headers of each generation.
for build in plain v1_ttnn head; do
    run "$TTS_BUILD_DIR/tests/published_memory_tracking_$build"
    expect_code 0
    expect_out "$expected"
    expect_err ""
    run env STANDIN_MEMORY=1000000 "$TTS_BUILD_DIR/tests/published_nano_gpt_$build"
    expect_code 0
    expect_out "${expected/ITERATION_COMPLETE/FIRST_ITERATION_COMPLETE}"
    run env STANDIN_MEMORY=1000000 "$TTS_BUILD_DIR/tests/published_no_dispatch_$build"
    expect_code 0
    expect_out "$expected"
    if [ $build = plain ]; then
        expect_err_like "ttscope: NO_DISPATCH had no effect, so everything was really allocated"
        continue
    fi
    expect_err ""
    run env STANDIN_MEMORY=1000000 "$TTS_BUILD_DIR/tests/published_memory_tracking_$build"
    expect_code 1
    expect_err "Out of Memory: Not enough space to allocate"
done

# The NO_DISPATCH line compiles with and without the headers, with both standards, and in a
# program that uses only the headers of the runtime.
compiles() { # standard, option...
    local standard=$1
    shift
    run c++ -std=c++"$standard" -fsyntax-only -Wall -Wextra -Werror "$@" -I"$source_dir/include" \
        -I"$source_dir/bindings/cpp" -I"$examples" "$examples/no_dispatch.cpp"
    expect_code 0
    expect_err ""
}
headers=(-I"$source_dir/tests" -I"$source_dir/tests/cpp" -I"$source_dir/tests/cpp/standin_head")
compiles 20
compiles 17 "${headers[@]}"
compiles 17 "${headers[@]}" -DTTSCOPE_NO_METAL
compiles 20 "${headers[@]}" -DTTSCOPE_NO_METAL
compiles 20 "${headers[@]}" -DTTSCOPE_NO_METAL -include tt-metalium/graph_tracking.hpp

# Python. A library with a sanitizer requires that the sanitizer is loaded first.
sanitizer=$(ldd "$library" | sed -n 's/^[[:space:]]*lib[at]san.* => \([^ ]*\) .*/\1/p')
in_python() { # file, variables
    local file=$1
    shift
    run env PYTHONDONTWRITEBYTECODE=1 LD_PRELOAD="$sanitizer" ASAN_OPTIONS=detect_leaks=0 \
        TTSCOPE_LIBRARY="$library" \
        PYTHONPATH="$source_dir/bindings/python:$source_dir/tests/python/standin" \
        "$@" "$python" "$examples/$file.py"
}
for generation in v1 head; do
    in_python memory_tracking STANDIN_GENERATION=$generation
    expect_code 0
    expect_out "$expected"
    expect_err ""
    in_python no_dispatch STANDIN_GENERATION=$generation STANDIN_MEMORY=1000000
    expect_code 0
    expect_out "$expected"
    expect_err ""
done
in_python memory_tracking STANDIN_MEMORY=1000000
expect_code 1
expect_err_like "Out of Memory: Not enough space to allocate"
