"""ttscope.publish(): the file, its counters, and the ways to begin and to end."""

import os
import struct
import subprocess
import sys
import tempfile
import unittest

import ttscope
from ttscope._graphfeed import GraphFeed


class PublishTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.tracker = ttscope.Tracker(live_max=64, devices_max=4, ops_max=4)

    def test_a_block_publishes_events(self):
        with ttscope.publish(tracker=self.tracker, directory=self.folder, buffers_max=2) as shown:
            self.assertEqual(os.path.dirname(shown.path), self.folder)
            for number in range(3):
                self.tracker.alloc(id=number, size=100, pool="DRAM")
            self.assertEqual((shown.events, shown.unlisted), (3, 1))
            with open(shown.path, "rb") as file:
                region = file.read()
            off = struct.unpack_from("<Q", region, 168)[0]
            self.assertEqual(region[:8], b"TTSCLNT\n")
            self.assertEqual(struct.unpack_from("<QQ", region, off + 80), (300, 3))
        self.assertIsNone(shown.path)
        self.assertEqual(os.listdir(self.folder), [])
        shown.stop()

    def test_a_buffer_tells_that_a_global_circular_buffer_of_a_graph_lies_in_it(self):
        buffer = {"node_type": "buffer_allocate", "connections": [1],
                  "params": {"size": "4096", "type": "L1", "address": "65536", "page_size": "2048",
                             "num_cores": "0"}}
        cb = {"node_type": "circular_buffer_allocate",
              "params": {"size": "64", "address": "65536", "globally_allocated": "1",
                         "core_range_set": "{[(x=0,y=0) - (x=0,y=0)]}"}}
        with ttscope.publish(tracker=self.tracker, directory=self.folder, buffers_max=2) as shown:
            feed = GraphFeed(self.tracker)
            flags = []
            for node in buffer, cb:
                feed.feed([node])
                with open(shown.path, "rb") as file:
                    region = file.read()
                flags.append(region[struct.unpack_from("<Q", region, 184)[0] + 55])
            self.assertEqual((flags, feed.skipped), ([0, 2], 0))

    def test_a_second_publisher_joins(self):
        first = ttscope.publish(tracker=self.tracker, directory=self.folder)
        second = ttscope.publish(tracker=self.tracker)
        self.assertEqual(first.path, second.path)
        first.stop()
        self.assertIsNotNone(second.path)
        second.stop()
        self.assertIsNone(second.path)

    def test_the_object_ends_it(self):
        shown = ttscope.publish(tracker=self.tracker, directory=self.folder)
        self.assertEqual(len(os.listdir(self.folder)), 1)
        del shown
        self.assertEqual(os.listdir(self.folder), [])

    def test_bad_arguments_raise(self):
        with self.assertRaisesRegex(OSError, "make the directory first"):
            ttscope.publish(tracker=self.tracker, directory="/nowhere")
        with self.assertRaisesRegex(ValueError, "the maximum is 16777216"):
            ttscope.publish(tracker=self.tracker, buffers_max=2**25)
        with self.assertRaises(ValueError):
            ttscope.publish(tracker=self.tracker, buffers_max=-1)
        with self.assertRaises(TypeError):
            ttscope.publish(tracker=3)
        self.assertEqual(os.listdir(self.folder), [])

    @unittest.skipUnless(os.access("/dev/shm", os.W_OK), "/dev/shm may not be written")
    def test_the_environment_begins_and_the_exit_removes_the_file(self):
        program = ("import os, ttscope\n"
                   "shown = ttscope.publish()\n"
                   "assert os.path.exists(shown.path)\n"
                   "path = shown.path\n"
                   "shown.stop()\n"
                   "assert os.path.exists(path), 'the environment began'\n"
                   "print(path)\n")
        done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "TTSCOPE": "1"},
                              stdout=subprocess.PIPE, check=True, text=True)
        self.assertTrue(done.stdout.startswith("/dev/shm/ttscope_"))
        self.assertFalse(os.path.exists(done.stdout.strip()))


if __name__ == "__main__":
    unittest.main()
