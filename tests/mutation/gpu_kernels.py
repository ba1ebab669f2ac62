#!/usr/bin/env python3
"""Breaks the GPU kernels one at a time, and expects the conform tests to notice every time.

A mutant is a kernel (regular expression on its name), a pattern in the WGSL text that it is compiled from, and what
the pattern becomes. The test programs apply it to kernels on their way to the device
(src/backend/gpu/device/mutant_test_support.h). A pattern that is no longer found fails the gate: adapt it to the kernel
as it is now.

Usage: gpu_kernels.py BUILD/bin [--smoke] [--only PART_OF_NAME]
Exit 0: all noticed. 77: there is no GPU.
"""

import argparse
import os
import re
import subprocess
import sys
import time

from gpu_mutants.best_logits import BEST_LOGITS
from gpu_mutants.conform import CONFORM
from gpu_mutants.matrices import MATRICES
from gpu_mutants.megakernel import MEGAKERNEL, MEGAKERNEL_FLOATS, MEGAKERNEL_ROWS
from gpu_mutants.recurrent import RECURRENT
from gpu_mutants.sampling import CHANGED_LOGITS, DEVICE_SAMPLER, DROPPED_LOGITS

# Test programs, what stands before and after a test's name in them, and their mutants.
SUITES = [
    ("gpu_conform_test", "*", "/{variant}", CONFORM),
    ("gpu_conform_test", "*", "/{variant}", BEST_LOGITS),
    ("gpu_conform_test", "*", "/{variant}", RECURRENT),
    ("gpu_device_sampler_test", "DeviceSamplerTest.", "", DEVICE_SAMPLER),
    ("gpu_device_sampler_test", "ChangedLogitsTest.", "", CHANGED_LOGITS),
    ("gpu_device_sampler_test", "DroppedLogitsTest.", "", DROPPED_LOGITS),
    ("ternary_matmul_matrix_test", "MatrixMatmul.", "", MATRICES),
    ("gpu_megakernel_test", "GpuMegakernel.", "", MEGAKERNEL),
    ("gpu_megakernel_test", "GpuMegakernelRows.", "", MEGAKERNEL_ROWS),
    ("gpu_megakernel_test", "GpuMegakernelFloats.", "", MEGAKERNEL_FLOATS),
]


def run(program, tests, mutant=None, limit=None):
    """The test program's output and exit status with this mutant in place (None: as it is), within `limit` seconds."""
    environment = dict(os.environ)
    if mutant:
        environment |= {
            "TERN_MUTANT_KERNEL": mutant.kernel,
            "TERN_MUTANT_FIND": mutant.find,
            "TERN_MUTANT_REPLACE": mutant.replace,
        }
    result = subprocess.run([program, f"--gtest_filter={tests}", "--gtest_fail_fast"], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, timeout=limit)
    return result.stdout, result.returncode


def judge(program, tests, mutant, limit):
    """(noticed, what to say)."""
    output, status = run(program, tests, mutant, limit)
    if "mutant applied to" not in output:
        return False, "the pattern is not in any kernel that these tests run: adapt the mutant"
    if status == 0:
        return False, "NOT NOTICED"
    failed = re.findall(r"\[  FAILED  \] (?:Gpu/)?(\w+\.\w+)", output) or re.findall(r"\[ RUN      \] (?:Gpu/)?(\w+\.\w+)", output)[-1:]
    return True, "noticed by " + failed[0]


def filter_of(before, after, mutant):
    """The tests of a mutant, as --gtest_filter wants them. `tests` has parts with ":*" between them."""
    return ":".join(before + part.lstrip("*") + after.format(variant=mutant.variant) for part in mutant.tests.split(":"))


def run_suite(program, before, after, mutants):
    """How many mutants were not noticed; None where the tests cannot run here."""
    tests = ":".join(sorted({filter_of(before, after, mutant) for mutant in mutants}))
    start = time.monotonic()
    output, status = run(program, tests)
    limit = 300 + 10 * (time.monotonic() - start)  # a mutant may never end; slow machines take longer for all of it
    if "[  SKIPPED ]" in output and "[       OK ]" not in output:
        print(f"{os.path.basename(program)}: skipped, it needs a GPU that is not there", flush=True)
        return None
    if status != 0:
        print("the tests fail without any mutant:\n" + output)
        return len(mutants)
    bad = 0
    for mutant in mutants:
        noticed, text = judge(program, filter_of(before, after, mutant), mutant, limit)
        bad += not noticed
        print(f"{'ok  ' if noticed else 'FAIL'} {mutant.kernel}: {mutant.name}: {text}", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="where the test programs are")
    parser.add_argument("--smoke", action="store_true", help="only a few mutants")
    parser.add_argument("--only", default="", help="only mutants with this in the names of kernel and mutant")
    arguments = parser.parse_args()
    start, count, bad = time.monotonic(), 0, 0
    for name, before, after, mutants in SUITES:
        mutants = [m for m in mutants if (m.smoke or not arguments.smoke) and arguments.only in f"{m.kernel}: {m.name}"]
        if not mutants:
            continue
        missed = run_suite(os.path.abspath(os.path.join(arguments.folder, name)), before, after, mutants)
        if missed is not None:
            count, bad = count + len(mutants), bad + missed
    if count == 0:
        return 77
    print(f"{count - bad} of {count} mutants noticed in {time.monotonic() - start:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
