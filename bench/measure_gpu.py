#!/usr/bin/env python3
"""Measures what the ways to compute a token bring on this machine's GPU, as tables in Markdown.

  alone     a reply after a short and after a long prompt, the layers step by step and in one dispatch
  together  several replies at a time, likewise
  starts    until the first token, with nothing compiled before, and the second time

The two ways take turns, so that other programs on the machine disturb both alike. Models are made in FOLDER, once.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

MODELS = {  # name: what `tern synth` makes
    "2b": ["--preset", "bitnet-2b-4t"],
    "1.7b-q1_0": ["--preset", "bonsai-1.7b", "--type", "q1_0", "--head", "q1_0"],
    "1.7b-q8_0": ["--preset", "bonsai-1.7b", "--type", "q8_0", "--head", "q8_0"],
    "1.7b-q4_k": ["--preset", "bonsai-1.7b", "--type", "q4_k", "--head", "q6_k"],
    "1.7b-q4_k_m": ["--preset", "bonsai-1.7b", "--type", "q4_k_m", "--head", "q6_k"],
    "llama-3b-q4_0": ["--preset", "llama-3.2-3b", "--type", "q4_0", "--head", "q6_k"],
    "phi-3-q4_0": ["--preset", "phi-3-mini", "--type", "q4_0", "--head", "q4_0"],
    "8b-q1_0": ["--preset", "bonsai-8b", "--type", "q1_0", "--head", "q1_0"],
}
WAYS = ("off", "auto")  # of --megakernel
SECONDS = 300  # that a run may take


def bench(arguments, model, way, options):
    """Tokens/s of a run of `tern bench`, or None where it fails."""
    command = [arguments.tern, "bench", "-m", model, "-b", "webgpu", "--megakernel", way, "-o", "json", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    if run.returncode != 0:
        print(f"{' '.join(command)}: {run.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    return json.loads(run.stdout)["decode_tokens_per_s"]["median"]


def in_turns(arguments, model, options):
    """The medians of both ways over all rounds, and their ratio, as cells."""
    speeds = {way: [] for way in WAYS}
    for _ in range(arguments.rounds):
        for way in WAYS:
            speed = bench(arguments, model, way, options)
            if speed is not None:
                speeds[way].append(speed)
    if not all(speeds.values()):
        return ["failed", "", ""]
    off, one = (statistics.median(speeds[way]) for way in WAYS)
    return [f"{off:,.0f}", f"{one:,.0f}", f"×{one / off:.2f}"]


def print_row(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def print_head(cells):
    print_row(cells)
    print("|" + "---|" * len(cells), flush=True)


def alone(arguments, models):
    print_head(["tokens/s", *(f"{cell}" for n in arguments.prompts for cell in (f"after {n}: in steps", "in one", ""))])
    for name, model in models.items():
        cells = [name]
        for n in arguments.prompts:
            cells += in_turns(arguments, model, ["-p", str(n), "-n", "128", "-r", "3"])
        print_row(cells)


def together(arguments, models):
    print_head(["tokens/s together", *(cell for n in arguments.parallel for cell in (f"{n}: in steps", "in one", ""))])
    for name, model in models.items():
        cells = [name]
        for n in arguments.parallel:
            cells += in_turns(arguments, model, ["-p", "128", "-n", "128", "-r", "3", "-N", str(n)])
        print_row(cells)


def starts(arguments, models):
    """Each with a cache of its own for what is compiled. The first start of a program may end later than its first word
    is there, for a kernel that it did not need."""
    print_head(["seconds to the first token", "with nothing kept", "again", "again"])
    cache = arguments.folder / "cache"
    for name, model in models.items():
        shutil.rmtree(cache, ignore_errors=True)
        environment = dict(os.environ, XDG_CACHE_HOME=str(cache))
        cells = [name]
        for _ in range(3):
            begin = time.monotonic()
            command = [arguments.tern, "run", "-m", model, "-b", "webgpu", "-n", "1", "--stats", "Once upon a time"]
            run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
            run.stdout.read(1)
            seconds = time.monotonic() - begin
            _, told = run.communicate(timeout=SECONDS)
            cells.append(f"{seconds:.2f}" if run.returncode == 0 else "failed")
            for line in re.findall(r".*(?:load|kernels|megakernel).*", told.decode()):
                print(f"{name}: {line.strip()}", file=sys.stderr)
        print_row(cells)


def make_models(arguments):
    arguments.folder.mkdir(parents=True, exist_ok=True)
    models = {}
    for name in arguments.models:
        models[name] = arguments.folder / f"{name}.gguf"
        if not models[name].exists():
            command = [arguments.tern, "synth", *MODELS[name], "--tokenizer", "bytes", "-o", models[name]]
            subprocess.run(command, check=True, capture_output=True)
    return models


def numbers(text):
    return [int(n) for n in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", choices=["alone", "together", "starts"])
    parser.add_argument("--tern", default="build/release/bin/tern", help="the program")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/tern-models"), help="of models")
    parser.add_argument("--models", type=lambda text: text.split(","), default=list(MODELS), metavar="NAME,…",
                        help=", ".join(MODELS))
    parser.add_argument("--prompts", type=numbers, default=[128, 3900], metavar="N,…")
    parser.add_argument("--parallel", type=numbers, default=[2, 4, 8, 32], metavar="N,…")
    parser.add_argument("--rounds", type=int, default=1, help="of both ways in turns")
    arguments = parser.parse_args()
    unknown = set(arguments.models) - set(MODELS)
    if unknown:
        parser.error(f"--models: {', '.join(sorted(unknown))}: not one of {', '.join(MODELS)}")
    models = make_models(arguments)
    for what in arguments.what:
        {"alone": alone, "together": together, "starts": starts}[what](arguments, models)
        print(flush=True)


if __name__ == "__main__":
    main()
