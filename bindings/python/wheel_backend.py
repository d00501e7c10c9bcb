"""Builds the wheel (PEP 517) from the package files. Needs no other package, so
`pip install ./bindings/python` works without a network."""

import base64
import hashlib
import re
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERSION = re.search(r'^RELEASE = "([^"]+)"$', (HERE / "ttscope" / "_native.py").read_text(),
                    re.MULTILINE)[1]
INFO = f"ttscope-{VERSION}.dist-info"
METADATA = f"""Metadata-Version: 2.1
Name: ttscope
Version: {VERSION}
Summary: Shows where the memory of Tenstorrent devices goes, phase by phase
Requires-Python: >=3.9
"""
WHEEL = """Wheel-Version: 1.0
Generator: ttscope
Root-Is-Purelib: true
Tag: py3-none-any
"""


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"ttscope-{VERSION}-py3-none-any.whl"
    files = [(f"ttscope/{path.name}", path.read_bytes())
             for path in sorted((HERE / "ttscope").iterdir())
             if path.suffix == ".py" or path.name == "py.typed"]
    files += [(f"{INFO}/METADATA", METADATA.encode()), (f"{INFO}/WHEEL", WHEEL.encode())]
    record = "".join(f"{path},{_digest(data)},{len(data)}\n" for path, data in files)
    files.append((f"{INFO}/RECORD", f"{record}{INFO}/RECORD,,\n".encode()))
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files:
            info = zipfile.ZipInfo(path)  # without a date: the same tree gives the same bytes
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(info, data)
    return name


def _digest(data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
    return "sha256=" + digest.rstrip(b"=").decode()
