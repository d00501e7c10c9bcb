# serve_rig.sh: an allocation server for tests. The server sees the processes of this host, and a
# /dev/shm of its own. A test sources this file after lib.sh.
# shellcheck shell=bash disable=SC2034,SC2154 # the variables are those of lib.sh and of the tests
export TTSCOPE_ROOT=$work/root LC_ALL=C.UTF-8
mkdir -p "$TTSCOPE_ROOT/dev/shm" "$TTSCOPE_ROOT/sys"
ln -s /proc "$TTSCOPE_ROOT/proc"
socket=$work/socket
client=$TTS_BUILD_DIR/tests/serve_client
children=() server=""
mkfifo "$work/never"
exec 7<>"$work/never" # input that neither comes nor ends

stop_children() {
    [ ${#children[@]} -eq 0 ] || kill -KILL "${children[@]}"
    [ -z "$server" ] || kill -KILL "$server"
    wait
} 2>/dev/null
trap 'status=$?; stop_children; rm -rf "$work"; [ "$failures" -eq 0 ] || status=1; exit "$status"' EXIT

# Waits until a command succeeds, for at most 20 seconds.
wait_until() {
    for _ in $(seq 400); do
        "$@" && return
        sleep 0.05
    done
    fail "waited for: $*"
    return 1
} 2>/dev/null

has_line() { # FILE TEXT
    grep -qF -- "$2" "$1"
}

# Starts a server whose output goes to $work/log and $work/notes.
start_server() { # [OPTION]...
    : >"$work/log"
    "$ttscope" serve --socket "$socket" "$@" >"$work/log" 2>"$work/notes" &
    server=$!
    wait_until test -s "$work/log"
}

# Ends the server as a user does. Its exit code is in `code`.
stop_server() {
    kill -TERM "$server"
    code=0
    wait "$server" || code=$?
    server=""
    out=$(cat "$work/log") err=$(cat "$work/notes") ran="the server"
}

ask() { # [-g GENERATION] COMMAND...
    local options=()
    [ "$1" != -g ] || { options=(-g "$2") && shift 2; }
    run timeout 60 python3 "$source_dir/tests/e2e/serve_client.py" "${options[@]}" "$socket" "$@"
}

# Prints the live bytes of all devices as the server replies, in the form of the clients.
server_live() {
    python3 "$source_dir/tests/e2e/serve_client.py" "$socket" stats |
        jq -c '[.replies[0].devices[] | select(.buffers > 0)]'
}

# Prints the sum of what clients believe is live: of all JSON documents in the files.
client_live() { # FILE...
    jq -cs '[.[].live[]] | group_by(.device) | map({device: .[0].device, buffers: (map(.buffers) | add),
        dram: (map(.dram // 0) | add), l1: (map(.l1 // 0) | add), l1_small: (map(.l1_small // 0) | add),
        trace: (map(.trace // 0) | add)})' "$@"
}

is_live() { # JSON
    [ "$(server_live)" = "$1" ]
}

# Starts a client that waits after its commands. Its JSON goes to a file.
start_client() { # FILE COMMAND...
    local file=$1
    shift
    "$@" <&7 >"$file" 2>&1 &
    children+=($!)
    wait_until test -s "$file"
}
