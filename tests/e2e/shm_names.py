#!/usr/bin/env python3
"""Runs a command and prints what it made and removed in /dev/shm, in order.

    shm_names.py COMMAND [ARGUMENTS]

Lists only names that have the number of the command's process, with PID in its place. The output
of the command goes to stderr. Exits with the code of the command.
"""

import ctypes
import os
import re
import struct
import subprocess
import sys

IN_CREATE, IN_DELETE, IN_NONBLOCK = 0x100, 0x200, 0x800

libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init1(IN_NONBLOCK)
if watch < 0 or libc.inotify_add_watch(watch, b"/dev/shm", IN_CREATE | IN_DELETE) < 0:
    sys.exit("shm_names: cannot watch /dev/shm: " + os.strerror(ctypes.get_errno()))
with subprocess.Popen(sys.argv[1:], stdout=sys.stderr) as process:
    code = process.wait()
try:
    events = os.read(watch, 1 << 20)
except BlockingIOError:
    events = b""
at = 0
while at < len(events):
    _, mask, _, size = struct.unpack_from("iIII", events, at)
    name = events[at + 16:at + 16 + size].rstrip(b"\0").decode()
    at += 16 + size
    if re.match(rf"ttscope_{process.pid}_\d+_\d+$", name):
        print("made" if mask & IN_CREATE else "removed", "ttscope_PID")
sys.exit(code)
