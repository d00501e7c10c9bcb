#!/usr/bin/env bash
# `ttscope serve` and several users. The test needs root, to act as two other users.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/serve_rig.sh"
if [ "$(id -u)" -ne 0 ] || ! setpriv --reuid 4001 --regid 4001 --clear-groups true; then
    echo "skipped: only root can act as other users"
    exit 77
fi
chmod 711 "$work"
chmod 1777 "$TTSCOPE_ROOT/dev/shm"
cp "$ttscope" "$work/ttscope"
cp "$client" "$work/client"
client=$work/client
ttscope=$work/ttscope
mkdir -m 1777 "$work/tmp" # as /tmp
socket=$work/tmp/socket

as_user() { # UID COMMAND...
    setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}

start_server_as() { # UID [OPTION]...
    : >"$work/log"
    setpriv --reuid "$1" --regid "$1" --clear-groups "$ttscope" serve --socket "$socket" "${@:2}" >"$work/log" 2>"$work/notes" &
    server=$!
    wait_until test -s "$work/log"
}

kill_server() {
    kill -KILL "$server" && wait "$server"
    server=""
} 2>/dev/null

# --- one user after another ---------------------------------------------------------------------
start_server_as 4001
stop_server
expect_code 0
[ -z "$(ls -A "$work/tmp")" ] || fail "wanted no file after the end: $(ls -A "$work/tmp")"
start_server_as 4002
run as_user 4001 "$ttscope" serve --socket "$socket"
expect_code 3
expect_err "ttscope serve: cannot listen at '${socket:0:54}': the socket of user 4002 may be in use (end its server as this user or root, or give another '--socket')"
run "$ttscope" serve --socket "$socket"
expect_code 3
expect_err_like "another server listens at '$socket'"
stop_server
expect_code 0

# --- a server that was killed -------------------------------------------------------------------
start_server_as 4001 --allow-uid 4002
kill_server
run as_user 4002 "$ttscope" serve --socket "$socket"
expect_code 3
expect_err "ttscope serve: cannot listen at '${socket:0:54}': a server of user 4001 left this socket (remove it as this user or root, or give another '--socket')"
start_server_as 4001 # takes over
kill_server
start_server --quiet # root takes over, too
stop_server
expect_code 0
chmod 0777 "$work/tmp" # without the sticky bit, the system lets any user remove the socket
start_server_as 4001 --allow-uid 4002
kill_server
start_server_as 4002
stop_server
expect_code 0
[ -z "$(ls -A "$work/tmp")" ] || fail "wanted no file after the end: $(ls -A "$work/tmp")"

# --- who is heard -------------------------------------------------------------------------------
start_server --quiet
run as_user 4001 "$client" steady "$socket" 144 100 1
expect_code 3
expect_err_like 'cannot connect: Permission denied'
stop_server
start_server --quiet --allow-uid 4001
start_client "$work/heard" setpriv --reuid 4001 --regid 4001 --clear-groups "$client" steady "$socket" 144 100 1
wait_until is_live "$(client_live "$work/heard")"
start_client "$work/ignored" setpriv --reuid 4002 --regid 4002 --clear-groups "$client" steady "$socket" 144 5000 2
ask fill:40:dram:1000:4 check:40 # root is heard
expect_code 0
wait_until is_live "$(client_live "$work/heard")"
sleep 0.2
is_live "$(client_live "$work/heard")" || fail "wanted nothing of user 4002"
kill -0 "${children[1]}" || fail "wanted the ignored client alive"
stop_server
expect_code 0
