#!/usr/bin/env bash
# Each public header begins with an example that compiles without a warning, as C99, and runs.
# The umbrella header includes all the others. Callers may ignore the result of an event call.
. "$(dirname "$0")/lib.sh"

headers=$source_dir/include/ttscope
lib=$TTS_BUILD_DIR/lib
sanitize=()
[[ $(ldd "$lib/libttscope.so") != *libasan* ]] || sanitize=(-fsanitize=address -fsanitize=undefined)

# compile FILE: compiles with the flags of a strict user.
compile() {
    run cc -std=c99 -Wall -Wextra -Werror ${sanitize[@]+"${sanitize[@]}"} -I"$source_dir/include" \
        "$1" -L"$lib" -lttscope -Wl,-rpath,"$lib" -o "$work/example"
    expect_code 0
}

# Prints the lines after "Example:" in the first comment, without comment marks.
example() {
    awk '/^ \* Example:$/ { on = 1; next }
         on { last = sub(/ \*\/$/, ""); sub(/^ \* ?/, ""); print }
         last { exit }' "$1"
}

for header in "$headers"/*.h; do
    name=$(basename "$header" .h)
    example "$header" >"$work/body"
    run wc -l "$work/body"
    if [ "${out%% *}" -lt 5 ] || [ "${out%% *}" -gt 14 ]; then
        fail "wanted an example of about ten lines in $name.h"
    fi
    {
        printf '#include <ttscope/ttscope.h>\n#include <stdio.h>\n#include <stdlib.h>\n'
        if grep -q 'int main' "$work/body"; then
            cat "$work/body"
        else
            printf 'int main(void)\n{\n' && cat "$work/body" && printf '    return 0;\n}\n'
        fi
    } >"$work/$name.c"
    compile "$work/$name.c"
    run env -C "$work" "$work/example"
    expect_code 0
    [ "$name" = ttscope ] || grep -q "#include \"ttscope/$name.h\"" "$headers/ttscope.h" ||
        fail "ttscope.h does not include $name.h"
done

cat >"$work/ignored.c" <<'C'
#include <ttscope/ttscope.h>
int main(void)
{
    struct tts_tracker *tracker = tts_tracker_process();
    struct tts_core_range cores = {0, 0, 1, 1};
    struct tts_failure failure = {.kind = TTS_FAILURE_SPACE};
    struct tts_event event = tts_event_of(TTS_EVENT_PROGRAM, 0);
    tts_track_op_begin(tracker, "matmul", 6, NULL);
    tts_track_alloc(tracker, 0, TTS_POOL_DRAM, 1, 2048, 0, NULL);
    tts_track_free(tracker, 0, TTS_POOL_DRAM, 1, 0, 0, NULL);
    tts_track_program(tracker, 0, NULL);
    tts_track_cb(tracker, 0, TTS_EVENT_CB, &cores, 1, 2048, NULL);
    tts_track_trace_begin(tracker, 0, NULL);
    tts_track_trace_end(tracker, 0, NULL);
    tts_track_failure(tracker, 0, &failure, NULL);
    tts_track_op_end(tracker, NULL);
    tts_tracker_post(tracker, &event, NULL);
    tts_tracker_post_alloc(tracker, 0, TTS_POOL_DRAM, 1, 2048, 0, NULL);
    tts_tracker_post_free(tracker, 0, TTS_POOL_DRAM, 1, 2048, 0, NULL);
    return 0;
}
C
compile "$work/ignored.c"
run "$work/example"
expect_code 0
