#!/usr/bin/env python3
"""Counts what the compiler reads and writes for the program `tern`, and fails if that is more than a first `./run` has time
for.

Seconds would depend on the machine and on what else it does. These counts do not, and they are there once build/release
is built: the bytes of each file with all that it includes, and the bytes of its machine code.

--seconds compiles everything anew and shows the CPU seconds of each file. ccache then starts this script in front of the
compiler, with TERN_BUDGET_LOG set, to note them.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = "tern"
# With the kernels of all instruction sets. 350 to 460 CPU seconds on Zen 3 with those of one (--seconds).
MOST_READ = {"all files": 405e6, "a file": 13e6}
MOST_CODE = {"all files": 14.2e6, "a file": 1.25e6}


def ninja(build, *arguments, **options):
    return subprocess.run(["ninja", "-C", build, *arguments], capture_output=True, text=True, check=False, **options)


def objects(build):
    return [name for name in ninja(build, "-t", "inputs", TARGET).stdout.split() if name.endswith(".o")]


def bytes_read(build, names):
    """{object: bytes of its source and of what that includes}, from what the compiler told Ninja."""
    sizes, read, name = {}, {}, None
    for line in ninja(build, "-t", "deps", *names).stdout.splitlines():
        if line and not line.startswith(" "):
            name = line.split(":")[0]
            read[name] = 0
        elif line.strip():
            path = build / line.strip()
            if path not in sizes:
                sizes[path] = path.stat().st_size
            read[name] += sizes[path]
    return read


def bytes_of_code(build, names):
    """{object: bytes of its machine code and constants}"""
    sections = re.compile(r"\] \S+ +(?!NOBITS)\S+ +[0-9a-f]+ +[0-9a-f]+ +([0-9a-f]+) +\S+ +([A-Za-z]*A[A-Za-z]*) ")
    code = {}
    for name in names:
        listed = subprocess.run(["readelf", "-SW", name], cwd=build, capture_output=True, text=True, check=True).stdout
        code[name] = sum(int(size, 16) for size, flags in sections.findall(listed) if "W" not in flags)
    return code


def short(name):
    return name.replace("CMakeFiles/", "").replace(".dir", "")


def check(build):
    """Prints the largest files and the sums; returns a line for each limit that is exceeded."""
    names = objects(build)
    if not names or not all((build / name).exists() for name in names):
        return [f"build_budget: {build} is not built"]
    read, code = bytes_read(build, names), bytes_of_code(build, names)
    for name in sorted(names, key=code.get)[:-9:-1]:
        print(f"{read[name] / 1e6:6.1f} MB read, {code[name] / 1e3:6.0f} kB of code  {short(name)}")
    print(f"{sum(read.values()) / 1e6:6.1f} MB read, {sum(code.values()) / 1e3:6.0f} kB of code  {len(names)} files")
    findings = []
    for counts, most, verb in ((read, MOST_READ, "are read"), (code, MOST_CODE, "of code are written")):
        for name, count in counts.items():
            if count > most["a file"]:
                findings.append(f"build_budget: {short(name)}: {count} bytes {verb}, more than {most['a file']:.0f}")
        if sum(counts.values()) > most["all files"]:
            findings.append(f"build_budget: {sum(counts.values())} bytes {verb} in all, more than {most['all files']:.0f}")
    return findings + (['build_budget: see "Building" in CONTRIBUTING.md'] if findings else [])


def run_and_note(command, log):
    """Runs a compiler; adds a line "SECONDS OBJECT" to `log`."""
    child = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    with open(log, "a", encoding="utf-8") as out:
        out.write(f"{usage.ru_utime + usage.ru_stime:.2f} {command[command.index('-o') + 1]}\n")
    return os.waitstatus_to_exitcode(status)


def show_seconds(jobs):
    """Compiles the program for this processor as a first ./run does, each file for real; prints the CPU seconds."""
    build = ROOT / "build/budget"
    configured = subprocess.run(["cmake", "--preset", "release", "-B", build, "-DTERN_CPU_SETS=native"], cwd=ROOT,
                                capture_output=True, text=True, check=False)
    if configured.returncode:
        return f"build_budget: cmake failed\n{configured.stdout}{configured.stderr}"
    if "TERN_CCACHE:FILEPATH=/" not in (build / "CMakeCache.txt").read_text():
        return "build_budget: there is no ccache, which starts this script for each file"
    log = build / "budget.log"
    log.unlink(missing_ok=True)
    ninja(build, "-t", "clean", TARGET)
    environment = os.environ | {"TERN_BUDGET_LOG": str(log), "CCACHE_RECACHE": "1", "CCACHE_PREFIX": __file__}
    done = ninja(build, "-j", str(jobs), TARGET, env=environment)
    if done.returncode:
        return "\n".join(done.stdout.splitlines()[-60:]) + done.stderr
    lines = [line.split(" ", 1) for line in log.read_text().splitlines()]
    for number, name in sorted(lines, key=lambda line: -float(line[0])):
        print(f"{float(number):8.1f} s  {short(name)}")
    print(f"{sum(float(number) for number, _ in lines):8.1f} s  {len(lines)} files")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=ROOT / "build/release", type=pathlib.Path, help="what is counted")
    parser.add_argument("--seconds", action="store_true", help="compile everything anew and show the CPU seconds")
    parser.add_argument("-j", "--jobs", default=os.cpu_count(), type=int, help="with --seconds: so many files at a time")
    args = parser.parse_args()
    if args.seconds:
        return show_seconds(args.jobs)
    return "\n".join(check(args.build.resolve())) or None


if __name__ == "__main__":
    if "TERN_BUDGET_LOG" in os.environ:
        sys.exit(run_and_note(sys.argv[1:], os.environ["TERN_BUDGET_LOG"]))
    sys.exit(main())
