"""ttscope.record: a file of every event, and what is said when there cannot be one."""

import ctypes
import gc
import os
import resource
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from unittest import mock

import ttscope
from ttscope import _native, _selfcheck

MAGIC = b"\x89tts\r\n\x1a\n"
PLACE = 4 << 20


def state_number(path):
    """1 recording, 2 ended, 3 stopped: of the newer of two copies."""
    header = path.read_bytes()[2048:2176]
    copies = [header[:64], header[64:]]
    newest = max(copies, key=lambda copy: int.from_bytes(copy[:8], "little"))
    return int.from_bytes(newest[8:12], "little")


class Record(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "run.tts"
        self.t = ttscope.Tracker(live_max=1024, devices_max=4, ops_max=8)

    def limit_files(self, size):
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_FSIZE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))

    def test_a_block_is_recorded(self):
        with ttscope.record(self.path, tracker=self.t) as r:
            self.assertTrue(self.t.is_on and r.is_recording)
            self.t.alloc(1, 100)
            with self.t.op("matmul"):
                self.t.free(1)
            self.assertEqual(r.state.events, 4)
            self.assertEqual(state_number(self.path), 1)
            self.assertEqual(self.path.stat().st_size % PLACE, 4096)
        self.assertFalse(self.t.is_on or r.is_recording)
        self.assertEqual(r.state, ttscope.RecorderState(False, None, 0, 4, r.state.bytes))
        self.assertEqual(self.path.stat().st_size, r.state.bytes)
        self.assertEqual(self.path.read_bytes()[:8], MAGIC)
        self.assertEqual(state_number(self.path), 2)
        self.assertIn(b"matmul", self.path.read_bytes())
        self.assertEqual(os.listdir(self.folder), ["run.tts"])

    def test_captures_inside_and_around_it(self):
        with ttscope.capture(tracker=self.t) as outer:
            with ttscope.record(str(self.path), tracker=self.t):
                with ttscope.capture(tracker=self.t) as inner:
                    self.t.alloc(1, 100)
                    inner.snapshot("a phase of it")
        self.assertEqual(outer["END_TRACE"].dram.peak_bytes, 100)
        self.assertEqual(inner["a phase of it"].dram.peak_bytes, 100)
        self.assertIn(b"a phase of it", self.path.read_bytes())

    def test_a_black_box_has_its_size(self):
        with ttscope.record(os.fsencode(self.path), keep_bytes=PLACE, tracker=self.t):
            self.assertEqual(self.path.stat().st_size, PLACE + 4096)
            for i in range(1000):
                self.t.alloc(i, 8)
        self.assertLess(self.path.stat().st_size, PLACE)

    def test_the_tracker_of_the_process_unless_said(self):
        with ttscope.record(self.path) as r:
            self.assertIs(r.tracker, ttscope.process_tracker())
            ttscope.process_tracker().alloc(1, 1)
        self.assertEqual(r.state.events, 1)

    def test_an_exception_goes_through_and_the_file_is_whole(self):
        with self.assertRaisesRegex(KeyError, "mine"):
            with ttscope.record(self.path, tracker=self.t):
                raise KeyError("mine")
        self.assertEqual(state_number(self.path), 2)

    def test_begin_and_end_without_a_block(self):
        r = ttscope.Recorder(self.path, tracker=self.t)
        self.assertEqual(r.state, ttscope.RecorderState(False, None, 0, 0, 0))
        r.end()
        r.begin()
        with self.assertRaisesRegex(RuntimeError, "end the recording first"):
            r.begin()
        with self.assertRaisesRegex(RuntimeError, "the tracker already has a recorder"):
            ttscope.Recorder(self.folder / "other.tts", tracker=self.t).begin()
        self.assertRegex(repr(r), r"^<ttscope.Recorder '.*run\.tts', records>$")
        r.end()
        r.end()
        self.assertRegex(repr(r), "does not record>$")
        r.begin()
        self.t.alloc(1, 1)
        self.assertEqual(r.state.events, 1)
        r.end()

    def test_what_nobody_holds_ends(self):
        r = ttscope.Recorder(self.path, tracker=self.t)
        r.begin()
        del r
        gc.collect()
        self.assertFalse(self.t.is_on)
        self.assertEqual(state_number(self.path), 2)

    def test_a_program_that_ends_inside_finishes_it(self):
        code = ("import sys, ttscope\n"
                f"r = ttscope.Recorder({str(self.path)!r})\n"
                "r.begin()\nttscope.process_tracker().alloc(1, 1)\nsys.exit(3)")
        ran = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (3, ""))
        self.assertEqual(state_number(self.path), 2)

    def test_what_cannot_be_made_says_why(self):
        with self.assertRaisesRegex(OSError, "none/run.tts' \\(make the directory first\\)"):
            with ttscope.record(self.folder / "none" / "run.tts", tracker=self.t):
                self.fail("it began")
        with self.assertRaisesRegex(OSError, "name a file in this directory"):
            ttscope.record(self.folder, tracker=self.t).begin()
        with self.assertRaisesRegex(ValueError, "keep_bytes is 5: give 0, or 4194304"):
            ttscope.record(self.path, 5, tracker=self.t).begin()
        with self.assertRaisesRegex(ValueError, "out of range"):
            ttscope.record(self.path, -1, tracker=self.t)
        with self.assertRaisesRegex(TypeError, "keep_bytes must be an int"):
            ttscope.record(self.path, "much", tracker=self.t)
        with self.assertRaisesRegex(TypeError, "must be a ttscope.Tracker"):
            ttscope.record(self.path, tracker=5)
        with self.assertRaisesRegex(ValueError, "has a NUL character"):
            ttscope.record("a\0b", tracker=self.t)
        with self.assertRaises(TypeError):
            ttscope.record(5, tracker=self.t)
        self.assertFalse(self.t.is_on)
        self.assertEqual(os.listdir(self.folder), [])

    def test_one_that_stops_warns_and_the_program_goes_on(self):
        self.limit_files(PLACE + 4096)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with ttscope.record(self.path, tracker=self.t) as r:
                while not r.state.is_stopped:
                    for i in range(20000):
                        self.t.alloc(i * 2**49, 2**51 + i)
                self.assertIn("raise the limit", r.state.reason)
                self.assertTrue(self.t.is_on)
        self.assertEqual(len(caught), 1)
        self.assertRegex(str(caught[0].message), r"stopped recording to .* events were not recorded")
        self.assertGreater(r.state.dropped, 0)
        self.assertEqual(r.state.events + r.state.dropped, self.t.health().events)
        self.assertEqual(state_number(self.path), 3)

    def test_end_raises_what_the_block_warns_of(self):
        self.limit_files(PLACE + 4096)
        r = ttscope.record(self.path, tracker=self.t)
        r.begin()
        while not r.state.is_stopped:
            for i in range(20000):
                self.t.alloc(i * 2**49, 2**51 + i)
        with self.assertRaisesRegex(OSError, "stopped recording"):
            r.end()
        self.assertTrue(r.state.is_stopped)

    def test_the_self_check_sees_a_state_of_another_length(self):
        def longer(recorder, state):
            ctypes.memset(ctypes.addressof(state), 0, ctypes.sizeof(state) + 8)

        fake = mock.Mock(wraps=_native.lib, tts_recorder_get_state=longer)
        with mock.patch.object(_selfcheck, "lib", fake):
            with self.assertRaisesRegex(ImportError, "layouts of 'struct tts_recorder': install"):
                _selfcheck.run()


if __name__ == "__main__":
    unittest.main()
