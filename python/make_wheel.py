#!/usr/bin/env python3
"""Makes the wheel out of an installed Tern, with the standard library alone.

    python3 make_wheel.py PREFIX FOLDER

writes FOLDER/tern-VERSION-py3-none-PLATFORM.whl with the package, libtern.so and the default model of PREFIX, where
`cmake --install BUILD --prefix PREFIX` has put them. PREFIX may also be the unpacked archive for Windows, whose
libtern.dll makes it a wheel for Windows. It is also the backend of pyproject.toml, so that

    TERN_PREFIX=PREFIX pip install FOLDER_OF_THIS_FILE

does the same; pip then needs no network.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path

_HERE = Path(__file__).resolve().parent


class MakeWheelError(Exception):
    pass


def _one(prefix: Path, pattern: str) -> Path:
    found = sorted(prefix.glob(pattern))
    if not found:
        raise MakeWheelError(f"{prefix}: no {pattern} in it; install Tern there with cmake --install")
    return found[0]


def _version(prefix: Path) -> str:
    header = prefix / "include/tern/version.h"
    if not header.exists():
        raise MakeWheelError(f"{prefix}: no include/tern/version.h in it; install Tern there with cmake --install")
    match = re.search(r'TERN_VERSION_STRING "([^"]+)"', header.read_text())
    if not match:
        raise MakeWheelError(f"{header}: no TERN_VERSION_STRING in it")
    return match.group(1)


def _library(prefix: Path, version: str) -> Path:
    if (prefix / "bin/libtern.dll").exists():
        return prefix / "bin/libtern.dll"
    soname = "libtern.so." + ".".join(version.split(".")[:2])
    for folder in ("lib", "lib64", "lib/*-linux-gnu"):
        for path in sorted(prefix.glob(f"{folder}/{soname}")):
            return path
    raise MakeWheelError(f"{prefix}: no {soname} in its lib folders")


class _Wheel:
    """A zip file that lists what is in it."""

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self._record: list[str] = []

    def add(self, name: str, data: bytes, *, mode: int = 0o644, compress: bool = True) -> None:
        entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # the same files, the same wheel
        entry.external_attr = mode << 16
        entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        self._zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}\n")

    def finish(self, record: str) -> None:
        self._record.append(f"{record},,\n")
        self._zip.writestr(zipfile.ZipInfo(record, date_time=(1980, 1, 1, 0, 0, 0)), "".join(self._record))
        self._zip.close()


def make_wheel(prefix: Path, folder: Path) -> Path:
    """Returns the wheel's path."""
    version = _version(prefix)
    library = _library(prefix, version)
    model = _one(prefix, "share/tern/models/*.gguf")
    license_text = _one(prefix, "share/doc/*/LICENSE")
    platform = "win-amd64" if library.suffix == ".dll" else sysconfig.get_platform()
    platform = platform.replace("-", "_").replace(".", "_")
    tag = f"py3-none-{platform}"
    path = folder / f"tern-{version}-{tag}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    wheel = _Wheel(partial)
    for source in sorted((_HERE / "tern").glob("*")):
        if source.suffix in (".py", ".typed"):
            wheel.add(f"tern/{source.name}", source.read_bytes())
    wheel.add(f"tern/lib/{library.name}", library.read_bytes(), mode=0o755)
    wheel.add(f"tern/share/tern/models/{model.name}", model.read_bytes(), compress=False)
    info = f"tern-{version}.dist-info"
    metadata = (
        f"Metadata-Version: 2.4\nName: tern\nVersion: {version}\n"
        "Summary: Low-bit language models on any CPU and GPU\n"
        "License-Expression: Apache-2.0\nLicense-File: LICENSE\nRequires-Python: >=3.11\n"
    )
    wheel.add(f"{info}/METADATA", metadata.encode())
    wheel.add(f"{info}/licenses/LICENSE", license_text.read_bytes())
    wheel.add(
        f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: tern\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    wheel.finish(f"{info}/RECORD")
    partial.replace(path)
    return path


def build_wheel(
    wheel_directory: str, config_settings: Mapping[str, str] | None = None, metadata_directory: str | None = None
) -> str:
    """What pip calls (PEP 517)."""
    prefix = (config_settings or {}).get("prefix") or os.environ.get("TERN_PREFIX")
    if not prefix:
        raise MakeWheelError("set TERN_PREFIX to the folder that Tern was installed to")
    return make_wheel(Path(prefix), Path(wheel_directory)).name


def build_sdist(sdist_directory: str, config_settings: Mapping[str, str] | None = None) -> str:
    raise MakeWheelError("there is no source distribution; take Tern's own sources")


def main() -> int:
    if len(sys.argv) != 3:
        print("usage: make_wheel.py PREFIX FOLDER", file=sys.stderr)
        return 2
    try:
        print(make_wheel(Path(sys.argv[1]), Path(sys.argv[2])))
    except (MakeWheelError, OSError) as e:
        print(f"make_wheel.py: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
