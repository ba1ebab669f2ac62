#!/usr/bin/env python3
"""Compiles everything that the program `tern` is made from anew, as a first `./run` does, and fails if that takes too many
CPU seconds.

Runs where the sources of the kernels or the settings of the build have changed since it last passed. Results still go
into ccache: a build from nothing pays for its compilation once. Machines differ, and so does one machine from minute to
minute. So a fixed file (build_budget_reference.cc) is compiled again and again between the others, and the limits grow
or shrink with the mean of its times.

ccache starts this script in front of the compiler too, with TERN_BUDGET_LOG set: then it runs the compiler and notes
the CPU seconds.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys

from user_cache import user_cache

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS_AND_SETTINGS = ("src/backend/cpu", "src/backend/gpu/kernels", "cmake", "CMakeLists.txt", "src/**/CMakeLists.txt",
                        "apps/**/CMakeLists.txt", ".ci/build_budget*")
REFERENCE = pathlib.Path(__file__).with_name("build_budget_reference.cc")
MOST_TRIES = 2  # other programs only add to a file's time: the lesser one counts
REFERENCE_EVERY = 6  # so many of the other files
REFERENCE_SECONDS = 5.6  # of that file, on one core of an AMD EPYC of the third generation (Zen 3), with GCC 16


def cpu_seconds(command):
    """Runs `command`; returns its exit code and CPU seconds."""
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def run_and_note(command, log):
    """Runs a compiler; adds a line "SECONDS OBJECT" to `log`. After some, compiles the fixed file in the same way."""
    code, seconds = cpu_seconds(command)
    with open(log, "a+", encoding="utf-8") as out:
        out.write(f"{seconds:.2f} {command[command.index('-o') + 1]}\n")
        out.flush()
        out.seek(0)
        n_lines = sum(REFERENCE.name not in line for line in out)
    if code == 0 and n_lines % REFERENCE_EVERY == 0:
        code, seconds = cpu_seconds(shlex.split(os.environ["TERN_BUDGET_REFERENCE"]))
        with open(log, "a", encoding="utf-8") as out:
            out.write(f"{seconds:.2f} {REFERENCE.name}\n")
    return code


def state():
    """A hash over what the time of a build hangs on, where it is likely to change."""
    files = {file for pattern in KERNELS_AND_SETTINGS for path in ROOT.glob(pattern)
             for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()}
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def reference_command(build):
    """How the fixed file is compiled: as the program's files are."""
    commands = json.loads((build / "compile_commands.json").read_text())
    entry = next(e for e in commands if e["file"].endswith("src/backend/cpu/ops/attention.cc"))
    command = shlex.split(entry["command"])
    compiler = next(i for i, word in enumerate(command) if "++" in pathlib.Path(word).name)  # what is before is ccache's
    return command[compiler:command.index("-o")] + ["-o", "/dev/null", "-c", str(REFERENCE)]


def ninja(build, *arguments, **options):
    return subprocess.run(["ninja", "-C", build, *arguments], capture_output=True, text=True, check=False, **options)


def compile_all(build, target, jobs):
    """Compiles the files of `target`, each for real; returns {object: CPU seconds} and the mean of the fixed file's, or
    None if that failed."""
    log = build / "budget.log"
    log.unlink(missing_ok=True)
    ninja(build, "-t", "clean", target)
    environment = os.environ | {"TERN_BUDGET_LOG": str(log), "CCACHE_RECACHE": "1", "CCACHE_PREFIX": __file__,
                                "TERN_BUDGET_REFERENCE": shlex.join(reference_command(build))}
    done = ninja(build, "-j", str(jobs), target, env=environment)
    if done.returncode:
        print("\n".join(done.stdout.splitlines()[-60:]) + done.stderr)
        return None
    lines = [line.split(" ", 1) for line in log.read_text().splitlines()]
    reference = statistics.mean(float(number) for number, name in lines if name == REFERENCE.name)
    seconds = {name: float(number) for number, name in lines if name != REFERENCE.name}
    missing = [name for name in ninja(build, "-t", "inputs", target).stdout.split()
               if name.endswith(".o") and name not in seconds]
    if missing:
        print(f"build_budget: not compiled, or not through ccache: {' '.join(missing)}")
        return None
    return seconds, reference


def judged(seconds, scale, args):
    """Prints what takes longest. Returns a line for each limit that is exceeded."""
    total = sum(seconds.values())
    for name, value in sorted(seconds.items(), key=lambda item: -item[1])[:15]:
        print(f"{value:8.1f} s  {name.replace('CMakeFiles/', '').replace('.dir', '')}")
    print(f"{total:8.1f} s  {len(seconds)} files; at most {args.total * scale:.0f}, and {args.file * scale:.0f} for one: "
          f"this machine takes {scale:.2f} times as long as the one that the limits are of")
    findings = [f"build_budget: {name} takes too long; see \"Building\" in CONTRIBUTING.md"
                for name, value in seconds.items() if value > args.file * scale]
    if total > args.total * scale:
        findings.append("build_budget: all files together take too long")
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build/budget", type=pathlib.Path)
    parser.add_argument("--target", default="tern")
    parser.add_argument("-j", "--jobs", default=os.cpu_count(), type=int)
    parser.add_argument("--total", default=840, type=float, help="CPU seconds for all files; default: %(default)s")
    parser.add_argument("--file", default=68, type=float, help="CPU seconds for one file; default: %(default)s")
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
    if args.reference:
        _, seconds = cpu_seconds(reference_command(build))
        print(f"{REFERENCE.name}: {seconds:.2f} s, where the limits are of a machine that takes {REFERENCE_SECONDS}")
        return 0
    seconds, references, findings = {}, [], []
    for _ in range(MOST_TRIES):
        compiled = compile_all(build, args.target, args.jobs)
        if compiled is None:
            return 1
        references.append(compiled[1])
        seconds = {name: min(value, seconds.get(name, value)) for name, value in compiled[0].items()}
        findings = judged(seconds, statistics.mean(references) / REFERENCE_SECONDS, args)
        if not findings:
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.write_text(now)
            return 0
    print("\n".join(findings))
    return 1


if __name__ == "__main__":
    if "TERN_BUDGET_LOG" in os.environ:
        sys.exit(run_and_note(sys.argv[1:], os.environ["TERN_BUDGET_LOG"]))
    sys.exit(main())
