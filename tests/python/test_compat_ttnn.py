"""ttscope.compat over the runtime's graph captures: a stand-in of ttnn returns traces in the form
of the runtime, and the figures are those that the runtime finds in them."""

import contextlib
import gc
import io
import json
import os
import random
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import ttscope
from ttscope import _notice, compat
from ttscope._graphfeed import GraphFeed, nodes_of
from ttscope.compat import MemoryUsageTracker

HERE = Path(__file__).resolve().parent
MB = 1048576
EVERY_CORE = [(0, 0, 7, 7)]


# ---- the runtime's own rules, once more ----


def number(value):
    return int(value)


def dram_of(trace):
    now = peak = allocated = freed = 0
    for node in trace:
        if node["node_type"] == "buffer_allocate" and node["params"]["type"] == "DRAM":
            now += number(node["params"]["size"])
            allocated += number(node["params"]["size"])
        elif node["node_type"] == "buffer_deallocate":
            buffer = trace[node["connections"][0]]["params"]
            if buffer["type"] == "DRAM":
                now -= number(buffer["size"])
                freed += number(buffer["size"])
        peak = max(peak, now)
    return compat.DRAMUsage(peak, allocated, freed)


def share_of(params):
    """Bytes on a core: as it says, or as the tracker of January counts it."""
    if "max_size_per_bank" in params:
        return number(params["max_size_per_bank"])
    page, cores = number(params["page_size"]), number(params["num_cores"]) or 1
    pages = (number(params["size"]) + page - 1) // page
    return (pages + cores - 1) // cores * page


def l1_of(trace):
    """With a sign, where the runtime's counters wrap."""
    now = dict.fromkeys(("circular_buffer", "l1", "dataflow_buffer", "scratchpad"), 0)
    peak, total = dict(now), 0
    for node in trace:
        kind, params = node["node_type"], node["params"] or {}
        if kind in ("buffer_allocate", "buffer_deallocate") and params["type"] != "DRAM":
            now["l1"] += share_of(params) * (1 if kind == "buffer_allocate" else -1)
        elif kind == "circular_buffer_deallocate_all":
            for key in ("circular_buffer", "dataflow_buffer", "scratchpad"):
                now[key] = 0
        elif kind.endswith("_allocate") and kind != "buffer_allocate":
            if "1" not in (params.get("globally_allocated"), params.get("borrows_memory")):
                now[kind[:-len("_allocate")]] += number(params["size"])
        peak = {key: max(peak[key], now[key]) for key in now}
        total = max(total, sum(now.values()))
    return compat.PeakMemoryUsagePerCore(*peak.values(), total)


def text_of(named):
    """The published summary of (name, trace)."""
    out, peak, current = "=== Memory Usage Summary ===\n\n", 0, 0
    for name, trace in named:
        dram, l1 = dram_of(trace), l1_of(trace)
        peak = max(peak, current + dram.peak)
        current += dram.total_allocations - dram.total_deallocations
        change = dram.total_allocations / MB - dram.total_deallocations / MB
        out += (f"--- {name} ---\n"
                f"  DRAM: Segment Peak {dram.peak / MB:.2f} MB, Allocations "
                f"{dram.total_allocations / MB:.2f} MB, Deallocations "
                f"{dram.total_deallocations / MB:.2f} MB, Segment Change {change:+.2f} MB\n"
                f"  DRAM: Cumulative Peak {peak / MB:.2f} MB, Cumulative Current "
                f"{current / MB:.2f} MB\n"
                f"  L1: Peak CB {l1.peak_cb / MB:.2f} MB, Peak Buffer {l1.peak_l1 / MB:.2f} MB, "
                f"Peak Total {l1.peak_total / MB:.2f} MB\n")
    return out + (f"\n=== Final Totals ===\nOverall DRAM Peak: {peak / MB:.2f} MB, "
                  f"Final DRAM Usage: {current / MB:.2f} MB\n\n")


class Case(unittest.TestCase):
    generation = "head"

    def setUp(self):
        path = mock.patch.object(sys, "path", [str(HERE / "standin")] + sys.path)
        modules = mock.patch.dict(sys.modules)
        for patch in (path, modules, mock.patch.object(_notice, "_said", set())):
            patch.start()
            self.addCleanup(patch.stop)
        for name in [name for name in sys.modules if name.split(".")[0] == "ttnn"]:
            del sys.modules[name]
        import ttnn
        self.ttnn, self.card = ttnn, ttnn.card
        self.card.reset(self.generation)
        self.tracker = ttscope.process_tracker()
        self.addCleanup(self.leave_nothing)
        self.stderr = io.StringIO()
        redirect = contextlib.redirect_stderr(self.stderr)
        redirect.__enter__()
        self.addCleanup(redirect.__exit__, None, None, None)

    def leave_nothing(self):
        gc.collect()
        MemoryUsageTracker.clear()
        self.assertFalse(self.tracker.is_on, "a capture was left active")
        self.assertEqual(self.card.captures.open, [], "a capture of the runtime was left open")
        self.assertEqual(self.card.crashes, 0)

    def assert_said(self, *texts):
        lines = self.stderr.getvalue().splitlines()
        self.assertEqual(len(lines), len(texts), lines)
        for line, text in zip(lines, texts):
            self.assertTrue(line.startswith("ttscope: "), line)
            self.assertIn(text, line)

    def printed(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            MemoryUsageTracker.print_memory_usage()
        return out.getvalue()

    def assert_as_the_runtime_says(self):
        names = MemoryUsageTracker.get_trace_names()
        self.assertEqual(len(names), len(self.card.traces))
        for (name, dram), (_, l1), trace in zip(MemoryUsageTracker.get_dram_usage_all(),
                                                MemoryUsageTracker.get_l1_usage_all(),
                                                self.card.traces):
            self.assertEqual((name, dram), (name, dram_of(trace)))
            self.assertEqual((name, l1), (name, l1_of(trace)))
        self.assertEqual(self.printed(), text_of(zip(names, self.card.traces)))


def train_one_step(ttnn):
    """What lives across segments, what does not, and programs."""
    weights = [ttnn.Buffer(MB), ttnn.Buffer(MB), ttnn.Buffer(2 * MB)]
    MemoryUsageTracker.snapshot("MODEL_CREATION")
    moments = [ttnn.Buffer(each.size) for each in weights for _ in range(2)]
    MemoryUsageTracker.snapshot("OPTIMIZER_CREATION")
    activation = ttnn.Buffer(4 * MB)
    block = ttnn.Buffer(64 * 2048, "L1", cores=64)
    ttnn.run_program("MatmulDeviceOperation", [
        ("circular_buffer", 4096, EVERY_CORE, False), ("circular_buffer", 512, EVERY_CORE, True)])
    MemoryUsageTracker.snapshot("FORWARD_PASS")
    grads = [ttnn.Buffer(each.size) for each in weights]
    block.deallocate()
    activation.deallocate()
    ttnn.run_program("BinaryNgDeviceOperation", [("circular_buffer", 2048, [(0, 0, 3, 0)], False)])
    MemoryUsageTracker.snapshot("BACKWARD_PASS")
    for each in grads:
        each.deallocate()
    MemoryUsageTracker.end_capture("ITERATION_COMPLETE")
    return weights + moments


class Loop(Case):
    def test_the_published_loop_prints_what_the_runtime_says(self):
        for mode in (None, ttscope.NO_DISPATCH, self.ttnn.graph.RunMode.NO_DISPATCH):
            self.card.reset(self.generation)
            guard = MemoryUsageTracker.begin_capture(*[mode] if mode else [])
            train_one_step(self.ttnn)
            self.assertEqual(MemoryUsageTracker.get_dram_usage("FORWARD_PASS").peak, 4 * MB)
            self.assertGreater(MemoryUsageTracker.get_l1_usage("FORWARD_PASS").peak_cb, 0)
            self.assert_as_the_runtime_says()
            MemoryUsageTracker.clear()
            guard.release()
        self.assert_said()

    def test_a_model_that_does_not_fit_is_not_allocated(self):
        self.card.reset(self.generation, memory=5 * MB)
        guard = MemoryUsageTracker.begin_capture()
        with self.assertRaisesRegex(RuntimeError, "Out of Memory"):
            train_one_step(self.ttnn)
        MemoryUsageTracker.clear()
        self.card.reset(self.generation, memory=5 * MB)
        guard = MemoryUsageTracker.begin_capture(self.ttnn.graph.RunMode.NO_DISPATCH)
        train_one_step(self.ttnn)
        self.assertEqual(self.card.used, 0)
        self.assert_as_the_runtime_says()
        self.assertFalse(self.card.captures.is_blocking)
        guard.release()

    def test_buffers_of_earlier_segments_are_freed_as_they_came(self):
        guard = MemoryUsageTracker.begin_capture()
        live = train_one_step(self.ttnn)
        MemoryUsageTracker.clear()
        again = MemoryUsageTracker.begin_capture()
        live.append(self.ttnn.Buffer(MB))
        MemoryUsageTracker.snapshot("MORE")
        self.assertEqual(len(self.tracker.live()), 1)
        live.pop().deallocate()
        MemoryUsageTracker.snapshot("SEEN")
        self.assertEqual(self.tracker.live(), [])
        self.assertEqual(self.tracker.health().unseen_frees, 0)
        for each in live:  # allocated before this capture
            each.deallocate()
        MemoryUsageTracker.end_capture("UNSEEN")
        self.assertEqual(MemoryUsageTracker.get_dram_usage("UNSEEN").total_deallocations, 12 * MB)
        self.assertEqual(self.tracker.health().unseen_frees, len(live))
        guard.release()
        again.release()

    def test_random_histories(self):
        kinds = ["DRAM", "DRAM", "L1"] + (["L1_SMALL", "TRACE"] if counts_all_pools() else [])
        for seed in range(60):
            rng = random.Random(seed)
            self.card.reset(self.generation)
            mode = rng.choice(list(self.ttnn.graph.RunMode))
            live = [self.ttnn.Buffer(2048) for _ in range(3)]
            guard = MemoryUsageTracker.begin_capture(mode)
            for _ in range(rng.randrange(6)):
                for _ in range(rng.randrange(60)):
                    self.draw(rng, kinds, live)
                MemoryUsageTracker.snapshot(rng.choice("ABC"))
            MemoryUsageTracker.end_capture("A")
            with self.subTest(seed=seed, mode=mode):
                self.assert_as_the_runtime_says()
            MemoryUsageTracker.clear()
            guard.release()
        self.assertNotIn("skipped", self.stderr.getvalue())

    def draw(self, rng, kinds, live):
        dice = rng.random()
        if dice < 0.4 or not live:
            live.append(self.ttnn.Buffer(2048 * rng.randint(1, 4), rng.choice(kinds),
                                         cores=rng.choice([0, 0, 2, 64]),
                                         device=rng.choice([0, 1, 1])))
        elif dice < 0.75:
            live.pop(rng.randrange(len(live))).deallocate()
        else:
            parts = ["circular_buffer"]
            if self.generation == "head":
                parts += ["dataflow_buffer", "scratchpad"]
            self.ttnn.run_program(rng.choice(["add", "matmul"]), [
                (rng.choice(parts), 64 * rng.randint(1, 9), rng.choice([EVERY_CORE, [(0, 0, 1, 0)]]),
                 rng.random() < 0.2) for _ in range(rng.randrange(4))],
                chips=range(rng.randint(1, 3)))


class LoopOfV1(Loop):
    generation = "v1"


def counts_all_pools():
    """Is TRACE counted as DRAM in the compatible figures, and L1_SMALL as L1?"""
    tracker = ttscope.process_tracker()
    guard = MemoryUsageTracker.begin_capture()
    tracker.alloc(1, 4096, "TRACE")
    MemoryUsageTracker.end_capture("PROBE")
    found = MemoryUsageTracker.get_dram_usage("PROBE").peak == 4096
    MemoryUsageTracker.clear()
    guard.release()
    return found


class Course(Case):
    def test_ttnn_is_imported_at_the_first_begin_and_not_before(self):
        for name in [name for name in sys.modules if name.split(".")[0] == "ttnn"]:
            del sys.modules[name]
        code = "import sys, ttscope.compat; sys.exit('ttnn' in sys.modules)"
        self.assertEqual(os.spawnve(os.P_WAIT, sys.executable, [sys.executable, "-c", code],
                                    {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}), 0)
        guard = MemoryUsageTracker.begin_capture()
        self.assertTrue(sys.modules["ttnn"].graph.is_graph_capture_active())
        del guard
        self.assertFalse(sys.modules["ttnn"].graph.is_graph_capture_active())

    def test_the_names_of_the_guide_are_there(self):
        import ttscope.compat as ttml
        self.assertIs(ttml.core.utils.MemoryUsageTracker, MemoryUsageTracker)
        self.assertIs(ttml.core.utils.DRAMUsage, compat.DRAMUsage)

    def test_every_way_to_end_ends_the_capture_of_the_runtime(self):
        for mode in (ttscope.NORMAL, ttscope.NO_DISPATCH):
            for count in range(4):
                for end in (MemoryUsageTracker.end_capture, MemoryUsageTracker.clear, None):
                    guard = MemoryUsageTracker.begin_capture(mode)
                    for _ in range(count):
                        MemoryUsageTracker.snapshot("S")
                        self.assertEqual(self.card.captures.is_blocking, mode is ttscope.NO_DISPATCH)
                    if end:
                        end()
                        guard.release()
                    del guard
                    self.assertEqual(self.card.captures.open, [])
                    self.assertFalse(self.card.captures.is_blocking)
                    MemoryUsageTracker.clear()

    def test_it_takes_the_functions_that_record_no_arguments(self):
        guard = MemoryUsageTracker.begin_capture()
        MemoryUsageTracker.snapshot("S")
        self.assertEqual(self.card.recorded_arguments, 0)
        MemoryUsageTracker.clear()
        self.ttnn._ttnn = None  # an older one, or another
        again = MemoryUsageTracker.begin_capture()
        self.assertEqual(self.card.recorded_arguments, 1)
        guard.release()
        del again

    def test_a_recording_has_what_the_runtime_did(self):
        with tempfile.TemporaryDirectory() as folder:
            with ttscope.record(folder + "/run.tts") as recorder:
                guard = MemoryUsageTracker.begin_capture()
                train_one_step(self.ttnn)
                guard.release()
            self.assertGreater(recorder.state.events, 20)

    def test_a_refused_begin_opens_nothing(self):
        guard = MemoryUsageTracker.begin_capture()
        with self.assertRaisesRegex(RuntimeError, "Capture already active"):
            MemoryUsageTracker.begin_capture()
        self.assertEqual(len(self.card.captures.open), 1)
        del guard

    def test_an_error_of_the_runtime_at_begin_is_told_and_nothing_is_active(self):
        with mock.patch.object(self.ttnn._ttnn.graph, "begin_graph_capture",
                               side_effect=RuntimeError("no card")):
            with self.assertRaisesRegex(RuntimeError, "no card"):
                MemoryUsageTracker.begin_capture()
        self.assertFalse(self.tracker.is_on)

    def test_an_error_of_the_runtime_at_a_snapshot_ends_no_training_run(self):
        guard = MemoryUsageTracker.begin_capture()
        with mock.patch.object(self.ttnn._ttnn, "card", self.card):
            compat._state._feed._capture._end = mock.Mock(side_effect=RuntimeError("lost"))
            MemoryUsageTracker.snapshot("A")
            MemoryUsageTracker.snapshot("B")
        MemoryUsageTracker.end_capture()
        self.assertEqual(MemoryUsageTracker.get_trace_names(), ["A", "B", "END_TRACE"])
        self.assert_said("cannot read the graph trace of ttnn, so the allocations of ttnn are "
                         "missing from a segment: RuntimeError: lost", "saw no event")
        self.card.captures.open.clear()
        guard.release()

    def test_without_memory_a_snapshot_ends_no_training_run(self):
        guard = MemoryUsageTracker.begin_capture()
        self.ttnn.Buffer(MB)
        with mock.patch.object(ttscope.Capture, "snapshot", side_effect=MemoryError):
            MemoryUsageTracker.snapshot("A")
        MemoryUsageTracker.snapshot("B")
        self.assertEqual(MemoryUsageTracker.get_dram_usage("B").peak, MB)
        self.assert_said("the host has too little memory: the segment 'A' and the next segment are "
                         "counted as one")
        guard.release()

    def test_a_failure_at_the_end_is_said_once_and_everything_ends(self):
        for failure in (MemoryError("out of memory"), RuntimeError("lost")):
            guard = MemoryUsageTracker.begin_capture(ttscope.NO_DISPATCH)
            MemoryUsageTracker.snapshot("A")
            self.ttnn.Buffer(MB)
            with mock.patch.object(ttscope.Capture, "end", side_effect=failure):
                MemoryUsageTracker.end_capture("B")
            self.assertFalse(self.tracker.is_on)
            self.assertEqual(self.card.captures.open, [])
            self.assertEqual(MemoryUsageTracker.get_trace_names()[0], "A")
            guard.release()
        self.assert_said("the last segment 'B' is lost: out of memory")

    def test_a_key_that_interrupts_the_end_leaves_nothing_active(self):
        guard = MemoryUsageTracker.begin_capture()
        with mock.patch.object(compat._Feed, "close", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                MemoryUsageTracker.end_capture()
        self.assertFalse(self.tracker.is_on)
        guard.release()

    def test_another_thread_cannot_end_a_segment_and_nothing_crashes(self):
        guard = MemoryUsageTracker.begin_capture()
        self.ttnn.Buffer(MB)
        for call in (lambda: MemoryUsageTracker.snapshot("OTHER"), MemoryUsageTracker.end_capture):
            thread = threading.Thread(target=call)
            thread.start()
            thread.join()
        self.assertEqual(len(self.card.captures.open), 1)
        self.assert_said("cannot end a segment of ttnn on this thread",
                         "stays active", "saw no event")
        again = MemoryUsageTracker.begin_capture()  # ends it
        self.assertEqual(len(self.card.captures.open), 1)
        guard.release()
        del again

    def test_a_capture_that_is_open_already_is_told(self):
        self.ttnn.graph.begin_graph_capture()
        guard = MemoryUsageTracker.begin_capture(ttscope.NO_DISPATCH)
        self.assert_said("the run mode of ttnn applies")
        del guard
        self.assertEqual(len(self.card.captures.open), 1)
        self.ttnn.graph.end_graph_capture()

    def test_a_capture_that_is_left_open_inside_is_told(self):
        guard = MemoryUsageTracker.begin_capture()
        self.ttnn.graph.begin_graph_capture()
        MemoryUsageTracker.snapshot("A")
        self.assert_said("began after begin_capture()")
        del guard
        self.ttnn.graph.end_graph_capture()


class Sources(Case):
    def test_what_the_tracker_is_told_directly_is_not_counted_twice(self):
        guard = MemoryUsageTracker.begin_capture()
        for number in (1, 2):  # as the adapter in C++ would
            self.ttnn.Buffer(MB)
            self.tracker.alloc(number, MB)
            MemoryUsageTracker.snapshot("A")
        self.ttnn.Buffer(MB)
        self.tracker.alloc(3, MB)
        MemoryUsageTracker.end_capture("A")
        self.assertEqual([usage.peak for _, usage in MemoryUsageTracker.get_dram_usage_all()],
                         [MB] * 3)
        self.assert_said("reports memory to the tracker")
        guard.release()

    def test_a_capture_without_events_says_so_once(self):
        for _ in range(2):
            guard = MemoryUsageTracker.begin_capture()
            MemoryUsageTracker.snapshot("A")
            MemoryUsageTracker.end_capture()
            self.assertIn("--- A ---", self.printed())
            guard.release()
        self.assert_said("the capture saw no event, so every figure is 0; ttnn recorded nothing: "
                         "call begin_capture() on the thread that allocates")

    def test_without_ttnn_it_says_why_and_what_to_do(self):
        with mock.patch.dict(sys.modules, {"ttnn": None}):
            guard = MemoryUsageTracker.begin_capture(ttscope.NO_DISPATCH)
            MemoryUsageTracker.end_capture()
            self.printed()
        self.assert_said("NO_DISPATCH had no effect",
                         "ttnn cannot be used (ModuleNotFoundError: ")
        self.assertIn("ttscope.process_tracker()", self.stderr.getvalue())
        guard.release()

    def test_a_capture_with_events_says_nothing(self):
        with mock.patch.dict(sys.modules, {"ttnn": None}):
            guard = MemoryUsageTracker.begin_capture()
            self.tracker.alloc(1, MB)
            MemoryUsageTracker.end_capture()
            self.printed()
        self.assert_said()
        guard.release()

    def test_a_closed_stderr_does_no_harm(self):
        for closed in (None, io.StringIO()):
            if closed:
                closed.close()
            with mock.patch.object(sys, "stderr", closed), \
                    mock.patch.object(_notice, "_said", set()):
                guard = MemoryUsageTracker.begin_capture()
                MemoryUsageTracker.end_capture()
                del guard


class Feed(Case):
    """Traces that are not as they should be."""

    def usage(self, trace):
        with ttscope.capture() as c:
            feed = GraphFeed(self.tracker)
            feed.feed(nodes_of(trace))
        return c["END_TRACE"], feed

    def test_every_form_of_a_trace_is_read(self):
        self.ttnn.graph.begin_graph_capture()
        self.ttnn.Buffer(MB)
        trace = self.ttnn.graph.end_graph_capture()
        for form in (trace, json.dumps(trace), json.dumps(trace).encode(), {"graph": trace}):
            phase, feed = self.usage(form)
            self.assertEqual((phase.dram.peak_bytes, feed.skipped), (MB, 0))
        for form in (5, None, "3", {"a": 1}, "{"):
            with self.assertRaises((TypeError, KeyError, ValueError)):
                nodes_of(form)

    def test_what_is_unknown_or_broken_is_skipped_and_counted(self):
        good = {"node_type": "buffer_allocate", "connections": [0],
                "params": {"size": 4096, "type": "DRAM"}}
        bad = [5, None, [], {}, {"node_type": "new_thing"}, {"node_type": "buffer_allocate"},
               {"node_type": []},
               {"node_type": "buffer_allocate", "params": {"size": -1, "type": "DRAM"}},
               {"node_type": "buffer_allocate", "params": {"size": "many", "type": "DRAM"}},
               {"node_type": "buffer_allocate", "params": {"size": 2**70, "type": "DRAM"}},
               {"node_type": "buffer_deallocate", "connections": [77], "params": {}},
               {"node_type": "buffer_deallocate", "connections": [], "params": {}},
               {"node_type": "buffer_deallocate", "connections": "x", "params": {}},
               {"node_type": "circular_buffer_allocate", "params": {"size": None}},
               {"node_type": "scratchpad_allocate", "params": 5}]
        phase, feed = self.usage([good] + bad + [dict(good, connections=[1])])
        self.assertEqual((phase.dram.peak_bytes, feed.skipped), (8192, len(bad)))

    def test_cores_that_cannot_be_read_still_count(self):
        def cb(cores):
            return {"node_type": "circular_buffer_allocate",
                    "params": {"size": "64", "core_range_set": cores, "globally_allocated": "0"}}
        cores = ["{}", None, "{[(x=0,y=0) - (x=3,y=0)], [(x=2,y=0) - (x=5,y=0)]}",
                 "{[(x=0,y=0) - (x=900,y=0)]}", "{[(x=0,y=0) - (x=99999999,y=0)]}",
                 ", ".join(f"[(x={i},y=0) - (x={i},y=0)]" for i in range(0, 200, 2))]
        phase, feed = self.usage([cb(text) for text in cores])
        self.assertEqual((phase.peak_cb_bytes, feed.skipped), (64 * len(cores), 0))

    def test_a_segment_may_begin_and_end_inside_a_function(self):
        def node(kind):
            return {"node_type": kind, "params": {"name": "op"}}
        phase, feed = self.usage([node("function_end"), node("function_start"),
                                  node("function_start"), node("function_end")])
        self.assertEqual((phase.ops, feed.skipped), (2, 0))

    def test_equal_buffers_are_told_apart_by_their_address(self):
        guard = MemoryUsageTracker.begin_capture()
        buffers = [self.ttnn.Buffer(4096) for _ in range(5)]
        MemoryUsageTracker.snapshot("A")
        ids = [each.id for each in self.tracker.live()]
        for at in (2, 0):
            buffers.pop(at).deallocate()
            ids.pop(at)
        MemoryUsageTracker.snapshot("B")
        self.assertEqual([each.id for each in self.tracker.live()], ids)
        del guard

    def test_the_real_trace_of_2024(self):
        corpus = Path(os.environ.get("TTSCOPE_CORPUS", HERE.parents[2] / "shared" / "data"))
        path = corpus / "graphs" / "trace_add_l1_no_dispatch_2024.json"
        if not path.exists():
            self.skipTest(f"there is no '{path}'")
        trace = json.loads(path.read_text())
        allocated = [int(node["params"]["size"]) for node in trace
                     if node["node_type"] == "buffer_allocate"]
        freed = [int(trace[node["connections"][0]]["params"]["size"]) for node in trace
                 if node["node_type"] == "buffer_deallocate"]
        cbs = [int(node["params"]["size"]) for node in trace
               if node["node_type"] == "circular_buffer_allocate"]
        phase, feed = self.usage(trace)
        self.assertEqual(feed.skipped, 0)
        self.assertEqual((phase.l1.allocated_bytes, phase.l1.freed_bytes, phase.peak_cb_bytes),
                         (sum(allocated), sum(freed), sum(cbs)))

    def test_a_hundred_thousand_nodes_would_take_seconds_at_most(self):
        self.ttnn.graph.begin_graph_capture()
        for _ in range(1000):
            buffer = self.ttnn.Buffer(4096)
            self.ttnn.run_program("add", [("circular_buffer", 64, EVERY_CORE, False)] * 3)
            buffer.deallocate()
        trace = self.ttnn.graph.end_graph_capture()
        started = time.monotonic()
        self.usage(trace)
        seconds = (time.monotonic() - started) * 100000 / len(trace)
        self.assertLess(seconds, 10)
        if os.environ.get("TTSCOPE_TIMES"):
            print(f"{len(trace)} nodes, {seconds:.2f} s for 100,000", file=sys.__stdout__)


if __name__ == "__main__":
    unittest.main()
