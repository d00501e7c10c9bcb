"""How libttscope.so is found, and what is said when it is not the right one."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import ttscope
from ttscope import _library, _native, _selfcheck

PACKAGE = Path(ttscope.__file__).parent
LIBRARY = Path(_native.path)


class Found(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def copy_package(self, where):
        package = self.root / where / "ttscope"
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        return package

    def run_python(self, package, code="import ttscope._native as n; print(n.path)", **env):
        full = {**os.environ, "PYTHONPATH": str(package.parent), **env}
        if "TTSCOPE_LIBRARY" not in env:
            full.pop("TTSCOPE_LIBRARY", None)
        return subprocess.run([sys.executable, "-c", code], env=full, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def put(self, *parts):
        path = self.root.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(LIBRARY, path)
        return path

    def test_nowhere_says_where_and_what_to_do(self):
        package = self.copy_package("site")
        ran = self.run_python(package)
        self.assertEqual(ran.returncode, 1)
        for text in ("cannot find libttscope.so; looked for:\n",
                     f"  {package}/libttscope.so: no such file\n",
                     "  libttscope.so.0 (by the system's loader): ",
                     "cmake --build --preset release",
                     "set TTSCOPE_LIBRARY to the path of the library"):
            self.assertIn(text, ran.stderr)
        self.assertNotIn("build/*", ran.stderr)

    def test_it_is_an_import_error(self):
        ran = self.run_python(self.copy_package("site"), "try: import ttscope\n"
                              "except ImportError as e: print(type(e).__name__)")
        self.assertEqual((ran.stdout, ran.stderr), ("LibraryNotFoundError\n", ""))

    def test_the_variable_names_a_file_or_its_folder_and_nothing_else_is_tried(self):
        package = self.copy_package("site")
        path = self.put("elsewhere", "libttscope.so")
        self.put("site", "ttscope", "libttscope.so")
        for value in (path, path.parent):
            self.assertEqual(self.run_python(package, TTSCOPE_LIBRARY=str(value)).stdout.strip(),
                             str(path))
        ran = self.run_python(package, TTSCOPE_LIBRARY=str(self.root / "gone.so"))
        self.assertIn("cannot load the library in TTSCOPE_LIBRARY:\n"
                      f"  {self.root}/gone.so: no such file\n", ran.stderr)
        bad = self.root / "bad.so"
        for content in (b"", b"this is text"):
            bad.write_bytes(content)
            ran = self.run_python(package, TTSCOPE_LIBRARY=str(bad))
            self.assertIn(f"  {bad}: ", ran.stderr)
            self.assertIn("LibraryNotFoundError", ran.stderr)

    def test_beside_the_package(self):
        package = self.copy_package("site")
        path = self.put("site", "ttscope", "libttscope.so.0")
        self.assertEqual(self.run_python(package).stdout.strip(), str(path))

    def test_a_checkout_gives_its_release_or_its_newest(self):
        package = self.copy_package("tree/bindings/python")
        (self.root / "tree" / "include" / "ttscope").mkdir(parents=True)
        ran = self.run_python(package)
        self.assertIn(f"  {self.root}/tree/build/*/lib/libttscope.so: no such file", ran.stderr)
        old = self.put("tree", "build", "a", "lib", "libttscope.so")
        new = self.put("tree", "build", "b", "lib", "libttscope.so")
        os.utime(old, (1000, 1000))
        self.assertEqual(self.run_python(package).stdout.strip(), str(new))
        os.utime(new, (500, 500))
        self.assertEqual(self.run_python(package).stdout.strip(), str(old))
        release = self.put("tree", "build", "release", "lib", "libttscope.so")
        os.utime(release, (100, 100))
        self.assertEqual(self.run_python(package).stdout.strip(), str(release))

    def test_by_the_loader(self):
        package = self.copy_package("site")
        path = self.put("lib", "libttscope.so.0")
        ran = self.run_python(package, LD_LIBRARY_PATH=str(path.parent))
        self.assertEqual(ran.stdout.strip(), "libttscope.so.0", ran.stderr)

    def test_one_that_is_loaded_already_is_shared(self):
        package = self.copy_package("site")
        other = self.put("site", "ttscope", "libttscope.so")
        code = (f"import ctypes; a = ctypes.CDLL({str(LIBRARY)!r})\n"
                "a.tts_tracker_process.restype = ctypes.c_void_p\n"
                "import ttscope; print(ttscope._native.path)\n"
                "assert ttscope.process_tracker()._ptr == a.tts_tracker_process()")
        ran = self.run_python(package, code)
        self.assertEqual(ran.stderr, "")
        self.assertNotEqual(ran.stdout.strip(), str(other))

    def test_a_sanitized_library_without_its_runtime_is_passed_over(self):
        path = self.root / "sanitized.so"
        path.write_bytes(b"\x7fELF ... libtsan.so.2 ...")
        if hasattr(ctypes.CDLL(None), "__tsan_init"):
            self.skipTest("the runtime is there")
        self.assertEqual(_library._missing_runtime(str(path)),
                         "built with a sanitizer, whose runtime must be loaded first: run with "
                         "LD_PRELOAD=$(gcc -print-file-name=libtsan.so)")


class Agreement(unittest.TestCase):
    def test_the_release_is_compared(self):
        for release, wanted in (("0.1.0", True), ("0.1.9", True), ("0.2.0", False),
                                ("1.1.0", False), ("", False)):
            fake = mock.Mock()
            fake.tts_version.return_value = release.encode()
            if wanted:
                _native._check_release(fake, "x.so")
            else:
                with self.assertRaisesRegex(ImportError, f"'x.so' is libttscope {release}, this "
                                            "package needs 0.1.0: install both from one"):
                    _native._check_release(fake, "x.so")
        self.assertEqual(ttscope.__version__, "0.1.0")
        self.assertEqual(_native.lib.tts_version(), b"0.1.0")

    def test_a_library_without_a_function_is_named(self):
        with self.assertRaisesRegex(ImportError, "'libc' has no function 'tts_version': install"):
            _native._declare(ctypes.CDLL(None), "libc")

    def test_the_self_check_passes_and_leaves_nothing(self):
        _selfcheck.run()

    def test_the_self_check_sees_every_field_that_moved(self):
        # The self-check must notice a field that is read from the place of its neighbour.
        for struct, name, wanted in (
                (_native.Health, "unseen_frees", "tts_tracker_health"),
                (_native.Live, "block_bytes", "tts_live"),
                (_native.PoolUsage, "frees", "tts_phase"),
                (_native.CorePeak, "dfb_bytes", "tts_phase"),
                (_native.CorePeak, "part_count", "tts_phase"),
                (_native.Usage, "peak_dfb_bytes", "tts_phase"),
                (_native.CorePart, "bytes", "tts_phase"),
                (_native.Phase, "device_count", "tts_phase"),
                (_native.PoolUsage, "peak_bytes", "tts_phase"),
                (_native.Event, "size_bytes", "tts_tracker_health"),
                (_native.Error, "status", "tts_tracker_config"),
                (_native.TrackerConfig, "live_max", "tts_tracker_config")):
            fields = [field for field, _ in struct._fields_]
            neighbour = fields[(fields.index(name) + 1) % len(fields)]
            with self.subTest(struct=struct.__name__, name=name):
                with mock.patch.object(struct, name, getattr(struct, neighbour)):
                    with self.assertRaisesRegex(ImportError,
                                                f"layouts of 'struct {wanted}': install"):
                        _selfcheck.run()


class Wheel(unittest.TestCase):
    def test_it_has_the_whole_package_and_runs(self):
        sys.path.insert(0, str(PACKAGE.parent))
        self.addCleanup(sys.path.remove, str(PACKAGE.parent))
        import wheel_backend
        with tempfile.TemporaryDirectory() as folder:
            name = wheel_backend.build_wheel(folder)
            self.assertEqual(name, "ttscope-0.1.0-py3-none-any.whl")
            target = Path(folder) / "site"
            shutil.unpack_archive(Path(folder) / name, target, "zip")
            files = {path.name for path in (target / "ttscope").iterdir()}
            self.assertEqual(files, {path.name for path in PACKAGE.iterdir()
                                     if path.suffix in (".py", ".typed")})
            record = (target / "ttscope-0.1.0.dist-info" / "RECORD").read_text().splitlines()
            self.assertEqual(len(record), len(files) + 3)
            ran = subprocess.run(
                [sys.executable, "-c", "import ttscope.compat; print(ttscope.__file__)"],
                env={**os.environ, "PYTHONPATH": str(target), "TTSCOPE_LIBRARY": str(LIBRARY)},
                text=True, stdout=subprocess.PIPE)
            self.assertEqual(ran.stdout.strip(), str(target / "ttscope" / "__init__.py"))


if __name__ == "__main__":
    unittest.main()
