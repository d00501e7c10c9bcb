"""ttscope.capture: the with block, nested captures, what is read from them."""

import enum
import gc
import io
import json
import threading
import unittest
import weakref
from unittest import mock

import ttscope
from ttscope import _native


class Case(unittest.TestCase):
    def setUp(self):
        self.tracker = ttscope.Tracker(live_max=4096)

    def capture(self, mode=ttscope.NORMAL):
        return ttscope.capture(mode, tracker=self.tracker)


class Course(Case):
    def test_the_block_ends_with_the_default_name(self):
        with self.capture() as c:
            self.assertTrue(c.is_active)
            self.tracker.alloc(1, 4096)
            c.snapshot("FORWARD_PASS")
            self.tracker.free(1)
        self.assertFalse(c.is_active)
        self.assertFalse(self.tracker.is_on)
        self.assertEqual(c.names, ["FORWARD_PASS", "END_TRACE"])
        self.assertEqual(c["FORWARD_PASS"].dram.peak_bytes, 4096)
        self.assertEqual(c["END_TRACE"].dram.change_bytes, -4096)

    def test_end_inside_the_block_is_the_end(self):
        with self.capture() as c:
            c.end("LAST")
            self.assertFalse(c.is_active)
            self.tracker.alloc(1, 4096)
        self.assertEqual(c.names, ["LAST"])
        self.assertEqual(c["LAST"].dram.allocated_bytes, 0)

    def test_an_exception_ends_it_and_goes_on(self):
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            with self.capture() as c:
                self.tracker.alloc(1, 10)
                raise ZeroDivisionError("mine")
        self.assertEqual(c.names, ["END_TRACE"])
        self.assertEqual(c["END_TRACE"].dram.peak_bytes, 10)
        self.assertFalse(self.tracker.is_on)

    def test_captures_nest_and_each_counts_all(self):
        with self.capture() as outer:
            self.tracker.alloc(1, 100)
            with self.capture(ttscope.NO_DISPATCH) as inner:
                self.tracker.alloc(2, 20)
                inner.snapshot("IN")
                self.tracker.free(1)
            self.tracker.alloc(3, 3)
        self.assertEqual([p.dram.allocated_bytes for p in inner], [20, 0])
        self.assertEqual([p.dram.freed_bytes for p in inner], [0, 100])
        self.assertEqual(inner["END_TRACE"].dram.cumulative_current_bytes, -80)
        self.assertEqual(outer["END_TRACE"].dram.allocated_bytes, 123)
        self.assertEqual(outer["END_TRACE"].dram.peak_bytes, 120)
        self.assertEqual((outer.mode, inner.mode), (ttscope.NORMAL, ttscope.NO_DISPATCH))

    def test_captures_may_end_in_any_order(self):
        first, second = self.capture(), self.capture()
        first.begin()
        second.begin()
        self.tracker.alloc(1, 8)
        first.end("F")
        self.tracker.alloc(2, 8)
        second.end("S")
        self.assertEqual(first["F"].dram.peak_bytes, 8)
        self.assertEqual(second["S"].dram.peak_bytes, 16)

    def test_a_capture_may_be_entered_again_and_goes_on(self):
        c = self.capture()
        for size in (1, 2):
            with c:
                self.tracker.alloc(size, size)
        self.assertEqual([p.dram.cumulative_current_bytes for p in c.phases], [1, 3])

    def test_without_a_tracker_it_listens_to_the_process(self):
        with ttscope.capture() as c:
            ttscope.process_tracker().alloc(1, 64)
        self.assertIs(c.tracker, ttscope.process_tracker())
        self.assertEqual(c["END_TRACE"].dram.peak_bytes, 64)

    def test_a_capture_that_is_dropped_stops_listening(self):
        c = self.capture()
        c.begin()
        self.assertTrue(self.tracker.is_on)
        del c
        gc.collect()
        self.assertFalse(self.tracker.is_on)

    def test_the_tracker_lives_as_long_as_its_captures(self):
        tracker = ttscope.Tracker(live_max=16)
        gone = weakref.ref(tracker)
        with ttscope.capture(tracker=tracker) as c:
            tracker.alloc(1, 64)
        del tracker
        gc.collect()
        self.assertIsNotNone(gone())
        c.begin()
        c.end("MORE")
        self.assertEqual(c.names, ["END_TRACE", "MORE"])
        del c
        gc.collect()
        self.assertIsNone(gone())

    def test_the_library_is_told_the_mode(self):
        foreign = enum.Enum("RunMode", {"NO_DISPATCH": "no", "NORMAL": "yes"})
        for mode, number in ((ttscope.NORMAL, 0), (ttscope.NO_DISPATCH, 1),
                             (foreign.NORMAL, 0), (foreign.NO_DISPATCH, 1)):
            begin = mock.Mock(wraps=_native.lib.tts_capture_begin)
            with mock.patch.object(_native.lib, "tts_capture_begin", begin):
                with self.capture(mode):
                    pass
            self.assertEqual(begin.call_args[0][1], number)

    def test_clear_drops_all_and_ends(self):
        with self.capture() as c:
            c.snapshot("A")
            self.assertEqual(c.names, ["A"])
            c.clear()
            self.assertFalse(c.is_active)
        self.assertEqual(c.phases, [])
        with c:
            pass
        self.assertEqual(c.names, ["END_TRACE"])


class Misuse(Case):
    def test_a_snapshot_outside_the_block_says_what_to_do(self):
        c = self.capture()
        wanted = "cannot snapshot 'X': the capture is not active; call it inside the with block"
        with self.assertRaisesRegex(RuntimeError, wanted):
            c.snapshot("X")
        with c:
            pass
        with self.assertRaisesRegex(RuntimeError, wanted):
            c.snapshot("X")
        self.assertEqual(c.names, ["END_TRACE"])
        c.end("MORE")
        self.assertEqual(c.names, ["END_TRACE"])

    def test_begin_twice_says_what_to_do(self):
        with self.capture() as c:
            with self.assertRaisesRegex(RuntimeError, "cannot begin: the capture is active; end"):
                c.begin()
            with self.assertRaisesRegex(RuntimeError, "cannot begin"):
                with c:
                    self.fail("entered twice")
            self.assertTrue(c.is_active)

    def test_phases_that_are_not_there(self):
        with self.capture() as c:
            with self.assertRaisesRegex(KeyError, "no phase 'X': no phase has ended yet"):
                c["X"]
            c.snapshot("FORWARD_PASS")
            c.snapshot("TWICE")
            c.snapshot("TWICE")
        with self.assertRaisesRegex(KeyError, "did you mean 'FORWARD_PASS'"):
            c["FORWARD_PAS"]
        with self.assertRaisesRegex(KeyError,
                                        "the phases are FORWARD_PASS, TWICE, TWICE, END_TRACE"):
            c["Q"]
        with self.assertRaisesRegex(KeyError, r"2 phases are named 'TWICE': get each phase from"):
            c["TWICE"]
        with self.assertRaisesRegex(TypeError, r"use \.phases\[N\] to get a phase by its number"):
            c[0]

    def test_bad_modes_and_trackers_are_refused_at_once(self):
        with self.assertRaisesRegex(TypeError, "expected ttscope.NORMAL"):
            ttscope.capture("NORMAL")
        with self.assertRaisesRegex(TypeError, "must be a ttscope.Tracker, not int"):
            ttscope.capture(tracker=5)
        with self.assertRaises(TypeError):
            ttscope.capture(ttscope.NORMAL, self.tracker)

    def test_what_is_no_str_is_refused_and_the_phase_goes_on(self):
        with self.capture() as c:
            self.tracker.alloc(1, 8)
            with self.assertRaisesRegex(TypeError, "name must be a str, not int"):
                c.snapshot(3)
        self.assertEqual(c["END_TRACE"].dram.peak_bytes, 8)

    def test_every_str_is_a_name(self):
        long = "größe" * 100 + "_FWD__000042"
        names = ["", "n" * 256, long, "a\0b", "a\nb\x1b[1m", "\ud800", "__proto__", "🙂" * 1000]
        with self.capture() as c:
            for name in names:
                c.snapshot(name)
        self.assertEqual(c.names[:2] + c.names[3:6] + c.names[-1:],
                         ["", "n" * 126 + "..." + "n" * 126, "a?b", "a\nb\x1b[1m", "?", "END_TRACE"])
        for name in names:
            self.assertIn(c[name].name, c.names)
        self.assertLessEqual(max(len(name.encode()) for name in c.names), 255)
        self.assertTrue(c[long].name.startswith("größe") and c[long].name.endswith("_FWD__000042"))
        self.assertNotIn("\ufffd", "".join(c.names))
        c.text()

    def test_phases_cannot_be_changed(self):
        with self.capture() as c:
            pass
        with self.assertRaises(AttributeError):
            c.phases[0].name = "other"
        c.phases.append("mine")
        self.assertEqual(c.names, ["END_TRACE"])


class Figures(Case):
    def test_pools_are_told_apart(self):
        with self.capture() as c:
            self.tracker.alloc(1, 1000, "DRAM")
            self.tracker.alloc(2, 2000, "L1", bytes_per_bank=64)
            self.tracker.alloc(3, 3000, "L1_SMALL", bytes_per_bank=32)
            self.tracker.trace_begin()
            self.tracker.alloc(4, 4000, "TRACE")
            self.tracker.alloc(5, 10, "DRAM")
            self.tracker.trace_end()
            self.tracker.free(2)
        phase = c["END_TRACE"]
        peaks = [pool.peak_bytes for pool in (phase.dram, phase.l1, phase.l1_small, phase.trace)]
        self.assertEqual(peaks, [1010, 64, 32, 4000])
        self.assertEqual((phase.l1.freed_bytes, phase.l1.frees, phase.dram.allocations),
                         (64, 1, 2))
        self.assertEqual((phase.traces, phase.traced_bytes), (1, 10))
        self.assertIn("'END_TRACE': DRAM peak 0.00 MB, change +0.00 MB", repr(phase))

    def test_the_fullest_core_and_what_was_there(self):
        with self.capture() as c:
            with self.tracker.op("matmul"):
                self.tracker.alloc(7, 4096, "L1", bytes_per_bank=512)
                self.tracker.program()
                self.tracker.cb(1000, cores=[(0, 0, 1, 1)])
                self.tracker.cb(300, cores=[(1, 1)], kind="dfb")
            self.tracker.cb(20, cores=[(1, 1), (5, 5, 6, 6)], kind="scratchpad")
        phase = c["END_TRACE"]
        core = phase.core
        self.assertEqual((core.device, core.core, core.bytes, core.at_least, core.op),
                         (0, (1, 1), 1832, False, None))
        self.assertEqual((core.cb_bytes, core.dfb_bytes, core.scratchpad_bytes, core.l1_bytes),
                         (1000, 300, 20, 512))
        self.assertEqual(
            [(part.kind, part.bytes, part.pool, part.id, part.op) for part in core.parts],
            [("cb", 1000, None, None, "matmul"), ("buffer", 512, "L1", 7, "matmul"),
             ("dfb", 300, None, None, "matmul"), ("scratchpad", 20, None, None, None)])
        self.assertEqual((phase.ops, phase.programs), (1, 1))
        self.assertIn("matmul", c.cores_text())

    def test_nothing_on_a_core_is_none(self):
        with self.capture() as c:
            self.tracker.alloc(1, 8)
        self.assertIsNone(c["END_TRACE"].core)
        self.assertIsNone(c.to_dict()["phases"][0]["l1"]["true_core_peak_bytes"])

    def test_devices_have_figures_of_their_own(self):
        self.tracker.chip(chip=0, mesh=9)
        with self.capture() as c:
            self.tracker.alloc(1, 100, device=9)
            self.tracker.alloc(1, 7, device=3)
            self.tracker.program(device=0)
            self.tracker.cb(64, cores=[(0, 0)], device=0)
        phase = c["END_TRACE"]
        by_device = {d.device: d for d in phase.devices}
        self.assertEqual(by_device[3].dram.peak_bytes, 7)
        self.assertEqual(by_device[9].dram.peak_bytes, 100)
        self.assertEqual(by_device[0].peak_cb_bytes, 64)
        self.assertEqual(phase.dram.peak_bytes, 107)
        self.assertIn("3: DRAM peak", repr(by_device[3]))

    def test_phases_stay_when_the_capture_is_gone(self):
        with self.capture() as c:
            with self.tracker.op("op"):
                self.tracker.program()
                self.tracker.cb(64, cores=[(0, 0)])
        phase = c["END_TRACE"]
        del c
        gc.collect()
        self.assertEqual((phase.name, phase.core.parts[0].op), ("END_TRACE", "op"))

    def test_the_document_has_the_words_of_the_command_line(self):
        with self.capture() as c:
            self.tracker.alloc(1, 100)
            self.tracker.alloc(2, 640, "L1", bytes_per_bank=64)
            self.tracker.program()
            self.tracker.cb(32, cores=[(0, 0)])
            c.snapshot("A")
            self.tracker.free(1)
        document = json.loads(json.dumps(c.to_dict()))
        self.assertEqual(document["schema"], {"name": "ttscope.phases", "version": 1})
        self.assertEqual((document["overall_dram_peak_bytes"], document["final_dram_bytes"]),
                         (100, 0))
        first, last = document["phases"]
        self.assertEqual(first["name"], "A")
        self.assertEqual({key: first["dram"][key] for key in (
            "segment_peak_bytes", "allocations_bytes", "deallocations_bytes", "change_bytes",
            "cumulative_peak_bytes", "cumulative_current_bytes")},
            {"segment_peak_bytes": 100, "allocations_bytes": 100, "deallocations_bytes": 0,
             "change_bytes": 100, "cumulative_peak_bytes": 100, "cumulative_current_bytes": 100})
        self.assertEqual({key: first["l1"][key] for key in (
            "peak_cb_bytes", "peak_buffer_bytes", "peak_total_bytes", "true_core_peak_bytes")},
            {"peak_cb_bytes": 32, "peak_buffer_bytes": 64, "peak_total_bytes": 96,
             "true_core_peak_bytes": 96})
        self.assertEqual(first["core_peak"]["core"], {"x": 0, "y": 0})
        self.assertEqual([part["kind"] for part in first["core_peak"]["parts"]],
                         ["buffer", "cb"])
        self.assertEqual(last["dram"]["change_bytes"], -100)
        self.assertEqual([d["device"] for d in first["devices"]], [0])

    def test_an_empty_document(self):
        document = self.capture().to_dict()
        self.assertEqual((document["phases"], document["overall_dram_peak_bytes"],
                          document["final_dram_bytes"]), ([], 0, 0))

    def test_text_and_print_are_the_same(self):
        with self.capture() as c:
            self.tracker.alloc(1, 3 * 1048576)
        out = io.StringIO()
        c.print(file=out)
        self.assertEqual(out.getvalue(), c.text())
        self.assertIn("Segment Peak 3.00 MB", c.text())
        self.assertEqual(c.text()[-2:], "\n\n")
        self.assertEqual(self.capture().text(), "WARNING: No traces captured\n")

    def test_names_with_strange_characters_can_be_printed(self):
        with self.capture() as c:
            for name in ("größe ✓", "half \ud800", "line\nbreak", ""):
                c.snapshot(name)
        self.assertEqual(c.names[:2], ["größe ✓", "half ?"])
        self.assertIn("--- größe ✓ ---\n", c.text())
        self.assertIn("--- line?break ---\n", c.text())
        c.text().encode()

    def test_what_is_shown_of_it(self):
        with self.capture() as c:
            c.snapshot("A")
            self.assertEqual(repr(c), "<ttscope.Capture NORMAL, active, 1 phases>")
        self.assertEqual(repr(c), "<ttscope.Capture NORMAL, not active, 2 phases>")


class Threads(Case):
    def test_events_of_four_threads_are_all_counted(self):
        def work(number):
            for i in range(1000):
                with self.tracker.op(f"op{number}"):
                    self.tracker.alloc(number * 1000 + i, 64 + number)
                if i % 2:
                    self.tracker.free(number * 1000 + i)
        with self.capture() as c:
            threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        phase = c["END_TRACE"]
        total = sum((64 + n) * 1000 for n in range(4))
        self.assertEqual((phase.dram.allocations, phase.dram.allocated_bytes), (4000, total))
        self.assertEqual((phase.dram.frees, phase.dram.freed_bytes), (2000, total // 2))
        self.assertEqual(phase.ops, 4000)
        self.assertEqual(self.tracker.health().dropped, 0)
        live = self.tracker.live()
        self.assertEqual(len(live), 2000)
        self.assertTrue(all(b.op == f"op{b.id // 1000}" for b in live))
        self.assertEqual(sorted(b.seq for b in live), [b.seq for b in live])

    def test_a_capture_may_be_used_by_several_threads(self):
        with self.capture() as c:
            def work():
                for _ in range(200):
                    c.snapshot("S")
                    self.assertTrue(c.phases)
            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(len(c.phases), 801)


if __name__ == "__main__":
    unittest.main()
