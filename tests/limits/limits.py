#!/usr/bin/env python3
"""Runs every command under limits of processes, memory, files, stack and file sizes.

limits.py TERN [--all] [--gpu]

A run may succeed, or fail with exit code 1 and a line that begins with "tern:". A signal, a hang or silence is a fault.
Where the limit is so low that the system's loader cannot start the program, its own message counts.
"""
import argparse
import resource
import sys

from program import CLEAN, Program, run

MB = 1 << 20
FEW = [("processes", resource.RLIMIT_NPROC, n) for n in (1, 3)] + \
      [("memory", resource.RLIMIT_AS, n * MB) for n in (50, 60, 70, 100)] + \
      [("files", resource.RLIMIT_NOFILE, n) for n in (4, 6)] + [("stack", resource.RLIMIT_STACK, 128 << 10)] + \
      [("file size", resource.RLIMIT_FSIZE, 8192)]
ALL = [("processes", resource.RLIMIT_NPROC, n) for n in range(1, 25)] + \
      [("memory", resource.RLIMIT_AS, n * MB) for n in (*range(40, 140, 4), 160, 200, 300, 400, 500, 600, 800, 1000)] + \
      [("files", resource.RLIMIT_NOFILE, n) for n in range(3, 24)] + \
      [("stack", resource.RLIMIT_STACK, n << 10) for n in (32, 64, 128, 256, 512, 1024, 2048)] + \
      [("file size", resource.RLIMIT_FSIZE, n) for n in (0, 1, 100, 4096, 65536, 1 * MB)]
PAIRS = [(("processes", resource.RLIMIT_NPROC, p), ("memory", resource.RLIMIT_AS, m * MB), ("files", resource.RLIMIT_NOFILE, f))
         for p in (1, 4) for m in (80, 200) for f in (5, 8)]


def is_fine(code, errors):
    if code == 127 and "shared libraries" in errors:
        return True
    if code not in CLEAN:
        return False
    last = errors.strip().splitlines()[-1] if errors.strip() else ""
    return code in (0, 2, 130) or "tern: " in last


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tern")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    tried = [(one,) for one in (ALL if options.all else FEW)] + (PAIRS if options.all else PAIRS[:1])
    n_runs, faults = 0, []
    with Program(options.tern) as program:
        for limits in tried:
            for command in program.commands(options.gpu):
                code, errors = run(program, command, [(which, value) for _, which, value in limits], serve_seconds=1)
                n_runs += 1
                if not is_fine(code, errors):
                    told = ", ".join(f"{name} {value}" for name, _, value in limits)
                    faults.append(f"{told}: tern {' '.join(command)}: {code}: {errors.strip()[-300:]}")
                    print(faults[-1], flush=True)
    print(f"{n_runs} runs under {len(tried)} limits, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
