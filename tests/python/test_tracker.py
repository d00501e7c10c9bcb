"""ttscope.Tracker: events, refusals, and that nothing is read while nobody listens."""

import enum
import unittest
from unittest import mock

import ttscope
from ttscope import _native


class Numbery:
    """Counts as an int, as numpy's numbers do."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Off(unittest.TestCase):
    def test_events_do_nothing_and_are_not_looked_at(self):
        t = ttscope.Tracker(live_max=16)
        self.assertFalse(t.is_on)
        t.alloc("no id", -5, "no pool", device=-1)
        t.free(None)
        t.program("x")
        t.cb(-1, cores=5, kind="what")
        t.trace_begin("x")
        t.trace_end("x")
        with t.op(5):
            pass
        self.assertEqual(t.live(), [])

    def test_an_op_that_is_not_entered_owns_nothing(self):
        t = ttscope.Tracker(live_max=16)
        with ttscope.capture(tracker=t) as c:
            t.op("never entered")
            t.alloc(1, 8)
        self.assertEqual([b.op for b in t.live()], [None])
        self.assertEqual(c["END_TRACE"].ops, 0)

    def test_an_op_that_began_unheard_does_not_end_another(self):
        t = ttscope.Tracker(live_max=16)
        unheard = t.op("unheard")
        with ttscope.capture(tracker=t) as c, t.op("outer"):
            with unheard:
                pass
            t.alloc(1, 8)
        self.assertEqual([b.op for b in t.live()], ["outer"])
        self.assertEqual(c["END_TRACE"].ops, 1)

    def test_an_op_that_ends_unheard_is_forgotten(self):
        t = ttscope.Tracker(live_max=16)
        with ttscope.capture(tracker=t) as c:
            op = t.op("stays open")
            op.__enter__()
        op.__exit__(None, None, None)
        with ttscope.capture(tracker=t) as c:
            t.alloc(1, 8)
        self.assertEqual([b.op for b in t.live()], [None])
        self.assertEqual(c["END_TRACE"].ops, 0)


class On(unittest.TestCase):
    def setUp(self):
        self.t = ttscope.Tracker(live_max=64, devices_max=4, ops_max=8)
        self.capture = ttscope.capture(tracker=self.t)
        self.capture.begin()
        self.addCleanup(self.capture.clear)

    def phase(self):
        self.capture.end()
        return self.capture["END_TRACE"]

    def test_live_buffers_are_as_they_were_told(self):
        with self.t.op("create"):
            self.t.alloc(11, 4096, "L1", 2, 256, block_bytes=320)
        self.t.alloc(id=Numbery(12), size=100, pool="DRAM")
        self.t.alloc(2**64 - 1, 1, "TRACE")
        self.t.free(12)
        first, last = self.t.live()
        self.assertEqual((first.id, first.size_bytes, first.bytes_per_bank, first.block_bytes,
                          first.device, first.pool, first.op),
                         (11, 4096, 256, 320, 2, "L1", "create"))
        self.assertEqual((last.id, last.pool, last.op), (2**64 - 1, "TRACE", None))
        self.assertLess(first.seq, last.seq)

    def test_live_takes_any_number(self):
        for i in range(50):
            self.t.alloc(i, 8)
        self.assertEqual([b.id for b in self.t.live()], list(range(50)))
        # The first call reports that no buffer is live. Buffers appear before the second call.
        real = _native.lib.tts_tracker_live
        late = mock.Mock(side_effect=lambda t, out, capacity: out and real(t, out, capacity) or 0)
        with mock.patch.object(_native.lib, "tts_tracker_live", late):
            self.assertEqual([b.id for b in self.t.live()], list(range(50)))

    def test_pools_of_other_enums_are_taken_by_name(self):
        buffer_type = enum.Enum("BufferType", "DRAM L1 SYSTEM_MEMORY")
        self.t.alloc(1, 64, buffer_type.L1, bytes_per_bank=64)
        self.assertEqual(self.t.live()[0].pool, "L1")
        for pool in (buffer_type.SYSTEM_MEMORY, "dram", None, 0):
            with self.assertRaisesRegex(ValueError, "one of DRAM, L1, L1_SMALL, TRACE"):
                self.t.alloc(2, 64, pool)
        self.assertEqual(len(self.t.live()), 1)

    def test_a_buffer_on_some_cores_takes_only_those(self):
        self.t.alloc(1, 1024, "L1", bytes_per_bank=512, cores=[(2, 0), (3, 1)])
        self.t.program()
        self.t.cb(100, cores=[(0, 0, 3, 0)])
        core = self.phase().core
        self.assertEqual((core.core, core.bytes), ((2, 0), 612))

    def test_health_counts_what_was_not_seen(self):
        self.t.alloc(1, 8)
        self.t.alloc(1, 8)
        self.t.free(2, 100)
        self.t.free(3)
        health = self.t.health()
        self.assertEqual((health.dropped, health.unlisted, health.unseen_frees,
                          health.unknown_frees, health.doubled), (0, 0, 1, 1, 1))
        self.assertGreaterEqual(health.events, 3)
        self.assertEqual(self.phase().dram.freed_bytes, 108)

    def test_more_than_live_max_are_counted_and_listed(self):
        for i in range(100):
            self.t.alloc(i, 8)
        self.assertEqual(len(self.t.live()), 100)
        self.assertEqual(self.t.health().unlisted, 0)
        self.assertEqual(self.phase().dram.peak_bytes, 800)

    def test_ops_nest(self):
        with self.t.op("outer"):
            with self.t.op("inner"):
                self.t.alloc(1, 8)
            self.t.alloc(2, 8)
        self.t.alloc(3, 8)
        self.assertEqual([b.op for b in self.t.live()], ["inner", "outer", None])
        self.assertEqual(self.phase().ops, 2)

    def test_an_op_ends_when_its_block_raises(self):
        with self.assertRaises(KeyError):
            with self.t.op("fails"):
                raise KeyError
        self.t.alloc(1, 8)
        self.assertIsNone(self.t.live()[0].op)

    def test_numbers_that_do_not_fit_are_refused_and_not_cut(self):
        for call, what in (
            (lambda: self.t.alloc(-1, 8), "id -1 is out of range"),
            (lambda: self.t.alloc(1, -8), "size -8 is out of range"),
            (lambda: self.t.alloc(1, 2**64), "size 18446744073709551616 is out of range"),
            (lambda: self.t.alloc(1, 8, device=2**32), "device 4294967296 is out of range"),
            (lambda: self.t.free(2**64), "id 18446744073709551616 is out of range"),
            (lambda: self.t.program(-1), "device -1 is out of range"),
            (lambda: self.t.cb(8, cores=[(0, 0, 70000, 0)]), "core 70000 is out of range"),
            (lambda: self.t.cb(8, cores=[(0, 0, 1)]), r"expected \(x0, y0, x1, y1\) or \(x, y\)"),
            (lambda: self.t.cb(8, cores=[7]), r"7 is not a range of cores"),
            (lambda: self.t.cb(8, cores=[(0, 0)], kind="bc"), "'cb', 'dfb' or 'scratchpad'"),
            (lambda: self.t.chip(-1, 0), "chip -1 is out of range"),
            (lambda: ttscope.Tracker(live_max=2**32), "live_max 4294967296 is out of range"),
        ):
            with self.assertRaisesRegex(ValueError, what):
                call()
        for call, what in (
            (lambda: self.t.alloc("a", 8), "id must be an int, not str"),
            (lambda: self.t.alloc(1, 8.0), "size must be an int, not float"),
            (lambda: self.t.op(5), "must be a str, not int"),
        ):
            with self.assertRaisesRegex(TypeError, what):
                call()
        self.assertEqual(self.t.health().events, 0)

    def test_what_the_library_refuses_raises_its_text(self):
        for call in (
            lambda: self.t.cb(8, cores=[]),
            lambda: self.t.cb(8, cores=[(1, 1, 0, 0)]),
            lambda: self.t.cb(8, cores=[(i, 0) for i in range(65)]),
            lambda: self.t.chip(3, 3),
            lambda: ttscope.Tracker(devices_max=100000),
        ):
            with self.assertRaises(ValueError) as raised:
                call()
            self.assertGreater(len(str(raised.exception)), 10)
        self.assertEqual(self.t.health().events, 0)

    def test_what_is_shown_of_it(self):
        self.assertRegex(repr(self.t), r"^<ttscope\.Tracker at 0x[0-9a-f]+, 1 listening>$")


class Process(unittest.TestCase):
    def test_there_is_one(self):
        self.assertIs(ttscope.process_tracker(), ttscope.process_tracker())
        self.assertFalse(ttscope.process_tracker().is_on)


if __name__ == "__main__":
    unittest.main()
