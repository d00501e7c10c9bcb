#!/usr/bin/env python3
"""Compares the four exports of one file with each other.

    check_export.py DIR [SLOTS [POOL=BYTES...]]

POOL=BYTES are the capacities that the traces must show. DIR has out.csv, out.json, out.chrome, out.pftrace
and perfetto_check_pb2.py. A simple model folds the rows of the CSV into counters, buffers and operations; the
other formats must say the same.
"""

import csv
import json
import sys
from collections import defaultdict

POOLS_OF_BANKS = ("L1", "L1_SMALL")
END_OF_TIME = None


def fail(text):
    sys.exit(f"check_export: {text}")


def expect(what, got, wanted):
    if got == wanted:
        return
    if isinstance(got, list) and isinstance(wanted, list):
        for i, (a, b) in enumerate(zip(got, wanted)):
            if a != b:
                fail(f"{what}: item {i} is {a!r}, wanted {b!r}")
        fail(f"{what}: {len(got)} items, wanted {len(wanted)}")
    fail(f"{what}: {got!r}, wanted {wanted!r}")


def size_of(count):
    """Returns a size as names contain it: three digits and a unit."""
    if count < 1024:
        return f"{count} B"
    for power, unit in enumerate("KMGTPE", 1):
        whole = 1024 ** power
        rounded = lambda digits: (count * 10 ** digits * 2 + whole) // (whole * 2)
        if rounded(0) < 1024 or unit == "E":
            break
    digits = 2
    while digits > 0 and rounded(digits) >= 1000:
        digits -= 1
    text = str(rounded(digits))
    return f"{text[:-digits]}.{text[-digits:]} {unit}iB" if digits else f"{text} {unit}iB"


def sized(name, count):
    return f"{name} {size_of(count)}" if count else name


# ---- rows ----


def without_mark(text):
    """Removes the apostrophe that keeps a spreadsheet from reading a formula."""
    return text[1:] if len(text) > 1 and text[0] == "'" and text[1] in "=+-@\t\r" else text


def as_cell(key, value):
    """Returns a JSON value as the CSV writes it."""
    if key == "ranges":
        return "+".join(f"{r[0]}-{r[1]}..{r[2]}-{r[3]}" for r in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def read_rows(directory):
    with open(f"{directory}/out.csv", encoding="utf-8", newline="") as file:
        text = file.read()
    if "\r\n" in text:
        fail("the CSV has line ends of two bytes")
    rows = list(csv.DictReader(text.splitlines(keepends=True), strict=True))
    for row in rows:
        if None in row or None in row.values():
            fail(f"a row has another number of fields: {row}")
        for key in ("op", "name", "message"):
            row[key] = without_mark(row[key])
    with open(f"{directory}/out.json", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    expect("schema", lines[0]["schema"], {"name": "ttscope.events", "version": 1})
    expect("rows of CSV and JSON", len(rows), len(lines) - 1)
    for row, line in zip(rows, lines[1:]):
        cells = {key: as_cell(key, value) for key, value in line.items()}
        expect("a row", {k: v for k, v in row.items() if v}, {k: v for k, v in cells.items() if v})
    return lines[0], rows


# ---- the model ----


class Model:
    """The history that the rows describe, as lists in the order of time."""

    def __init__(self, header, rows, slots):
        self.has_times = header["has_times"]
        self.slots = slots
        self.now = 0
        self.counters = []  # (time, name, value)
        self.buffers = []  # [begin, end, id, bytes, op]: those that are drawn
        self.ops = []  # [begin, end, thread, name, bytes, name without its size]
        self.peaks = {}  # (device, pool): (time, bytes)
        self.traces = []  # [begin, end, device]
        self.phases = []  # (begin, end, capture, name)
        self.failures = []  # (time, device, message)
        self.undrawn = 0
        self.live = {}
        self.bytes = defaultdict(int)
        self.seen = set()
        self.mesh = {}
        self.taken = defaultdict(set)
        self.cores = defaultdict(lambda: defaultdict(int))
        self.open_ops = defaultdict(list)
        self.last_thread = None
        self.early = set()  # operations whose name is written when they begin
        self.open_traces = defaultdict(list)
        self.open_phases = {}
        for row in rows:
            self.take(row)
        for stack in self.open_ops.values():
            while stack:
                self.end_op(stack, END_OF_TIME)
        for capture, begin in self.open_phases.items():
            self.phases.append((begin, END_OF_TIME, capture, "(unfinished)"))

    def take(self, row):
        time = int(row["time_ns"]) if self.has_times else int(row["seq"] or 0) * 1000
        if row["kind"] != "damage":
            self.now = max(self.now, time)
        kind = row["kind"].removeprefix("live_") if row["kind"] != "live_traces" else "traces"
        handler = getattr(self, f"on_{kind}", None)
        if handler:
            handler(row)

    def count(self, device, pool):
        self.seen.add((device, pool))
        mesh = self.mesh.get(device)
        value = self.bytes[device, pool] + (self.bytes[mesh, pool] if mesh else 0)
        self.counters.append((self.now, f"device {device} {pool}", value))
        if value > self.peaks.get((device, pool), (0, 0))[1]:
            self.peaks[device, pool] = (self.now, value)

    def count_all(self, device, pool):
        self.count(device, pool)
        for chip in self.order:
            if self.mesh.get(chip) == device and (chip, pool) in self.seen:
                self.count(chip, pool)

    order = ()

    def know(self, device):
        if device not in self.order:
            self.order = (*self.order, device)

    def on_alloc(self, row):
        device, pool, size = row["device"], row["pool"], int(row["size_bytes"])
        if size == 0:
            return
        stack = self.stack_of(row) if row["kind"] == "alloc" else None
        if stack:
            stack[-1][4] += size
        self.know(device)
        key = (device, row["id"])
        if key in self.live:
            self.give(key)
        counted = int(row["bytes_per_bank"]) if pool in POOLS_OF_BANKS else size
        slot = next(i for i in range(len(self.taken[device, pool]) + 1)
                    if i not in self.taken[device, pool])
        drawn = None
        if slot < self.slots:
            self.taken[device, pool].add(slot)
            drawn = [self.now, END_OF_TIME, int(row["id"]), size, op_of(row)]
            self.buffers.append(drawn)
        else:
            self.undrawn += 1
        given = (pool, row["size_bytes"], row["bytes_per_bank"], row["block_bytes"])
        self.live[key] = (pool, counted, slot, drawn, given)
        self.bytes[device, pool] += counted
        self.count_all(device, pool)

    on_live = on_alloc

    def stack_of(self, row):
        """Returns the open operations of the thread that allocates: the only thread with open
        operations, or the next thread in turn that is in an operation of that name."""
        threads = list(self.open_ops)
        at = threads.index(self.last_thread) if self.last_thread in threads else 0
        stacks = [s for s in map(self.open_ops.get, threads[at:] + threads[:at]) if s]
        if not row["op"] or not stacks:
            return None
        named = [s for s in stacks if any(op[5] == op_of(row) for op in s)]
        return stacks[0] if len(stacks) == 1 else named[0] if named else None

    def give(self, key):
        pool, counted, slot, drawn, _ = self.live.pop(key)
        if drawn:
            drawn[1] = self.now
            self.taken[key[0], pool].remove(slot)
        self.bytes[key[0], pool] -= counted
        self.count_all(key[0], pool)

    def on_free(self, row):
        key = (row["device"], row["id"])
        if key not in self.live:
            return
        freed = tuple(row[name] for name in ("pool", "size_bytes", "bytes_per_bank", "block_bytes"))
        expect(f"what event {row['seq']} frees", freed, self.live[key][4])
        self.give(key)

    def on_chip(self, row):
        self.know(row["mesh"])
        self.know(row["device"])
        self.mesh[row["device"]] = row["mesh"]

    def on_program(self, row):
        self.know(row["device"])
        chips = [chip for chip in self.order if self.mesh.get(chip) == row["device"]]
        for device in [row["device"]] + chips:
            if self.cores[device]:
                self.cores[device].clear()
                self.count_cores(device)

    def on_cb(self, row):
        if row["borrowed"] == "true" or int(row["size_bytes"]) == 0:
            return
        self.know(row["device"])
        for part in row["ranges"].split("+"):
            (x0, y0), (x1, y1) = (map(int, corner.split("-")) for corner in part.split(".."))
            for x in range(x0, x1 + 1):
                for y in range(y0, y1 + 1):
                    self.cores[row["device"]][x, y] += int(row["size_bytes"])
        self.count_cores(row["device"])

    on_dfb = on_scratchpad = on_cb

    def count_cores(self, device):
        top = max(self.cores[device].values(), default=0)
        self.counters.append((self.now, f"device {device} CBs on the fullest core", top))

    def on_op_begin(self, row):
        self.last_thread = row["thread"]
        stack = self.open_ops[row["thread"]]
        if stack and stack[-1][0] == self.now:
            self.early.add(id(stack[-1]))
        self.ops.append([self.now, END_OF_TIME, row["thread"], op_of(row), 0, op_of(row)])
        stack.append(self.ops[-1])

    def end_op(self, stack, time):
        """Ends an operation. Its bytes include those of inner operations, and its name includes
        its size, unless an inner operation begins at the same time: then the name is written
        before the size is known."""
        op = stack.pop()
        op[1] = time
        if stack:
            stack[-1][4] += op[4]
        if id(op) not in self.early:
            op[3] = sized(op[3], op[4])

    def on_op_end(self, row):
        self.last_thread = row["thread"]
        if self.open_ops[row["thread"]]:
            self.end_op(self.open_ops[row["thread"]], self.now)

    def on_trace_begin(self, row):
        self.know(row["device"])
        self.traces.append([self.now, END_OF_TIME, row["device"]])
        self.open_traces[row["device"]].append(self.traces[-1])

    def on_trace_end(self, row):
        self.know(row["device"])
        if self.open_traces[row["device"]]:
            self.open_traces[row["device"]].pop()[1] = self.now

    def on_traces(self, row):
        for _ in range(int(row["count"])):
            self.on_trace_begin(row)

    def on_failure(self, row):
        self.know(row["device"])
        self.failures.append((self.now, row["device"], row["message"]))

    def on_capture_begin(self, row):
        self.open_phases[row["capture"]] = self.now

    on_capture_active = on_capture_begin

    def on_phase_end(self, row):
        self.phases.append((self.open_phases[row["capture"]], self.now, row["capture"], row["name"]))
        self.open_phases[row["capture"]] = self.now

    def on_capture_end(self, row):
        del self.open_phases[row["capture"]]


def op_of(row):
    """Returns the name of an operation as timelines write it: the first 63 bytes, on one line."""
    text = row["op"].encode()[:63].decode(errors="replace")
    return "".join("?" if ord(c) < 32 or ord(c) == 127 else c for c in text)


def compare(model, got, end):
    """Compares a format with the model. `end` is how the format writes a missing end."""
    closed = lambda slices: [[s[0], end if s[1] is END_OF_TIME else s[1], *s[2:]] for s in slices]
    expect("counters", got.counters, model.counters)
    expect("buffers", [list(b) for b in got.buffers], closed(model.buffers))
    expect("operations", [list(o) for o in got.ops], closed([o[:5] for o in model.ops]))
    expect("peaks", got.peaks, model.peaks)
    expect("traces", [list(t) for t in got.traces], closed(model.traces))
    expect("failures", got.failures, model.failures)
    expect("phases", sorted(got.phases, key=str), sorted(map(tuple, closed(model.phases)), key=str))


class Found:
    def __init__(self):
        self.counters, self.buffers, self.ops = [], [], []
        self.traces, self.phases, self.failures = [], [], []
        self.peaks, self.capacities = {}, defaultdict(list)

    def peak(self, device, time, event_name, count):
        words = event_name.split()
        expect("words of a peak", words[:2], ["peak", "of"])
        pool = words[2]
        suffix = " per bank" if pool in POOLS_OF_BANKS else ""
        expect("the name of a peak", event_name, f"peak of {pool} {size_of(count)}{suffix}")
        self.peaks[device, pool] = (time, count)


def check_capacities(got, model, wanted):
    """Checks that the line of a capacity goes from the first byte of its pool to the end."""
    pools = {(device, pool) for device, pool in model.seen if pool in wanted}
    expect("pools with a capacity", sorted(got.capacities), sorted(pools))
    for key, points in got.capacities.items():
        expect("values of a capacity", {value for _, value in points}, {wanted[key[1]]})
        first = next(t for t, name, _ in model.counters if name == "device {} {}".format(*key))
        expect("times of a capacity", [t for t, _ in points], [first, model.now])


# ---- Perfetto ----


def find_unknown(message, path="trace"):
    from google.protobuf.unknown_fields import UnknownFieldSet
    if len(UnknownFieldSet(message)):
        fail(f"{path} has a field that nobody knows")
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE:
            continue
        for child in value if field.label == field.LABEL_REPEATED else [value]:
            find_unknown(child, f"{path}.{field.name}")


class Perfetto(Found):
    def __init__(self, trace):
        super().__init__()
        self.tracks = {}
        self.names = {}
        self.last = {}
        self.open = defaultdict(list)
        for packet in trace.packet:
            self.packet(packet)
        # In the order in which readers take them: by time, then by their place in the file.
        for packet in sorted(trace.packet, key=lambda packet: packet.timestamp):
            if packet.WhichOneof("data") == "track_event":
                self.event(packet)
        for track, slices in self.open.items():
            kind = self.tracks[track].name
            if "buffers" in kind and len(slices) > 1:
                fail(f"two buffers at once on {kind}")
        self.check_groups()

    LATE_SEQUENCE = 66

    def packet(self, packet):
        sequence = packet.trusted_packet_sequence_id
        if sequence == 0:
            fail("a packet without a sequence")
        if (sequence not in self.last) != bool(packet.sequence_flags & 1):
            fail(f"sequence {sequence} clears its state elsewhere than at its begin")
        if packet.timestamp < self.last.get(sequence, 0) and sequence != self.LATE_SEQUENCE:
            fail(f"time falls on sequence {sequence} at {packet.timestamp}")
        self.last[sequence] = packet.timestamp
        for name in packet.interned_data.debug_annotation_names:
            self.names[sequence, name.iid] = name.name
        kind = packet.WhichOneof("data")
        if kind == "track_descriptor":
            self.track(packet.track_descriptor)
        elif kind == "track_event" and packet.track_event.track_uuid not in self.tracks:
            fail(f"an event on track {packet.track_event.track_uuid}, which is not described")

    def check_groups(self):
        """Checks that a track whose name begins with a device is below the track of that device."""
        for track in self.tracks.values():
            words = track.name.split()
            if track.HasField("process") or words[0] != "device":
                continue
            root = track
            while root.parent_uuid:
                root = self.tracks[root.parent_uuid]
            expect(f"the group of '{track.name}'", root.name, " ".join(words[:2]))
            if root is track:
                expect("the order of a group", track.child_ordering, 3)
            elif track.HasField("counter") and words[2] != "CBs":
                expect("the axis of a counter", track.counter.y_axis_share_key, words[2])

    def track(self, track):
        if track.uuid in self.tracks or track.uuid == 0:
            fail(f"track {track.uuid} is described twice")
        is_root = track.HasField("process") or len(track.name.split()) == 2
        if not is_root and track.parent_uuid not in self.tracks:
            fail(f"the parent of '{track.name}' is not known")
        if track.HasField("counter"):
            expect("unit", track.counter.unit, 3)
        self.tracks[track.uuid] = track

    def event(self, packet):
        event = packet.track_event
        track = self.tracks[event.track_uuid]
        expect("a counter is on a track of counters", event.type == 4, track.HasField("counter"))
        if event.debug_annotations and not packet.sequence_flags & 2:
            fail("annotations by number on a packet that does not say so")
        sequence = packet.trusted_packet_sequence_id
        args = {self.names[sequence, a.name_iid]: getattr(a, a.WhichOneof("value"))
                for a in event.debug_annotations}
        getattr(self, f"type_{event.type}")(packet.timestamp, track, event, args)

    def type_1(self, time, track, event, args):
        word, category = track.name.split(), event.categories[0]
        if category == "buffer":
            if any(s[1] is END_OF_TIME for s in self.open[track.uuid]):
                fail(f"two buffers at once on '{track.name}'")
            slice_ = [time, END_OF_TIME, args["id"], args["bytes"], args.get("op", "")]
            expect("the name of a buffer", event.name,
                   sized(args.get("op", "buffer"), args["bytes"]))
            self.buffers.append(slice_)
        elif category == "op":
            slice_ = [time, END_OF_TIME, word[1] if len(word) > 1 else "", event.name,
                      args.get("bytes", 0)]
            self.ops.append(slice_)
        elif category == "trace":
            slice_ = [time, END_OF_TIME, word[1]]
            self.traces.append(slice_)
        else:
            slice_ = [time, END_OF_TIME, word[1], event.name]
            self.phases.append(slice_)
        self.open[track.uuid].append(slice_)

    def type_2(self, time, track, event, args):
        if not self.open[track.uuid]:
            fail(f"an end without a begin on '{track.name}'")
        slice_ = self.open[track.uuid].pop()
        slice_[1] = time
        if "bytes" in args:
            slice_[4] = args["bytes"]

    def type_3(self, time, track, event, args):
        if event.categories[0] == "oom":
            self.failures.append((time, track.name.split()[1], event.name))
        elif event.categories[0] == "peak":
            self.peak(track.name.split()[1], time, event.name, args["bytes"])

    def type_4(self, time, track, event, args):
        words = track.name.split()
        if words[-1] == "capacity":
            self.capacities[words[1], words[2]].append((time, event.counter_value))
        else:
            self.counters.append((time, track.name, event.counter_value))


def check_perfetto(directory, model, capacities):
    sys.path.insert(0, directory)
    import perfetto_check_pb2
    trace = perfetto_check_pb2.Trace()
    with open(f"{directory}/out.pftrace", "rb") as file:
        trace.ParseFromString(file.read())
    find_unknown(trace)
    got = Perfetto(trace)
    got.phases = [tuple(phase) for phase in got.phases]
    compare(model, got, END_OF_TIME)
    check_capacities(got, model, capacities)


# ---- Chrome ----


class Chrome(Found):
    def __init__(self, events):
        super().__init__()
        self.names = {}
        self.open = defaultdict(list)
        self.last = 0
        self.pids = {}
        for event in events:
            self.check(event)
        # In the order in which readers take them: by time, then by their place in the file. A
        # complete slice counts as its begin and its end.
        parts = []
        for event in events:
            parts.append((event["ts"], event))
            if event["ph"] == "X":
                parts.append((event["ts"] + event["dur"], {**event, "ph": "end of X"}))
        for ts, event in sorted(parts, key=lambda part: round(part[0] * 1000)):
            self.event(round(ts * 1000), event)
        for tid, slices in self.open.items():
            if slices:
                fail(f"what begins on {self.names[tid]} has no end")

    def check(self, event):
        for key in ("pid", "tid", "ts"):
            if not isinstance(event.get(key), (int, float)) or event[key] < 0:
                fail(f"no number as '{key}': {event}")
        if not isinstance(event["pid"], int) or not 0 < event["tid"] < 1 << 32:
            fail(f"a pid or tid that others do not take: {event}")
        time = round(event["ts"] * 1000)
        if event["ph"] != "X" and event.get("cat") != "peak":
            if time < self.last:
                fail(f"time falls: {event}")
            self.last = time
        if event["ph"] == "M":
            names = self.names if event["name"] == "thread_name" else self.pids
            names[event["tid"] if names is self.names else event["pid"]] = event["args"]["name"]
            return
        name = self.names.get(event["tid"]) if event["ph"] != "C" else event["name"]
        if name.startswith("device "):
            expect(f"the process of '{name}'", self.pids[event["pid"]], " ".join(name.split()[:2]))

    def event(self, time, event):
        if event["ph"] == "end of X":
            if event["cat"] == "op":
                self.ph_E(time, event)
        elif event["ph"] != "M":
            getattr(self, f"ph_{event['ph']}")(time, event)

    def begin(self, event, slice_, slices):
        self.open[event["tid"]].append((event, slice_))
        slices.append(slice_)

    def ph_B(self, time, event):
        word = self.names[event["tid"]].split()
        if event["cat"] == "op":
            thread = word[1] if len(word) > 1 else ""
            self.begin(event, [time, END_OF_TIME, thread, event["name"],
                               event.get("args", {}).get("bytes", 0)], self.ops)
        else:
            self.begin(event, [time, END_OF_TIME, word[1]], self.traces)

    def ph_b(self, time, event):
        if self.open[event["tid"]]:
            fail(f"two buffers at once on one tid: {event}")
        args = event["args"]
        expect("the name of a buffer", event["name"],
               sized(args.get("op", "buffer"), args["bytes"]))
        self.begin(event, [time, END_OF_TIME, args["id"], args["bytes"], args.get("op", "")],
                   self.buffers)

    def ph_E(self, time, event):
        begin, slice_ = self.open[event["tid"]].pop()
        slice_[1] = time
        if event["ph"] == "E" and "args" in event:
            slice_[4] = event["args"]["bytes"]
        expect("the category of an end", event["cat"], begin["cat"])
        if event["ph"] == "e":
            expect("id and name of an end", (event["id"], event["name"]),
                   (begin["id"], begin["name"]))

    ph_e = ph_E

    def ph_C(self, time, event):
        (key, value), = event["args"].items()
        if not key.endswith("_bytes"):
            fail(f"a counter that is not of bytes: {event}")
        words = event["name"].split()
        if words[-1] == "capacity":
            self.capacities[words[1], words[2]].append((time, value))
        else:
            self.counters.append((time, event["name"], value))

    def ph_i(self, time, event):
        if event["cat"] == "oom":
            self.failures.append((time, self.names[event["tid"]].split()[1], event["name"]))
        elif event["cat"] == "peak":
            device = self.pids[event["pid"]].split()[1]
            self.peak(device, time, event["name"], event["args"]["bytes"])

    def ph_X(self, time, event):
        if event["cat"] == "op":
            self.ph_B(time, event)
            return
        capture = self.names[event["tid"]].split()[1]
        self.phases.append((time, time + round(event["dur"] * 1000), capture, event["name"]))


def check_chrome(directory, model, capacities):
    with open(f"{directory}/out.chrome", encoding="utf-8") as file:
        document = json.load(file)
    got = Chrome(document["traceEvents"])
    if model.has_times == ("no times" in document["otherData"]["times"]):
        fail("Chrome's trace says something else about its times")
    compare(model, got, model.now)
    check_capacities(got, model, capacities)


def main():
    directory = sys.argv[1]
    slots = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
    header, rows = read_rows(directory)
    model = Model(header, rows, slots)
    capacities = {pool: int(count) for pool, count in (arg.split("=") for arg in sys.argv[3:])}
    check_perfetto(directory, model, capacities)
    check_chrome(directory, model, capacities)
    print(f"{len(rows)} rows, {len(model.counters)} counters, {len(model.buffers)} buffers, "
          f"{model.undrawn} not drawn, {len(model.ops)} operations")


main()
