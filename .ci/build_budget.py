#!/usr/bin/env python3
"""Compiles everything that the program `tern` is made from anew, as a first `./run` does, and fails if that takes too many
CPU seconds.

Runs where the sources of the kernels or the settings of the build have changed since it last passed. Results still go
into ccache: a build from nothing pays for its compilation once. Machines differ, so a fixed file
(build_budget_reference.cc) is compiled first and last, and the limits grow or shrink with its time.

ccache starts this script in front of the compiler too, with TERN_BUDGET_LOG set: then it runs the compiler and notes
the CPU seconds.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

from user_cache import user_cache

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS_AND_SETTINGS = ("src/backend/cpu", "src/backend/gpu/kernels", "cmake", "CMakeLists.txt", "src/**/CMakeLists.txt",
                        "apps/**/CMakeLists.txt", ".ci/build_budget*")
REFERENCE = pathlib.Path(__file__).with_name("build_budget_reference.cc")
REFERENCE_SECONDS = 5.6  # of that file, on one core of an AMD EPYC of the third generation (Zen 3), with GCC 16


def run_and_note(command, log):
    """Runs a compiler; adds a line "SECONDS OBJECT" to `log`."""
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    line = f"{usage.ru_utime + usage.ru_stime:.2f} {command[command.index('-o') + 1]}\n"
    with open(log, "a", encoding="utf-8") as out:
        out.write(line)
    return os.waitstatus_to_exitcode(status)


def state():
    """A hash over what the time of a build hangs on, where it is likely to change."""
    files = {file for pattern in KERNELS_AND_SETTINGS for path in ROOT.glob(pattern)
             for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def reference_seconds(build):
    """CPU seconds of the fixed file, compiled as the program's files are."""
    commands = json.loads((build / "compile_commands.json").read_text())
    entry = next(e for e in commands if e["file"].endswith("src/backend/cpu/ops/attention.cc"))
    command = shlex.split(entry["command"])
    compiler = next(i for i, word in enumerate(command) if "++" in pathlib.Path(word).name)  # what is before is ccache's
    command = command[compiler:command.index("-o")] + ["-o", "/dev/null", "-c", str(REFERENCE)]
    child = subprocess.Popen(command, cwd=build)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"build_budget: {REFERENCE.name} could not be compiled")
    return usage.ru_utime + usage.ru_stime


def ninja(build, *arguments, **options):
    return subprocess.run(["ninja", "-C", build, *arguments], capture_output=True, text=True, check=False, **options)


def compile_all(build, target, jobs):
    """Compiles the files of `target`, each for real; returns {object: CPU seconds}, or None if that failed."""
    log = build / "budget.log"
    log.unlink(missing_ok=True)
    ninja(build, "-t", "clean", target)
    environment = os.environ | {"TERN_BUDGET_LOG": str(log), "CCACHE_RECACHE": "1", "CCACHE_PREFIX": __file__}
    done = ninja(build, "-j", str(jobs), target, env=environment)
    if done.returncode:
        print("\n".join(done.stdout.splitlines()[-60:]) + done.stderr)
        return None
    lines = [line.split(" ", 1) for line in log.read_text().splitlines()]
    seconds = {name: float(number) for number, name in lines}
    missing = [name for name in ninja(build, "-t", "inputs", target).stdout.split()
               if name.endswith(".o") and name not in seconds]
    if missing:
        print(f"build_budget: not compiled, or not through ccache: {' '.join(missing)}")
        return None
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build/budget", type=pathlib.Path)
    parser.add_argument("--target", default="tern")
    parser.add_argument("-j", "--jobs", default=os.cpu_count(), type=int)
    parser.add_argument("--total", default=790, type=float, help="CPU seconds for all files; default: %(default)s")
    parser.add_argument("--file", default=60, type=float, help="CPU seconds for one file; default: %(default)s")
    parser.add_argument("--always", action="store_true", help="also where nothing has changed since it passed")
    parser.add_argument("--reference", action="store_true", help="only tell how fast this machine is")
    args = parser.parse_args()

    build, stamp, now = args.build.resolve(), user_cache() / "build_budget", state()
    if not args.always and not args.reference and stamp.exists() and stamp.read_text() == now:
        print("build_budget: neither kernels nor settings have changed since it passed")
        return 0
    configured = subprocess.run(["cmake", "--preset", "release", "-B", build, "-DTERN_CPU_SETS=native"], cwd=ROOT,
                                capture_output=True, text=True, check=False)
    if configured.returncode:
        print(f"build_budget: cmake failed\n{configured.stdout}{configured.stderr}")
        return 1
    if "TERN_CCACHE:FILEPATH=/" not in (build / "CMakeCache.txt").read_text():
        print("build_budget: there is no ccache, so nothing is measured")
        return 0
    before = reference_seconds(build)
    if args.reference:
        print(f"{REFERENCE.name}: {before:.2f} s, where the limits are of a machine that takes {REFERENCE_SECONDS}")
        return 0
    seconds = compile_all(build, args.target, args.jobs)
    if seconds is None:
        return 1
    scale = (before + reference_seconds(build)) / 2 / REFERENCE_SECONDS
    total = sum(seconds.values())
    for name, value in sorted(seconds.items(), key=lambda item: -item[1])[:15]:
        print(f"{value:8.1f} s  {name.replace('CMakeFiles/', '').replace('.dir', '')}")
    print(f"{total:8.1f} s  {len(seconds)} files; at most {args.total * scale:.0f}, and {args.file * scale:.0f} for one: "
          f"this machine takes {scale:.2f} times as long as the one that the limits are of")
    too_slow = [name for name, value in seconds.items() if value > args.file * scale]
    for name in too_slow:
        print(f"build_budget: {name} takes too long; see \"Building\" in CONTRIBUTING.md")
    if total > args.total * scale:
        print("build_budget: all files together take too long")
    elif not too_slow:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(now)
        return 0
    return 1


if __name__ == "__main__":
    if "TERN_BUDGET_LOG" in os.environ:
        sys.exit(run_and_note(sys.argv[1:], os.environ["TERN_BUDGET_LOG"]))
    sys.exit(main())
