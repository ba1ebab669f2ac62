#!/usr/bin/env python3
"""Compiles every file of the program as Clang would on a Mac, and says what it does not take. Nothing is linked.

./setup --macos brings the headers; cmake/macos.cmake says how they are found. So a change that uses what only Linux has
is seen on Linux. The object files are made, without optimization, because ccache then knows a file that has not changed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETTINGS = ("-DTERN_TESTS=OFF", "-DTERN_WEBGPU=OFF", "-DTERN_MOLD=OFF", "-DCMAKE_BUILD_TYPE=Release")


def complaints(entry):
    """Clang's complaints about one file; empty: none."""
    command = shlex.split(entry["command"])
    (pathlib.Path(entry["directory"]) / entry["output"]).parent.mkdir(parents=True, exist_ok=True)
    command[command.index("-o"):command.index("-o")] = ["-O0", "-ferror-limit=0"]
    if cache := shutil.which("ccache"):
        command.insert(0, cache)
    environment = os.environ | {"CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    done = subprocess.run(command, cwd=entry["directory"], env=environment, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build/macos", type=pathlib.Path, help="where to configure")
    parser.add_argument("-j", "--jobs", default=os.cpu_count(), type=int)
    parser.add_argument("files", nargs="*", help="only files whose path contains one of these words")
    args = parser.parse_args()
    begin = time.monotonic()
    toolchain = ROOT / "cmake/macos.cmake"
    configured = subprocess.run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", args.build, f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
                                 *SETTINGS], capture_output=True, text=True, check=False)
    if configured.returncode:
        sys.exit(f"macos_syntax: cmake failed\n{configured.stdout}{configured.stderr}")
    entries = json.loads((args.build / "compile_commands.json").read_text())
    entries = [e for e in entries if "_deps/" not in e["output"] and pathlib.Path(e["file"]).exists()
               and (not args.files or any(word in e["file"] for word in args.files))]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for text in pool.map(complaints, entries):
            failed += bool(text)
            print(text, end="")
    print(f"macos_syntax: {len(entries)} files, {failed} with errors, {time.monotonic() - begin:.0f} s")
    return 1 if failed or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
