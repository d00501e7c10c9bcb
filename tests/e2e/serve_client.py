#!/usr/bin/env python3
"""A client of an allocation server, written from the tables of docs/design/server-frames.md.

    serve_client.py [-g GENERATION] SOCKET COMMAND...

Connects to SOCKET, runs the commands in order on one connection, and prints one JSON object: the generation,
the own pid, the frames sent, the replies in their order, and what the client believes is live: totals for each
device, and the buffers in `buffers`. GENERATION is p1, p2, p3, p4 (default) or cbk. Commands:

    alloc:DEVICE:POOL:BYTES:ID      POOL is dram, l1, system, l1_small, trace or a number
    free:DEVICE:ID
    fill:DEVICE:POOL:BYTES:COUNT    allocates COUNT buffers with the ids 0x100000, 0x100040, ...
    churn:DEVICE:COUNT:SEED         random events: COUNT allocations and frees
    cb:DEVICE:BYTES:ID  cbfree:DEVICE:BYTES:ID
    kernel:DEVICE:BYTES:ID[:TYPE]  unload:DEVICE:BYTES:ID
    query:DEVICE  info:DEVICE       sends the request and waits for the reply; -1 is allowed
    ask:DEVICE:COUNT                sends COUNT queries without reading; `read:COUNT` reads replies later
    check:DEVICE                    a query whose reply must be the totals of this client, or exit 1
    dump  dumpkernels
    stats                           asks on a connection of its own, as realtime_monitor.py does
    glue  flush                     keeps frames until `flush` sends them with one call
    half:BYTES                      sends only BYTES bytes of the next frame; `rest` sends the others
    split:BYTES:SECONDS             sends the following frames in pieces of BYTES bytes, with pauses
    raw:HEX  garbage:COUNT:SEED     sends bytes that are no frame
    pid:N                           claims to be another process from here on
    sleep:SECONDS  hold             `hold` prints "holding" and waits until stdin ends
    leave                           a child prints "left PID" and keeps the connection until stdin ends; this process ends
    close  reconnect

Exit codes: 0 done, 1 a reply is missing or wrong, 2 usage, 3 no connection.
"""

import json
import os
import random
import socket
import struct
import sys
import time

SECONDS_MAX = 20
EVENT = struct.Struct("<B3xiQB3xiQQ")
CBK = struct.Struct("<B3xiQQi4x")
STATS_REQUEST = struct.Struct("BxxxIQQ")
STATS_RECORD = struct.Struct("<6Q")
BYTES = {"cbk": 32, "p1": 72, "p2": 112, "p3": 128, "p4": 144}
POOLS = {"dram": 0, "l1": 1, "system": 2, "l1_small": 3, "trace": 4}
USED = ["dram", "l1", "l1_small", "trace"]
CODE = ["cb", "kernel"]
SIZES = ["dram_total", "l1_total"]
DEVICE = ["arch", "dram_channels", "dram_channel_bytes", "l1_core_bytes", "is_available", "device_count"]
RING = ["ring_total", "ring_used", "programs", "padding"]
TAILS = {  # the fields of a reply after its header
    "p1": ("<4Q", USED),
    "p2": ("<4Q2Q6I", USED + SIZES + DEVICE),
    "p3": ("<4Q2Q2Q6I", USED + CODE + SIZES + DEVICE),
    "p4": ("<4Q2Q2Q6I4I", USED + CODE + SIZES + DEVICE + RING),
}
ALLOC, FREE, QUERY, RESPONSE, DUMP, INFO_QUERY, INFO_RESPONSE = range(1, 8)
CB_ALLOC, CB_FREE, KERNEL_LOAD, KERNEL_UNLOAD, DUMP_KERNELS = range(8, 13)


class Client:
    def __init__(self, path, generation):
        self.path, self.generation, self.pid = path, generation, os.getpid()
        self.glued = None  # bytes that wait for `flush`
        self.rest = b""  # the end of a frame that was sent by half
        self.half = self.split = None
        self.sent, self.replies = 0, []
        self.buffers = {}  # (device, id): [pool, bytes, references]
        self.code = {}  # (device, "cb" or "kernel"): bytes
        self.socket = self.connect()

    def connect(self):
        try:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.settimeout(SECONDS_MAX)
            connection.connect(self.path)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            return connection
        except OSError as error:
            print(f"serve_client: cannot connect to '{self.path}': {error}", file=sys.stderr)
            sys.exit(3)

    # --- sending

    def send_bytes(self, data):
        if self.glued is not None:
            self.glued += data
        elif self.split:
            step, pause = self.split
            for at in range(0, len(data), step):
                self.socket.sendall(data[at : at + step])
                time.sleep(pause)
        else:
            self.socket.sendall(data)

    def frame(self, kind, device=0, size=0, pool=0, number=0, is_timed=False, pid=None):
        pid = self.pid if pid is None else pid
        if self.generation == "cbk":
            data = CBK.pack(kind, device, size, number, pid)
        else:
            when = time.time_ns() if is_timed else 0
            data = EVENT.pack(kind, device, size, pool, pid, number, when)
            data += bytes(BYTES[self.generation] - len(data))
        if self.half is not None:
            data, self.rest, self.half = data[: self.half], data[self.half :], None
        self.send_bytes(data)
        self.sent += 1

    def alloc(self, device, pool, size, number):
        self.frame(ALLOC, device, size, pool, number, is_timed=True)
        self.buffers.setdefault((device, number), [pool, size, 0])[2] += 1

    def free(self, device, number):
        self.frame(FREE, device, number=number)
        buffer = self.buffers.get((device, number))
        if buffer:
            buffer[2] -= 1
            if buffer[2] == 0:
                del self.buffers[device, number]

    def churn(self, device, count, seed):
        draw, numbers = random.Random(seed), [0x200000 + 64 * i for i in range(64)]
        for _ in range(count):
            number = draw.choice(numbers)
            if (device, number) in self.buffers:
                self.free(device, number)
            else:
                self.alloc(device, draw.choice((0, 1, 3, 4)), draw.randint(1, 1 << 20), number)

    def code_event(self, kind, name, device, size, number, pool=0):
        is_adding = kind in (CB_ALLOC, KERNEL_LOAD)
        self.frame(kind, device, size, pool, number, is_timed=is_adding)
        total = self.code.get((device, name), 0) + (size if is_adding else -size)
        self.code[device, name] = max(total, 0)

    # --- replies

    def receive(self, count):
        data = b""
        while len(data) < count:
            try:
                more = self.socket.recv(count - len(data))
            except socket.timeout:
                more = b""
            if not more:
                self.fail(f"a reply of {count} bytes has only {len(data)}")
            data += more
        return data

    def reply(self, wanted):
        data = self.receive(BYTES[self.generation])
        kind, device = EVENT.unpack(data[:40])[:2]
        if kind != wanted:
            self.fail(f"a reply has the type {kind}, wanted {wanted}")
        form, names = TAILS[self.generation]
        fields = dict(zip(names, struct.unpack(form, data[40:])))
        fields.pop("padding", None)
        self.replies.append({"type": kind, "device": device, **fields})
        return self.replies[-1]

    def query(self, device, kind=QUERY):
        self.frame(kind, device, pid=0)
        return self.reply(RESPONSE if kind == QUERY else INFO_RESPONSE)

    def check(self, device):
        reply, wanted = self.query(device), self.totals().get(device, {})
        for name in USED + (CODE if "cb" in reply else []):
            # Servers count system memory as L1_SMALL.
            live = wanted.get(name, 0) + (wanted.get("system", 0) if name == "l1_small" else 0)
            if reply[name] != live:
                self.fail(f"device {device} has {reply[name]} bytes of {name}, wanted {live}")

    def stats(self):
        connection, records = self.connect(), []
        connection.send(STATS_REQUEST.pack(FREE, 0, 0, 0))
        while True:
            try:
                data = connection.recv(STATS_RECORD.size)
            except socket.timeout:
                self.fail("the reply to STATS does not end")
            if len(data) < STATS_RECORD.size:
                break
            names = ["device", "buffers"] + USED
            records.append(dict(zip(names, STATS_RECORD.unpack(data))))
        connection.close()
        self.replies.append({"type": "stats", "devices": records})

    # --- the end

    def totals(self):
        devices = {}
        for (device, _), (pool, size, _) in self.buffers.items():
            total = devices.setdefault(device, {"buffers": 0})
            name = next((name for name, code in POOLS.items() if code == pool), str(pool))
            total["buffers"] += 1
            total[name] = total.get(name, 0) + size
        for (device, name), size in self.code.items():
            devices.setdefault(device, {"buffers": 0})[name] = size
        return devices

    def say(self):
        live = [{"device": device, **totals} for device, totals in sorted(self.totals().items())]
        buffers = [
            {"device": device, "id": number, "pool": pool, "bytes": size, "references": references}
            for (device, number), (pool, size, references) in sorted(self.buffers.items())
        ]
        print(
            json.dumps(
                {
                    "generation": self.generation,
                    "pid": self.pid,
                    "sent": self.sent,
                    "replies": self.replies,
                    "live": live,
                    "buffers": buffers,
                }
            ),
            flush=True,
        )

    def fail(self, text):
        print(f"serve_client: {text}", file=sys.stderr)
        self.say()
        sys.exit(1)


def number(text):
    return int(text, 0)


def pool(text):
    return POOLS[text] if text in POOLS else number(text)


def run_fill(client, device, pool_code, size, count):
    for i in range(count):
        client.alloc(device, pool_code, size, 0x100000 + 64 * i)


def run_ask(client, device, count):
    for _ in range(count):
        client.frame(QUERY, device, pid=0)


def run_read(client, count):
    for _ in range(count):
        client.reply(RESPONSE)


def run_flush(client):
    data, client.glued = client.glued or b"", None
    client.send_bytes(data)


def run_rest(client):
    client.send_bytes(client.rest)
    client.rest = b""


def run_hold(client):
    print("holding", flush=True)
    sys.stdin.read()


def run_leave(client):
    if os.fork() > 0:
        os._exit(0)
    print(f"left {os.getpid()}", flush=True)
    sys.stdin.read()
    os._exit(0)


def run_reconnect(client):
    client.socket.close()
    client.socket = client.connect()


# Name: the function, the types of its arguments, how many of them may be left out.
COMMANDS = {
    "alloc": (Client.alloc, (number, pool, number, number), 0),
    "free": (Client.free, (number, number), 0),
    "fill": (run_fill, (number, pool, number, number), 0),
    "churn": (Client.churn, (number, number, number), 0),
    "cb": (lambda c, *a: c.code_event(CB_ALLOC, "cb", *a), (number,) * 3, 0),
    "cbfree": (lambda c, *a: c.code_event(CB_FREE, "cb", *a), (number,) * 3, 0),
    "kernel": (lambda c, *a: c.code_event(KERNEL_LOAD, "kernel", *a), (number,) * 4, 1),
    "unload": (lambda c, *a: c.code_event(KERNEL_UNLOAD, "kernel", *a), (number,) * 3, 0),
    "query": (Client.query, (number,), 0),
    "info": (lambda c, device: c.query(device, INFO_QUERY), (number,), 0),
    "ask": (run_ask, (number, number), 0),
    "read": (run_read, (number,), 0),
    "check": (Client.check, (number,), 0),
    "dump": (lambda c: c.frame(DUMP, pid=0), (), 0),
    "dumpkernels": (lambda c: c.frame(DUMP_KERNELS, pid=0), (), 0),
    "stats": (Client.stats, (), 0),
    "glue": (lambda c: setattr(c, "glued", b""), (), 0),
    "flush": (run_flush, (), 0),
    "half": (lambda c, count: setattr(c, "half", count), (number,), 0),
    "rest": (run_rest, (), 0),
    "split": (lambda c, *a: setattr(c, "split", a), (number, float), 0),
    "raw": (Client.send_bytes, (bytes.fromhex,), 0),
    "garbage": (lambda c, n, seed: c.send_bytes(random.Random(seed).randbytes(n)), (number, number), 0),
    "pid": (lambda c, pid: setattr(c, "pid", pid), (number,), 0),
    "sleep": (lambda c, seconds: time.sleep(seconds), (float,), 0),
    "hold": (run_hold, (), 0),
    "leave": (run_leave, (), 0),
    "close": (lambda c: c.socket.close(), (), 0),
    "reconnect": (run_reconnect, (), 0),
}


def parse(text):
    name, *words = text.split(":")
    function, types, optional = COMMANDS[name]
    if not len(types) - optional <= len(words) <= len(types):
        raise ValueError
    return function, [read(word) for read, word in zip(types, words)]


def main(words):
    generation = "p4"
    if words[:1] == ["-g"] and len(words) > 1:
        generation, words = words[1], words[2:]
    if not words or generation not in BYTES:
        print(__doc__, file=sys.stderr)
        return 2
    steps = []
    for text in words[1:]:
        try:
            steps.append(parse(text))
        except (KeyError, ValueError):
            print(f"serve_client: invalid command '{text}'", file=sys.stderr)
            return 2
    client = Client(words[0], generation)
    for function, arguments in steps:
        try:
            function(client, *arguments)
        except OSError as error:
            client.fail(f"the server does not take the bytes: {error}")
    client.say()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
