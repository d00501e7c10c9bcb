"""ttscope.ttnn.publish(): a stand-in module with the names of ttnn answers as the runtime does."""

import gc
import json
import os
import struct
import sys
import tempfile
import threading
import time
import types
import unittest
import weakref
from pathlib import Path
from unittest import mock

import ttscope.ttnn as sampling
from ttscope import _notice

# Per bank: total, allocated, free, largest.
POOLS = {
    "DRAM": (12, 1070773184, 4096, 1070769088, 1070769088),
    "L1": (64, 1393472, 1024, 1392448, 1000000),
    "L1_SMALL": (64, 32768, 0, 32768, 32768),
    "TRACE": (12, 0, 0, 0, 0),
}


class Device:
    def __init__(self):
        self.is_open = True

    def get_device_ids(self):
        return [0, 1]

    def arch(self):
        return "Arch.WORMHOLE_B0"

    def compute_with_storage_grid_size(self):
        return types.SimpleNamespace(x=8, y=8)

    def dram_grid_size(self):
        return types.SimpleNamespace(x=12, y=1)


def make_runtime():
    """Returns a module with the names and attributes of the runtime."""
    ttnn = types.ModuleType("ttnn")
    ttnn.BufferType = types.SimpleNamespace(**{name: name for name in POOLS})
    ttnn.asked_after_close = 0

    def get_memory_view(device, buffer_type):
        if not device.is_open:
            ttnn.asked_after_close += 1
            raise RuntimeError("the device is closed")
        banks, total, allocated, free, largest = POOLS[buffer_type]
        return types.SimpleNamespace(
            num_banks=banks, total_bytes_per_bank=total,
            total_bytes_allocated_per_bank=allocated, total_bytes_free_per_bank=free,
            largest_contiguous_bytes_free_per_bank=largest, block_table=[])

    def close_device(device):
        device.is_open = False
        return "closed"

    ttnn.get_memory_view = get_memory_view
    ttnn.close_device = close_device
    ttnn.get_allocator_base_address = lambda device, kind: 105664
    return ttnn


class PublishTest(unittest.TestCase):
    def setUp(self):
        self.ttnn = make_runtime()
        patch = mock.patch.dict(sys.modules, {"ttnn": self.ttnn})
        patch.start()
        self.addCleanup(patch.stop)
        self.device = Device()
        self.samples = []
        _notice._said.discard("sampler")

    def wait_for(self, condition):
        end = time.monotonic() + 20
        while not condition() and time.monotonic() < end:
            time.sleep(0.002)
        self.assertTrue(condition())

    def publish(self, **options):
        options = {"interval": 0.01, "to": self.samples.append, **options}
        sampler = sampling.publish(self.device, **options)
        self.addCleanup(sampler.stop)
        return sampler

    def test_a_sample_has_the_pools_of_the_allocator(self):
        sampler = self.publish(interval=60)
        self.wait_for(lambda: self.samples)
        sample = self.samples[0]
        self.assertEqual(sample["device_ids"], [0, 1])
        self.assertEqual(sample["arch"], "wormhole_b0")
        self.assertEqual(sample["compute_grid"], [8, 8])
        self.assertEqual(sample["cb_base"], 105664)
        self.assertEqual(sample["pid"], os.getpid())
        self.assertEqual([p["pool"] for p in sample["pools"]], list(POOLS))
        for pool in sample["pools"]:
            banks, total, allocated, free, largest = POOLS[pool["pool"]]
            self.assertEqual(pool["banks"], banks)
            for key, value in (("total", total), ("allocated", allocated), ("free", free),
                               ("largest_free", largest)):
                self.assertEqual(pool[key], {"bytes": value * banks, "bytes_per_bank": value})
        self.assertTrue(sampler.is_running)

    def test_a_file_gets_one_document_per_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "memory.jsonl"
            with self.publish(to=path) as sampler:
                self.wait_for(lambda: sampler.samples >= 3)
            lines = path.read_text().splitlines()
            self.assertEqual(len(lines), sampler.samples)
            self.assertEqual([json.loads(line)["sequence"] for line in lines],
                             list(range(len(lines))))

    @unittest.skipUnless(os.access("/dev/shm", os.W_OK), "/dev/shm may not be written")
    def test_without_a_target_the_samples_are_in_the_region_of_the_process(self):
        with self.publish(to=None) as sampler, self.publish(to=None) as other:
            self.wait_for(lambda: sampler.samples >= 1 and other.samples >= 1)
            self.assertTrue(Path(sampler.path).name.startswith(f"ttscope_{os.getpid()}_"))
            with open(sampler.path, "rb") as file:
                region = file.read()
            count, off = struct.unpack_from("<I", region, 260)[0], struct.unpack_from(
                "<Q", region, 168)[0]
            self.assertEqual(count, 2)
            for number in range(count):
                at = off + 512 * number
                known, arch = struct.unpack_from("<II", region, at + 8)
                self.assertEqual((known & 2, arch), (2, 1))
                self.assertEqual(struct.unpack_from("<II", region, at + 36), (8, 8))
                for pool, (banks, total, allocated, free, largest) in enumerate(POOLS.values()):
                    numbers = struct.unpack_from("<QQQQQI", region, at + 80 + 88 * pool + 40)
                    self.assertGreater(numbers[0], 0)
                    self.assertEqual(numbers[1:], (total * banks, allocated * banks,
                                                   free * banks, largest * banks, banks))
            path = sampler.path
            other.stop()
            self.assertTrue(os.path.exists(path))
        self.assertFalse(os.path.exists(path))

    def test_closing_a_device_ends_its_sampler_first(self):
        sampler = self.publish()
        self.wait_for(lambda: self.samples)
        self.assertEqual(self.ttnn.close_device(self.device), "closed")
        self.assertFalse(sampler.is_running)
        self.assertIsNone(sampler.failure)
        self.assertEqual(self.ttnn.asked_after_close, 0)

    def test_closing_another_device_leaves_the_sampler_alone(self):
        sampler = self.publish()
        self.ttnn.close_device(Device())
        count = sampler.samples
        self.wait_for(lambda: sampler.samples > count)

    def test_the_close_functions_are_wrapped_once(self):
        self.publish(interval=60)
        first = self.ttnn.close_device
        self.publish(interval=60)
        self.assertIs(self.ttnn.close_device, first)

    def test_a_failure_of_the_runtime_ends_the_sampler_with_a_message(self):
        self.device.is_open = False
        with mock.patch("sys.stderr") as stderr:
            sampler = self.publish()
            self.wait_for(lambda: not sampler.is_running)
        self.assertIn("the device is closed", sampler.failure)
        self.assertIn("has stopped", "".join(str(c) for c in stderr.mock_calls))

    def test_a_failure_of_the_callback_does_not_reach_the_program(self):
        def fail(sample):
            raise OSError("no space left on device")

        with mock.patch("sys.stderr"):
            sampler = self.publish(to=fail)
            self.wait_for(lambda: not sampler.is_running)
        self.assertIn("no space left", sampler.failure)
        self.assertEqual(sampler.samples, 0)

    def test_the_sampler_does_not_keep_the_device(self):
        sampler = self.publish()
        self.wait_for(lambda: self.samples)
        del self.device
        self.wait_for(lambda: gc.collect() is not None and not sampler.is_running)
        self.assertIsNone(sampler.failure)

    def test_a_device_without_weak_references_is_sampled_until_it_is_closed(self):
        class Bare:
            __slots__ = ("is_open",)
            get_device_ids = Device.get_device_ids

        self.device = Bare()
        self.device.is_open = True
        with self.assertRaises(TypeError):
            weakref.ref(self.device)
        sampler = self.publish()
        self.wait_for(lambda: self.samples)
        self.ttnn.close_device(self.device)
        self.assertFalse(sampler.is_running)
        self.assertIsNone(sampler.failure)
        self.assertEqual(self.ttnn.asked_after_close, 0)
        self.assertIsNone(sampler._device())

    def test_a_close_function_is_wrapped_in_the_module_that_defines_it(self):
        home = types.ModuleType("ttnn.device")

        def close_device(device):
            device.is_open = False

        close_device.__module__ = "ttnn.device"
        home.close_device = self.ttnn.close_device = close_device
        with mock.patch.dict(sys.modules, {"ttnn.device": home}):
            sampler = self.publish()
            self.wait_for(lambda: self.samples)
            home.close_device(self.device)  # as ttnn.manage_device() does
        self.assertFalse(sampler.is_running)
        self.assertEqual(self.ttnn.asked_after_close, 0)

    def test_stop_may_be_called_from_the_callback_and_twice(self):
        box, may_stop, done = [], threading.Event(), threading.Event()

        def stop_at_once(sample):
            may_stop.wait(20)
            box[0].stop()
            done.set()

        box.append(self.publish(to=stop_at_once))
        may_stop.set()
        self.assertTrue(done.wait(20))
        box[0].stop()
        self.assertFalse(box[0].is_running)
        self.assertEqual(box[0].samples, 1)

    def test_a_wrong_interval_or_runtime_is_refused(self):
        for interval in (0, -1, float("nan"), float("inf")):
            with self.assertRaises(ValueError):
                sampling.publish(self.device, interval=interval)
        del self.ttnn.get_memory_view
        with self.assertRaisesRegex(RuntimeError, "get_memory_view"):
            sampling.publish(self.device)
        del sys.modules["ttnn"]
        with self.assertRaisesRegex(RuntimeError, "not imported"):
            sampling.publish(self.device)

    def test_a_device_with_few_methods_has_null_facts(self):
        class Bare:
            is_open = True

        self.device = Bare()
        self.publish(interval=60)
        self.wait_for(lambda: self.samples)
        self.assertIsNone(self.samples[0]["device_ids"])
        self.assertIsNone(self.samples[0]["arch"])
        self.assertIsNone(self.samples[0]["compute_grid"])


if __name__ == "__main__":
    unittest.main()
