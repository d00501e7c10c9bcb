"""Finds libttscope.so and loads it."""

from __future__ import annotations

import ctypes
import mmap
import os
from pathlib import Path
from typing import Iterator, List, Optional, Tuple

ENVIRONMENT = "TTSCOPE_LIBRARY"
SONAME = "libttscope.so.0"
FILE_NAMES = ("libttscope.so", SONAME)

# A library that needs one of these runtimes ends the process if it is loaded without it.
_RUNTIMES = ((b"libasan.so", "__asan_init"), (b"libtsan.so", "__tsan_init"))


class LibraryNotFoundError(ImportError):
    """There is no usable libttscope.so. The text lists the places searched and says what to do."""


def load() -> Tuple[ctypes.CDLL, str]:
    """Loads the library. Returns it with the path or name by which it was found."""
    named = os.environ.get(ENVIRONMENT)
    refusals: List[str] = []
    for path in [named] if named else _candidates():
        path = _in_folder(path)
        reason = _missing_runtime(path)
        if reason is None:
            try:
                return ctypes.CDLL(path, use_errno=False), path
            except OSError as error:
                reason = str(error)
        refusals.append(_line(path, reason))
    if named:
        raise LibraryNotFoundError(
            f"cannot load the library in {ENVIRONMENT}:\n{refusals[0]}\n"
            f"set {ENVIRONMENT} to the path of libttscope.so, or unset "
            f"{ENVIRONMENT} to search the usual places"
        )
    raise LibraryNotFoundError(
        "cannot find libttscope.so; looked for:\n" + "\n".join(refusals) + "\n"
        f"set {ENVIRONMENT} to the path of the library (build/release/lib in a built source tree),"
        " install the library, or build the library"
        " (cmake --preset release && cmake --build --preset release)"
    )


def load_present() -> Optional[Tuple[ctypes.CDLL, str]]:
    """Returns the library that the process has already loaded, so that both share one tracker.
    Returns None if the process has not loaded the library."""
    if os.environ.get(ENVIRONMENT):
        return None
    try:
        return ctypes.CDLL(SONAME, mode=os.RTLD_NOW | os.RTLD_NOLOAD), SONAME
    except OSError:
        return None


def _candidates() -> Iterator[str]:
    package = Path(__file__).resolve().parent
    for name in FILE_NAMES:
        if (package / name).exists():
            yield str(package / name)
            break
    else:
        yield str(package / FILE_NAMES[0])
    yield from _installed(package)
    yield from _build_trees(package)
    home = Path.home() / ".local" / "lib"
    yield from (str(home / name) for name in FILE_NAMES if (home / name).exists())
    yield SONAME
    yield FILE_NAMES[0]


def _installed(package: Path) -> Iterator[str]:
    """Yields the libraries of the same prefix. The package is in PREFIX/lib/python*/*-packages."""
    if len(package.parents) < 4:
        return
    for folder in (package.parents[2], package.parents[3] / "lib64"):
        yield from (str(folder / name) for name in FILE_NAMES if (folder / name).exists())


def _build_trees(package: Path) -> Iterator[str]:
    """Yields the libraries of a source tree: the release build first, then the newest."""
    if len(package.parents) < 3 or not (package.parents[2] / "include" / "ttscope").is_dir():
        return
    build = package.parents[2] / "build"
    found = [p for p in build.glob("*/lib/" + FILE_NAMES[0]) if p.is_file()]
    if not found:
        yield str(build / "*" / "lib" / FILE_NAMES[0])
    for path in sorted(found, key=lambda p: (p.parts[-3] != "release", -p.stat().st_mtime)):
        yield str(path)


def _in_folder(path: str) -> str:
    if os.path.isdir(path):
        return os.path.join(path, FILE_NAMES[0])
    return path


def _missing_runtime(path: str) -> Optional[str]:
    if os.sep not in path:
        return None
    try:
        with open(path, "rb") as file, mmap.mmap(
            file.fileno(), 0, access=mmap.ACCESS_READ
        ) as image:
            needed = [pair for pair in _RUNTIMES if image.find(pair[0]) >= 0]
    except FileNotFoundError:
        return "no such file"
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    process = ctypes.CDLL(None)
    for name, symbol in needed:
        if not hasattr(process, symbol):
            runtime = name.decode()
            return (
                "built with a sanitizer, whose runtime must be loaded first: run with "
                f"LD_PRELOAD=$(gcc -print-file-name={runtime})"
            )
    return None


def _line(path: str, reason: str) -> str:
    if reason.startswith(path):
        reason = reason[len(path):].lstrip(": ")
    if os.sep not in path:
        path += " (by the system's loader)"
    return f"  {path}: {reason}"
