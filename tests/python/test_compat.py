"""ttscope.compat: names, defaults, texts, reprs and guards as published, and none of the traps."""

import contextlib
import copy
import enum
import gc
import inspect
import io
import threading
import types
import unittest
from unittest import mock

import ttscope
from ttscope import compat
from ttscope.compat import MemoryUsageTracker

MB = 1048576
INACTIVE = "MemoryUsageTracker: Cannot snapshot - capture is not active"
ACTIVE = "MemoryUsageTracker: Capture already active"


class Case(unittest.TestCase):
    def setUp(self):
        self.tracker = ttscope.process_tracker()
        self.next_id = 1
        self.addCleanup(self.leave_nothing)

    def leave_nothing(self):
        gc.collect()
        MemoryUsageTracker.clear()
        self.assertFalse(self.tracker.is_on, "a capture was left active")

    def alloc(self, size, **where):
        self.tracker.alloc(self.next_id, size, **where)
        self.next_id += 1
        return self.next_id - 1

    def assert_inactive(self):
        self.assertFalse(self.tracker.is_on)
        with self.assertRaises(RuntimeError) as raised:
            MemoryUsageTracker.snapshot("X")
        self.assertEqual(str(raised.exception), INACTIVE)

    def printed(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            MemoryUsageTracker.print_memory_usage()
        return out.getvalue()


class Interface(Case):
    def test_every_published_name_is_there_with_its_default(self):
        defaults = {
            "begin_capture": {"mode": ttscope.NORMAL},
            "snapshot": {"name": inspect.Parameter.empty},
            "end_capture": {"name": "END_TRACE"},
            "get_dram_usage": {"name": "END_TRACE"},
            "get_l1_usage": {"name": "END_TRACE"},
            "get_dram_usage_all": {},
            "get_l1_usage_all": {},
            "get_trace_names": {},
            "print_memory_usage": {},
            "clear": {},
        }
        for name, wanted in defaults.items():
            parameters = inspect.signature(getattr(MemoryUsageTracker, name)).parameters
            self.assertEqual({key: p.default for key, p in parameters.items()}, wanted, name)
        guard = inspect.signature(compat.MemoryUsageGuard).parameters
        self.assertEqual([(p.name, p.default) for p in guard.values()],
                         [("mode", ttscope.NORMAL)])
        self.assertIs(MemoryUsageTracker.MemoryUsageGuard, compat.MemoryUsageGuard)
        self.assertIsInstance(MemoryUsageTracker.begin_capture(), compat.MemoryUsageGuard)
        self.assertEqual([mode.name for mode in compat.RunMode], ["NORMAL", "NO_DISPATCH"])

    def test_it_is_not_an_object(self):
        with self.assertRaisesRegex(TypeError, r"MemoryUsageTracker\.begin_capture\(\)"):
            MemoryUsageTracker()

    def test_reprs_and_texts_are_the_published_ones(self):
        dram = compat.DRAMUsage(3 * MB, 5 * MB + MB // 2, 1024)
        self.assertEqual(repr(dram), "DRAMUsage(peak=3145728, total_allocations=5767168, "
                                     "total_deallocations=1024)")
        self.assertEqual(str(dram), "DRAM Usage:\n"
                                    "  Peak:          3.00 MB\n"
                                    "  Allocations:   5.50 MB\n"
                                    "  Deallocations: 0.00 MB")
        l1 = compat.PeakMemoryUsagePerCore(1, 2, 3, 4, 9)
        self.assertEqual(repr(l1), "PeakMemoryUsagePerCore(peak_cb=1, peak_l1=2, "
                                   "peak_dataflow_buffer=3, peak_scratchpad=4, peak_total=9)")
        self.assertEqual(str(l1), "Peak Memory Usage Per Core:\n"
                                  "  CB:         1 bytes\n"
                                  "  L1:         2 bytes\n"
                                  "  DFB:        3 bytes\n"
                                  "  Scratchpad: 4 bytes\n"
                                  "  Total:      9 bytes")

    def test_usages_are_read_only(self):
        for usage, name in ((compat.DRAMUsage(1, 2, 3), "peak"),
                            (compat.PeakMemoryUsagePerCore(1, 2, 3, 4, 5), "peak_cb")):
            with self.assertRaises(AttributeError):
                setattr(usage, name, 0)

    def test_modes_of_other_enums_are_taken_by_name(self):
        foreign = enum.Enum("RunMode", {"NORMAL": 7, "NO_DISPATCH": 9, "FAKE": 1})
        for mode in (ttscope.NO_DISPATCH, foreign.NO_DISPATCH, foreign.NORMAL,
                     types.SimpleNamespace(name="NO_DISPATCH")):
            guard = MemoryUsageTracker.begin_capture(mode=mode)
            self.assertTrue(self.tracker.is_on)
            del guard
        wanted = r"ttscope\.NORMAL, ttscope\.NO_DISPATCH, or an enum member of that name"
        for mode, error in ((foreign.FAKE, ValueError), ("NO_DISPATCH", TypeError),
                            (1, TypeError), (None, TypeError)):
            with self.assertRaisesRegex(error, wanted):
                MemoryUsageTracker.begin_capture(mode)
            self.assertFalse(self.tracker.is_on)


class Course(Case):
    def test_segments_are_told_apart_and_keep_their_order(self):
        guard = MemoryUsageTracker.begin_capture()
        a = self.alloc(4096)
        MemoryUsageTracker.snapshot("A")
        self.tracker.free(a)
        self.alloc(512)
        MemoryUsageTracker.snapshot(name="B")
        MemoryUsageTracker.end_capture()
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["A", "B", "END_TRACE"])
        self.assertEqual(MemoryUsageTracker.get_dram_usage_all(),
                         [("A", compat.DRAMUsage(4096, 4096, 0)),
                          ("B", compat.DRAMUsage(0, 512, 4096)),
                          ("END_TRACE", compat.DRAMUsage(0, 0, 0))])
        self.assertEqual(MemoryUsageTracker.get_dram_usage(), compat.DRAMUsage(0, 0, 0))
        self.assertEqual(MemoryUsageTracker.get_dram_usage("B"), compat.DRAMUsage(0, 512, 4096))
        guard.release()

    def test_l1_is_that_of_a_core_by_kind(self):
        guard = MemoryUsageTracker.begin_capture()
        self.alloc(65536, pool="L1", bytes_per_bank=2048)
        self.tracker.program()
        self.tracker.cb(1024, cores=[(0, 0, 7, 7)])
        self.tracker.cb(512, cores=[(0, 0, 7, 7)], borrowed=True)
        self.tracker.cb(4096, cores=[(0, 0, 0, 0)], kind="dfb")
        self.tracker.cb(256, cores=[(1, 1)], kind="scratchpad")
        self.tracker.program()
        self.tracker.cb(128, cores=[(0, 0)])
        MemoryUsageTracker.end_capture("L1")
        wanted = compat.PeakMemoryUsagePerCore(1024, 2048, 4096, 256, 7424)
        self.assertEqual(MemoryUsageTracker.get_l1_usage("L1"), wanted)
        self.assertEqual(MemoryUsageTracker.get_l1_usage_all(), [("L1", wanted)])
        guard.release()

    def test_an_empty_capture_is_all_zero(self):
        guard = MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.end_capture()
        self.assertEqual(MemoryUsageTracker.get_dram_usage(), compat.DRAMUsage(0, 0, 0))
        self.assertEqual(MemoryUsageTracker.get_l1_usage(),
                         compat.PeakMemoryUsagePerCore(0, 0, 0, 0, 0))
        guard.release()

    def test_names_that_are_not_there_or_there_twice(self):
        guard = MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.snapshot("repeated")
        MemoryUsageTracker.snapshot("repeated")
        MemoryUsageTracker.end_capture("unique")
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["repeated", "repeated", "unique"])
        for get in (MemoryUsageTracker.get_dram_usage, MemoryUsageTracker.get_l1_usage):
            get("unique")
            with self.assertRaises(RuntimeError) as raised:
                get("repeated")
            self.assertEqual(
                str(raised.exception),
                "MemoryUsageTracker: Trace 'repeated' is ambiguous (2 segments share this name); "
                "use get_dram_usage_all()/get_l1_usage_all() instead")
            with self.assertRaises(RuntimeError) as raised:
                get()
            self.assertEqual(str(raised.exception),
                             "MemoryUsageTracker: Trace 'END_TRACE' not found")
        guard.release()

    def test_duplicate_names_keep_their_own_figures(self):
        guard = MemoryUsageTracker.begin_capture()
        for size in (64, 512):
            self.tracker.free(self.alloc(size))
            MemoryUsageTracker.snapshot("repeated")
        MemoryUsageTracker.end_capture("repeated")
        self.assertEqual([usage.peak for _, usage in MemoryUsageTracker.get_dram_usage_all()],
                         [64, 512, 0])
        guard.release()

    def test_a_second_begin_is_refused_and_the_first_goes_on(self):
        guard = MemoryUsageTracker.begin_capture()
        for begin in (MemoryUsageTracker.begin_capture, compat.MemoryUsageGuard):
            with self.assertRaises(RuntimeError) as raised:
                begin()
            self.assertEqual(str(raised.exception), ACTIVE)
        gc.collect()
        MemoryUsageTracker.snapshot("STILL")
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["STILL"])
        guard.release()

    def test_end_without_begin_and_a_second_end_do_nothing(self):
        MemoryUsageTracker.end_capture()
        guard = MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.end_capture("ONE")
        MemoryUsageTracker.end_capture("TWO")
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["ONE"])
        self.assert_inactive()
        guard.release()

    def test_begin_after_end_goes_on_in_the_same_list(self):
        for _ in range(2):
            guard = MemoryUsageTracker.begin_capture()
            self.alloc(MB)
            MemoryUsageTracker.end_capture()
            guard.release()
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["END_TRACE", "END_TRACE"])
        self.assertIn("Cumulative Peak 2.00 MB, Cumulative Current 2.00 MB", self.printed())

    def test_what_is_no_str_is_refused_and_nothing_ends(self):
        guard = MemoryUsageTracker.begin_capture()
        for name in (5, None, b"bytes"):
            with self.assertRaises(TypeError):
                MemoryUsageTracker.snapshot(name)
            with self.assertRaises(TypeError):
                MemoryUsageTracker.end_capture(name)
        MemoryUsageTracker.snapshot("größe")
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["größe"])
        MemoryUsageTracker.get_dram_usage("größe")
        guard.release()

    def test_no_str_ends_a_training_run(self):
        guard = MemoryUsageTracker.begin_capture()
        names = ["n" * 255, "n" * 256, "n" * 5000 + "_FWD__000042", "", "a\0b", "\n\x1b", "\udfff"]
        for name in names:
            MemoryUsageTracker.snapshot(name)
        MemoryUsageTracker.end_capture("x" * 300)
        kept = MemoryUsageTracker.get_trace_names()
        self.assertEqual(kept[:2], ["n" * 255, "n" * 126 + "..." + "n" * 126])
        self.assertTrue(kept[2].endswith("n_FWD__000042"))
        for name in names + ["x" * 300]:
            MemoryUsageTracker.get_dram_usage(name)
            MemoryUsageTracker.get_l1_usage(name)
        self.printed()
        guard.release()


class Guards(Case):
    def test_a_guard_that_goes_ends_and_clears(self):
        guard = MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.snapshot("A")
        del guard
        self.assert_inactive()
        self.assertEqual(MemoryUsageTracker.get_trace_names(), [])

    def test_a_guard_that_is_not_kept_ends_at_once(self):
        MemoryUsageTracker.begin_capture()
        self.assert_inactive()

    def test_a_guard_that_goes_after_the_end_clears_what_ended(self):
        guard = MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.end_capture("A")
        del guard
        self.assertEqual(MemoryUsageTracker.get_trace_names(), [])

    def test_a_released_guard_leaves_the_capture_alone(self):
        guard = MemoryUsageTracker.begin_capture()
        guard.release()
        guard.release()
        del guard
        MemoryUsageTracker.snapshot("A")
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["A"])

    def test_copies_share_one_cleanup(self):
        guard = MemoryUsageTracker.begin_capture()
        other, deep = copy.copy(guard), copy.deepcopy(guard)
        del guard, other
        MemoryUsageTracker.snapshot("A")
        del deep
        self.assert_inactive()
        guard = MemoryUsageTracker.begin_capture()
        copy.copy(guard).release()
        del guard
        MemoryUsageTracker.snapshot("B")

    def test_the_with_block_only_releases(self):
        with MemoryUsageTracker.begin_capture() as guard:
            self.assertIsInstance(guard, compat.MemoryUsageGuard)
        del guard
        MemoryUsageTracker.snapshot("AFTER")
        MemoryUsageTracker.end_capture()
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["AFTER", "END_TRACE"])

    def test_the_with_block_lets_exceptions_through(self):
        with self.assertRaisesRegex(KeyError, "mine"):
            with compat.MemoryUsageGuard():
                raise KeyError("mine")
        MemoryUsageTracker.snapshot("AFTER")
        self.assertFalse(compat.MemoryUsageGuard.__exit__(
            types.SimpleNamespace(release=lambda: None), None, None, None))

    def test_an_exception_past_the_guard_cleans_up(self):
        def work():
            guard = MemoryUsageTracker.begin_capture()
            MemoryUsageTracker.snapshot("A")
            raise OSError(str(guard))
        with self.assertRaises(OSError):
            work()
        gc.collect()
        self.assert_inactive()
        self.assertEqual(MemoryUsageTracker.get_trace_names(), [])

    def test_a_stale_guard_does_not_touch_the_next_capture(self):
        for finish in (MemoryUsageTracker.clear, MemoryUsageTracker.end_capture):
            stale = MemoryUsageTracker.begin_capture()
            finish()
            guard = MemoryUsageTracker.begin_capture()
            self.alloc(100)
            MemoryUsageTracker.snapshot("SECOND")
            del stale
            self.alloc(200)
            MemoryUsageTracker.end_capture("STILL")
            self.assertEqual(MemoryUsageTracker.get_trace_names()[-2:], ["SECOND", "STILL"])
            self.assertEqual(MemoryUsageTracker.get_dram_usage("STILL").peak, 200)
            MemoryUsageTracker.clear()
            guard.release()

    def test_a_guard_may_be_overwritten_by_the_next(self):
        guard = None
        for size in (1, 2):
            guard = MemoryUsageTracker.begin_capture()
            self.alloc(size)
            MemoryUsageTracker.end_capture("A")
            self.assertEqual(MemoryUsageTracker.get_dram_usage("A").peak, size)
            MemoryUsageTracker.clear()
        del guard

    def test_a_guard_in_a_cycle_may_die_inside_any_call(self):
        class Box:
            pass
        threshold = gc.get_threshold()
        self.addCleanup(gc.set_threshold, *threshold)
        gc.set_threshold(1)
        for _ in range(50):
            box = Box()
            box.me, box.guard = box, MemoryUsageTracker.begin_capture()
            del box
            for _ in range(20):
                MemoryUsageTracker.get_trace_names()
            gc.collect()
            self.assertFalse(self.tracker.is_on)

    def test_a_guard_that_dies_while_the_lock_is_held_acts_when_it_is_given_back(self):
        guard = MemoryUsageTracker.begin_capture()
        with compat._state.hold() as capture:
            del guard
            self.assertTrue(capture.is_active)
        self.assert_inactive()

    def test_a_guard_that_dies_as_the_lock_is_given_back_is_not_forgotten(self):
        guards = [MemoryUsageTracker.begin_capture()]
        real = compat._state._lock

        class Lock:
            acquire = real.acquire

            def release(self):
                guards.clear()
                real.release()
        with mock.patch.object(compat._state, "_lock", Lock()):
            MemoryUsageTracker.get_trace_names()
        self.assertFalse(self.tracker.is_on)


class Traps(Case):
    def test_clear_while_active_ends_the_capture(self):
        guard = MemoryUsageTracker.begin_capture(ttscope.NO_DISPATCH)
        self.alloc(1)
        MemoryUsageTracker.clear()
        self.assert_inactive()
        again = MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.end_capture()
        self.assertEqual(MemoryUsageTracker.get_dram_usage(), compat.DRAMUsage(0, 0, 0))
        guard.release()
        again.release()

    def test_any_number_of_snapshots_leaves_nothing_behind(self):
        for count in range(5):
            guard = MemoryUsageTracker.begin_capture(ttscope.NO_DISPATCH)
            for _ in range(count):
                MemoryUsageTracker.snapshot("S")
            MemoryUsageTracker.end_capture()
            self.assertFalse(self.tracker.is_on)
            MemoryUsageTracker.clear()
            guard.release()

    def test_a_free_of_l1_that_nobody_saw_does_not_underflow(self):
        guard = MemoryUsageTracker.begin_capture()
        self.tracker.free(77, 4096, pool="L1", bytes_per_bank=2048)
        self.tracker.program()
        self.tracker.cb(512, cores=[(0, 0)])
        MemoryUsageTracker.end_capture()
        usage = MemoryUsageTracker.get_l1_usage()
        self.assertEqual((usage.peak_cb, usage.peak_l1), (512, 0))
        self.assertTrue(0 <= usage.peak_total <= 512, usage)
        guard.release()

    def test_calls_from_many_threads_are_safe(self):
        guard = MemoryUsageTracker.begin_capture()

        def work():
            for _ in range(100):
                MemoryUsageTracker.snapshot("S")
                MemoryUsageTracker.get_trace_names()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(MemoryUsageTracker.get_trace_names()), 400)
        guard.release()


class Printed(Case):
    def test_without_segments(self):
        self.assertEqual(self.printed(), "WARNING: No traces captured\n")

    def test_every_byte(self):
        guard = MemoryUsageTracker.begin_capture()
        weights = self.alloc(100 * MB)
        self.tracker.free(self.alloc(50 * MB + MB // 8))
        MemoryUsageTracker.snapshot("MODEL_CREATION")
        MemoryUsageTracker.snapshot("NOTHING")
        self.tracker.free(900, 1024)
        self.alloc(MB, pool="L1", bytes_per_bank=3 * MB // 8)
        self.tracker.program()
        self.tracker.cb(MB // 4, cores=[(0, 0, 7, 7)])
        MemoryUsageTracker.snapshot("TINY")
        self.tracker.free(weights)
        MemoryUsageTracker.end_capture()
        wanted = """\
=== Memory Usage Summary ===

--- MODEL_CREATION ---
  DRAM: Segment Peak 150.12 MB, Allocations 150.12 MB, Deallocations 50.12 MB, Segment Change +100.00 MB
  DRAM: Cumulative Peak 150.12 MB, Cumulative Current 100.00 MB
  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB
--- NOTHING ---
  DRAM: Segment Peak 0.00 MB, Allocations 0.00 MB, Deallocations 0.00 MB, Segment Change +0.00 MB
  DRAM: Cumulative Peak 150.12 MB, Cumulative Current 100.00 MB
  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB
--- TINY ---
  DRAM: Segment Peak 0.00 MB, Allocations 0.00 MB, Deallocations 0.00 MB, Segment Change -0.00 MB
  DRAM: Cumulative Peak 150.12 MB, Cumulative Current 100.00 MB
  L1: Peak CB 0.25 MB, Peak Buffer 0.38 MB, Peak Total 0.62 MB
--- END_TRACE ---
  DRAM: Segment Peak 0.00 MB, Allocations 0.00 MB, Deallocations 100.00 MB, Segment Change -100.00 MB
  DRAM: Cumulative Peak 150.12 MB, Cumulative Current -0.00 MB
  L1: Peak CB 0.00 MB, Peak Buffer 0.00 MB, Peak Total 0.00 MB

=== Final Totals ===
Overall DRAM Peak: 150.12 MB, Final DRAM Usage: -0.00 MB

"""
        self.assertEqual(self.printed(), wanted)
        self.assertEqual(self.printed(), wanted)
        guard.release()

    def test_only_finished_segments_are_there(self):
        guard = MemoryUsageTracker.begin_capture()
        self.assertEqual(self.printed(), "WARNING: No traces captured\n")
        MemoryUsageTracker.snapshot("A")
        self.assertEqual(self.printed().count("---"), 2)
        guard.release()


if __name__ == "__main__":
    unittest.main()
